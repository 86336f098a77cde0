"""Architectures of torchvision and transformers with random weights: `make(name)` gives (model, args, kwargs, dynamic
shapes, larger inputs)."""

import torch
import torchvision.models as vision
import transformers as text
from torch import nn
from torch.export import Dim
from torchvision.models.convnext import CNBlockConfig, ConvNeXt
from transformers.models.whisper.modeling_whisper import WhisperEncoder

N, L = Dim("N"), Dim("L", max=64)
SMALL = {
    "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 50,
    "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip


class DoubleConv(nn.Sequential):
    def __init__(self, inputs, outputs):
        layers = [
            (nn.Conv2d(i, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))
            for i in (inputs, outputs)
        ]
        super().__init__(*layers[0], *layers[1])


class UNet(nn.Module):
    """Ronneberger et al., 2015, with lists of layers and skips between them."""

    def __init__(self, width=8, depth=3):
        super().__init__()
        widths = [width << i for i in range(depth + 1)]
        self.inc = DoubleConv(3, width)
        self.down = nn.ModuleList(
            [nn.Sequential(nn.MaxPool2d(2), DoubleConv(a, b)) for a, b in zip(widths, widths[1:])]
        )
        self.up = nn.ModuleList([nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in list(zip(widths, widths[1:]))[::-1]])
        self.fuse = nn.ModuleList([DoubleConv(2 * a, a) for a in widths[-2::-1]])
        self.outc = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        skips = [self.inc(x)]
        for down in self.down:
            skips.append(down(skips[-1]))
        x = skips.pop()
        for up, fuse in zip(self.up, self.fuse):
            x = fuse(torch.cat([skips.pop(), up(x)], 1))
        return self.outc(x)


def whisper_encoder():
    tokens = {"pad_token_id": 1, "bos_token_id": 2, "eos_token_id": 3, "decoder_start_token_id": 4}
    sizes = {
        "encoder_layers": 2,
        "encoder_attention_heads": 4,
        "encoder_ffn_dim": 64,
        "num_mel_bins": 16,
        "max_source_positions": 20,
    }
    return WhisperEncoder(text.WhisperConfig(d_model=32, vocab_size=50, **sizes, **tokens))


def language_model(kind, config, **more):
    return lambda: kind(config(**SMALL, num_key_value_heads=2, **more))


IMAGES = {
    "resnet18": (lambda: vision.resnet18(), 224),
    "mobilenet_v2": (lambda: vision.mobilenet_v2(width_mult=0.35), 64),
    "mobilenet_v3": (lambda: vision.mobilenet_v3_small(), 64),
    "efficientnet": (lambda: vision.efficientnet_b0(num_classes=10), 64),
    "densenet": (lambda: vision.DenseNet(growth_rate=8, block_config=(2, 3), num_init_features=16, num_classes=10), 64),
    "vit": (
        lambda: vision.VisionTransformer(32, 8, num_layers=2, num_heads=2, hidden_dim=32, mlp_dim=64, num_classes=10),
        32,
    ),
    "convnext": (lambda: ConvNeXt([CNBlockConfig(16, 32, 2), CNBlockConfig(32, None, 2)], num_classes=10), 64),
    "unet": (UNet, 64),
}
TEXTS = {
    "bert": lambda: text.BertModel(text.BertConfig(**SMALL, max_position_embeddings=64)),
    "distilbert": lambda: text.DistilBertModel(
        text.DistilBertConfig(dim=32, hidden_dim=64, n_layers=2, n_heads=4, vocab_size=50)
    ),
    "t5_encoder": lambda: text.T5EncoderModel(
        text.T5Config(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=50)
    ),
    "gpt2": lambda: text.GPT2LMHeadModel(
        text.GPT2Config(n_embd=32, n_layer=3, n_head=4, vocab_size=50, n_positions=64, bos_token_id=1, eos_token_id=2)
    ),
    "llama": language_model(text.LlamaForCausalLM, text.LlamaConfig),
    "qwen2": language_model(text.Qwen2ForCausalLM, text.Qwen2Config),
    "bitnet": language_model(text.BitNetForCausalLM, text.BitNetConfig),
}
NAMES = (*IMAGES, *TEXTS, "whisper_encoder")


def settle(model):
    """Gives parameters that are zero, and statistics of batches, values that change results."""
    for parameter in model.parameters():
        if not parameter.detach().any():
            nn.init.normal_(parameter, std=0.1)
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    return model.eval()


def make(name):
    torch.manual_seed(0)
    if name in IMAGES:
        build, size = IMAGES[name]
        count = 1 if size > 100 else 2
        return (
            settle(build()),
            (torch.randn(count, 3, size, size),),
            ({0: N},) if count > 1 else None,
            (torch.randn(count + (count > 1), 3, size, size),),
        )
    if name == "whisper_encoder":
        inputs = [{"input_features": torch.randn(n, 16, 40)} for n in (2, 3)]
        return settle(whisper_encoder()), inputs[0], {"input_features": {0: N}}, inputs[1]
    inputs = [{"input_ids": torch.randint(3, 50, shape)} for shape in ((2, 9), (3, 14))]
    shapes = {"input_ids": {0: N, 1: L}}
    if name == "bert":
        for words in inputs:
            words["attention_mask"] = torch.ones_like(words["input_ids"])
            words["attention_mask"][0, -3:] = 0
        shapes["attention_mask"] = {0: N, 1: L}
    if name not in ("bert", "distilbert", "t5_encoder"):
        for words in (*inputs, shapes):
            words["use_cache"] = None if words is shapes else False
    return settle(TEXTS[name]()), inputs[0], shapes, inputs[1]
