"""Programs that build projects through libtrib.so: checks.c, and examples/embed."""
import hashlib
import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from project import SOURCE, TRIB, ProjectTest, processes_in, run

LIB = os.path.join(os.path.dirname(TRIB), "lib/trib")
SANITIZE = os.environ.get("TRIB_SANITIZE", "")
NET = """\
import nn

layer Gate(width: int) {
    let fc = nn.Linear(width, width, bias=false)
    fn forward(x: Tensor<float32, [N, width]>) { return tanh(fc(x)) * sigmoid(x) }
}

layer Net() {
    let first = Gate(8)
    let second = Gate(8)
    fn forward(x: Tensor<float32, [N, 8]>) { return second(first(x)) + softmax(x) }
}

layer Wide() {
    let first = Gate(16)
    fn forward(x: Tensor<float32, [N, 16]>) { return relu(first(x)) }
}
"""
MANIFEST = """\
model net
    sources = src/net.tri
    entry = Net
    input x = float32 [?, 8]
    emit = library header

model wide
    sources = src/net.tri
    entry = Wide
    input x = float32 [?, 16]
    emit = library header
"""


class EmbedTest(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("src/net.tri", NET)
        self.write("tri.build", MANIFEST)
        self.compile(os.path.join(SOURCE, "tests/embed/checks.c"), "checks")

    def compile(self, source, name):
        sanitize = ["-fsanitize=" + SANITIZE] if SANITIZE else []
        run(["cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", *sanitize, "-o", os.path.join(self.tmp, name), source,
             "-I" + os.path.join(SOURCE, "builder/lib"), "-I" + os.path.join(SOURCE, "backend/runtime/abi"), "-L" + LIB, "-Wl,-rpath," + LIB, "-ltrib", "-lpthread"], self.tmp)

    def check(self, *words, codes=(0,)):
        """Runs a check, which prints nothing if all is right; the library never prints."""
        done = run([os.path.join(self.tmp, "checks"), *words], self.tmp, ok=False, env=self.env)
        self.assertEqual(done.stdout + done.stderr, "", words)
        self.assertIn(done.returncode, codes, words)
        return done.returncode

    def copy(self, name):
        folder = os.path.join(self.tmp, name)
        shutil.copytree(self.dir, folder, ignore=shutil.ignore_patterns("build", ".trib"))
        return folder

    def outputs(self, folder):
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in pathlib.Path(folder).iterdir()}


class Builds(EmbedTest):
    def test_all_and_nothing(self):
        self.check("all", self.dir)
        self.assertIn("efficiency", json.loads(self.read("profile.json"))["facts"])
        self.assertIn("whole process", self.trib("profile", "report", "profile.json").stdout)
        self.assertEqual(sorted(os.listdir(self.path("build")))[:1], ["libnet.so"])

    def test_the_same_files_as_the_command(self):
        self.check("after_command", self.dir, "true")
        by_library = self.outputs(self.path("build"))
        shutil.rmtree(self.path("build"))
        shutil.rmtree(self.path(".trib"))
        self.trib("build", "--no-cache")
        self.assertEqual(self.outputs(self.path("build")), by_library)

    def test_an_error_has_its_place_and_leaves_the_library(self):
        self.trib("build")
        before = self.outputs(self.path("build"))
        more = "".join(f"\nfn {name}(x: Tensor<float32, [N]>) {{ return softmox(x) }}\n" for name in "abc")
        self.write("src/net.tri", NET.replace("softmax", "softmox") + more)
        at = NET.index("softmax")
        line, column = NET[:at].count("\n") + 1, at - NET.rindex("\n", 0, at)
        events = map(json.loads, self.trib("build", "--message-format=json", ok=False).stdout.splitlines())
        errors = [e for e in events if e["type"] == "diagnostic"]
        count = sum(1 + len(e["places"]) for e in errors)
        self.assertGreater(count, len(errors))
        self.check("error", self.dir, f"src/net.tri:{line}:{column}:{column + 7}:{errors[0]['code']}", str(count))
        self.assertEqual(self.outputs(self.path("build")), before)

    def test_wrong_options_and_old_programs(self):
        self.check("usage", self.dir)

    def test_the_header_is_c_and_cpp(self):
        if SANITIZE:
            self.skipTest("the library needs a program with the sanitizer")
        self.write("use.cpp", '#include "tri_build.h"\nint main() { tri_build_options o = {}; tri_builder_close(nullptr); return (int)o.jobs; }\n')
        run(["c++", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", "use", "use.cpp", "-I" + os.path.join(SOURCE, "builder/lib"), "-I" + os.path.join(SOURCE, "backend/runtime/abi"),
             "-L" + LIB, "-ltrib"], self.dir)

    def test_threads(self):
        """Four projects, one of them with two builders."""
        folders = [self.dir, *map(self.copy, "abc"), self.dir]
        self.check("threads", *folders)
        wanted = self.outputs(self.path("build"))
        for folder in folders:
            self.assertEqual(self.outputs(os.path.join(folder, "build")), wanted)


