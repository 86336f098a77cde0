"""Decoders of the Llama and BitNet families as projects: sizes of config.json, weights of safetensors files."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re

from . import errors, project

FAMILIES = {"llama": ("silu", False), "mistral": ("silu", False), "bitnet": ("relu2", True)}  # activation, inner norms
SIZES = ("vocabulary", "depth", "hidden", "heads", "kv_heads", "head_dim", "intermediate", "eps", "theta")
CONTEXT = 4096  # tokens of the state, if the model has seen as many


@dataclasses.dataclass
class Config:
    """What the text of a decoder depends on."""

    family: str
    vocabulary: int
    depth: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    eps: float
    theta: float
    context: int
    bias: bool = False
    mlp_bias: bool = False
    tied: bool = False
    ternary: bool = False
    window: int | None = None


def read_config(path):
    """The Config of a config.json of transformers.

    Raises: OperatorError with all that the layers of `nn` lack.
    """
    raw = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    family = raw.get("model_type")
    if family not in FAMILIES:
        raise errors.OperatorError(
            f"{path}: the model_type {family!r} is none of {', '.join(FAMILIES)}: use trib.export on the model"
        )
    rope = {"rope_theta": raw.get("rope_theta", 10000.0), **(raw.get("rope_scaling") or {})}
    rope.update(raw.get("rope_parameters") or {})
    quantization = raw.get("quantization_config")
    _refuse(path, raw, rope, quantization, FAMILIES[family][0])
    heads = raw["num_attention_heads"]
    return Config(
        family=family,
        vocabulary=raw["vocab_size"],
        depth=raw["num_hidden_layers"],
        hidden=raw["hidden_size"],
        heads=heads,
        kv_heads=raw.get("num_key_value_heads") or heads,
        head_dim=raw.get("head_dim") or raw["hidden_size"] // heads,
        intermediate=raw["intermediate_size"],
        eps=raw.get("rms_norm_eps", 1e-6),
        theta=float(rope["rope_theta"]),
        context=raw.get("max_position_embeddings", CONTEXT),
        bias=bool(raw.get("attention_bias")),
        mlp_bias=bool(raw.get("mlp_bias")),
        tied=bool(raw.get("tie_word_embeddings", family == "bitnet")),
        ternary=quantization is not None,
        window=raw.get("sliding_window"),
    )


def _refuse(path, raw, rope, quantization, activation):
    """Raises: OperatorError with all that cannot be imported."""
    wrong = []
    if raw.get("hidden_act", activation) != activation:
        wrong.append(f"hidden_act {raw['hidden_act']!r}: {activation!r} is known")
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind != "default":
        wrong.append(f"rope_type {kind!r}: the rotary embedding of `rope` has no scaling")
    if rope.get("partial_rotary_factor", 1.0) != 1.0:
        wrong.append("partial_rotary_factor: `rope` rotates all elements")
    if quantization is not None:
        known = quantization.get("quant_method") == "bitnet" and quantization.get("linear_class") == "autobitlinear"
        if not known or quantization.get("quantization_mode") != "online":
            wrong.append(
                "quantization_config: the weights are packed; take the float weights of the model, or its GGUF"
            )
        elif quantization.get("use_rms_norm"):
            wrong.append("quantization_config.use_rms_norm: layers have no norm of their own")
    if wrong:
        raise errors.OperatorError(f"{path} cannot be imported:\n" + "\n".join(f"  {line}" for line in wrong))


def find_weights(folder):
    """The weights of a folder of transformers. Raises: NotFoundError."""
    for name in ("model.safetensors", "model.safetensors.index.json"):
        if (folder / name).is_file():
            return folder / name
    found = sorted(folder.glob("*.safetensors"))
    if len(found) == 1:
        return found[0]
    raise errors.NotFoundError(f"{folder} has no model.safetensors: download the weights into it")


def from_pretrained(source, path, *, name=None):
    """Writes a project of a folder of transformers, with `config.json` and safetensors, in the folder `path`.

    The families are Llama, Mistral and BitNet b1.58. Entries are `prefill` (the logits of the token after a prompt, and
    keys and values), `decode` (one token more, with keys and values as arguments) and `step` (the tokens after those of
    earlier runs, with keys and values as state). The weights stay in their file.

    Returns the folder as a `pathlib.Path`.

    Raises: OperatorError with all that has no counterpart; NotFoundError.
    """
    folder = pathlib.Path(source)
    config = read_config(folder / "config.json")
    weights = find_weights(folder)
    name = project.snake(name or folder.resolve().name)
    return write_decoder(path, name, config, weights)


def write_decoder(path, name, config, weights):
    """Writes the project of a decoder whose weights are a file elsewhere."""
    folder = pathlib.Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.tri").write_text(decoder_text(config), encoding="utf-8")
    lines = [
        f"project {name}",
        "    version = 1.0",
        "",
        f"model {name}",
        f"    sources = {name}.tri",
        "    entry   = Net.prefill Net.decode Net.step",
        f"    weights = {os.path.relpath(weights, folder)}",
        "    weights.unused = ignore",
        f"    state.T = {min(config.context, config.window or CONTEXT, CONTEXT)}",
    ]
    (folder / "tri.build").write_text("\n".join(lines) + "\n", encoding="utf-8")
    project.arrange(folder / f"{name}.tri")
    return folder


def decoder_text(config):
    """The source of a decoder."""
    activation, sub_norm = FAMILIES[config.family]
    linear = "TernaryLinear" if config.ternary else "nn.Linear"
    more = ", sub_norm=true, norm_eps=eps" if sub_norm else ""
    more += f", linear={linear}" if config.ternary else ""
    values = {
        "title": f"{config.family}: a decoder of {config.depth} layers. Sizes are those of its configuration.",
        "constants": "\n".join(f"const {word} = {getattr(config, word)}" for word in SIZES),
        "linear": TERNARY if config.ternary else "",
        "attention": f", bias={str(config.bias).lower()}, rope_base=theta{more}",
        "mlp": f'"{activation}", bias={str(config.mlp_bias).lower()}{more}',
        "tied": ", weight=model.embed_tokens.weight" if config.tied else "",
        "window": WINDOW.replace("{window}", str(config.window)) if config.window else "",
    }
    return re.sub(r"<(\w+)>", lambda found: values[found.group(1)], DECODER)


TERNARY = """
# Ternary weights with one scale, int8 activations with a scale for each token. A build quantizes the weights.
layer TernaryLinear(in_features: int, out_features: int, bias: bool = false) {
    let _linear = nn.BitLinear(in_features, out_features, bias, norm=false)
    fn forward(x) { return _linear(x) }
}
"""

WINDOW = """
    assert tokens.shape[1] <= {window}, "more tokens than the sliding window has: pass at most {window}"
