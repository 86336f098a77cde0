"""One row for each layer of this package: the layer of `.tri` that it is exported as, and the tensors that the
library is built from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

from torch import Tensor, nn

from . import blocks, layers


@dataclass(frozen=True)
class Layer:
    """How a layer is written in `.tri`.

    `tri` is its name there. `arguments` are those of its constructor, in order, as (name, default, attribute of the
    module); a default of `REQUIRED` is always written. `trits` names the parameter that is stored as trits.
    """

    tri: str
    arguments: tuple[tuple[str, Any, Callable[[nn.Module], Any]], ...]
    trits: str | None = None


REQUIRED = object()


def _argument(
    name: str, default: Any = REQUIRED, attribute: str | None = None
) -> tuple[str, Any, Callable[[nn.Module], Any]]:
    return name, default, lambda module: getattr(module, attribute or name)


def _has_bias(default: bool) -> tuple[str, Any, Callable[[nn.Module], Any]]:
    return "bias", default, lambda module: module.bias is not None


_CONVOLUTION = (
    _argument("in_channels"),
    _argument("out_channels"),
    _argument("kernel_size"),
    _argument("stride", (1, 1)),
    _argument("padding", (0, 0)),
    _argument("dilation", (1, 1)),
    _argument("groups", 1),
)
_LINEAR = (_argument("in_features"), _argument("out_features"))
_SCALE = _argument("scale", False, "has_scale")

#: Layers by their class.
LAYERS: dict[type[nn.Module], Layer] = {
    layers.TernaryLinear: Layer("nn.TernaryLinear", (*_LINEAR, _has_bias(True), _SCALE), "weight"),
    layers.BitLinear: Layer(
        "nn.BitLinear", (*_LINEAR, _has_bias(False), _argument("norm", True), _argument("static_scale", False))
    ),
    layers.TernaryConv2d: Layer("nn.TernaryConv2d", (*_CONVOLUTION, _has_bias(True), _SCALE), "weight"),
    layers.BitConv2d: Layer("nn.BitConv2d", (*_CONVOLUTION, _has_bias(False), _argument("static_scale", False))),
    layers.TernaryEmbedding: Layer(
        "nn.TernaryEmbedding", (_argument("num_embeddings"), _argument("embedding_dim"), _SCALE), "weight"
    ),
    layers.RMSNorm: Layer(
        "nn.RMSNorm", (_argument("normalized_shape"), _argument("eps", None), _argument("elementwise_affine", True))
    ),
    layers.TernaryActivation: Layer("nn.TernaryActivation", (_argument("threshold", 0.5),)),
    blocks.GroupedQueryAttention: Layer(
        "nn.GroupedQueryAttention",
        (
            _argument("embed_dim"),
            _argument("num_heads"),
            _argument("num_kv_heads"),
            _argument("head_dim", 0),
            _argument("bias", False),
            _argument("rope_base", 10000.0),
            _argument("sub_norm", False),
            _argument("norm_eps", 1e-5),
            _argument("linear", nn.Linear),
        ),
    ),
    blocks.GatedFeedForward: Layer(
        "nn.GatedFeedForward",
        (
            _argument("dim"),
            _argument("hidden_dim"),
            _argument("activation", "silu"),
            _argument("bias", False),
            _argument("sub_norm", False),
            _argument("norm_eps", 1e-5),
            _argument("linear", nn.Linear),
        ),
    ),
}

#: Names in `.tri` of the layers that the argument `linear` of a block may be.
LINEAR = {nn.Linear: "nn.Linear", layers.TernaryLinear: "nn.TernaryLinear", layers.BitLinear: "nn.BitLinear"}


def arguments(module: nn.Module) -> dict[str, Any]:
    """Returns the arguments of the constructor of a layer of `LAYERS` that differ from their defaults, by name, in
    order.

    Values are numbers, bools, strings, tuples, and classes for `linear`. Raises KeyError for another class.
    """
    have = [(name, default, read(module)) for name, default, read in LAYERS[type(module)].arguments]
    return {name: value for name, default, value in have if default is REQUIRED or value != default}


def call(module: nn.Module) -> str:
    """Returns how `.tri` makes a layer of `LAYERS`: `nn.BitLinear(64, 10, norm=false)`."""
    required = {name for name, default, _ in LAYERS[type(module)].arguments if default is REQUIRED}
    words = [text(value) if name in required else f"{name}={text(value)}" for name, value in arguments(module).items()]
    return f"{LAYERS[type(module)].tri}({', '.join(words)})"


def text(value: Any) -> str:
    """Returns a value of `arguments` as a literal of `.tri`. Raises TypeError for anything else."""
    if isinstance(value, (bool, type(None))):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return text(value[0]) if len(set(value)) == 1 else f"({', '.join(map(text, value))})"
    if isinstance(value, (int, float)):
        return repr(value)
    if value in LINEAR:
        return LINEAR[value]
    raise TypeError(f"{value!r} has no name in .tri: `linear` must be torch.nn.Linear, TernaryLinear or BitLinear")


def tensors(module: nn.Module) -> dict[str, Tensor]:
    """Returns the tensors of one layer that the library is built from, by name: its parameters and buffers, where
    the table says so as int8 trits with float32 scales."""
    own = dict(module.named_parameters(recurse=False))
    own.update({n: b for n, b in module.named_buffers(recurse=False) if n not in module._non_persistent_buffers_set})
    row = LAYERS.get(type(module))
    if row is not None and row.trits:
        own[row.trits], scale = module.trits()
        if module.has_scale:
            own["scale"] = scale
    return {name: tensor.detach() for name, tensor in own.items()}
