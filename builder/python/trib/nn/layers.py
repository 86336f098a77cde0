"""Layers for training whose evaluation mode is what the layer of `.tri` of the same name computes.

They have the constructor's arguments and the parameters' names of the layers of the standard library
(`frontend/std/nn.tri`). Arguments after `*` exist here only: they matter in training. Weights are floats that are
quantized in every forward pass; `to_state_dict` gives the tensors that the library is built from.

Integer products, int8 codes by trits, are computed as float32, which is exact up to sums of 2^24; so are they with
TF32. Under autocast such layers still compute float32, as normalizations do, and layers of trits by floats compute as
`torch.nn.Linear` does. A result has the type of its input, except that autocast decides where it applies.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Union

import torch
from torch import Tensor, nn

from . import functional as F
from .quantizers import AbsMean, QuantizerLike, make_quantizer, scale_gradient

Size = Union[int, tuple[int, int]]
Padding = Union[str, int, tuple[int, int]]
Shape = Union[int, Sequence[int]]


def _autocast_enabled(device: str) -> bool:
    if hasattr(torch, "get_autocast_dtype"):  # since 2.4
        return torch.is_autocast_enabled(device)
    enabled = {"cpu": torch.is_autocast_cpu_enabled, "cuda": torch.is_autocast_enabled}
    return device in enabled and enabled[device]()


def _without_autocast(x: Tensor):
    """A context in which the types of tensors decide the type of a product."""
    device = x.device.type
    return torch.autocast(device, enabled=False) if _autocast_enabled(device) else contextlib.nullcontext()


def _wide(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


class _Ternary(nn.Module):
    """What layers of trits share: a float weight, its quantizer, and a scale for each output if `has_scale`."""

    output_dim = 0  # of the weight

    def _quantized_by(self, quantizer: QuantizerLike, scale: bool) -> None:
        self.quantizer = make_quantizer(quantizer)
        self.has_scale = scale
        self.quantizer.initialize(self.weight.detach())

    def _outputs(self, scale: Tensor) -> Tensor:
        """The scale as a number, or as a vector of all outputs."""
        outputs = self.weight.shape[self.output_dim]
        if scale.numel() not in (1, outputs):
            raise ValueError(
                f"the quantizer has {scale.numel()} scales, but there are {outputs} outputs: dim={self.output_dim}"
            )
        return scale.reshape(-1)

    def trits(self) -> tuple[Tensor, Tensor]:
        """Returns the weight as the library gets it: int8 trits of its shape, and float32 scales [outputs]."""
        trits, scale = self.quantizer.trits(self.weight)
        return trits, self._outputs(scale).expand(self.weight.shape[self.output_dim]).contiguous()

    def _affine(self, product, x: Tensor, shape: tuple[int, ...], *options) -> Tensor:
        """product(x, trits) · scale + bias, whose numbers of each output have this shape. Products of integers are
        exact."""
        trits, scale = self.quantizer(self.weight)
        if x.is_floating_point():
            y = product(x, trits.to(x.dtype), None, *options)
        else:
            y = product(x.double(), trits.double(), None, *options).to(torch.int32)
        wanted = y.dtype if y.is_floating_point() else torch.float32
        if self.has_scale:
            y = y * self._outputs(scale).to(wanted).reshape(shape)
        return y if self.bias is None else y + self.bias.to(wanted).reshape(shape)

    def extra_repr(self) -> str:
        return super().extra_repr() + (", scale=True" if self.has_scale else "")


class TernaryLinear(_Ternary, nn.Linear):
    """`nn.TernaryLinear`: x @ tritsᵀ · scale + bias. Inputs [..., in_features] are floats, or integers without a
    gradient, whose sums are exact int32.

    Parameters: `weight` [out_features, in_features] floats that `quantizer` makes trits of (a name of `QUANTIZERS`, a
    `Quantizer`, or a function that makes one), `bias` [out_features]. With `scale` the quantizer's scale multiplies
    each output.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        scale: bool = False,
        *,
        quantizer: QuantizerLike = "absmean",
        device=None,
        dtype=None,
    ):
        super().__init__(in_features, out_features, bias, device=device, dtype=dtype)
        self._quantized_by(quantizer, scale)

    def forward(self, x: Tensor) -> Tensor:
        return self._affine(nn.functional.linear, x, (-1,))


