"""`trib import`: folders of transformers and GGUF files as projects; logits as those of transformers."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock
import warnings

import numpy as np
import torch
import transformers
import trib
import weights_formats
from transformers.integrations import bitnet
from trib import decoders, importing, project

warnings.simplefilter("ignore")
transformers.logging.set_verbosity_error()
SIZES = {
    "vocab_size": 64,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": 128,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


class ImportTest(unittest.TestCase):
    def setUp(self):
        self.tmp = pathlib.Path(tempfile.mkdtemp(prefix="trib-import-"))
        self.addCleanup(shutil.rmtree, self.tmp, True)
        self.enterContext(
            unittest.mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.tmp / "cache"), "TRIB_SERVER": "off"})
        )
        torch.manual_seed(0)

    def saved(self, config, kind):
        model = getattr(transformers, kind)(config).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name.endswith("norm.weight"):
                    parameter.uniform_(0.5, 1.5)
                else:
                    parameter.mul_(5)  # so that attention is not uniform
        model.save_pretrained(self.tmp / "tiny")
        return model

    def compare(self, model, folder, name="tiny", tolerance=1e-4):
        """The logits of a prompt, of one token more, and of steps."""
        project.build(folder)
        library = trib.load(project.library(folder, name))
        ids = torch.randint(0, 64, (1, 9))
        with torch.no_grad():
            want = model(ids).logits
        tokens = ids.to(torch.int32)
        got, k, v = library.prefill(tokens[:, :8].contiguous())
        self.assert_near(got, want[:, 7], tolerance)
        self.assert_near(library.decode(tokens[:, 8:].contiguous(), k, v)[0], want[:, 8], tolerance)
        for start, end in ((0, 5), (5, 6), (6, 9)):
            self.assert_near(library.step(tokens[:, start:end].contiguous()), want[:, end - 1], tolerance)

    def assert_near(self, got, want, tolerance):
        torch.testing.assert_close(got, want, rtol=0, atol=tolerance * float(want.abs().max()))


def use_ternary_layers(model):
    """Replaces the projections of a BitNet by layers that quantize weights and activations."""
    for module in list(model.model.modules()):
        for name, child in module.named_children():
            if type(child) is torch.nn.Linear:
                made = bitnet.AutoBitLinear(child.in_features, child.out_features, False, online_quant=True)
                made.weight = child.weight
                setattr(module, name, made)


class Folders(ImportTest):
    def test_llama(self):
        model = self.saved(transformers.LlamaConfig(**SIZES), "LlamaForCausalLM")
        folder = importing.import_model(self.tmp / "tiny", self.tmp / "net")
        self.assertIn("weights = ../tiny/model.safetensors", (folder / "tri.build").read_text())
        self.compare(model, folder)

    def test_llama_with_biases_and_a_tied_head(self):
        config = transformers.LlamaConfig(
            **SIZES, head_dim=16, attention_bias=True, mlp_bias=True, tie_word_embeddings=True, rms_norm_eps=1e-3
        )
        config.rope_parameters["rope_theta"] = 500.0
        self.compare(
            self.saved(config, "LlamaForCausalLM"), importing.import_model(self.tmp / "tiny", self.tmp / "net")
        )

    def test_mistral(self):
        model = self.saved(transformers.MistralConfig(**SIZES, sliding_window=16), "MistralForCausalLM")
        folder = importing.import_model(self.tmp / "tiny", self.tmp / "net")
        self.assertIn("state.T = 16", (folder / "tri.build").read_text())
        self.compare(model, folder)

    def test_bitnet_in_floats(self):
        model = self.saved(transformers.BitNetConfig(**SIZES, tie_word_embeddings=True), "BitNetForCausalLM")
        self.compare(model, importing.import_model(self.tmp / "tiny", self.tmp / "net"))

    def test_bitnet(self):
        """Weights are quantized to trits, activations to int8, as by the layers of transformers."""
        model = self.saved(transformers.BitNetConfig(**SIZES, tie_word_embeddings=True), "BitNetForCausalLM")
        path = self.tmp / "tiny" / "config.json"
        raw = json.loads(path.read_text())
        raw["quantization_config"] = {
            "quant_method": "bitnet",
            "linear_class": "autobitlinear",
            "quantization_mode": "online",
        }
        path.write_text(json.dumps(raw))
        use_ternary_layers(model)
        folder = importing.import_model(self.tmp / "tiny", self.tmp / "net")
        self.assertIn("nn.BitLinear", (folder / "tiny.tri").read_text())
        with torch._dynamo.config.patch(disable=True):
            self.compare(model, folder, tolerance=1e-3)

    def test_refusals(self):
        config = transformers.LlamaConfig(**SIZES, hidden_act="gelu")
        config.rope_parameters.update(rope_type="linear", factor=2.0)
        self.saved(config, "LlamaForCausalLM")
        with self.assertRaises(trib.OperatorError) as caught:
            importing.import_model(self.tmp / "tiny", self.tmp / "net")
        self.assertIn("hidden_act 'gelu'", str(caught.exception))
        self.assertIn("rope_type 'linear'", str(caught.exception))
        path = self.tmp / "tiny" / "config.json"
        path.write_text(path.read_text().replace('"llama"', '"mamba"'))
        with self.assertRaisesRegex(trib.OperatorError, "'mamba' is none of llama, mistral, bitnet"):
            decoders.from_pretrained(self.tmp / "tiny", self.tmp / "net")


# Names of tensors in GGUF, by those of transformers.
GGUF_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.attn_sub_norm": "attn_sub_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "mlp.ffn_sub_norm": "ffn_sub_norm",
    "model.layers": "blk",
}


def gguf_name(name):
    for ours, theirs in GGUF_NAMES.items():
        name = name.replace(ours, theirs)
    return name


def neighbours(weight, heads):
    """Rows in the order of llama.cpp's Llama: the pairs that rope turns are neighbours."""
    return weight.reshape(heads, 2, -1, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


class Gguf(ImportTest):
    def written(self, arrays, architecture, config):
        values = {
            "block_count": 2,
            "embedding_length": config.hidden_size,
            "feed_forward_length": config.intermediate_size,
            "attention.head_count": 4,
            "attention.head_count_kv": 2,
            "attention.layer_norm_rms_epsilon": config.rms_norm_eps,
            "rope.freq_base": float(config.rope_parameters["rope_theta"]),
            "context_length": 128,
        }
        path = self.tmp / "tiny.gguf"
        path.write_bytes(weights_formats.gguf(arrays, architecture=architecture, values=values))
        return importing.import_model(path, self.tmp / "net")

    def test_llama(self):
        model = self.saved(transformers.LlamaConfig(**SIZES), "LlamaForCausalLM")
        arrays = {gguf_name(name): tensor.detach().numpy() for name, tensor in model.state_dict().items()}
        for i in range(2):
            for name, heads in (("attn_q", 4), ("attn_k", 2)):
                key = f"blk.{i}.{name}.weight"
                arrays[key] = neighbours(arrays[key], heads)
        self.compare(model, self.written(arrays, "llama", model.config))

    def test_bitnet(self):
        """The file has trits and their scales, in blocks of 128."""
        wide = {**SIZES, "hidden_size": 128, "intermediate_size": 256}
        model = self.saved(transformers.BitNetConfig(**wide, tie_word_embeddings=True), "BitNetForCausalLM")
        use_ternary_layers(model)
        arrays = {gguf_name(name): tensor.detach().numpy() for name, tensor in model.state_dict().items()}
        arrays.pop("output.weight")
        for name, array in arrays.items():
            if "_norm" not in name and name != "token_embd.weight":
                scale = np.abs(array).mean()
                arrays[name] = ("I2_S", np.clip(np.round(array / scale), -1, 1).astype(np.int8), float(scale))
        folder = self.written(arrays, "bitnet", model.config)
        with torch._dynamo.config.patch(disable=True):
            self.compare(model, folder, tolerance=1e-3)

    def test_mistakes(self):
        path = self.tmp / "tiny.gguf"
        path.write_bytes(weights_formats.gguf({}, architecture="mamba"))
        with self.assertRaisesRegex(trib.OperatorError, "'mamba' is none of llama, bitnet"):
            importing.import_model(path, self.tmp / "net")
        path.write_bytes(path.read_bytes()[:40])
        with self.assertRaisesRegex(trib.ArgumentError, "is no GGUF file"):
            importing.import_model(path, self.tmp / "net")


class Command(ImportTest):
    def run_import(self, *words):
        return subprocess.run(
            [os.environ["TRIB"], "import", *words], cwd=self.tmp, capture_output=True, text=True, check=False
        )

    def test_command(self):
        self.saved(transformers.LlamaConfig(**SIZES), "LlamaForCausalLM")
        done = self.run_import("tiny", "net")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("created project net", done.stdout)
        self.assertTrue((self.tmp / "net" / "tri.build").is_file())
        again = self.run_import("tiny", "net")
        self.assertEqual(again.returncode, 1)
        self.assertIn("has a tri.build: pass another folder", again.stderr)

    def test_mistakes(self):
        self.assertIn("there is no missing.onnx", self.run_import("missing.onnx").stderr)
        (self.tmp / "x.bin").write_text("")
        self.assertIn("x.bin is no .onnx or .gguf file", self.run_import("x.bin", "net").stderr)
        self.assertEqual(self.run_import().returncode, 2)


if __name__ == "__main__":
    unittest.main()
