"""trib.export and trib.compare: architectures of torchvision and transformers, random networks, names, refusals."""

import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
import unittest
import unittest.mock
import warnings
from collections import OrderedDict

import safetensors.torch
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional as F
from torch.utils import _pytree as pytree

import random_networks
import torch_models
import trib
import trib.nn
from trib import project

warnings.simplefilter("ignore")
RANDOM_COUNT = int(os.environ.get("TRIB_NETWORKS", 30))


class ExportTest(unittest.TestCase):
    def setUp(self):
        self.tmp = pathlib.Path(tempfile.mkdtemp(prefix="trib-torch-"))
        self.addCleanup(shutil.rmtree, self.tmp, True)
        self.enterContext(
            unittest.mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.tmp / "cache"), "TRIB_SERVER": "off"})
        )

    def export(self, model, inputs, **more):
        return trib.export(model, inputs, self.tmp / "net", name="net", **more)

    def source(self):
        return (self.tmp / "net" / "net.tri").read_text()

    def build(self):
        project.build(self.tmp / "net")
        return trib.load(project.library(self.tmp / "net", "net"))

    def assert_same(self, library, model, inputs):
        with torch.no_grad():
            want = model(**inputs) if isinstance(inputs, dict) else model(*inputs)
        want = [leaf for leaf in pytree.tree_leaves(want) if isinstance(leaf, torch.Tensor)]
        given = [leaf for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
        got = library(*given)
        got = got if isinstance(got, tuple) else (got,)
        self.assertEqual(len(got), len(want))
        for g, w in zip(got, want):
            torch.testing.assert_close(
                g, w, rtol=1e-4, atol=1e-5 * max(1.0, float(w.detach().abs().max())), equal_nan=True
            )
        return max(float((g - w).abs().max() / w.abs().max().clamp_min(1e-9)) for g, w in zip(got, want))


class Architectures(ExportTest):
    """Each: export, build, equal results, also for other sizes. With TRIB_REPORT=1 it prints a row for each."""

    def run_one(self, name):
        model, inputs, shapes, more = torch_models.make(name)
        start = time.perf_counter()
        self.export(model, inputs, dynamic_shapes=shapes)
        exported = time.perf_counter()
        library = self.build()
        built = time.perf_counter()
        errors = [self.assert_same(library, model, words) for words in (inputs, more)]
        lines = len(self.source().splitlines())
        self.assertLess(lines, 300, "a trace, not layers")
        self.assert_names(model)
        if os.environ.get("TRIB_REPORT"):
            run = [
                best(lambda: library(*tensors(inputs))),
                best(lambda: model(**inputs) if isinstance(inputs, dict) else model(*inputs)),
            ]
            print(
                f"| {name} | {lines} | {exported - start:.2f} | {built - exported:.2f} | {run[0] * 1e3:.2f} | {run[1] * 1e3:.2f} | {max(errors):.1e} |",
                file=sys.stderr,
            )

    def assert_names(self, model):
        """The file has the state_dict's names, and no tensor twice."""
        known = {*model.state_dict(), *dict(model.named_buffers())}
        saved = safetensors.torch.load_file(self.tmp / "net" / "net.safetensors")
        self.assertLessEqual({name for name in saved if not name.startswith("lifted_tensor")}, known)
        self.assertEqual({name for name, _ in model.named_parameters()} - set(saved), set())


def tensors(inputs):
    return [leaf for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]


def best(call):
    with torch.no_grad():
        call()
        times = []
        for _ in range(5):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    return min(times)


for _name in torch_models.NAMES:
    setattr(Architectures, f"test_{_name}", lambda self, name=_name: self.run_one(name))


class RandomNetworks(ExportTest):
    def test_networks(self):
        """Equal to PyTorch, or refused with a list. TRIB_NETWORKS is their number."""
        refused = 0
        for seed in range(RANDOM_COUNT):
            with self.subTest(seed=seed):
                model, x, axes = random_networks.make(seed)
                shapes = ({axis: Dim("NL"[axis], max=16) for axis in axes},)
                shutil.rmtree(self.tmp / "net", True)
                try:
                    try:
                        self.export(model, (x,), dynamic_shapes=shapes)
                    except torch._dynamo.exc.UserError:  # sizes that PyTorch cannot keep open
                        self.export(model, (x,))
                        axes = ()
                except trib.ExportError as error:
                    self.assertRegex(str(error), r"cannot be exported:\n  aten\.\w+ in \S+.*: \w+")
                    refused += 1
                    continue
                library = self.build()
                for shape in (x.shape, {0: x.shape, 1: (3, *x.shape[1:]), 2: (3, 9, *x.shape[2:])}[len(axes)]):
                    self.assert_same(library, model, (torch.randn(shape),))
        self.assertLess(refused, RANDOM_COUNT // 4)


class Block(nn.Module):
    def __init__(self, width, slope):
        super().__init__()
        self.fc, self.slope = nn.Linear(width, width), slope

    def forward(self, x):
        return nn.functional.leaky_relu(self.fc(x), self.slope) + x


class Stack(nn.Module):
    def __init__(self, slopes=(0.1, 0.1, 0.1)):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.blocks = nn.ModuleList([Block(8, slope) for slope in slopes])
        self.head = nn.Linear(8, 20, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Sorted(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Chosen()

    def forward(self, x):
        return torch.linalg.inv(self.inner(x)) + torch.bernoulli(x.sigmoid())


class Chosen(nn.Module):
    def forward(self, x):
        return torch.special.bessel_j0(x)


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"a": nn.Linear(4, 4), "fn": nn.Linear(4, 4)})
        self.scales = nn.ParameterList([torch.randn(4), torch.randn(4)])
        self.relu = nn.Linear(4, 4)

    def forward(self, x):
        x = self.parts["fn"](self.parts["a"](x))
        return torch.relu(self.relu(x * self.scales[0])) + self.scales[1]


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros(1))

    def forward(self, x):
        self.steps += 1
        return x + self.steps


class Text(ExportTest):
    ids = torch.randint(0, 20, (2, 5))

    def test_loop_over_equal_blocks(self):
        self.export(Stack().eval(), (self.ids,))
        text = self.source()
        self.assertIn("let blocks = [Block() for i in 0..3]", text)
        self.assertIn(
            "for block in blocks { x = block(x) }", re.sub(r"\b[a-z]\w*(?= = block)|(?<=block\()\w+", "x", text)
        )

    def test_constants_that_differ_are_arguments(self):
        model = Stack((0.1, 0.2, 0.3)).eval()
        self.export(model, (self.ids,))
        self.assertIn("layer Block(negative_slope: float)", self.source())
        self.assertIn("[Block(0.1), Block(0.2), Block(0.3)]", self.source())
        self.assert_same(self.build(), model, (self.ids,))

    def test_tied_weights_are_once_in_the_file(self):
        model = Stack().eval()
        self.export(model, (self.ids,))
        self.assertIn("nn.Linear(8, 20, bias=false, weight=embed.weight)", self.source())
        self.assertNotIn("head.weight", safetensors.torch.load_file(self.tmp / "net" / "net.safetensors"))
        self.assert_same(self.build(), model, (self.ids,))

    def test_prefixes_of_wrappers(self):
        self.export(nn.DataParallel(torch.compile(Stack().eval())).eval(), (self.ids,))
        saved = safetensors.torch.load_file(self.tmp / "net" / "net.safetensors")
        self.assertIn("blocks.0.fc.weight", saved)
        self.assertFalse([name for name in saved if "_orig_mod" in name or "module." in name])

    def test_names_that_hide_functions_or_are_none(self):
        model = Named().eval()
        x = torch.randn(2, 4)
        self.export(model, (x,))
        saved = safetensors.torch.load_file(self.tmp / "net" / "net.safetensors")
        self.assertLessEqual({"parts.fn.weight", "relu.weight", "scales.p0"}, set(saved))
        self.assert_same(self.build(), model, (x,))

    def test_layers_of_trits(self):
        model = nn.Sequential(trib.nn.TernaryLinear(8, 16, scale=True), nn.ReLU(), trib.nn.BitLinear(16, 4)).eval()
        x = torch.randn(3, 8)
        self.export(model, (x,), dynamic_shapes=({0: Dim("N")},))
        self.assertIn("nn.TernaryLinear(8, 16, scale=true)", self.source())
        self.assertIn("nn.BitLinear(16, 4)", self.source())
        saved = safetensors.torch.load_file(self.tmp / "net" / "net.safetensors")
        self.assertEqual(saved["0.weight"].dtype, torch.int8)
        self.assert_same(self.build(), model, (x,))

    def test_all_refusals_at_once(self):
        with self.assertRaises(trib.ExportError) as caught:
            self.export(Sorted().eval(), (torch.randn(4, 4),))
        text = str(caught.exception)
        self.assertIn("3 operations cannot be exported:", text)
        self.assertRegex(text, r"aten.special_bessel_j0 in inner: no function of the language computes it")
        self.assertRegex(text, r"aten.bernoulli in the model itself: .*make the random numbers an input")
        self.assertIn("aten.linalg_inv", text)

    def test_training_mode_and_changes_are_refused(self):
        with self.assertRaisesRegex(trib.ExportError, "call model.eval"):
            self.export(Stack(), (self.ids,))
        with self.assertRaisesRegex(trib.ExportError, "a run changes steps"):
            self.export(Counter().eval(), (torch.ones(1),))


class Shadowing(nn.Module):
    """A part with the name of a function that is called too."""

    def __init__(self):
        super().__init__()
        self.conv1d, self.linear = nn.Conv1d(3, 4, 3), nn.Linear(6, 6)

    def forward(self, x):
        return self.linear(self.conv1d(x)) + F.linear(F.conv1d(x, self.conv1d.weight), self.linear.weight)


class OnlyRead(nn.Module):
    """A part that is never called."""

    def __init__(self):
        super().__init__()
        self.conv1d = nn.Conv1d(3, 4, 3)

    def forward(self, x):
        return F.conv1d(x, self.conv1d.weight)


class Recurrent(nn.Module):
    """Gives the outputs, or all results of a run that starts with states."""

    def __init__(self, kind, given, **options):
        super().__init__()
        self.net, self.given = kind(3, 4, **options), given

    def forward(self, x, *states):
        if not self.given:
            return self.net(x)[0] * 2
        return self.net(x, states if len(states) == 2 else states[0])


class LastState(nn.Module):
    """Calls one layer twice, and takes other results."""

    def __init__(self):
        super().__init__()
        self.net = nn.LSTM(3, 4)

    def forward(self, x):
        _, (_, cell) = self.net(x)
        _, state = self.net(x * 2)
        return cell, self.net(x, state)[0]


class Rearranged(nn.Module):
    def forward(self, x):
        return x.swapaxes(0, 1), x.swapdims(-1, 0), x.T, torch.nan_to_num(x), torch.nan_to_num(x, 1.0, 2.0, -3.0)


class Parts(ExportTest):
    """Names that the language lacks, and layers with several results: equal to PyTorch, and so is each part."""

    def check(self, model, *inputs):
        model = model.eval()
        folder = self.export(model, inputs)
        self.assert_same(self.build(), model, inputs)
        found = trib.compare(model, folder, inputs)
        self.assertIsNone(found.first, str(found))
        shutil.rmtree(folder)

    def test_layers_of_trits(self):
        freeze = trib.nn.freeze
        self.check(freeze(nn.Sequential(trib.nn.TernaryLinear(8, 4), nn.ReLU()).eval()), torch.randn(2, 8))
        self.check(freeze(nn.Sequential(trib.nn.TernaryConv2d(3, 4, 3), nn.ReLU()).eval()), torch.randn(2, 3, 8, 8))

    def test_sequences_in_sequences(self):
        inner = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.Tanh()), nn.ReLU())
        self.check(nn.Sequential(inner, nn.Linear(4, 2)), torch.randn(2, 4))

    def test_names_that_are_no_words(self):
        inner = nn.Sequential(OrderedDict([("x-y", nn.Linear(4, 4)), ("z", nn.Linear(4, 4))]))
        model = nn.Sequential(OrderedDict([("a-b", nn.Linear(4, 4)), ("b-c", inner)]))
        self.export(model.eval(), (torch.randn(2, 4),))
        saved = safetensors.torch.load_file(self.tmp / "net" / "net.safetensors")
        self.assertEqual(set(saved), set(model.state_dict()))
        self.check(model, torch.randn(2, 4))

    def test_members_with_names_of_functions(self):
        self.check(Shadowing(), torch.randn(2, 3, 8))
        self.check(OnlyRead(), torch.randn(2, 3, 8))

    def test_recurrent_modules(self):
        x, h, c = torch.randn(2, 5, 3), torch.randn(2, 5, 4), torch.randn(2, 5, 4)
        self.check(Recurrent(nn.LSTM, False, batch_first=True, bidirectional=True), x)
        self.check(Recurrent(nn.RNN, False, num_layers=2, nonlinearity="relu"), x)
        self.check(Recurrent(nn.LSTM, True, num_layers=2), x, h, c)
        self.check(Recurrent(nn.GRU, True, num_layers=2, bias=False), x, h)
        self.check(LastState(), x)
        self.export(Recurrent(nn.GRU, False).eval(), (x,))
        self.assertIn("nn.GRU(3, 4)", self.source())

    def test_transposes_and_nan_to_num(self):
        self.check(Rearranged(), torch.tensor([[1.0, float("nan"), float("inf")], [-float("inf"), 2.0, 3.0]]))

    def test_weight_norm_is_refused(self):
        model = torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 4)).eval()
        with self.assertRaisesRegex(trib.ExportError, "remove_parametrizations"):
            self.export(model, (torch.randn(2, 3),))


