"""The networks of examples/zoo in PyTorch, with the parameter names and shapes of torchvision.models and of transformers' BitNet. Small forms come from
smaller arguments."""
import math

import torch
import torch.nn.functional as F
from torch import nn


# ---- multilayer perceptron, VGG ----

class Mlp(nn.Module):
    def __init__(self, sizes=(784, 512, 512, 10)):
        super().__init__()
        a, b, c, d = sizes
        self.linear_relu_stack = nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, c), nn.ReLU(), nn.Linear(c, d))

    def forward(self, x):
        return self.linear_relu_stack(x.flatten(1))


VGG16 = [64, 64, "M", 128, 128, "M", 256, 256, 256, "M", 512, 512, 512, "M", 512, 512, 512, "M"]


class Vgg(nn.Module):
    def __init__(self, plan=VGG16, hidden=4096, classes=1000):
        super().__init__()
        layers, channels = [], 3
        for v in plan:
            if v == "M":
                layers.append(nn.MaxPool2d(2, 2))
            else:
                layers += [nn.Conv2d(channels, v, 3, padding=1), nn.ReLU()]
                channels = v
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(7)
        self.classifier = nn.Sequential(nn.Linear(channels * 49, hidden), nn.ReLU(), nn.Dropout(), nn.Linear(hidden, hidden), nn.ReLU(),
                                        nn.Dropout(), nn.Linear(hidden, classes))

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


# ---- ResNet ----

