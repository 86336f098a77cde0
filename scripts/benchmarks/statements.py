"""Whether the statements that `trib bench` prints add up to a run: the examples at one and two threads."""
import json
import os
import re
import shutil
import subprocess

from measure import ROOT, without_server


def models(project):
    with open(os.path.join(project, "tri.build"), encoding="utf-8") as f:
        return re.findall(r"^model (\S+)", f.read(), re.M)


def own(p, item, metric):
    inside = sum(i[metric][0] for i in p["items"] if i.get("parent") == item)
    return max(0, p["items"][item][metric][0] - inside)


def sums(p):
    """Parts of a run in percent: statements, those of them below the resolution of the clock, what is outside of them, a run that is measured by statements."""
    whole, shortest = p["total"]["wall_ns"][0], 10 * p["facts"].get("clock_ns", 0)
    rows = [(own(p, k, "wall_ns"), i["calls"][0]) for k, i in enumerate(p["items"]) if i["kind"] != "unit"]
    busy = max((i["cpu_ns"][0] / i["wall_ns"][0] for i in p["items"] if i["wall_ns"][0]), default=0)
    percent = lambda ns: round(100 * ns / whole, 1)
    return {"run_us": round(whole / 1e3, 2), "statements": percent(sum(ns for ns, _ in rows)),
            "short": percent(sum(ns for ns, calls in rows if calls and ns / calls < shortest)),
            "outside": percent(p["facts"]["outside_ns"]), "cpus": round(busy, 2), "measured": percent(p["facts"]["measured_ns"]), "scale": round(p["facts"]["scale"], 3)}


def main(a, folder):
    trib, result = os.path.join(ROOT, "out", a.preset, "trib"), {}
    for name in "digits", "quickstart", "zoo":
        project = os.path.join(folder, name)
        shutil.copytree(os.path.join(ROOT, "examples", name), project, ignore=shutil.ignore_patterns("build", ".trib"))
        for model in models(project):
            if a.only not in model:
                continue
            out = subprocess.run([trib, "bench", "-C", project, model, "--threads=1,2", "--format=json", "--max-time=3s"], capture_output=True, text=True, env=without_server())
            if out.returncode:
                print(model, out.stderr.strip(), flush=True)
            for line in out.stdout.splitlines():
                p = json.loads(line)
                row = sums(p)
                result[f"{model}, {p['settings']['threads']}"] = row
                print(f"{model}, {p['settings']['threads']}:", row, flush=True)
            shutil.rmtree(os.path.join(project, ".trib"), ignore_errors=True)
    return result
