"""trib profile: reports, comparisons and gates of profiles; measurements of whole builds."""
import json
import os
import unittest

from project import ProjectTest, TRIB

MACHINE = {"id": "m", "cpu": "a CPU", "system": "s", "device": "cpu", "cores": 2, "memory_bytes": 1 << 30}


def profile(codegen_ms, samples=10, **more):
    """A build with two phases and one unit; times differ by some percent from sample to sample."""
    noise = [1 + 0.004 * k for k in range(samples)]
    ms = lambda v: [int(v * 1e6 * n) for n in noise]
    return {"type": "profile", "version": 1, "kind": "build", "trib": {"version": "0", "build": "0"}, "machine": MACHINE, "settings": {"jobs": "2"}, "facts": {"cache.hit_rate": 0.2}, "samples": samples,
            "total": {"wall_ns": ms(codegen_ms + 20), "peak_bytes": [600_000_000] * samples},
            "items": [{"kind": "phase", "name": "lex", "wall_ns": ms(20)}, {"kind": "phase", "name": "codegen", "wall_ns": ms(codegen_ms)},
                      {"kind": "unit", "name": "Block(64)", "at": "net.tri:3", "wall_ns": ms(codegen_ms / 2)}], **more}

CHAIN = """@noinline
fn low(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {
    return exp(x)
}
@inline
fn small(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {
    return low(x) * 2.0
}
@noinline
fn high(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {
    return low(x + 1.0) - x
}

fn top(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {
    return small(high(x))
}
"""


