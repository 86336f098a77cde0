"""Convolutions, pooling, padding, resizing and the normalisations of channels against PyTorch."""
import unittest

import torch
import torch.nn.functional as F

from torch_ops import Case, TorchTest, Value, safetensors


def numbers(v):
    """As the language writes it."""
    if v is None or isinstance(v, bool):
        return str(v).lower()
    return f'"{v}"' if isinstance(v, str) else str(v)


def options(**given):
    return "".join(f", {k}={numbers(v)}" for k, v in given.items())


class Convolutions(TorchTest):
    def geometry(self, n):
        """Random options of a convolution over n dims that leave something of the input: (sizes, kernel, options)."""
        pick = lambda *of: self.rng.choice(of)
        pair = lambda *of: pick(*of) if n == 1 or self.rng.random() < 0.5 else (pick(*of), pick(*of))
        kernel = [pick(1, 1, 2, 3, 3, 5) for _ in range(n)]
        more = {}
        if self.rng.random() < 0.6:
            more["dilation"] = pair(1, 2, 3)
        if self.rng.random() < 0.2:
            more["padding"] = pick("same", "valid")
        else:
            more["stride"], more["padding"] = pair(1, 2, 3), pair(0, 1, 2)
        dilation = more.get("dilation", 1)
        reach = [(k - 1) * (dilation if isinstance(dilation, int) else dilation[i]) + 1 for i, k in enumerate(kernel)]
        return [r + self.rng.randrange(0, 9) for r in reach], kernel, more

    def convolution(self, n, kind):
        sizes, kernel, more = self.geometry(n)
        groups = self.rng.choice([1, 1, 2, 3, 8])
        each = self.rng.choice([1, 2, 4, 5, 17])
        channels, out = groups * each, groups * self.rng.choice([1, 2, 4, 9, 20])
        batch = [] if self.rng.random() < 0.2 else [self.rng.choice([1, 1, 2, 3])]
        dims = len(batch) + n
        some = tuple(k for k in range(dims + 1) if k != len(batch) and self.rng.random() < 0.5)
        built = self.rng.random() < 0.6
        shape, wshape = batch + [channels] + sizes, [out, each] + kernel
        if kind == "float":
            x, w = self.floats(*shape, open_dims=some), self.floats(*wshape, weight=built)
        elif kind == "float16":
            x, w = self.floats(*shape, dtype=torch.float16, open_dims=some), self.floats(*wshape, dtype=torch.float16, weight=built)
        elif kind == "trit":
            x, w = self.floats(*shape, open_dims=some), self.trits(*wshape, weight=built)
        elif kind == "int8 trit":
            x, w = self.ints(*shape, open_dims=some), self.trits(*wshape, weight=built)
        else:
            x, w = self.ints(*shape, open_dims=some), self.ints(*wshape, weight=built)
        values, bias = {"x": x, "w": w}, None
        if self.rng.random() < 0.5:
            values["b"] = self.floats(out, dtype=x.tensor.dtype) if x.dtype.startswith("float") else self.ints(out, dtype=torch.int32)
            bias = values["b"].tensor.double()
        conv = F.conv2d if n == 2 else F.conv1d
        xs, ws = x.tensor.double(), w.tensor.double()
        want = conv(xs, ws, bias, **more, groups=groups)
        bound = conv(xs.abs(), ws.abs(), None if bias is None else bias.abs(), **more, groups=groups)
        if kind == "float16":
            bound = 200 * bound
        if not x.dtype.startswith("float"):
            want = want.to(torch.int32)
        name = "depthwise_conv2d" if n == 2 and groups == channels and groups > 1 and self.rng.random() < 0.5 else f"conv{n}d"
        if name != "depthwise_conv2d" and groups != 1:
            more["groups"] = groups
        self.case(f"{name}(x, w{', b' if bias is not None else ''}{options(**more)})", want, bound, want.dtype == torch.int32, **values)

    def test_convolutions(self):
        for kind in ("float", "trit", "int8 trit", "int8", "float16"):
            for _ in range(6 if kind != "float16" else 2):
                self.convolution(2, kind)
            self.convolution(1, kind)
        self.compare()

    def test_levels(self):
        for kind in ("float", "trit", "int8 trit"):
            self.convolution(2, kind)
        self.compare(self.rng.choice(["-O0", "-O2"]))

    def test_chains_of_trits(self):
        """Values between two kernels keep the layout of the kernels."""
        for pick in range(4):
            x, w, v = self.ints(2, 5, 9, 8, dtype=torch.int8), self.trits(7, 5, 3, 3, weight=True), self.trits(3, 7, 2, 3, weight=True)
            first = F.conv2d(x.tensor.double(), w.tensor.double(), padding=1)
            between, more = [("relu(y)", F.relu(first)), ("y + y.sum(dim=[2, 3], keepdim=true)", first + first.sum((2, 3), keepdim=True)),
                             ("maxpool2d(y, 2)", F.max_pool2d(first, 2)), ("y[:, :, 1:]", first[:, :, 1:])][pick]
            want = F.conv2d(torch.clip(more, -100, 100), v.tensor.double()).to(torch.int32)
            self.case(f"conv2d(int8(clip({between.replace('y', 'conv2d(x, w, padding=1)')}, -100, 100)), v)", want, exact=True, x=x, w=w, v=v)
        self.compare()

    def test_zero_trits(self):
        """A zero weight skips its input, also an infinite one."""
        x = self.floats(2, 4, 5, 5)
        x.tensor[0, 1, 2, 2], x.tensor[1, 3, 0, 1] = float("inf"), float("nan")
        for groups in (1, 2, 4):
            for built in (True, False):
                w = self.trits(8, 4 // groups, 3, 3, weight=built)
                want = torch.zeros(2, 8, 3, 3)
                for position in range(9):  # of the weight, one element at a time
                    i, j = divmod(position, 3)
                    for out in range(8):
                        for k in range(4 // groups):
                            part = x.tensor[:, out // (8 // groups) * (4 // groups) + k, i:i + 3, j:j + 3]
                            sign = w.tensor[out, k, i, j].item()
                            want[:, out] += part if sign > 0 else -part if sign < 0 else torch.zeros(())
                self.case(f"conv2d(x, w, groups={groups})", want, 40 * torch.ones(()), x=x, w=w)
        self.compare()

    def test_layers(self):
        """The modules of nn with the parameters of PyTorch's, by name."""
        nn, pick = torch.nn, self.rng.choice
        mode = pick(["zeros", "reflect", "replicate", "circular"])
        body = [(f"nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=false, padding_mode=\"{mode}\")", nn.Conv2d(3, 8, 3, 2, 1, bias=False, padding_mode=mode)),
                ("nn.BatchNorm2d(8)", nn.BatchNorm2d(8)),
                ("nn.ReLU()", nn.ReLU()),
                ("nn.MaxPool2d(3, 2, 1)", nn.MaxPool2d(3, 2, 1)),
                ("nn.Conv2d(8, 12, (3, 1), padding=\"same\", groups=4)", nn.Conv2d(8, 12, (3, 1), padding="same", groups=4)),
                ("nn.GroupNorm(3, 12)", nn.GroupNorm(3, 12)),
                ("nn.Upsample(scale_factor=2, mode=\"bilinear\")", nn.Upsample(scale_factor=2, mode="bilinear")),
                ("nn.ZeroPad2d((1, 2, 0, 1))", nn.ZeroPad2d((1, 2, 0, 1))),
                ("nn.DepthwiseConv2d(12, 3, dilation=2)", nn.Conv2d(12, 12, 3, dilation=2, groups=12)),
                ("nn.AvgPool2d(2, ceil_mode=true)", nn.AvgPool2d(2, ceil_mode=True)),
                ("nn.AdaptiveAvgPool2d((3, 2))", nn.AdaptiveAvgPool2d((3, 2))),
                ("nn.Flatten()", nn.Flatten()),
                ("nn.Linear(72, 5)", nn.Linear(72, 5))]
        net = nn.Sequential(*[m for _, m in body]).eval()
        for name, t in net.state_dict().items():
            if t.dtype == torch.float32:
                t.copy_(torch.rand_like(t) + 0.5 if name.endswith("var") else torch.randn_like(t) / 4)
        x = self.floats(2, 3, 30, 26)
        self.write("net.tri", "import nn\nlayer Net() {\n    let layers = [\n        " + ",\n        ".join(s for s, _ in body) +
                   "\n    ]\n    fn forward(x: Tensor<float32, [N, 3, H, W]>) {\n        let y = x\n        for f in layers { y = f(y) }\n        return y\n    }\n}\n")
        self.write("tri.build", "project net\n    version = 1.0\n\nmodel net\n    sources = net.tri\n    entry = Net\n    weights = net.safetensors\n"
                                "    input x = float32 [?, 3, 30, 26]\n")
        self.write("net.safetensors", safetensors({f"layers.{k}": Value(t) for k, t in net.state_dict().items()}))
        with torch.no_grad():
            want = net(x.tensor)
        self.trib("build")
        self.check_both("net", Case("Net()", want, {"x": x}, 10 * torch.ones(()), False))


class Windows(TorchTest):
    def image(self, channels=3, **more):
        batch = [] if self.rng.random() < 0.2 else [self.rng.choice([1, 2])]
        shape = batch + [channels, self.rng.randrange(6, 15), self.rng.randrange(6, 15)]
        some = tuple(k for k in (len(shape) - 2, len(shape) - 1) if self.rng.random() < 0.5)
        return self.floats(*shape, open_dims=some, **more)

    def window(self):
        pick = lambda *of: self.rng.choice(of)
        kernel = pick(2, 3, (2, 3), (3, 1), (4, 2))
        least = kernel if isinstance(kernel, int) else min(kernel)
        more = {"padding": self.rng.randrange(0, least // 2 + 1)}
        if self.rng.random() < 0.7:
            more["stride"] = pick(1, 2, 3, (2, 1))
        return kernel, {**more, "ceil_mode": pick(True, False)}

    def test_pooling(self):
        for _ in range(8):
            kernel, more = self.window()
            more["dilation"] = self.rng.choice([1, 1, 2])
            x = self.image()
            try:
                want = F.max_pool2d(x.tensor, kernel, **more)
            except RuntimeError:  # no window fits
                continue
            self.case(f"maxpool2d(x, {kernel}{options(**more)})", want, exact=True, x=x)
        for _ in range(8):
            kernel, more = self.window()
            more["count_include_pad"] = self.rng.choice([True, False])
            if self.rng.random() < 0.2:
                more["divisor_override"] = 5
            x = self.image()
            self.case(f"avgpool2d(x, {kernel}{options(**more)})", F.avg_pool2d(x.tensor, kernel, **more), x=x)
        x = self.floats(2, 3, 9, 9)
        more = {"stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": False}
        self.case(f"avgpool2d(x, 4{options(**more)})", F.avg_pool2d(x.tensor, 4, **more), x=x)
        bytes8 = self.ints(2, 3, 9, 9)
        self.case("maxpool2d(x, 3, 2, 1)", F.max_pool2d(bytes8.tensor.double(), 3, 2, 1).to(torch.int8), exact=True, x=bytes8)
        pixels = Value((bytes8.tensor.int() + 128).to(torch.uint8))
        self.case("maxpool2d(x, 3, 2, 1)", F.max_pool2d(pixels.tensor.double(), 3, 2, 1).to(torch.uint8), exact=True, x=pixels)
        for size in (1, 3, (5, 4), (None, 2), (7, 7)):
            x = self.image()
            self.case(f"adaptive_avgpool2d(x, {str(size).replace('None', 'none')})", F.adaptive_avg_pool2d(x.tensor, size), x=x)
        for shape in ((2, 3, 11), (3, 12)):
            x = self.floats(*shape, open_dims=(len(shape) - 1,))
            self.case("nn.MaxPool1d(3, 2, 1)(x)", F.max_pool1d(x.tensor, 3, 2, 1), exact=True, x=x)
            self.case("nn.AvgPool1d(3, padding=1, ceil_mode=true)(x)", F.avg_pool1d(x.tensor, 3, padding=1, ceil_mode=True), x=x)
            self.case("nn.AdaptiveAvgPool1d(4)(x)", F.adaptive_avg_pool1d(x.tensor, 4), x=x)
        x = self.image()
        self.case("global_avgpool(x)", F.adaptive_avg_pool2d(x.tensor, 1), x=x)
        self.compare()

    def test_padding_and_resizing(self):
        for mode in ("constant", "reflect", "replicate", "circular"):
            for _ in range(2):
                x = self.image()
                if x.tensor.dim() == 3 and mode != "constant":
                    x = self.floats(1, *x.tensor.shape)
                low = -2 if mode == "constant" else 0
                p = [self.rng.randrange(low, 5) for _ in range(4)]
                value = {"value": 1.5} if mode == "constant" else {}
                self.case(f"pad(x, {p}{options(mode=mode, **value)})", F.pad(x.tensor, p, mode, **value), exact=True, x=x)
        bytes8 = self.ints(2, 3)
        self.case("pad(x, [1, 0, 2, 1], value=-7)", F.pad(bytes8.tensor, [1, 0, 2, 1], value=-7), exact=True, x=bytes8)
        for mode in ("nearest", "bilinear"):
            for _ in range(4):
                x = self.image()
                batched = x.tensor if x.tensor.dim() == 4 else x.tensor[None]
                known = not x.open_dims
                more = self.rng.choice([{"scale_factor": self.rng.choice([2, 3, 1.5 if known else 4])}, {"size": (11, 19)}, {"size": 5}])
                if mode == "bilinear":
                    more["align_corners"] = self.rng.choice([True, False])
                want = F.interpolate(batched, mode=mode, **more)
                self.case(f"upsample2d(x{options(mode=mode, **more)})", want if x.tensor.dim() == 4 else want[0], x=x,
                          bound=10 * torch.ones(()))
        x = self.floats(1, 2, 5, 6)  # not what the sizes would give
        for mode in ("nearest", "bilinear"):
            self.case(f"upsample2d(x{options(scale_factor=1.7, mode=mode)})", F.interpolate(x.tensor, scale_factor=1.7, mode=mode), x=x)
        self.compare()

    def test_norms(self):
        for shape, groups in (((2, 6, 5, 7), 3), ((3, 4), 2), ((1, 8, 9), 8)):
            x, w, b = self.floats(*shape, open_dims=tuple(range(2, len(shape)))), self.floats(shape[1]), self.floats(shape[1])
            self.case(f"group_norm(x, {groups}, w, b)", F.group_norm(x.tensor, groups, w.tensor, b.tensor), 10 * torch.ones(()), x=x, w=w, b=b)
            self.case(f"group_norm(x, {groups}, eps=1e-3)", F.group_norm(x.tensor, groups, eps=1e-3), 10 * torch.ones(()), x=x)
            m, v = self.floats(shape[1]), Value(torch.rand(shape[1]) + 0.5)
            self.case("batch_norm(x, m, v, w, b)", F.batch_norm(x.tensor, m.tensor, v.tensor, w.tensor, b.tensor), 10 * torch.ones(()),
                      x=x, m=m, v=v, w=w, b=b)
            self.case("batch_norm(x, m, v, none, b, 1e-3)", F.batch_norm(x.tensor, m.tensor, v.tensor, None, b.tensor, eps=1e-3),
                      10 * torch.ones(()), x=x, m=m, v=v, b=b)
            if shape[0] > 1:
                self.case("batch_norm(x, training=true)", F.batch_norm(x.tensor, None, None, training=True), 10 * torch.ones(()), x=x)
        x, w, b = self.floats(3, 4, 5), self.floats(4, 5), self.floats(4, 5)
        self.case("layer_norm(x, [4, 5], w, b)", F.layer_norm(x.tensor, [4, 5], w.tensor, b.tensor), 10 * torch.ones(()), x=x, w=w, b=b)
        self.case("layer_norm(x, w, b)", F.layer_norm(x.tensor, [4, 5], w.tensor, b.tensor), 10 * torch.ones(()), x=x, w=w, b=b)
        self.case("layer_norm(x, 5)", F.layer_norm(x.tensor, [5]), 10 * torch.ones(()), x=x)
        self.compare()


class Devices(Convolutions):
    def test_convolutions(self):
        for kind in ("float", "trit", "int8 trit", "int8"):
            self.convolution(2, kind)
        self.convolution(1, "float")
        x = self.floats(1, 2, 9, 8)
        self.case("maxpool2d(x, 3, 2, 1)", F.max_pool2d(x.tensor, 3, 2, 1), exact=True, x=x)
        self.case("avgpool2d(x, 2, padding=1, count_include_pad=false)", F.avg_pool2d(x.tensor, 2, padding=1, count_include_pad=False), x=x)
        self.case("pad(x, [2, 3, 1, 0], \"reflect\")", F.pad(x.tensor, [2, 3, 1, 0], "reflect"), exact=True, x=x)
        self.case("upsample2d(x, 2, mode=\"bilinear\")", F.interpolate(x.tensor, scale_factor=2, mode="bilinear"), bound=10 * torch.ones(()), x=x)
        self.compare("--emit=library,opencl", devices=("opencl",))

    test_levels = test_chains_of_trits = test_zero_trits = test_layers = None


if __name__ == "__main__":
    unittest.main()
