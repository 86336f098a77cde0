"""From a float model to a ternary one, and from a trained one to the tensors that the library is built from."""

from __future__ import annotations

import copy
import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from . import layers, table
from .quantizers import Quantizer


@dataclass(frozen=True)
class Rule:
    """Layers of exactly the class `kind` whose name matches the pattern `name` become `to` with these options;
    `to=None` leaves them as they are."""

    kind: type[nn.Module]
    to: type[nn.Module] | None
    name: str = "*"
    options: dict[str, Any] = field(default_factory=dict)


#: BitNet's layers without a norm, so that a trained float model is close to its ternary form.
BIT: tuple[Rule, ...] = (
    Rule(nn.Linear, layers.BitLinear, options={"norm": False}),
    Rule(nn.Conv2d, layers.BitConv2d),
)
#: Ternary weights with a scale, and float activations.
TERNARY: tuple[Rule, ...] = (
    Rule(nn.Linear, layers.TernaryLinear, options={"scale": True}),
    Rule(nn.Conv2d, layers.TernaryConv2d, options={"scale": True}),
    Rule(nn.Embedding, layers.TernaryEmbedding, options={"scale": True}),
)

#: Attributes of the float layer that the constructors take, and those that must have their defaults.
_TAKEN = {
    nn.Linear: (("in_features", "out_features"), {}),
    nn.Conv2d: (
        ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups"),
        {"padding_mode": "zeros"},
    ),
    nn.Embedding: (("num_embeddings", "embedding_dim"), {"padding_idx": None, "max_norm": None}),
}


def _matches(name: str, patterns: str | Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, p) for p in ([patterns] if isinstance(patterns, str) else patterns))


def ternarize(
    model: nn.Module,
    rules: Sequence[Rule] = BIT,
    *,
    include: str | Iterable[str] = "*",
    exclude: str | Iterable[str] = (),
    keep_first: bool = True,
    keep_last: bool = True,
    inplace: bool = False,
) -> nn.Module:
    """Returns the model with its layers converted by the first rule that matches each of them.

    Only names that match a pattern of `include` and none of `exclude` count (`"layer*.conv1"`, as in a shell; `*` also
    matches dots). `keep_first` and `keep_last` leave the first and the last of them as floats, in the order of
    `named_modules`: these lose most accuracy. Weights and biases are the same parameters, so tied weights stay tied;
    with `inplace` an optimizer of the model still has them.

    Raises ValueError for a layer that has no ternary form, with its name.
    """
    model = model if inplace else copy.deepcopy(model)
    include, exclude = (p if isinstance(p, str) else tuple(p) for p in (include, exclude))
    found: list[tuple[str, nn.Module, Rule]] = []
    for name, module in model.named_modules():
        rule = next((r for r in rules if type(module) is r.kind and _matches(name, r.name)), None)
        if rule is not None and _matches(name, include) and not _matches(name, exclude):
            found.append((name, module, rule))
    ends = {id(found[i][1]) for i, keep in ((0, keep_first), (-1, keep_last)) if keep and found}
    made = {id(m): _converted(name, m, r) for name, m, r in found if r.to is not None and id(m) not in ends}
    if id(model) in made:
        return made[id(model)]
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if id(child) in made:
                setattr(parent, name, made[id(child)])
    return model


def _converted(name: str, old: nn.Module, rule: Rule) -> nn.Module:
    taken, defaults = _TAKEN[rule.kind]
    for attribute, default in defaults.items():
        if getattr(old, attribute) != default:
            raise ValueError(
                f"{name}: {rule.to.__name__} has no {attribute}={getattr(old, attribute)!r}; add {name!r} to `exclude`"
            )
    options = dict(rule.options)
    bias = getattr(old, "bias", None)
    if rule.kind is not nn.Embedding:
        options["bias"] = bias is not None
    device, dtype = old.weight.device, old.weight.dtype
    new = rule.to(*(getattr(old, a) for a in taken), device=device, dtype=dtype, **options)
    new.to(device=device)
    new.weight = old.weight
    if bias is not None:
        new.bias = bias
    new.quantizer.initialize(old.weight.detach())
    return new.train(old.training)


def freeze(model: nn.Module) -> nn.Module:
    """Rounds the float weights of BitLinear and BitConv2d, in place, to multiples of their trits, and returns the
    model.

    The library quantizes these weights when it is built. A weight halfway between two trits could become another one
    there, because a mean depends on the order of its sum. After this it cannot: the quantizer gives the same trits, and
    the same scale within its rounding.
    """
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, (layers.BitLinear, layers.BitConv2d)):
                trits, scale = module.quantizer.trits(module.weight)
                share = trits.abs().float().mean().clamp(min=1e-5)
                module.weight.copy_(trits * (scale / share))
    return model


def to_state_dict(model: nn.Module) -> dict[str, Tensor]:
    """Returns the tensors that the library is built from, by the parameters' names in `.tri`.

    Ternary weights are int8 trits, `scale` a float32 vector where a layer has one. Layers that the library quantizes
    itself (BitLinear, BitConv2d), and those of PyTorch, have the tensors of `state_dict`. Parameters of quantizers are
    left out. Tensors are on their devices and share memory with the model where they can.
    """
    state: dict[str, Tensor] = {}
    for prefix, module in model.named_modules(remove_duplicate=False):
        if not isinstance(module, Quantizer):
            state.update({f"{prefix}.{name}" if prefix else name: t for name, t in table.tensors(module).items()})
    return state
