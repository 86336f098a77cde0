"""Lazy libraries give the same results as eager ones, bit by bit, for every compiling process and with every file missing."""
import ctypes
import os
import shutil
import sys
import unittest

import numpy as np

from inference import InferenceTest
from project import SOURCE, TRIB, run

sys.path.insert(0, os.path.join(SOURCE, "tests", "diff"))
import test_control
import test_programs

LIBTRIB = os.path.join(os.path.dirname(TRIB), "lib", "trib", "libtrib.so")
ERR_COMPILE = 9


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * 8), ("rank", ctypes.c_int32), ("dtype", ctypes.c_int32)]


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char * 252)]


def tensor(array):
    t = Tensor(array.ctypes.data, rank=array.ndim, dtype=8)
    for i, n in enumerate(array.shape):
        t.shape[i] = n
    return t


class Model:
    """One opened model of a library in this process, used as a C program would."""

    def __init__(self, path, name):
        self.library, self.name = ctypes.CDLL(path), name
        getattr(self.library, name + "_open").restype = ctypes.c_void_p
        self.error = Error()
        self.model = ctypes.c_void_p(getattr(self.library, name + "_open")(None, ctypes.byref(self.error)))

    def run(self, entry, x, y):
        io = (Tensor * 2)(tensor(x), tensor(y))
        return getattr(self.library, entry)(self.model, io, ctypes.byref(self.error))

    def close(self):
        getattr(self.library, self.name + "_close")(self.model)


NET = """import nn

layer Half(n: int) {
    let fc = nn.Linear(n, n)

    fn forward(x: Tensor<float32, [N, n]>) -> Tensor<float32, [N, n]> {
        return tanh(fc(x))
    }
}

layer Net() {
    let a = [Half(8), Half(8), Half(8)]
    let b = [Half(16), Half(16)]

    fn left(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {
        let y = x
        for h in a {
            y = h(y)
        }
        return y
    }

    fn right(x: Tensor<float32, [N, 16]>) -> Tensor<float32, [N, 16]> {
        let y = x
        for h in b {
            y = h(y)
        }
        return y
    }
}
"""
BUILD = """project lazy
    version = 1.0

model net
    sources = net.tri
    entry = Net.left Net.right
"""


class Programs(test_programs.Programs):
    """All programs of tests/diff at two levels; a second process finds every unit in the cache, from which an eager build takes none."""

    def same(self, level):
        self.trib("build", level, "--no-cache", "--emit", "library")
        self.trib("build", level, "--lazy", "--emit", "library", "--out", "lazy")
        for again in range(2):
            for name, (specs, _, function) in test_programs.PROGRAMS.items():
                with self.subTest(program=name, level=level, again=again), np.errstate(all="ignore"):
                    inputs = {k: test_programs.draw(np.random.default_rng(7), s, {"N": 5, "M": 3, "T": 5}) for k, s in specs.items()}
                    want = function(self.weights[name], *inputs.values())
                    count = len(want) if isinstance(want, tuple) else 0
                    eager = self.infer(f"build/lib{name}.so", inputs, count)
                    lazy = self.infer(f"lazy/lib{name}.so", inputs, count)
                    for i, (e, g) in enumerate(zip(eager, lazy)):
                        self.assertEqual(e.tobytes(), g.tobytes(), f"result {i}")
        self.trib("build", level, "--emit", "library", "--out", "eager")  # whatever lazy libraries left in the cache
        for name in test_programs.PROGRAMS:
            self.assertTrue(self.read(f"build/lib{name}.so") == self.read(f"eager/lib{name}.so"), name)

    def test_every_level_against_numpy(self):
        self.same("-O1")
        self.same("-O0")

    test_interpreter_against_numpy = None


class Control(test_control.Control):
    """Random branches and loops."""

    def trib(self, *args, **more):
        return super().trib(*args, *(["--lazy"] if args[0] == "build" else []), **more)


