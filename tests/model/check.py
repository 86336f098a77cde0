#!/usr/bin/env python3
"""Checks a model with spin, as it is and with each of its BUG_… switches, which spin must find: check.py MODEL.pml"""
import os
import re
import subprocess
import sys
import tempfile


def errors(model, define, folder):
    """How many errors an exhaustive search finds."""
    subprocess.run(["spin", "-a", *([f"-D{define}"] if define else []), model], cwd=folder, check=True, capture_output=True)
    subprocess.run(["cc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=2048", "-o", "pan", "pan.c"], cwd=folder, check=True)
    said = subprocess.run(["./pan", "-m1000000"], cwd=folder, check=True, capture_output=True, text=True).stdout
    found = re.search(r"State-vector.*errors: (\d+)", said)
    states = re.search(r"(\d\S*) states, stored", said)
    if not found or "search not completed" in said and found.group(1) == "0" or "max search depth too small" in said:
        sys.exit(f"the search did not end:\n{said}")
    print(f"{os.path.basename(model)} {define or 'as it is'}: {found.group(1)} errors, {states.group(1)} states", flush=True)
    return int(found.group(1))


def main(model):
    with open(model, encoding="utf-8") as f:
        bugs = sorted(set(re.findall(r"#ifn?def (BUG_\w+)", f.read())))
    with tempfile.TemporaryDirectory() as folder:
        wrong = ["finds an error without a bug"] if errors(model, None, folder) else []
        wrong += [f"does not find {bug}" for bug in bugs if not errors(model, bug, folder)]
    sys.exit(f"{model}: {', '.join(wrong)}" if wrong or not bugs else 0)


main(os.path.abspath(sys.argv[1]))
