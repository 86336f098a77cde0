"""Loops whose chunks go to threads give the same bytes with 1, 2, 3 and 7 threads, and at each level."""
import os
import unittest

from project import ProjectTest

# Odd sizes: the last chunk is smaller than the others. Each program has a loop for threads.
PROGRAMS = {
    "Pointwise": ("x: Tensor<float32, [509, 4099]>", "gelu(x * 2.0 + 1.0) - tanh(x)", "509x4099"),
    "Softmax": ("x: Tensor<float32, [1021, 1031]>", "softmax(x, dim=1)", "1021x1031"),
    "Columns": ("x: Tensor<float32, [1021, 2053]>", "exp(x).sum(dim=0)", "1021x2053"),
    "Rows": ("x: Tensor<float64, [4099, 257]>", "(x * x).sum(dim=1)", "4099x257"),
    "Wide": ("x: Tensor<float32, [3000017]>", "sigmoid(x) * x", "3000017"),
    "Integers": ("x: Tensor<int32, [1021, 2053]>", "(x * x + 3) // 7 - x % 5", "1021x2053"),
}


class Threads(ProjectTest):
    def setUp(self):
        super().setUp()
        manifest = "project threads\n"
        for name, (parameter, result, _) in PROGRAMS.items():
            self.write(f"{name}.tri", f"fn {name}({parameter}) {{ return {result} }}\n")
            manifest += f"model {name}\n    sources = {name}.tri\n    entry = {name}\n"
        self.write("tri.build", manifest)

    def output(self, name, threads):
        path = os.path.join(self.dir, "out.npy")
        self.trib("run", name, "--no-build", "--threads", str(threads), "--input", f"x=random:{PROGRAMS[name][2]}", "--output", "out=out.npy")
        with open(path, "rb") as f:
            return f.read()

    def test_any_number_of_threads(self):
        for level in ("-O0", "-O1", "-O3"):
            text = self.trib("build", level, "--dump-loops").stdout
            units = {p: u for u in text.split("unit ") for p in PROGRAMS if u.startswith(p)}
            for name in PROGRAMS:
                with self.subTest(program=name, level=level):
                    self.assertIn("parallel i", units[name])
            self.trib("build", level, "-q")
            for name in PROGRAMS:
                one = self.output(name, 1)
                for threads in (2, 3, 7):
                    with self.subTest(program=name, level=level, threads=threads):
                        self.assertEqual(self.output(name, threads), one)


if __name__ == "__main__":
    unittest.main()
