#!/usr/bin/env python3
"""Golden tests of the front end's first stages: NAME.tri beside NAME.tok, .ast, .err, .fmt; the extension picks the stage.

Usage: golden.py [--bless] FRONT_DUMP FOLDER…
Prints a diff for every file that differs and exits with 1. --bless rewrites the files, and creates missing ones in folders with one stage."""
import difflib
import pathlib
import subprocess
import sys

STAGES = {"tok", "ast", "err", "fmt"}
ONLY = {"tokens": "tok", "ast": "ast", "syntax": "err", "fmt": "fmt"}


def stages_of(source):
    found = {s for s in STAGES if source.with_suffix("." + s).exists()}
    return sorted(found | ({ONLY[source.parent.name]} if source.parent.name in ONLY else set()))


def produced(program, stage, source):
    return subprocess.run([program, stage, source], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)


def check(program, source, stage, bless):
    """True where the stage's output is as it was blessed."""
    golden = source.with_suffix("." + stage)
    run = produced(program, stage, source)
    if run.returncode not in (0, 1):
        print(f"{source}: {stage}: exit code {run.returncode}")
        return False
    if bless:
        golden.write_bytes(run.stdout)
        return True
    want = golden.read_bytes() if golden.exists() else b""
    if want == run.stdout and golden.exists():
        return True
    lines = [t.decode(errors="backslashreplace").splitlines() for t in (want, run.stdout)]
    print("\n".join(difflib.unified_diff(*lines, str(golden), "now", lineterm="")))
    return False


def main():
    args = [a for a in sys.argv[1:] if a != "--bless"]
    sources = [s for folder in args[1:] for s in sorted(pathlib.Path(folder).glob("*.tri"))]
    if not sources:
        sys.exit(__doc__)
    results = [check(args[0], s, stage, "--bless" in sys.argv) for s in sources for stage in stages_of(s)]
    print(f"{sum(results)} of {len(results)} as expected")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
