#!/usr/bin/env python3
"""check.py UNIT_TESTS TEST: runs a test of kernels in Oclgrind, a simulator of OpenCL devices; tests run both variants of kernels. It fails if the test does, or
if Oclgrind finds a data race or an access outside of a buffer. Exits with 77, which skips the test, if Oclgrind is not installed."""
import os
import pathlib
import subprocess
import sys
import tempfile

DRIVER = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"
SETTINGS = {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_MAX_ERRORS": "5", "OCLGRIND_LOCAL_MEM_SIZE": str(1 << 20), "TRIB_CACHE": "off", "TRIB_QUICK": "1",
            "TRIB_MOST_WORK": "60000"}
# OCLGRIND_UNINITIALIZED is not set: it knows no `freeze`, which clang writes where it optimises, and takes what is masked by `&` for uninitialised, as the bytes
# behind a row that tri_word reads.
FUNCTIONS = "-DTRI_ROUND=rint -DTRI_FLOOR=floor -DTRI_CEIL=ceil"
# Oclgrind computes some of the code wrong that clang optimises: comparisons of vectors. Kernels have none; without optimisation they take ten times as long.
OPTIMISED = {"test_opencl_kernels", "test_opencl_rows"}


def main():
    program, test = sys.argv[1:]
    if not os.path.exists(DRIVER):
        print("oclgrind is not installed (Debian's package oclgrind)")
        return 77
    options = f"{'-O1' if test in OPTIMISED else '-cl-opt-disable'} {FUNCTIONS}"
    with tempfile.TemporaryDirectory() as folder:
        log, vendor = os.path.join(folder, "log"), os.path.join(folder, "oclgrind.icd")
        pathlib.Path(vendor).write_text(DRIVER + "\n", encoding="utf-8")
        done = subprocess.run([program, test], env=dict(os.environ, **SETTINGS, OCLGRIND_BUILD_OPTIONS=options, OCLGRIND_LOG=log, OCL_ICD_VENDORS=folder), check=False)
        found = pathlib.Path(log).read_text(encoding="utf-8").strip() if os.path.exists(log) else "it did not run"
    print(f"{test}: exit code {done.returncode}, {found or 'nothing found'}")
    return int(done.returncode != 0 or bool(found))


if __name__ == "__main__":
    sys.exit(main())
