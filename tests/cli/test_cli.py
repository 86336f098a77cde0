"""Commands and flags through the real executable."""
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

from project import TRIB, ProjectTest, run

GOOD = "layer Net() {\n    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n        return relu(x)\n    }\n}\n"
TWO = """\
project two

model good
    sources = src/good.tri
    entry   = Net
    input x = float32 [?, 8]

model bad
    sources = src/bad.tri
    entry   = Net
    input x = float32 [?, 8]

profile small
    opt = s
    out = small
"""


class Commands(ProjectTest):
    def test_new_project_builds_runs_and_is_up_to_date(self):
        self.trib("new", "hello")
        inside = os.path.join(self.dir, "hello")
        self.assertIn("linked", run([TRIB, "-C", inside], self.dir, env=self.env).stdout)
        self.assertIn("nothing to do", run([TRIB, "build", "-C", inside], self.dir, env=self.env).stdout)
        self.fails("new", "hello", code=2)
        self.fails("new", "3d", code=2)

    def test_help_fits_a_screen(self):
        for words in (["--help"], ["build", "--help"], ["run", "--help"], ["help", "check"]):
            text = self.trib(*words).stdout
            self.assertLessEqual(text.count("\n"), 42)
            self.assertLessEqual(max(map(len, text.splitlines())), 84)

    def test_run_without_a_name_uses_the_only_model(self):
        self.trib("new", "hello")
        inside = os.path.join(self.dir, "hello")
        shutil.rmtree(os.path.join(inside, "tests"))
        done = run([TRIB, "run"], inside, ok=False, env=self.env)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no --input for `x`, float32 [N, 16]", done.stderr)
        self.assertIn("`trib run hello --input x=random`", done.stderr)

    def test_entries_by_name(self):
        self.write("src/a.tri", GOOD + GOOD.replace("Net", "Other").replace("    }\n}", "    }\n    fn step(y: Tensor<float32, [4]>) { return y }\n}"))
        manifest = "project p\n\nmodel m\n    sources = src/*.tri\n    entry = Net Other Other.step\n"
        self.write("tri.build", manifest)
        self.trib("build")
        with open(os.path.join(self.dir, "build", "m.h")) as f:
            header = f.read()
        for function in ("m_Net_run(", "m_Other_run(", "m_step_run("):
            self.assertIn(function, header)
        for device in ("cpu", "reference"):
            self.assertIn("no --input for `x`", self.fails("run", "--entry", "Other", "--device", device, code=2))
            for step in ("step", "Other.step"):
                self.assertIn("no --input for `y`", self.fails("run", "--entry", step, "--device", device, code=2))
            self.assertIn("it has `Net`, `Other` and `step`", self.fails("run", "--entry", "stop", "--device", device, code=2))
        self.write("tri.build", manifest.replace("Other Other.step", "Net"))
        self.assertIn("the entries `Net` and `Net` are both called `Net`", self.fails("build"))

    def test_flags_with_values_before_the_command(self):
        self.trib("new", "hello")
        self.assertIn("linked", self.trib("--jobs", "2", "--directory", "hello", "build").stdout)

    def test_wrong_flags_are_usage_errors(self):
        self.trib("new", "hello")
        self.assertIn("x86-64-v2", self.fails("build", "-C", "hello", "--cpu", "z80", code=2))
        self.assertIn("x86_64-linux", self.fails("build", "-C", "hello", "--target", "arm", code=2))
        self.assertIn("`trib build --help`", self.fails("build", "--frob", code=2))
        self.assertIn("nosuch", self.fails("help", "nosuch", code=2))
        self.assertIn("trib --help", self.fails("-C", "hello", "ponder", code=2))

    def test_peak_memory_is_not_that_of_the_parent(self):
        self.trib("new", "hello")
        self.trib("build", "-C", "hello")
        line = "import os, sys; x = b'x' * (200 << 20); os.execv(sys.argv[1], sys.argv[1:])"
        done = run(["python3", "-c", line, TRIB, "build", "-C", "hello", "--message-format=json"], self.dir, env=self.env)
        self.assertLess(json.loads(done.stdout)["peak_rss_kb"], 100 << 10)

    def test_the_version_opens_no_module(self):
        for word in ("version", "--version"):
            done = run([TRIB, word], self.dir, env={**self.env, "LD_DEBUG": "files"})
            self.assertRegex(done.stdout, r"^trib \d.*\ncode generator: LLVM \d+\.\d+\.\d+\n$")
            self.assertIn("libc.so", done.stderr)
            self.assertNotIn("libtrib-", done.stderr)

    def test_a_trace_that_cannot_be_written(self):
        self.trib("new", "hello")
        done = self.trib("build", "-C", "hello", "--trace", self.path("hello/tri.build/t.json"), "--message-format=json", ok=False)
        self.assertEqual(done.returncode, 3)
        self.assertFalse(json.loads(done.stdout.splitlines()[-1])["ok"])
        self.assertTrue(os.path.exists(self.path("hello/build/libhello.so")))

    def test_no_manifest(self):
        said = self.fails("build", code=2)
        self.assertIn("E0719", said)
        self.assertIn("or any folder above it", said)
        self.assertIn("trib new", said)
        self.assertIn("-C DIR", said)

    def test_in_a_folder_of_a_project(self):
        self.trib("new", "hello")
        os.makedirs(self.path("hello/src/deep"))
        self.assertIn("linked", self.trib("build", "-C", "hello/src/deep").stdout)

    def test_clean_of_a_folder_given_by_flag(self):
        self.trib("new", "hello")
        self.trib("build", "-C", "hello", "--out", "other")
        self.trib("clean", "-C", "hello", "--out", "other")
        self.assertEqual(sorted(os.listdir(self.path("hello"))), [".gitignore", "src", "tests", "tri.build"])

    def test_unknown_devices(self):
        self.trib("new", "hello")
        inside = os.path.join(self.dir, "hello")
        for device in ("gpu", "opencl:", "cpu:0"):
            self.assertEqual(run([TRIB, "run", "--device", device], inside, ok=False, env=self.env).returncode, 2, device)

    def test_explain(self):
        self.assertIn("Right:", self.trib("explain", "e0402").stdout)
        self.assertIn("E9999", self.fails("explain", "E9999", code=2))

    def test_version(self):
        self.assertRegex(self.trib("--version").stdout, r"^trib \d")

    def test_truncated_libraries_are_damaged(self):
        self.trib("new", "hello")
        inside = os.path.join(self.dir, "hello")
        run([TRIB, "build", "-C", inside], self.dir, env=self.env)
        whole = open(os.path.join(inside, "build", "libhello.so"), "rb").read()
        for size in [*range(0, len(whole), 1 + len(whole) // 40), len(whole) - 1]:
            self.write("libcut.so", whole[:size])
            self.assertIn("damaged: its end is missing; remove it and build it again", self.fails("version", "--model", "libcut.so", code=3), size)
        self.write("libcut.so", whole)
        self.assertIn("model hello", self.trib("version", "--model", "libcut.so").stdout)

    def test_check_of_single_files(self):
        self.write("a.tri", GOOD)
        self.assertIn("no errors", self.trib("check", "a.tri").stdout)
        self.write("b.tri", "const A: int8 = 1 + \"text\"\n")
        said = self.fails("check", "a.tri", "b.tri")
        self.assertIn("b.tri:1", said)
        done = self.trib("check", "--message-format=json", "b.tri", ok=False)
        last = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((last["type"], last["ok"]), ("check", False))
        self.fails("check", "missing.tri", code=3)


class TwoModels(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("tri.build", TWO)
        self.write("src/good.tri", GOOD)
        self.write("src/bad.tri", GOOD.replace("relu(x)", "rellu(x)"))

    def test_a_check_reports_every_model(self):
        self.write("tri.build", TWO.replace("entry   = Net", "entry   = Nope", 1))
        said = self.fails("check")
        self.assertIn("src/bad.tri", said)
        self.assertIn("`Nope`", said)  # found by a later step

    def test_a_file_of_two_models_is_counted_once(self):
        self.write("tri.build", TWO.replace("src/bad.tri", "src/good.tri"))
        self.assertIn("no errors in 1 file\n", self.trib("check").stdout)

    def test_a_layer_of_two_names_has_its_parameters_once(self):
        self.write("net.tri", "import nn\nlayer Net() {\n    let a = nn.Linear(2, 2)\n    let b = a\n    let both = [a, nn.Linear(2, 3)]\n"
                              "    fn forward(x: Tensor<float32, [N, 2]>) { return both[1](b(a(x))) }\n}\n")
        self.write("tri.build", "project net\n\nmodel net\n    sources = net.tri\n    entry = Net\n")
        listed = self.trib("params", "net").stdout
        self.assertEqual([line.split()[0] for line in listed.splitlines()], ["a.weight", "a.bias", "both.1.weight", "both.1.bias", "net:"])
        self.assertIn(", also b.weight, both.0.weight\n", listed)
        self.trib("build")

    def test_one_model_by_name(self):
        self.trib("build", "good")
        self.assertEqual(sorted(os.listdir(self.path("build"))), ["good.h", "libgood.so"])

    def test_keep_going(self):
        self.assertIn("rellu", self.fails("build"))
        self.assertFalse(os.path.exists(self.path("build/libgood.so")))
        self.fails("build", "-k")
        self.assertTrue(os.path.exists(self.path("build/libgood.so")))

    def test_profile_flag_and_manifest(self):
        self.trib("build", "good", "--profile", "small")
        self.assertTrue(os.path.exists(self.path("small/libgood.so")))
        self.trib("build", "good", "--profile", "small", "--out", "other", "-O3")
        self.assertTrue(os.path.exists(self.path("other/libgood.so")))
        self.assertIn("small", self.fails("build", "--profile", "smal", code=2))

    def test_dumps(self):
        for stage in ("tokens", "ast", "types", "ir", "loops", "llvm", "asm", "code"):
            self.assertTrue(self.trib("build", "good", "--dump-" + stage).stdout.strip(), stage)
        for stage in ("lex", "parse", "typecheck", "elaborate", "ir", "opt", "codegen"):
            self.trib("build", "good", "--stop-after", stage)
        self.assertFalse(os.path.exists(self.path("build")))

    def test_dumps_are_of_what_is_emitted(self):
        def dump(stage, emit, ok=True):
            return self.trib("build", "good", "--dump-" + stage, "--emit", emit, ok=ok)
        for emit in "library", "header", "live", "opencl", "opencl,header":
            of_device = "opencl" in emit and "library" not in emit
            for stage in "tokens", "ast", "types":
                self.assertEqual(dump(stage, emit).stdout, dump(stage, "library").stdout, (stage, emit))
            for stage in "ir", "loops":
                self.assertEqual(dump(stage, emit).stdout, dump(stage, "opencl" if of_device else "library").stdout, (stage, emit))
            for stage in "llvm", "asm":
                done = dump(stage, emit, ok=not of_device)
                self.assertEqual(bool(done.stdout), not of_device, (stage, emit))
                if of_device:
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(f"good: --dump-{stage} prints code for processors, not for OpenCL", done.stderr)
                    self.assertIn(f"use --dump-code for what it emits, or `--emit library --dump-{stage}`", done.stderr)
            code = dump("code", emit).stdout
            self.assertEqual("kernel void" in code, of_device, emit)
            self.assertEqual(code == dump("asm", "library").stdout, not of_device, emit)

    def test_text_of_kernels(self):
        """--dump-opencl and opencl-source: the programs of the library, with a comment for each kernel that says where it comes from."""
        notes = re.compile(r"^/\* \w+_k\d+(, \w+)?: ([^\n]*) \*/\n\n?", re.M)
        self.edit("src/good.tri", "relu(x)", "argsort(relu(x) @ x.transpose(0, 1) @ x, dim=1) + min(x, exp(x))")
        self.trib("build", "good", "--emit", "opencl,opencl-source")
        with open(self.path("build/libgood_opencl.so"), "rb") as f:
            library = f.read()
        dump = self.trib("build", "good", "--dump-opencl").stdout
        for emit in "opencl", "opencl,opencl-source":  # one text, which is printed once
            self.assertEqual(dump, self.trib("build", "good", "--dump-code", "--emit", emit).stdout.replace("==== good for OpenCL ====\n", ""))
        of_dump = re.split(r"\n?/\* ==== for .* ==== \*/\n", dump)[1:]
        self.assertEqual(len(of_dump), 2)
        for variant, dumped in zip(("groups", "wide"), of_dump):
            with open(self.path(f"build/good_{variant}.cl"), encoding="utf-8") as f:
                text = f.read().partition("\n")[2]
            self.assertIn(notes.sub("", text).encode(), library)
            self.assertEqual(notes.sub("", text).strip(), notes.sub("", dumped).strip())
            for clang in filter(shutil.which, ("clang", "clang-19")):  # drivers say how many warnings there were
                run([clang, "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-fsyntax-only", "-Werror", self.path(f"build/good_{variant}.cl")], self.dir)
            for place in notes.findall(text) + notes.findall(dumped):
                self.assertRegex(place[1], r"^[\w./]+\.tri:\d+:\d+ \w+")
            self.assertEqual(len(notes.findall(text)), len(notes.findall(dumped)))

    def test_text_of_cuda_kernels(self):
        """--dump-cuda prints what emit = cuda writes, but for its first line and the table at the end."""
        self.trib("build", "good", "--emit", "cuda")
        dump = self.trib("build", "good", "--dump-cuda").stdout
        with open(self.path("build/good.cu"), encoding="utf-8") as f:
            text = f.read().partition("\n")[2].partition('extern "C" {')[0]
        notes = re.compile(r"^/\* \w+_k\d+(, \w+)?: ([^\n]*) \*/\n\n?", re.M)
        self.assertEqual(notes.sub("", text).strip(), notes.sub("", dump).strip())
        self.assertTrue(notes.findall(text))

    def test_dumps_of_two_libraries_have_titles(self):
        def dump(stage, emit):
            return self.trib("build", "good", "--dump-" + stage, "--emit", emit).stdout
        cpu, device = "==== good for the CPU ====\n", "==== good for OpenCL ====\n"
        for stage in "ir", "loops", "code":
            self.assertEqual(dump(stage, "library,opencl"), cpu + dump(stage, "library") + device + dump(stage, "opencl"), stage)
        self.assertEqual(dump("asm", "library,opencl"), cpu + dump("asm", "library"))
        self.assertEqual(dump("types", "library,opencl"), dump("types", "library"))

    def test_empty_dumps(self):
        """A pass that does not run, and a stage after the last pass, are errors that name the remedy."""
        self.assertTrue(self.trib("build", "good", "-O1", "--dump-ir=fold").stdout.strip())
        said = self.fails("build", "good", "-O0", "--dump-ir=fold")
        self.assertIn("the pass `fold` does not run at -O0", said)
        self.assertIn("it runs at -O1 and above", said)
        self.assertIn("E0814", said)
        self.assertIn("does not run at -O0", self.fails("build", "good", "-O0", "--dump-loops=epilogues"))
        for dump in "--dump-loops", "--dump-asm":
            self.assertIn("leave out --stop-after=fold", self.fails("build", "good", "-O1", "--stop-after=fold", dump))
        for dump in "--dump-ir", "--dump-loops", "--dump-program=states":
            self.assertIn("leave out --stop-after=channels", self.fails("build", "good", "--stop-after=channels", dump))
        self.trib("build", "good", "-O0", "--stop-after=fold", "--dump-ir")

    def test_trace_and_timing(self):
        said = self.trib("build", "good", "--trace", "trace.json", "--timing", "--profile-out", "p.json", "-j1", "--no-cache").stdout
        for words in "peak memory", "costliest units", "costliest functions", "critical_path", "efficiency":
            self.assertIn(words, said)
        events = json.loads(self.read("trace.json"))["traceEvents"]
        self.check_trace(events)
        self.assertLessEqual({"parse", "typecheck", "elaborate", "codegen", "link"}, {e.get("cat") for e in events})
        self.assertTrue(any(e["name"].startswith("codegen ") for e in events))
        self.assertEqual({e["name"] for e in events if e["ph"] == "C"}, {"memory", "private dirty memory", "running tasks"})
        self.check_sums(json.loads(self.read("p.json")))

    def check_trace(self, events):
        """What Perfetto's importer requires of the Chrome trace format."""
        known = {"M": {"args"}, "X": {"cat", "ts", "dur"}, "C": {"ts", "args"}}
        named, last, open_until = set(), None, {}
        for e in events:
            self.assertLessEqual({"name", "ph", "pid", "tid"} | known[e["ph"]], set(e))
            if e["ph"] == "M":
                self.assertIsNone(last, "names come first")
                named.add(e["tid"])
                continue
            self.assertGreaterEqual(e["ts"], last or 0, "sorted by time")
            last = e["ts"]
            if e["ph"] == "C":
                self.assertTrue(all(isinstance(v, (int, float)) and v >= 0 for v in e["args"].values()))
                continue
            self.assertIn(e["tid"], named)
            stack = open_until.setdefault(e["tid"], [])
            while stack and stack[-1] <= e["ts"] + 0.002:
                stack.pop()
            end = e["ts"] + e["dur"]
            self.assertTrue(not stack or end <= stack[-1] + 0.002, "spans of a thread nest")
            stack.append(end)

    def check_sums(self, p):
        """Phases add up to the whole of a build with one worker; a phase to its parts."""
        items, inner = p["items"], {}
        for i in items:
            if "parent" in i:
                inner[i["parent"]] = inner.get(i["parent"], 0) + i["wall_ns"][0]
        whole = p["total"]["wall_ns"][0]
        roots = sum(i["wall_ns"][0] for i in items if i["kind"] == "phase" and "parent" not in i)
        self.assertAlmostEqual(roots / whole, 1, delta=0.05)
        for n, ns in inner.items():
            self.assertLessEqual(ns, items[n]["wall_ns"][0] * 1.001 + 1000)
            if items[n]["kind"] == "phase":
                self.assertAlmostEqual(ns / items[n]["wall_ns"][0], 1, delta=0.001)
        units = sum(i["wall_ns"][0] for i in items if i["kind"] == "unit")
        work = sum(i["wall_ns"][0] for i in items if i["kind"] == "phase" and i["name"] in ("opt", "codegen"))
        self.assertGreater(units, 0)
        self.assertLessEqual(units, work)

    def test_events_of_tasks(self):
        lines = [json.loads(line) for line in self.trib("build", "good", "--no-cache", "-j2", "--message-format=json").stdout.splitlines()]
        self.assertEqual(lines[-1]["type"], "build")
        started = [e["name"] for e in lines if e["type"] == "task-started"]
        ended = [e["name"] for e in lines if e["type"] == "task-ended" and e["ok"]]
        self.assertTrue(any(name.startswith("compile ") for name in started), started)
        self.assertEqual(sorted(started), sorted(ended))
        for name in started:
            first = [e["type"] for e in lines if e.get("name") == name][0]
            self.assertEqual(first, "task-started")
        self.assertEqual(max(e["done"] for e in lines[:-1] if "done" in e), len(started))
        self.assertEqual({e["kind"] for e in lines if e.get("name", "").startswith("compile ")}, {"unit"})
        phases = [e["name"] for e in lines if e["type"] == "phase-started"]
        self.assertEqual(phases, ["load", "typecheck", "elaborate", "opt", "cache", "codegen", "publish"])

    def test_profiles_of_slow_builds_only(self):
        self.trib("build", "good", "--profile-out=p.json", "--profile-if-slower-than=60min")
        self.assertFalse(os.path.exists(self.path("p.json")))
        self.trib("build", "good", "--no-cache", "--profile-out=p.json", "--profile-if-slower-than=1ns")
        self.assertEqual(json.loads(self.read("p.json"))["kind"], "build")
        self.assertIn("wants a time", self.fails("build", "good", "--profile-out=p.json", "--profile-if-slower-than=3MB", code=2))

    def test_no_cache_leaves_no_cache(self):
        self.trib("build", "good", "--no-cache")
        self.assertFalse(os.path.exists(self.env["XDG_CACHE_HOME"]))

    def test_a_cache_that_cannot_be_used_is_a_warning(self):
        self.write("file", "x")
        self.env["XDG_CACHE_HOME"] = self.path("file")
        done = self.trib("build", "good")
        self.assertIn("W0802", done.stderr)
        self.assertTrue(os.path.exists(self.path("build/libgood.so")))

    def test_caches_are_shared_by_projects(self):
        self.trib("build", "good")
        other = self.path("other")
        os.mkdir(other)
        run(["cp", "-r", "src", "tri.build", other], self.dir)
        done = run([TRIB, "good", "--message-format=json"], other, env=self.env)
        record = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((record["units"]["compiled"], record["cache"]["misses"]), (0, 0))

    def test_interrupt_exit_code(self):
        lines = "\n".join(f"        let y{i} = sigmoid(x * {i}.5) + x" for i in range(400))
        self.write("src/good.tri", GOOD.replace("        return relu(x)", lines + "\n        return y399"))
        child = subprocess.Popen([TRIB, "build", "good"], cwd=self.dir, env={**os.environ, **self.env}, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        child.send_signal(signal.SIGINT)
        self.assertIn(child.wait(), (130, 0, -signal.SIGINT))


if __name__ == "__main__":
    unittest.main()
