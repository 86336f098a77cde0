"""Builtins that are composed of others, against PyTorch: element-wise functions, reductions, indices, shapes, losses."""
import unittest

from torch_batch import BatchTest, torch

F = torch.nn.functional
FLOATS = (torch.float32, torch.float64)


def placed(x, src, dim, start):
    """x.slice_scatter(src, dim, start, start + n), of which PyTorch 1.13 takes another part."""
    y = x.clone()
    y.narrow(dim, start, src.shape[dim]).copy_(src)
    return y


class ComposedTest(BatchTest):
    def same(self, name, *arguments, tolerance=None, function=None, **named):
        """`name` of the language and of PyTorch, with these arguments: tensors and numbers."""
        inputs, words = {}, []
        for k, a in enumerate(arguments):
            if isinstance(a, torch.Tensor):
                inputs[f"a{k}"] = a
            words.append(f"{{a{k}}}" if isinstance(a, torch.Tensor) else self.word(a))
        words += [f"{k}={self.word(v)}" for k, v in named.items()]
        function = function or getattr(torch, name, None) or getattr(F, name)
        self.case(f"{name}({', '.join(words)})", inputs, function(*arguments, **named), tolerance)

    @staticmethod
    def word(v):
        return f'"{v}"' if isinstance(v, str) else str(v).removeprefix("torch.").lower()


class Elementwise(ComposedTest):
    def test_functions(self):
        for dtype in FLOATS:
            x, y = self.tensor(self.shape(), dtype), self.tensor([4], dtype)
            for name in ("square", "reciprocal", "trunc", "frac", "deg2rad", "rad2deg", "asinh"):
                self.same(name, x)
            self.same("acosh", 1 + x.abs())
            self.same("atanh", x.tanh() * 0.9)
            self.same("asinh", y * 1e6)
            self.same("logit", x.sigmoid())
            self.same("logit", y, 0.1)
            near = y.round()
            for name in ("xlogy", "logaddexp", "hypot", "fmax", "fmin"):
                self.same(name, near if name == "xlogy" else y, y.abs() + 0.5)
            self.same("isclose", y, y + torch.tensor([0, 1e-9, 1, 1e-3], dtype=dtype))
            self.same("isclose", y, y + 0.01, 0.0, 0.1)
            self.same("softmin", x, -1, function=F.softmin)
            a, b = self.tensor([4], dtype), self.tensor([4], dtype) + 7
            for name in ("addcmul", "addcdiv"):
                self.same(name, y, a, b)
                self.same(name, y, a, b, value=0.5)
        ints = self.tensor([5], torch.int32)
        for name in ("square", "trunc", "nan_to_num"):
            self.same(name, ints)
        self.same("hardtanh", self.tensor([7], torch.int64))
        self.check()

    def test_special_values(self):
        inf, nan = float("inf"), float("nan")
        for dtype in FLOATS:
            x = torch.tensor([0.0, -0.0, 1.0, -2.5, inf, -inf, nan, inf], dtype=dtype)
            y = torch.tensor([nan, 0.0, nan, 1.0, inf, inf, 2.0, -inf], dtype=dtype)
            for name in ("xlogy", "logaddexp", "hypot", "fmax", "fmin", "isclose"):
                self.same(name, x, y)
            self.same("isclose", x, y.flip(0), equal_nan=True)
            for name in ("trunc", "asinh", "acosh", "nansum", "nanmean", "nan_to_num"):
                self.same(name, x)
            self.same("nan_to_num", x, 1.5, 2.0, -3.0)
            zeros = torch.full([2, 2], nan, dtype=dtype)
            self.same("addmm", zeros, zeros * 0 + 1, zeros * 0 + 1, beta=0)
            self.same("addmm", zeros, torch.ones(2, 3, dtype=dtype), torch.ones(3, 2, dtype=dtype), beta=0)
        self.check()

    def test_reductions(self):
        for dtype in FLOATS:
            x = self.tensor([3, 4, 5], dtype)
            a = self.axis(3)
            self.same("count_nonzero", x.round())
            self.same("count_nonzero", x.round(), a)
            self.same("nansum", x, a, True)
            self.same("nanmean", x.where(x > -1, torch.tensor(float("nan"), dtype=dtype)), 2)
            self.case(f"aminmax({{x}}, {a}, true)", {"x": x}, tuple(torch.aminmax(x, dim=a, keepdim=True)))
            self.same("diff", x, 2, a)
            self.same("dist", x, x.flip(0), 1.0)
            line, many = x[0, 0].sort()[0], x.sort(-1)[0]
            for right in (False, True):
                self.case(f"searchsorted({{l}}, {{x}}, right={self.word(right)})", {"l": line, "x": x}, torch.searchsorted(line, x, right=right))
                self.case(f"searchsorted({{l}}, {{x}}, {self.word(right)})", {"l": many, "x": many[..., :2]},
                          torch.searchsorted(many, many[..., :2].contiguous(), right=right))
                self.case(f"bucketize({{x}}, {{l}}, right={self.word(right)})", {"l": line, "x": line}, torch.bucketize(line, line, right=right))
            self.same("bucketize", line, line, out_int32=True)
            self.case("diff({x}, 1, 1, prepend={p}, append={p})", {"x": x, "p": x[:, :1]}, x.diff(1, 1, x[:, :1], x[:, :1]))
            self.case("diff({x}, 0, 1, prepend={p})", {"x": x, "p": x[:, :1]}, x.diff(0, 1, x[:, :1]))
            self.same("softmin", x, 1, dtype=torch.float64, function=F.softmin)
            self.case('cdist({x}, {x}, 2.0, "use_mm_for_euclid_dist")', {"x": x}, torch.cdist(x, x), 1e-3)
        self.same("diff", self.tensor([6], torch.bool))
        self.same("count_nonzero", self.tensor([3, 2], torch.bool), 0)
        self.check()


