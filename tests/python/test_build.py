"""trib.build and trib.Builder: progress, cancelling, diagnostics, summaries. trib.compile, trib.lazy and the cell magic."""
import json
import os
import re
import signal
import subprocess
import sys
import threading
import unittest
import warnings
from unittest import mock

import numpy as np
import torch

import trib
from project import SOURCE, ProjectTest, run
from trib import compiling, notebook

NET = """\
import nn

layer Gate(width: int) {
    let fc = nn.Linear(width, width, bias=false)
    fn forward(x: Tensor<float32, [N, width]>) { return tanh(fc(x)) * sigmoid(x) }
}

layer Net() {
    let first = Gate(8)
    fn forward(x: Tensor<float32, [N, 8]>) { return first(x) + softmax(x) }
}
"""
DOUBLE = "layer Double() { fn forward(x: Tensor<float32, [N]>) { return 2.0 * x } }\n"
MANIFEST = "model net\n    sources = net.tri\n    entry = Net\n    emit = library\n\nmodel other\n    sources = net.tri\n    entry = Net\n    emit = library\n    opt = 2\n"
ONES = np.ones(3, np.float32)


class PackageTest(ProjectTest):
    """trib's cache and that of the package are the test's."""

    def setUp(self):
        super().setUp()
        patch = mock.patch.dict(os.environ, self.env)
        patch.start()
        self.addCleanup(patch.stop)
        self.write("net.tri", NET)
        self.write("tri.build", MANIFEST)


class Builds(PackageTest):
    def test_progress_and_summary(self):
        seen = []
        s = trib.build(self.dir, on_progress=seen.append, explain=True, profile=True, jobs=2)
        self.assertTrue(s.ok)
        self.assertEqual((s.errors, s.failed, s.jobs, s.diagnostics, s.message), (0, 0, 2, (), ""))
        self.assertEqual(s.units, s.compiled + s.reused)
        self.assertGreater(s.compiled, 0)
        self.assertTrue(0 < s.efficiency <= 1 and s.wall_ns > 0 and s.peak_bytes > 0 and "typecheck" in s.phases_ns)
        self.assertEqual([os.path.basename(path) for path in s.outputs], ["libnet.so", "libother.so"])
        self.assertIn("facts", json.loads(s.profile))
        self.assertIn(f"{s.compiled} compiled", str(s))
        events = {p.event for p in seen}
        self.assertEqual(events, {"phase", "reason", "task-start", "task-end"})
        last = [p for p in seen if p.event == "task-end"][-1]
        self.assertEqual((last.done, last.ok), (last.total, True))
        self.assertEqual(trib.load(s.outputs[0])(np.ones((2, 8), np.float32)).shape, (2, 8))
        self.assertEqual(trib.build(self.dir, "net").compiled, 0)

    def test_diagnostics(self):
        self.edit("net.tri", "softmax(x)", "softmox(x)")
        seen = []
        with self.assertRaisesRegex(trib.CompileError, "net.tri:10:64: E0201: unknown name `softmox`") as caught:
            trib.build(self.dir, "net", on_diagnostic=seen.append)
        error = caught.exception
        self.assertEqual(tuple(seen), error.diagnostics)
        d = seen[0]
        self.assertEqual((d.severity, d.code, d.file, d.line, d.column, d.end_column, d.help), ("error", "E0201", "net.tri", 10, 64, 71, "did you mean `softmax`?"))
        text = error.render()
        self.assertIn("  10 |     fn forward(x: Tensor<float32, [N, 8]>) { return first(x) + softmox(x) }\n     | " + 63 * " " + "^" * 7, text)
        self.assertIn("\x1b[1;31m", error.render(color=True))
        self.assertIn("<pre><span", error._repr_html_())
        self.assertFalse(error.summary.ok)
        self.assertEqual(trib.build(self.dir, "net", check=False).errors, 1)

    def test_wrong_uses(self):
        for kind, text, call in (
            (trib.NotFoundError, "has no tri.build", lambda: trib.build(self.tmp)),
            (trib.ArgumentError, "no model `nat`", lambda: trib.build(self.dir, "nat")),
            (trib.ArgumentError, "opt is 7", lambda: trib.build(self.dir, opt=7)),
            (trib.ArgumentError, "unknown cpu `z80`", lambda: trib.build(self.dir, cpu="z80")),
            (TypeError, "colour", lambda: trib.build(self.dir, colour=1)),
            (trib.NotFoundError, "put trib on PATH", self.without_a_program),
        ):
            with self.assertRaisesRegex(kind, text):
                call()
        builder = trib.Builder(self.dir)
        builder.close()
        with self.assertRaisesRegex(trib.ClosedError, "open another"):
            builder.build()
        builder.cancel()

    def without_a_program(self):
        with mock.patch("os.path.isfile", lambda path: path.endswith("tri.build")), mock.patch("shutil.which", lambda name: None):
            trib.build(self.dir)

    def test_cancel(self):
        with trib.Builder(self.dir) as builder:

            def stop(progress):
                if progress.event == "task-start":
                    builder.cancel()
                    with self.assertRaises(trib.BusyError):
                        builder.build()
                    with self.assertRaises(trib.BusyError):
                        builder.close()

            with self.assertRaisesRegex(trib.BuildCancelled, "build again"):
                builder.build(on_progress=stop, use_cache=False)
            self.assertTrue(builder.build().ok)

    def test_cancel_by_another_thread(self):
        started = threading.Event()
        with trib.Builder(self.dir) as builder:
            thread = threading.Thread(target=lambda: (started.wait(), builder.cancel()))
            thread.start()

            def wait(progress):
                if progress.event == "task-start":
                    started.set()
                    thread.join()

            with self.assertRaises(trib.BuildCancelled):
                builder.build(on_progress=wait, use_cache=False)

    def test_a_callback_that_raises(self):
        with self.assertRaises(ZeroDivisionError), trib.Builder(self.dir) as builder:
            try:
                builder.build(on_progress=lambda p: 1 / 0, use_cache=False)
            finally:
                self.assertGreater(builder.build(use_cache=False).compiled, 0)

    def test_ctrl_c(self):
        code = "import os, signal, sys, trib\ntry:\n    trib.build(sys.argv[1], use_cache=False, on_progress=lambda p: os.kill(os.getpid(), signal.SIGINT))\n" \
               "except KeyboardInterrupt: print('interrupted')\n"
        done = subprocess.run([sys.executable, "-c", code, self.dir], capture_output=True, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        self.assertEqual((done.stdout, done.stderr), ("interrupted\n", ""))

    def test_builders_of_threads(self):
        results = []

        def work():
            results.append(trib.build(self.dir, "net").ok)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [True] * 3)


