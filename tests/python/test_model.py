"""trib.load: calls with NumPy and PyTorch tensors, wrong uses, states, memory, threads, processes."""
import asyncio
import copy
import gc
import glob
import os
import pickle
import re
import shutil
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
import torch

import trib
from model_projects import ENTRIES, ModelTest
from project import SLOWER, SOURCE, TRIB, run

RANDOM = np.random.default_rng(5)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def address(array):
    return array.data_ptr() if isinstance(array, torch.Tensor) else array.__array_interface__["data"][0]


class Calls(ModelTest):
    def setUp(self):
        self.model = trib.load(self.kinds)

    def test_same_as_the_command(self):
        x, y = floats(5, 4), floats(5, 3)
        np.save(os.path.join(self.tmp, "x.npy"), x)
        np.save(os.path.join(self.tmp, "y.npy"), y)
        run([TRIB, "run", "kinds", "--no-build", "--input=x=../x.npy", "--input=y=../y.npy", "--output=out0=../o.npy"], self.dir, env=self.env)
        np.testing.assert_array_equal(self.model(x, y).out0, np.load(os.path.join(self.tmp, "o.npy")))

    def test_names_and_order(self):
        x, y = floats(5, 4), floats(5, 3)
        for got in (self.model(x, y), self.model(x, y=y), self.model(y=y, x=x), self.model.forward(x, y), self.model.entries["forward"](x, y)):
            np.testing.assert_array_equal(got.out0, np.concatenate([x, y], 1))
            np.testing.assert_array_equal(got["out1"], 2 * x)
        first, second = got
        self.assertIs(first, got[0])
        self.assertIs(second, got.out1)
        self.assertEqual(tuple(got.keys()), ("out0", "out1"))
        self.assertIn("out1=array", repr(got))
        with self.assertRaisesRegex(KeyError, "did you mean `forward`: the entries are forward"):
            self.model.entries["forwrd"]
        with self.assertRaisesRegex(KeyError, "did you mean `out0`"):
            got["out_0"]
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(got)).out1, second)

    def test_types_of_numpy(self):
        for entry, dtype in (("same", "f4"), ("half", "f2"), ("double", "f8"), ("bytes", "i1"), ("shorts", "i2"), ("ints", "i4"), ("longs", "i8"), ("pixels", "u1")):
            x = RANDOM.integers(-9, 9, 33).astype(dtype)
            got = getattr(self.model, entry)(x)
            self.assertEqual(got.dtype, x.dtype)
            np.testing.assert_array_equal(got, x)
        flags = RANDOM.integers(0, 2, 33).astype(bool)
        np.testing.assert_array_equal(self.model.flags(flags), ~flags)
        trits = RANDOM.integers(-1, 2, 33).astype(np.int8)
        np.testing.assert_array_equal(self.model.trits(trits), -trits)

    def test_types_of_torch(self):
        for entry, dtype in (("same", torch.float32), ("half", torch.half), ("brain", torch.bfloat16), ("double", torch.double), ("bytes", torch.int8), ("pixels", torch.uint8), ("shorts", torch.int16),
                             ("ints", torch.int32), ("longs", torch.int64)):
            x = torch.randint(-9, 9, (33,)).to(dtype)
            got = getattr(self.model, entry)(x)
            self.assertIsInstance(got, torch.Tensor)
            self.assertEqual(got.dtype, dtype)
            self.assertTrue(torch.equal(got, x))
        flags = torch.randint(0, 2, (33,)).bool()
        self.assertTrue(torch.equal(self.model.flags(flags), ~flags))
        self.assertIsInstance(self.model(torch.ones(2, 4), np.ones((2, 3), "f4")).out0, torch.Tensor)
        self.assertIsInstance(self.model(np.ones((2, 4), "f4"), torch.ones(2, 3)).out0, torch.Tensor)

    def test_bfloat16_of_numpy(self):
        """With ml_dtypes, which Debian lacks: here a module of its name."""
        try:
            import ml_dtypes
        except ImportError:
            with self.assertRaisesRegex(trib.DtypeError, "ml_dtypes"):
                self.model.brain(np.ones(3, np.float32))
            return
        x = np.arange(3).astype(ml_dtypes.bfloat16)
        got = self.model.brain(x)
        self.assertEqual(got.dtype, x.dtype)
        np.testing.assert_array_equal(got, x)

    def test_numbers(self):
        np.testing.assert_array_equal(self.model.scale(np.ones(3, np.float32), 2, plus=True + 0), [3, 3, 3])
        np.testing.assert_array_equal(self.model.scale(np.ones(3, np.float32), np.float32(0.5), np.array(1, np.int32)), [1.5] * 3)
        np.testing.assert_array_equal(self.model.scale(torch.ones(3), 0.5, torch.tensor(1, dtype=torch.int32)), [1.5] * 3)
        total = self.model.total(np.ones(5, np.float32))
        self.assertEqual((total.shape, float(total)), ((), 5.0))
        self.assertEqual(self.model.total(torch.ones(5)).shape, ())

    def test_layouts(self):
        x = floats(8, 8)
        stored = np.lib.stride_tricks.as_strided(np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32), (64,), (4,))
        cases = [x.T[0], x[::-1, 3], x[:, ::2][3], x[0, ::-1], np.broadcast_to(np.float32(3), (5,)), x[:0, 0], stored, x.astype(x.dtype)[0].view(np.memmap)]
        readonly = x[1].copy()
        readonly.flags.writeable = False
        for a in cases + [readonly]:
            np.testing.assert_array_equal(self.model.same(a), a)
        for t in (torch.from_numpy(x).T[0], torch.from_numpy(x)[:, ::2][1], torch.ones(1).expand(7), torch.empty(0), torch.nn.Parameter(torch.ones(2), False), torch.ones(3, requires_grad=True).detach()):
            self.assertTrue(torch.equal(self.model.same(t), t))
        fortran = np.asfortranarray(floats(5, 4))
        np.testing.assert_array_equal(self.model(fortran, floats(5, 0)).out0, fortran)

    def test_capsules_and_other_frameworks(self):
        class Other:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **_):
                return self.array.__dlpack__()

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        x = floats(5)
        np.testing.assert_array_equal(self.model.same(x.__dlpack__()), x)
        np.testing.assert_array_equal(self.model.same(Other(x)), x)
        np.testing.assert_array_equal(self.model.same(Other(x[::2])), x[::2])
        with self.assertRaises(trib.DtypeError):
            self.model.same(Other(x.astype(np.float64)))

    def test_sizes(self):
        self.assertEqual(self.model.stack(floats(2, 12)).shape, (6, 4))
        self.assertEqual(self.model.stack(floats(0, 12)).shape, (0, 4))
        np.testing.assert_array_equal(self.model.fixed(np.ones((2, 3), np.float32)), np.full((2, 3), 2))

    def test_out(self):
        for make in (lambda *s: np.empty(s, np.float32), torch.empty):
            x, y = np.ones((2, 4), np.float32), np.ones((2, 3), np.float32)
            a, b = make(2, 7), make(2, 4)
            for out in ((a, b), [a, b], {"out1": b, "out0": a}):
                got = self.model(x, y, out=out)
                self.assertIs(got.out0, a)
                self.assertIs(got.out1, b)
                np.testing.assert_array_equal(np.asarray(b), 2 * x)
        one = np.empty(4, np.float32)
        self.assertIs(self.model.same(floats(4), out=one), one)
        flags = np.empty(3, bool)
        np.testing.assert_array_equal(self.model.flags(np.array([True, False, True]), out=flags), [False, True, False])

    def test_description(self):
        d = self.model.describe()
        self.assertEqual((d.name, d.version, d.backend, len(d.entries)), ("kinds", "1.5", "cpu", len(ENTRIES)))
        self.assertEqual(d.entries[0].outputs[0].shape, ("N", "M + 4"))
        self.assertEqual(d.entries[0].dims, ("N", "M"))
        self.assertIn("stack(x: float32[A, B * 3]) -> (out: float32[A * 3, B])", repr(d))
        self.assertIn("<td", d._repr_html_())
        self.assertIn("trits(x: trit[N])", repr(self.model))
        self.assertIn("fixed", repr(self.model.fixed))

    def test_profile(self):
        for _ in range(3):
            self.model.product(floats(20, 20))
        p = self.model.profile()
        self.assertEqual(p.runs, 3)
        self.assertEqual([s.calls for s in p.statements if s.parent is None], [3])
        self.assertIn("kinds.tri:18", repr(p))
        self.assertIn("<td>", p._repr_html_())
        self.model.profile_reset()
        self.assertEqual(self.model.profile().runs, 0)