class Moved(ComposedTest):
    def test_shapes(self):
        for dtype in (torch.float32, torch.int64, torch.bool):
            x = self.tensor([2, 6, 3], dtype)
            self.case("reshape_as({x}, {y})", {"x": x, "y": self.tensor([9, 4])}, x.reshape(9, 4))
            self.case("{x}.view_as({y})", {"x": x, "y": self.tensor([36])}, x.reshape(36))
            self.case("{y}.expand_as({x})", {"x": x, "y": x[0, :1]}, x[0, :1].expand_as(x))
            self.same("ravel", x)
            self.same("unflatten", x, 1, [2, -1])
            self.same("fliplr", x)
            self.same("flipud", x)
            for name in ("hstack", "vstack"):
                for parts in ((x, x), (x[0, 0], x[1, 1])):
                    self.case(f"{name}([{{a}}, {{b}}])", {"a": parts[0], "b": parts[1]}, getattr(torch, name)(parts))
            self.same("repeat_interleave", x, 3)
            self.same("repeat_interleave", x, 2, self.axis(3))
            self.same("repeat_interleave", x, 2, dim=1)
            self.case("new_zeros({x}, [2, 3])", {"x": x}, x.new_zeros(2, 3))
            self.case("{x}.new_ones([2], dtype=float32)", {"x": x}, x.new_ones(2, dtype=torch.float32))
            for indexing in ("ij", "xy"):
                a, b = x[0, 0], x[0, :, 0]
                self.case(f'meshgrid({{a}}, {{b}}, indexing="{indexing}")', {"a": a, "b": b}, torch.meshgrid(a, b, indexing=indexing))
            if dtype == torch.bool:
                continue
            for k in (0, 2, -1):
                self.same("diag", x[0, 0], k)
                self.same("diag", x[0], k)
                self.same("diag_embed", x, k)
            self.case("repeat({x}, [2])", {"x": x}, x.tile(2))
        self.same("cross", self.tensor([4, 3]), self.tensor([4, 3]), dim=1)
        self.same("cross", self.tensor([3, 4]), self.tensor([3, 1]), dim=0, function=torch.linalg.cross)
        self.same("addmv", self.tensor([3]), self.tensor([3, 4]), self.tensor([4]), beta=2, alpha=0.5)
        self.check()

    def test_indices(self):
        for dtype in (torch.float32, torch.int64):
            x = self.tensor([5, 4, 3], dtype)
            for a in (0, 1, -1):
                n = x.shape[a]
                index = torch.randperm(n)[: n - 1]
                source = x.index_select(a, index.flip(0)) * 2
                self.case(f"index_add({{x}}, {a}, {{i}}, {{s}})", {"x": x, "i": index, "s": source}, x.index_add(a, index, source))
                self.case(f"{{x}}.index_add({a}, {{i}}, {{s}}, alpha=3)", {"x": x, "i": index, "s": source}, x.index_add(a, index, source, alpha=3))
                self.case(f"index_copy({{x}}, {a}, {{i}}, {{s}})", {"x": x, "i": index, "s": source}, x.index_copy(a, index, source))
                self.case(f"index_fill({{x}}, {a}, {{i}}, 7)", {"x": x, "i": index}, x.index_fill(a, index, 7))
                self.same("take_along_dim", x, x.argsort(a), a)
                self.case(f"slice_scatter({{x}}, {{s}}, {a}, 1, 3)", {"x": x, "s": x.narrow(a, 0, 2)}, placed(x, x.narrow(a, 0, 2), a, 1))
            self.case("index_add({x}, 0, {i}, {s})", {"x": x, "i": torch.tensor([1, 1, 1]), "s": x[:3]}, x.index_add(0, torch.tensor([1, 1, 1]), x[:3]))
            self.same("take_along_dim", x, torch.tensor([3, 1, 59]))
            self.same("take_along_dim", x, torch.tensor([[[2]], [[1]], [[0]], [[1]], [[2]]]), 2)
            self.case("slice_scatter({x}, {s}, 0, 2)", {"x": x, "s": x[:3]}, placed(x, x[:3], 0, 2))
        self.check()


