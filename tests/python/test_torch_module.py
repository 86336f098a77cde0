"""trib.compile of a module of PyTorch."""
import os
import tempfile
import unittest
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import trib
from trib import compiling


class Module(unittest.TestCase):
    def test_a_module(self):
        torch.manual_seed(3)
        module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).eval()
        words = {"example_inputs": (torch.randn(3, 8),), "dynamic_shapes": ({0: torch.export.Dim("N")},)}
        x = torch.randn(7, 8)
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder}):
            torch.testing.assert_close(trib.compile(module, **words)(x), module(x).detach())
            with mock.patch.object(compiling, "_run", None):  # cached
                torch.testing.assert_close(trib.compile(module, **words)(x), module(x).detach())
            module[0].weight.data *= 2
            torch.testing.assert_close(trib.compile(module, **words)(x), module(x).detach())

    def test_tensors_without_values_are_refused(self):
        """A library's call cannot be recorded: the result would be a constant."""
        module, x = torch.nn.Linear(4, 4).eval().requires_grad_(False), torch.randn(2, 4)
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder}):
            net = trib.compile(module, example_inputs=(x,))
            with FakeTensorMode() as mode:
                fake = mode.from_tensor(x)
            calls = (
                ("torch.jit.trace", lambda: torch.jit.trace(lambda q: net(q) * 1, x)),
                ("vmap", lambda: torch.vmap(net)(torch.randn(3, 2, 4))),
                ("FakeTensorMode", lambda: net(fake)),
            )
            for name, call in calls:
                with self.subTest(name), self.assertRaisesRegex(trib.ArgumentError, f"{name}.*call it with plain tensors"):
                    call()
            torch.testing.assert_close(net(x), module(x))


if __name__ == "__main__":
    unittest.main()
