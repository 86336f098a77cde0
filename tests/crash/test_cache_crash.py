"""Kills, cuts, flipped bits and full disks in the user's cache: the next build equals a clean one, and the cache's limit holds."""
import os
import random
import shutil
import signal
import subprocess
import unittest

from project import TRIB, ProjectTest, any_moment


def net(n):
    steps = "".join(f"fn s{i}(x: Tensor<float32, [N, 32]>) -> Tensor<float32, [N, 32]> {{\n    return relu(x * {i}.0) / {i + 1}.0\n}}\n" for i in range(n))
    calls = "".join(f"        y = s{i}(y)\n" for i in range(n))
    # a parameter of 512 KiB: a large entry
    return "import init\n" + steps + ("layer Net() {\n    param w: Tensor<float32, [32, 4096]> = init.normal([32, 4096])\n    param v: Tensor<float32, [4096, 32]> = init.normal([4096, 32])\n"
                    "    fn forward(x: Tensor<float32, [N, 32]>) -> Tensor<float32, [N, 32]> {\n        let y = x @ w @ v\n" + calls + "        return y\n    }\n}\n")


class CacheCrash(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("src/net.tri", net(6))
        self.write("tri.build", "project p\n    version = 1.0\n\nmodel net\n    sources = src/*.tri\n    entry   = Net\n")
        self.env["TRIB_CACHE_SIZE"] = "16MiB"
        self.build()
        self.want = self.read("build/libnet.so")
        self.folder = os.path.join(self.env["XDG_CACHE_HOME"], "trib", "v4")
        seed = random.randrange(1 << 30)
        print("seed", seed)
        self.rng = random.Random(seed)

    def fresh(self):
        for name in ("build", ".trib"):
            shutil.rmtree(self.path(name), True)

    def disk(self):
        total = 0
        for root, folders, files in os.walk(self.folder):
            for name in folders + files:
                try:
                    total += os.stat(os.path.join(root, name)).st_blocks * 512
                except FileNotFoundError:
                    pass
        return total

    def good(self):
        self.fresh()
        self.build()
        self.assertEqual(self.read("build/libnet.so"), self.want)

    def files(self):
        found = []
        for root, _, names in os.walk(self.folder):
            found += [os.path.join(root, n) for n in names if n != "lock.mdb"]
        return found

    def sound_after_a_kill(self):
        """At worst an entry has lost its file."""
        self.assertLessEqual(self.disk(), 16 << 20)
        for line in self.trib("cache", "validate", ok=False).stderr.splitlines():
            self.assertRegex(line, "its writer was killed|its file is missing")
        self.trib("cache", "validate", "--repair")
        self.assertIn("all valid", self.trib("cache", "validate").stdout)

    def test_there_are_large_entries(self):
        self.assertTrue(any("/large/" in f for f in self.files()))

    def test_kills(self):
        for i in range(25):
            self.fresh()
            if i % 3 == 0:
                self.trib("cache", "clear")
            child = subprocess.Popen([TRIB, "build"], cwd=self.dir, env={**os.environ, **self.env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            any_moment(self.rng, 0.09)
            child.send_signal(signal.SIGKILL)
            child.wait()
            self.sound_after_a_kill()
        self.good()

    def test_kills_while_it_is_tidied(self):
        for command in (["cache", "clear", "--level=l3"], ["cache", "prune", "--days=1"], ["cache", "clear"], ["cache", "validate", "--repair"]) * 4:
            child = subprocess.Popen([TRIB, *command], cwd=self.dir, env={**os.environ, **self.env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            any_moment(self.rng, 0.006)
            child.send_signal(signal.SIGKILL)
            child.wait()
            self.good()
            self.sound_after_a_kill()

    def damaged(self, harm):
        """A build from a copy of the cache in which `harm` did its work on one file."""
        kept = self.folder + ".kept"
        os.rename(self.folder, kept)
        try:
            shutil.copytree(kept, self.folder)
            for path in self.files():
                harm(path)
            self.good()
        finally:
            shutil.rmtree(self.folder, True)
            os.rename(kept, self.folder)

    def test_cuts(self):
        for _ in range(12):
            self.damaged(lambda path: os.truncate(path, self.rng.randrange(os.path.getsize(path) + 1)))

    def test_flipped_bits(self):
        def flip(path):
            with open(path, "r+b") as f:
                for _ in range(self.rng.choice((1, 3, 50))):
                    f.seek(self.rng.randrange(os.path.getsize(path)))
                    byte = f.read(1)
                    f.seek(-1, 1)
                    f.write(bytes([byte[0] ^ 1 << self.rng.randrange(8)]))
        for _ in range(20):
            self.damaged(flip)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount")
    def test_full_disk(self):
        small = os.path.join(self.tmp, "small")
        os.mkdir(small)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", small], capture_output=True).returncode:
            self.skipTest("mounting is not permitted")
        self.addCleanup(subprocess.run, ["umount", "-l", small], check=False)
        self.env["TRIB_CACHE_DIR"] = small
        self.fresh()
        done = self.trib("build")
        self.assertIn("W0802", done.stderr)
        self.assertEqual(self.read("build/libnet.so"), self.want)
        self.assertEqual(self.trib("cache", "stats", ok=False).returncode, 0)
        self.good()

    def test_a_running_build_outlives_a_cleared_cache(self):
        self.trib("cache", "clear")
        self.fresh()
        child = subprocess.Popen([TRIB, "build"], cwd=self.dir, env={**os.environ, **self.env}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while child.poll() is None:
            self.trib("cache", "clear")
        self.assertEqual((child.wait(), child.stderr.read()), (0, b""))
        child.stderr.close()
        self.assertEqual(self.read("build/libnet.so"), self.want)
        self.good()
        self.assertIn("all valid", self.trib("cache", "validate").stdout)


if __name__ == "__main__":
    unittest.main()
