"""examples/: built by the real executable, and run by the command line, a C program, a C++ program and ctypes."""
import sys
import unittest

import numpy as np

from project import ProjectTest, run


class Example(ProjectTest):
    def infer(self, x, *args):
        """The output for input x."""
        np.save(self.path("in.npy"), x)
        self.trib("run", self.example, "--no-build", "--input", "x=in.npy", "--output", "out=got.npy", *args)
        return np.load(self.path("got.npy"))


class Digits(Example):
    example = "digits"

    def setUp(self):
        super().setUp()
        self.trib("build")
        self.x = np.load(self.path("data/test_x.npy"))
        self.want = np.load(self.path("data/test_pred.npy"))

    def test_equal_to_the_reference_on_every_image(self):
        self.assertTrue(np.array_equal(self.infer(self.x).argmax(1), self.want))
        said = run([sys.executable, "accuracy.py", "got.npy"], self.dir).stdout
        self.assertIn("equal to the reference on 360 of 360", said)

    def test_reference_interpreter_agrees(self):
        compiled, interpreted = self.infer(self.x), self.infer(self.x, "--device", "reference")
        # An activation on a rounding border may fall on the other side: one step of one layer's scale.
        self.assertTrue(np.array_equal(compiled.argmax(1), interpreted.argmax(1)))
        self.assertLess(np.abs(compiled - interpreted).max(), 0.1)

    def test_any_batch_and_any_number_of_threads(self):
        whole = self.infer(self.x)
        for threads in ("1", "2", "5"):
            self.assertTrue(np.array_equal(self.infer(self.x, "--threads", threads), whole))
        for n in (0, 1, 3, 359):
            self.assertTrue(np.array_equal(self.infer(self.x[:n]), whole[:n]))

    def test_every_level_and_cpu_gives_the_same_predictions(self):
        for flags in (["-O0"], ["-O2"], ["-O3"], ["-Os"], ["--cpu", "x86-64-v2"], ["--cpu", "x86-64-v3"]):
            self.trib("build", *flags)
            self.assertTrue(np.array_equal(self.infer(self.x).argmax(1), self.want), flags)

    def test_the_system_linker_makes_an_equal_library(self):
        whole = self.infer(self.x)
        self.assertEqual(self.build("--linker", "cc")["units"]["compiled"], 0)
        self.assertTrue(np.array_equal(self.infer(self.x), whole))
        said = self.fails("build", "--linker", "no-such-linker", code=3)
        self.assertIn("no-such-linker", said)
        self.assertTrue(np.array_equal(self.infer(self.x), whole))

    def test_header_from_c_and_cpp(self):
        strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Ibuild"]
        link = ["-Lbuild", "-ldigits", "-Wl,-rpath,$ORIGIN"]
        run(["cc", "-std=c11", *strict, "use.c", *link, "-o", "build/use"], self.dir)
        said = run(["build/use"], self.dir).stdout
        self.assertTrue(said.strip())
        run(["c++", "-std=c++17", *strict, "-fsyntax-only", "-x", "c++", "build/digits.h"], self.dir)

    def test_ctypes(self):
        self.assertTrue(run([sys.executable, "use.py"], self.dir).stdout.strip())

    def test_wrong_shape_names_the_input(self):
        np.save(self.path("bad.npy"), np.zeros((3, 60), np.float32))
        said = self.fails("run", "digits", "--no-build", "--input", "x=bad.npy", "--output", "out=o.npy")
        self.assertIn("[N, 64]", said)
        self.assertIn("[3, 60]", said)

    def test_second_build_compiles_nothing(self):
        self.assertEqual(self.build()["units"]["compiled"], 0)


class Quickstart(Example):
    example = "quickstart"

    def test_exact_result(self):
        self.trib("build")
        want = np.load(self.path("want.npy"))
        self.assertTrue(np.array_equal(self.infer(np.load(self.path("x.npy"))), want))


