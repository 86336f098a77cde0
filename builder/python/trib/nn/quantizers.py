"""Quantizers of weights: modules that return trits and their scale.

A quantizer divides the weight by its scale first, so that a threshold or a temperature means the same in every layer.
In evaluation mode the trits are those that the library gets. In training mode there may be noise, and `blend` mixes the
trits with the float weight.
"""

from __future__ import annotations

from typing import Callable, Union

import torch
from torch import Tensor, nn

from . import functional as F


def _mean_size(w: Tensor, dim: int | None) -> Tensor:
    """The mean of |w|: of all, or for each index of `dim`, which it keeps."""
    size = w.detach().abs()
    if dim is None:
        return size.mean()
    return size.mean(dim=[d for d in range(w.dim()) if d != dim % w.dim()], keepdim=True)


class Quantizer(nn.Module):
    """The base class. `q(w)` returns (trits, scale); trits are floats, and their product approximates w.

    `estimator` is the form of the straight-through gradient: see `functional.ESTIMATORS`. `dim` is the dimension whose
    indices have a scale each, the first one of Linear and Conv2d and the second one of Embedding; None: one scale.
    With `gradual`, `blend` is 1 where only trits count, and 0 where only the float weights do; a schedule sets both.
    """

    blend: Tensor

    def __init__(self, *, estimator: str = "identity", dim: int | None = None):
        super().__init__()
        F.estimator(estimator)
        self.estimator = estimator
        self.dim = dim
        self.gradual = False
        self.register_buffer("blend", torch.ones(()), persistent=False)

    def initialize(self, weight: Tensor) -> None:
        """Sets parameters of the quantizer by the initial weight. A layer calls it when it is made."""

    def scale(self, w: Tensor) -> Tensor:
        """Returns the scale, which broadcasts to w."""
        return _mean_size(w, self.dim).clamp(min=1e-5)

    def quantize(self, x: Tensor, training: bool) -> Tensor:
        """Returns the trits of x, a weight divided by its scale, with a gradient."""
        raise NotImplementedError

    def estimate(self, x: Tensor, hard: Tensor) -> Tensor:
        return F.estimate(x, hard, self.estimator)

    def forward(self, w: Tensor) -> tuple[Tensor, Tensor]:
        scale = self.scale(w)
        x = w / scale
        trits = self.quantize(x, self.training)
        return self.mix(x, trits), scale

    def mix(self, x: Tensor, quantized: Tensor) -> Tensor:
        """Returns `quantized`, in training under a schedule mixed with x."""
        if not (self.training and self.gradual):
            return quantized
        return torch.lerp(x, quantized, self.blend.to(x.dtype))

    @torch.no_grad()
    def trits(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """Returns (trits, scale) as the library gets them: int8 and float32, without noise."""
        scale = self.scale(w)
        return self.quantize(w / scale, False).to(torch.int8), scale.detach().float()

    def extra_repr(self) -> str:
        shown = [] if self.estimator == "identity" else [f"estimator={self.estimator!r}"]
        return ", ".join(shown + ([] if self.dim is None else [f"dim={self.dim}"]))


class AbsMean(Quantizer):
    """BitNet b1.58: clip(round(w / mean|w|), -1, 1), as `absmean_quantize`."""

    def quantize(self, x: Tensor, training: bool) -> Tensor:
        return self.estimate(x, x.detach().round().clamp(-1, 1))


class Threshold(Quantizer):
    """Trits beyond threshold · mean|w|, as `threshold_quantize(w, threshold, scale)`. The scale is mean|w|."""

    def __init__(self, threshold: float = 0.5, **options):
        super().__init__(**options)
        self.threshold = threshold

    def quantize(self, x: Tensor, training: bool) -> Tensor:
        return self.estimate(x, F.threshold_quantize(x.detach(), self.threshold))

    def extra_repr(self) -> str:
        return ", ".join(filter(None, [f"threshold={self.threshold}", super().extra_repr()]))


class Adaptive(Quantizer):
    """Ternary weight networks: trits beyond factor · mean|w|; the scale is the mean of |w| beyond it, as
    `adaptive_threshold_quantize`."""

    def __init__(self, factor: float = 0.7, **options):
        super().__init__(**options)
        self.factor = factor

    def scale(self, w: Tensor) -> Tensor:
        size, limit = w.detach().abs(), _mean_size(w, self.dim) * self.factor
        far = (size > limit).to(w.dtype)
        dims = list(range(w.dim())) if self.dim is None else [d for d in range(w.dim()) if d != self.dim % w.dim()]
        total = (size * far).sum(dims, keepdim=True) / far.sum(dims, keepdim=True).clamp(min=1)
        return (total.reshape(()) if self.dim is None else total).clamp(min=1e-5)

    def quantize(self, x: Tensor, training: bool) -> Tensor:
        limit = _mean_size(x, self.dim) * self.factor
        return self.estimate(x, F.threshold_quantize(x.detach(), limit))

    def extra_repr(self) -> str:
        return ", ".join(filter(None, [f"factor={self.factor}", super().extra_repr()]))


class Xnor(Quantizer):
    """XNOR-Net: 1 where w ≥ 0, else -1; the scale is mean|w|, as `xnor_quantize`."""

    def quantize(self, x: Tensor, training: bool) -> Tensor:
        return self.estimate(x, torch.where(x.detach() >= 0, 1.0, -1.0).to(x.dtype))


class LearnedScale(Quantizer):
    """clip(round(w / step), -1, 1) with a trained `step`, which is also the scale (learned step size quantization,
    Esser et al., 2020).

    `dim` with `size`: a step for each of `size` indices of that dimension. The first step is twice mean|w|.
    """

    def __init__(self, size: int = 1, **options):
        super().__init__(**options)
        if (size == 1) != (self.dim is None):
            raise ValueError(f"a step for each index needs both `dim` and `size`, not dim={self.dim} and size={size}")
        self.step = nn.Parameter(torch.ones(size))

    @torch.no_grad()
    def initialize(self, weight: Tensor) -> None:
        self.step.copy_((_mean_size(weight, self.dim) * 2).clamp(min=1e-5).reshape(-1))

    def scale(self, w: Tensor) -> Tensor:
        step = scale_gradient(self.step, (w.numel() / self.step.numel()) ** -0.5)
        return (
            step if self.dim is None else step.reshape([-1 if d == self.dim % w.dim() else 1 for d in range(w.dim())])
        )

    def quantize(self, x: Tensor, training: bool) -> Tensor:
        near = x.clamp(-1, 1)
        return F.straight_through(near.round(), near)


class Stochastic(Quantizer):
    """In training trits are drawn: sign(w) with the probability sigmoid((|w| / scale - threshold) / temperature),
    else 0. In evaluation mode they are those of `Threshold`."""

    temperature: Tensor

    def __init__(self, threshold: float = 0.5, temperature: float = 0.25, **options):
        super().__init__(**options)
        self.threshold = threshold
        self.register_buffer("temperature", torch.tensor(float(temperature)), persistent=False)

    def quantize(self, x: Tensor, training: bool) -> Tensor:
        hard = F.stochastic_quantize(x.detach(), self.threshold, temperature=self.temperature, training=training)
        return self.estimate(x, hard)

    def extra_repr(self) -> str:
        return ", ".join(filter(None, [f"threshold={self.threshold}", super().extra_repr()]))


class Gumbel(Quantizer):
    """In training the mean of -1, 0 and 1 under a softmax with Gumbel noise (without it if `noise` is False), or
    with `hard` the likeliest of the three with the gradient of the mean. In evaluation mode trits beyond the
    threshold. A schedule lowers `temperature`."""

    temperature: Tensor

    def __init__(
        self, threshold: float = 0.5, temperature: float = 1.0, hard: bool = False, noise: bool = True, **options
    ):
        super().__init__(**options)
        self.threshold, self.hard, self.noise = threshold, hard, noise
        self.register_buffer("temperature", torch.tensor(float(temperature)), persistent=False)

    def quantize(self, x: Tensor, training: bool) -> Tensor:
        return F.gumbel_softmax_quantize(
            x, self.temperature, self.hard or not training, self.threshold, training=training and self.noise
        )

    def extra_repr(self) -> str:
        shown = f"threshold={self.threshold}, hard={self.hard}, noise={self.noise}"
        return ", ".join(filter(None, [shown, super().extra_repr()]))


def scale_gradient(x: Tensor, factor: float) -> Tensor:
    """Returns x, whose gradient is multiplied by `factor`."""
    return F.straight_through(x, x * factor)


#: Quantizers by the names that layers accept.
QUANTIZERS: dict[str, Callable[..., Quantizer]] = {
    "absmean": AbsMean,
    "threshold": Threshold,
    "adaptive": Adaptive,
    "xnor": Xnor,
    "learned": LearnedScale,
    "stochastic": Stochastic,
    "gumbel": Gumbel,
}

QuantizerLike = Union[str, Quantizer, Callable[[], Quantizer]]


def make_quantizer(quantizer: QuantizerLike) -> Quantizer:
    """Returns a quantizer by its name, from a function that makes one (`lambda: Gumbel(hard=True)`), or itself.

    Raises ValueError for an unknown name and TypeError for anything else.
    """
    if isinstance(quantizer, Quantizer):
        return quantizer
    if isinstance(quantizer, str):
        if quantizer not in QUANTIZERS:
            raise ValueError(f"the quantizer must be one of {', '.join(map(repr, QUANTIZERS))}, not {quantizer!r}")
        return QUANTIZERS[quantizer]()
    made = quantizer()
    if not isinstance(made, Quantizer):
        raise TypeError(f"the quantizer must be a name, a Quantizer or a function that makes one, not {quantizer!r}")
    return made
