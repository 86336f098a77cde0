"""trib bench: times, bytes and operations of each statement, beside the ceilings of the machine."""
import json
import os
import unittest
import xml.etree.ElementTree as xml

from project import ProjectTest

HIDDEN, CLASSES, PIXELS = 128, 10, 64


class Bench(ProjectTest):
    example = "digits"

    def bench(self, *args, ok=True):
        return self.trib("bench", "--max-time", "200ms", *args, ok=ok)

    def profiles(self, *args):
        return [json.loads(line) for line in self.bench("--format=json", *args).stdout.splitlines()]

    def test_operations_of_products_are_those_of_the_network(self):
        """digits has three products; each multiplies and adds once for every weight and row."""
        for rows in 1, 5:
            (p,) = self.profiles("--threads=1", f"--batch={rows}")
            self.assertEqual((p["type"], p["kind"], p["samples"]), ("profile", "run", 1))
            kernels = [i for i in p["items"] if "matmul" in i["name"]]
            weights = PIXELS * HIDDEN + HIDDEN * HIDDEN + HIDDEN * CLASSES
            products = 2 * rows * weights
            counted = sum(i["operations"][0] for i in kernels)
            self.assertGreaterEqual(counted, products)
            self.assertLess(counted, 1.2 * products + 100 * rows * (2 * HIDDEN + CLASSES))  # the epilogues
            self.assertGreaterEqual(sum(i["bytes"][0] for i in kernels), weights / 4)  # trits at two bits
            self.assertTrue(all(i["at"].startswith("src/digits.tri:") for i in kernels))
            self.assertTrue(all(i["calls"] == [1] and i["wall_ns"][0] > 0 for i in kernels))

    def test_calls_of_units_are_a_tree_and_add_up(self):
        self.edit("tri.build", "    entry   = DigitsNet\n", "    entry   = DigitsNet\n    opt = 1\n")
        (p,) = self.profiles("--threads=1", "--batch=64")
        items = p["items"]
        for k, item in enumerate(items):
            children = [i for i in items if i.get("parent") == k]
            if children:
                self.assertEqual(item["kind"], "unit")
                self.assertGreaterEqual(item["wall_ns"][0] * 1.05, sum(i["wall_ns"][0] for i in children))
                self.assertEqual(item["operations"][0], sum(i["operations"][0] for i in children))
        roots = [i for i in items if "parent" not in i]
        self.assertEqual(p["total"]["operations"][0], sum(i["operations"][0] for i in roots))
        self.assertLessEqual({i["kind"] for i in items}, {"unit", "kernel", "statement"})
        for item, lane, start, ns, critical in p["spans"]:
            self.assertLess(item, len(items))

    def test_several_cases_end_with_a_table(self):
        text = self.bench("--threads=1,2", "--batch=1,8").stdout
        self.assertEqual(text.count("ceilings:"), 4)
        self.assertIn("equal to the reference interpreter", text)
        last = text.rstrip().splitlines()[-5:]
        self.assertEqual(last[0].split(), ["device", "threads", "batch", "median", "GOP/s", "rows/s", "speed-up"])
        self.assertEqual([line.split()[:3] for line in last[1:]], [["cpu", t, b] for b in "18" for t in "12"])

    def test_opencl(self):
        self.edit("tri.build", "emit    = library header", "emit    = library header opencl")
        (p,) = self.profiles("--device=opencl", "--batch=5")
        self.assertEqual(p["machine"]["device"], "opencl")
        (cpu,) = self.profiles("--batch=5")
        products = lambda q: sorted(i["operations"][0] for i in q["items"] if "matmul" in i["name"])
        self.assertEqual(len(products(p)), 3)
        for device, host in zip(products(p), products(cpu)):
            self.assertLess(abs(device / host - 1), 0.5)  # other statements are fused

    def test_files(self):
        self.bench("--threads=1", "--profile-out=run.json", "--roofline=roof.svg")
        self.assertIn("fc2", self.trib("profile", "report", "run.json").stdout)
        root = xml.fromstring(self.read("roof.svg"))
        self.assertGreaterEqual(len(root.findall("{http://www.w3.org/2000/svg}circle")), 3)
        self.assertFalse(os.path.exists(self.path("build")))  # the project's own outputs are left alone

    def test_ceilings_of_devices_are_measured_and_kept(self):
        measured = [json.loads(line) for line in self.trib("devices", "--measure", "--format=json").stdout.splitlines()]
        self.assertIn("cpu", [d["device"] for d in measured])
        self.assertIn("opencl:0", [d["device"] for d in measured])
        for d in measured:
            self.assertTrue(all(1e8 < d[k] < 1e16 for k in ("read_bytes", "copy_bytes", "float_ops", "int8_ops")), d)
        kept = os.path.join(self.env["XDG_CACHE_HOME"], "trib", "devices.json")
        self.assertEqual({d["name"] for d in json.load(open(kept))["devices"]}, {d["name"] for d in measured})
        (one,) = [d for d in measured if d["name"].endswith(", 1 thread")]
        (p,) = self.profiles("--threads=1")
        self.assertEqual((p["facts"]["ceiling.float_ops"], p["settings"]["device"]), (one["float_ops"], one["name"]))
        self.write(kept, b"{damaged")
        (p,) = self.profiles("--threads=1")
        self.assertGreater(p["facts"]["ceiling.float_ops"], 1e8)
        self.assertEqual(len(json.load(open(kept))["devices"]), 1)
        self.assertIn("--measure", self.trib("devices", "--format=json", ok=False).stderr)

    def test_wrong_usage(self):
        self.assertIn("--threads wants numbers from 1 to", self.trib("bench", "--threads=0", ok=False).stderr)
        self.assertIn("--max-time wants a time", self.trib("bench", "--max-time=soon", ok=False).stderr)
        self.assertIn("--device takes cpu", self.trib("bench", "--compare=cpu,cuda", ok=False).stderr)
        self.assertIn("compiled code", self.trib("bench", "--device=reference", ok=False).stderr)
        self.edit("tri.build", "float32 [?, 64]", "float32 [1, 64]")
        self.assertIn("no input of the entry has this first dimension", self.bench("--batch=4", ok=False).stderr)
        self.assertIn("there is no model", self.trib("bench", "other", ok=False).stderr)
        done = self.bench("--profile-out=/nowhere/p.json", ok=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot write `/nowhere/p.json`", done.stderr)


if __name__ == "__main__":
    unittest.main()
