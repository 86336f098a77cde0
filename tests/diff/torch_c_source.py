"""What other tests compare with PyTorch in libraries for the CPU, in C sources."""
import unittest

import torch_builtins
import torch_composed
import torch_conv
import torch_functions
import torch_layers
import torch_zoo
from c_source import InC
from torch_batch import BatchTest
from torch_ops import torch


class InCBatch(InC):
    def check(self, dynamic=False, levels=("-O1",), constant_last=False):
        arrays, count = self._write(dynamic, constant_last)
        for level in levels[:1]:
            self.trib("build", level)
            self._compare(self._run(arrays, count), "C")
        self.cases = []


def in_c(test):
    """The test, of C sources."""
    return type(test.__name__, (InCBatch if issubclass(test, BatchTest) else InC, test), {})


Create, Shape, Math, Reduce, Linear, Network, Activations, Quantize, Losses = (in_c(getattr(torch_builtins, n)) for n in (
    "Create", "Shape", "Math", "Reduce", "Linear", "Network", "Activations", "Quantize", "Losses"))
Order, Functions, Collect = (in_c(getattr(torch_functions, n)) for n in ("Order", "Functions", "Collect"))
Convolutions, Windows = (in_c(getattr(torch_conv, n)) for n in ("Convolutions", "Windows"))
Elementwise, Moved = (in_c(getattr(torch_composed, n)) for n in ("Elementwise", "Moved"))
Recurrent, Attention, Blocks = (in_c(getattr(torch_layers, n)) for n in ("Recurrent", "Attention", "Blocks"))



class Zoo(InC, torch_zoo.Zoo):
    def test_outputs(self):
        nets = self.make_project()
        for name, (*_, shape) in torch_zoo.MODELS.items():
            same = self.close if name == "decoder_125m" or not name.startswith(("ternary", "bitnet")) else self.nearly
            if not shape:
                tokens = torch.randint(0, 50, (torch_zoo.SAMPLES, 9), dtype=torch.int32)
                self.decode(name, nets[name], tokens, same, "cpu")
                self.stateful_decoder(name, nets[name], tokens, same)
                continue
            x = torch.randn(*shape)
            with torch.no_grad():
                same(self.outputs(name, {"x": x}, 1)[0], nets[name](x), name)

    test_names_shapes_and_counts = None


if __name__ == "__main__":
    unittest.main()
