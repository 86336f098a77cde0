"""The quantizers of `.tri` as functions of PyTorch tensors, with gradients for training.

Forward values are those of the builtin of the same name. Trits and codes are floats here (-1.0, 0.0, 1.0), because
integers have no gradient. `training=True` selects the form with noise where there is one; the compiled library always
computes the form without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Union

import torch
from torch import Tensor

Number = Union[float, Tensor]
Dims = Union[int, Sequence[int], None]


# ---- straight-through estimators ----


def straight_through(hard: Tensor, soft: Tensor) -> Tensor:
    """Returns `hard`, bit for bit, with the gradient of `soft`. Both have one shape; `soft` is finite."""
    if not (torch.is_grad_enabled() and soft.requires_grad):
        return hard
    return hard.detach() + (soft - soft.detach())


def _identity(x: Tensor, threshold: float, temperature: Number) -> Tensor:
    return x


def _clipped(x: Tensor, threshold: float, temperature: Number) -> Tensor:
    return x.clamp(-threshold, threshold)


def _soft(x: Tensor, threshold: float, temperature: Number) -> Tensor:
    return torch.tanh(x / temperature)


#: The functions whose gradient replaces that of a quantizer: `"identity"` passes gradients on, `"clipped"` where
#: |x| is at most the threshold, `"soft"` has the gradient of tanh(x / temperature).
ESTIMATORS: dict[str, Callable[[Tensor, float, Number], Tensor]] = {
    "identity": _identity,
    "clipped": _clipped,
    "soft": _soft,
}


def estimator(name: str) -> Callable[[Tensor, float, Number], Tensor]:
    """Returns the estimator of that name. Raises ValueError for an unknown one."""
    if name not in ESTIMATORS:
        raise ValueError(f"the estimator must be one of {', '.join(map(repr, ESTIMATORS))}, not {name!r}")
    return ESTIMATORS[name]


def estimate(
    x: Tensor, hard: Tensor, form: str = "identity", threshold: float = 1.0, temperature: Number = 1.0
) -> Tensor:
    """Returns `hard`, quantized from x, with the gradient of the estimator `form`: see `ESTIMATORS`."""
    return straight_through(hard, estimator(form)(x, threshold, temperature))


# ---- trits by a threshold ----


def _trits(x: Tensor, high: Number, low: Number) -> Tensor:
    return (x > high).to(x.dtype) - (x < low).to(x.dtype)


def threshold_quantize(x: Tensor, threshold: Number = 0.5, scale: Number = 1.0, *, training: bool = False) -> Tensor:
    """Trits: 1 above threshold · scale, -1 below its negative, else 0. The gradient is passed on."""
    limit = threshold * scale
    return straight_through(_trits(x, limit, -limit), x)


def ternary_quantize(
    x: Tensor,
    threshold: Number = 0.5,
    method: str = "threshold",
    scale: Number = 1.0,
    *,
    temperature: Number = 1.0,
    training: bool = False,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Trits by `"threshold"`, `"stochastic"` or `"learned"`; forward values differ only in training. Raises
    ValueError for another method."""
    if method == "stochastic":
        return stochastic_quantize(x, threshold, scale, temperature=temperature, training=training, generator=generator)
    if method == "learned":
        return learned_quantize(x, threshold * scale, temperature=temperature)
    if method != "threshold":
        raise ValueError(f"the method must be 'threshold', 'stochastic' or 'learned', not {method!r}")
    return threshold_quantize(x, threshold, scale)


