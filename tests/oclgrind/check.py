#!/usr/bin/env python3
"""check.py UNIT_TESTS TEST: runs a test of kernels in Oclgrind, a simulator of OpenCL devices; tests run both variants of kernels. It fails if the test does, or
if Oclgrind finds a data race or an access outside of a buffer. Exits with 77, which skips the test, if Oclgrind is not installed."""
import os
import pathlib
import subprocess
import sys
import tempfile

DRIVER = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"
# Optimised code has instructions that Oclgrind does not know. Code that is not optimised has local memory for each copy of a loop's body.
SETTINGS = {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_BUILD_OPTIONS": "-cl-opt-disable -DTRI_ROUND=rint -DTRI_FLOOR=floor -DTRI_CEIL=ceil", "OCLGRIND_MAX_ERRORS": "5",
            "OCLGRIND_LOCAL_MEM_SIZE": str(1 << 20), "TRIB_CACHE": "off", "TRIB_QUICK": "1", "TRIB_MOST_WORK": "20000"}


def main():
    program, test = sys.argv[1:]
    if not os.path.exists(DRIVER):
        print("oclgrind is not installed (Debian's package oclgrind)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        log, vendor = os.path.join(folder, "log"), os.path.join(folder, "oclgrind.icd")
        pathlib.Path(vendor).write_text(DRIVER + "\n", encoding="utf-8")
        done = subprocess.run([program, test], env=dict(os.environ, **SETTINGS, OCLGRIND_LOG=log, OCL_ICD_VENDORS=folder), check=False)
        found = pathlib.Path(log).read_text(encoding="utf-8").strip() if os.path.exists(log) else "it did not run"
    print(f"{test}: exit code {done.returncode}, {found or 'nothing found'}")
    return int(done.returncode != 0 or bool(found))


if __name__ == "__main__":
    sys.exit(main())
