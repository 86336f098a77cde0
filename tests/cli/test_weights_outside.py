"""Weights beside the library: `weights.inside` in the manifest, and the .triw file after changes, damage and moves."""
import ctypes
import glob
import os
import random
import shutil
import signal
import subprocess
import unittest

from project import TRIB, ProjectTest, any_moment

NET = """import nn
layer Net() {
    let one = nn.Linear(300, 1000)
    let two = nn.TernaryLinear(1000, 40)
    fn forward(x: Tensor<float32, [?, 300]>) { return two(relu(one(x)) * 1.0) }
}
"""
MANIFEST = "project p\nmodel net\n    sources = net.tri\n    entry = Net\n    weights.inside = %s\n"


class WeightsOutside(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("net.tri", NET)
        self.write("tri.build", MANIFEST % "4KiB")

    def files(self):
        return sorted(os.path.basename(f) for f in glob.glob(self.path("build/*.triw")))

    def output(self, *args):
        self.trib("run", "net", "--no-build", "--input", "x=x.npy", "--output", "out=y.npy", *args)
        return self.read("y.npy")

    def give_input(self):
        self.write("x.npy", b"\x93NUMPY\x01\x00\x46\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 300), }".ljust(69) + b"\n" +
                   bytes(range(1, 25)) * 100)

    def test_same_results_as_inside(self):
        self.give_input()
        record = self.build()
        self.assertEqual(len(self.files()), 1)
        self.assertIn("build/" + self.files()[0], record["outputs"])
        self.assertLess(os.path.getsize(self.path("build/libnet.so")), 200000)
        outside = self.output()
        self.assertEqual(self.build()["units"]["compiled"], 0)
        shutil.move(self.path("build"), self.path("moved"))  # the library finds it wherever both are
        self.trib("run", "moved/libnet.so", "--input", "x=x.npy", "--output", "out=y.npy")
        self.assertEqual(self.read("y.npy"), outside)
        self.write("tri.build", MANIFEST % "1GiB")
        self.build()
        self.assertEqual(self.files(), [])
        self.assertEqual(self.output(), outside)

    def test_jobs_and_caches_do_not_change_results(self):
        self.build("-j1", "--no-cache")
        one, name = self.read("build/" + self.files()[0]), self.files()
        shutil.rmtree(self.path("build"))
        self.build("-j4")
        self.assertEqual(self.files(), name)
        self.assertEqual(self.read("build/" + name[0]), one)

    def test_a_change_of_weights_replaces_the_file(self):
        self.build()
        first = self.files()
        self.edit("net.tri", "two(relu(one(x)) * 1.0)", "two(relu(one(x)) * 2.0)")
        stamp = os.stat(self.path("build/" + first[0])).st_mtime_ns
        self.build()
        self.assertEqual(self.files(), first)
        self.assertEqual(os.stat(self.path("build/" + first[0])).st_mtime_ns, stamp)  # not written again
        self.edit("net.tri", "TernaryLinear(1000, 40)", "TernaryLinear(1000, 41)")
        self.build()
        self.assertEqual(len(self.files()), 1)
        self.assertNotEqual(self.files(), first)
        incremental = self.read("build/" + self.files()[0])
        shutil.rmtree(self.path("build"))
        shutil.rmtree(self.path(".trib"))
        self.build("--no-cache")
        self.assertEqual(self.read("build/" + self.files()[0]), incremental)

    def test_missing_and_wrong_files_are_reported(self):
        self.give_input()
        self.build()
        path = "build/" + self.files()[0]
        good = self.read(path)
        os.unlink(self.path(path))
        self.assertIn(os.path.basename(path), self.fails("run", "net", "--no-build", "--input", "x=x.npy", code=3))
        self.write(path, good[:-1])
        self.assertIn("is not complete; copy it again, or remove it and build again", self.fails("run", "net", "--no-build", "--input", "x=x.npy", code=3))
        self.build()  # neither is taken for what was built
        self.assertEqual(self.read(path), good)

    def test_damage_is_found(self):
        """By `trib run` and `trib validate`, not by an open as programs do it; what is damaged is not copied from file to file."""
        self.give_input()
        self.build()
        path = "build/" + self.files()[0]
        good = self.read(path)
        self.assertEqual(self.trib("validate").stdout, "net: ok\n")
        self.assertEqual(self.trib("validate", "build/libnet.so", "--threads", "2").stdout, "build/libnet.so: ok\n")
        stamp = os.stat(self.path(path))
        self.write(path, good[:-70] + bytes([good[-70] ^ 1]) + good[-69:])
        for words in (["validate"], ["validate", "net"], ["validate", "build/libnet.so"], ["run", "net", "--no-build", "--input", "x=x.npy"]):
            message = self.fails(*words, code=3)
            self.assertIn(f"the weights `{path}` cannot be used: the file has damaged data; copy it again, or remove it and build again", message)
        os.utime(self.path(path), ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        self.build()
        self.assertEqual(self.read(path), good)
        self.assertEqual(self.trib("validate", "-q").stdout, "")

    def test_kill_at_any_moment(self):
        self.give_input()
        self.build()
        self.output()
        self.edit("net.tri", "TernaryLinear(1000, 40)", "TernaryLinear(1000, 40, bias=false)")
        seed = random.randrange(1 << 30)
        print("seed", seed)
        rng = random.Random(seed)
        for _ in range(15):
            child = subprocess.Popen([TRIB, "build", "--no-cache"], cwd=self.dir, env={**os.environ, **self.env}, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            any_moment(rng, 0.08)
            child.send_signal(signal.SIGKILL)
            child.wait()
            self.output()  # whichever library is there has its weights
        self.assertEqual([f for f in os.listdir(self.path("build")) if f.endswith(".tmp") and os.path.getsize(self.path("build/" + f)) > 500000], [])
        self.build()
        self.assertEqual(len(self.files()), 1)

    def test_entries_share_equal_weights(self):
        self.write("net.tri", """import nn
layer Net() {
    let lin = nn.BitLinear(1024, 512)
    fn many(x: Tensor<float32, [N, 1024]>) { return lin(x) }
    fn one(x: Tensor<float32, [1, 1024]>) { return lin(x) }
}
""")
        self.write("tri.build", (MANIFEST % "4KiB").replace("entry = Net", "entry = Net.many Net.one"))
        self.build()
        packed = 1024 * 512 // 4
        size = os.path.getsize(self.path("build/" + self.files()[0]))
        self.assertGreater(size, packed)
        self.assertLess(size, 1.5 * packed)

    def test_the_path_is_an_option(self):
        class Options(ctypes.Structure):
            _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_uint32), ("device", ctypes.c_char_p), ("weights", ctypes.c_char_p)]
        self.build()
        elsewhere = self.path("elsewhere.triw")
        shutil.move(self.path("build/" + self.files()[0]), elsewhere)
        library = ctypes.CDLL(self.path("build/libnet.so"))
        library.net_open.restype = ctypes.c_void_p
        library.net_close.argtypes = [ctypes.c_void_p]
        error = ctypes.create_string_buffer(256)
        self.assertIsNone(library.net_open(None, error))
        self.assertIn(b".triw", error.raw)
        options = Options(ctypes.sizeof(Options), 1, None, elsewhere.encode())
        model = library.net_open(ctypes.byref(options), error)
        self.assertIsNotNone(model, error.raw)
        library.net_close(model)

    def test_clean(self):
        self.write("tri.build", MANIFEST % "4KiB" + "    out = lib\n")
        self.build()
        self.trib("clean")
        self.assertFalse(os.path.exists(self.path("lib")))


if __name__ == "__main__":
    unittest.main()