def stochastic_quantize(
    x: Tensor,
    threshold: Number = 0.5,
    scale: Number = 1.0,
    *,
    temperature: Number = 1.0,
    training: bool = False,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Trits. In training x becomes sign(x) with the probability sigmoid((|x| / scale - threshold) / temperature),
    else 0; otherwise by the threshold. The gradient is passed on."""
    if not training:
        return threshold_quantize(x, threshold, scale)
    with torch.no_grad():
        likely = torch.sigmoid((x.abs() / scale - threshold) / temperature)
        drawn = torch.rand(x.shape, generator=generator, device=x.device, dtype=likely.dtype) < likely
        hard = torch.sign(x) * drawn.to(x.dtype)
    return straight_through(hard, x)


def ste_quantize(
    x: Tensor,
    threshold: Number | Callable[[Tensor], Any] = 0.5,
    quantize_fn: Callable[[Tensor], Any] | None = None,
    scale: Number = 1.0,
    *,
    training: bool = False,
) -> Any:
    """Trits by the threshold, or what `quantize_fn` returns, which may be given in place of the threshold: trits, or a
    tuple of trits and more. The gradient is passed on to the trits.
    """
    function = threshold if callable(threshold) else quantize_fn
    if function is None:
        return threshold_quantize(x, threshold, scale)
    result = function(x.detach())
    if isinstance(result, tuple):
        return (straight_through(result[0], x), *result[1:])
    return straight_through(result, x)


def clipped_ste_quantize(x: Tensor, threshold: float = 1.0, *, training: bool = False) -> Tensor:
    """Trits by the threshold 0.5. The gradient is passed on where |x| is at most `threshold`, else it is 0."""
    return estimate(x, _trits(x, 0.5, -0.5), "clipped", threshold)


def learned_quantize(
    x: Tensor,
    pos_threshold: Number = 0.5,
    neg_threshold: Number | None = None,
    pos_scale: Number | None = None,
    neg_scale: Number | None = None,
    *,
    temperature: Number = 1.0,
    training: bool = False,
) -> Tensor:
    """1 above `pos_threshold`, -1 below `neg_threshold` (default: -pos_threshold), else 0; with scales pos_scale,
    -neg_scale and 0.

    Gradients of x and of the thresholds are those of sigmoids of width `temperature` in place of the two steps; those
    of the scales are exact.
    """
    low = -pos_threshold if neg_threshold is None else neg_threshold
    above = straight_through((x > pos_threshold).to(x.dtype), torch.sigmoid((x - pos_threshold) / temperature))
    below = straight_through((x < low).to(x.dtype), torch.sigmoid((low - x) / temperature))
    return (above if pos_scale is None else above * pos_scale) - (below if neg_scale is None else below * neg_scale)


# ---- soft forms ----


def soft_quantize(
    x: Tensor, temperature: Number = 1.0, hard: bool = False, threshold: Number = 0.5, *, training: bool = False
) -> Tensor:
    """tanh(x / temperature); with `hard` its trits by the threshold, with the gradient of the tanh."""
    soft = torch.tanh(x / temperature)
    return straight_through(_trits(soft, threshold, -threshold), soft) if hard else soft


def gumbel_softmax_quantize(
    x: Tensor,
    temperature: Number = 1.0,
    hard: bool = False,
    threshold: Number = 0.5,
    *,
    training: bool = False,
    generator: torch.Generator | None = None,
) -> Tensor:
    """The mean of -1, 0 and 1 under softmax([-x - threshold, 0, x - threshold] / temperature), in training with
    Gumbel noise; with `hard` the most likely of the three, with the gradient of the mean."""
    logits = torch.stack([-x - threshold, torch.zeros_like(x), x - threshold])
    if training:
        logits = logits + _gumbel(logits, generator)
    share = torch.softmax(logits / temperature, dim=0)
    soft = share[2] - share[0]
    if not hard:
        return soft
    most = (logits.argmax(dim=0) - 1).to(x.dtype) if training else _trits(x, threshold, -threshold)
    return straight_through(most, soft)


def _gumbel(like: Tensor, generator: torch.Generator | None) -> Tensor:
    uniform = torch.rand(like.shape, generator=generator, device=like.device, dtype=like.dtype)
    tiny = torch.finfo(like.dtype).tiny
    return -torch.log((-torch.log(uniform.clamp(min=tiny))).clamp(min=tiny))


# ---- quantizers that compute a scale. The product of the two results has the gradient of x. ----


def _rounded(x: Tensor, scale: Tensor, limit: float) -> tuple[Tensor, Tensor]:
    near = x / scale
    return straight_through(near.detach().round().clamp(-limit, limit), near), scale


def absmean_quantize(w: Tensor, *, training: bool = False) -> tuple[Tensor, Tensor]:
    """Returns (trits, scale): scale = max(mean|w|, 1e-5), trits = clip(round(w / scale), -1, 1)."""
    scale = w.detach().abs().mean().clamp(min=1e-5)
    return _rounded(w, scale, 1)


def absmax_quantize(x: Tensor, dim: Dims = -1, *, training: bool = False) -> tuple[Tensor, Tensor]:
    """Returns (codes, scale), the scale with `dim` kept: scale = max(max|x|, 1e-5) / 127, codes = clip(round(x /
    scale), -127, 127)."""
    scale = x.detach().abs().amax(dim=dim, keepdim=True).clamp(min=1e-5) / 127
    return _rounded(x, scale, 127)


def adaptive_threshold_quantize(
    x: Tensor,
    factor: float = 0.7,
    dim: int | None = None,
    percentile: float | None = None,
    target_sparsity: float | None = None,
    *,
    training: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Returns (trits, scale) of ternary weight networks: the threshold is factor · mean|x|, the scale the mean of
    |x| beyond it (0 if there are none). With `percentile` or `target_sparsity`, a share from 0 to 1: trits only, by
    the threshold quantile(|x|, share)."""
    size = x.detach().abs()
    share = percentile if target_sparsity is None else target_sparsity
    if share is not None:
        limit = _over(dim, size, torch.quantile, share)
        return straight_through(_trits(x, limit, -limit), x)
    beyond = size > _over(dim, size, torch.mean) * factor
    far = torch.where(beyond, size, torch.zeros_like(size))
    scale = _over(dim, far, torch.sum) / _over(dim, beyond.to(x.dtype), torch.sum).clamp(min=1)
    trits = torch.sign(x.detach()) * beyond.to(x.dtype)
    return straight_through(trits, x / scale.clamp(min=1e-5)), scale


def xnor_quantize(
    x: Tensor, dim: int | None = None, binary: bool = True, *, training: bool = False
) -> tuple[Tensor, Tensor]:
    """Returns (trits, scale) of XNOR-Net: 1 where x ≥ 0, else -1, and mean|x|. With `binary=False` the signs, 0 for
    0."""
    scale = _over(dim, x.detach().abs(), torch.mean)
    hard = torch.where(x.detach() >= 0, 1.0, -1.0).to(x.dtype) if binary else torch.sign(x.detach())
    return straight_through(hard, x / scale.clamp(min=1e-5)), scale


def _over(dim: int | None, x: Tensor, reduce: Callable[..., Tensor], *more: float) -> Tensor:
    return reduce(x, *more) if dim is None else reduce(x, *more, dim=dim, keepdim=True)


def ternary_activation(x: Tensor, threshold: float = 0.5) -> Tensor:
    """Trits: 1 above the threshold, -1 below its negative, else 0. The gradient is passed on."""
    return threshold_quantize(x, threshold)


# ---- normalization ----


def rms_norm(
    x: Tensor,
    normalized_shape: int | Sequence[int] | None = None,
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """x · rsqrt(mean(x · x) + eps) · weight over the last dimensions; `eps` is the relative precision of the type of
    x if not given. float16 and bfloat16 are computed as float32, under autocast, too. The result has the type of x."""
    count = 1 if normalized_shape is None or isinstance(normalized_shape, int) else len(normalized_shape)
    wide = x if x.dtype in (torch.float32, torch.float64) else x.float()
    dims = tuple(range(-count, 0))
    small = torch.finfo(x.dtype).eps if eps is None else eps
    y = wide * torch.rsqrt((wide * wide).mean(dim=dims, keepdim=True) + small)
    return (y if weight is None else y * weight).to(x.dtype)
