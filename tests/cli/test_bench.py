"""trib bench: times, bytes and operations of each statement, beside the ceilings of the machine."""
import json
import os
import pathlib
import re
import shutil
import unittest
import xml.etree.ElementTree as xml

from project import ProjectTest, SOURCE

HIDDEN, CLASSES, PIXELS = 128, 10, 64


# A loop whose end is known only at run time, in another one: statements in statements.
LOOPS = """
layer Net(x: Tensor<float32, [4, 64]>) {
    let y = x
    let k = 0
    while k < int32(y[0, 0] * 0.0) + 3 {
        let j = 0
        while j < int32(y[0, 1] * 0.0) + 2 {
            y = relu(y @ ones([64, 64])) / 64.0
            j += 1
        }
        k += 1
    }
    return softmax(y)
}
"""
ENTRIES = """
layer Net() {
    fn first(x: Tensor<float32, [N, 4]>) {
        print(f"printed {x}")
        return softmax(x)
    }
    fn second(x: Tensor<float32, [N, 4]>) {
        return relu(x).sum(dim=1)
    }
}
"""
SMALL = ("MnistMlp", "Vgg16", "ResNet18", "MobileNetV2", "EfficientNetB0", "DenseNet201", "VitB16", "TernaryResNet50", "TernaryMobileNetV2", "TernaryVitB16", "Decoder125M.prefill",
         "BitNet2B.step")


