"""Small networks of random modules for a seed: images [N, C, H, W] or sequences [N, L, D], with skips, lists, shared and nested modules."""

import random

import torch
import torch.nn.functional as F
from torch import nn

ACTIVATIONS = [
    nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Hardswish, nn.Hardsigmoid, nn.ELU, nn.Softplus, nn.Mish, nn.ReLU6, nn.LeakyReLU, nn.CELU,
    nn.SELU, nn.Softsign, nn.Hardtanh, nn.LogSigmoid, nn.Softshrink, nn.Tanhshrink, nn.Identity,
]  # fmt: skip


class Pointwise(nn.Module):
    """An expression of functions of one element."""

    def __init__(self, rng):
        super().__init__()
        self.steps = [rng.randrange(22) for _ in range(rng.randint(1, 3))]
        self.number = rng.choice([0.5, 2, -1.5, 3])

    def forward(self, x):
        for step in self.steps:
            x = self.apply_step(step, x)
        return x

    def apply_step(self, step, x):
        number = self.number
        return (
            lambda: x * number, lambda: x + number, lambda: number - x, lambda: x / number, lambda: torch.exp(-x.abs()), lambda: torch.sin(x),
            lambda: torch.where(x > 0, x, x * 0.1), lambda: x.clamp(-1, 1), lambda: torch.maximum(x, -x), lambda: x.pow(2),
            lambda: torch.sqrt(x.abs() + 1), lambda: x.masked_fill(x < 0, 0.5), lambda: torch.rsqrt(x * x + 1), lambda: F.relu(x, inplace=False),
            lambda: (x > 0).float() * x, lambda: torch.log1p(x.abs()), lambda: x.sign() * x, lambda: 1 / (x * x + 1), lambda: x.neg().add(x, alpha=2),
            lambda: torch.lerp(x, -x, 0.25), lambda: torch.atan2(x, x.abs() + 1), lambda: torch.cos(x).mul_(0.5),
        )[step]()  # fmt: skip


class Residual(nn.Module):
    def __init__(self, inner, mode):
        super().__init__()
        self.inner, self.mode = inner, mode

    def forward(self, x):
        y = self.inner(x)
        return (x + y, y.sub(x), x * torch.sigmoid(y))[self.mode]


class Concat(nn.Module):
    """Branches joined along a dimension, mixed again by a layer."""

    def __init__(self, branches, mix, dim):
        super().__init__()
        self.branches, self.mix, self.dim = nn.ModuleList(branches), mix, dim

    def forward(self, x):
        return self.mix(torch.cat([branch(x) for branch in self.branches], self.dim))


