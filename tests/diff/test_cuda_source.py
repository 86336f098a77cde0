"""What other tests run in libraries for the CPU, run in CUDA sources on an emulator; and compilers for devices accept the sources."""
import glob
import os
import subprocess
import unittest
import unittest.mock

import numpy as np

import test_caches
import test_control
import test_empty
import test_indexing
import test_lines
import test_programs
from c_source import STRICT
from cuda_source import DRIVER, InCuda, compile_for_devices, compile_for_emulator, replace_library, run
from inference import InferenceTest
from project import SOURCE, ProjectTest


class Programs(InCuda, test_programs.Programs):
    NAMES = ("tied", "reduces", "slices", "halves", "saturated", "tritacts", "tritmixed", "segments", "nucleus", "image")

    def test_every_level_against_numpy(self):
        self.trib("build", *self.NAMES)
        self.compare(self.NAMES, test_programs.BATCHES)

    test_interpreter_against_numpy = None


class Compilers(test_programs.Programs):
    def test_every_level_against_numpy(self):
        names = ("halves", "tritmixed", "nucleus", "image")  # with nvcc, which takes longer, one
        self.trib("build", "--emit", "cuda", *names)
        for name in names:
            compile_for_devices(self.path(f"build/{name}.cu"), name == "nucleus")

    test_interpreter_against_numpy = None


class Indexing(InCuda, test_indexing.IndexingTest):
    def test_random_brackets(self):
        for dynamic in (False, True):
            brackets = self.draw(10, dynamic)
            self.trib("build")
            self.compare(brackets, "CUDA")

    def test_out_of_range(self):
        self.check_out_of_range("library", "cpu")


class Lines(InCuda, test_lines.LinesTest):
    def test_all(self):
        for name in test_lines.CASES:
            self.fail_at(name, "library", "cpu")


class Control(InCuda, test_control.Control):
    def test_every_level(self):
        self.trib("build")
        self.compare()

    test_interpreter = None


class Empty(InCuda, test_empty.Empty):
    builds = (("-O1",),)


class Caches(InCuda, test_caches.Caches):
    def test_every_level(self):
        self.trib("build")
        m = self.open("libnet.so")
        self.steps(m, (3, 1, 1, 5, 1))
        m.reset()
        self.steps(m, (5, 1, 1))

    def test_states_that_cannot_be_written(self):
        self.write("net.tri", """
layer Running() {
    state total: Tensor<float32, [3]>
    fn forward(x: Tensor<float32, [3]>) {
        total = total + x
        return total
    }
}
""")
        self.write("tri.build", "project net\n    version = 1.0\nmodel net\n    sources = net.tri\n    entry = Running\n    input x = float32 [3]\n")
        self.trib("build")
        m = self.open("libnet.so")
        self.assertEqual([list(m.run("forward", [np.ones(3, np.float32)], [(3,)])[0]) for _ in range(2)], [[1] * 3, [2] * 3])
        with unittest.mock.patch.dict(os.environ, EMULATED_CUDA_FAIL="1"), self.assertRaisesRegex(Exception, "the memory of the states cannot be written"):
            m.reset()

    test_threads_compute_the_same = test_opencl = test_saved_in_another_library = test_loop_interpreter = test_grows_in_place = None


class Digits(InferenceTest):
    example = "digits"

    def test_the_same_as_the_library(self):
        self.trib("build", "--emit", "library,cuda")
        images = {"x": np.asarray(np.random.default_rng(3).integers(0, 17, (50, 64)), np.float32)}
        want = self.infer("digits", images, 0)[0]
        matrices = ("-DTRI_DOT_NVIDIA", "-DTRI_MMA_NVIDIA=80", "-DTRI_EMULATED")
        for flags in ((), matrices):
            self.trib("build", "--emit", "library,cuda")
            replace_library(self.path("build"), "digits", *flags)
            np.testing.assert_allclose(self.infer("digits", images, 0)[0], want, 1e-5, 1e-5)

    def test_program_of_the_readme(self):
        with open(os.path.join(SOURCE, "gpu", "README.md"), encoding="utf-8") as f:
            program = next(b for b in f.read().split("```") if '"mynet_cuda.h"' in b)
        self.trib("build", "--emit", "cuda")
        self.write("main.c", program.partition("\n")[2].replace("mynet", "digits"))
        run("gcc", *STRICT, "-I", DRIVER, "-I", self.path("build"), self.path("main.c"), *compile_for_emulator(self.path("build"), "digits"), "-o", self.path("main"), "-lm")
        run(self.path("main"))
        n = 1
        while self.code_if_call_fails(n) == 1:
            n += 1
        self.assertEqual(self.code_if_call_fails(n), 0)
        self.assertGreater(n, 25)

    def code_if_call_fails(self, n):
        return subprocess.run([self.path("main")], env={**os.environ, "EMULATED_CUDA_FAIL": str(n)}, check=False).returncode


VECTORS = """fn net(x: Tensor<float32, [512, 256]>, q: Tensor<int8, [512, 256]>, h: Tensor<bfloat16, [512, 256]>) {
    let wide = float32(q) * 0.5
    return (gelu(x) + tanh(x), sin(x) * cos(wide), where(x > wide, maximum(x, wide), minimum(x, -x)), q * q - q, int8(x * 40.0),
            int32(round(x)) + int32(q), h + h * bfloat16(x), floor(x) + abs(wide), exp(-abs(x)) / (1.0 + x * x))
}
"""