class Mistakes(ModelTest):
    def raises(self, kind, text, call, *args, **words):
        with self.assertRaisesRegex(kind, text) as caught:
            call(*args, **words)
        self.assertIsInstance(caught.exception, trib.Error)

    def test_of_calls(self):
        m, x = trib.load(self.kinds), floats(4)
        sparse, big = torch.ones(4).to_sparse(), x.astype(">f4")
        for kind, text, call in (
            (trib.ArgumentError, r"same\(x\) was called without input `x`", lambda: m.same()),
            (trib.ArgumentError, "with 2 inputs: pass 1", lambda: m.same(x, x)),
            (trib.ArgumentError, "no input `y`", lambda: m.same(x, y=x)),
            (trib.ArgumentError, "no input `plas`, did you mean `plus`", lambda: m.scale(x, 1, plas=2)),
            (trib.ArgumentError, "input `x` twice", lambda: m.same(x, x=x)),
            (trib.ArgumentError, "is a list: pass a NumPy array", lambda: m.same([1.0])),
            (trib.ArgumentError, "is a NoneType", lambda: m.same(None)),
            (trib.ArgumentError, "masked", lambda: m.same(np.ma.masked_array(x.astype("f8")))),
            (trib.DtypeError, r"expected float32, got float64: convert it with .astype\(numpy.float32\)", lambda: m.same(x.astype("f8"))),
            (trib.DtypeError, r"got float64: convert it with .to\(torch.float32\)", lambda: m.same(torch.ones(2).double())),
            (trib.DtypeError, "byte order", lambda: m.same(big)),
            (trib.DtypeError, "got object", lambda: m.same(np.array([None]))),
            (trib.DtypeError, "expected bool", lambda: m.flags(np.zeros(3, np.uint8))),
            (trib.DtypeError, "expected trit, got float32: quantize", lambda: m.trits(x)),
            (trib.DtypeError, "expected int32, got float", lambda: m.scale(x, 1.0, 1.5)),
            (trib.RangeError, "pass -2147483648 to", lambda: m.scale(x, 1.0, 1 << 40)),
            (trib.RangeError, "a trit is -1, 0 or 1", lambda: m.trits(np.array([0, 2], np.int8))),
            (trib.RangeError, r"kinds.tri:17: index 9 is out of range.*", lambda: m.take(x, np.array([9]))),
            (trib.ShapeError, r"input y: expected \[N=2, M=3\], got \[3, 3\]", lambda: m(floats(2, 4), floats(3, 3))),
            (trib.ShapeError, r"expected \[2, 3\], got \[3, 2\]", lambda: m.fixed(floats(3, 2))),
            (trib.ShapeError, r"expected \[N\], got \[2, 2\]", lambda: m.same(floats(2, 2))),
            (trib.ShapeError, "got 9", lambda: m.same(np.zeros([1] * 9, "f4"))),
            (trib.ShapeError, "input x", lambda: m.stack(floats(2, 4))),
            (trib.GradientError, "detach", lambda: m.same(torch.ones(2, requires_grad=True))),
            (trib.DeviceError, "meta", lambda: m.same(torch.ones(2, device="meta"))),
            (trib.ArgumentError, "to_dense", lambda: m.same(sparse)),
            (trib.AssertionFailed, "it is not", lambda: m.checked(x, False)),
            (trib.ArgumentError, "read-only", lambda: m.same(x, out=np.broadcast_to(np.float32(1), (4,)))),
            (trib.ArgumentError, "overlaps that of x", lambda: m.same(x, out=x)),
            (trib.ArgumentError, "overlaps that of out0", lambda: m(floats(2, 4), floats(2, 0), out=[x2 := floats(2, 4), x2])),
            (trib.ArgumentError, "not dense", lambda: m.same(x, out=floats(8)[::2])),
            (trib.ArgumentError, "out has 2 tensors for 1", lambda: m.same(x, out=[x, x])),
            (trib.ArgumentError, "out has no `out0`", lambda: m(floats(2, 4), floats(2, 0), out={"out1": floats(2, 4)})),
            (trib.ArgumentError, "out has `y`", lambda: m.same(x, out={"y": x})),
            (trib.ArgumentError, "out: out is a int", lambda: m.same(x, out=3)),
            (trib.ShapeError, r"output out: expected \[N=4\], got \[5\]", lambda: m.same(x, out=floats(5))),
            (trib.DtypeError, "out: out: expected float32", lambda: m.same(x, out=np.zeros(4))),
            (trib.ArgumentError, "no states", m.reset),
            (trib.ArgumentError, "no states", m.state_save),
            (trib.ArgumentError, "no states", lambda: m.state_load(b"")),
            (trib.ArgumentError, "pickle its model", lambda: pickle.dumps(m.same)),
        ):
            self.raises(kind, text, call)
        np.testing.assert_array_equal(m.same(x), x)

    def test_of_load(self):
        other = os.path.join(self.tmp, "other.so")
        run(["cc", "-shared", "-x", "c", "/dev/null", "-o", other], self.tmp)
        for kind, text, path, words in (
            (trib.NotFoundError, "build it with trib.build", "/nowhere/libx.so", {}),
            (trib.LoadError, "a folder", self.dir, {}),
            (trib.LoadError, "cannot load .*/tri.build: ", os.path.join(self.dir, "tri.build"), {}),
            (trib.LoadError, "trib did not build it", other, {}),
            (trib.DeviceError, "was built for cpu, not for gpu", self.kinds, {"device": "gpu"}),
            (trib.DeviceError, "was built for cpu, not for opencl", self.kinds, {"device": "opencl:1"}),
            (trib.ArgumentError, "no capacity T: it has none", self.kinds, {"capacities": {"T": 3}}),
            (trib.ArgumentError, "no capacity S", self.memory, {"capacities": {"S": 3}}),
            (trib.ArgumentError, "at least 1", self.memory, {"capacities": {"T": 0}}),
            (trib.ArgumentError, "is no name", self.memory, {"capacities": {3: 3}}),
            (trib.ArgumentError, "threads is -1", self.kinds, {"threads": -1}),
            (trib.ArgumentError, "open_timeout_ms is -1", self.kinds, {"open_timeout_ms": -1}),
            (trib.ArgumentError, "contexts is 'a'", self.kinds, {"contexts": "a"}),
        ):
            self.raises(kind, text, trib.load, path, **words)

    def test_of_weights(self):
        project = os.path.join(self.tmp, "digits")
        shutil.copytree(os.path.join(SOURCE, "examples/digits"), project, ignore=shutil.ignore_patterns("build", ".trib"))
        with open(os.path.join(project, "tri.build"), "a") as file:
            file.write("    weights.inside = 0\n")
        run([TRIB, "build"], project, env=self.env)
        library = os.path.join(project, "build/libdigits.so")
        (weights,) = glob.glob(os.path.join(project, "build/*.triw"))
        moved, x = os.path.join(self.tmp, "moved.triw"), floats(2, 64)
        want = trib.load(library, verify=True)(x)
        os.rename(weights, moved)
        self.raises(trib.WeightsError, "pass its path as `weights`", trib.load, library)
        self.raises(trib.WeightsError, "tri.build", trib.load, library, weights=os.path.join(project, "tri.build"))
        np.testing.assert_array_equal(trib.load(library, weights=moved)(x), want)

    def test_closed(self):
        with trib.load(self.kinds) as m:
            m.same(floats(3))
        for call in (lambda: m.same(floats(3)), m.profile):
            self.raises(trib.ClosedError, "kinds was closed: load it again", call)
        m.close()

    def test_names_of_the_module(self):
        with self.assertRaisesRegex(AttributeError, "did you mean `load`"):
            trib.laod
        with self.assertRaisesRegex(AttributeError, "kinds has no entry `produkt`, did you mean `product`"):
            trib.load(self.kinds).produkt
        self.assertFalse(hasattr(trib.load(self.kinds), "_repr_png_"))
        for name in trib.__all__:
            self.assertTrue(getattr(trib, name).__doc__, name)

    def test_stubs_have_all_names(self):
        with open(os.path.join(os.path.dirname(trib.__file__), "__init__.pyi")) as file:
            stubs = re.findall(r" as (\w+)$", file.read(), re.M)
        self.assertEqual(sorted(stubs), sorted(trib.__all__))
        with open(os.path.join(os.path.dirname(trib.__file__), "_native.pyi")) as file:
            native = re.findall(r"^(?:class )?(\w+)[:(]", file.read(), re.M)
        self.assertEqual(sorted(native), sorted(n for n in vars(trib._native) if not n.startswith("_")))


