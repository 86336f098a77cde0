"""trib.nn under torch.compile and torch.export. Needs torch 2."""

import unittest

import torch
import trib.nn as tn
from torch import nn

from test_nn import TorchCase, made


def layers():
    found = made()
    x = torch.randn(3, 8)
    for name in tn.QUANTIZERS:
        found[name] = tn.TernaryLinear(8, 5, scale=True, quantizer=name), x
    found["TernaryEmbedding"] = tn.TernaryEmbedding(9, 6, scale=True), torch.tensor([1, 3])
    found["static scale"] = tn.BitLinear(8, 5, static_scale=True), x
    found["TernaryActivation"] = tn.TernaryActivation(), x
    return found


class Compile(TorchCase):
    def setUp(self):
        super().setUp()
        torch._dynamo.reset()

    def results(self, call, layer, x):
        """The result and the gradients of the parameters, with the same noise each time."""
        torch.manual_seed(1)
        layer.zero_grad()
        y = call(x)
        if y.requires_grad:
            y.square().sum().backward()
        return [y.detach(), *(p.grad.clone() for p in layer.parameters())]

    def test_every_layer_is_one_graph(self):
        for name, (layer, x) in layers().items():
            with self.subTest(name):
                torch._dynamo.reset()
                compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
                for got, want in zip(self.results(compiled, layer, x), self.results(layer, layer, x)):
                    self.assert_close(got, want, 1e-5, 1e-6)

    def test_generated_code_and_autocast(self):
        """Straight-through gradients stay when code is generated; schedules do not compile again."""
        net = nn.Sequential(tn.TernaryLinear(8, 8, scale=True), nn.ReLU(), tn.BitLinear(8, 4))
        schedule = tn.GradualQuantization(net, 4)
        counter = torch._dynamo.testing.CompileCounterWithBackend("inductor")
        compiled = torch.compile(net, backend=counter, fullgraph=True)
        x = torch.randn(16, 8)
        for _ in range(5):
            for got, want in zip(self.results(compiled, net, x), self.results(net, net, x)):
                self.assert_close(got, want, 1e-4, 1e-5)
            schedule.step()
        self.assertEqual(counter.frame_count, 1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            for got, want in zip(self.results(compiled, net, x), self.results(net, net, x)):
                self.assert_close(got, want, 0.05, 0.05 * want.abs().max().item())

    def test_export(self):
        """An exported program computes what the layer does in evaluation mode."""
        for name, (layer, x) in layers().items():
            with self.subTest(name):
                layer.eval()
                program = torch.export.export(layer, (x,))
                self.assert_close(program.module()(x), layer(x), 1e-6, 1e-6)


if __name__ == "__main__":
    unittest.main()