SPLIT = """import nn
layer net() {
    let conv = nn.Conv2d(128, 32, 3, padding=1)
    fn forward(x: Tensor<float32, [1, 1300]>, w: Tensor<float32, [1300, 40]>, q: Tensor<float32, [1, 2, 1, 16]>, k: Tensor<float32, [1, 2, T, 16]>,
               image: Tensor<float32, [1, 128, 7, 7]>) {
        return (relu(x @ w - 1.0), attention(q, k, k * 0.5 + 1.0), relu(conv(image)))
    }
}
"""


class Files(ProjectTest):
    def test_vectors(self):
        """Work items take four neighbours where there are many."""
        self.write("net.tri", VECTORS)
        self.write("tri.build", "project net\n\nmodel net\n    sources = net.tri\n    entry = net\n    emit = library cuda\n")
        self.trib("build")
        with open(self.path("build/net.cu"), encoding="utf-8") as f:
            self.assertIn("const float4 v", f.read())
        compile_for_devices(self.path("build/net.cu"))
        rng = np.random.default_rng(1)
        x = np.asarray(rng.standard_normal((512, 256)) * 4, np.float32)
        x[0, :8] = (np.nan, np.inf, -np.inf, 0, -0.0, 9000, -9000, 1e-30)
        np.save(self.path("x.npy"), x)
        np.save(self.path("q.npy"), rng.integers(-128, 128, x.shape).astype(np.int8))
        results = [f"out{k}" for k in range(9)]

        def run_net(*flags):
            self.trib("run", "net", "--no-build", "--input", "x=x.npy", "--input", "q=q.npy", "--input", "h=ones:512x256", *flags,
                      *(word for r in results for word in ("--output", f"{r}={r}.npy")))
            return [np.load(self.path(f"{r}.npy")) for r in results]
        want = run_net("--device", "reference")
        replace_library(self.path("build"), "net")
        for got, value in zip(run_net(), want):
            if got.dtype.kind == "i":
                np.testing.assert_array_equal(got, value)
            else:
                np.testing.assert_allclose(got.astype(np.float32), value.astype(np.float32), 2e-5, 1e-5)

    def test_sums_that_are_split(self):
        """Groups divide the terms of long sums; how many, the number of keys decides at run time."""
        self.write("net.tri", SPLIT)
        self.write("tri.build", "project net\n\nmodel net\n    sources = net.tri\n    entry = net\n    emit = library cuda\n")
        self.trib("build")
        self.assertRegex(self.read("build/net_cuda.c").decode(), r"(?s)tri_matmul_f32_split1.*tri_attention_f32_split.*tri_attention_f32_row.*tri_conv_f32_split")
        rng = np.random.default_rng(2)
        np.save(self.path("w.npy"), rng.standard_normal((1300, 40)).astype(np.float32))
        wants = {}
        for keys in 5, 300, 1300:
            np.save(self.path(f"k{keys}.npy"), rng.standard_normal((1, 2, keys, 16)).astype(np.float32))
            wants[keys] = self.run_split(keys, "--device", "reference")
        replace_library(self.path("build"), "net")
        for keys, want in wants.items():
            for a, b in zip(self.run_split(keys), want):
                np.testing.assert_allclose(a, b, 1e-4, 1e-4)

    def run_split(self, keys, *flags):
        names = ("out0", "out1", "out2")
        self.trib("run", "net", "--no-build", "--input", "x=ones:1x1300", "--input", "w=w.npy", "--input", "q=ones:1x2x1x16", "--input", f"k=k{keys}.npy", "--input", "image=ones:1x128x7x7",
                  *flags, *(word for name in names for word in ("--output", f"{name}={name}.npy")))
        return [np.load(self.path(f"{name}.npy")) for name in names]

    def test_weights_are_beside(self):
        self.write("net.tri", "import nn\nlayer net() {\n    let a = nn.Linear(64, 5000)\n    fn forward(x: Tensor<float32, [N, 64]>) { return a(x) }\n}\n")
        self.write("tri.build", "project net\n\nmodel net\n    sources = net.tri\n    entry = net\n    emit = library cuda\n")
        self.trib("build")
        self.trib("run", "net", "--no-build", "--input", "x=ones:2x64", "--output", "out=want.npy")
        self.assertEqual(len(glob.glob(self.path("build/*.triw"))), 1)
        replace_library(self.path("build"), "net")
        self.trib("run", "net", "--no-build", "--input", "x=ones:2x64", "--output", "out=out.npy")
        np.testing.assert_allclose(np.load(self.path("out.npy")), np.load(self.path("want.npy")), 1e-5, 1e-5)

    def test_names_of_cuda(self):
        self.write("net.tri", "fn net(x: Tensor<float32, [N]>) { return x + x }\n")
        for name in ("cudaMalloc", "dim3", "exp"):
            self.write("tri.build", f"project net\n\nmodel {name}\n    sources = net.tri\n    entry = net\n    emit = cuda\n")
            self.assertIn(f"`{name}`", self.fails("check"))


if __name__ == "__main__":
    unittest.main()