class States(ModelTest):
    def test_growth(self):
        m, rows = trib.load(self.memory), floats(8, 2)
        for end in (1, 3, 3, 8):
            got = m(rows[len(got.out0) if end > 1 else 0:end])
            np.testing.assert_array_equal(got.out0, rows[:end])
        self.assertEqual(int(got.out1[0]), 11)
        with self.assertRaisesRegex(trib.CapacityError, "capacity is 8.*call reset"):
            m(rows[:1])
        m.reset()
        np.testing.assert_array_equal(m(rows[:2]).out0, rows[:2])
        self.assertEqual(int(m(rows[:0]).out1[0]), 9)

    def test_saved(self):
        m, n = trib.load(self.memory), trib.load(self.memory, capacities={"T": 3})
        rows = floats(3, 2)
        m(rows[:2])
        n.state_load(m.state_save())
        for model in (m, n, copy.copy(n)):
            got = model(rows[2:])
            np.testing.assert_array_equal(got.out0, rows if model in (m, n) else rows[2:])
        m(rows)
        with self.assertRaises(trib.CapacityError):
            n.state_load(m.state_save())
        with self.assertRaisesRegex(trib.ArgumentError, "no saved states"):
            n.state_load(b"nothing")
        np.testing.assert_array_equal(n(rows[:0]).out0, rows)

    def test_sizes_that_do_not_fit(self):
        m = trib.load(self.memory)
        self.assertEqual(str(m.cut.description), "cut(x: float32[N]) -> (out: float32[N - 3])")
        self.assertEqual(m.cut(floats(3)).shape, (0,))
        with self.assertRaisesRegex(trib.ShapeError, "a dimension becomes negative: N = 2"):
            m.cut(floats(2))
        self.assertEqual(m.cut(floats(5)).shape, (2,))

    def test_new(self):
        m, rows = trib.load(self.memory), floats(2, 2)
        m(rows)
        np.testing.assert_array_equal(m.new()(rows[:1]).out0, rows[:1])
        np.testing.assert_array_equal(m(rows[:0]).out0, rows)

    def test_one_run_at_a_time(self):
        m, x = trib.load(self.memory, threads=1), floats(700, 700)
        caught = []
        thread = threading.Thread(target=lambda: [insist(m.slow, x) for _ in range(20)])
        thread.start()
        while thread.is_alive():
            try:
                m(floats(0, 2))
            except trib.BusyError as error:
                caught.append(str(error))
        self.assertTrue(caught)
        self.assertIn("new()", caught[0])


