"""examples/zoo against PyTorch: the full networks have the same parameter names, shapes and published counts. Narrow ones of the same depth
(zoo_small.tri) give the same outputs for the same random weights, interpreted and compiled."""
import json
import os
import shutil
import unittest

import numpy as np

from library_states import Model
from project import SOURCE
from torch_ops import TorchTest, Value, safetensors, torch  # ends here without PyTorch
import torch_models as m
import written

ZOO = os.path.join(SOURCE, "examples", "zoo")
HERE = os.path.join(SOURCE, "tests", "diff")

# Name in the manifests: published parameters (None: those of the PyTorch model), the full network, layer of zoo_small.tri, the narrow network, its input.
SAMPLES = 8
IMAGE = (SAMPLES, 3, 32, 32)
MODELS = {
    "mnist_mlp": (669_706, m.Mlp, "MnistMlp", lambda: m.Mlp((784, 24, 16, 10)), (3, 1, 28, 28)),
    "vgg16": (138_357_544, m.Vgg, "Vgg16", lambda: m.Vgg([4, 4, "M", 8, 8, "M", 8, 8, 8, "M", 12, 12, 12, "M", 12, 12, 12, "M"], 16, 10), IMAGE),
    "resnet18": (11_689_512, lambda: m.ResNet(m.BasicBlock, [2, 2, 2, 2]), "ResNet18", lambda: m.ResNet(m.BasicBlock, [2, 2, 2, 2], 4, 10), IMAGE),
    "resnet34": (21_797_672, lambda: m.ResNet(m.BasicBlock, [3, 4, 6, 3]), "ResNet34", lambda: m.ResNet(m.BasicBlock, [3, 4, 6, 3], 4, 10), IMAGE),
    "resnet50": (25_557_032, lambda: m.ResNet(m.Bottleneck, [3, 4, 6, 3]), "ResNet50", lambda: m.ResNet(m.Bottleneck, [3, 4, 6, 3], 4, 10), IMAGE),
    "resnet101": (44_549_160, lambda: m.ResNet(m.Bottleneck, [3, 4, 23, 3]), "ResNet101", lambda: m.ResNet(m.Bottleneck, [3, 4, 23, 3], 4, 10), IMAGE),
    "resnet152": (60_192_808, lambda: m.ResNet(m.Bottleneck, [3, 8, 36, 3]), "ResNet152", lambda: m.ResNet(m.Bottleneck, [3, 8, 36, 3], 4, 10), IMAGE),
    "mobilenet_v2": (3_504_872, m.MobileNetV2, "MobileNetV2", lambda: m.MobileNetV2(0.25, 40, 10), IMAGE),
    "efficientnet_b0": (5_288_548, lambda: m.EfficientNet(1.0, 1.0), "EfficientNetB0", lambda: m.EfficientNet(0.25, 1.0, classes=10), IMAGE),
    "efficientnet_b7": (66_347_960, lambda: m.EfficientNet(2.0, 3.1, 1e-3), "EfficientNetB7", lambda: m.EfficientNet(0.25, 3.1, 1e-3, 10), IMAGE),
    "densenet201": (20_013_928, m.DenseNet, "DenseNet201", lambda: m.DenseNet((6, 12, 48, 32), 8, 4, 2, 10), IMAGE),
    "vit_b16": (86_567_656, m.VisionTransformer, "VitB16", lambda: m.VisionTransformer(32, 8, 12, 4, 32, 48, 10), IMAGE),
    "ternary_resnet18": (None, lambda: m.replaced(m.ResNet(m.BasicBlock, [2, 2, 2, 2]), m.ternary), "TernaryResNet18",
                         lambda: m.replaced(m.ResNet(m.BasicBlock, [2, 2, 2, 2], 4, 10), m.ternary), IMAGE),
    "ternary_resnet50": (None, lambda: m.replaced(m.ResNet(m.Bottleneck, [3, 4, 6, 3]), m.ternary), "TernaryResNet50",
                         lambda: m.replaced(m.ResNet(m.Bottleneck, [3, 4, 6, 3], 4, 10), m.ternary), IMAGE),
    "ternary_mobilenet_v2": (None, lambda: m.replaced(m.MobileNetV2(), m.ternary), "TernaryMobileNetV2",
                             lambda: m.replaced(m.MobileNetV2(0.25, 40, 10), m.ternary), IMAGE),
    "ternary_vit_b16": (None, lambda: m.ternary_vit(m.VisionTransformer()), "TernaryVitB16",
                        lambda: m.ternary_vit(m.VisionTransformer(32, 8, 12, 4, 32, 48, 10)), IMAGE),
    "decoder_125m": (None, lambda: m.float_projections(m.BitNet(50304, 12, 768, 12, 12, 2048)), "Decoder125M.prefill Decoder125M.decode Decoder125M.step",
                     lambda: m.float_projections(m.BitNet(50, 12, 32, 4, 4, 48)), None),
    "ternary_decoder_125m": (None, lambda: m.BitNet(50304, 12, 768, 12, 12, 2048), "TernaryDecoder125M.prefill TernaryDecoder125M.decode TernaryDecoder125M.step",
                             lambda: m.BitNet(50, 12, 32, 4, 4, 48), None),
    "bitnet_2b": (2_412_820_480, m.BitNet, "BitNet2B.prefill BitNet2B.decode BitNet2B.step", lambda: m.BitNet(50, 30, 32, 4, 2, 48), None),
}


