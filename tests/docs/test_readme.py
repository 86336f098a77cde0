"""Every command of README.md in its order, in a fresh clone, without a terminal; as another user if this is root's test. Then: two clones are one compiler.

Commands are the lines of blocks of `sh`, and what follows `$ ` in other blocks. Their comments count: "needs `KEY = VALUE`" is written to tri.build, and
"ends with N" allows that exit status."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from project import SOURCE, TRIB, ProjectTest, run

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
WITHIN = ("scripts/test",)  # this test is part of it
UNTIL_INTERRUPTED = {"trib watch": "watching", "trib profile serve": "http://"}  # until when they are interrupted
STARTS_A_COMMAND = re.compile(r"(trib|cmake|scripts/\w+)( |$)")


def commands(text):
    """The commands, with their comments."""
    for label, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        for line in block.splitlines():
            if label == "sh" and line.strip():
                yield line
            elif line.startswith("$ "):
                yield line[2:]
            elif not label and STARTS_A_COMMAND.match(line) and not line.startswith("trib: "):
                raise AssertionError(f"the block of `{line}` is not marked as sh")


class Readme(ProjectTest):
    def setUp(self):
        super().setUp()
        self.clone = os.path.join(self.tmp, "clone")
        self.home = os.path.join(self.tmp, "home")
        self.state = os.path.join(self.tmp, "state")
        self.make_clone()
        os.mkdir(self.home)
        for path in [self.tmp, self.home] + [os.path.join(at, name) for at, folders, files in os.walk(self.clone) for name in [".", *folders, *files]]:
            if NOBODY:
                os.chown(path, NOBODY["user"], NOBODY["group"], follow_symlinks=False)
        self.cwd = self.clone
        kept = ("PATH", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LANG")
        self.shell = {**{k: os.environ[k] for k in kept if k in os.environ}, "HOME": self.home, "BROWSER": "true"}

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

    def start(self, command):
        """In a shell that hands its folder and its variables on to the next one."""
        script = f'{command}\nstatus=$?; pwd > "{self.state}.cwd"; env -0 > "{self.state}.env"; exit $status'
        return subprocess.Popen(["bash", "-c", script], cwd=self.cwd, env=self.shell, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                start_new_session=True, **NOBODY)

    def take_state(self):
        with open(self.state + ".cwd") as f:
            self.cwd = f.read().strip()
        with open(self.state + ".env") as f:
            self.shell = dict(v.split("=", 1) for v in f.read().split("\0") if v)

    def interrupt(self, command, wanted):
        """It says `wanted`, and ends when it is interrupted."""
        process, said = self.start(command), ""
        for line in process.stdout:
            said += line
            if wanted in line:
                os.killpg(process.pid, signal.SIGINT)
                break
        said += process.communicate(timeout=120)[0]
        self.assertIn(wanted, said)
        self.assertIn(process.returncode, (0, 130, -signal.SIGINT), said)

    def follow(self, line):
        command, _, comment = line.partition(" #")
        if needed := re.search(r"needs `((\w+) = [^`]*)`", comment):
            with open(os.path.join(self.cwd, "tri.build"), "r+") as f:
                others = [row for row in f.read().splitlines() if row.split()[:1] != [needed[2]]]
                f.seek(0)
                f.truncate()
                f.write(re.sub(r"^(model .*)$", r"\1\n    " + needed[1], "\n".join(others) + "\n", flags=re.M))
        for start, wanted in UNTIL_INTERRUPTED.items():
            if command.startswith(start):
                return self.interrupt(command, wanted)
        process = self.start(command)
        said = process.communicate(timeout=1800)[0]
        ends = re.search(r"ends with (\d)", comment)
        self.assertIn(process.returncode, (0, int(ends[1]) if ends else 0), f"{line}\n{said}")
        return self.take_state()

    def test_every_command(self):
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as f:
            lines = list(commands(f.read()))
        for line in lines:
            if line.split(" #")[0].strip() in WITHIN:
                continue
            began = time.monotonic()
            if "./server" in line:  # the reader's own program
                self.start("printf '#!/bin/sh\\nexec sleep 1000\\n' > server; chmod +x server").communicate()
            self.follow(line)
            print(f"{time.monotonic() - began:6.1f} s  {line}", flush=True)
        self.assert_one_compiler()

    def assert_one_compiler(self):
        built = os.path.dirname(TRIB)
        files = ["trib", *(os.path.relpath(f, built) for f in glob.glob(os.path.join(built, "lib", "trib", "*.so")))]
        self.assertGreater(len(files), 5)
        for f in files:
            with open(os.path.join(built, f), "rb") as mine, open(os.path.join(self.clone, "out", "release", f), "rb") as other:
                self.assertTrue(mine.read() == other.read(), f"{f} depends on the folder of the clone")
            if f != "trib":
                self.assertTrue(os.path.exists(os.path.join(self.home, ".local", f)), f"{f} is not installed")
        self.dir = os.path.join(self.tmp, "copy")
        shutil.copytree(os.path.join(self.clone, "examples", "digits"), self.dir, ignore=shutil.ignore_patterns("build", ".trib"))
        self.env["XDG_CACHE_HOME"] = os.path.join(self.home, ".cache")
        record = self.build()
        self.assertEqual(record["units"]["compiled"], 0, json.dumps(record))


class Commands(unittest.TestCase):
    def test_which_lines_are_commands(self):
        text = "# a\n```sh\nscripts/start   # why\ncd x && y\n```\n```\n$ trib test\nmynet: ok\ntrib: 1 passed\n```\n```lua\ntrib x\n```\n"
        self.assertEqual(list(commands(text)), ["scripts/start   # why", "cd x && y", "trib test"])
        with self.assertRaises(AssertionError):
            list(commands("```\ntrib build\n```\n"))


if __name__ == "__main__":
    unittest.main()
