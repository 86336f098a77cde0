"""Random programs in the interpreter, in compiled libraries of all levels, on OpenCL and as C sources (--c) give the same results.

random_programs.py [--from N] [--count N] [--jobs N] [--batch N] [--levels all|turns|one|none] [--no-opencl] [--c] [--keep FOLDER] [--record FILE] checks
the programs of these seeds; a failing one is made smaller and printed. `--jobs` batches run at once. A run goes on where an earlier one with the same
file and `--batch` ended. `--print N` prints a program. Without arguments it is a test of a fixed number of seeds. LOOP_RUN in the environment is the
program loop-run: it runs the programs in the interpreter of the loop IR, too."""
import argparse
import concurrent.futures
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "random_programs"))
import check  # noqa: E402
import draw  # noqa: E402
import program as programs  # noqa: E402
import shrink  # noqa: E402

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
CPUS = ("x86-64-v3", "x86-64-v2", "x86-64-v4")


def has_avx512():
    with open("/proc/cpuinfo") as f:
        return "avx512f" in f.read()


def configurations(which, turn):
    """Levels of optimisation and CPUs: all pairs, or each level once with the CPUs by turns, or one of each, or none."""
    if which == "none":
        return []
    cpus = [c for c in CPUS if c != "x86-64-v4" or has_avx512()]
    if which == "all":
        return [(o, c) for o in LEVELS for c in cpus]
    if which == "turns":
        return [(o, cpus[(turn + k) % len(cpus)]) for k, o in enumerate(LEVELS)]
    return [(LEVELS[turn % len(LEVELS)], cpus[turn % len(cpus)])]


def loop_runs(tool, turn):
    """One target for the interpreter of the loop IR, by turns."""
    target = (*CPUS, "opencl")[turn % 4]
    return [(tool, target, LEVELS[turn % (2 if target == "opencl" else 5)])] if tool else []


def configuration(label, tool):
    """The arguments of check.check for a label."""
    for o in LEVELS:
        for c in (*CPUS, "opencl"):
            if label == f"loops{o}{c}":
                return [], False, [(tool, c, o)], False
            if label == o + c:
                return [(o, c)], False, (), False
    return [], label.startswith("opencl"), (), label.startswith("c-")


def smaller(trib, case, label, count):
    """The failing program, shrunk while it fails in the same way."""
    configs, opencl, loops, source = configuration(label, os.environ.get("LOOP_RUN"))

    def fails(p):
        return any(name == label for _, name, _ in check.check(trib, [p], configs, opencl, 1, count, loops, source)[1])

    return shrink.shrink(case.program, fails) if fails(case.program) else case.program


def report(trib, failures, count, keep=None, most=3):
    """Texts of the first failures; each program once."""
    texts, seen = [], set()
    for case, label, why in failures:
        if case.program.name in seen:
            continue
        seen.add(case.program.name)
        text = f"seed {case.program.seed}, {label}: {why}\n"
        if len(seen) <= most:
            text += programs.text(smaller(trib, case, label, count))
        texts.append(text)
        if keep:
            os.makedirs(keep, exist_ok=True)
            with open(os.path.join(keep, f"{case.program.name}.txt"), "w") as f:
                f.write(text + "\n# the whole program:\n" + programs.text(case.program))
    return texts


class Programs(unittest.TestCase):
    """Fixed seeds: the same programs in each run of the test."""

    def test_all_ways_agree(self):
        count = 20 if os.environ.get("TRIB_QUICK") else 60
        trib = os.environ["TRIB"]
        some = [draw.draw_program(seed) for seed in range(count)]
        loops = [run for turn in (1, 3) for run in loop_runs(os.environ.get("LOOP_RUN"), turn)]
        cases, failures = check.check(trib, some, configurations("turns", 0), False, loops=loops)
        self.assertGreater(cases, count)
        self.assertFalse(failures, "\n".join(report(trib, failures, 2)))


class Sources(unittest.TestCase):
    def test_all_ways_agree(self):
        count = 5 if os.environ.get("TRIB_QUICK") else 50
        _, failures = check.check(os.environ["TRIB"], [draw.draw_program(seed) for seed in range(count)], [], False, 2, 1, source=True)
        self.assertFalse(failures, "\n".join(report(os.environ["TRIB"], failures, 1)))


class Devices(unittest.TestCase):
    def test_all_ways_agree(self):
        count = 5 if os.environ.get("TRIB_QUICK") else 25
        trib = os.environ["TRIB"]
        _, failures = check.check(trib, [draw.draw_program(seed) for seed in range(count)], [], True, 2, 1)
        self.assertFalse(failures, "\n".join(report(trib, failures, 1)))


def check_batch(o, at):
    """The seeds from `at` on. Returns the cases that ran, and texts of the failures."""
    some = [draw.draw_program(seed) for seed in range(at, min(at + o.batch, o.start + o.count))]
    turn = at // o.batch
    n, failures = check.check(o.trib, some, configurations(o.levels, turn), not o.no_opencl, 1, loops=loop_runs(os.environ.get("LOOP_RUN"), turn), source=o.c)
    return n, report(o.trib, failures, 2, o.keep, 0 if o.no_shrink else 3)


def finished(path):
    """The first seeds of the batches that an earlier run recorded, with their cases and failed programs."""
    done = {}
    if path and os.path.exists(path):
        with open(path) as f:
            for words in map(str.split, f):
                if len(words) == 4 and words[3] == "end":
                    done[int(words[0])] = int(words[1]), int(words[2])
    return done


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--from", dest="start", type=int, default=0)
    a.add_argument("--count", type=int, default=1000)
    a.add_argument("--batch", type=int, default=50)
    a.add_argument("--jobs", type=int, default=2)
    a.add_argument("--levels", default="turns", choices=("all", "turns", "one", "none"))
    a.add_argument("--no-opencl", action="store_true")
    a.add_argument("--c", action="store_true")
    a.add_argument("--no-shrink", action="store_true")
    a.add_argument("--keep")
    a.add_argument("--record")
    a.add_argument("--print", type=int)
    a.add_argument("--trib", default=os.environ.get("TRIB", "out/release/trib"))
    o = a.parse_args()
    if o.print is not None:
        print(programs.text(draw.draw_program(o.print)), end="")
        return 0
    o.trib, begin = os.path.abspath(o.trib), time.monotonic()
    done = finished(o.record)
    batches = [at for at in range(o.start, o.start + o.count, o.batch) if at not in done]
    with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
        running = {pool.submit(check_batch, o, at): at for at in batches}
        for future in concurrent.futures.as_completed(running):
            n, texts = future.result()
            done[running[future]] = n, len(texts)
            for text in texts:
                print(text, flush=True)
            if o.record:
                with open(o.record, "a") as f:
                    f.write(f"{running[future]} {n} {len(texts)} end\n")
            cases, failed = (sum(column) for column in zip(*done.values()))
            print(f"{len(done)} batches of {o.batch} seeds: {cases} cases, {failed} programs failed, {time.monotonic() - begin:.0f} s", flush=True)
    return 1 if any(failed for _, failed in done.values()) else 0


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].startswith("--"):
        sys.exit(main())
    unittest.main()
