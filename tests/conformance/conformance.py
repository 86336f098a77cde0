#!/usr/bin/env python3
"""Runs every SECTION/NAME.tri with `trib run --main` and compares its output with NAME.out. A program with a NAME.err must fail, with that text on the
standard error stream; warnings of other programs are ignored.

Usage: conformance.py TRIB FOLDER [--bless]"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys


def outcome(trib, program):
    env = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run([trib, "run", "--main", program.name], cwd=program.parent, capture_output=True, text=True, timeout=60, env=env)


def expected(program, extension):
    file = program.with_suffix(extension)
    return file.read_text() if file.exists() else ""


def problems(program, done):
    fails = program.with_suffix(".err").exists()
    if done.returncode != (1 if fails else 0):
        yield f"ended with {done.returncode}\n{done.stdout}{done.stderr}"
    elif done.stdout != expected(program, ".out"):
        yield f"printed\n{done.stdout}\ninstead of\n{expected(program, '.out')}"
    elif fails and done.stderr != expected(program, ".err"):
        yield f"said\n{done.stderr}\ninstead of\n{expected(program, '.err')}"


def bless(program, done):
    program.with_suffix(".out").write_text(done.stdout)
    if done.returncode:
        program.with_suffix(".err").write_text(done.stderr)
    else:
        program.with_suffix(".err").unlink(missing_ok=True)


def main(trib, folder, *flags):
    trib = os.path.abspath(trib)
    programs = sorted(pathlib.Path(folder).glob("*/*.tri"))
    programs = [p for p in programs if "main {" in p.read_text()]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for program, done in zip(programs, pool.map(lambda p: outcome(trib, p), programs)):
            if flags:
                bless(program, done)
                continue
            for what in problems(program, done):
                failed += 1
                print(f"{program.parent.name}/{program.name} {what}")
    print(f"{len(programs) - failed} of {len(programs)} programs right")
    return 1 if failed or not programs else 0


sys.exit(main(*sys.argv[1:]))
