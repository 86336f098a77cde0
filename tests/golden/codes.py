#!/usr/bin/env python3
"""Every diagnostic has a golden: a code of base/diags.def appears in an expected file, or in a test that causes the error.

Usage: codes.py SOURCE_DIR"""
import pathlib
import re
import sys

# Faults that no test can cause: a damaged installation, limits of libraries that are not ours; and what `trib run` says without a code.
UNTESTED = {"E0804", "E0805", "E0806", "E0807", "E0808"}
OF_SOURCES = {"TEXT", "SYNTAX", "NAMES", "TYPES", "SHAPES"}  # classes whose codes all need a golden
ROW = re.compile(r'^DIAG\((\w+),\s*"([EW]\d{4})",\s*(\w+),', re.M)


def texts(root, patterns):
    return "\n".join(p.read_text(errors="replace") for pattern in patterns for p in root.rglob(pattern))


def main():
    source = pathlib.Path(sys.argv[1])
    rows = ROW.findall((source / "base/diags.def").read_text())
    goldens = texts(source / "tests", ["*.err", "cases/*.txt", "*.out"])
    tests = texts(source / "tests", ["test_*.c", "test_*.py", "torch_*.py"])
    manifest = set(re.findall(r"EXPLAIN\((\w+), MANIFEST", (source / "builder/cli/commands/explain.def").read_text()))  # test_explain makes them happen
    of_sources = [(n, c) for n, c, kind in rows if kind in OF_SOURCES or c in ("E0511", "E0601", "E0602")]
    missing = [(n, c) for n, c in of_sources if c not in goldens]
    for name, code in {row[:2] for row in rows} - set(of_sources):
        named = code in goldens or code in tests or re.search(rf"\bDIAG_{name}\b", tests)
        if not named and name not in manifest and code not in UNTESTED:
            missing.append((name, code))
    for name, code in sorted(missing, key=lambda row: row[1]):
        print(f"{code} ({name}) has neither a golden nor a test")
    twice = {c for _, c, _ in rows if sum(c == d for _, d, _ in rows) > 1}
    for code in sorted(twice):
        print(f"{code} is used twice in base/diags.def")
    sys.exit(1 if missing or twice else 0)


if __name__ == "__main__":
    main()