"""

DECODER = """# <title>
import nn

<constants>
<linear>
layer DecoderLayer() {
    let input_layernorm = nn.RMSNorm(hidden, eps)
    let self_attn = nn.GroupedQueryAttention(hidden, heads, kv_heads, head_dim<attention>)
    let post_attention_layernorm = nn.RMSNorm(hidden, eps)
    let mlp = nn.GatedFeedForward(hidden, intermediate, <mlp>)

    fn feed_forward(x) { return x + mlp(post_attention_layernorm(x)) }

    fn prefill(x) {
        let (y, k, v) = self_attn.prefill(input_layernorm(x))
        return (feed_forward(x + y), k, v)
    }

    fn decode(x, cache_k, cache_v) {
        let (y, k, v) = self_attn.decode(input_layernorm(x), cache_k, cache_v)
        return (feed_forward(x + y), k, v)
    }

    fn step(x) { return feed_forward(x + self_attn.step(input_layernorm(x))) }
}

layer Decoder() {
    let embed_tokens = nn.Embedding(vocabulary, hidden)
    let layers = [DecoderLayer() for i in 0..depth]
    let norm = nn.RMSNorm(hidden, eps)

    # Keys and values of all layers come stacked: [depth, batch, kv_heads, length, head_dim].
    fn prefill(tokens) {<window>
        let x = embed_tokens(tokens)
        let keys = []
        let values = []
        for block in layers {
            let (y, k, v) = block.prefill(x)
            x = y
            keys += [k]
            values += [v]
        }
        return (norm(x), stack(keys), stack(values))
    }

    fn decode(tokens, cache_k, cache_v) {
        let x = embed_tokens(tokens)
        let keys = []
        let values = []
        for (i, block) in enumerate(layers) {
            let (y, k, v) = block.decode(x, cache_k[i], cache_v[i])
            x = y
            keys += [k]
            values += [v]
        }
        return (norm(x), stack(keys), stack(values))
    }

    fn step(tokens) {
        let x = embed_tokens(tokens)
        for block in layers { x = block.step(x) }
        return norm(x)
    }
}

layer Net() {
    let model = Decoder()
    let lm_head = nn.Linear(hidden, vocabulary, bias=false<tied>)

    # The whole prompt: logits of the token that follows it, and the cache.
    fn prefill(tokens: Tensor<int32, [B, L]>) {
        let (x, k, v) = model.prefill(tokens)
        return (lm_head(x[:, -1]), k, v)
    }

    # One token more.
    fn decode(
        tokens: Tensor<int32, [B, 1]>,
        cache_k: Tensor<float32, [depth, B, kv_heads, P, head_dim]>,
        cache_v: Tensor<float32, [depth, B, kv_heads, P, head_dim]>,
    ) {
        let (x, k, v) = model.decode(tokens, cache_k, cache_v)
        return (lm_head(x[:, -1]), k, v)
    }

    # The tokens after those of earlier runs: the cache is state. Logits of the token that follows.
    fn step(tokens: Tensor<int32, [1, L]>) { return lm_head(model.step(tokens)[:, -1]) }

    # Logits of all tokens.
    fn forward(tokens: Tensor<int32, [B, L]>) { return lm_head(model.prefill(tokens)[0]) }
}
"""
