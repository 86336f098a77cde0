"""Code of others that crashes in `trib`: an OpenCL driver, a model's library. `trib` names it and dies of the signal, once; stores and cache stay."""
import os
import signal
import unittest

from project import ProjectTest

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

    def check(self, whose, *args):
        for n, sig in enumerate(SIGNALS):
            with self.subTest(signal=sig.name):
                self.edit("src/main.tri", "relu(", f"relu({n}.5 + ")  # so that the command first builds, and writes to the stores
                before = self.stores()
                self.env.update(CRASHING_SIGNAL=str(int(sig)), CRASHING_LOG=self.log)
                done = self.trib(*args, ok=False)
                self.assertEqual(done.returncode, -sig, done.stdout + done.stderr)
                self.assertIn(whose, done.stderr)
                self.assertNotIn("damaged", done.stderr)
                self.assertEqual(os.path.getsize(self.log), 1, "it started again")
                self.assertLessEqual(before.items(), self.stores().items())
                self.assertFalse([at for at in self.stores() if "damaged" in at])
                os.remove(self.log)

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
        self.check("trib: error: an OpenCL driver crashed", "devices")

    def test_a_driver_that_runs_a_model(self):
        self.edit("tri.build", "model p", "model p\n    emit = library header opencl")
        self.trib("build")
        self.with_driver()
        self.check("or an OpenCL driver, crashed", "run", "p", "--device", "opencl")


if __name__ == "__main__":
    unittest.main()