class TernaryConv2d(_Ternary, nn.Conv2d):
    """`nn.TernaryConv2d`: conv2d(x, trits) · scale + bias, [N, C, H, W] or [C, H, W] of floats, or integers as in
    `TernaryLinear`.

    Parameters: `weight` [out_channels, in_channels / groups, height, width], `bias` [out_channels]; see
    `TernaryLinear`.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
        scale: bool = False,
        *,
        quantizer: QuantizerLike = "absmean",
        device=None,
        dtype=None,
    ):
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, device=device, dtype=dtype
        )
        self._quantized_by(quantizer, scale)

    def forward(self, x: Tensor) -> Tensor:
        options = (self.stride, self.padding, self.dilation, self.groups)
        return self._affine(nn.functional.conv2d, x, (-1, 1, 1), *options)


class TernaryEmbedding(_Ternary, nn.Embedding):
    """`nn.TernaryEmbedding`: rows of trits as floats, · scale. Integers [...] to floats [..., embedding_dim].

    Parameters: `weight` [num_embeddings, embedding_dim]; see `TernaryLinear`. The scale has one number for each
    feature.
    """

    output_dim = 1

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        scale: bool = False,
        *,
        quantizer: QuantizerLike = "absmean",
        device=None,
        dtype=None,
    ):
        super().__init__(num_embeddings, embedding_dim, device=device, dtype=dtype)
        self._quantized_by(quantizer, scale)

    def forward(self, x: Tensor) -> Tensor:
        trits, scale = self.quantizer(self.weight)
        y = nn.functional.embedding(x, trits)
        return y * self._outputs(scale) if self.has_scale else y


class _Bit(nn.Module):
    """What BitNet's layers share: int8 activations by ternary weights."""

    input_scale: Tensor | None

    def _with_activations(self, static_scale: bool, estimator: str) -> None:
        self.quantizer = AbsMean(estimator=estimator)
        self.static_scale = static_scale
        if static_scale:
            self.input_scale = nn.Parameter(torch.full_like(self.weight.detach().reshape(-1)[:1], 0.05))
        else:
            self.register_parameter("input_scale", None)

    def _codes(self, x: Tensor, dims: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        """Returns int8 codes as floats, and their scale."""
        if self.static_scale:
            scale = scale_gradient(self.input_scale, (x[0].numel() * 127) ** -0.5)
            near = (x * (1.0 / scale)).clamp(-127, 127)
            codes = F.straight_through(near.detach().round(), near)
        else:
            codes, scale = F.absmax_quantize(x, dims)
        if self.training and self.quantizer.gradual:
            codes = self.quantizer.mix(x / scale, codes)
        return codes, scale

    def extra_repr(self) -> str:
        return super().extra_repr() + (", static_scale=True" if self.static_scale else "")


class BitLinear(_Bit, nn.Linear):
    """`nn.BitLinear`, BitNet b1.58: int8 activations with a scale for each row, trits with one scale, after `rms_norm`
    if `norm`.

    [..., in_features] to [..., out_features]. Parameters: `weight` [out_features, in_features] floats, which the
    library quantizes when it is built, `bias` [out_features], with `static_scale` `input_scale` [1], the trained scale
    of the activations. `estimator`: see `functional.ESTIMATORS`.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = False,
        norm: bool = True,
        static_scale: bool = False,
        *,
        estimator: str = "identity",
        device=None,
        dtype=None,
    ):
        super().__init__(in_features, out_features, bias, device=device, dtype=dtype)
        self.norm = norm
        self._with_activations(static_scale, estimator)

    def forward(self, x: Tensor) -> Tensor:
        with _without_autocast(x):
            y = F.rms_norm(_wide(x), eps=1e-5) if self.norm else _wide(x)
            codes, scale = self._codes(y, (-1,))
            trits, weight_scale = self.quantizer(_wide(self.weight))
            z = nn.functional.linear(codes, trits) * (scale * weight_scale)
            return (z if self.bias is None else z + self.bias).to(x.dtype)

    def extra_repr(self) -> str:
        return super().extra_repr() + ("" if self.norm else ", norm=False")


class BitConv2d(_Bit, nn.Conv2d):
    """`nn.BitConv2d`: like `BitLinear` without its norm, [N, C, H, W] to [N, out_channels, H', W']; the activations
    have a scale for each item.

    Parameters: `weight` [out_channels, in_channels / groups, height, width], `bias` [out_channels], with `static_scale`
    `input_scale` [1].
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = False,
        static_scale: bool = False,
        *,
        estimator: str = "identity",
        device=None,
        dtype=None,
    ):
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, device=device, dtype=dtype
        )
        self._with_activations(static_scale, estimator)

    def forward(self, x: Tensor) -> Tensor:
        with _without_autocast(x):
            codes, scale = self._codes(_wide(x), (1, 2, 3))
            trits, weight_scale = self.quantizer(_wide(self.weight))
            z = nn.functional.conv2d(codes, trits, None, self.stride, self.padding, self.dilation, self.groups)
            z = z * (scale * weight_scale).reshape(-1, 1, 1, 1)
            return (z if self.bias is None else z + self.bias.reshape(-1, 1, 1)).to(x.dtype)


class RMSNorm(nn.Module):
    """`nn.RMSNorm`: x · rsqrt(mean(x · x) + eps) · weight over the last dimensions, `normalized_shape`. Without
    `eps` it is the relative precision of the type of x. Parameter: `weight` of that shape."""

    def __init__(
        self,
        normalized_shape: Shape,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        if elementwise_affine:
            self.weight = nn.Parameter(torch.ones(self.normalized_shape, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)

    def forward(self, x: Tensor) -> Tensor:
        if tuple(x.shape[-len(self.normalized_shape) :]) != self.normalized_shape:
            raise ValueError(f"RMSNorm takes [..., {', '.join(map(str, self.normalized_shape))}], not {list(x.shape)}")
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class TernaryActivation(nn.Module):
    """`nn.TernaryActivation`: trits, 1 above the threshold, -1 below its negative, else 0. `estimator`: see
    `functional.ESTIMATORS`."""

    def __init__(self, threshold: float = 0.5, *, estimator: str = "clipped"):
        super().__init__()
        F.estimator(estimator)
        self.threshold, self.estimator = threshold, estimator

    def forward(self, x: Tensor) -> Tensor:
        return F.estimate(x, F.ternary_activation(x.detach(), self.threshold), self.estimator)

    def extra_repr(self) -> str:
        return f"{self.threshold}"