class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, into, planes, stride, downsample):
        super().__init__()
        self.conv1 = nn.Conv2d(into, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = downsample

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.downsample(x) if self.downsample else x))


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, into, planes, stride, downsample):
        super().__init__()
        self.conv1 = nn.Conv2d(into, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, planes * 4, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(planes * 4)
        self.downsample = downsample

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn3(self.conv3(F.relu(self.bn2(self.conv2(y)))))
        return F.relu(y + (self.downsample(x) if self.downsample else x))


class ResNet(nn.Module):
    def __init__(self, block, layers, width=64, classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.into = width
        self.layer1 = self.stage(block, width, layers[0], 1)
        self.layer2 = self.stage(block, width * 2, layers[1], 2)
        self.layer3 = self.stage(block, width * 4, layers[2], 2)
        self.layer4 = self.stage(block, width * 8, layers[3], 2)
        self.fc = nn.Linear(width * 8 * block.expansion, classes)

    def stage(self, block, planes, n, stride):
        out = planes * block.expansion
        down = None
        if stride != 1 or self.into != out:
            down = nn.Sequential(nn.Conv2d(self.into, out, 1, stride, bias=False), nn.BatchNorm2d(out))
        blocks = [block(self.into, planes, stride, down)] + [block(out, planes, 1, None) for _ in range(1, n)]
        self.into = out
        return nn.Sequential(*blocks)

    def forward(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


# ---- MobileNetV2, EfficientNet ----

def divisible(v):
    near = max(8, int(v + 4) // 8 * 8)
    return near + 8 if near < 0.9 * v else near


def conv_bn(into, out, kernel, stride=1, groups=1, eps=1e-5, act=None):
    layers = [nn.Conv2d(into, out, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(out, eps)]
    return nn.Sequential(*layers, *([act()] if act else []))


class InvertedResidual(nn.Module):
    def __init__(self, into, out, stride, expand):
        super().__init__()
        hidden = into * expand
        layers = [conv_bn(into, hidden, 1, act=nn.ReLU6)] if expand != 1 else []
        layers += [conv_bn(hidden, hidden, 3, stride, hidden, act=nn.ReLU6), nn.Conv2d(hidden, out, 1, bias=False), nn.BatchNorm2d(out)]
        self.conv = nn.Sequential(*layers)
        self.residual = stride == 1 and into == out

    def forward(self, x):
        return x + self.conv(x) if self.residual else self.conv(x)


class MobileNetV2(nn.Module):
    SETTINGS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]

    def __init__(self, width=1.0, last=1280, classes=1000):
        super().__init__()
        channels = divisible(32 * width)
        layers = [conv_bn(3, channels, 3, 2, act=nn.ReLU6)]
        for t, c, n, s in self.SETTINGS:
            out = divisible(c * width)
            for i in range(n):
                layers.append(InvertedResidual(channels, out, s if i == 0 else 1, t))
                channels = out
        layers.append(conv_bn(channels, last, 1, act=nn.ReLU6))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last, classes))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class SqueezeExcitation(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.fc2(F.silu(self.fc1(x.mean((2, 3), keepdim=True)))))


class MBConv(nn.Module):
    def __init__(self, into, out, kernel, stride, expand, eps):
        super().__init__()
        hidden = divisible(into * expand)
        layers = [conv_bn(into, hidden, 1, eps=eps, act=nn.SiLU)] if hidden != into else []
        layers += [conv_bn(hidden, hidden, kernel, stride, hidden, eps, nn.SiLU), SqueezeExcitation(hidden, max(1, into // 4)),
                   conv_bn(hidden, out, 1, eps=eps)]
        self.block = nn.Sequential(*layers)
        self.residual = stride == 1 and into == out

    def forward(self, x):
        return x + self.block(x) if self.residual else self.block(x)


class EfficientNet(nn.Module):
    SETTINGS = [(1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 2, 40, 80, 3), (6, 5, 1, 80, 112, 3),
                (6, 5, 2, 112, 192, 4), (6, 3, 1, 192, 320, 1)]

    def __init__(self, width, depth, eps=1e-5, classes=1000):
        super().__init__()
        layers = [conv_bn(3, divisible(32 * width), 3, 2, eps=eps, act=nn.SiLU)]
        for t, k, s, a, b, n in self.SETTINGS:
            a, b = divisible(a * width), divisible(b * width)
            layers.append(nn.Sequential(*[MBConv(a if i == 0 else b, b, k, s if i == 0 else 1, t, eps) for i in range(math.ceil(n * depth))]))
        layers.append(conv_bn(b, 4 * b, 1, eps=eps, act=nn.SiLU))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(4 * b, classes))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


# ---- DenseNet ----

class DenseLayer(nn.Module):
    def __init__(self, channels, growth, bottleneck):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv1 = nn.Conv2d(channels, bottleneck * growth, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(bottleneck * growth)
        self.conv2 = nn.Conv2d(bottleneck * growth, growth, 3, padding=1, bias=False)

    def forward(self, x):
        return torch.cat([x, self.conv2(F.relu(self.norm2(self.conv1(F.relu(self.norm1(x))))))], 1)


class DenseNet(nn.Module):
    def __init__(self, blocks=(6, 12, 48, 32), first=64, growth=32, bottleneck=4, classes=1000):
        super().__init__()
        f = nn.Sequential()
        f.add_module("conv0", nn.Conv2d(3, first, 7, 2, 3, bias=False))
        f.add_module("norm0", nn.BatchNorm2d(first))
        f.add_module("relu0", nn.ReLU())
        f.add_module("pool0", nn.MaxPool2d(3, 2, 1))
        channels = first
        for i, n in enumerate(blocks):
            block = nn.Sequential()
            for k in range(n):
                block.add_module(f"denselayer{k + 1}", DenseLayer(channels, growth, bottleneck))
                channels += growth
            f.add_module(f"denseblock{i + 1}", block)
            if i + 1 < len(blocks):
                t = nn.Sequential()
                t.add_module("norm", nn.BatchNorm2d(channels))
                t.add_module("relu", nn.ReLU())
                t.add_module("conv", nn.Conv2d(channels, channels // 2, 1, bias=False))
                t.add_module("pool", nn.AvgPool2d(2, 2))
                f.add_module(f"transition{i + 1}", t)
                channels //= 2
        f.add_module("norm5", nn.BatchNorm2d(channels))
        self.features = f
        self.classifier = nn.Linear(channels, classes)

    def forward(self, x):
        return self.classifier(F.relu(self.features(x)).mean((2, 3)))


# ---- Vision Transformer ----

class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.ln_1 = nn.LayerNorm(dim, 1e-6)
        self.self_attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ln_2 = nn.LayerNorm(dim, 1e-6)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Dropout(0.0), nn.Linear(hidden, dim), nn.Dropout(0.0))

    def forward(self, x):
        y = self.ln_1(x)
        x = x + self.self_attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.ln_2(x))


class Encoder(nn.Module):
    def __init__(self, length, depth, dim, heads, hidden):
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.empty(1, length, dim).normal_(std=0.02))
        self.layers = nn.Sequential()
        for i in range(depth):
            self.layers.add_module(f"encoder_layer_{i}", EncoderBlock(dim, heads, hidden))
        self.ln = nn.LayerNorm(dim, 1e-6)

    def forward(self, x):
        return self.ln(self.layers(x + self.pos_embedding))


class VisionTransformer(nn.Module):
    def __init__(self, image=224, patch=16, depth=12, heads=12, dim=768, hidden=3072, classes=1000):
        super().__init__()
        self.conv_proj = nn.Conv2d(3, dim, patch, patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.encoder = Encoder((image // patch) ** 2 + 1, depth, dim, heads, hidden)
        self.heads = nn.Sequential()
        self.heads.add_module("head", nn.Linear(dim, classes))

    def forward(self, x):
        x = self.conv_proj(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], 1)
        return self.heads(self.encoder(x)[:, 0])


# ---- BitNet ----

def trits_of(weight):
    """As transformers.integrations.bitnet does: trits by the mean, and what to divide them by."""
    scale = 1 / weight.abs().mean().clamp(min=1e-5)
    return (weight * scale).round().clamp(-1, 1), scale


class BitLinear(nn.Module):
    """Master weights; the input becomes int8 by the largest of each row."""
    def __init__(self, into, out, bias=False):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out, into).normal_(std=0.02))
        self.bias = nn.Parameter(torch.zeros(out)) if bias else None

    def forward(self, x):
        trits, w = trits_of(self.weight)
        s = 127 / x.abs().amax(-1, keepdim=True).clamp(min=1e-5)
        y = F.linear((x * s).round().clamp(-128, 127), trits) / (s * w)
        return y if self.bias is None else y + self.bias


class BitConv2d(nn.Module):
    """Master weights, and a trained scale of the int8 input."""
    def __init__(self, like):
        super().__init__()
        self.weight, self.bias = like.weight, like.bias
        self.input_scale = nn.Parameter(torch.full((1,), 0.05))
        self.geometry = dict(stride=like.stride, padding=like.padding, groups=like.groups)

    def forward(self, x):
        trits, w = trits_of(self.weight)
        q = (x * (1 / self.input_scale)).round().clamp(-127, 127)
        y = F.conv2d(q, trits, **self.geometry) * (self.input_scale / w)
        return y if self.bias is None else y + self.bias.view(1, -1, 1, 1)


class BitAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.in_proj, self.out_proj = heads, BitLinear(dim, 3 * dim, True), BitLinear(dim, dim, True)

    def forward(self, x, *_, need_weights):
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in self.in_proj(x).chunk(3, -1))
        y = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), -1) @ v
        return self.out_proj(y.transpose(1, 2).flatten(2)), None


