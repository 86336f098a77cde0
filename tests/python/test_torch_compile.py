"""torch.compile with the backend "trib": results, dynamic sizes, the cache, weights that change, graphs that stay
eager, training."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import torch
from torch import nn
from torch.utils import _pytree as pytree

import torch_models
import trib
from trib.pytorch import dynamo

PACKAGE = str(pathlib.Path(trib.__file__).parent.parent)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv, self.norm, self.relu = (
            nn.Conv2d(width, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.relu(self.norm(self.conv(x))) + x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.blocks = nn.ModuleList([Block(8) for _ in range(3)])
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.fc(x.mean((2, 3)))


class Mixed(nn.Module):
    """An operation in the middle that the language lacks."""

    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 6), nn.Tanh())
        self.b = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 4), nn.Sigmoid())

    def forward(self, x):
        return self.b(torch.special.bessel_j0(self.a(x)))


class CompileTest(unittest.TestCase):
    def setUp(self):
        self.tmp = pathlib.Path(tempfile.mkdtemp(prefix="trib-torch-"))
        self.addCleanup(shutil.rmtree, self.tmp, True)
        self.enterContext(unittest.mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.tmp), "TRIB_SERVER": "off"}))
        self.enterContext(torch.no_grad())
        torch._dynamo.reset()
        dynamo._named.clear()
        torch.manual_seed(0)

    def entries(self):
        folder = self.tmp / "trib" / "torch"
        return [entry for entry in folder.iterdir() if (entry / "call.json").is_file()] if folder.is_dir() else []

    def assert_same(self, compiled, model, *inputs):
        torch.testing.assert_close(compiled(*inputs), model(*inputs), rtol=1e-4, atol=1e-5)

    def test_dynamic_sizes(self):
        model = Net().eval()
        compiled = torch.compile(model, backend=dynamo.backend)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for count in (2, 3, 5, 7):
                self.assert_same(compiled, model, torch.randn(count, 3, 8, 8))
        self.assertEqual(len(self.entries()), 2)  # one for 2, one for all others
        text = next((e / "graph.tri").read_text() for e in self.entries() if "[N," in (e / "graph.tri").read_text())
        self.assertIn("let blocks = [Block() for i in 0..3]", text)

    def test_architectures(self):
        """With sizes of the examples, then with open ones."""
        for name in ("mobilenet_v3", "bert", "gpt2", "t5_encoder"):
            model, first, _, second = torch_models.make(name)
            compiled = torch.compile(model, backend=dynamo.backend)
            for inputs in (first, second):
                with self.subTest(name=name), warnings.catch_warnings():
                    warnings.simplefilter("error", UserWarning)
                    words = inputs if isinstance(inputs, dict) else {"x": inputs[0]}
                    got, want = (list(pytree.tree_leaves(call(**words))) for call in (compiled, model))
                    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)

    def test_tensors_that_a_graph_makes(self):
        table = torch.randn(4)

        def function(x):
            return x * torch.tensor([1.0, 2.0, 3.0, 4.0]) + table + torch.arange(4)

        self.assert_same(torch.compile(function, backend=dynamo.backend), function, torch.randn(3, 4))

    def test_empty_tensors_add_nothing(self):
        def function(x):
            return torch.cat([torch.tensor([]), x.relu()], -2) + torch.cat([x, torch.tensor([]), x], 1)[:, 3:]

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assert_same(torch.compile(function, backend=dynamo.backend), function, torch.randn(4, 3))

    def test_a_graph_that_makes_all_its_tensors(self):
        """Its only input is a size."""

        def function(x):
            return torch.arange(x.shape[1]).unsqueeze(0).expand(x.shape[0], -1)

        with self.assertWarnsRegex(UserWarning, "a graph with sizes that are none of its arguments' stays eager"):
            self.assert_same(torch.compile(function, backend=dynamo.backend, dynamic=True), function, torch.randn(4, 3))

    def test_complex_parts_stay_eager(self):
        def function(x):
            y = (torch.fft.fft(x.relu() * 2 + 1 - x.exp()).clone() * 2 + 1) * 3
            return (y.abs() * 2 + 1).exp().relu() - 1

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assert_same(torch.compile(function, backend=dynamo.backend), function, torch.randn(4, 3) / 10)
        texts = [str(warning.message) for warning in caught]
        self.assertIn("trib: aten.mul in the graph stays eager: the language has no complex64", texts)
        self.assertEqual([text for text in texts if "cannot be" in text], [])
        self.assertEqual(len(self.entries()), 2)

    def test_what_fails_leaves_a_graph_eager(self):
        def function(x):
            return (x.relu() * 2 + 1).exp()

        for failing in ("_trace", "_graph_of", "_build", "_load"):
            with self.subTest(failing), unittest.mock.patch.object(dynamo, failing, side_effect=KeyError(failing)):
                torch._dynamo.reset()
                with self.assertWarnsRegex(UserWarning, f"a graph stays eager, because .*: KeyError: '{failing}'"):
                    self.assert_same(torch.compile(function, backend=dynamo.backend), function, torch.randn(4, 3))

    def test_layers_with_names_of_dimensions(self):
        class L(nn.Module):
            def forward(self, x):
                return (x.relu() * 2 + 1).exp()

        model = nn.Sequential(L(), L()).eval()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assert_same(torch.compile(model, backend=dynamo.backend, dynamic=True), model, torch.randn(7))

    def test_weights_that_change(self):
        model = Net().eval()
        compiled = torch.compile(model, backend=dynamo.backend)
        x = torch.randn(2, 3, 8, 8)
        self.assert_same(compiled, model, x)
        model.fc.bias.add_(1)
        self.assert_same(compiled, model, x)
        model.load_state_dict(Net().state_dict())
        self.assert_same(compiled, model, x)

    def test_results_of_all_kinds(self):
        def function(x, y):
            return {
                "sum": x + y,
                "size": x.shape[0],
                "width": y.shape[1],
                "first": x,
                "none": None,
                "parts": torch.cat([x, y]).split(2),
            }

        compiled = torch.compile(function, backend=dynamo.backend, dynamic=True)
        x, y = torch.randn(4, 3), torch.randn(4, 3)
        got, want = compiled(x, y), function(x, y)
        self.assertIs(got["first"], x)
        self.assertEqual((got["size"], got["width"], got["none"], len(got["parts"])), (4, 3, None, 4))
        torch.testing.assert_close([got["sum"], *got["parts"]], [want["sum"], *want["parts"]])
        self.assertEqual(len(self.entries()), 1)

    def test_unsupported_parts_stay_eager_and_are_named_once(self):
        model, x = Mixed().eval(), torch.randn(4, 6)
        with self.assertWarnsRegex(UserWarning, "trib: aten.special_bessel_j0 in the graph stays eager: no function"):
            self.assert_same(torch.compile(model, backend=dynamo.backend), model, x)
        self.assertEqual(len(self.entries()), 2)
        torch._dynamo.reset()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assert_same(torch.compile(model, backend=dynamo.backend), model, x)

    def test_changes_in_place(self):
        def function(x):
            x.mul_(2)
            return x + 1

        x = torch.ones(3)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.testing.assert_close(torch.compile(function, backend=dynamo.backend)(x), torch.full((3,), 3.0))
        torch.testing.assert_close(x, torch.full((3,), 2.0))
        self.assertIn("changes its arguments", str(caught[-1].message))

    def test_training_is_refused(self):
        with (
            torch.enable_grad(),
            self.assertRaisesRegex(trib.GradientError, r"forward passes only: call the model in torch.no_grad\(\)"),
        ):
            torch.compile(Net(), backend=dynamo.backend)(torch.randn(2, 3, 8, 8))

    def test_second_process_loads_the_library(self):
        """It neither traces nor builds."""
        script = (
            "import torch, test_torch_compile as t\n"
            "from trib import project\nfrom trib.pytorch import dynamo\n"
            "torch.manual_seed(0)\n"
            "model, x = t.Net().eval(), torch.randn(2, 3, 8, 8)\n"
            "if {second}: dynamo._trace = project.build = None\n"
            "with torch.no_grad(): torch.testing.assert_close(torch.compile(model, backend='trib')(x), model(x), rtol=1e-4, atol=1e-5)\n"
        )
        for second in (False, True):
            words = [sys.executable, "-c", script.format(second=second)]
            folders = os.pathsep.join([PACKAGE, str(pathlib.Path(__file__).parent)])
            done = subprocess.run(words, env={**os.environ, "PYTHONPATH": folders}, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.entries()), 1)


if __name__ == "__main__":
    unittest.main()