class Sharing(ModelTest):
    def test_no_copy(self):
        """The library reads the caller's memory: seen through `out` beside it, and through the owner that is held."""
        from trib import _native

        seen = []

        class Watched(np.ndarray):
            def __dlpack__(self, **_):
                seen.append(address(self))
                return super().__dlpack__()

        m, x = trib.load(self.kinds), floats(1000)
        watched = x.view(Watched)
        np.testing.assert_array_equal(m.same(watched), x)
        self.assertEqual(seen, [address(x)])
        self.assertEqual(trib.load.__module__, "trib.model")
        self.assertEqual(_native.DTYPES[8], "float32")

    def test_outputs_are_their_own(self):
        m = trib.load(self.kinds)
        x = floats(10)
        a, b = m.same(x), m.same(x)
        self.assertEqual(len({address(a), address(b), address(x)}), 3)
        self.assertTrue(a.flags.owndata and a.flags.writeable)
        t = torch.from_numpy(x)
        self.assertNotEqual(address(m.same(t)), address(t))

    def test_leaks(self):
        """Calls of every kind keep neither memory nor references."""
        m, x, t = trib.load(self.kinds, threads=1), floats(4, 4), torch.ones(4, 4)
        flags, y = np.array([True, False]), floats(4, 0)

        def wrong(call):
            try:
                call()
            except trib.Error:
                pass

        def calls():
            m(x, y)
            m(t, y=t)
            m.same(x[0])
            m.same(x[:, 0])
            m.same(x[0], out=x[1])
            m.flags(flags)
            m.scale(x[0], 1.0, 1)
            wrong(lambda: m.same(flags))
            wrong(lambda: m.same())
            wrong(lambda: m.same(x))
            wrong(lambda: m.checked(x[0], False))

        def resident():
            gc.collect()
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096

        for _ in range(2000):
            calls()
        counts, before = [sys.getrefcount(o) for o in (x, t, flags, m, None)], resident()
        for _ in range(10000):
            calls()
        self.assertLess(resident() - before, 2 << 20)
        self.assertLess(max(abs(sys.getrefcount(o) - n) for o, n in zip((x, t, flags, m, None), counts)), 50)

    def test_models_are_freed(self):
        for _ in range(20):
            trib.load(self.kinds, contexts=2)(floats(1, 4), floats(1, 1))
        gc.collect()
        with open("/proc/self/maps") as file:
            self.assertNotIn("libkinds", file.read())

    def test_a_library_that_was_replaced(self):
        path = os.path.join(self.tmp, "libreplaced.so")
        shutil.copy(self.kinds, path)
        old = trib.load(path)
        shutil.copy(self.memory, path + ".new")
        os.rename(path + ".new", path)
        self.assertEqual(trib.load(path).name, "memory")
        self.assertEqual(old.new().name, "kinds")


