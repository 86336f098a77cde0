"""Every command of README.md in its order, in a fresh clone, without a terminal; as another user if this is root's test. Then: two clones are one compiler."""
import filecmp
import glob
import json
import os
import shutil
import unittest

from following import Following, page_commands
from project import SOURCE, TRIB, run

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
WITHIN = ("scripts/test",)  # this test is part of it


class Readme(Following):
    as_user = NOBODY

    def setUp(self):
        super().setUp()
        self.clone = os.path.join(self.tmp, "clone")
        self.make_clone()
        for path in [self.tmp, self.home] + [os.path.join(at, name) for at, folders, files in os.walk(self.clone) for name in [".", *folders, *files]]:
            if NOBODY:
                os.chown(path, NOBODY["user"], NOBODY["group"], follow_symlinks=False)
        self.cwd = self.clone

    def make_clone(self):
        """The last commit, and what is not committed yet: the same sources as in TRIB."""
        git = ["git", "-c", "safe.directory=*"]
        run([*git, "clone", "-q", SOURCE, self.clone], self.tmp)
        changed = run([*git, "ls-files", "-z", "--modified", "--others", "--exclude-standard"], SOURCE).stdout.split("\0")
        for name in filter(None, changed):
            there, here = os.path.join(SOURCE, name), os.path.join(self.clone, name)
            if os.path.lexists(there):
                os.makedirs(os.path.dirname(here), exist_ok=True)
                shutil.copy2(there, here, follow_symlinks=False)
            else:
                os.remove(here)

    def lines(self):
        for line in page_commands("README.md"):
            if "./server" in line:  # the reader's own program
                self.start("printf '#!/bin/sh\\nexec sleep 1000\\n' > server; chmod +x server").communicate()
            if line.split(" #")[0].strip() not in WITHIN:
                yield line

    def test_every_command(self):
        for _ in self.follow_all(self.lines()):
            pass
        self.assert_one_compiler()

    def assert_one_compiler(self):
        built = os.path.dirname(TRIB)
        files = ["trib", *(os.path.relpath(f, built) for f in glob.glob(os.path.join(built, "lib", "trib", "*.so")))]
        self.assertGreater(len(files), 5)
        for f in files:
            with open(os.path.join(built, f), "rb") as mine, open(os.path.join(self.clone, "out", "release", f), "rb") as other:
                self.assertTrue(mine.read() == other.read(), f"{f} depends on the folder of the clone")
            installed = os.path.join(self.home, ".local", "bin" if f == "trib" else "", f)
            self.assertTrue(filecmp.cmp(os.path.join(built, f), installed, shallow=False), f"{f} is installed with other bytes")
        self.dir = os.path.join(self.tmp, "copy")
        shutil.copytree(os.path.join(self.clone, "examples", "digits"), self.dir, ignore=shutil.ignore_patterns("build", ".trib"))
        self.env["XDG_CACHE_HOME"] = os.path.join(self.home, ".cache")
        record = self.build()
        self.assertEqual(record["units"]["compiled"], 0, json.dumps(record))


if __name__ == "__main__":
    unittest.main()