class Cancels(EmbedTest):
    def test_at_every_call(self):
        """The build that follows a cancelled one equals a clean one."""
        self.trib("build", "--no-cache", "--out=clean")
        wanted = self.outputs(self.path("clean"))
        codes = []
        while not codes or codes[-1] != 9:  # 9: the build has fewer calls
            folder = self.copy(f"cancelled{len(codes)}")
            codes.append(self.check("cancel", folder, str(len(codes) + 1), "made", codes=(0, 8, 9)))
            self.assertEqual(self.outputs(os.path.join(folder, "made")), wanted, codes)
        self.assertIn(0, codes)
        self.assertGreater(len(codes), 8)

    def test_while_another_build_has_the_project(self):
        self.trib("build")
        with open(self.path(".trib/lock"), "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.check("locked", self.dir)

    def test_by_another_thread(self):
        self.check("cancel_by_thread", self.dir)


class Processes(EmbedTest):
    def test_a_killed_process(self):
        self.check("killed", self.dir)

    def test_a_killed_program_leaves_no_process(self):
        """Ctrl-C is for the program alone."""
        argv = [os.path.join(self.tmp, "checks"), "stay", self.dir]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, env={**os.environ, **self.env}, start_new_session=True) as program:
            self.assertEqual(program.stdout.readline(), b"built\n")
            self.assertTrue(processes_in(self.tmp))
            os.killpg(program.pid, signal.SIGINT)
            self.assertEqual(program.stdout.readline(), b"built\n")
            program.kill()
        self.no_process_stays()

    def test_a_program_with_odd_signals_and_streams(self):
        for how in ("trap '' CHLD INT PIPE;", "exec <&- >&-;", "exec <&- >&- 2>&-;"):
            for made in (self.path("build"), self.path(".trib"), os.path.join(self.tmp, "cache")):
                shutil.rmtree(made, True)
            run(["sh", "-c", how + ' exec "$0" "$@"', os.path.join(self.tmp, "checks"), "all", self.dir], self.tmp, env=self.env)

    def test_an_edit_between_builds(self):
        self.check("after_command", self.dir, f"sed -i 's/softmax/sigmoid/' {self.path('src/net.tri')}")
        by_library = self.outputs(self.path("build"))
        self.trib("build", "--no-cache", "--out=clean")
        self.assertEqual(self.outputs(self.path("clean")), by_library)

    def test_a_damaged_store(self):
        """The process moves it away, starts again, and builds."""
        for offset in (0, 4096, 8192, 12288):
            store = self.path(".trib/store/data.mdb")
            edit = f"sed -i '1i # {offset}' {self.path('src/net.tri')}"
            self.check("after_command", self.dir, f"dd if=/dev/urandom of={store} bs=64 count=8 seek={offset // 64} conv=notrunc status=none && {edit}")


    def test_a_truncated_store(self):
        for size in (4096, 8192, 20480):
            store = self.path(".trib/store/data.mdb")
            self.check("after_command", self.dir, f"truncate -s {size} {store} && sed -i '1i # {size}' {self.path('src/net.tri')}")
            self.trib("build")


class Example(EmbedTest):
    def test_example(self):
        self.compile(os.path.join(SOURCE, "examples/embed/embed.c"), "embed")
        done = run([os.path.join(self.tmp, "embed"), self.dir], self.tmp, env=self.env)
        self.assertIn("typecheck", done.stdout)
        self.assertRegex(done.stdout, r"\[(\d+)/\1\] ")
        self.assertIn("build/libnet.so", done.stdout)
        self.assertIn("units: ", done.stdout)
        self.assertIn("whole process", self.trib("profile", "report", "profile.json").stdout)
        self.edit("src/net.tri", "softmax(x)", "softmox(x)")
        done = run([os.path.join(self.tmp, "embed"), self.dir], self.tmp, ok=False, env=self.env)
        self.assertEqual(done.returncode, 1)
        self.assertIn("src/net.tri:11:", done.stdout)
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