def replaced(net, make):
    """The network with each layer replaced by make(layer), unless that is None."""
    for name, child in net.named_children():
        new = make(child)
        if new is None:
            replaced(child, make)
        else:
            setattr(net, name, new)
    return net


def ternary(layer):
    if isinstance(layer, nn.Conv2d):
        return BitConv2d(layer)
    if isinstance(layer, nn.Linear):
        return BitLinear(layer.in_features, layer.out_features, layer.bias is not None)
    if isinstance(layer, nn.MultiheadAttention):
        return BitAttention(layer.embed_dim, layer.num_heads)
    return None


def ternary_vit(net):
    """The patches, the norms and the head stay float32."""
    replaced(net.encoder, ternary)
    return net


def float_projections(net):
    return replaced(net, lambda layer: nn.Linear(*reversed(layer.weight.shape), bias=False) if isinstance(layer, BitLinear) else None)


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))


def rotary(x, start, theta):
    d = x.shape[-1]
    angle = (start + torch.arange(x.shape[-2], dtype=torch.float64))[:, None] * theta ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = (torch.cat([f(angle)] * 2, -1).to(x.dtype) for f in (torch.cos, torch.sin))
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


class Attention(nn.Module):
    def __init__(self, hidden, heads, kv_heads, theta):
        super().__init__()
        d = hidden // heads
        self.heads, self.kv_heads, self.theta = heads, kv_heads, theta
        self.q_proj, self.k_proj, self.v_proj = BitLinear(hidden, heads * d), BitLinear(hidden, kv_heads * d), BitLinear(hidden, kv_heads * d)
        self.o_proj = BitLinear(heads * d, hidden)
        self.attn_sub_norm = RMSNorm(hidden)

    def forward(self, x, cache):
        def split(y, n):
            return y.unflatten(-1, (n, -1)).transpose(1, 2)
        at = cache[0].shape[2] if cache else 0
        q, k, v = split(self.q_proj(x), self.heads), split(self.k_proj(x), self.kv_heads), split(self.v_proj(x), self.kv_heads)
        q, k = rotary(q, at, self.theta), rotary(k, at, self.theta)
        if cache:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        groups = self.heads // self.kv_heads
        scores = q @ k.repeat_interleave(groups, 1).transpose(-1, -2) / math.sqrt(q.shape[-1])
        seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
        y = torch.softmax(scores.masked_fill(~seen, -math.inf), -1) @ v.repeat_interleave(groups, 1)
        return self.o_proj(self.attn_sub_norm(y.transpose(1, 2).flatten(2))), (k, v)


