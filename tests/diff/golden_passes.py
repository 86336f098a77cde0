#!/usr/bin/python3
"""Golden texts of the tensor IR and of programs. Pass PASS turns golden/passes/PASS/NAME.ir into NAME.out, and golden/program/PASS/NAME.program.
Reading and printing golden/ir/NAME.ir and golden/program/NAME.program gives NAME.out.

Usage: golden_passes.py IR_OPT GOLDEN_DIR [--bless]"""
import difflib
import pathlib
import subprocess
import sys


def main():
    ir_opt, root, bless = sys.argv[1], pathlib.Path(sys.argv[2]), "--bless" in sys.argv
    bad = n = 0
    for path in sorted([*root.glob("passes/*/*.ir"), *root.glob("ir/*.ir"), *root.glob("program/**/*.program")]):
        passes = "-" if path.parent.name in ("ir", "program") else path.parent.name
        run = subprocess.run([ir_opt, *(["-p"] if path.suffix == ".program" else []), passes, path.name], capture_output=True, text=True, cwd=path.parent)
        out = path.with_suffix(".out")
        n += 1
        if (run.returncode != 0) != path.name.startswith("mistake_"):
            bad += 1
            print(f"{path}: ir-opt {passes} ended with {run.returncode}\n{run.stderr}", end="")
        elif bless:
            out.write_text(run.stdout)
        elif not out.exists() or out.read_text() != run.stdout:
            bad += 1
            want = out.read_text() if out.exists() else ""
            sys.stdout.writelines(difflib.unified_diff(want.splitlines(True), run.stdout.splitlines(True), str(out), f"ir-opt {passes}"))
            print(run.stderr, end="")
    print(f"{n} texts, {bad} differ")
    sys.exit(1 if bad or not n else 0)


if __name__ == "__main__":
    main()