class Threads(ModelTest):
    def test_pool(self):
        for contexts in (1, 3, 8):
            m = trib.load(self.kinds, threads=1, contexts=contexts)
            failures = []

            def work(seed):
                random = np.random.default_rng(seed)
                for _ in range(100):
                    x = random.standard_normal((random.integers(1, 40),) * 2).astype(np.float32)
                    if not np.allclose(m.product(x), x @ x, atol=1e-3):
                        failures.append(seed)

            threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])
            self.assertLessEqual(len(m._library.profile()), contexts)
            self.assertEqual(m.profile().runs, 800)

    def test_the_pool_has_a_limit(self):
        m, x = trib.load(self.kinds, threads=1, contexts=2), floats(500, 500)
        threads = [threading.Thread(target=lambda: [m.product(x) for _ in range(5)]) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(m._library.profile()), 2)

    def test_other_threads_go_on_during_a_run(self):
        m, x, took = trib.load(self.kinds, threads=1, contexts=4), floats(2500, 2500), []

        def work():
            start = time.monotonic()
            m.product(x)
            took.append(time.monotonic() - start)

        thread = threading.Thread(target=work)
        thread.start()
        longest, last = 0, time.monotonic()
        while not took:
            m.same(x[0])
            now = time.monotonic()
            longest, last = max(longest, now - last), now
        thread.join()
        self.assertLess(longest, took[0] / 2)

    def test_close_during_calls(self):
        m, x = trib.load(self.kinds, threads=1, contexts=2), floats(400, 400)
        ends, called = [], threading.Barrier(5)

        def work():
            try:
                m.product(x)
                called.wait(60 * SLOWER)
                while True:
                    m.product(x)
            except trib.ClosedError:
                ends.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        called.wait(60 * SLOWER)
        m.close()
        for thread in threads:
            thread.join(60 * SLOWER)
        self.assertEqual(len(ends), 4)

    def test_asyncio(self):
        m = trib.load(self.kinds, threads=1, contexts=2)
        inputs = [floats(50, 50) for _ in range(20)]

        async def all_of_them():
            wrong = m.same.run_async(x=inputs[0])
            results = await asyncio.gather(*(m.product.run_async(x) for x in inputs), wrong, return_exceptions=True)
            return results, await m.run_async(floats(2, 4), y=floats(2, 1))

        (*results, wrong), both = asyncio.run(all_of_them())
        for got, x in zip(results, inputs):
            np.testing.assert_allclose(got, x @ x, atol=1e-3)
        self.assertIsInstance(wrong, trib.ShapeError)
        self.assertEqual(both.out0.shape, (2, 5))
        m.close()

    def test_an_interpreter_that_ends_during_calls(self):
        code = "import sys, threading, trib, numpy\nm = trib.load(sys.argv[1])\nx = numpy.ones((300, 300), 'f4')\n" \
               "def work():\n    while True: m.product(x)\nfor i in range(3): threading.Thread(target=work, daemon=True).start()\nm.product(x)\n"
        done = subprocess.run([sys.executable, "-c", code, self.kinds], capture_output=True, text=True, timeout=60 * SLOWER)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