class GatedMlp(nn.Module):
    def __init__(self, hidden, intermediate):
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = BitLinear(hidden, intermediate), BitLinear(hidden, intermediate), BitLinear(intermediate, hidden)
        self.ffn_sub_norm = RMSNorm(intermediate)

    def forward(self, x):
        return self.down_proj(self.ffn_sub_norm(F.relu(self.gate_proj(x)) ** 2 * self.up_proj(x)))


class DecoderLayer(nn.Module):
    def __init__(self, hidden, heads, kv_heads, intermediate, theta):
        super().__init__()
        self.self_attn = Attention(hidden, heads, kv_heads, theta)
        self.mlp = GatedMlp(hidden, intermediate)
        self.input_layernorm = RMSNorm(hidden)
        self.post_attention_layernorm = RMSNorm(hidden)

    def forward(self, x, cache):
        y, cache = self.self_attn(self.input_layernorm(x), cache)
        x = x + y
        return x + self.mlp(self.post_attention_layernorm(x)), cache


class BitNet(nn.Module):
    def __init__(self, vocabulary=128256, depth=30, hidden=2560, heads=20, kv_heads=5, intermediate=6912, theta=500000.0):
        super().__init__()
        self.model = nn.Module()
        self.model.embed_tokens = nn.Embedding(vocabulary, hidden)
        self.model.layers = nn.ModuleList(DecoderLayer(hidden, heads, kv_heads, intermediate, theta) for _ in range(depth))
        self.model.norm = RMSNorm(hidden)

    def forward(self, tokens, cache=None):
        """Logits of the next token, and keys and values [depth, batch, kv_heads, length, head size]."""
        x = self.model.embed_tokens(tokens)
        keys, values = [], []
        for i, layer in enumerate(self.model.layers):
            x, (k, v) = layer(x, (cache[0][i], cache[1][i]) if cache else None)
            keys.append(k)
            values.append(v)
        return self.model.norm(x)[:, -1] @ self.model.embed_tokens.weight.T, torch.stack(keys), torch.stack(values)
