"""Colours, quiet builds and progress: on terminals, in pipes, and by the environment."""
import os
import pty
import re
import select
import subprocess
import time
import unittest

from project import SLOWER, TRIB, ProjectTest

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
        here, there = pty.openpty()
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


if __name__ == "__main__":
    unittest.main()