class Network(ComposedTest):
    def test_losses(self):
        for reduction in ("mean", "sum", "none"):
            x, y, z = (self.tensor([4, 5]) for _ in range(3))
            sign = torch.where(self.tensor([4, 5]) > 0, 1.0, -1.0)
            hot = (sign > 0).float()
            self.same("margin_ranking_loss", x, y, sign, 0.3, reduction=reduction, function=F.margin_ranking_loss)
            self.same("hinge_embedding_loss", x, sign, 0.7, reduction=reduction, function=F.hinge_embedding_loss)
            self.same("soft_margin_loss", x, sign, reduction=reduction)
            self.same("multilabel_soft_margin_loss", x, hot, reduction=reduction)
            self.same("multilabel_soft_margin_loss", x, hot, y[0].abs(), reduction=reduction)
            counts = y.abs().round()
            for logs in (True, False):
                for full in (True, False):
                    self.same("poisson_nll_loss", x if logs else x.abs(), counts, log_input=logs, full=full, reduction=reduction,
                              function=F.poisson_nll_loss)
            self.same("gaussian_nll_loss", x, y, z.abs(), full=True, reduction=reduction)
            self.same("gaussian_nll_loss", x, y, z[:, 0].abs(), reduction=reduction)
            for swap in (False, True):
                self.same("triplet_margin_loss", x, y, z, 0.5, swap=swap, reduction=reduction, function=F.triplet_margin_loss)
            self.same("cosine_embedding_loss", x, y, sign[:, 0], 0.1, reduction=reduction, function=F.cosine_embedding_loss)
        self.same("pairwise_distance", x, y, 1.0)
        self.same("pairwise_distance", x, y, keepdim=True)
        self.check()

    def test_layers(self):
        x = self.tensor([2, 6, 5, 3])
        self.same("channel_shuffle", x, 3, function=lambda x, g: x.reshape(2, g, 6 // g, 5, 3).transpose(1, 2).reshape(x.shape))
        for size in (1, 2, 5):
            self.same("local_response_norm", x, size)
        self.same("local_response_norm", x[:, :, 0], 3, alpha=0.5, beta=0.5, k=2.0)
        self.same("adaptive_avgpool1d", x[:, :, 0], 2, function=F.adaptive_avg_pool1d)
        self.same("adaptive_avgpool1d", x[0, :, 0], 3, function=lambda x, n: F.adaptive_avg_pool1d(x[None], n)[0])
        self.check()

    def test_sizes_at_run_time(self):
        x, i = self.tensor([6, 3]), torch.tensor([4, 0, 2])
        self.case("index_add({x}, 0, {i}, {s})", {"x": x, "i": i, "s": x[:3]}, x.index_add(0, i, x[:3]))
        self.case("repeat_interleave({x}, 2, 0)", {"x": x}, x.repeat_interleave(2, 0))
        self.case("diff({x}, 1, 0)", {"x": x}, x.diff(dim=0))
        self.case("diag({v})", {"v": x[0]}, x[0].diag())
        self.case("searchsorted({v}, {x})", {"v": x[0].sort()[0], "x": x}, torch.searchsorted(x[0].sort()[0], x))
        self.case("slice_scatter({x}, {x}[:2], 0, 1, 3)", {"x": x}, placed(x, x[:2], 0, 1))
        self.check(dynamic=True)


class Devices(ComposedTest):
    def test_opencl(self):
        x, i = self.tensor([6, 3]), torch.tensor([4, 0, 2])
        self.case("index_add({x}, 0, {i}, {s})", {"x": x, "i": i, "s": x[:3]}, x.index_add(0, i, x[:3]))
        self.case("diag_embed({x}, 1)", {"x": x}, x.diag_embed(1))
        self.case("asinh({x})", {"x": x}, x.asinh())
        self.case("searchsorted({v}, {x})", {"v": x[0].sort()[0], "x": x}, torch.searchsorted(x[0].sort()[0], x))
        self.check_opencl()


if __name__ == "__main__":
    unittest.main()
