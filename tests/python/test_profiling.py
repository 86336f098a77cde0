"""trib.profile_build, profile_block, record, compare, suggest, check_regression, cache; and the page of guides for Python."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import unittest
from unittest import mock

import trib
from project import SOURCE, ProjectTest

PAGE = "builder/python/PROFILING.md"


class DigitsTest(ProjectTest):
    """In a copy of examples/digits, with caches of the test's own."""

    def setUp(self):
        super().setUp()
        shutil.copytree(os.path.join(SOURCE, "examples", "digits"), self.dir, dirs_exist_ok=True, ignore=shutil.ignore_patterns("build", ".trib"))
        patch = mock.patch.dict(os.environ, self.env)
        patch.start()
        self.addCleanup(patch.stop)
        here = os.getcwd()
        os.chdir(self.dir)
        self.addCleanup(os.chdir, here)


class Profiling(DigitsTest):
    def test_page(self):
        """Every code of the column `here`, in its order."""
        with open(os.path.join(SOURCE, PAGE), encoding="utf-8") as f:
            rows = re.findall(r"^\|(?! guides|---)(.*)\|(.*)\|(.*)\|$", f.read(), re.M)
        codes = [code for row in rows for code in re.findall(r"`([^`]+)`", row[1])]
        self.assertGreater(len(codes), 30)
        names = {"trib": trib}
        with mock.patch("builtins.print"):
            for code in codes:
                with self.subTest(code):
                    exec(code, names)
        for name in ("build.json", "build.html", "base.json", "run.html"):
            self.assertGreater(os.path.getsize(name), 100, name)

    def test_profile_of_builds(self):
        with trib.profile_build() as p:
            with trib.profile_block("both"):
                trib.build()
                with trib.profile_block("again"):
                    trib.build()
        self.assertEqual(len(p.builds), 2)
        self.assertEqual(p.builds[0].facts["units.compiled"], 1)
        self.assertEqual(p.last.facts["units.compiled"], 0)
        self.assertEqual([(b.name, [c.name for c in b.blocks]) for b in p.blocks], [("both", ["again"])])
        self.assertGreater(p.blocks[0].wall_ns, p.blocks[0].blocks[0].wall_ns)
        self.assertIn("typecheck", p.builds[0].phases_ns)
        self.assertIsNone(trib.build().profile)  # outside

    def test_blocks_add_up(self):
        @trib.profile_block("square")
        def square(x):
            return x * x

        with trib.profile_block("all") as whole:
            self.assertEqual([square(k) for k in range(3)], [0, 1, 4])
        self.assertEqual([(b.name, b.calls) for b in whole.blocks], [("square", 3)])

    def test_regression(self):
        with trib.profile_build(output="a.json"):
            trib.build()
        profile = trib.BuildProfile.load("a.json")
        with self.assertRaises(trib.RegressionError) as caught:
            trib.check_regression(profile, budget={"total": "1us"})
        self.assertEqual(caught.exception.findings[0]["metric"], "wall_ns")
        self.assertFalse(trib.check_regression(profile, budget="total=1us", check=False).passed)
        self.assertTrue(trib.check_regression(profile, "new.json", save=True).passed)
        self.assertTrue(os.path.exists("new.json"))

    def test_mistakes(self):
        with self.assertRaisesRegex(trib.NotFoundError, "no build was profiled"):
            with trib.profile_build() as p:
                pass
            p.last
        with self.assertRaisesRegex(trib.ArgumentError, "no profile"):
            trib.BuildProfile('{"type": "build"}')
        with self.assertRaisesRegex(trib.NotFoundError, "no profile missing.json"):
            trib.compare("missing.json", "missing.json")
        with self.assertRaisesRegex(trib.ArgumentError, "pass a baseline, a budget, or both"):
            trib.check_regression("a.json")
        with self.assertRaisesRegex(trib.ArgumentError, "pass the model"):
            trib.record(run=True)
        self.edit("src/digits.tri", "fc3(g)", "fc4(g)")
        with self.assertRaisesRegex(trib.Error, "fc4"):
            trib.record(samples=1)


class Cache(DigitsTest):
    def test_entries(self):
        self.assertIsNone(trib.cache.get("a"))
        trib.cache.put("a", b"one", files=["tri.build"])
        trib.cache.put("b", bytearray(b"two"))
        self.assertEqual((trib.cache.get("a"), trib.cache.get("b")), (b"one", b"two"))
        os.utime("tri.build")
        self.assertEqual(trib.cache.get("a"), b"one")  # the same content
        self.edit("tri.build", "version = 1.0", "version = 1.1")
        self.assertIsNone(trib.cache.get("a"))
        trib.cache.put("a", b"three", files=["tri.build"])
        os.unlink("tri.build")
        self.assertIsNone(trib.cache.get("a"))
        self.assertTrue(trib.cache.invalidate("a"))
        self.assertFalse(trib.cache.invalidate("a"))
        trib.cache.clear()
        self.assertIsNone(trib.cache.get("b"))

    def test_damage(self):
        trib.cache.put("a", b"value" * 100)
        folder = os.path.join(os.environ["XDG_CACHE_HOME"], "trib", "entries")
        path = os.path.join(folder, os.listdir(folder)[0])
        with open(path, "rb") as f:
            whole = f.read()
        for damaged in (whole[:-1], whole[:20], b"", whole.replace(b"value", b"VALUE", 1), b"\xff" * 300):
            with open(path, "wb") as f:
                f.write(damaged)
            self.assertIsNone(trib.cache.get("a"))

    def test_mistakes(self):
        with self.assertRaisesRegex(trib.ArgumentError, "is bytes, not str"):
            trib.cache.put("a", "text")
        with self.assertRaisesRegex(trib.NotFoundError, "cannot be read"):
            trib.cache.put("a", b"", files=["missing"])
        with self.assertRaisesRegex(trib.ArgumentError, "is a text"):
            trib.cache.get("")


@unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest is missing")
class Plugin(DigitsTest):
    def test_fixture(self):
        self.write("test_build.py", "def test_build(trib_profile):\n    trib_profile.build('.')\n    trib_profile.check('base.json', budget={'total': '60s'})\n")
        self.write("test_slow.py", "def test_slow(trib_profile):\n    trib_profile.build('.')\n    trib_profile.check(budget={'total': '1us'})\n")
        argv = [sys.executable, "-m", "pytest", "-q"]
        done = subprocess.run([*argv, "test_build.py"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(os.path.exists("base.json"))
        done = subprocess.run([*argv, "test_slow.py"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("slower or larger than allowed", done.stdout)


if __name__ == "__main__":
    unittest.main()
