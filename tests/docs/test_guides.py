"""Every command of builder/profile/GUIDES.md in its order, in a new project."""
import os
import subprocess
import unittest

from following import Following, commands, page_commands
from project import TRIB

# What the page says that they print.
PRINTS = {
    "trib build --timing": r"(?s)phases\n.* scan .* build the tree .*costliest units.*costliest functions.*caches",
    "trib build --timing --message-format=json": r'"phases_ms":\{',
    "trib profile report build.json --top 5": r"costliest functions of the compiler \(5 of",
    "trib profile report all.json": r"(?s)first run.*second run",
    "trib cache stats": r"(?s)size .*entries .*hits ",
    "trib cache stats --detailed": r"(?s)reasons of misses:.*reasons of compilations",
    "trib graph --format=dot": r"^digraph",
    "trib profile history": r"saved by the cache",
    "trib profile scaling guide -n 1": r"(?s)growth.*jobs.*levels",
    "trib profile targets guide -n 1": r"PASS|FAIL",
    "trib profile compare base.json new.json": r"(?s)verdict.*NO_CHANGE",
    "trib profile check new.json --budget total=60s,peak=2GB": r"check (passed|failed)",
    "trib profile ab --a '-O1' --b '-O2' -n 2": r"(?s)speed-up .*memory .*verdict",
    "trib ci init github -o -": r"(?m)^jobs:",
    "trib bench guide --max-time 200ms": r"(?s)median .*least .*p95 .*deviation .*main\.tri:\d+",
    "trib profile report run.json --top 10": r"(?s)main\.tri:\d+",
    "trib profile report run.json --format json": r'"peak_bytes"',
    "trib bench guide --max-time 200ms --format json": r'"operations"',
    "trib bench guide --max-time 200ms --compare cpu": r"reference interpreter",
    "trib params": r"(?m)^fc1\.\w+ ",
    "trib devices": r"(?i)cpu|device",
}
PERF_WORKS = subprocess.run("perf record -o /dev/null true && perf stat true", shell=True, capture_output=True).returncode == 0


class Guides(Following):
    def setUp(self):
        super().setUp()
        self.shell["PATH"] = os.path.dirname(TRIB) + ":" + self.shell["PATH"]
        self.shell["TRIB_SERVER"] = "off"

    def test_every_command(self):
        lines = page_commands("builder/profile/GUIDES.md")
        self.assertGreater(len(lines), 40)
        said = dict(self.follow_all(line for line in lines if PERF_WORKS or not line.startswith("perf ")))
        for command, wanted in PRINTS.items():
            self.assertRegex(said[command], wanted, command)
        for name in ("trace.json", "build.json", "build.html", "run.html", "graph.html", "roofline.svg", "base.json", "runs.json"):
            self.assertGreater(os.path.getsize(os.path.join(self.cwd, name)), 100, name)


class Commands(unittest.TestCase):
    def test_which_lines_are_commands(self):
        text = "# a\n```sh\nscripts/start   # why\ncd x && y\n```\n```\n$ trib test\nmynet: ok\ntrib: 1 passed\n```\n```lua\ntrib x\n```\n"
        self.assertEqual(list(commands(text)), ["scripts/start   # why", "cd x && y", "trib test"])
        with self.assertRaises(AssertionError):
            list(commands("```\ntrib build\n```\n"))

    def test_which_cells_are_commands(self):
        text = "| there | here | prints |\n|---|---|---|\n| `trib a` | `trib b`, then `trib c x`; `--flag` | ends with 1 |\n\ntext\n\n| other |\n|---|\n| `trib d` |\n"
        self.assertEqual(list(commands(text)), ["trib b # ends with 1", "trib c x # ends with 1"])


if __name__ == "__main__":
    unittest.main()