class Arguments(ExportTest):
    def test_wrong_arguments_are_named(self):
        x, model = torch.randn(2, 4), nn.Linear(4, 4).eval()
        for wrong in (3, lambda x: x):
            with self.assertRaisesRegex(trib.ArgumentError, "not a torch.nn.Module"):
                self.export(wrong, (x,))
        for name in ("a b/c", "net-1", "", 7):
            with self.assertRaisesRegex(trib.ArgumentError, "cannot name a model"):
                trib.export(model, (x,), self.tmp / "net", name=name)
        (self.tmp / "file").touch()
        for path in (self.tmp / "file", self.tmp / "file" / "net"):
            with self.assertRaisesRegex(trib.ArgumentError, "is a file"):
                trib.export(model, (x,), path)


class Compare(ExportTest):
    def test_first_layer_that_departs(self):
        model, ids = Stack().eval(), torch.randint(0, 20, (2, 5))
        folder = self.export(model, (ids,))
        self.assertIsNone(trib.compare(model, folder, (ids,)).first)
        with torch.no_grad():
            model.blocks[1].fc.weight.mul_(1.1)
        found = trib.compare(model, folder, (ids,))
        self.assertEqual((found.first.path, found.first.cls), ("blocks.1.fc", "Linear"))
        self.assertEqual(
            [row.path for row in found if row.departs],
            ["blocks.1.fc", "blocks.1", "blocks.2.fc", "blocks.2", "head", ""],
        )
        self.assertIn("`blocks.1.fc` (Linear) is the first layer that departs", str(found))


if __name__ == "__main__":
    unittest.main()
