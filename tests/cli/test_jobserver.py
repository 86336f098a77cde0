"""trib and GNU make share their job slots: trib as a child, as a parent, and with a jobserver that counts its tokens."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import unittest

from project import SLOWER, SOURCE, TRIB, ProjectTest, any_moment, run

MAKE = shutil.which("make")
TOKENS = b"abcdefgh"


def make_version():
    text = subprocess.run([MAKE, "--version"], capture_output=True, text=True).stdout if MAKE else ""
    found = re.match(r"GNU Make (\d+)\.(\d+)", text)
    return tuple(map(int, found.groups())) if found else (0, 0)


def without_make():
    return {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}


def busy(trace):
    """(time, +1 or -1) of one process: its workers as they run, and the process itself."""
    lanes = {}
    for e in trace["traceEvents"]:
        if e["ph"] == "X":
            lanes.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"]))
    for lane in lanes:
        merged = []
        for start, end in sorted(lanes[lane]):
            if merged and start <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([start, end])
        lanes[lane] = merged
    alive = (min(l[0][0] for l in lanes.values()), max(l[-1][1] for l in lanes.values()))
    changes = sorted((t, d) for lane, spans in lanes.items() if lane > 0 for span in spans for t, d in ((span[0], 1), (span[1], -1)))
    steps, workers, shown = [(alive[0], 1)], 0, 1
    for t, d in changes:
        workers += d
        now = max(1, workers)
        if now != shown:
            steps.append((t, now - shown))
            shown = now
    return steps + [(alive[1], -shown)]


def most_at_once(steps):
    now = most = 0
    for _, d in sorted(steps):
        now += d
        most = max(most, now)
    return most


class Jobs(ProjectTest):
    def project(self, name, units=24):
        folder = self.path(name)
        run([sys.executable, os.path.join(SOURCE, "scripts", "gen_project.py"), folder, str(units)], self.dir)
        return folder

    def run_in(self, argv, **env):
        return subprocess.run(argv, cwd=self.dir, env={**without_make(), **self.env, **env}, capture_output=True, text=True, timeout=120)


@unittest.skipUnless(MAKE, "there is no make")
class UnderMake(Jobs):
    def tribs_under_make(self, *style):
        names = ["p1", "p2", "p3", "p4"]
        rules = "".join(f"{n}:\n\t+$(TRIB) build -C {n} --no-cache --trace trace.json\n" for n in names)
        for n in names:
            self.project(n)
        self.write("Makefile", f".PHONY: {' '.join(names)}\nall: {' '.join(names)}\n" + rules)
        done = self.run_in([MAKE, "-j3", *style], TRIB=TRIB)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("jobserver", done.stdout + done.stderr)  # neither our warning nor make's "tokens available; should be"
        steps = [s for n in names for s in busy(json.loads(self.read(f"{n}/trace.json")))]
        self.assertLessEqual(most_at_once(steps), 3)
        return steps

    def test_never_more_than_three(self):
        self.assertEqual(most_at_once(self.tribs_under_make()), 3)

    @unittest.skipUnless(make_version() >= (4, 4), "make has no FIFO before 4.4")
    def test_fifo(self):
        self.tribs_under_make("--jobserver-style=fifo")

    def test_without_plus_there_is_no_jobserver(self):
        self.project("p1")
        self.write("Makefile", "all:\n\t$(TRIB) build -C p1\n")
        done = self.run_in([MAKE, "-j3"], TRIB=TRIB)
        self.assertEqual(done.returncode, 0, done.stderr)
        if make_version() < (4, 4):
            self.assertIn("put `+` before the command", done.stderr)

    def test_own_jobs_override_make(self):
        self.project("p1")
        self.write("Makefile", "all:\n\t$(TRIB) build -C p1 -j2\n")
        done = self.run_in([MAKE, "-j3"], TRIB=TRIB)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("jobserver", done.stderr)


@unittest.skipUnless(MAKE, "there is no make")
class OverMake(Jobs):
    def test_the_linkers_make_shares_our_jobs(self):
        """The linker is a script that runs a make of six jobs, which must find three places, and not complain. Each job
        takes 0.1 s, so that jobs meet."""
        self.project("p", 4)
        self.write("sub.mk", "all: a b c d e f\na b c d e f:\n\t@date +'%s%N 1' >>$(LOG); sleep 0.1; date +'%s%N -1' >>$(LOG)\n")
        self.write("link", f'#!/bin/sh\nLOG={self.path("log")} {MAKE} -f {self.path("sub.mk")} >{self.path("said")} 2>&1 || exit 1\nexec cc "$@"\n')
        os.chmod(self.path("link"), 0o755)
        done = self.run_in([TRIB, "build", "-C", "p", "-j3", "--linker", self.path("link")])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(b"jobserver", self.read("said"))
        steps = [tuple(map(int, line.split())) for line in self.read("log").decode().splitlines()]
        self.assertEqual(len(steps), 12)
        self.assertEqual(most_at_once(steps), 3)


class Counting(Jobs):
    """This process is the jobserver. Whatever becomes of trib, every token comes back, the same bytes."""

    def setUp(self):
        super().setUp()
        self.read_end, self.write_end = os.pipe()
        self.addCleanup(os.close, self.read_end)
        self.addCleanup(os.close, self.write_end)
        os.write(self.write_end, TOKENS)
        self.flags = f" -j9 --jobserver-auth={self.read_end},{self.write_end}"

    def start(self, *args, flags=None):
        env = {**without_make(), **self.env, "MAKEFLAGS": flags or self.flags}
        return subprocess.Popen([TRIB, "build", *args], cwd=self.path("p"), env=env, pass_fds=(self.read_end, self.write_end),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def check_tokens(self):
        os.set_blocking(self.read_end, False)
        back = os.read(self.read_end, 100)
        os.set_blocking(self.read_end, True)
        self.assertEqual(sorted(back), sorted(TOKENS))
        os.write(self.write_end, back)

    def test_success_and_failure(self):
        self.project("p")
        p = self.start()
        self.assertEqual((p.wait(), p.communicate()[1]), (0, ""))
        self.check_tokens()
        self.edit("p/src/part0000.tri", "sigmoid(shifted)", "sigmoid(shiftet)")
        for flags in ((), ("-k",)):
            p = self.start(*flags)
            self.assertIn("shiftet", p.communicate()[1])
            self.assertEqual(p.returncode, 1)
            self.check_tokens()

    def interrupted(self, *signals):
        seed = random.randrange(1 << 30)
        rng = random.Random(seed)
        self.project("p", 60)
        codes = set()
        for _ in range(12):
            p = self.start("--no-cache")
            any_moment(rng, 0.25)
            for s in signals:
                p.send_signal(s)
            p.communicate()
            codes.add(p.returncode)
            self.check_tokens()
            shutil.rmtree(self.path("p/build"), True)
            shutil.rmtree(self.path("p/.trib"), True)
        return codes

    def test_interrupts(self):
        self.assertLessEqual(self.interrupted(signal.SIGINT), {0, 130, -signal.SIGINT})

    def test_second_interrupts(self):
        self.assertLessEqual(self.interrupted(signal.SIGINT, signal.SIGINT), {0, 130, -signal.SIGINT})

    def test_crashes(self):
        ends = {1, 66} if SLOWER > 1 else set()  # a sanitizer exits, once it is there
        self.assertLessEqual(self.interrupted(signal.SIGSEGV), {0, -signal.SIGSEGV, *ends})

    def test_dry_run_takes_none(self):
        self.project("p")
        p = self.start(flags="n" + self.flags)
        self.assertEqual(p.wait(), 0)
        p.communicate()
        self.check_tokens()


class CountingFifo(Counting):
    """The same through a FIFO, as make from 4.4 on does it."""

    def setUp(self):
        super().setUp()
        os.read(self.read_end, 100)
        path = self.path("fifo")
        os.mkfifo(path)
        os.close(self.read_end)
        os.close(self.write_end)
        self.read_end = os.open(path, os.O_RDWR)
        self.write_end = os.dup(self.read_end)
        os.write(self.write_end, TOKENS)
        self.flags = f" -j9 --jobserver-auth=fifo:{path}"

    def start(self, *args, flags=None):
        env = {**without_make(), **self.env, "MAKEFLAGS": flags or self.flags}
        return subprocess.Popen([TRIB, "build", *args], cwd=self.path("p"), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_several_processes_share_the_fifo(self):
        """As `make -j3` would start them: a token for each but the first."""
        os.read(self.read_end, 100)
        os.write(self.write_end, b"++")
        names = ["p1", "p2", "p3", "p4"]
        for n in names:
            self.project(n)
        running, codes = [], []

        def reap():
            p, token = running.pop(0)
            codes.append((p.wait(), p.communicate()[1]))
            if token:
                os.write(self.write_end, b"+")

        for n in names:
            while len(running) >= 2:
                reap()
            env = {**without_make(), **self.env, "MAKEFLAGS": self.flags}
            token = any(t is False for _, t in running)  # make's own slot is one of the running ones'
            if token:
                os.read(self.read_end, 1)
            running.append((subprocess.Popen([TRIB, "build", "-C", n, "--no-cache", "--trace", "trace.json"], cwd=self.dir, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True), token))
        while running:
            reap()
        self.assertEqual(codes, [(0, "")] * 4)
        steps = [s for n in names for s in busy(json.loads(self.read(f"{n}/trace.json")))]
        self.assertLessEqual(most_at_once(steps), 3)
        self.assertEqual(os.read(self.read_end, 100), b"++")

    def test_a_missing_fifo(self):
        """A warning; the build continues without a jobserver."""
        self.project("p")
        p = self.start(flags=f" -j9 --jobserver-auth=fifo:{self.path('none')}")
        said = p.communicate()[1]
        self.assertEqual(p.returncode, 0, said)
        self.assertIn("jobserver", said)


class Variable(ProjectTest):
    def test_jobs_from_the_environment(self):
        self.trib("new", "p", "-q")

        def jobs(value, *words):
            self.env["TRIB_JOBS"] = value
            done = self.trib("build", "-C", "p", "--message-format=json", "--no-cache", *words)
            self.trib("clean", "-C", "p")
            return json.loads(done.stdout.splitlines()[-1])["jobs"]

        self.assertEqual(jobs("3"), 3)
        self.assertEqual(jobs("3", "-j2"), 2)
        for wrong in ("0", "x", "-1", "1.5"):
            self.env["TRIB_JOBS"] = wrong
            self.assertIn("TRIB_JOBS wants a positive number", self.fails("build", "-C", "p", code=2))
            self.trib("fmt", "-C", "p")  # takes no jobs


if __name__ == "__main__":
    unittest.main()
