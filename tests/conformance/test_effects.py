"""print and assert do the same in the interpreter and in compiled code, at every level; `trib run --main` in a project."""
import unittest

from project import ProjectTest

MANIFEST = """\
project p

model net
    sources = src/*.tri
    entry   = Net
    input x = float32 [?, 4]
"""
NET = """\
fn report(x) { print("report", x.mean(), x.shape) }
layer Inner() {
    param g: Tensor<float32, [4]> = ones([4])
    fn forward(x: Tensor<float32, [N, 4]>) {
        let y = x * g
        print(f"inner {y}")
        assert y.max() < 10.0, f"too large: {y.max():.1f}"
        return y
    }
}
layer Net() {
    let a = Inner()
    param w: Tensor<float32, [4, 2]> = ones([4, 2])
    fn forward(x: Tensor<float32, [N, 4]>) {
        print("start", x.shape[0], N)
        report(x)
        print("dead", x + 1.0)
        let y = a(x) @ w
        print("end", y.reshape([-1]), sep=" | ")
        return y
    }
}
"""
LOOPS = """\
fn note(x) { if x.sum() > 10.0 { print("big", x.sum()) } else { print("little", x.sum()) } }
layer Net() {
    fn forward(x: Tensor<float32, [N, 4]>) {
        note(x)
        let y = x
        let i = 0
        while y.sum() < 100.0 {
            y = y * 2.0
            print("twice", y.sum())
            assert i < 3, f"too many at {i}"
            i += 1
        }
        for k in 0..N { print("row", k, y[k].sum()) }
        return y
    }
}
"""
MAIN = "from net import Net\nmain { let n = Net(); print(n(ones([1, 4]))) }\n"


def npy(rows):
    """A .npy file of float32 rows."""
    import struct

    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    values = [v for row in rows for v in row]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}f", *values)


class Effects(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("tri.build", MANIFEST)
        self.write("src/net.tri", NET)
        self.write("x.npy", npy([[0, 1, 2, 3], [4, 5, 6, 7]]))
        self.write("large.npy", npy([[20.0] * 4]))

    def test_compiled_code_prints_what_the_interpreter_prints(self):
        want = self.trib("run", "--device", "reference", "--input", "x=x.npy").stderr
        self.assertEqual(
            want,
            "start 2 2\nreport 3.5 [2, 4]\ndead tensor([[1., 2., 3., 4.],\n        [5., 6., 7., 8.]])\n"
            "inner tensor([[0., 1., 2., 3.],\n        [4., 5., 6., 7.]])\nend | tensor([ 6.,  6., 22., 22.])\n",
        )
        for level in "0123s":
            self.trib("build", f"-O{level}")
            self.assertEqual(self.trib("run", "--no-build", "--input", "x=x.npy").stderr, want, level)

    def test_a_failed_assertion_is_an_error_with_its_place(self):
        said = "src/net.tri:7: too large: 20.0"
        self.assertIn(said, self.fails("run", "--device", "reference", "--input", "x=large.npy"))
        for level in "03":
            self.trib("build", f"-O{level}")
            error = self.fails("run", "--no-build", "--input", "x=large.npy")
            self.assertIn(said, error)
            self.assertNotIn("end", error)
        self.write("src/net.tri", "# one line more\n" + NET)
        self.trib("build")
        self.assertIn("src/net.tri:8: too large", self.fails("run", "--no-build", "--input", "x=large.npy"))

    def test_effects_in_run_time_branches_and_loops(self):
        self.write("src/net.tri", LOOPS)
        self.write("small.npy", npy([[0.5, 0.5, 0, 0]]))
        want = "big 28.0\ntwice 56.0\ntwice 112.0\nrow 0 24.0\nrow 1 88.0\n"
        self.assertEqual(self.trib("run", "--device", "reference", "--input", "x=x.npy").stderr, want)
        for level in "013":
            self.trib("build", f"-O{level}")
            self.assertEqual(self.trib("run", "--no-build", "--input", "x=x.npy").stderr, want, level)
            error = self.fails("run", "--no-build", "--input", "x=small.npy")
            self.assertTrue(error.startswith("little 1.0\ntwice 2.0\ntwice 4.0\ntwice 8.0\ntwice 16.0\n"), error)
            self.assertIn("src/net.tri:10: too many at 3", error)

    def test_devices_do_the_same(self):
        """Both variants of the kernels print and fail as the CPU does, in straight code, branches and loops."""
        self.write("small.npy", npy([[0.5, 0.5, 0, 0]]))
        self.edit("tri.build", "entry   = Net", "entry   = Net\n    emit = library opencl header")
        for source, runs in (NET, (("x.npy", None), ("large.npy", "src/net.tri:7: too large: 20.0"))), (LOOPS, (("x.npy", None), ("small.npy", "src/net.tri:10: too many at 3"))):
            self.write("src/net.tri", source)
            self.trib("build")
            for file, said in runs:
                cpu = self.trib("run", "--no-build", "--input", f"x={file}", ok=not said)
                for variant in "groups", "wide":
                    self.env["TRIB_OPENCL_VARIANT"] = variant
                    device = self.trib("run", "--no-build", "--device=opencl", "--input", f"x={file}", ok=not said)
                    self.assertEqual((device.stderr, device.stdout), (cpu.stderr, cpu.stdout), (variant, file))
                    self.assertIn(said or "", device.stderr)

    def test_main_of_a_project(self):
        self.assertIn("no source of the project has a main block", self.fails("run", "--main", code=2))
        self.write("src/main.tri", MAIN)
        out = self.trib("run", "--main").stdout
        self.assertTrue(out.startswith("start 1 1\n") and out.endswith("tensor([[4., 4.]])\n"), out)
        self.assertEqual(self.trib("run", "--main", "src/main.tri").stdout, out)
        self.write("src/other.tri", "main { print(1) }\n")
        self.assertIn("2 files of the project have a main block", self.fails("run", "--main", code=2))
        self.assertEqual(self.trib("run", "--main", "src/other.tri").stdout, "1\n")
        self.assertIn("`src/net.tri` has no main block", self.fails("run", "--main", "src/net.tri", code=2))

    def test_wrong_ways_to_run_main(self):
        self.assertIn("`b.tri` is one too many", self.fails("run", "--main", "a.tri", "b.tri", code=2))
        self.assertIn("trib run --main src/net.tri", self.fails("run", "src/net.tri", code=2))
        self.assertIn("cannot read `none.tri`", self.fails("run", "--main", "none.tri", code=3))


if __name__ == "__main__":
    unittest.main()
