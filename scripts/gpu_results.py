#!/usr/bin/env python3
"""Draws the results in gpu/results, as Markdown and as SVG. scripts/gpu-check writes gpu/results/DEVICE-DRIVER.json, scripts/gpu-compile estimates.json.

gpu_results.py [--check]

Writes the tables in gpu/README.md, gpu/results/DEVICE-DRIVER.md and gpu/results/kernels.svg. --check writes nothing and fails if one of them differs."""
import glob
import json
import math
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "gpu", "results")
PAGE = os.path.join(ROOT, "gpu", "README.md")
ESTIMATES = os.path.join(FOLDER, "estimates.json")
# Times of others for the same product, in µs on an A100.
PUBLISHED = {"int8 × trit 1x2560x2560": "bitnet.cpp W2A8 13.3; bf16, by them, 18.3", "int8 × trit 1x2560x13824": "bitnet.cpp W2A8 18.8; bf16, by them, 59.5"}


def read_json(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def results():
    """Those of devices, by file name."""
    found = {os.path.basename(p)[:-len(".json")]: read_json(p) for p in sorted(glob.glob(os.path.join(FOLDER, "*.json"))) if p != ESTIMATES}
    return {name: r for name, r in found.items() if r["type"] == "gpu-check"}


def file_name(device):
    return re.sub(r"[^a-z0-9.+]+", "-", f"{device['name']}-{device['driver']}".lower()).strip("-")


def vendor_limits(name):
    """What gpu/devices.def says of the device: ceilings as `trib devices --measure` measures them. None: it is not in the table."""
    with open(os.path.join(ROOT, "gpu", "devices.def"), encoding="utf-8") as f:
        for part, *rates in re.findall(r'^DEVICE\("([^"]+)",\s*(\d+),\s*(\d+),\s*(\d+)\)', f.read(), re.M):
            if part in name:
                return dict(zip(("read_bytes", "float_ops", "int8_ops"), (1e9 * int(x) for x in rates)))
    return None


def least_us(row, limits):
    """A kernel reads and writes its operands once, and does its operations at the device's rate: with int8, that of int8 or of float32, if it is higher."""
    ops = limits["float_ops"] if row["arithmetic"] == "float" else max(limits["int8_ops"], limits["float_ops"])
    return 1e6 * max(row["bytes"] / limits["read_bytes"], row["operations"] / ops)


def share(row, limits):
    return least_us(row, limits) / row["us"] if limits else None


def model_error(rows):
    """The geometric mean of the factors between estimates and measurements. None: there are no estimates."""
    logs = [abs(math.log(r["estimate_us"] / r["us"])) for r in rows if r.get("estimate_us")]
    return math.exp(sum(logs) / len(logs)) if logs else None


# ---- text ----


def percent(x):
    return "" if x is None else f"{100 * x:.0f} %"


def number(x):
    """With three digits."""
    return "" if x is None else f"{x:.0f}" if x >= 99.95 else f"{x:.1f}" if x >= 9.995 else f"{x:.2f}" if x >= 0.9995 else f"{x:.3g}"


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(r).rstrip() + " |" for r in rows), ""]


def limits_of(result):
    return next((c for c in result["ceilings"] if c["device"].startswith("opencl")), None)


def described(result):
    """Where it was measured. Other work on the machine makes times longer."""
    busy = f", beside other work: a load of {result['load']:.0f} on {result['processors']} processors" if result["load"] > result["processors"] else ""
    return f"{result['device']['name']}, driver {result['device']['driver']}, {result['date']}{busy}"


def kernel_table(result):
    measured, vendor = limits_of(result), vendor_limits(result["device"]["name"])
    peers = list(dict.fromkeys(p for k in result["kernels"] for p in k["peers"]))
    estimated = model_error(result["kernels"])
    head = ["kernel", "µs", "GB/s", "GOP/s", "of the measured limit"] + (["of the vendor's"] if vendor else []) + [f"{p}, µs" for p in peers]
    rows = []
    for k in result["kernels"]:
        cells = [k["name"], number(k["us"]), number(k["bytes"] / k["us"] / 1e3), number(k["operations"] / k["us"] / 1e3), percent(share(k, measured))]
        cells += ([percent(share(k, vendor))] if vendor else []) + [number(k["peers"].get(p)) for p in peers]
        rows.append(cells + ([number(k.get("estimate_us"))] if estimated else []))
    lines = table(head + (["estimate, µs"] if estimated else []), rows)
    return lines + ([f"Estimates differ from measurements by a factor of {estimated:.2f} (geometric mean).", ""] if estimated else [])


def model_table(result):
    rows = [[m["model"], m["device"], number(m["ms"]), number(m["kernels_ms"]), str(m["launches"]), number(m["gops"]), number(m["gbs"]), percent(m["busy"])] for m in result["models"]]
    return table(["model", "on", "a run, ms", "kernels, ms", "launches", "GOP/s", "GB/s", "device busy"], rows)