class Sums(ProjectTest):
    """Statements add up to the run: nothing counts twice, and no more threads are busy than there are."""

    def check(self, model, threads):
        out = self.trib("bench", model, "--format=json", "--max-time=10ms", f"--threads={threads}", f"--profile-out={model}.json").stdout
        p = json.loads(out)
        items, own = p["items"], {}
        for k, item in enumerate(items):
            for m in "operations", "bytes":
                own[k, m] = item[m][0] - sum(i[m][0] for i in items if i.get("parent") == k)
            self.assertLessEqual(item["cpu_ns"][0], threads * item["wall_ns"][0] * (1 + 1e-9), item)
            self.assertGreater(item["cpu_ns"][0], 0, item)
        for m in "operations", "bytes":
            self.assertTrue(all(own[k, m] >= 0 for k in range(len(items))))
            self.assertEqual(sum(own[k, m] for k in range(len(items))), p["total"][m][0])
        for name in "clock_ns", "hook_ns", "outside_ns":
            self.assertGreaterEqual(p["facts"][name], 0)
        whole, roots = p["total"]["wall_ns"][0], sum(i["wall_ns"][0] for i in items if "parent" not in i)
        self.assertAlmostEqual((roots + p["facts"]["outside_ns"]) / whole, 1, places=6)
        self.assertGreater(p["facts"]["measured_ns"] * p["facts"]["scale"], 0)
        begun = []
        for item, _, start, ns, _ in p["spans"]:  # in the order of their starts: each is inside of an earlier one, or after it
            while begun and begun[-1] <= start:
                begun.pop()
            self.assertTrue(not begun or start + ns <= begun[-1], (model, items[item]))
            begun.append(start + ns)
        return p

    def test_networks(self):
        for name in os.listdir(os.path.join(SOURCE, "examples", "zoo")):
            if name.endswith(".tri"):
                shutil.copy(os.path.join(SOURCE, "examples", "zoo", name), self.dir)
        shutil.copy(os.path.join(SOURCE, "tests", "diff", "zoo_small.tri"), self.dir)
        names = [m.split(".")[0] for m in SMALL]
        self.write("tri.build", "project zoo\n    version = 1.0\n" + "".join(f"\nmodel {n}\n    sources = zoo_small.tri\n    entry = {e}\n    opt = 1\n" for n, e in zip(names, SMALL)).replace(
            ".step\n", ".step\n    state.T = 64\n"))
        for k, name in enumerate(names):
            with self.subTest(name=name):
                self.check(name, 1 + k % 2)

    def test_loops_in_loops(self):
        self.write("net.tri", LOOPS)
        self.write("tri.build", "model net\n    sources = net.tri\n    entry = Net\n")
        for threads in 1, 2:
            p = self.check("net", threads)
            loops = [k for k, i in enumerate(p["items"]) if any(j.get("parent") == k for j in p["items"]) and i["kind"] == "statement"]
            self.assertEqual(len(loops), 2, p["items"])


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

    def test_outliers_are_named(self):
        (p,) = self.profiles("--batch=64")
        facts = p["facts"]
        named = {k: v for k, v in facts.items() if k.startswith("outlier.")}
        self.assertEqual(len(named), min(facts["outliers"], 5))
        for name, ns in named.items():
            self.assertTrue(1 <= int(name.split(".")[1]) <= facts["runs"])
            self.assertGreater(ns, p["total"]["wall_ns"][0])

    def test_results_of_ternary_and_float_models_are_compared(self):
        shutil.copytree(os.path.join(SOURCE, "examples", "zoo"), self.path("zoo"), ignore=shutil.ignore_patterns("build", ".trib"))
        for model in "mobilenet_v2", "ternary_resnet18":
            out = self.trib("bench", "-C", "zoo", "--max-time", "50ms", "--profile-out", "p.json", model).stdout
            self.assertIn("equal to the reference interpreter", out)
            with open(self.path("zoo/p.json"), encoding="utf-8") as f:
                items = json.load(f)["items"]
            ceilings = {i["kernel"]: i["ceiling"] for i in items if i["kind"] == "kernel"}
            want = {"tri_conv_f32": "float"} if model == "mobilenet_v2" else {"tri_conv_i8_trit2": "int8"}
            self.assertEqual(ceilings, {**ceilings, **want, "tri_transpose": "memory"})
            self.assertTrue(all(("kernel" in i, "ceiling" in i) == (i["kind"] == "kernel", i["kind"] != "unit") for i in items))

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
        last = self.bench("--threads=1,2").stdout.rstrip().splitlines()[-3:]
        self.assertEqual(last[0].split(), ["device", "threads", "batch", "median", "GOP/s", "runs/s", "speed-up"])

    def test_opencl(self):
        self.edit("tri.build", "emit    = library header", "emit    = library header opencl")
        (p,) = self.profiles("--device=opencl", "--batch=5")
        self.assertEqual(p["machine"]["device"], "opencl")
        (cpu,) = self.profiles("--batch=5")
        products = lambda q: sorted(i["operations"][0] for i in q["items"] if "matmul" in i["name"])
        self.assertEqual(len(products(p)), 3)
        for device, host in zip(products(p), products(cpu)):
            self.assertLess(abs(device / host - 1), 0.5)  # other statements are fused

    def test_opencl_device(self):
        """Launches and copies are measured by the device's clock, so they fit into the run; units have their launches."""
        self.edit("tri.build", "    entry   = DigitsNet\n", "    entry   = DigitsNet\n    opt = 0\n")
        (p,) = self.profiles("--device=opencl", "--batch=64")
        facts, items = p["facts"], p["items"]
        self.assertEqual((facts["transfer.to_device_bytes"], facts["transfer.from_device_bytes"]), (64 * PIXELS * 4, 64 * CLASSES * 4))
        self.check_device(p)
        launches = [i for i in items if "work_items" in i]
        self.assertGreaterEqual(len(launches), 3)
        for i in launches:
            groups = i["work_items"][0] / i["work_group"][0]
            self.assertEqual(groups % 1, 0)
            self.assertTrue(1 <= i["work_group"][0] <= i["most_work_group"][0] and i["work_group_multiple"][0] >= 1, i)
            self.assertAlmostEqual(i["occupancy"][0], min(1, groups / facts["compute_units"]), places=2)  # PoCL is a CPU
        for k, unit in enumerate(items):
            inside = [i for i in items if i.get("parent") == k]
            if inside:
                self.assertNotIn("work_items", unit)
                self.assertGreaterEqual(1.2 * unit["wall_ns"][0], sum(i["wall_ns"][0] for i in inside))
        self.assertTrue([i for i in launches if "parent" in i])
        text = self.bench("--device=opencl", "--batch=64").stdout
        self.assertRegex(text, r"device busy \d+ % of a run, transfers [\d.]+ %: inputs 16.0 KiB in .* GB/s\), outputs 2.50 KiB in ")
        self.assertRegex(text, r"group +occupancy +verdict")
        of_statements, outside = (float(re.search(rf"{what} ([\d.]+) %", text)[1]) for what in ("all of them together are", r"outside of its statements a run takes .*,"))
        self.assertAlmostEqual(of_statements + outside, 100, delta=0.11)

    def check_device(self, p):
        """Nothing takes longer than the run, and shares are those of the times."""
        f = p["facts"]
        copies = f["transfer.to_device_ns"] + f["transfer.from_device_ns"]
        self.assertTrue(0 < copies and copies + f["device.kernels_ns"] <= f["device.run_ns"], f)
        self.assertAlmostEqual(f["utilisation"], f["device.kernels_ns"] / f["device.run_ns"], places=2)
        self.assertAlmostEqual(f["transfer.share"], copies / f["device.run_ns"], places=2)
        launches = [i for i in p["items"] if "work_items" in i]
        self.assertLessEqual(sum(i["least_ns"][0] for i in launches), f["device.kernels_ns"])
        ended = 0
        for item, _, start, ns, _ in p["spans"]:
            if "work_items" in p["items"][item]:
                self.assertGreaterEqual(start, ended)  # the queue runs launches in order
                ended = start + ns

    def test_threads_are_those_of_the_cpu(self):
        self.edit("tri.build", "emit    = library header", "emit    = library header opencl")
        text = self.bench("--threads=1,2", "--compare=cpu,opencl").stdout
        self.assertRegex(text, r"(?m)^digits on opencl$")
        rows = [line.split() for line in text.rstrip().splitlines()[-3:]]
        self.assertEqual([r[:2] for r in rows[:2]] + [rows[2][0]], [["cpu", "1"], ["cpu", "2"], "opencl"])
        (p,) = self.profiles("--threads=1,2", "--device=opencl")
        self.assertNotIn("threads", p["settings"])

    def test_kernels_of_devices(self):
        """trib devices --kernels: each launch of the model, with the group that the driver was given."""
        text = self.trib("devices", "--kernels", "digits").stdout
        self.assertRegex(text, r"^digits, entry forward, on opencl:0\n +statement +at +kernel +items +group ")
        self.assertRegex(text, r"(?m)^ +fc1 matmul +src/digits\.tri:\d+ +tri_matmul_i8_trit2: matmul")
        lines = self.trib("devices", "--kernels", "digits", "--format=json").stdout.splitlines()
        listed = [json.loads(line) for line in self.trib("devices", "--format=json").stdout.splitlines()]
        self.assertEqual([d["device"] for d in listed], [json.loads(line)["device"] for line in lines])
        for device, line in zip(listed, lines):
            report = json.loads(line)
            self.assertEqual((report["type"], report["model"]), ("kernels", "digits"))
            for k in report["kernels"]:
                self.assertEqual(k["work_items"] % k["work_group"], 0)
                self.assertLessEqual(k["work_group"], device["most_work_group"])
                self.assertTrue(0 < k["occupancy"] <= 1 and k["ns"] > 0)
        self.assertIn("digitz", self.fails("devices", "--kernels", "digitz", code=2))
        self.assertIn("--measure", self.fails("devices", "--kernels", "digits", "--measure", code=2))

    def test_kernels_of_entries(self):
        self.write("src/digits.tri", ENTRIES)
        self.write("tri.build", "project p\n\nmodel digits\n    sources = src/*.tri\n    entry = Net.first, Net.second\n")
        heads = re.compile(r"(?m)^digits, entry (\w+), on opencl:0$")
        self.assertEqual(heads.findall(self.trib("devices", "--kernels", "digits").stdout), ["first", "second"])
        self.assertEqual(heads.findall(self.trib("devices", "--kernels", "digits", "--entry", "Net.second").stdout), ["second"])
        self.assertIn("no entry `third`", self.fails("devices", "--kernels", "digits", "--entry", "third", code=2))

    def test_prints_are_left_out(self):
        """Of the runs that are measured and of those that are compared, on all devices."""
        self.write("src/digits.tri", ENTRIES)
        self.write("tri.build", "project p\n\nmodel digits\n    sources = src/*.tri\n    entry = Net.first, Net.second\n")
        note = "trib: note: what the model prints is left out while it is measured\n"
        self.assertIn("printed", self.trib("run", "--input", "x=zeros:2x4").stderr)
        for words in ["bench", "--compare=cpu,0", "--batch=1,2", "--max-time=10ms"], ["devices", "--kernels", "digits"]:
            done = self.trib(*words)
            self.assertEqual(done.stderr, note)
            self.assertIn("on opencl:0", done.stdout)
        self.edit("src/digits.tri", 'print(f"printed {x}")', "assert x.sum() < 1e9")
        self.assertNotIn("note", self.trib("bench", "--max-time=10ms").stderr)

    def test_opencl_run(self):
        self.edit("tri.build", "emit    = library header", "emit    = opencl\n    profile = true")
        self.trib("run", "digits", "--device=opencl", "--input", "x=random:5x64", "--profile-out=run.json")
        p = json.loads(self.read("run.json"))
        self.check_device(p)
        self.assertEqual((p["facts"]["transfer.to_device_bytes"], p["facts"]["transfer.from_device_bytes"]), (5 * PIXELS * 4, 5 * CLASSES * 4))
        report = self.trib("profile", "report", "run.json").stdout
        self.assertRegex(report, r"GB/s +GOP/s +OP/B +bound +roofline +group +occupancy +verdict\n.* \d+ +\d+ % ")
        self.assertIn("utilisation", report)
        self.check_rows("run.json")

    def check_rows(self, name):
        """The figures of a report follow from those of its profile."""
        p = json.loads(self.read(name))
        most = {k: p["facts"]["ceiling." + k] for k in ("read_bytes", "copy_bytes", "float_ops", "int8_ops")}
        rows = [i for i in json.loads(self.trib("profile", "report", name, "--format=json", "--top=100").stdout)["items"] if i["kind"] != "unit"]
        self.assertGreaterEqual(len(rows), 3)
        for r in rows:
            rate, intensity = r["operations"] / r["wall_ns"] * 1e9, r["operations"] / r["bytes"]
            speed = rate or r["bytes"] / r["wall_ns"] * 1e9
            memory = intensity * most["read_bytes"] if rate else most["copy_bytes"]
            cached = speed > 1.1 * memory or 0 < p["total"].get("bytes", [0])[0] <= 256 * 1024
            limits = [most[k] if cached else min(memory, most[k]) for k in ("float_ops", "int8_ops")] if rate else [memory]
            share = [speed / limit for limit in limits]
            self.assertAlmostEqual(r["operations_per_second"] / (rate or 1), 1 if rate else 0, places=2)
            self.assertAlmostEqual(r["operations_per_byte"], intensity, places=2)
            self.assertEqual(r["bound"], "memory" if intensity < 5 else "mixed" if intensity <= 20 else "compute")
            if r["wall_ns"] / r["calls"] < 10 * p["facts"].get("clock_ns", 0) or not rate and cached:
                self.assertNotIn("roofline", r)
            else:
                self.assertTrue(any(abs(r["roofline"] - s) < 0.01 * s + 0.001 for s in share), (r, share))
                self.assertLess(r["roofline"], 1.101)
            self.assertTrue(r["verdict"])

    def test_files(self):
        self.bench("--threads=1", "--profile-out=run.json", "--roofline=roof.svg")
        report = self.trib("profile", "report", "run.json").stdout
        self.assertIn("fc2", report)
        self.assertRegex(report, r"share +CPUs +memory +GB/s +GOP/s +OP/B +bound +roofline +verdict")
        self.check_rows("run.json")
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
        self.assertEqual({d["name"] for d in json.loads(pathlib.Path(kept).read_text())["devices"]}, {d["name"] for d in measured})
        (one,) = [d for d in measured if d["name"].endswith(", 1 thread")]
        (p,) = self.profiles("--threads=1")
        self.assertEqual((p["facts"]["ceiling.float_ops"], p["settings"]["device"]), (one["float_ops"], one["name"]))
        self.write(kept, b"{damaged")
        (p,) = self.profiles("--threads=1")
        self.assertGreater(p["facts"]["ceiling.float_ops"], 1e8)
        self.assertEqual(len(json.loads(pathlib.Path(kept).read_text())["devices"]), 1)

    def test_ceilings_below_statements_are_measured_again(self):
        kept = pathlib.Path(self.env["XDG_CACHE_HOME"], "trib", "devices.json")
        (p,) = self.profiles("--threads=1", "--batch=256")
        real, stale = p["facts"]["ceiling.float_ops"], json.loads(kept.read_text())
        for d in stale["devices"]:
            d.update(float_ops=1e6, int8_ops=1e6, read_bytes=2 * d["read_bytes"])
        kept.write_text(json.dumps(stale))
        (p,) = self.profiles("--threads=1", "--batch=256")
        self.assertGreater(p["facts"]["ceiling.float_ops"], real / 10)  # the machine may be busy
        self.assertEqual(p["facts"]["ceiling.read_bytes"], stale["devices"][0]["read_bytes"])  # what was higher stays
        self.assertEqual(json.loads(kept.read_text())["devices"][0]["int8_ops"], p["facts"]["ceiling.int8_ops"])

    def test_wrong_lists_are_refused_before_anything_is_built(self):
        self.write("src/digits.tri", "damaged\n")  # a build would fail
        for flag in "--threads=1,a", "--threads=1,0", "--threads=1,-1", "--batch=1,8x", "--compare=cpu,opencl:", "--batch=,":
            done = self.trib("bench", flag, ok=False)
            self.assertEqual(done.returncode, 2, flag)
            self.assertIn(flag.split("=")[0] if "compare" not in flag else "--device", done.stderr)

    def test_unknown_inputs_are_refused(self):
        done = self.bench("--input", "other=random", ok=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("the model has no input `other`; it has `x`", done.stderr)
        self.assertIn("given twice", self.bench("--input", "x=random", "--input", "x=ones", ok=False).stderr)

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
