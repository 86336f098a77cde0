"""scripts/bench sparsity: where products of int8 with trits that skip zeros are faster than dense ones, and the costs that the packer estimates them with."""
import glob
import json
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PACKER = os.path.join(ROOT, "backend", "runtime", "pack", "trit_blocks_pack.c")
PATTERNS = {"single": (50, 60, 70, 75, 80, 85, 90, 95, 99), "blocks": (20, 40, 50, 60, 75, 90, 99), "rows": (25, 50, 75, 90), "columns": (50, 75, 90)}
ROWS_OF_X = (1, 8, 128)
PANELS, QUADS, LIST_PANELS = 2560 // 32, 2560 // 4, 2560 // 64


def compile_program(out, level, folder):
    """The measuring program with the objects that libraries of this level have."""
    archive, program = os.path.join(folder, "runtime.a"), os.path.join(folder, "sparsity")
    objects = glob.glob(os.path.join(out, "backend", "runtime", level, "*.o"))
    subprocess.run(["ar", "rcs", archive, *objects], check=True)
    runtime = os.path.join(ROOT, "backend", "runtime")
    sources = [os.path.join(HERE, "sparsity.c"), *(os.path.join(runtime, f) for f in ("trit2_pack.c", "trit2_zeros.c", "trit_lists_pack.c"))]
    subprocess.run(["cc", "-O2", "-std=gnu11", "-I", ROOT, "-o", program, *sources, archive, "-pthread", "-lm"], check=True)
    return program


def measure(program, rounds):
    """The fastest time of several processes for each case."""
    best = {}
    for _ in range(rounds):
        for rows in ROWS_OF_X:
            for pattern, percents in PATTERNS.items():
                text = subprocess.run([program, str(rows), pattern, *map(str, percents)], check=True, capture_output=True, text=True).stdout
                for row in map(json.loads, text.splitlines()):
                    old = best.setdefault((pattern, row["zeros"], rows), row)
                    for key in ("dense_us", "blocks_us", "lists_us"):
                        old[key] = min(old[key], row[key])
    return list(best.values())


def crossover(rows, pattern, n, form):
    """The fraction of zeros from which on the form is faster than dense, between two that were measured; None: it never is."""
    points = sorted((r["zeros"], r[form + "_us"] / r["dense_us"]) for r in rows if r["pattern"] == pattern and r["rows_of_x"] == n)
    slower = [i for i, (_, ratio) in enumerate(points) if ratio > 1]
    if not slower:
        return points[0][0]
    if slower[-1] + 1 == len(points):
        return None
    (a, x), (b, y) = points[slower[-1]], points[slower[-1] + 1]
    return round(a + (b - a) * (x - 1) / (x - y), 3)


def fit(equations):
    """The costs a and b that fit a · x + b · y = z best."""
    xx, xy, yy, xz, yz = (sum(f(*e) for e in equations) for f in (
        lambda x, y, z: x * x, lambda x, y, z: x * y, lambda x, y, z: y * y, lambda x, y, z: x * z, lambda x, y, z: y * z))
    d = xx * yy - xy * xy
    return (xz * yy - yz * xy) / d, (yz * xx - xz * xy) / d


def costs(rows, many):
    """Costs of blocks, panels, rows that are left out, and of steps and panels of lists, in units of a dense block."""
    mine = [r for r in rows if (r["rows_of_x"] > 1) == many and r["rows_of_x"] < 128]
    ratio = lambda r, form: r[form + "_us"] / r["dense_us"]
    # dense: PANELS · QUADS blocks, and PANELS panels; so ratio · (PANELS · QUADS + panel · PANELS) = block · blocks + panel · PANELS
    block, panel = fit([(r["blocks"], PANELS * (1 - ratio(r, "blocks")), ratio(r, "blocks") * PANELS * QUADS) for r in mine if r["pattern"] == "blocks"])
    whole = PANELS * QUADS + panel * PANELS
    left = [(ratio(r, "blocks") * whole - block * r["blocks"] - panel * PANELS) / r["kept_rows"] for r in mine if r["pattern"] == "rows" and r["kept_rows"]]
    step, list_panel = fit([(r["steps"], LIST_PANELS, ratio(r, "lists") * whole) for r in mine if r["pattern"] == "single" and r["zeros"] > 0.75])
    return {"block": block, "panel": panel, "row": sum(left) / len(left), "list_step": step, "list_panel": list_panel}


def table_of_packer():
    """The costs that the packer has."""
    with open(PACKER, encoding="utf-8") as f:
        text = f.read()
    blocks = re.search(r"one_cost = \{(.*?)\}, many_cost = \{(.*?)\}", text)
    lists = re.search(r"one_list = \{(.*?)\}, many_list = \{(.*?)\}", text)
    found = {}
    for i, name in enumerate(("one", "many"), 1):
        values = [float(v) for v in blocks[i].split(",") + lists[i].split(",")]
        found[name] = dict(zip(("block", "panel", "row", "list_step", "list_panel"), values))
    return found


def main(out, folder, rounds):
    has = open("/proc/cpuinfo", encoding="utf-8").read()
    level = "vnni" if "avx512_vnni" in has else "v3" if "avx2" in has else "base"
    rows = measure(compile_program(out, level, folder), rounds)
    crossovers = [{"pattern": p, "rows_of_x": n, **{form: crossover(rows, p, n, form) for form in ("blocks", "lists")}} for p in PATTERNS for n in ROWS_OF_X]
    found = {"one": costs(rows, False), "many": costs(rows, True)}
    for r in rows:
        print(f"{r['pattern']:8} {100 * r['zeros']:5.1f} % zeros, n = {r['rows_of_x']:3}: dense {r['dense_us']:8.1f} us, blocks {r['blocks_us'] / r['dense_us']:5.2f}, "
              f"lists {r['lists_us'] / r['dense_us']:5.2f}")
    for c in crossovers:
        print(f"{c['pattern']:8} n = {c['rows_of_x']:3}: faster from a fraction of zeros of {c['blocks']} on with blocks, {c['lists']} with lists")
    for name, packer in table_of_packer().items():
        print(f"costs, {name:4} rows of x: " + ", ".join(f"{k} {v:.2f} (packer {packer[k]:.2f})" for k, v in found[name].items()))
    return {"level": level, "products": rows, "crossovers": crossovers, "costs": found, "packer": table_of_packer()}
