"""How surely `trib profile compare` and `check` find a slow-down beside a noisy neighbour, and how often they report one that was not planted.

Copies of the sources get 10 % more work in one kernel, one pass and the packing into one layout, and are built. Each is then compared with the trib of the
preset, as CI does it: the baseline is recorded first, the other version later. Files stay in out/gate."""
import itertools
import json
import os
import shutil
import subprocess
import sys

from measure import ROOT, without_server

# Work that takes a tenth as long as what `began` before it.
SPIN = """#include <x86intrin.h>
static inline void planted(unsigned long long began)
{
	unsigned long long now = __rdtsc(), end = now + (now - began) / 10;
	while (__rdtsc() < end)
		;
}
"""

# A plant moves the code behind it. Loops that begin elsewhere in a cache line run up to 15 % faster or slower, which hides the plant.
ALIGNED = "-DCMAKE_C_FLAGS=-falign-functions=64"

# name: (file, what is replaced and by what, kind of recording, project, model, the item that must be named)
PLANTS = {
    "kernel": ("backend/runtime/kernels/depthwise_f32.c",
               [("static void depthwise_f32_task(void *arg, int64_t i)\n{\n", SPIN + "static void depthwise_f32_task(void *arg, int64_t i)\n{\n\tunsigned long long began = __rdtsc();\n"),
                ("t % job->grid.cols * COLUMNS);\n\t}\n", "t % job->grid.cols * COLUMNS);\n\t}\n\tplanted(began);\n")],
               "run", "zoo", "mobilenet_v2 -- --threads=1", ("kernel", "tri_depthwise_f32")),
    "pass": ("backend/passes/cse.c",
             [("uint32_t pass_cse(struct ir_fn *f, struct pass_context *c)\n{", SPIN + "static uint32_t cse(struct ir_fn *f, struct pass_context *c)\n{"),
              (None, "\nuint32_t pass_cse(struct ir_fn *f, struct pass_context *c)\n{\n\tunsigned long long began = __rdtsc();\n"
                     "\tuint32_t changes = cse(f, c);\n\tplanted(began);\n\treturn changes;\n}\n")],
             "build", "chain", "chain", ("pass", "opt/cse")),
    "layout": ("backend/link/model/model_pack.c",
               [("static void pack_to_layout(", SPIN + "static void pack_to_layout("),
                ("\tmeasure_begin(ir_layout_text(layout));\n", "\tmeasure_begin(ir_layout_text(layout));\n\tunsigned long long began = __rdtsc();\n"),
                ("(layout, t, out);\n\tmeasure_end();", "(layout, t, out);\n\tif (layout == LAYOUT_TRIT2_WINDOWS)\n\t\tplanted(began);\n\tmeasure_end();")],
               "build", "zoo", "ternary_resnet18", ("stage", "pack/pack weights/trit2_windows")),
}


def planted(path, text, edits):
    for old, new in edits:
        if old is None:
            text += new
            continue
        if text.count(old) != 1:
            sys.exit(f"bench: {path} has {text.count(old)} times {old!r}; adapt PLANTS")
        text = text.replace(old, new)
    return text


