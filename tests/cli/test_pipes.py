"""Pipes and devices in the place of files: builds refuse them, and a command that waits for a pipe can be interrupted."""
import os
import shutil
import signal
import subprocess
import threading
import unittest

from project import SLOWER, TRIB, ProjectTest, processes_in, sleeps, wait_until

NET = "layer Net() {\n    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n        return relu(x)\n    }\n}\n"
MANIFEST = "model net\n    sources = net.tri\n    entry = Net\n    input x = float32 [?, 8]\n"
FAULTY = NET.replace("relu(x)", "x * [")


class Pipes(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("net.tri", NET)
        self.write("tri.build", MANIFEST)

    def pipe(self, name, target=None):
        """A pipe in the place of the file, or a link to something else."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        if os.path.lexists(self.path(name)):
            os.unlink(self.path(name))
        os.symlink(target, self.path(name)) if target else os.mkfifo(self.path(name))

    def reads(self, pid, name):
        folder = f"/proc/{pid}/fd"
        return any(os.path.exists(f"{folder}/{fd}") and os.path.samefile(f"{folder}/{fd}", self.path(name)) for fd in os.listdir(folder))

    def refuses(self, *args, code=3):
        said = self.fails(*args, code=code)
        self.assertIn("not a regular file", said)

    def test_sources(self):
        self.write("net.tri", 'import "more.tri" as more\n' + NET)
        for name, target in (("net.tri", None), ("net.tri", "/dev/zero"), ("more.tri", None), ("more.tri", "/dev/tty"), ("more.tri", "/dev/null"), ("tri.build", None)):
            self.setUp()
            self.write("net.tri", 'import "more.tri" as more\n' + NET)
            self.pipe(name, target)
            self.refuses("check")
            self.refuses("build")

    def test_a_server_refuses_them(self):
        self.env["TRIB_SERVER"] = "on"
        self.trib("build")
        self.pipe("net.tri")
        self.refuses("build")
        self.assertTrue(processes_in(self.tmp))
        shutil.rmtree(self.tmp)

    def test_weights(self):
        self.write("tri.build", MANIFEST + "    weights = net.safetensors\n")
        for target in (None, "/dev/zero"):
            self.pipe("net.safetensors", target)
            self.refuses("build")

    def test_a_reader_that_leaves_is_no_crash_of_a_driver(self):
        command = subprocess.Popen([TRIB, "devices", "--measure"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **self.env})
        command.stdout.readline()  # of the CPU; the driver runs now, in a child
        command.stdout.close()
        said = command.stderr.read().decode()
        command.stderr.close()
        self.assertEqual(command.wait(), -signal.SIGPIPE)
        self.assertNotIn("crash", said)

    def test_other_files_of_a_project(self):
        """A lock file, the inputs of a test, the user's settings: nothing waits."""
        self.trib("build")
        for name in ("tri.lock", "tests/net/x.npy", "more.tri"):
            self.pipe(name)
        self.write("tri.build", MANIFEST + "dependency none\n    git = ../none\n")
        self.assertIn("E0813", self.fails("build", code=3))
        self.write("tri.build", MANIFEST)
        self.env["XDG_CONFIG_HOME"] = self.path("config")
        self.pipe("config/trib/config")
        for args in (["build"], ["fmt", "more.tri"], ["version", "--model", "more.tri"], ["config"], ["profile", "history"], ["graph"], ["affected"]):
            self.assertGreaterEqual(self.trib(*args, ok=False).returncode, 0, args)

    def test_streams_of_a_command_line(self):
        """A person may name a pipe that another program writes."""
        self.assertIn("E0", self.trib("check", "/dev/stdin", input=FAULTY, ok=False).stderr)
        self.pipe("pipe")
        writer = threading.Thread(target=lambda: self.write("pipe", FAULTY))
        writer.start()
        self.assertIn("E0", self.trib("check", "pipe", ok=False).stderr)
        writer.join()

    def test_interrupted(self):
        """A pipe without a writer."""
        self.trib("build")
        self.pipe("pipe")
        for sent in (signal.SIGINT, signal.SIGTERM):
            for args in (["check", "pipe"], ["profile", "report", "pipe"], ["run", "net", "--input", "x=pipe"]):
                p = subprocess.Popen([TRIB, *args], cwd=self.dir, env={**os.environ, **self.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                wait_until(lambda p=p: self.reads(p.pid, "pipe") and sleeps(p.pid), f"{args} does not read the pipe")
                p.send_signal(sent)
                p.communicate(timeout=60 * SLOWER)
                self.assertGreater(p.returncode, 0, args)


if __name__ == "__main__":
    unittest.main()