def is_running(model):
    """Looks without running it: a run here would make the other thread's call fail."""
    try:
        model.state_save()
    except trib.BusyError:
        return True
    return False


def insist(call, *args):
    """Calls a model with states until no other call is in the way."""
    while True:
        try:
            return call(*args)
        except trib.BusyError:
            pass


class Processes(ModelTest):
    def in_child(self, check):
        """Forks; the child's result is that of check()."""
        child = os.fork()
        if not child:
            try:
                code = 0 if check() else 1
            except BaseException as error:  # the parent's test reports it
                sys.stderr.write(f"{type(error).__name__}: {error}\n")
                code = 2
            os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_pickle(self):
        m = trib.load(self.memory, threads=1, capacities={"T": 3})
        m(floats(2, 2))
        other = pickle.loads(pickle.dumps(m))
        self.assertEqual(other.path, m.path)
        self.assertEqual(other(floats(3, 2)).out0.shape, (3, 2))
        with self.assertRaises(trib.CapacityError):
            other(floats(1, 2))

    def test_fork_of_an_idle_model(self):
        """Also after workers and awaiting threads were started."""
        m, states, x = trib.load(self.kinds, threads=3), trib.load(self.memory), floats(300, 300)
        want = m.product(x)
        rows = states(floats(2, 2)).out0
        asyncio.run(m.product.run_async(x))
        self.in_child(lambda: np.array_equal(m.product(x), want) and np.array_equal(states(floats(0, 2)).out0, rows))
        self.in_child(lambda: np.array_equal(asyncio.run(m.product.run_async(x)), want))
        np.testing.assert_array_equal(m.product(x), want)

    def test_fork_during_runs(self):
        m, states, x = trib.load(self.kinds, threads=1, contexts=2), trib.load(self.memory, threads=1), floats(1500, 1500)
        small = floats(3)

        def refused():
            try:
                states(floats(1, 2))
            except trib.ForkError as error:
                return "load it again" in str(error) and states.new()(floats(1, 2)).out0.shape == (1, 2)

        threads = [threading.Thread(target=insist, args=(call, x)) for call in (m.product, m.product, states.slow)]
        for thread in threads:
            thread.start()
        while not is_running(states):
            pass
        self.in_child(lambda: np.array_equal(m.same(small), small) and refused())
        for thread in threads:
            thread.join()
        self.assertEqual(states(floats(1, 2)).out0.shape, (1, 2))

    def test_import_is_light(self):
        code = "import sys, trib\nassert not {'numpy', 'torch', 'asyncio'} & set(sys.modules), sys.modules\n" \
               "m = trib.load(sys.argv[1])\nm.describe()\nassert not {'numpy', 'torch', 'asyncio'} & set(sys.modules)\n" \
               "import numpy\nsys.modules['torch'] = None\nassert m.same(numpy.ones(2, 'f4')).sum() == 2\n"
        run([sys.executable, "-c", code, self.kinds], self.tmp)