def copy_sources(to, edits):
    """Files that are equal are not written, so that they are not compiled again."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in listed.split("\0")[:-1]:
        old, new = os.path.join(to, name), os.path.join(ROOT, name)
        if not os.path.isfile(new) or os.path.islink(new):
            continue
        with open(new, "rb") as f:
            data = f.read()
        if name in edits:
            data = planted(name, data.decode(), edits[name]).encode()
        if os.path.exists(old):
            with open(old, "rb") as f:
                if f.read() == data:
                    continue
        os.makedirs(os.path.dirname(old), exist_ok=True)
        with open(old, "wb") as f:
            f.write(data)
        shutil.copymode(new, old)


class Gate:
    def __init__(self, a):
        self.a = a
        self.folder = os.path.join(ROOT, "out", "gate")
        self.env = without_server(os.environ)
        self.trib = {}

    def make(self, name):
        """A trib with the plant; "base" has none. One copy of the sources and one build serve all plants: only the files that differ are compiled again."""
        source, build, to = (os.path.join(self.folder, d) for d in ("source", "build", name))
        edits = dict([PLANTS[name][:2]] if name in PLANTS else [])
        copy_sources(source, edits)
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        for command in (["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTRIB_TESTS=OFF", ALIGNED, *launcher],
                        ["cmake", "--build", build], ["cmake", "--install", build, "--prefix", to]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        self.trib[name] = os.path.join(to, "bin", "trib")

    def project(self, name):
        where = os.path.join(self.folder, "projects", name)
        if not os.path.exists(where) and name == "chain":
            subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "gen_project.py"), where, "150"], check=True)
        elif not os.path.exists(where):
            shutil.copytree(os.path.join(ROOT, "examples", name), where, ignore=shutil.ignore_patterns("build", ".trib"))
        return where

    def run(self, version, name, *args, allowed=(0,)):
        _, _, _, project, model, _ = PLANTS[name]
        done = subprocess.run([self.trib[version], "profile", *args], cwd=self.project(project), env=self.env, capture_output=True, text=True)
        if done.returncode not in allowed:
            sys.exit(f"bench: {version}: trib profile {' '.join(args)}: {done.stdout}{done.stderr}")
        return done

    def record(self, version, name, file):
        path = os.path.join(self.folder, file)
        if not os.path.exists(path):
            self.run(version, name, "record", PLANTS[name][2], *(["-n", str(self.a.samples)] if self.a.samples else []), "-o", path, *PLANTS[name][4].split())
        return path

    def compare(self, name, before, after):
        """The rows of `compare` that are slower, and the findings of `check` on files."""
        rows = json.loads(self.run("base", name, "compare", before, after, "--format=json").stdout)["rows"]
        return [(r["kind"], r["item"]) for r in rows if r["change"] == "REGRESSION"], self.check("base", name, before, after)

    def check(self, version, name, before, *after):
        done = self.run(version, name, "check", f"--baseline={before}", f"--threshold={self.a.threshold}", "--format=json", *after, allowed=(0, 1))
        report = json.loads(done.stdout)
        return [f["item"] for f in report["findings"] if f["verdict"] == "failed"]


def main(a):
    """One neighbour runs all the time."""
    gate = Gate(a)
    os.makedirs(gate.folder, exist_ok=True)
    names = [name for name in PLANTS if a.only in name]
    for name in ["base", *names]:
        gate.make(name)
    noise = os.path.join(gate.folder, "neighbour")
    subprocess.run(["cc", "-O2", "-o", noise, os.path.join(ROOT, "scripts", "benchmarks", "neighbour.c")], check=True)
    neighbour = subprocess.Popen([noise, "1"])
    try:
        return {name: measure(gate, name) for name in names}
    finally:
        neighbour.kill()
        neighbour.wait()


def measure(gate, name):
    wanted = PLANTS[name][5]
    files = {"base": [], name: []}
    found = {"tries": 0, "compare": 0, "check": 0, "check_measuring": 0}
    for i in range(gate.a.rounds):
        base, slow = (gate.record(version, name, f"{name}-{version}-{i}.json") for version in files)
        rows, failed = gate.compare(name, base, slow)
        live = gate.check(name, name, base) if gate.a.live else []
        found["tries"] += 1
        found["compare"] += wanted in rows
        found["check"] += wanted[1] in failed
        found["check_measuring"] += wanted[1] in live
        files["base"].append(base)
        files[name].append(slow)
        print(f"{name}: {found}", file=sys.stderr)
    pairs = [pair for version in files.values() for pair in itertools.combinations(version, 2)]
    alarms = [gate.compare(name, *pair) for pair in pairs]
    found.update(equal=len(pairs), false_compare=sum(bool(rows) for rows, _ in alarms), false_check=sum(bool(failed) for _, failed in alarms))
    print(f"{name}: {found}", file=sys.stderr)
    return found
