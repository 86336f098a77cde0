"""trib.compile of a module of PyTorch."""
import os
import tempfile
import unittest
from unittest import mock

import torch

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


if __name__ == "__main__":
    unittest.main()
