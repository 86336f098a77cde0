"""Kills and full disks: the last good output remains, and the next build equals a clean one."""
import os
import random
import resource
import shutil
import signal
import subprocess
import unittest

from project import TRIB, ProjectTest, any_moment


class Crash(ProjectTest):
    example = "digits"

    def setUp(self):
        super().setUp()
        self.build()
        self.good = self.read("build/libdigits.so")
        self.edit("src/digits.tri", "16.0", "8.0")
        other = self.dir + "-clean"
        shutil.copytree(self.dir, other, ignore=shutil.ignore_patterns("build", ".trib"))
        subprocess.run([TRIB, "build", "-C", other], check=True, capture_output=True,
                       env={**os.environ, "XDG_CACHE_HOME": os.path.join(self.tmp, "clean-cache")})
        with open(os.path.join(other, "build/libdigits.so"), "rb") as f:
            self.want = f.read()
        self.assertNotEqual(self.good, self.want)

    def no_leftovers(self):
        self.assertEqual(sorted(os.listdir(self.path("build"))), ["digits.h", "libdigits.so"])

    def test_kill_at_any_moment(self):
        seed = random.randrange(1 << 30)
        print("seed", seed)
        rng = random.Random(seed)
        shutil.rmtree(self.env["XDG_CACHE_HOME"])
        for _ in range(25):
            child = subprocess.Popen([TRIB, "build"], cwd=self.dir, env={**os.environ, **self.env}, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            any_moment(rng, 0.08)
            child.send_signal(signal.SIGKILL)
            child.wait()
            self.assertIn(self.read("build/libdigits.so"), (self.good, self.want))
            if rng.random() < 0.3:
                shutil.rmtree(self.env["XDG_CACHE_HOME"], True)
        self.build()
        self.assertEqual(self.read("build/libdigits.so"), self.want)

    def test_interrupt(self):
        shutil.rmtree(self.env["XDG_CACHE_HOME"])
        child = subprocess.Popen([TRIB, "build", "--message-format=json"], cwd=self.dir, env={**os.environ, **self.env}, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.assertTrue(child.stdout.readline())  # the first phase has started
        child.send_signal(signal.SIGINT)
        child.communicate()
        self.assertIn(child.returncode, (130, 0))
        self.assertIn(self.read("build/libdigits.so"), (self.good, self.want))
        self.no_leftovers()
        self.build()
        self.assertEqual(self.read("build/libdigits.so"), self.want)

    def limited(self, limit):
        def before():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return self.trib("build", ok=False, preexec_fn=before)

    def test_no_room_for_the_output(self):
        for limit in (0, 1, 1000, len(self.good) // 2):
            done = self.limited(limit)
            self.assertIn(done.returncode, (0, 1, 3), done.stderr)
            if done.returncode:
                self.assertTrue(done.stderr.strip())
                self.assertEqual(self.read("build/libdigits.so"), self.good)
                self.no_leftovers()
        self.build()
        self.assertEqual(self.read("build/libdigits.so"), self.want)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount")
    def test_full_disk(self):
        small = self.path("small")  # in the project: `build` may not lead out of it
        os.mkdir(small)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", small], capture_output=True).returncode:
            self.skipTest("mounting is not permitted")
        self.addCleanup(subprocess.run, ["umount", "-l", small], check=False)
        shutil.copytree(self.path("build"), os.path.join(small, "build"))
        shutil.rmtree(self.path("build"))
        os.symlink(os.path.join(small, "build"), self.path("build"))
        with open(os.path.join(small, "filler"), "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 1024)
            except OSError:
                pass
        said = self.fails("build", code=3)
        self.assertIn("No space left", said)
        self.assertEqual(self.read("build/libdigits.so"), self.good)
        os.unlink(os.path.join(small, "filler"))
        self.build()
        self.assertEqual(self.read("build/libdigits.so"), self.want)

    def test_damaged_stores(self):
        seed = random.randrange(1 << 30)
        print("seed", seed)
        rng = random.Random(seed)
        for round_ in range(12):
            for root in (self.path(".trib"), self.env["XDG_CACHE_HOME"]):
                for folder, _, names in os.walk(root):
                    for name in names:
                        path = os.path.join(folder, name)
                        size = os.path.getsize(path)
                        if not size:
                            continue
                        with open(path, "r+b") as f:
                            if round_ % 3 == 2:
                                f.truncate(rng.randrange(size))
                            else:
                                for _ in range(200 if round_ % 3 else 3):
                                    f.seek(rng.randrange(size))
                                    f.write(bytes([rng.randrange(256)]))
            self.build()
            self.assertEqual(self.read("build/libdigits.so"), self.want)

    def test_two_builds_at_once(self):
        env = {**os.environ, **self.env}
        children = [subprocess.Popen([TRIB, "build"], cwd=self.dir, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    for _ in range(4)]
        self.assertEqual([c.wait() for c in children], [0] * 4)
        self.assertEqual(self.read("build/libdigits.so"), self.want)


if __name__ == "__main__":
    unittest.main()