class Devices(ModelTest):
    """Alone in its process: OpenCL drivers do not survive forks."""

    def test_opencl(self):
        run([TRIB, "build", "kinds", "--emit=opencl"], self.dir, env=self.env)
        library, x = os.path.join(self.dir, "build/libkinds_opencl.so"), floats(5)
        with self.assertRaisesRegex(trib.DeviceError, "within 1 ms: "):  # the program is not compiled yet
            trib.load(library, open_timeout_ms=1)
        np.testing.assert_array_equal(trib.load(library, timeout_ms=600_000).same(x), x)
        for device in (None, "opencl", "opencl:0", "0"):
            np.testing.assert_array_equal(trib.load(library, device=device).same(x), x)
        for device in ("cpu", "opencl:99"):
            with self.assertRaises(trib.DeviceError):
                trib.load(library, device=device)
        m = trib.load(library)
        child = os.fork()
        if not child:
            try:
                m.same(x)
            except trib.ForkError:
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        np.testing.assert_array_equal(m.same(x), x)
        self.assertNotEqual(m.device, "cpu")
        self.assertEqual(trib.load(self.kinds).device, "cpu")

    def test_fallback(self):
        """Where no device is, the CPU runs the model, with a warning, unless the caller wants a device."""
        project = os.path.join(self.tmp, "fallback")
        shutil.copytree(self.dir, project)
        with open(os.path.join(project, "tri.build"), "a") as file:
            file.write("\nprofile fallback\n    fallback = cpu\n")
        run([TRIB, "build", "kinds", "--emit=opencl", "--profile=fallback"], project, env=self.env)
        code = """if True:
            import os, sys, warnings, trib, numpy as np
            for device in None, "cpu", "opencl", "opencl:0", "0":
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    try:
                        m = trib.load(sys.argv[1], device=device)
                        child = device and os.fork()
                        if child:
                            print(os.waitpid(child, 0)[1], end=" ", flush=True)
                        print(m.device, m.same(np.ones(2, "f4")), *(w.message for w in said), flush=True)
                        if child == 0:
                            os._exit(0)
                    except trib.DeviceError as error:
                        print(error)
        """
        said = run([sys.executable, "-c", code, os.path.join(project, "build/libkinds_opencl.so")], self.tmp, env={"OCL_ICD_VENDORS": "/nonexistent"}).stdout.splitlines()
        self.assertRegex(said[0], r"^cpu \[1. 1.\] kinds runs on the CPU: no OpenCL platform is installed")
        self.assertEqual(said[1:3], ["cpu [1. 1.]", "0 cpu [1. 1.]"])  # a forked child may use the processor
        self.assertRegex(said[3], r"^cpu \[1. 1.\] kinds runs on the CPU: no OpenCL platform is installed")
        for line in said[5:]:  # a device that is named is not replaced
            self.assertRegex(line, "^no OpenCL platform is installed")
        self.assertEqual(len(said), 7)


if __name__ == "__main__":
    unittest.main()
