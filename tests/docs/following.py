"""Follows the commands of a page in their order, as a reader does: in a shell, each in the folder and with the variables that the one before left.

Commands are the lines of blocks of `sh`, and what follows `$ ` in other blocks. Their comments count: "needs `KEY = VALUE`" is written to tri.build, and
"ends with N" allows that exit status. In tables with a column `here`, they are its texts in backticks that start with a command; the last cell is their comment."""
import os
import re
import signal
import subprocess
import time

from project import SOURCE, ProjectTest

UNTIL_INTERRUPTED = {"trib watch": "watching", "trib profile serve": "http://"}  # until when they are interrupted
STARTS_A_COMMAND = re.compile(r"(trib|cmake|perf|scripts/\w+)( |$)")


def block_commands(label, block):
    for line in block.splitlines():
        if label == "sh" and line.strip():
            yield line
        elif line.startswith("$ "):
            yield line[2:]
        elif not label and STARTS_A_COMMAND.match(line) and not line.startswith("trib: "):
            raise AssertionError(f"the block of `{line}` is not marked as sh")


def table_commands(table):
    """Those of the column `here`."""
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    if "here" in head:
        for row in rows:
            yield from (f"{code} # {row[-1]}" for code in re.findall(r"`([^`]+)`", row[head.index("here")]) if STARTS_A_COMMAND.match(code))


def commands(text):
    """The commands of a page, with their comments."""
    for label, block, table in re.findall(r"^```(\w*)\n(.*?)^```$|((?:^\|[^\n]*\|\n)+)", text, re.M | re.S):
        yield from table_commands(table) if table else block_commands(label, block)


def page_commands(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
        return list(commands(f.read()))


class Following(ProjectTest):
    """self.cwd and self.shell are the folder and the variables of the reader's shell."""

    as_user = {}  # for subprocess

    def setUp(self):
        super().setUp()
        self.home = os.path.join(self.tmp, "home")
        self.state = os.path.join(self.tmp, "state")
        os.mkdir(self.home)
        kept = ("PATH", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LANG", "HWLOC_SYNTHETIC")
        self.shell = {**{k: os.environ[k] for k in kept if k in os.environ}, "HOME": self.home, "BROWSER": "true"}
        self.cwd = self.dir

    def start(self, command):
        """In a shell that hands its folder and its variables on to the next one."""
        script = f'{command}\nstatus=$?; pwd > "{self.state}.cwd"; env -0 > "{self.state}.env"; exit $status'
        return subprocess.Popen(["bash", "-c", script], cwd=self.cwd, env=self.shell, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                start_new_session=True, **self.as_user)

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
                self.interrupt(command, wanted)
                return wanted
        process = self.start(command)
        said = process.communicate(timeout=1800)[0]
        ends = re.search(r"ends with (\d)", comment)
        self.assertIn(process.returncode, (0, int(ends[1]) if ends else 0), f"{line}\n{said}")
        self.take_state()
        return said

    def follow_all(self, lines):
        """Yields each command, and what it said."""
        for line in lines:
            command, began = line.split(" #")[0].strip(), time.monotonic()
            said = self.follow(line)
            print(f"{time.monotonic() - began:6.1f} s  {command}", flush=True)
            yield command, said
