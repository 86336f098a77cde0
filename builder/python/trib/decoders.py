"""Decoders of the Llama and BitNet families as projects: sizes of config.json or of a GGUF file."""

from __future__ import annotations

import json
import os
import pathlib

from . import errors, gguf, project
from .decoder_text import CONTEXT, FAMILIES, Config, decoder_text


def _read_config(path):
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


def _find_weights(folder):
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
    config = _read_config(folder / "config.json")
    return _write_decoder(path, project.snake(name or folder.resolve().name), config, _find_weights(folder))


# Architectures of GGUF: family, and whether the rotary embedding turns pairs of neighbours.
_ARCHITECTURES = {"llama": ("llama", True), "bitnet": ("bitnet", False)}


def from_gguf(source, path, *, name=None):
    """Writes a project of a GGUF file in the folder `path`: the architectures `llama` and `bitnet`.

    Entries are those of :func:`from_pretrained`. The weights stay in their file.

    Returns the folder as a `pathlib.Path`.

    Raises: OperatorError with all that has no counterpart; ArgumentError if the file is damaged.
    """
    source = pathlib.Path(source)
    values, shapes = gguf.read_head(source)
    architecture = values.get("general.architecture")
    if architecture not in _ARCHITECTURES:
        raise errors.OperatorError(
            f"{source}: the architecture {architecture!r} is none of {', '.join(_ARCHITECTURES)}: use trib.export"
        )
    get = {key.partition(".")[2]: value for key, value in values.items() if key.startswith(architecture + ".")}.get
    scaling = get("rope.scaling.type", "none")
    wrong = [
        text
        for found, text in (
            (scaling != "none", f"rope.scaling.type {scaling!r}: the rotary embedding of `rope` has no scaling"),
            ("rope_freqs.weight" in shapes, "rope_freqs.weight: the rotary embedding of `rope` has no scaling"),
            (get("expert_count", 0) > 0, "experts: layers of `nn` have one feed-forward network"),
            ("blk.0.attn_q.bias" in shapes, "attn_q.bias: projections have no bias"),
        )
        if found
    ]
    heads, hidden = get("attention.head_count"), get("embedding_length")
    head_dim = get("attention.key_length") or hidden // heads
    if get("rope.dimension_count", head_dim) != head_dim:
        wrong.append("rope.dimension_count: `rope` rotates all elements")
    if wrong:
        raise errors.OperatorError(f"{source} cannot be imported:\n" + "\n".join(f"  {line}" for line in wrong))
    family, interleaved = _ARCHITECTURES[architecture]
    config = Config(
        family=family,
        vocabulary=shapes["token_embd.weight"][0],
        depth=get("block_count"),
        hidden=hidden,
        heads=heads,
        kv_heads=get("attention.head_count_kv") or heads,
        head_dim=head_dim,
        intermediate=get("feed_forward_length"),
        eps=get("attention.layer_norm_rms_epsilon"),
        theta=get("rope.freq_base", 10000.0),
        context=get("context_length", CONTEXT),
        tied="output.weight" not in shapes,
        ternary=family == "bitnet",
        window=get("attention.sliding_window"),
        gguf=True,
        interleaved=interleaved,
    )
    return _write_decoder(path, project.snake(name or source.stem), config, source)


def _write_decoder(path, name, config, weights):
    """Writes the project of a decoder whose weights are a file elsewhere."""
    folder = pathlib.Path(path)
    options = [
        "entry   = Net.prefill Net.decode Net.step",
        f"weights = {os.path.relpath(weights, folder)}",
        "weights.unused = ignore",
        f"state.T = {min(config.context, config.window or CONTEXT, CONTEXT)}",
    ]
    project.write_text(folder, name, decoder_text(config), options)
    project.arrange(folder / f"{name}.tri")
    return folder
