"""Colours, quiet builds and progress: on terminals, in pipes, and by the environment."""
import os
import re
import select
import subprocess
import time
import unittest

from project import SLOWER, TRIB, ProjectTest, open_terminal

BAD = "layer Net() {\n    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n        return rellu(x)\n    }\n}\n"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Terminal(ProjectTest):
    def setUp(self):
        super().setUp()
        for name in ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
            self.env.pop(name, None)
            os.environ.pop(name, None)
        self.env["TERM"] = "xterm"

    def on_terminal(self, *args, columns=80, **env):
        """What the command writes to a terminal, and its exit code."""
        here, there = open_terminal()
        import fcntl, struct, termios
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        child = subprocess.Popen([TRIB, *args], cwd=self.dir, stdin=there, stdout=there, stderr=there, env={**os.environ, **self.env, **env})
        os.close(there)
        said, end = b"", time.monotonic() + 120 * SLOWER
        while time.monotonic() < end:
            if select.select([here], [], [], 1)[0]:
                try:
                    piece = os.read(here, 65536)
                except OSError:
                    break
                if not piece:
                    break
                said += piece
        os.close(here)
        return said.decode().replace("\r\n", "\n"), child.wait(60)


class Colors(Terminal):
    def colored(self, *flags, tty=True, **env):
        self.write("a.tri", BAD)
        if tty:
            text, code = self.on_terminal("check", "a.tri", *flags, **env)
        else:
            saved, self.env = self.env, {**self.env, **env}
            done = self.trib("check", "a.tri", *flags, ok=False)
            self.env = saved
            text, code = done.stderr, done.returncode
        self.assertEqual(code, 1)
        self.assertIn("rellu", text)
        return "\x1b[" in text

    def test_flag_over_environment_over_terminal(self):
        for tty, flags, env, expected in [
            (True, [], {}, True),
            (False, [], {}, False),
            (True, [], {"TERM": "dumb"}, False),
            (True, [], {"NO_COLOR": "1"}, False),
            (True, [], {"NO_COLOR": "0"}, False),  # any value that is not empty
            (True, [], {"NO_COLOR": ""}, True),
            (True, [], {"CLICOLOR": "0"}, False),
            (True, [], {"CLICOLOR": "1"}, True),
            (False, [], {"CLICOLOR": "1"}, False),
            (False, [], {"CLICOLOR_FORCE": "1"}, True),
            (False, [], {"CLICOLOR_FORCE": "0"}, False),
            (False, [], {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
            (True, ["--color", "never"], {"CLICOLOR_FORCE": "1"}, False),
            (False, ["--color=always"], {"NO_COLOR": "1"}, True),
            (True, ["--color=always"], {"TERM": "dumb"}, True),
            (True, ["--color", "auto"], {"NO_COLOR": "1"}, False),
        ]:
            self.assertEqual(self.colored(*flags, tty=tty, **env), expected, (tty, flags, env))

    def test_every_command_with_diagnostics(self):
        self.write("tri.build", "model m\n    sources = a.tri\n    entry = Net\n    input x = float32 [?, 8]\n")
        self.write("a.tri", BAD)
        for words in (["build"], ["build", "--no-server"], ["check"], ["params"], ["graph"], ["deps"], ["fmt", "b.tri"]):
            self.write("b.tri", "layer {")
            for when, expected in (("always", True), ("never", False)):
                said = self.trib(*words, "--color", when, ok=False).stderr
                self.assertTrue(said)
                self.assertEqual("\x1b[" in said, expected, words)

    def test_wrong_word(self):
        self.assertIn("did you mean `always`?", self.fails("build", "--color", "alway", code=2))


class Quiet(Terminal):
    def test_only_errors_and_warnings(self):
        self.assertEqual(self.trib("new", "p", "-q").stdout, "")
        for words in (["build", "-q"], ["build", "-q"], ["check", "--quiet"]):
            done = self.trib(*words, "-C", "p")
            self.assertEqual((done.stdout, done.stderr), ("", ""), words)
        self.edit("p/src/main.tri", "relu", "rellu")
        done = self.trib("build", "-q", "-C", "p", ok=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("rellu", done.stderr)

    def test_quiet_and_verbose(self):
        self.assertIn("--quiet", self.fails("build", "-qv", code=2))

    def test_quiet_wins_over_the_manifest(self):
        self.trib("new", "p", "-q")
        self.edit("p/tri.build", "version = 0.1\n", "version = 0.1\n    verbose = true\n")
        self.assertEqual(self.trib("build", "-q", "-C", "p").stdout, "")


class Progress(Terminal):
    def setUp(self):
        super().setUp()
        self.trib("new", "p", "-q")

    def test_one_line_on_a_terminal(self):
        text, code = self.on_terminal("build", "-C", "p", "--no-server")
        self.assertEqual(code, 0)
        self.assertRegex(text, r"\r\[\d+/\d+\] <?\d+ s left")
        self.assertRegex(text, r"\r\x1b\[Kp: input x: .*\ntrib: 1 compiled, 0 reused, 1 linked in [\d.]+ s\n$")
        self.assertEqual(text.count("\n"), 2)

    def test_verbose_prints_lines(self):
        text, _ = self.on_terminal("build", "-C", "p", "-v")
        self.assertRegex(text, r"\[1/4\] .*\n\[2/4\] ")
        self.assertIsNone(CONTROL.search(text))

    def test_no_control_characters_in_pipes(self):
        text, _ = self.on_terminal("build", "-C", "p", TERM="dumb")
        self.assertIn("[4/4]", text)
        self.assertIsNone(CONTROL.search(text))
        self.trib("clean", "-C", "p")
        done = self.trib("build", "-C", "p", "--no-cache")
        self.assertIn("[4/4]", done.stdout)
        self.assertIsNone(CONTROL.search(done.stdout + done.stderr))


class Footer(Terminal):
    """One last line says how many errors there are, and what stays as it was."""

    def ends(self, *words, code=1):
        said = self.fails(*words, code=code)
        self.assertEqual(len([line for line in said.splitlines() if line.startswith("error: ")]), 1, said)
        return said.splitlines()[-1]

    def setUp(self):
        super().setUp()
        self.trib("new", "p", "-q")
        self.dir = self.path("p")

    def test_a_failed_build_lists_unchanged_outputs(self):
        self.edit("src/main.tri", "relu(fc1", "rellu(fc1")
        self.assertEqual(self.ends("build"), "error: 1 error")
        self.edit("src/main.tri", "rellu(fc1", "relu(fc1")
        self.trib("build")
        self.edit("src/main.tri", "relu(fc1(x))", "rellu(fc3(x))")
        self.assertEqual(self.ends("build"), "error: 2 errors; build/libp.so is unchanged")
        self.assertEqual(self.ends("check"), "error: 2 errors")

    def test_some_models_fail(self):
        model = "\nmodel {0}\n    sources = src/{0}.tri\n    entry = Net\n    input x = float32 [?, 16]\n"
        good = self.read("src/main.tri").decode()
        for name in "ab":
            self.write(f"src/{name}.tri", good)
        self.write("tri.build", "project p\n" + model.format("a") + model.format("b"))
        self.trib("build")
        self.write("src/b.tri", good.replace("relu", "rellu"))
        self.write("src/a.tri", good.replace("relu", "tanh"))
        self.assertEqual(self.ends("build", "-k"), "error: 1 error; build/libb.so is unchanged")
        self.write("src/a.tri", good.replace("relu", "tannh"))
        self.assertEqual(self.ends("build"), "error: 2 errors; build/liba.so and 1 other are unchanged")

    def test_more_errors_than_are_shown(self):
        self.trib("build")
        lines = "".join(f"        let a{i} = nosuch{i}(x)\n" for i in range(1200))
        self.edit("src/main.tri", "        return", lines + "        return")
        self.assertEqual(self.ends("build"), "error: 1200 errors; build/libp.so is unchanged")

    def test_denied_warnings(self):
        self.trib("build")
        self.edit("src/main.tri", "        return", "        let unused = relu(x)\n        return")
        if "warning" not in self.trib("check").stderr:
            self.skipTest("no warning")
        self.assertEqual(self.ends("build", "--deny-warnings"), "error: 1 warning, and warnings are denied; build/libp.so is unchanged")


class Dumps(ProjectTest):
    def test_several_dumps(self):
        self.trib("new", "p", "-q")
        ast = self.trib("build", "-C", "p", "--dump-ast").stdout
        ir = self.trib("build", "-C", "p", "--dump-ir").stdout
        self.assertNotIn("====", ast + ir)
        self.assertEqual(self.trib("build", "-C", "p", "--dump-ir", "--dump-ast").stdout, "==== ast ====\n" + ast + "==== ir ====\n" + ir)

    def titles(self, *flags):
        return set(re.findall(r"^; ([a-z_ ]+)$", self.trib("build", "-C", "p", *flags).stdout, re.M))

    def test_passes(self):
        """A dump of one pass has its text only; nothing runs after the last pass, of any list."""
        self.trib("new", "p", "-q")
        every = self.titles("--dump-ir")
        self.assertLess({"lowered", "build_fn", "run_fn"}, every)
        for stage in ("after dce", "after fold", "run_fn"):
            self.assertEqual(self.titles("--dump-ir=" + stage.split()[-1]), {stage})
        self.assertEqual(self.titles("--dump-loops=merge"), {"after merge"})
        self.assertEqual(self.titles("--dump-program=states"), {"after states"})
        self.assertIn("summaries", self.titles("--dump-program"))
        self.assertEqual(self.titles("--dump-program=states", "--stop-after=states"), {"after states"})
        self.assertEqual(self.titles("--dump-loops"), set())
        self.assertLessEqual(self.titles("--dump-ir", "--stop-after=fold"), {"lowered", "after inline", "after fold"})
        self.assertEqual(self.titles("--dump-ir", "--stop-after=merge"), every)
        self.assertEqual(self.titles("--dump-loops", "--stop-after=join"), {"after join"})
        self.assertEqual(self.trib("build", "-C", "p", "--stop-after=fold").stdout, "")
        timing = self.trib("build", "-C", "p", "--stop-after=fold", "--timing").stdout
        self.assertRegex(timing, r"(?m)^ +fold, \d+ changes")
        self.assertNotRegex(timing, r"(?m)^ +simplify")
        timing = self.trib("build", "-C", "p", "--stop-after=channels", "--timing").stdout
        self.assertRegex(timing, r"(?m)^ +channels, \d+ changes")
        self.assertNotRegex(timing, r"(?m)^ +(states|lower|fold)")
        self.assertRegex(self.trib("build", "-C", "p", "--dump-loops=merge", "--timing").stdout, r"(?m)^ +merge, \d+ changes")
        self.assertFalse(os.path.exists(self.path("p/build")))

    def test_passes_are_timed(self):
        self.trib("new", "p", "-q")
        said = self.trib("build", "-C", "p", "--timing").stdout
        opt = said[said.index("\n  opt ") : said.index("\n  codegen ")]
        for name in ("channels", "fold", "dce", "merge", "allocate"):
            self.assertRegex(opt, rf"\n +{name}, \d+ changes +\d.* [un]s ")

    def test_emit_values(self):
        said = self.fails("build", "--emit", "torch", code=2)
        self.assertIn("library, header, live, opencl, opencl-source, cuda, c, pytorch", said)
        self.assertIn("did you mean `header`?", self.fails("build", "--emit", "haeder", code=2))


if __name__ == "__main__":
    unittest.main()
