"""Attention and feed-forward blocks with the parameters' names of the standard library. `linear` is the layer of the
projections: a class of this package or `torch.nn.Linear`, called as linear(in_features, out_features, bias)."""

from __future__ import annotations

from typing import Callable

import torch
from torch import Tensor, nn

from .layers import RMSNorm

Linear = Callable[..., nn.Module]


def rope(
    x: Tensor,
    positions: Tensor | int | None = None,
    base: float = 10000.0,
    interleaved: bool = False,
    dim: int = -2,
) -> Tensor:
    """Rotates the pairs (i, i + D/2) of rows [..., length, D], with `interleaved` (2i, 2i + 1), by
    position · base^(-2i/D), as the builtin `rope`. Rows are along `dim`. An integer is the position of the first row
    (0 if not given), a vector has one for each row, and a tensor of more dimensions broadcasts to x.shape[:-1]."""
    half, rows = x.shape[-1] // 2, dim % x.dim()
    if not isinstance(positions, Tensor) or positions.dim() == 0:
        positions = (0 if positions is None else positions) + torch.arange(x.shape[rows], device=x.device)
    if positions.dim() == 1:
        positions = positions.reshape(-1, *[1] * (x.dim() - 2 - rows))
    rates = torch.pow(base, torch.arange(half, device=x.device, dtype=torch.float32) * (-1.0 / half))
    angles = positions.to(torch.float32).unsqueeze(-1) * rates
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    rotated = a * cos - b * sin, b * cos + a * sin
    return torch.stack(rotated, dim=-1).flatten(-2) if interleaved else torch.cat(rotated, dim=-1)


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, causal: bool = False) -> Tensor:
    """softmax(q kᵀ / √D) v over [batch, heads, length, D], as the builtin `attention`: true in the mask lets a query
    see a key, query i of `causal` sees keys 0 … i, and heads of keys and values may be fewer than those of queries."""
    groups = q.shape[1] // k.shape[1]
    if groups > 1:
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if causal:
        seen = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril()
        mask = seen if mask is None else seen & mask
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v


def _activation(name: str) -> Callable[[Tensor], Tensor]:
    functions: dict[str, Callable[[Tensor], Tensor]] = {
        "relu": nn.functional.relu,
        "relu2": lambda x: nn.functional.relu(x).square(),
        "gelu": nn.functional.gelu,
        "gelu_tanh": lambda x: nn.functional.gelu(x, approximate="tanh"),
        "silu": nn.functional.silu,
    }
    if name not in functions:
        raise ValueError(f"the activation must be one of {', '.join(map(repr, functions))}, not {name!r}")
    return functions[name]


class GroupedQueryAttention(nn.Module):
    """`nn.GroupedQueryAttention`: attention with rotary positions, and fewer heads of keys and values than of queries,
    over [batch, length, embed_dim].

    Parameters: `q_proj`, `k_proj`, `v_proj`, `o_proj`, with `sub_norm` `attn_sub_norm.weight`. The layer of `.tri` also
    has `step`, which keeps keys and values between runs.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        num_kv_heads: int,
        head_dim: int = 0,
        bias: bool = False,
        rope_base: float = 10000.0,
        sub_norm: bool = False,
        norm_eps: float = 1e-5,
        linear: Linear = nn.Linear,
    ):
        super().__init__()
        if num_heads % num_kv_heads or (not head_dim and embed_dim % num_heads):
            raise ValueError(
                f"{embed_dim} features must be divisible by {num_heads} heads, and these by {num_kv_heads} key heads"
            )
        self.embed_dim, self.num_heads, self.num_kv_heads = embed_dim, num_heads, num_kv_heads
        self.head_dim, self.bias, self.rope_base = head_dim, bias, rope_base
        self.sub_norm, self.norm_eps, self.linear = sub_norm, norm_eps, linear
        size = head_dim or embed_dim // num_heads
        self.q_proj = linear(embed_dim, num_heads * size, bias)
        self.k_proj = linear(embed_dim, num_kv_heads * size, bias)
        self.v_proj = linear(embed_dim, num_kv_heads * size, bias)
        self.o_proj = linear(num_heads * size, embed_dim, bias)
        self.attn_sub_norm = RMSNorm(num_heads * size, norm_eps) if sub_norm else None

    def forward(self, x: Tensor, mask: Tensor | None = None, causal: bool = True) -> Tensor:
        batch, length, _ = x.shape
        q = self.q_proj(x).reshape(batch, length, self.num_heads, -1).transpose(1, 2)
        k = self.k_proj(x).reshape(batch, length, self.num_kv_heads, -1).transpose(1, 2)
        v = self.v_proj(x).reshape(batch, length, self.num_kv_heads, -1).transpose(1, 2)
        y = attention(rope(q, base=self.rope_base), rope(k, base=self.rope_base), v, mask, causal)
        y = y.transpose(1, 2).reshape(batch, length, -1)
        return self.o_proj(y if self.attn_sub_norm is None else self.attn_sub_norm(y))


class GatedFeedForward(nn.Module):
    """`nn.GatedFeedForward`: down_proj(activation(gate_proj(x)) · up_proj(x)) over [..., dim]. `activation` is
    "relu", "relu2", "gelu", "gelu_tanh" or "silu"; `sub_norm` normalises before down_proj. Parameters: `gate_proj`,
    `up_proj`, `down_proj`, with `sub_norm` `ffn_sub_norm.weight`."""

    def __init__(
        self,
        dim: int,
        hidden_dim: int,
        activation: str = "silu",
        bias: bool = False,
        sub_norm: bool = False,
        norm_eps: float = 1e-5,
        linear: Linear = nn.Linear,
    ):
        super().__init__()
        self.dim, self.hidden_dim, self.activation, self.bias = dim, hidden_dim, activation, bias
        self.sub_norm, self.norm_eps, self.linear = sub_norm, norm_eps, linear
        _activation(activation)
        self.gate_proj = linear(dim, hidden_dim, bias)
        self.up_proj = linear(dim, hidden_dim, bias)
        self.down_proj = linear(hidden_dim, dim, bias)
        self.ffn_sub_norm = RMSNorm(hidden_dim, norm_eps) if sub_norm else None

    def forward(self, x: Tensor) -> Tensor:
        y = _activation(self.activation)(self.gate_proj(x)) * self.up_proj(x)
        return self.down_proj(y if self.ffn_sub_norm is None else self.ffn_sub_norm(y))