class Shared(nn.Module):
    """One module that is called twice."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x * 0.5) + self.inner(x)


class TwoResults(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.a, self.b = a, b

    def forward(self, x):
        return self.a(x), self.b(x)


class Joined(nn.Module):
    def __init__(self, two):
        super().__init__()
        self.two = two

    def forward(self, x):
        a, b = self.two(x)
        return a - b * 0.5


class Scale(nn.Module):
    """Parameters and a buffer of its own."""

    def __init__(self, shape):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(shape) + 0.5)
        self.register_buffer("shift", torch.randn(shape))

    def forward(self, x):
        return x * self.gain + self.shift


# ---- images ----


class SqueezeExcite(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(c, 4, 1), nn.Conv2d(4, c, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.fc2(F.relu(self.fc1(F.adaptive_avg_pool2d(x, 1)))))


class Shuffle(nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, x):
        n, c, h, w = x.shape
        return x.view(n, self.groups, c // self.groups, h, w).transpose(1, 2).reshape(n, c, h, w)


class Resample(nn.Module):
    """Down and up again, so that sizes stay."""

    def __init__(self, rng, c):
        super().__init__()
        self.down = rng.choice(
            [nn.MaxPool2d(2), nn.AvgPool2d(2), nn.Conv2d(c, c, 2, stride=2), nn.Conv2d(c, c, 3, stride=2, padding=1)]
        )
        self.up = rng.choice(
            [
                nn.Upsample(scale_factor=2),
                nn.ConvTranspose2d(c, c, 2, stride=2),
                nn.Upsample(scale_factor=2, mode="bilinear"),
            ]
        )

    def forward(self, x):
        return self.up(self.down(x))


def image_module(rng, c, depth):
    """A module from [N, c, 8, 8] to the same."""
    if depth and rng.random() < 0.55:
        inner = [image_module(rng, c, depth - 1) for _ in range(rng.randint(1, 3))]
        return rng.choice([
            lambda: nn.Sequential(*inner), lambda: Residual(nn.Sequential(*inner), rng.randrange(3)), lambda: Shared(inner[0]),
            lambda: Concat(inner, nn.Conv2d(c * len(inner), c, 1), 1), lambda: Joined(TwoResults(inner[0], inner[-1])),
        ])()  # fmt: skip
    return rng.choice([
        lambda: nn.Conv2d(c, c, 3, padding=1, bias=rng.random() < 0.5), lambda: nn.Conv2d(c, c, 3, padding=2, dilation=2, groups=c),
        lambda: nn.Conv2d(c, c, (1, 3), padding=(0, 1)), lambda: nn.Conv2d(c, c, 5, padding="same"), lambda: nn.BatchNorm2d(c),
        lambda: nn.GroupNorm(2, c), lambda: rng.choice(ACTIVATIONS)(), lambda: rng.choice(ACTIVATIONS)(), lambda: Pointwise(rng),
        lambda: SqueezeExcite(c), lambda: Shuffle(2), lambda: Resample(rng, c), lambda: nn.MaxPool2d(3, stride=1, padding=1),
        lambda: nn.AvgPool2d(3, 1, 1, count_include_pad=False), lambda: Scale((c, 1, 1)), lambda: nn.Dropout(0.2),
        lambda: nn.Conv2d(c, c, 3, padding=1, padding_mode="reflect"), lambda: nn.InstanceNorm2d(c, affine=True), lambda: nn.PReLU(c),
    ])()  # fmt: skip


# ---- sequences ----


class Attention(nn.Module):
    def __init__(self, d, heads, causal):
        super().__init__()
        self.qkv, self.out, self.heads, self.causal = nn.Linear(d, 3 * d), nn.Linear(d, d), heads, causal

    def forward(self, x):
        n, length, d = x.shape
        q, k, v = self.qkv(x).view(n, length, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(n, length, d))


class PlainAttention(nn.Module):
    """Scores and softmax written out, with a mask."""

    def __init__(self, d):
        super().__init__()
        self.query, self.key = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(-2, -1) / x.shape[-1] ** 0.5
        length = x.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        return scores.masked_fill(~mask, float("-inf")).softmax(-1) @ x


class Mix(nn.Module):
    """Reductions, rolls, flips and slices along the sequence."""

    def __init__(self, rng):
        super().__init__()
        self.kind = rng.randrange(8)

    def forward(self, x):
        return (
            lambda: x - x.mean(1, keepdim=True), lambda: x.roll(1, 1), lambda: x.flip(2), lambda: torch.cat([x[:, 1:], x[:, :1]], 1),
            lambda: x / (x.norm(dim=-1, keepdim=True) + 1), lambda: x + torch.arange(x.shape[1]).unsqueeze(-1) * 0.1, lambda: x.cumsum(1) * 0.1,
            lambda: F.normalize(x, dim=-1),
        )[self.kind]()  # fmt: skip


class Positions(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.table = nn.Embedding(16, d)

    def forward(self, x):
        return x + self.table(torch.arange(x.shape[1]))


def sequence_module(rng, d, depth):
    """A module from [N, L, d] to the same."""
    if depth and rng.random() < 0.55:
        inner = [sequence_module(rng, d, depth - 1) for _ in range(rng.randint(1, 3))]
        return rng.choice([
            lambda: nn.Sequential(*inner), lambda: Residual(nn.Sequential(*inner), rng.randrange(3)), lambda: Shared(inner[0]),
            lambda: Concat(inner, nn.Linear(d * len(inner), d), -1), lambda: Joined(TwoResults(inner[0], inner[-1])),
        ])()  # fmt: skip
    return rng.choice([
        lambda: nn.Linear(d, d, bias=rng.random() < 0.5), lambda: nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d)),
        lambda: nn.LayerNorm(d), lambda: nn.RMSNorm(d), lambda: rng.choice(ACTIVATIONS)(), lambda: Pointwise(rng),
        lambda: Attention(d, rng.choice([1, 2, 4]), rng.random() < 0.5), lambda: PlainAttention(d), lambda: Mix(rng), lambda: Mix(rng),
        lambda: Scale((d,)), lambda: Positions(d), lambda: SelfAttention(d),
        lambda: nn.Sequential(nn.Linear(d, 2 * d), nn.GLU(-1)), lambda: Transposed(nn.Conv1d(d, d, 3, padding=1)), lambda: nn.Softmax(-1),
    ])()  # fmt: skip


class SelfAttention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.mha = nn.MultiheadAttention(d, 2, batch_first=True)

    def forward(self, x):
        return self.mha(x, x, x, need_weights=False)[0]


class Transposed(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x.transpose(1, 2)).transpose(1, 2)


class Network(nn.Module):
    """Blocks in a list, then a head."""

    def __init__(self, blocks, head):
        super().__init__()
        self.blocks, self.head = nn.ModuleList(blocks), head

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class MeanHead(nn.Module):
    def __init__(self, features, dims):
        super().__init__()
        self.fc, self.dims = nn.Linear(features, 5), dims

    def forward(self, x):
        return self.fc(x.mean(self.dims))


def make(seed):
    """(model, input, axes that are dynamic) of a seed."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    image = rng.random() < 0.5
    make_module = image_module if image else sequence_module
    blocks = [make_module(rng, 8, rng.randint(0, 2)) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.3:
        blocks += [nn.Sequential(nn.Conv2d(8, 8, 1) if image else nn.Linear(8, 8), nn.ReLU()) for _ in range(3)]
    head = MeanHead(8, (2, 3) if image else 1) if rng.random() < 0.5 else rng.choice(ACTIVATIONS)()
    model = Network(blocks, head).eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 2)
    x = torch.randn(2, 8, 8, 8) if image else torch.randn(2, 6, 8)
    return model, x, (0,) if image else (0, 1)
