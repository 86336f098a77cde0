"""Host programs choose the stack of the thread that runs a model: networks of the zoo and single operations run with 128 KB, and give the same bits."""
import os
import shutil
import subprocess
import unittest

from project import SOURCE, TRIB, ProjectTest

PROBE = os.path.join(os.path.dirname(TRIB), "tests", "probe")
STACK = 128 << 10
NETWORKS = ("ResNet18", "MobileNetV2", "EfficientNetB0", "VitB16", "TernaryResNet18", "TernaryMobileNetV2", "TernaryVitB16")
# Operations with much memory of their own: rows that a block keeps in its frame, and products of packed activations.
OPERATIONS = """fn rows(x: Tensor<float32, [40, 32700]>) { return softmax(gelu(2.0 * x + 1.0), dim=1) * (x - x.mean(dim=1, keepdim=true)) }
layer trits() {
    param w: Tensor<trit, [700, 90]> = random_ternary([700, 90])
    fn forward(x: Tensor<float32, [70, 700]>) { return ternary_activation(x) @ w }
}
layer pruned() {
    param w: Tensor<float32, [700, 96]> = concat([randn([70, 96]), zeros([630, 96])], dim=0)
    fn forward(x: Tensor<float32, [70, 700]>) { return int8(x) @ threshold_quantize(w) }
}
layer groups() {
    param w: Tensor<float32, [96, 4, 3, 3]> = randn([96, 4, 3, 3])
    fn forward(x: Tensor<float32, [1, 96, 20, 20]>) { return (conv2d(x, w, groups=24), conv2d(int8(x), threshold_quantize(w), groups=24)) }
}
"""


class SmallStack(ProjectTest):
    def run_entry(self, name, *stack):
        one = {min(os.sched_getaffinity(0))}  # so that the caller does all the work
        done = subprocess.run([PROBE, self.path(f"build/lib{name}.so"), f"{name}_desc", *stack], input=f"{'rows' if name == 'rows' else 'forward'} 3 1\n", capture_output=True, text=True,
                              preexec_fn=lambda: os.sched_setaffinity(0, one))
        self.assertEqual(done.returncode, 0, f"{name} {stack}: {done.stderr}")
        self.assertTrue(done.stdout.startswith("ok "), f"{name} {stack}: {done.stdout[:200]}")
        return done.stdout

    def test_same_results(self):
        for name in os.listdir(os.path.join(SOURCE, "examples", "zoo")):
            if name.endswith(".tri"):
                shutil.copy(os.path.join(SOURCE, "examples", "zoo", name), self.dir)
        shutil.copy(os.path.join(SOURCE, "tests", "diff", "zoo_small.tri"), self.dir)
        self.write("operations.tri", OPERATIONS)
        operations = ("rows", "trits", "pruned", "groups")
        manifest = "project zoo\n    version = 1.0\n" + "".join(f"\nmodel {m}\n    sources = zoo_small.tri\n    entry = {m}\n" for m in NETWORKS)
        self.write("tri.build", manifest + "".join(f"\nmodel {m}\n    sources = operations.tri\n    entry = {m}\n" for m in operations))
        self.trib("build")
        for name in NETWORKS + operations:
            with self.subTest(name=name):
                self.assertEqual(self.run_entry(name, str(STACK)), self.run_entry(name))


if __name__ == "__main__":
    unittest.main()
