"""Damage while a program opens and calls a lazy model. The process is the user's, so nothing may end it, and the model's results stay the same."""
import os
import subprocess
import unittest

from faulty import FaultTest
from project import SLOWER

HOST = os.environ["TRIB_LAZY_HOST"]


class LazyHost(FaultTest):
    def setUp(self):
        super().setUp()
        done = self.host()  # compiles
        self.assertEqual(done.returncode, 0, done.stdout)
        self.want = done.stdout
        self.keep()

    def host(self):
        return subprocess.run([HOST, self.dir, "small", "3", "8", "4"], env=self.env, capture_output=True, text=True, timeout=60 * SLOWER)

    def files(self):
        roots = (self.path(".trib/store"), self.cache)
        return [os.path.join(at, name) for root in roots for at, _, names in os.walk(root) for name in names]

    def test_what_it_compiled_is_kept(self):
        self.assertIn("fragment", self.trib("cache", "stats", "--detailed").stdout)
        self.assertEqual(self.host().stdout, self.want)

    def test_damaged_files(self):
        def harm(kind, path, position):
            self.restore()
            if kind == "cut":
                os.truncate(path, position)
            else:
                with open(path, "r+b") as f:
                    f.seek(position)
                    byte = f.read(1)[0]
                    f.seek(position)
                    f.write(bytes([byte ^ 1 << self.rng.randrange(8)]) if kind == "flipped" else self.rng.randbytes(4096))
            for _ in range(2):
                done = self.host()
                self.assertEqual((done.returncode, done.stdout), (0, self.want), done.stderr)
        self.each_fault([(kind, path, p) for path in self.files() for size in [os.path.getsize(path)] for kind in ("flipped", "cut", "overwritten")
                         for p in range(0, size, 1 if size < 200000 else 7)], harm, 4)

    def test_trib_is_killed(self):
        """trib fails on behalf of the program: the program gets an error, or compiles by itself."""
        self.remove(self.path(".trib"))
        self.remove(self.cache)
        self.keep("nothing")
        n = len(self.events("build", "--lazy", "--emit=library", "--out=.trib/lazy"))

        def kill(kind, at):
            self.restore("nothing")
            done = subprocess.run([HOST, self.dir, "small", "3", "8", "4"], env={**self.env, **self.shim(fault=f"kill-before:{at}", below=self.work)},
                                  capture_output=True, text=True, timeout=60 * SLOWER)
            self.assertIn(done.returncode, (0, 1), done.stderr)  # the shim is in the program as well, but that writes nothing
            if done.returncode == 0:
                self.assertEqual(done.stdout, self.want)
            done = self.host()
            self.assertEqual((done.returncode, done.stdout), (0, self.want), done.stderr)
        self.each_fault([("killed", at) for at in range(1, n + 1)], kill, 3)


if __name__ == "__main__":
    unittest.main()