class OnMeta(torch.overrides.TorchFunctionMode):
    """Tensors without elements: the largest networks would not fit otherwise."""
    MAKERS = (torch.empty, torch.zeros, torch.ones, torch.randn)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **{**(kwargs or {}), **({"device": "meta"} if func in self.MAKERS else {})})


class Zoo(TorchTest):
    def test_names_shapes_and_counts(self):
        shutil.copytree(ZOO, self.dir, dirs_exist_ok=True, ignore=shutil.ignore_patterns("build", ".trib"))
        ours = {name: {} for name in MODELS}
        totals = {}
        for line in self.trib("params", "--message-format=json").stdout.splitlines():
            r = json.loads(line)
            if r["type"] == "parameters":
                totals[r["model"]] = r["count"]
            else:
                is_bf16 = r["model"] == "bitnet_2b" and r["name"] == "model.embed_tokens.weight"
                self.assertEqual(r["dtype"], "bfloat16" if is_bf16 else "float32")
                ours[r["model"]][r["name"]] = (tuple(r["shape"]), r["buffer"])
        self.assertEqual(set(totals), set(MODELS))
        for name, (published, full, *_) in MODELS.items():
            with OnMeta():
                net = full()
            self.assertEqual(totals[name], published or sum(p.numel() for p in net.parameters()), name)
            want = {k: (tuple(v.shape), False) for k, v in net.named_parameters()}
            want.update((k, (tuple(v.shape), True)) for k, v in net.named_buffers() if not k.endswith("num_batches_tracked"))
            self.assertEqual(ours[name], want, name)

    def randomise(self, net):
        """Weights that keep the values of all layers near one, and statistics that matter."""
        net.eval()
        with torch.no_grad():
            for name, t in net.state_dict().items():
                last = name.rsplit(".", 1)[-1]
                if last == "running_var" or (t.dim() == 1 and last == "weight"):
                    t.uniform_(0.7, 1.3)
                elif t.dim() > 1 and "embed" not in name and "token" not in name:
                    t.normal_(std=t[0].numel() ** -0.5)
                elif t.is_floating_point():
                    t.normal_(std=0.2)
        return {k: Value(v) for k, v in net.state_dict().items() if not k.endswith("num_batches_tracked")}

    def make_project(self):
        for f in os.listdir(ZOO):
            if f.endswith(".tri"):
                shutil.copy(os.path.join(ZOO, f), self.dir)
        shutil.copy(os.path.join(HERE, "zoo_small.tri"), self.dir)
        manifest = "project small\n"
        emit = "library header pytorch"
        nets = {}
        for name, (_, _, entry, small, _) in MODELS.items():
            manifest += f"model {name}\n    sources = zoo_small.tri\n    entry = {entry}\n    weights = {name}.safetensors\n    emit = {emit}\n"
            manifest += "    state.T = 9\n" if ".step" in entry else ""
            nets[name] = small()
            self.write(f"{name}.safetensors", safetensors(self.randomise(nets[name])))
        self.write("tri.build", manifest)
        self.trib("build")
        return nets

    def written(self, name, net):
        """The network as `emit = pytorch` writes it, with the parameters of another: the names are the same."""
        model = written.load(self.path(f"build/{name}.py"), MODELS[name][2].split(".")[0])
        model.load_state_dict(net.state_dict())
        return model

    def outputs(self, name, inputs, n, *flags):
        arrays = {k: v.numpy() for k, v in inputs.items()}
        return [torch.from_numpy(a) for a in self.infer(name, arrays, n if n > 1 else 0, *flags)]

    def close(self, got, want, what, _batch=0):
        """Float sums of other orders, through as many layers as there are."""
        self.assertEqual(got.shape, want.shape, what)
        error, size = (got - want).abs().max().item(), want.abs().max().item()
        self.assertTrue(0 < size < 1e4, f"{what}: outputs up to {size} show nothing")
        self.assertLessEqual(error, 1e-4 * size, what)

    def nearly(self, got, want, what, batch=0):
        """Some samples equal those of PyTorch as float networks do. In the others a value lay at the border of two int8 steps and fell to the other
        side: it does in a fourth of the samples of the Transformers, and between PyTorch's own float32 and float64, too."""
        self.assertEqual(got.shape, want.shape, what)
        error = (got - want).abs().movedim(batch, 0).reshape(SAMPLES, -1).amax(1) / want.abs().max()
        self.assertLessEqual(error.sort().values[1].item(), 1e-4, what)
        self.assertLessEqual(error.max().item(), 0.1, what)

    def test_outputs(self):
        nets = self.make_project()
        for name, (*_, shape) in MODELS.items():
            if not shape:
                continue
            x = torch.randn(*shape)
            with torch.no_grad():
                want = nets[name](x)
            same = self.nearly if name.startswith("ternary") else self.close
            for device in ("cpu", "reference"):
                same(self.outputs(name, {"x": x}, 1, "--device", device)[0], want, f"{name}, {device}")
            with torch.no_grad():
                same(self.written(name, nets[name])(x), want, f"{name}, emit = pytorch")
        for name in ("bitnet_2b", "ternary_decoder_125m"):
            self.decoder(name, nets[name], self.nearly)
        self.decoder("decoder_125m", nets["decoder_125m"], self.close)

    def decoder(self, name, net, same):
        tokens = torch.randint(0, 50, (SAMPLES, 9), dtype=torch.int32)
        model = self.written(name, net)
        with torch.no_grad():
            k, v = model.prefill(tokens)[1:]
            same(model.decode(tokens[:, 8:9], k[:, :, :, :8], v[:, :, :, :8])[0], net(tokens)[0], f"{name}, emit = pytorch, decode")
        for device in ("cpu", "reference"):
            self.decode(name, net, tokens, same, device)
        self.stateful_decoder(name, net, tokens, same)
        model = self.written(name, net)
        with torch.no_grad():
            rows = [self.step_by_step(model, tokens[i:i + 1]) for i in range(SAMPLES)]
            same(torch.cat(rows), net(tokens)[0], f"{name}, emit = pytorch, the state")

    def decode(self, name, net, tokens, same, device):
        """The prompt, then token after token with the caches as arguments."""
        with torch.no_grad():
            want = net(tokens[:, :6])
            got = self.outputs(name, {"tokens": tokens[:, :6]}, 3, "--device", device, "--entry", "prefill")
            for at in range(6, 10):
                for k, (g, w) in enumerate(zip(got, want)):
                    same(g, w, f"{name}, {device}, output {k} with {at} tokens", min(k, 1))  # caches: layers, batch, …
                if at == 9:
                    break
                cache = want[1:]
                next_ = tokens[:, at:at + 1].contiguous()
                want = net(next_, cache)
                got = self.outputs(name, {"tokens": next_, "cache_k": cache[0], "cache_v": cache[1]}, 3, "--device", device, "--entry", "decode")

    def stateful_decoder(self, name, net, prompts, same):
        """The cache as state: token after token, bit-equal to the functional entry; after a reset the prompt at once."""
        model = Model(self.path(f"build/lib{name}.so"))
        cache = [np.zeros(s, np.float32) for s in self.cache_shapes(model, 0)[1:]]
        for at in range(9):
            new = prompts[:1, at:at + 1].numpy()
            got = model.run("step", [new], [(1, 50)])[0]
            want, *cache = model.run("decode", [new, *cache], self.cache_shapes(model, at + 1))
            self.assertEqual(got.tobytes(), want.tobytes(), f"{name}, {at} tokens in the state")
        rows = []
        for i in range(SAMPLES):
            model.reset()
            rows += model.run("step", [prompts[i:i + 1].numpy()], [(1, 50)])
        with torch.no_grad():
            same(torch.from_numpy(np.concatenate(rows)), net(prompts)[0], f"{name}, the prompt at once")
        model.close()

    @staticmethod
    def step_by_step(model, tokens):
        for name, t in model.named_buffers():
            if name.endswith((".cache.k", ".cache.v")):
                model.get_submodule(name.rpartition(".")[0])._buffers[name[-1]] = t[:, :, :0]
        for at in range(tokens.shape[1]):
            out = model.step(tokens[:, at:at + 1])
        return out

    @staticmethod
    def cache_shapes(model, length):
        state = model.desc.states[0]
        depth, heads, size = model.desc.n_states // 2, state.shape[1], state.shape[3]
        return [(1, 50), *[(depth, 1, heads, length, size)] * 2]


if __name__ == "__main__":
    unittest.main()