class Profile(ProjectTest):
    example = "digits"

    def save(self, name, value):
        self.write(name, json.dumps(value).encode())

    def profile(self, *args, code=0):
        done = self.trib("profile", *args, ok=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code in (0, 1) else done.stderr

    def test_report_names_bottlenecks(self):
        self.save("a.json", profile(80))
        text = self.profile("report", "a.json")
        for words in "costliest units (1 of 1)", "Block(64) (net.tri:3)", "codegen is 80 %, above 40 %", "peak_bytes is 572 MiB, above 477 MiB", "cache.hit_rate is 20 %, below 50 %":
            self.assertIn(words, text)
        self.assertNotIn("lex is", text)
        self.assertNotIn("Block(64)", self.profile("report", "a.json", "--threshold", "100ms"))
        self.assertIn("### bottlenecks", self.profile("report", "a.json", "--format=markdown"))
        report = json.loads(self.profile("report", "a.json", "--format=json"))
        self.assertEqual([b["name"] for b in report["bottlenecks"]], ["codegen", "peak_bytes", "cache.hit_rate"])

    def test_compare(self):
        self.save("a.json", profile(80))
        self.save("b.json", profile(96))
        text = self.profile("compare", "a.json", "b.json")
        self.assertRegex(text, r"phase +codegen +wall +.* ms +.* ms +\+20\.0 %")
        self.assertIn("0 improvements", text)
        changes = {(r["kind"], r["item"], r["metric"]): r["change"] for r in json.loads(self.profile("compare", "a.json", "b.json", "--format=json"))["rows"]}
        self.assertEqual(changes["phase", "codegen", "wall_ns"], "REGRESSION")
        self.assertEqual(changes["phase", "lex", "wall_ns"], "NO_CHANGE")
        self.assertEqual(changes["total", "whole process", "wall_ns"], "REGRESSION")
        backwards = json.loads(self.profile("compare", "b.json", "a.json", "--format=json"))
        self.assertEqual(backwards["counts"]["IMPROVEMENT"], 3)
        self.assertIn("| phase | codegen | wall |", self.profile("compare", "a.json", "b.json", "--format=markdown"))

    def test_labels_are_true(self):
        """Other work with few samples: the difference has a true label, and the report says why it proves nothing of one change."""
        self.save("cold.json", {**profile(1480, samples=5), "settings": {"scenario": "cold"}})
        self.save("noop.json", {**profile(30, samples=5), "settings": {"scenario": "noop"}})
        report = json.loads(self.profile("compare", "cold.json", "noop.json", "--any-conditions", "--format=json"))
        rows = {(r["kind"], r["item"], r["metric"]): r for r in report["rows"]}
        whole = rows["total", "whole process", "wall_ns"]
        self.assertEqual((whole["change"], whole["reason"]), ("IMPROVEMENT", None))
        self.assertEqual(whole["before_median"], 1500e6 * 1.008)
        self.assertEqual(whole["before_mean"], 1500e6 * 1.008)
        text = self.profile("compare", "cold.json", "noop.json", "--any-conditions")
        self.assertIn("the conditions differ", text)
        self.assertIn("scenario: cold before, noop after", text)
        self.assertRegex(text, r"whole process +median before +after +mean before +after\n")
        self.save("few.json", profile(80, samples=3))
        self.save("slower.json", profile(96, samples=3))
        self.assertIn("UNDECIDED: too few samples", self.profile("compare", "few.json", "slower.json"))
        self.assertRegex(self.profile("report", "few.json"), r"metric +median +mean +least")
        self.assertAlmostEqual(json.loads(self.profile("report", "few.json", "--format=json"))["means"]["wall_ns"], 100.4e6, delta=2)

    def test_other_conditions_are_refused(self):
        self.save("a.json", profile(80))
        self.save("b.json", {**profile(80), "settings": {"jobs": "4"}})
        self.assertIn("jobs: 2 before, 4 after", self.profile("compare", "a.json", "b.json", code=3))
        self.assertIn("jobs: 2 before, 4 after", self.profile("check", "--baseline=a.json", "b.json", code=3))
        self.profile("compare", "a.json", "b.json", "--any-conditions")
        self.profile("check", "--baseline=a.json", "b.json", "--any-conditions")

    def test_check(self):
        self.save("a.json", profile(80))
        self.save("slow.json", profile(112))
        self.save("fast.json", profile(60))
        self.assertIn("check passed", self.profile("check", "--baseline=a.json", "a.json"))
        text = self.profile("check", "--baseline=a.json", "slow.json", code=1)
        self.assertIn("REGRESSION codegen: wall", text)
        self.assertIn("REGRESSION Block(64)", text)
        self.assertIn("at net.tri:3", text)
        self.profile("check", "--baseline=a.json", "slow.json", "--threshold=1.5")
        self.assertIn("OVER BUDGET whole process: peak memory", self.profile("check", "--baseline=a.json", "a.json", "--budget=peak=500MB", code=1))
        found = json.loads(self.profile("check", "--baseline=a.json", "slow.json", "--format=json", code=1))
        self.assertEqual(found["verdict"], "failed")
        self.profile("check", "--baseline=a.json", "slow.json", "--update-if-better", code=1)
        self.assertEqual(json.loads(self.read("a.json")), profile(80))
        self.profile("check", "--baseline=a.json", "fast.json", "--update-if-better")
        self.assertEqual(json.loads(self.read("a.json"))["total"], profile(60)["total"])
        self.profile("check", "--baseline=new.json", "--save", "slow.json")
        self.assertEqual(json.loads(self.read("new.json"))["total"], profile(112)["total"])

    def test_bad_files(self):
        self.save("a.json", profile(80))
        for name, text, why in (("absent.json", None, "cannot read"), ("cut.json", json.dumps(profile(80))[:200], "cannot be read as JSON: line 1"),
                                ("deep.json", "[\n" * 101 + "]" * 101, "line 101, column 1: it is nested deeper than 100 levels"), ("other.json", "{}", "not a profile"),
                                ("future.json", '{"type":"profile","version":99}', "newer trib")):
            if text is not None:
                self.write(name, text.encode())
            for args in (["report", name], ["compare", "a.json", name], ["check", "--baseline", name, "a.json"]):
                message = self.profile(*args, code=3)
                self.assertIn(name, message)
                self.assertIn(why, message)
        self.assertIn("wants the file", self.profile("record", "build", code=2))
        self.assertIn("measures `build` or `run`", self.profile("record", "shape", "-o", "p.json", code=2))
        self.assertIn("there is no model `nothing`", self.profile("record", "build", "nothing", "-o", "p.json", code=3))
        self.assertIn("wants --baseline", self.profile("check", code=2))
        self.assertIn("is not a budget", self.profile("check", "--budget=shape=1s", code=2))

    def test_record_and_check_whole_builds(self):
        before = sorted(os.listdir(self.dir))
        for scenario, compiled in ("cold", 1), ("warm", 0), ("noop", 0), ("edit", 1), ("comment", 0), ("touched", 0):
            self.profile("record", "build", "-n3", f"--scenario={scenario}", "-o", "p.json", "--", "-O2")
            p = json.loads(self.read("p.json"))
            self.assertEqual((p["samples"], len(p["core_ns"]), len(p["total"]["wall_ns"])), (3, 3, 3))
            self.assertEqual((p["settings"]["scenario"], p["settings"]["flags"]), (scenario, "-O2"))
            self.assertEqual(bool([i for i in p["items"] if i["kind"] == "unit"]), bool(compiled), scenario)
            if compiled:
                self.assertEqual(p["settings"]["opt"], "2")
                phases = {i["name"]: i["wall_ns"] for i in p["items"] if i["kind"] == "phase"}
                for k in range(3):
                    self.assertLess(sum(times[k] for times in phases.values()), 2 * p["total"]["wall_ns"][k])
                    self.assertGreater(phases["codegen"][k], 0)
        self.profile("record", "build", "-n4", "-o", "base.json")
        self.assertIn("check passed", self.profile("check", "--baseline=base.json", "-n4", "--threshold=100"))
        self.assertIn("OVER BUDGET", self.profile("check", "--budget=total=1us", "-n2", code=1))
        self.assertEqual(sorted(os.listdir(self.dir)), sorted([*before, "p.json", "base.json"]))

    def test_first_and_second_runs(self):
        """All scenarios in one profile, each run twice: only what was left to do makes the first run write outputs."""
        self.profile("record", "build", "-n2", "--scenario=all", "--warm-up=0", "-o", "p.json")
        p = json.loads(self.read("p.json"))
        self.assertEqual((p["samples"], p["settings"]["scenario"]), (2, "all"))
        names = ["cold", "warm", "noop", "edit", "comment", "touched"]
        items = p["items"]
        self.assertEqual({i["kind"] for i in items}, {"scenario"})
        self.assertEqual([i["name"] for i in items if "parent" not in i], names)
        for k, name in enumerate(names):
            runs = [i for i in items if i.get("parent") == 3 * k]
            self.assertEqual([i["name"] for i in runs], ["first run", "second run"])
            self.assertEqual(items[3 * k]["cpu_ns"], [sum(r["cpu_ns"][s] for r in runs) for s in range(2)])
            if name in ("cold", "edit"):  # only a build that compiles loads the code generator
                self.assertGreater(min(runs[0]["peak_bytes"]), max(runs[1]["peak_bytes"]), name)
        text = self.profile("report", "p.json")
        self.assertIn("first and second runs", text)
        for name in names:
            self.assertRegex(text, rf"(?m)^  {name} +[0-9.]+ m?s .* [A-Za-z]+$")
        self.assertIn("| scenario | first run | CPU | peak memory | second run |", self.profile("report", "p.json", "--format=markdown"))
        report = json.loads(self.profile("report", "p.json", "--format=json"))["scenarios"]
        self.assertEqual([s["name"] for s in report], names)
        self.assertTrue(all(s[run]["wall_ns"] > 0 and s[run]["peak_bytes"] > 0 for s in report for run in ("first", "second")))
        rows = json.loads(self.profile("compare", "p.json", "p.json", "--format=json"))["rows"]
        self.assertIn(("scenario", "edit/first run"), {(r["kind"], r["item"]) for r in rows})

    def test_units_that_units_use(self):
        self.write("src/chain.tri", CHAIN)
        self.write("tri.build", "project p\n    version = 1.0\n\nmodel net\n    sources = src/chain.tri\n    entry   = top\n")
        self.trib("build", "--profile-out", "p.json")
        p = json.loads(self.read("p.json"))
        units = {i["name"].split()[0]: i for i in p["items"] if i["kind"] == "unit"}
        uses = {(p["items"][a]["name"].split()[0], p["items"][b]["name"].split()[0]) for a, b in p["edges"]}
        self.assertEqual({name: i["at"] for name, i in units.items()}, {"low": "src/chain.tri:2", "high": "src/chain.tri:10", "top": "src/chain.tri:14"})
        self.assertEqual(uses, {("high", "low"), ("top", "high"), ("top", "low")})  # `top` calls `low` in `small`, which is inlined
        self.assertEqual(len(uses), len(p["edges"]))
        self.assertEqual((p["facts"]["compiled.new"], p["facts"]["cache.misses"]), (3, 3))
        self.assertAlmostEqual(p["facts"]["compiled.new_ns"], sum(i["wall_ns"][0] for i in units.values()), delta=10)
        self.edit("src/chain.tri", "exp(x)", "exp(x) + 1.0")
        self.trib("build", "--profile-out", "p.json")
        again = json.loads(self.read("p.json"))
        self.assertEqual([(i["name"].split()[0], i["at"]) for i in again["items"] if i["kind"] == "unit"], [("low", "src/chain.tri:2")])
        self.assertEqual(again["edges"], [])
        self.assertEqual({k: v for k, v in again["facts"].items() if k.startswith("compiled.") and not k.endswith("_ns")}, {"compiled.its body changed": 1})

    def test_record_and_check_runs(self):
        before = sorted(os.listdir(self.dir))
        self.profile("record", "run", "digits", "-n8", "-o", "run.json", "--", "--threads=1", "--batch=16")
        p = json.loads(self.read("run.json"))
        self.assertEqual((p["kind"], p["samples"], p["settings"]["flags"]), ("run", 8, "--threads=1 --batch=16"))
        self.assertEqual(len([i for i in p["items"] if i["kind"] == "kernel"]), 3)
        text = self.profile("check", "--baseline=run.json", "-n2", "--threshold=50")
        self.assertIn("check passed", text)
        self.assertIn("too few samples: 8 and 2", text)
        slow = json.loads(self.read("run.json"))
        item = next(i for i in slow["items"] if i["name"] == "fc2 matmul")
        for metric in "wall_ns", "cpu_ns", "least_ns":
            item[metric] = [10 * v for v in item[metric]]
        self.save("slow.json", slow)
        text = self.profile("check", "--baseline=run.json", "slow.json", "--threshold=2", code=1)
        self.assertRegex(text, "REGRESSION fc2 matmul: .*at src/digits.tri:15")
        self.assertEqual(sorted(os.listdir(self.dir)), sorted([*before, "run.json", "slow.json"]))
        self.assertIn("takes one model", self.profile("record", "run", "a", "b", "-o", "x.json", code=2))

    def test_profile_of_one_build(self):
        self.trib("build", "--profile-out=p.json", "--explain")
        p = json.loads(self.read("p.json"))
        (unit,) = [i for i in p["items"] if i["kind"] == "unit" and "note" in i]
        self.assertIn("DigitsNet", unit["name"])
        self.assertEqual(p["facts"]["units.compiled"], 1)
        lanes = {lane for _, lane, _, _, _ in p["spans"]}
        self.assertIn(0, lanes)
        self.assertGreater(len(lanes), 1)
        memory = {c["name"]: [v for _, v in c["points"]] for c in p["counters"]}["private dirty memory"]
        dirty = p["total"]["private_dirty_bytes"][0]
        self.assertEqual(dirty, max(memory))
        self.assertTrue(0 < dirty < p["total"]["peak_bytes"][0])
        self.assertRegex(self.profile("report", "p.json"), r"private dirty +[0-9.]+ MiB")
        self.assertIn("costliest units", self.profile("report", "p.json"))
        done = self.trib("build", "--profile-out=/nowhere/p.json", ok=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot write `/nowhere/p.json`", done.stderr)

    def test_ab_of_sources(self):
        """Two projects, and two files without a project. Folders beside a file are not copied."""
        for name, body in ("a", "exp(x)"), ("b", "exp(exp(x))"):
            self.write(f"{name}/net.tri", f"layer Net(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {{\n    return {body}\n}}\n")
            self.write(f"{name}/tri.build", "project p\n    version = 1.0\n\nmodel net\n    sources = net.tri\n    entry   = Net\n")
        before = sorted(os.listdir(self.path("a")))
        for a, b, scenario in ("a", "b", "cold"), ("a/net.tri", "b/net.tri", "cold"), ("a/net.tri", "b/net.tri", "edit"):
            result = json.loads(self.profile("ab", a, b, "-n2", "--warm-up=0", f"--scenario={scenario}", "--format=json"))
            self.assertEqual((result["a"], result["b"], result["pairs"]), (a, b, 2))
        self.assertEqual(sorted(os.listdir(self.path("a"))), before)
        self.assertIn("cannot make a copy of `a/none.tri`", self.profile("ab", "a/none.tri", "b/net.tri", code=3))

    def test_files_of_phases(self):
        """Files are counted where they are read and written, and lexing and parsing have parts, which add up."""
        for name in "a", "b", "c":
            self.write(f"src/{name}.tri", f"fn {name}(x: Tensor<float32, [4]>) -> Tensor<float32, [4]> {{\n    return x\n}}\n")
        sources = [f"src/{name}" for name in os.listdir(self.path("src"))]
        self.trib("build", "--no-cache", "-j1", "--profile-out", "p.json")
        p = json.loads(self.read("p.json"))
        phases = {i["name"]: i for i in p["items"] if i["kind"] == "phase"}
        self.assertEqual(phases["load"]["files_read"], [len(sources)])
        self.assertEqual(phases["load"]["read_bytes"], [sum(os.path.getsize(self.path(s)) for s in sources)])
        self.assertEqual((phases["lex"]["calls"], phases["parse"]["calls"]), ([len(sources)], [len(sources)]))
        self.assertEqual(phases["link"]["files_written"], [2])
        size = sum(os.path.getsize(self.path(f"build/{f}")) for f in ("libdigits.so", "digits.h"))
        self.assertTrue(0.9 * size < phases["link"]["written_bytes"][0] <= size)  # without padding
        self.assertEqual(sum(i["wall_ns"][0] for i in phases.values()), p["total"]["wall_ns"][0])
        for index, phase in enumerate(p["items"]):
            own = [i for i in p["items"] if i.get("parent") == index]
            if phase["kind"] == "phase" and own:
                self.assertEqual(sum(i["wall_ns"][0] for i in own), phase["wall_ns"][0], phase["name"])
        parts = {(p["items"][i["parent"]]["name"], i["name"]) for i in p["items"] if "parent" in i}
        self.assertLessEqual({("lex", "prepare"), ("lex", "scan"), ("parse", "prepare"), ("parse", "build the tree"), ("parse", "note spans")}, parts)
        self.assertIn("files written", self.trib("build", "--timing", "--no-cache", "-O2").stdout)

    def test_history_wants_a_project(self):
        os.rename(self.path("tri.build"), self.path("moved"))
        self.assertIn("tri.build", self.fails("profile", "history", code=2))

    def test_stages_of_code_generation(self):
        self.trib("build", "-j1", "--no-cache", "--profile-out", "p.json")
        items = json.loads(self.read("p.json"))["items"]
        emit = next(k for k, i in enumerate(items) if i["name"] == "emit" and i["kind"] == "stage")
        parts = {i["name"]: i["wall_ns"][0] for i in items if i.get("parent") == emit}
        self.assertEqual(set(parts), {"build LLVM IR", "select instructions", "machine passes", "write the object"})
        self.assertLessEqual(sum(parts.values()), items[emit]["wall_ns"][0])
        self.assertGreater(sum(parts.values()), 0.5 * items[emit]["wall_ns"][0])

    def test_history(self):
        self.assertIn("no build of this project", self.profile("history"))
        self.trib("build")
        self.trib("build")  # nothing to do
        self.edit("src/digits.tri", "return fc3(g)", "return fc3(g) + 1.0")
        self.trib("build")
        builds = json.loads(self.profile("history", "--format=json"))["builds"]
        self.assertEqual([(b["models"], b["compiled"], b["reused"]) for b in builds], [("digits", 1, 0)] * 2)
        self.assertTrue(all(0 < b["slowest_ns"] <= b["wall_ns"] and b["slowest"] and b["saved_ns"] == 0 for b in builds))
        self.edit("src/digits.tri", "return fc3(g) + 1.0", "return fc3(g)")
        os.remove(self.path("build/libdigits.so"))
        self.trib("build")
        self.assertIn("the last 2 of 3 builds", self.profile("history", "--top=2"))
        self.trib("clean")  # forgets the project, not the cache
        self.trib("build")
        (last,) = json.loads(self.profile("history", "--format=json"))["builds"]
        self.assertEqual((last["compiled"], last["reused"]), (0, 1))
        self.assertGreater(last["saved_ns"], 0)
        text = self.profile("history")
        self.assertIn("this week", text)
        self.assertIn("| when | models |", self.profile("history", "--format=markdown"))

    def test_look_ups_of_every_level(self):
        """What a build looked up and found, in its JSON, in --timing, and by command and week in the history."""
        levels = lambda build: {name: (l["lookups"], l["hits"]) for name, l in build["levels"].items()}
        self.assertEqual(levels(self.build()["cache"]), {"l1": (0, 0), "project": (2, 0), "l2": (2, 0), "l3": (1, 0)})  # direct mode, plan; fragment
        self.trib("clean")
        again = self.trib("build", "--timing", "--profile-out", "p.json").stdout
        self.assertRegex(again, r"L2, records in the user's cache +2 +2 +100\.0 %\n")  # the files, then the outputs of an equal build
        self.assertNotIn("L1, memory", again)
        facts = json.loads(self.read("p.json"))["facts"]
        self.assertEqual((facts["cache.l3.hits"], facts["cache.l3.hit_rate"]), (facts["cache.l3.lookups"], 1))
        self.edit("src/digits.tri", "return fc3(g)", "return fc3(g) + 1.0")
        self.assertEqual(levels(self.build()["cache"]), {"l1": (0, 0), "project": (2, 0), "l2": (1, 0), "l3": (1, 0)})
        self.edit("src/digits.tri", "return fc3(g) + 1.0", "return fc3(g)")
        self.trib("run", "digits", "--input", "x=random", "-O1")
        history = json.loads(self.profile("history", "--format=json"))
        self.assertEqual([b["command"] for b in history["builds"]], ["build", "build", "run"])
        weeks = {w["command"]: w for w in history["weeks"]}
        self.assertEqual({w["weeks_ago"] for w in history["weeks"]}, {0})
        self.assertEqual((weeks["build"]["builds"], weeks["run"]["builds"]), (2, 1))
        for name in "project", "l2", "l3":
            of_builds = [b["levels"][name] for b in history["builds"] if b["command"] == "build"]
            for count in "lookups", "hits":
                self.assertEqual(weeks["build"]["levels"][name][count], sum(b[count] for b in of_builds))
        self.assertEqual(levels(weeks["run"])["project"], (2, 1))  # the project has the fragment of the build before, but only the last plan
        self.assertRegex(self.profile("history"), r"this week +run +1 +- +1 of 2 \(50\.0 %\)")

    def test_ab_measures_in_a_copy(self):
        before = sorted(os.listdir(self.dir))
        result = json.loads(self.profile("ab", "--a=-O0", "--b=-O2", "-n6", "--format=json"))
        self.assertEqual((result["type"], result["pairs"]), ("ab", 6))
        self.assertLess(result["speed_up"], 1)
        self.assertEqual(sorted(os.listdir(self.dir)), before)
        for scenario in "warm", "noop", "edit":
            text = self.profile("ab", TRIB, TRIB, "-n2", "--warm-up=0", f"--scenario={scenario}")
            self.assertIn("too few pairs", text)
        self.assertEqual([n for n in os.listdir(self.tmp) if n.startswith("trib-profile-")], [])
        self.assertIn("compares two projects", self.profile("ab", code=2))
        self.assertIn("cannot start", self.profile("ab", TRIB, "/nowhere/trib", code=3))
        self.assertRegex(self.profile("ab", "--a=-O9", code=3), r"exit code 2:\n  \| trib: -O wants")


if __name__ == "__main__":
    unittest.main()