class Calls(InferenceTest):
    """Who compiles, what the cache and the record say of it, and what is said when it cannot be done."""

    def setUp(self):
        super().setUp()
        self.write("net.tri", NET)
        self.write("tri.build", BUILD)
        self.x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 8)

    def program(self, *lines, **env):
        """A Python process that has the library open as `m`; its output."""
        head = ["import os, sys, threading", "import numpy as np", "from test_lazy import Model", f"m = Model({self.path('lazy/libnet.so')!r}, 'net')",
                "x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 8)", "y = np.zeros_like(x)"]
        here = os.path.join(SOURCE, "tests", "lazy")
        paths = {"PYTHONPATH": os.pathsep.join([here, os.path.join(SOURCE, "tests")])}
        return run([sys.executable, "-c", "\n".join([*head, *lines])], self.dir, True, {**self.env, **paths, **env}).stdout

    def left(self, **env):
        return self.program("code = m.run('net_left_run', x, y)", "print(code, y.tobytes().hex(), m.error.message.decode())", **env)

    def lazy(self):
        units = self.build("--lazy", "--out", "lazy")["units"]
        self.assertEqual(units["compiled"], 0)
        return units["later"]

    def eager(self):
        self.trib("build", "--no-cache")
        np.save(self.path("x.npy"), self.x)
        self.trib("run", "build/libnet.so", "--entry", "left", "--input", "x=x.npy", "--output", "out=y.npy")
        return f"0 {np.load(self.path('y.npy')).tobytes().hex()} \n"

    def test_only_what_is_called_is_compiled(self):
        want, later = self.eager(), self.lazy()
        self.assertGreater(later, 1)
        self.assertEqual(self.left(), want)
        left = self.build("--lazy", "--out", "again")["units"]
        self.assertEqual(left["later"] + left["reused"], later)
        self.assertTrue(0 < left["later"] < later, left)  # the other entry was not called
        text = self.trib("build", "--lazy", "--out", "third").stdout
        self.assertIn(f"trib: {left['later']} left for their first call, {left['reused']} in the cache", text)

    def test_an_eager_build_takes_what_was_called(self):
        self.trib("build", "--no-cache", "--out", "fresh")
        shutil.rmtree(self.path(".trib"))  # which has what the first build compiled
        self.lazy()
        self.left()
        units = self.build("--out", "after")["units"]
        self.assertTrue(0 < units["compiled"] < units["total"], units)
        self.assertEqual(self.read("after/libnet.so"), self.read("fresh/libnet.so"))

    def test_second_process_compiles_nothing(self):
        want = self.eager()
        self.lazy()
        self.left()
        os.rename(self.generator(), self.generator() + ".away")  # a copy of the installation
        self.assertEqual(self.left(), want)

    def generator(self):
        """Moves the project to an installation of trib of its own, and gives the path of its code generator."""
        folder = os.path.join(self.tmp, "lib", "trib")
        if not os.path.isdir(folder):  # with the shared libraries that it links in a debug build
            shutil.copytree(os.path.dirname(os.path.dirname(LIBTRIB)), os.path.dirname(folder), ignore=shutil.ignore_patterns("*.a"))
        self.env["TRIB_LIBRARY"] = os.path.join(folder, "libtrib.so")
        return os.path.join(folder, "libtrib-codegen.so")

    def test_threads_that_call_at_once(self):
        want = self.eager()
        self.lazy()
        got = self.program("from concurrent.futures import ThreadPoolExecutor", "gate = threading.Barrier(8)", "def call(i):",
                           f"    one, y = Model({self.path('lazy/libnet.so')!r}, 'net'), np.zeros_like(x)", "    gate.wait()",
                           "    code = one.run('net_left_run', x, y)", "    one.close()", "    return f'{code} {y.tobytes().hex()} '",
                           "with ThreadPoolExecutor(8) as pool:", "    print('\\n'.join(pool.map(call, range(8))))")
        self.assertEqual(got, want * 8)

    def test_cache_that_is_gone_or_cannot_be_written(self):
        want = self.eager()
        self.lazy()
        self.left()
        shutil.rmtree(self.env["XDG_CACHE_HOME"])
        self.assertEqual(self.left(), want)
        self.assertEqual(self.left(TRIB_CACHE="false"), want)
        self.assertEqual(self.left(TRIB_CACHE_DIR="/proc/none"), want)
        self.assertEqual(self.left(TRIB_CACHE_READ_ONLY="true"), want)

    def test_libtrib_that_is_missing_or_of_another_build(self):
        self.lazy()
        said = self.left(TRIB_LIBRARY="/nowhere/libtrib.so")
        self.assertTrue(said.startswith(f"{ERR_COMPILE} "), said)
        self.assertIn("libtrib.so is not at /nowhere/libtrib.so: set TRIB_LIBRARY", said)
        generator = self.generator()
        with open(generator, "ab") as f:
            f.write(b"another")
        self.assertIn("libtrib-codegen.so is of another version of trib: build the library again", self.left())
        os.remove(generator)
        self.assertIn("libtrib-codegen.so is not beside libtrib.so", self.left())
        del self.env["TRIB_LIBRARY"]
        self.assertTrue(self.left().startswith("0 "))

    def test_run_recovers_when_the_cause_is_gone(self):
        want = self.eager()
        self.lazy()
        got = self.program("os.environ['TRIB_LIBRARY'] = '/nowhere'", "print(m.run('net_left_run', x, y))", "del os.environ['TRIB_LIBRARY']",
                           "print(m.run('net_left_run', x, y), y.tobytes().hex(), '')")
        self.assertEqual(got, f"{ERR_COMPILE}\n{want}")

    def test_damaged_loops(self):
        self.lazy()
        whole = self.read("lazy/libnet.so")
        at = [i for i in range(len(whole)) if whole.startswith(b"LOP4", i)]
        self.assertGreater(len(at), 1)
        for place in at:
            for offset in (0, 5, 40):
                damaged = bytearray(whole)
                damaged[place + offset] ^= 0x55
                self.write("lazy/libnet.so", bytes(damaged))
                said = self.left()
                self.assertTrue(said.startswith("0 ") or (said.startswith(f"{ERR_COMPILE} ") and "is damaged: build it again" in said), said)
                shutil.rmtree(self.env["XDG_CACHE_HOME"], True)

    def test_trib_run(self):
        want = self.eager()
        np.save(self.path("x.npy"), self.x)
        self.trib("run", "--lazy", "--entry", "left", "--input", "x=x.npy", "--output", "out=z.npy")
        self.assertEqual(f"0 {np.load(self.path('z.npy')).tobytes().hex()} \n", want)
        self.edit("net.tri", "tanh(fc(x))", "tanh(fc(x)) + nothing")
        self.assertIn("nothing", self.fails("run", "--lazy", "--entry", "left", "--input", "x=x.npy"))

    def test_open_without_a_build(self):
        want = self.eager()
        self.lazy()
        got = self.program("import ctypes", f"lib = ctypes.CDLL({LIBTRIB!r})", "lib.tri_open_lazy.restype = ctypes.POINTER(ctypes.c_void_p)",
                           "from test_lazy import Error, Tensor, tensor", "error = Error()", "here = os.getcwd()", "os.chdir('/')",
                           "def left():", "    one = lib.tri_open_lazy(here.encode(), b'net', None, ctypes.byref(error))",
                           "    if not one: return error.message.decode()",
                           "    desc = ctypes.cast(one[0], ctypes.POINTER(ctypes.c_void_p))",
                           "    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)(desc[16])",
                           "    code = call(one[1], 0, (Tensor * 2)(tensor(x), tensor(y)), ctypes.byref(error))",
                           "    lib.tri_close_lazy(one)", "    return f'{code} {y.tobytes().hex()} '", "print(left())",
                           "text = open(here + '/net.tri').read()", "open(here + '/net.tri', 'w').write(text.replace('tanh(', 'relu('))", "print(left()[:2])",
                           "open(here + '/net.tri', 'w').write('layer')", "print(left())", "assert os.getcwd() == '/'")
        lines = got.splitlines()
        self.assertEqual(lines[0] + "\n", want)
        self.assertEqual(lines[1], "0 ")
        self.assertRegex(lines[2], r"^net\.tri:1:\d+: error\[E\d+\]: ")


if __name__ == "__main__":
    unittest.main()