class Compiles(PackageTest):
    def test_text(self):
        m = trib.compile(DOUBLE)
        np.testing.assert_array_equal(m(ONES), 2 * ONES)
        with mock.patch.object(compiling, "_run", None):  # cached
            np.testing.assert_array_equal(trib.compile(DOUBLE)(ONES), 2 * ONES)
            with self.assertRaises(TypeError):
                trib.compile(DOUBLE, opt=3)
        self.assertEqual(trib.compile(NET, entry="Net", threads=1)(np.ones((1, 8), np.float32)).shape, (1, 8))
        self.assertEqual(trib.compile("layer Id(x: Tensor<float32, [?, K]>) { return x }", inputs={"x": "float32[?, 3]"}).describe().entries[0].inputs[0].shape[1], 3)

    def test_devices(self):
        """A model is compiled for the device that is named. What it then lacks is said in words of Python."""
        names = "twice", "double", "two-times", "2x"  # libraries of names that are no identifiers of C are called otherwise
        for name in names:
            self.write(f"{name}.tri", DOUBLE)
        for source in (DOUBLE, *(self.path(f"{name}.tri") for name in names)):
            for device, is_cpu in ((None, True), ("opencl", False), ("cpu", True), ("0", False)):
                m = trib.compile(source, device=device)
                self.assertEqual(m.device == "cpu", is_cpu, device)
                np.testing.assert_array_equal(m(ONES), 2 * ONES)
            with self.assertRaisesRegex(trib.DeviceError, "no OpenCL device nowhere"):
                trib.compile(source, device="nowhere")
        with self.assertRaisesRegex(trib.DeviceError, r'leave out `device`, compile .* trib.compile\(…, device="opencl"\)'):
            trib.load(trib.compile(DOUBLE).path, device="opencl")

    def test_weights(self):
        weights = {"first.fc.weight": np.random.default_rng(1).standard_normal((8, 8)).astype(np.float32)}
        x = np.ones((2, 8), np.float32)
        want = np.tanh(x @ weights["first.fc.weight"].T) / (1 + np.exp(-1)) + 1 / 8
        for given in (weights, {"first.fc.weight": torch.from_numpy(weights["first.fc.weight"])}):
            np.testing.assert_allclose(trib.compile(NET, given)(x), want, rtol=1e-5)
        with open(self.path("w.safetensors"), "wb") as file:
            from trib import safetensors

            file.write(safetensors.encode(weights))
        for source in (NET, self.path("net.tri")):
            np.testing.assert_allclose(trib.compile(source, self.path("w.safetensors"))(x), want, rtol=1e-5)
        weights["first.fc.weight"] *= 2
        self.assertFalse(np.allclose(trib.compile(NET, weights)(x), want))

    def test_files_and_their_edits(self):
        self.write("a.tri", 'import "b.tri" as b\nlayer A() { fn forward(x: Tensor<float32, [N]>) { return b.f(x) } }\n')
        self.write("b.tri", "fn f(x: Tensor<float32, [N]>) { return 3.0 * x }\n")
        first = trib.compile(self.path("a.tri"))
        np.testing.assert_array_equal(first(ONES), 3 * ONES)
        self.edit("b.tri", "3.0", "4.0")
        np.testing.assert_array_equal(trib.compile(self.path("a.tri"))(ONES), 4 * ONES)
        np.testing.assert_array_equal(first(ONES), 3 * ONES)

    def test_errors(self):
        with self.assertRaisesRegex(trib.CompileError, "notebook.tri:1:69: error.E0201.: unknown name `y`") as caught:
            trib.compile(DOUBLE.replace("* x", "* y"))
        self.assertIn("^ not found", "\n".join(caught.exception._render_traceback_()))
        self.assertEqual(os.listdir(os.path.join(self.tmp, "cache/trib/python")), [])
        for kind, text, source, weights in (
            (trib.NotFoundError, "no source .*nowhere.tri", "nowhere.tri", None),
            (trib.NotFoundError, "no weights nowhere.pt", DOUBLE, "nowhere.pt"),
            (trib.ArgumentError, "is a int", 3, None),
            (trib.ArgumentError, "pass example_inputs", torch.nn.ReLU(), None),
            (trib.DtypeError, "weights a: complex128", DOUBLE, {"a": np.ones(1, complex)}),
        ):
            with self.assertRaisesRegex(kind, text):
                trib.compile(source, weights)

    def test_warnings(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            trib.compile(DOUBLE, {"unused": ONES})
        self.assertEqual([w.category for w in caught], [trib.CompileWarning], [str(w.message) for w in caught])

    def test_the_cache_is_bounded(self):
        with mock.patch.object(compiling, "_MOST_CACHED", 2):
            for i in range(4):
                trib.compile(DOUBLE.replace("2.0", f"{i}.5"))
        self.assertEqual(len(os.listdir(os.path.join(self.tmp, "cache/trib/python"))), 2)

    def test_lazy(self):
        calls = []

        @trib.lazy
        def double():
            """layer Double() { fn forward(x: Tensor<float32, [N]>) { return 2.0 * x } }"""
            calls.append(1)

        self.assertIn("not used yet", repr(double))
        self.assertEqual(calls, [])
        threads = [threading.Thread(target=double, args=(ONES,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(double(x=ONES), 2 * ONES)
        self.assertEqual((calls, double.describe().name, double.__name__), ([1], "notebook", "double"))
        path = self.path("net.tri")
        library = trib.build(self.dir, "net").outputs[0]
        for made in (path, library, trib.load(library)):
            self.assertEqual(trib.lazy(lambda made=made: made)(np.ones((1, 8), np.float32)).shape, (1, 8))
        self.assertEqual(trib.lazy(threads=2)(lambda: library).model._options.threads, 2)
        with self.assertRaisesRegex(trib.ArgumentError, "return a source"):
            trib.lazy(lambda: None)(ONES)

    def test_cell_magic(self):
        names = {"state": {"first.fc.weight": np.zeros((8, 8), np.float32)}}
        registered = {}

        class Shell:
            user_ns = names

            def register_magic_function(self, function, kind, name):
                registered[kind, name] = function

        trib.load_ipython_extension(Shell())
        registered["cell", "tri"]("net --weights state --entry Net", NET)
        np.testing.assert_allclose(names["net"](np.ones((1, 8), np.float32)), np.full((1, 8), 1 / 8))
        for line, cell, kind, text in (("a b c", DOUBLE, trib.ArgumentError, "write %%tri NAME"), ("1x", DOUBLE, trib.ArgumentError, "no name of a variable"),
                                       ("", DOUBLE[:-3], trib.CompileError, "notebook.tri"), ("m --weights nowhere", DOUBLE, trib.NotFoundError, "nowhere")):
            with self.assertRaisesRegex(kind, text):
                notebook.tri(line, cell, names)


class Page(ProjectTest):
    example = "digits"

    def test_the_example_of_the_page(self):
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
            code = re.search(r"### From Python.*?```python\n(.*?)```", file.read(), re.S).group(1)
        os.mkdir(os.path.join(self.tmp, "examples"))
        os.rename(self.dir, os.path.join(self.tmp, "examples/digits"))
        printed = run([sys.executable, "-c", code], self.tmp, env=self.env).stdout
        self.assertTrue(printed.startswith("digits 1.0"), printed)
        self.assertTrue(printed.endswith("[2. 2. 2.]\n"), printed)


if __name__ == "__main__":
    unittest.main()
