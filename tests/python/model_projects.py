"""Projects whose libraries the tests of the Python package load, built once for each class of tests."""
import os
import shutil
import tempfile
import unittest

from project import TRIB, run

KINDS = """\
layer Kinds() {
    fn forward(x: Tensor<float32, [N, 4]>, y: Tensor<float32, [N, M]>) { return concat([x, y], dim=1), x * 2.0 }
    fn fixed(x: Tensor<float32, [2, 3]>) { return x + 1.0 }
    fn same(x: Tensor<float32, [N]>) { return x }
    fn half(x: Tensor<float16, [N]>) { return x }
    fn brain(x: Tensor<bfloat16, [N]>) { return x }
    fn double(x: Tensor<float64, [N]>) { return x }
    fn bytes(x: Tensor<int8, [N]>) { return x }
    fn shorts(x: Tensor<int16, [N]>) { return x }
    fn ints(x: Tensor<int32, [N]>) { return x }
    fn longs(x: Tensor<int64, [N]>) { return x }
    fn flags(x: Tensor<bool, [N]>) { return !x }
    fn trits(x: Tensor<trit, [N]>) { return -x }
    fn scale(x: Tensor<float32, [N]>, by: float32, plus: int32) { return x * by + float32(plus) }
    fn total(x: Tensor<float32, [N]>) { return sum(x) }
    fn stack(x: Tensor<float32, [A, 3 * B]>) { return x.reshape([A * 3, B]) }
    fn take(x: Tensor<float32, [N]>, i: Tensor<int64, [K]>) { return gather(x, 0, i) }
    fn product(x: Tensor<float32, [N, N]>) { return x @ x }
    fn checked(x: Tensor<float32, [N]>, ok: bool) {
        assert ok, "it is not"
        return x
    }
    fn pixels(x: Tensor<uint8, [N]>) { return x }
}
"""
ENTRIES = ("forward fixed same half brain double bytes shorts ints longs flags trits scale total stack take product checked pixels").split()
MEMORY = """\
layer Memory() {
    state rows: Tensor<float32, [cap T, 2]>
    state steps: Tensor<int32, [1]> = tensor([7])
    fn forward(x: Tensor<float32, [N, 2]>) {
        rows.append(x, dim=0)
        steps = steps + 1
        return rows, steps
    }
    fn slow(x: Tensor<float32, [N, N]>) {
        steps = steps + 1
        return x @ x @ x @ x
    }
    fn cut(x: Tensor<float32, [N]>) { return x[3:] }
}
"""
MANIFEST = f"""\
project models
    version = 1.5

model kinds
    sources = src/kinds.tri
    entry = {" ".join("Kinds." + name for name in ENTRIES)}
    profile = true

model memory
    sources = src/memory.tri
    entry = Memory.forward Memory.slow Memory.cut
    state.T = 8
"""


def write_project(folder):
    os.makedirs(os.path.join(folder, "src"))
    for name, text in (("src/kinds.tri", KINDS), ("src/memory.tri", MEMORY), ("tri.build", MANIFEST)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


class ModelTest(unittest.TestCase):
    """self.kinds and self.memory are the paths of built libraries."""

    @classmethod
    def setUpClass(cls):
        cls.tmp = tempfile.mkdtemp(prefix="trib-test-")
        cls.addClassCleanup(shutil.rmtree, cls.tmp, True)
        cls.dir = os.path.join(cls.tmp, "project")
        cls.env = {"XDG_CACHE_HOME": os.path.join(cls.tmp, "cache"), "POCL_CACHE_DIR": os.path.join(cls.tmp, "pocl"), "TRIB_SERVER": "off"}
        os.environ["POCL_CACHE_DIR"] = cls.env["POCL_CACHE_DIR"]  # read when a device is opened
        write_project(cls.dir)
        run([TRIB, "build"], cls.dir, env=cls.env)
        cls.kinds, cls.memory = (os.path.join(cls.dir, "build", f"lib{name}.so") for name in ("kinds", "memory"))
