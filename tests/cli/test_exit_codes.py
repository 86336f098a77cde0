"""Exit codes of every command: 0 done, 1 errors in sources, 2 wrong usage, 3 environment or I/O, 130 interrupted."""
import os
import re
import signal
import subprocess
import unittest

from project import SLOWER, TRIB, ProjectTest

RUN = ["run", "--input", "x=random"]
PROJECT = [["build"], ["check"], ["params"], ["graph"], ["deps"], ["run"], ["test"]]  # what reads the sources of a project
TABLE = [
    (0, ["build"]), (0, ["check"]), (0, ["fmt", "--check"]), (0, ["params"]), (0, ["graph"]), (0, ["deps"]), (0, ["config"]), (0, ["update"]), (0, RUN),
    (0, ["server"]), (0, ["explain", "--list"]), (0, ["version"]), (0, ["--help"]), (0, ["cache", "stats"]), (0, ["completion", "bash"]),
    (1, ["check", "bad.tri"]), (1, ["fmt", "broken.tri"]), (1, ["fmt", "--check", "ugly.tri"]), (1, ["build", "bad.tri"]), (1, ["run", "--input", "x=bad.tri"]),
    (2, ["build", "nosuch"]), (2, ["params", "nosuch"]), (2, ["graph", "nosuch"]), (2, ["deps", "nosuch"]), (2, ["run", "nosuch"]), (2, ["test", "nosuch"]),
    (2, ["explain", "E9999"]), (2, ["check", "src/main.tri", "--profile", "x"]), (2, ["explain", "nosuch"]), (2, ["explain"]), (2, ["update", "nosuch"]), (2, ["config", "set", "nosuch.key", "1"]),
    (2, ["config", "set", "cache.max_size", "x"]), (2, ["build", "--profile", "nosuch"]), (2, ["clean", "--profile", "nosuch"]), (2, ["new", "src"]), (2, ["new"]),
    (2, [*RUN, "--entry", "nosuch"]), (2, [*RUN, "--output", "nosuch=y.npy"]), (2, ["run", "--device", "gpu"]), (2, ["run", "--input", "x=random:4y16"]), (2, [*RUN, "--input", "x=ones"]), (2, ["nosuch"]), (2, ["help", "nosuch"]),
    (2, ["cache"]), (2, ["cache", "clear", "--level", "l9"]), (2, ["completion"]), (2, ["affected"]), (2, ["build", "--frob"]), (2, ["build", "-C"]), (2, ["build", "--out", "a", "--out", "b"]),
    (3, ["check", "nosuch.tri"]), (3, ["check", "folder.tri"]), (3, ["fmt", "nosuch.tri"]), (3, ["build", "nosuch.tri"]), (3, ["build", "folder.tri"]),
    (3, ["run", "./nosuch.so"]), (3, ["run", "--input", "x=nosuch.npy"]), (3, ["run", "--input", "x=zeros:99999999999x16"]), (3, ["run", "--input", "x=folder.tri"]), (3, ["run", "--main", "nosuch.tri"]), (3, [*RUN, "--output", "out=/proc/nosuch/y.npy"]),
    (3, ["version", "--model", "nosuch.so"]), (3, ["-C", "nosuch", "build"]), (3, ["new", "/proc/x"]), (3, ["build", "--trace", "/proc/nosuch/t.json"]),
    (3, ["build", "bad.tri/x.tri"]), (3, ["affected", "--since", "HEAD"]),
]
ENDLESS = """\
layer Endless() {
    fn forward(n: Tensor<int32, []>) {
        print("begins {}", n)
        while n >= 0 {
            n = (n + 1) % 7
        }
        return n
    }
}
"""
PRINTS = [["check"], ["params"], ["graph"], ["deps"], ["config"], ["explain", "--list"], ["explain", "E0301"], ["--help"], ["version"], ["completion", "fish"], ["help", "man"], ["cache", "stats"],
          ["build", "--dump-ir"], ["build", "--message-format=json"], RUN, ["fmt", "--diff", "ugly.tri"]]


