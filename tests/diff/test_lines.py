"""A run that fails at run time names the line, in the same words in a library, on a device and in the interpreter."""
import unittest

import numpy as np

import inference


def floats(*shape):
    return np.zeros(shape, np.float32)


def ints(*values):
    return np.array(values, np.int64)


# name: arguments, statements from line 2 on, inputs, the line and what is said there
CASES = {
    "scatter": ("x: Tensor<float32, [N]>, i: Tensor<int64, [K]>", "let y = x + 1.0|return scatter(y, 0, i, 2.0)", {"x": floats(4), "i": ints(1, 9)},
                (3, "index 9 is out of range: it must be at least 0 and less than 4")),
    "scatter_add": ("x: Tensor<float32, [N, 2]>, i: Tensor<int64, [K, 2]>", "let y = relu(x)|return relu(scatter_add(y, 0, i, float32(i)) + y)",
                    {"x": floats(4, 2), "i": ints([0, -1])}, (3, "index -1 is out of range: it must be at least 0 and less than 4")),
    "put": ("x: Tensor<float32, [N, 3]>, i: int64", "let y = x + 1.0|return select_scatter(y, ones([3]), 0, i)", {"x": floats(4, 3), "i": np.int64(4)},
            (3, "index 4 is out of range: it must be at least 0 and less than 4")),
    "window": ("x: Tensor<float32, [N]>, i: int64", "let y = x + 1.0|return y[i:i + 3]", {"x": floats(4), "i": np.int64(2)},
               (3, "index 2 is out of range: it must be at least 0 and less than 2")),
    "long_window": ("x: Tensor<float32, [N]>, i: int64", "let y = x + 1.0|return y[i:i + 6]", {"x": floats(4), "i": np.int64(0)},
                    (3, "the input sizes do not fit: a slice ends after the end of its tensor: N = 4")),
    "slice": ("x: Tensor<float32, [N]>, y: Tensor<float32, [K]>", "let z = x[1:]|return z[0:len(y)] * 2.0", {"x": floats(4), "y": floats(7)},
              (3, "the input sizes do not fit: a slice ends after the end of its tensor: N = 4, K = 7")),
    "topk": ("x: Tensor<float32, [N]>", "let y = x + 1.0|return topk(y, 5)[0]", {"x": floats(3)},
             (3, "the input sizes do not fit: a slice ends after the end of its tensor: N = 3")),
    "negative_pad": ("x: Tensor<float32, [N]>", "let y = pad(x, [-2, -2])|return pad(y, [2, 2])", {"x": floats(3)},
                     (2, "the input sizes do not fit: a slice ends after the end of its tensor: N = 3")),
    "convolution": ("x: Tensor<float32, [1, 1, H, W]>", "let y = x + 1.0|return conv2d(y, ones([2, 1, 3, 3]))", {"x": floats(1, 1, 2, 5)},
                    (3, "the input sizes do not fit: the window of a convolution or pooling is larger than its padded input: H = 2, W = 5")),
    "pooling": ("x: Tensor<float32, [1, 1, H, W]>", "let y = relu(x)|return maxpool2d(y, 3)", {"x": floats(1, 1, 2, 5)},
                (3, "the input sizes do not fit: the window of a convolution or pooling is larger than its padded input: H = 2, W = 5")),
    "target": ("x: Tensor<float32, [N, 3]>, t: Tensor<int64, [N]>", "let y = x + 1.0|return cross_entropy(y, t)", {"x": floats(2, 3), "t": ints(1, 7)},
               (3, "index 7 is out of range: it must be at least 0 and less than 3")),
}


class LinesTest(inference.InferenceTest):
    def fail_at(self, name, emit, *devices):
        arguments, statements, inputs, (line, text) = CASES[name]
        body = "".join(f"    {s}\n" for s in statements.split("|"))
        self.write("net.tri", f"layer Net({arguments}) {{\n{body}}}\n")
        self.write("tri.build", f"project lines\n\nmodel net\n    sources = net.tri\n    entry = Net\n    emit = {emit}\n")
        self.trib("build")
        for device in devices:
            with self.subTest(name=name, device=device):
                said = self.fails("run", "net", "--no-build", "--device", device, *self.input_flags(inputs))
                self.assertIn(f"failed: net.tri:{line}: {text}\n", said + "\n")


class Programs(LinesTest):
    def test_all(self):
        for name in CASES:
            self.fail_at(name, "library", "cpu", "reference")

    def test_sizes_of_outputs(self):
        self.write("net.tri", "layer Net(x: Tensor<float32, [N]>) {\n    return zeros([len(x) - 4])\n}\n")
        self.write("tri.build", "project lines\n\nmodel net\n    sources = net.tri\n    entry = Net\n")
        said = self.fails("run", "net", *self.input_flags({"x": floats(3)}))
        self.assertIn("the input sizes do not fit: output `out` would have the size -1", said)


class Devices(LinesTest):
    def test_opencl(self):
        for name in ("scatter", "put", "slice", "pooling"):
            self.fail_at(name, "library opencl", "opencl")


if __name__ == "__main__":
    unittest.main()
