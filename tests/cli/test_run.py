"""trib run: building before the run, generated inputs, batches."""
import os
import unittest

import numpy as np

from project import ProjectTest, run

NET = """layer Net() {
    fn forward(x: Tensor<float32, [N, 3]>, y: Tensor<int32, [N]>) -> (Tensor<float32, [N, 3]>, Tensor<int32, [N]>) { return (x * 2.0, y + 1) }
    fn total(x: Tensor<float32, [N, 3]>) { return x.sum(dim=0) }
    fn square(m: Tensor<float32, [K, K]>) { return m @ m }
    fn fixed(x: Tensor<float32, [4, 3]>) { return x }
}
"""
MANIFEST = "project p\n\nmodel net\n    sources = net.tri\n    entry   = Net Net.total Net.square Net.fixed\n"


class Run(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("net.tri", NET)
        self.write("tri.build", MANIFEST)

    def save(self, name, array):
        np.save(self.path(name), array)

    def load(self, name):
        return np.load(self.path(name))


class Building(Run):
    def test_a_run_builds_changes_first(self):
        self.save("m.npy", np.eye(2, dtype=np.float32))
        words = ("run", "--entry", "square", "--input", "m=m.npy", "--output", "out=o.npy")
        self.assertEqual(self.trib(*words).stdout, "out: float32 [2, 2]\n")
        self.edit("net.tri", "m @ m", "m @ m + 1.0")
        self.trib(*words)
        self.assertEqual(self.load("o.npy").tolist(), [[2, 1], [1, 2]])
        self.assertIn("nothing to do", self.trib("build").stdout)

    def test_a_build_that_fails(self):
        self.edit("net.tri", "m @ m", "m @ n")
        said = self.fails("run", "--entry", "square", "--input", "m=random")
        self.assertIn("net.tri:4", said)
        self.assertEqual(self.trib("run", "--input", "m=random", ok=False).stdout, "")

    def test_without_building(self):
        words = ("run", "--no-build", "--entry", "square", "--input", "m=random")
        self.assertIn("there is no build/libnet.so", self.fails(*words, code=3))
        self.trib("build")
        self.assertEqual(self.trib(*words).stderr, "")
        self.edit("net.tri", "m @ m", "m @ m + 1.0")
        done = self.trib(*words)
        self.assertIn("warning: the library is stale: net.tri changed", done.stderr)
        self.assertIn("out: float32", done.stdout)
        self.trib("build", "-O2")  # a build with other flags is none of the record's
        self.assertEqual(self.trib(*words).stderr, "")

    def test_one_of_several_models(self):
        self.write("tri.build", MANIFEST + "\nmodel broken\n    sources = none.tri\n    entry = None\n")
        self.trib("run", "net", "--entry", "square", "--input", "m=random")
        self.assertIn("trib run net", self.fails("run", "--input", "m=random", code=2))

    def test_missing_opencl_kernels(self):
        said = self.fails("run", "--device", "opencl", "--input", "x=random", code=2)
        self.assertIn("write `emit = library header opencl` in its block in tri.build", said)

    def test_flags_of_the_build(self):
        self.trib("run", "-O0", "--out", "other", "--entry", "square", "--input", "m=zeros")
        self.assertTrue(os.path.exists(self.path("other/libnet.so")))
        self.assertFalse(os.path.exists(self.path("build")))


class Inputs(Run):
    def run_entry(self, entry, *words):
        return self.trib("run", "--entry", entry, *words)

    def test_random_is_the_same_each_time_and_on_each_device(self):
        first = self.run_entry("square", "--input", "m=random:3x3", "--output", "out=a.npy").stdout
        self.assertEqual(first, self.run_entry("square", "--input", "m=random:3x3", "--output", "out=b.npy", "--device", "reference").stdout)
        np.testing.assert_allclose(self.load("a.npy"), self.load("b.npy"), rtol=1e-5, atol=1e-5)
        self.run_entry("total", "--input", "x=random:10000x3", "--output", "out=t.npy")
        self.assertLess(abs(self.load("t.npy")).max(), 500)
        self.assertNotEqual(self.load("t.npy")[0], self.load("t.npy")[1])

    def test_zeros_ones_and_files(self):
        self.save("x.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
        self.run_entry("forward", "--input", "x=x.npy", "--input", "y=ones", "--output", "out0=a.npy", "--output", "out1=b.npy")
        self.assertEqual(self.load("b.npy").tolist(), [2, 2])  # as many as the file has rows
        self.run_entry("forward", "--input", "x=zeros", "--input", "y=random", "--output", "out1=b.npy", "--batch-size", "5")
        self.assertEqual(self.load("b.npy").shape, (5,))
        self.assertTrue(((self.load("b.npy") >= 1) & (self.load("b.npy") <= 10)).all())

    def test_invalid_inputs(self):
        self.assertIn("random values: `trib run net --input x=random --input y=random`", self.fails("run", "net", code=2))
        self.assertIn("`random:4x16`", self.fails("run", "--entry", "square", "--input", "m=random:2y2", code=2))
        self.assertIn("[K, K], but `", self.fails("run", "--entry", "square", "--input", "m=random:2x3"))
        self.assertIn("`m`", self.fails("run", "--entry", "square", "--input", "m=ones:99999999999x99999999999"))
        self.write("m.npy", b"PK\3\4......arr_0.npy")
        self.assertIn("a NumPy archive", self.fails("run", "--entry", "square", "--input", "m=m.npy"))
        self.write("random", b"")
        self.assertIn("empty", self.fails("run", "--entry", "square", "--input", "m=./random"))

    def test_sizes_that_follow_from_other_inputs(self):
        """Of a square, or half of a size, nothing follows; of an input that is linear in the size it does, in any order."""
        self.write("net.tri", "layer Net() {\n    fn forward(x: Tensor<float32, [N * N]>, y: Tensor<float32, [N // 2]>, z: Tensor<float32, [2 * N + 1]>) {\n"
                   "        return zeros([N]) + x.sum() + y.sum() + z.sum()\n    }\n}\n")
        self.write("tri.build", "model net\n    sources = net.tri\n    entry = Net\n")
        self.assertIn("out: float32 [3]\ntensor([17., 17., 17.])\n", self.trib("run", "--input", "x=ones:9", "--input", "y=ones:1", "--input", "z=ones:7").stdout)
        self.assertIn("input `y`", self.fails("run", "--input", "x=ones:9", "--input", "y=ones:2", "--input", "z=ones:7"))
        program = ("#include <stdio.h>\n#include \"build/net.h\"\nint main(void) { net m; float x[9] = {1}, y[1] = {1}, z[7] = {1}, out[3];\n"
                   "static _Alignas(8) unsigned char scratch[4096];\n"
                   "net_io io = {{x, {9}, 1, TRI_FLOAT32}, {y, {1}, 1, TRI_FLOAT32}, {z, {7}, 1, TRI_FLOAT32}, {out, {3}, 1, TRI_FLOAT32}};\n"
                   "net_open(&m, NULL, NULL); return net_run(&m, &io, scratch, sizeof scratch, NULL) || out[2] != 3; }\n")
        self.write("main.c", program)
        self.trib("build", "--emit=c")
        run(["cc", "-I.", "main.c", "build/net.c", "-lm", "-o", "main"], self.dir)
        run([self.path("main")], self.dir)

    def test_sizes_that_shrink_as_their_symbol_grows(self):
        self.write("net.tri", "layer Net() {\n    fn forward(x: Tensor<float32, [9 - N]>) { return zeros([N]) + x.sum() }\n}\n")
        self.write("tri.build", "model net\n    sources = net.tri\n    entry = Net\n")
        self.assertIn("out: float32 [6]\n", self.trib("run", "--input", "x=ones:3").stdout)
        self.assertIn("the input sizes do not fit", self.fails("run", "--input", "x=ones:10"))
        program = ("#include <stdio.h>\n#include \"build/net.h\"\nint main(void) { net m; float x[3] = {1, 2, 3}, y[6] = {0}; static _Alignas(8) unsigned char scratch[4096];\n"
                   "net_io io = {{x, {3}, 1, TRI_FLOAT32}, {y, {6}, 1, TRI_FLOAT32}};\n"
                   "net_open(&m, NULL, NULL); return net_run(&m, &io, scratch, sizeof scratch, NULL) || y[5] != 6; }\n")
        self.write("main.c", program)
        self.trib("build", "--emit=c")
        run(["cc", "-I.", "main.c", "build/net.c", "-lm", "-o", "main"], self.dir)
        run([self.path("main")], self.dir)


class Batches(Run):
    def test_outputs_of_batches_are_concatenated(self):
        x, y = np.random.default_rng(1).standard_normal((10, 3)).astype(np.float32), np.arange(10, dtype=np.int32)
        self.save("x.npy", x)
        self.save("y.npy", y)
        for device in ("cpu", "reference"):
            for size in (1, 3, 5, 10, 100):
                self.trib("run", "--entry", "forward", "--input", "x=x.npy", "--input", "y=y.npy", "--output", "out0=a.npy", "--output", "out1=b.npy", "--batch-size",
                          str(size), "--device", device)
                np.testing.assert_array_equal(self.load("a.npy"), x * 2)
                np.testing.assert_array_equal(self.load("b.npy"), y + 1)
        self.save("x.npy", x[:0])
        self.save("y.npy", y[:0])
        self.trib("run", "--entry", "forward", "--input", "x=x.npy", "--input", "y=y.npy", "--output", "out0=a.npy", "--batch-size", "4")
        self.assertEqual(self.load("a.npy").shape, (0, 3))

    def test_models_without_a_batch_dimension(self):
        self.assertIn("output `out` does not have one row for each row", self.fails("run", "--entry", "total", "--input", "x=random:4x3", "--batch-size", "2", code=2))
        self.assertIn("not as its first", self.fails("run", "--entry", "square", "--input", "m=random", "--batch-size", "2", code=2))
        self.assertIn("known only at run time", self.fails("run", "--entry", "fixed", "--input", "x=random", "--batch-size", "2", code=2))
        self.fails("run", "--batch-size", "0", code=2)


if __name__ == "__main__":
    unittest.main()