def ceiling_table(result):
    rates = [("read_bytes", "read GB/s"), ("copy_bytes", "copy GB/s"), ("float_ops", "float32 GOP/s"), ("int8_ops", "int8 GOP/s")]
    return table(["device", *(text for _, text in rates)], [[c["name"], *(number(c[rate] / 1e9) for rate, _ in rates)] for c in result["ceilings"]])


def markdown(result):
    """The whole result, as gpu-check writes it."""
    device = result["device"]
    lines = [f"# {device['name']}", "", f"{described(result)}. Commit {result['commit'][:12] or 'unknown'}, {result['seconds']:.0f} s.", ""]
    for rows, lines_of in ("ceilings", ceiling_table), ("kernels", kernel_table), ("models", model_table):
        lines += lines_of(result) if result[rows] else []
    return "\n".join(lines + table(["part", "verdict", "seconds"], [[p["name"], p["verdict"], str(p["seconds"])] for p in result["parts"]]))


def estimate_table():
    """Of the heaviest kernels; registers, inner loop and occupancy are those of sm_80."""
    estimates = read_json(ESTIMATES)["kernels"]
    devices = list(next(iter(estimates.values()))["us"])
    rows = [[name, str(k["registers"]), percent(k["products"]), percent(k["occupancy"]), *(f"{us:.{us < 100:d}f}" for us in k["us"].values()), PUBLISHED.get(name, "")] for name, k in estimates.items()]
    return table(["kernel", "registers", "products in the inner loop", "occupancy", *devices, "published, A100"], rows)


def measured_tables():
    lines = []
    for name, result in results().items():
        lines += [f"{described(result)} ([all of it](results/{name}.md)):", "", *kernel_table(result)]
    return lines


# ---- the drawing ----

BAR, GAP, LEFT, WIDTH, SCALE = 14, 10, 290, 860, 5.0  # pixels; SCALE: a percent of the limit
COLORS = ["#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2"]


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def drawing(all_results):
    """A bar for each kernel and device: the part of the device's measured limit that it reaches."""
    names = list(dict.fromkeys(k["name"] for r in all_results for k in r["kernels"]))
    top = 30 + 20 * len(all_results)
    height = top + len(names) * (len(all_results) * BAR + GAP) + 10
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>', '<text x="10" y="18">Part of the limit that the device was measured at: bytes or operations, whichever takes longer</text>']
    for i, r in enumerate(all_results):
        svg += [f'<rect x="10" y="{28 + 20 * i}" width="12" height="12" fill="{COLORS[i % len(COLORS)]}"/>', f'<text x="28" y="{39 + 20 * i}">{escaped(r["device"]["name"])}</text>']
    svg += [f'<path d="M{LEFT + SCALE * x} {top} V{height - 8}" stroke="#ccc"/><text x="{LEFT + SCALE * x}" y="{top - 3}" text-anchor="middle" fill="#666">{x} %</text>' for x in (0, 25, 50, 75, 100)]
    y = top + GAP / 2
    for name in names:
        svg.append(f'<text x="{LEFT - 8}" y="{y + len(all_results) * BAR / 2 + 4}" text-anchor="end">{escaped(name)}</text>')
        for i, r in enumerate(all_results):
            part = next((share(k, limits_of(r)) for k in r["kernels"] if k["name"] == name), None)
            if part is not None:
                wide = round(100 * SCALE * min(part, 1.05), 1)
                svg += [f'<rect x="{LEFT}" y="{y}" width="{wide}" height="{BAR - 2}" fill="{COLORS[i % len(COLORS)]}"/>', f'<text x="{LEFT + wide + 4}" y="{y + 11}">{percent(part)}</text>']
            y += BAR
        y += GAP
    return "\n".join(svg + ["</svg>", ""])


# ---- what is made of the results ----


def page(text):
    """gpu/README.md with its generated parts, which are between comments."""
    for name, lines in ("estimates", estimate_table()), ("measurements", measured_tables()):
        text, n = re.subn(rf"(<!-- {name}: [^\n]*\n\n).*?(<!-- end -->)", lambda m: m[1] + "\n".join(lines) + "\n" + m[2], text, flags=re.S)
        if n != 1:
            sys.exit(f"gpu/README.md has no part <!-- {name}: … --> … <!-- end -->")
    return text


def files():
    """{path: what it should have}."""
    with open(PAGE, encoding="utf-8") as f:
        made = {PAGE: page(f.read())}
    made.update({os.path.join(FOLDER, name + ".md"): markdown(r) for name, r in results().items()})
    return {**made, os.path.join(FOLDER, "kernels.svg"): drawing(list(results().values()))}


def main(*flags):
    differs = []
    for path, want in files().items():
        old = None
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                old = f.read()
        if old != want and "--check" not in flags:
            with open(path, "w", encoding="utf-8") as f:
                f.write(want)
        differs += [os.path.relpath(path, ROOT)] if old != want else []
    if differs and "--check" in flags:
        sys.exit(f"not what scripts/gpu_results.py makes of gpu/results: {', '.join(differs)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
