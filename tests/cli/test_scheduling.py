"""--keep-going, --load-average and the memory budget, seen at the tasks that they stop or delay. The tasks are linkers: scripts that write down when they run."""
import json
import os
import unittest

from project import SLOWER, ProjectTest, run

NAMES = ["m1", "m2", "m3", "m4"]
MODEL = "\nmodel {0}\n    sources = {0}.tri\n    entry = Net\n    input x = float32 [?, 8]\n"
NET = "layer Net() {{\n    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {{\n        return {0}(x * {1}.0)\n    }}\n}}\n"
# Each waits until all four have started, or for so many steps of 50 ms.
LINK = """#!/bin/sh
name=$(echo "$@" | grep -o 'm[1-4]' | head -n 1)
echo "start $name" >>log
steps=0
while [ $(grep -c start log) -lt 4 ] && [ $steps -lt {steps} ]; do sleep 0.05; steps=$((steps + 1)); done
echo "end $name" >>log
case " {broken} " in *" $name "*) exit 1; esac
exec cc "$@"
"""
LONG, SHORT = 2400, 4


class Tasks(ProjectTest):
    def setUp(self):
        super().setUp()
        self.env["TRIB_CACHE"] = "off"
        for i, name in enumerate(NAMES):
            self.write(f"{name}.tri", NET.format("relu", i + 2))
        self.write("tri.build", "project p\n    linker = ./link\n" + "".join(map(MODEL.format, NAMES)))

    def links(self, *flags, steps=SHORT, broken=(), code=0):
        """What the linkers wrote, and the events of the build."""
        self.write("link", LINK.format(steps=steps, broken=" ".join(broken)))
        os.chmod(self.path("link"), 0o755)
        self.write("log", "")
        for name in os.listdir(self.path("build")) if os.path.exists(self.path("build")) else []:
            os.unlink(self.path("build/" + name))
        done = self.trib("build", "--message-format=json", *flags, ok=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return [tuple(line.split()) for line in self.read("log").decode().splitlines()], [json.loads(line) for line in done.stdout.splitlines()]

    def assert_together(self, log):
        self.assertEqual([what for what, _ in log[:4]], ["start"] * 4, log)
        self.assertEqual(len(log), 8, log)

    def assert_one_by_one(self, log):
        self.assertEqual(len(log), 8, log)
        for start, end in zip(log[::2], log[1::2]):
            self.assertEqual((start[0], end[0], start[1]), ("start", "end", end[1]), log)


class KeepGoing(Tasks):
    """With one worker no other task runs while one fails."""

    def failed_and_linked(self, *flags, broken):
        log, events = self.links("-j1", *flags, steps=0, broken=broken, code=3)
        names = [name for what, name in log if what == "end"]
        last = [e["ok"] for e in events if e["type"] == "task-ended"][-1]
        done = [n for n in names if n not in broken]
        self.assertEqual(sorted(f"lib{n}.so" for n in done), sorted(f for f in os.listdir(self.path("build")) if f.endswith(".so")))
        self.assertEqual(sorted(events[-1]["outputs"]), sorted(f"build/{f}" for n in done for f in (f"lib{n}.so", f"{n}.h")) if done else [])
        return len(names) - len(done), len(done), last

    def test_failures_of_tasks(self):
        self.assertEqual(self.failed_and_linked(broken=NAMES), (1, 0, False))
        self.assertEqual(self.failed_and_linked("-k1", broken=NAMES), (1, 0, False))
        self.assertEqual(self.failed_and_linked("-k3", broken=NAMES), (3, 0, False))
        self.assertEqual(self.failed_and_linked("-k", broken=NAMES)[:2], (4, 0))
        for flags in ("-k",), ("-k0",), ("-k3",), ("--keep-going=3",):
            self.assertEqual(self.failed_and_linked(*flags, broken=["m2", "m3"])[:2], (2, 2), flags)

    def test_the_manifest(self):
        self.edit("tri.build", "project p\n", "project p\n    keep_going = true\n")
        self.assertEqual(self.failed_and_linked(broken=["m2", "m3"])[:2], (2, 2))
        self.assertEqual(self.failed_and_linked("-k1", broken=NAMES), (1, 0, False))

    def test_errors_in_sources(self):
        """A model with errors is one failure."""
        for name in "m1", "m3":
            self.write(f"{name}.tri", NET.format("rellu", 2))
        for flags, linked in ((), []), (("-k2",), []), (("-k3",), ["m2", "m4"]), (("-k",), ["m2", "m4"]):
            log, _ = self.links("-j1", *flags, steps=0, code=1)
            self.assertEqual(sorted(name for what, name in log if what == "end"), linked, flags)

    def test_the_others_are_compiled(self):
        self.edit("tri.build", "    linker = ./link\n", "")
        for name in "m1", "m3":
            self.write(f"{name}.tri", NET.format("rellu", 2))
        record = json.loads(self.trib("build", "-k", "--message-format=json", ok=False).stdout.splitlines()[-1])
        self.assertEqual((record["ok"], record["units"]["compiled"], len(record["outputs"])), (False, 2, 4), record)


@unittest.skipIf(SLOWER > 1, "a sanitizer wants to be loaded first")
class Machine(Tasks):
    """A machine whose load and memory the test chooses."""

    def setUp(self):
        super().setUp()
        shim = os.path.join(self.tmp, "machine.so")
        run(["cc", "-shared", "-fPIC", "-o", shim, os.path.join(os.path.dirname(os.path.abspath(__file__)), "preload_machine.c"), "-ldl"], self.tmp)
        self.env["LD_PRELOAD"] = shim

    def waited(self, why):
        return json.loads(self.read("profile.json"))["facts"][f"wait.{why}_ns"]

    def test_load_average(self):
        self.env["LOAD_AVERAGE"] = "5"
        self.assert_one_by_one(self.links("-j4", "-l4", "--profile-out=profile.json")[0])
        self.assertGreater(self.waited("load"), 0)
        self.assert_one_by_one(self.links("-j4", "--load-average=5")[0])
        self.assert_together(self.links("-j4", "-l5.5", "--profile-out=profile.json", steps=LONG)[0])
        self.assertEqual(self.waited("load"), 0)
        self.assert_together(self.links("-j4", steps=LONG)[0])

    def test_a_lower_load_lets_tasks_begin(self):
        self.env["LOAD_AVERAGE"] = "3.9"
        self.assert_together(self.links("-j4", "-l4", steps=LONG)[0])

    def test_memory_budget(self):
        """The first build records what tasks need. With less free memory than any of them needs each runs alone."""
        self.env["MEMINFO"] = self.path("meminfo")
        self.write("meminfo", "MemTotal: 99999999 kB\nMemAvailable: 9999999 kB\n")
        self.assert_together(self.links("-j4", steps=LONG)[0])
        self.write("meminfo", "MemTotal: 99999999 kB\nMemAvailable: 1 kB\n")
        self.assert_one_by_one(self.links("-j4", "--profile-out=profile.json")[0])
        self.assertGreater(self.waited("memory"), 0)
        self.write("meminfo", "MemTotal: 99999999 kB\nMemAvailable: 9999999 kB\n")
        self.assert_together(self.links("-j4", "--profile-out=profile.json", steps=LONG)[0])
        self.assertEqual(self.waited("memory"), 0)


class LowMemory(Tasks):
    def test_one_task_at_a_time(self):
        self.assert_together(self.links("-j4", steps=LONG)[0])
        for flags, manifest in (("-j4", "--low-memory"), ""), (("-j4",), "    low_memory = true\n"):
            self.edit("tri.build", "project p\n", "project p\n" + manifest)
            log, events = self.links(*flags)
            self.assert_one_by_one(log)
            self.assertEqual(events[-1]["jobs"], 1)
            running = 0
            for e in events:
                running += (e["type"] == "task-started") - (e["type"] == "task-ended")
                self.assertIn(running, (0, 1))

    def test_a_profile_of_the_manifest(self):
        self.write("tri.build", self.read("tri.build").decode() + "\nprofile small\n    low_memory = true\n")
        self.assert_one_by_one(self.links("-j4", "--profile=small")[0])


if __name__ == "__main__":
    unittest.main()