class RunTimeShapes(ProjectTest):
    """What depends on run-time sizes is checked before memory is touched, the same on every device."""

    def test_slices_and_indices_out_of_range(self):
        self.write("src/cut.tri", "fn cut(x: Tensor<float32, [N, 4]>) {\n    return (sum(x[5:], dim=0), x[3])\n}\n")
        self.write("tri.build", "project cut\n    version = 1\n\nmodel cut\n    sources = src/*.tri\n    entry = cut\n"
                                "    input x = float32 [?, 4]\n    emit = library header opencl\n")
        self.trib("build")
        for n in (0, 3, 4, 5, 9):
            x = np.arange(4 * n, dtype=np.float32).reshape(n, 4)
            np.save(self.path("x.npy"), x)
            for device in ("cpu", "opencl", "reference"):
                done = self.trib("run", "cut", "--no-build", "--input", "x=x.npy", "--output", "out0=a.npy", "--output", "out1=b.npy", "--device", device,
                                 ok=False)
                self.assertEqual(done.returncode == 0, n >= 5, (n, device, done.stderr))
                if n >= 5:
                    self.assertTrue(np.array_equal(np.load(self.path("a.npy")), x[5:].sum(0)))
                    self.assertTrue(np.array_equal(np.load(self.path("b.npy")), x[3]))
                elif device != "reference":
                    self.assertIn("do not fit", done.stderr)

    def test_sizes_that_are_multiples(self):
        self.write("src/halve.tri", "fn halve(x: Tensor<float32, [2 * N, 3 * M + 1]>) -> Tensor<float32, [N, M]> {\n"
                                    "    return x[::2, 1::3] + x[1::2, ::3][:, :-1]\n}\n")
        self.write("tri.build", "project halve\n\nmodel halve\n    sources = src/*.tri\n    entry = halve\n    emit = library opencl\n")
        self.trib("build")
        for shape, fits in (((4, 7), True), ((0, 1), True), ((3, 7), False), ((4, 8), False)):
            x = np.random.default_rng(1).standard_normal(shape, dtype=np.float32)
            np.save(self.path("x.npy"), x)
            for device in ("cpu", "opencl", "reference"):
                done = self.trib("run", "halve", "--no-build", "--input", "x=x.npy", "--output", "out=y.npy", "--device", device, ok=False)
                self.assertEqual(done.returncode == 0, fits, (shape, device, done.stderr))
                if fits:
                    self.assertTrue(np.array_equal(np.load(self.path("y.npy")), x[::2, 1::3] + x[1::2, ::3][:, :-1]))


class OpenCL(Example):
    example = "digits"

    def test_same_results_as_the_cpu_library(self):
        self.edit("tri.build", "library header", "library header opencl")
        self.trib("build")
        self.assertIn("pocl", self.trib("devices").stdout.lower())
        x = np.load(self.path("data/test_x.npy"))
        cpu, device = self.infer(x), self.infer(x, "--device", "opencl")
        self.assertTrue(np.array_equal(cpu.argmax(1), device.argmax(1)))
        self.assertLess(np.abs(cpu - device).max(), 0.1)


class Zoo(ProjectTest):
    """The smaller models in full, with their own random weights; all of them, narrowed, against PyTorch: tests/diff/torch_zoo.py."""
    example = "zoo"

    def test_small_models_run(self):
        self.trib("build", "mnist_mlp", "mobilenet_v2")
        rng = np.random.default_rng(7)
        for model, shape in ("mnist_mlp", (3, 1, 28, 28)), ("mobilenet_v2", (1, 3, 224, 224)):
            np.save(self.path("x.npy"), rng.standard_normal(shape, np.float32))
            self.trib("run", model, "--no-build", "--input", "x=x.npy", "--output", "out=out.npy")
            out = np.load(self.path("out.npy"))
            self.assertEqual(out.shape, (shape[0], 10 if model == "mnist_mlp" else 1000))
            self.assertTrue(np.isfinite(out).all() and out.std() > 0, model)


if __name__ == "__main__":
    unittest.main()
