"""The two networks, ternary and, to compare, float."""

import torch
import trib.nn as tn
from torch import nn


class Digits(nn.Module):
    """Images [N, 1, 8, 8] of 0 to 16 to ten logits."""

    def __init__(self, ternary=True):
        super().__init__()
        conv = tn.BitConv2d if ternary else lambda *a, **k: nn.Conv2d(*a, **k, bias=False)
        linear = tn.BitLinear if ternary else NormLinear
        self.conv1 = conv(1, 16, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = conv(16, 32, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(32)
        self.conv3 = conv(32, 32, 3, padding=1)
        self.norm3 = nn.BatchNorm2d(32)
        self.fc = linear(128, 10)

    def forward(self, x):
        y = torch.relu(self.norm1(self.conv1(x)))
        y = nn.functional.max_pool2d(torch.relu(self.norm2(self.conv2(y))), 2)
        y = nn.functional.max_pool2d(torch.relu(self.norm3(self.conv3(y))), 2)
        return self.fc(y.flatten(1))


class NormLinear(nn.Linear):
    """What BitLinear is without quantization."""

    def __init__(self, in_features, out_features, bias=False):
        super().__init__(in_features, out_features, bias)

    def forward(self, x):
        return super().forward(tn.functional.rms_norm(x, eps=1e-5))


class Block(nn.Module):
    def __init__(self, dim, heads, kv_heads, hidden, linear):
        super().__init__()
        self.attn = tn.GroupedQueryAttention(dim, heads, kv_heads, linear=linear)
        self.mlp = tn.GatedFeedForward(dim, hidden, "relu2", linear=linear)

    def forward(self, x):
        y = x + self.attn(x)
        return y + self.mlp(y)


class Text(nn.Module):
    """Characters [N, length] to the logits of the next one, [N, length, characters]. The norms are in BitLinear."""

    def __init__(self, characters, dim=64, depth=2, ternary=True):
        super().__init__()
        linear = tn.BitLinear if ternary else NormLinear
        self.embed = tn.TernaryEmbedding(characters, dim, scale=True) if ternary else nn.Embedding(characters, dim)
        self.blocks = nn.ModuleList([Block(dim, 4, 2, 2 * dim, linear) for _ in range(depth)])
        self.head = linear(dim, characters)

    def forward(self, tokens):
        y = self.embed(tokens)
        for block in self.blocks:
            y = block(y)
        return self.head(y)


def stored_bytes(model):
    """The bytes of the weights: two bits for a trit, four bytes for a float."""
    trits = (tn.TernaryEmbedding, tn.BitLinear, tn.BitConv2d)
    ternary = sum(m.weight.numel() for m in model.modules() if isinstance(m, trits))
    floats = sum(p.numel() for p in model.parameters()) - ternary
    return ternary // 4 + floats * 4
