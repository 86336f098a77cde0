"""Code of others that crashes in `trib`: an OpenCL driver, a model's library. `trib` names it and dies of the signal, once; stores and cache stay.
`trib devices` outlives it."""
import os
import signal
import subprocess
import unittest

from project import TRIB, ProjectTest, run, wait_until

CRASHING = os.environ["TRIB_CRASHING"]
SIGNALS = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)


class ForeignCrash(ProjectTest):
    def setUp(self):
        super().setUp()
        self.trib("new", "p", "-q")
        self.dir = self.path("p")
        self.log = os.path.join(self.tmp, "log")

    def stores(self):
        """The folders of LMDB, and what was moved away."""
        return {at: os.stat(at).st_ino for root in (self.dir, self.env["XDG_CACHE_HOME"]) for at, _, names in os.walk(root) if "data.mdb" in names}

    def check(self, whose, *args, code=None, times=1):
        for n, sig in enumerate(SIGNALS):
            with self.subTest(signal=sig.name):
                self.edit("src/main.tri", "relu(", f"relu({n}.5 + ")  # so that the command first builds, and writes to the stores
                before = self.stores()
                self.env.update(CRASHING_SIGNAL=str(int(sig)), CRASHING_LOG=self.log)
                done = self.trib(*args, ok=False)
                self.assertEqual(done.returncode, -sig if code is None else code, done.stdout + done.stderr)
                self.assertEqual(done.stderr.count("crashed"), 1, done.stderr)
                self.assertIn(whose.format(sig.name), done.stderr)
                self.assertNotIn("damaged", done.stderr)
                self.assertEqual(os.path.getsize(self.log), times, "it started again")
                self.assertLessEqual(before.items(), self.stores().items())
                self.assertFalse([at for at in self.stores() if "damaged" in at])
                os.remove(self.log)
        return done

    def link_with_crash(self):
        self.write("link", f'#!/bin/sh\nexec cc "$@" -Wl,--no-as-needed {CRASHING} -Wl,-rpath,{os.path.dirname(CRASHING)}\n')
        os.chmod(self.path("link"), 0o755)
        self.edit("tri.build", "project p", f"project p\n    linker = {self.path('link')}")
        self.trib("build")

    def test_a_model_that_runs(self):
        self.link_with_crash()
        self.check("trib: error: build/libp.so crashed", "run", "p")

    def test_a_model_under_test(self):
        self.link_with_crash()
        self.check("trib: error: build/libp.so crashed", "test")

    def test_a_model_that_is_timed(self):
        self.link_with_crash()
        self.check("libp.so crashed", "bench", "p", "--threads", "1")

    def with_driver(self):
        self.write("vendors/crashing.icd", CRASHING + "\n")
        self.env["OCL_ICD_VENDORS"] = self.path("vendors")

    def test_a_driver_whose_devices_are_listed(self):
        self.with_driver()
        self.assertIn("cpu ", self.check("trib: error: an OpenCL driver crashed while it was loaded ({})", "devices", code=3).stdout)

    def with_opencl(self):
        self.edit("tri.build", "model p", "model p\n    emit = library header opencl")
        self.trib("build")

    def test_a_driver_that_runs_a_model(self):
        self.with_opencl()
        self.with_driver()
        self.check("or an OpenCL driver, crashed", "run", "p", "--device", "opencl")

    def test_a_driver_that_takes_the_handlers_away(self):
        """The crash is seen by the process that waits; it asks the drivers once more, to name the one."""
        self.with_opencl()
        self.with_driver()
        self.env["CRASHING_SILENTLY"] = "1"
        for args in (["run", "p"], ["test"], ["bench", "p", "--max-time=10ms"]):
            self.check("trib: error: an OpenCL driver crashed while it was loaded ({})", *args, "--device", "opencl", times=2)

    def test_a_process_without_sys(self):
        """PoCL aborts when it is asked for its devices."""
        hide = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys && exec "$@"', "sh"]
        if run([*hide, "true"], self.dir, ok=False).returncode:
            self.skipTest("this user cannot hide /sys")
        self.with_opencl()
        for args, code in ((["devices"], 3), (["devices", "--measure"], 3), (["run", "p", "--device", "opencl"], -signal.SIGABRT)):
            done = run([*hide, "env", "-u", "HWLOC_SYNTHETIC", TRIB, *args], self.dir, ok=False, env=self.env)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn("trib: error: the OpenCL driver of `Portable Computing Language` crashed (SIGABRT)", done.stderr)
            self.assertTrue(args[0] == "run" or done.stdout.startswith("cpu "), done.stdout)

    def test_signals_reach_a_command_that_uses_a_device(self):
        """LLVM in a driver may have taken the handler away; then it ends by the signal."""
        self.with_opencl()
        for to_group in (False, True):
            bench = subprocess.Popen([TRIB, "bench", "p", "--device", "opencl", "--max-time", "100s"], cwd=self.dir, env={**os.environ, **self.env}, process_group=0,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_until(lambda bench=bench: bench.poll() is not None or os.path.exists(self.path(".trib/bench/libp_opencl.so")), "no library is built")
            (os.killpg if to_group else os.kill)(bench.pid, signal.SIGINT)
            self.assertIn(bench.wait(), (130, -signal.SIGINT))


if __name__ == "__main__":
    unittest.main()