class ExitCodes(ProjectTest):
    def setUp(self):
        super().setUp()
        self.trib("new", "p", "-q")
        self.dir = self.path("p")
        self.write("bad.tri", "const A: int8 = 1 + \"text\"\n")
        self.write("broken.tri", "layer {\n")
        self.write("ugly.tri", "const   A:int8=1\n")
        os.mkdir(self.path("folder.tri"))

    def code(self, words):
        done = self.trib(*words, ok=False)
        if done.returncode:
            self.assertTrue((done.stderr + done.stdout).strip(), words)
        return done.returncode

    def test_table(self):
        wrong = [(words, expected, got) for expected, words in TABLE if (got := self.code(words)) != expected]
        self.assertEqual(wrong, [])

    def test_errors_in_sources(self):
        self.edit("src/main.tri", "relu", "rellu")
        self.assertEqual({" ".join(w): self.code(w) for w in PROJECT}, {" ".join(w): 1 for w in PROJECT})

    def test_errors_in_the_manifest(self):
        self.edit("tri.build", "entry", "entri")
        self.assertEqual({" ".join(w): self.code(w) for w in [*PROJECT, ["clean"], ["fmt"]]}, {" ".join(w): 1 for w in [*PROJECT, ["clean"], ["fmt"]]})

    def test_sources_that_cannot_be_read(self):
        os.symlink("loop.tri", self.path("src/loop.tri"))
        self.edit("src/main.tri", "import nn", 'import nn\nimport "loop.tri" as loop')
        for command in PROJECT:
            self.assertIn("cannot read `src/loop.tri`: Too many levels of symbolic links", self.fails(*command, code=3))
        self.edit("tri.build", "src/*.tri", "src/loop.tri")
        self.assertIn("cannot read `src/loop.tri`", self.fails("build", code=3))
        self.edit("tri.build", "src/loop.tri", "loop/*.tri")
        os.symlink("loop", self.path("loop"))
        self.assertIn("cannot read `loop`", self.fails("build", code=3))

    @unittest.skipUnless(os.geteuid() == 0, "needs a second user")
    def test_clean_without_permission(self):
        self.copy_trib()
        self.trib("build")
        done = self.trib("clean", ok=False, user=65534)
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot remove all of `build`: Permission denied", done.stderr)

    def test_a_manifest_that_cannot_be_read(self):
        os.remove(self.path("tri.build"))
        os.mkdir(self.path("tri.build"))
        words = [*PROJECT, ["clean"], ["fmt"], ["config"], ["cache", "stats"]]
        self.assertEqual({" ".join(w): self.code(w) for w in words}, {" ".join(w): 3 for w in words})

    def test_no_manifest(self):
        os.remove(self.path("tri.build"))
        words = [*PROJECT, ["clean"], ["fmt"], ["watch"], ["server"], ["update"]]
        self.assertEqual({" ".join(w): self.code(w) for w in words}, {" ".join(w): 2 for w in words})

    def test_a_full_disk_for_standard_output(self):
        self.trib("build")
        with open("/dev/full", "wb") as full:
            for words in PRINTS:
                done = subprocess.run([TRIB, *words], cwd=self.dir, stdout=full, stderr=subprocess.PIPE, env={**os.environ, **self.env}, timeout=60 * SLOWER)
                self.assertEqual(done.returncode, 3, words)
                self.assertIn(b"No space left", done.stderr) if b"earlier" not in done.stderr else None

    def test_a_damaged_store_does_not_fail_the_build(self):
        self.trib("build")
        self.write(".trib/store/data.mdb", os.urandom(3000))
        self.edit("src/main.tri", "relu", "tanh")
        self.assertEqual(self.code(["build"]), 0)

    def test_interrupted(self):
        child = subprocess.Popen([TRIB, "watch"], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **self.env})
        while b"watching" not in (line := child.stdout.readline()):
            self.assertTrue(line, "it has ended")
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(60 * SLOWER), 130)
        child.stdout.close()

    def test_the_first_interrupt_or_a_time_out_ends_a_model(self):
        self.write("tri.build", "project p\n\nmodel p\n    sources = src/*.tri\n    entry = Endless\n    input n = int32 []\n    emit = library opencl\n")
        self.write("src/main.tri", ENDLESS)
        self.trib("build")
        for device in "cpu", "opencl", "reference":
            child = subprocess.Popen([TRIB, "run", "--no-build", "--input", "n=zeros", "--device", device], cwd=self.dir, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE, env={**os.environ, **self.env})
            while b"begins" not in (line := child.stderr.readline()):
                self.assertTrue(line, "it has ended")
            child.send_signal(signal.SIGINT)
            self.assertIn(b"interrupted", child.stderr.read())
            self.assertEqual(child.wait(60 * SLOWER), 130, device)
            child.stderr.close()
        # the program is kept now, so opening takes some milliseconds
        run_for = ["run", "--no-build", "--input", "n=zeros", "--device", "opencl", "--timeout"]
        self.assertIn("did not finish within 2000 ms", self.fails(*run_for, "2s", code=3))
        self.env["TRIB_CACHE"] = "false"
        self.assertIn("within 1 ms: ", self.fails(*run_for, "10us", code=3))
        self.assertIn("--timeout wants a time", self.fails(*run_for, "soon", code=2))

    def test_a_device_that_is_missing_is_not_blamed_on_the_model(self):
        self.edit("tri.build", "entry", "emit = library opencl\n    entry")
        for name in "99", "nosuch":
            said = self.fails(*RUN, "--device", "opencl:" + name, code=3)
            self.assertRegex(said, f"there is no OpenCL device {name}: 0 is `")
            self.assertNotIn("the model failed", said)
        device = re.search(r"opencl:0 +(.+)", self.trib("devices").stdout)[1]
        self.trib(*RUN, "--device", "opencl:" + device[3:9].upper())


if __name__ == "__main__":
    unittest.main()
