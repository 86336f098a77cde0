"""The source of a decoder: layers of `nn` with the sizes of a model."""

from __future__ import annotations

import dataclasses
import re

FAMILIES = {"llama": ("silu", False), "mistral": ("silu", False), "bitnet": ("relu2", True)}  # activation, inner norms
SIZES = ("vocabulary", "depth", "hidden", "heads", "kv_heads", "head_dim", "intermediate", "eps", "theta")
CONTEXT = 4096  # tokens of the state, if the model has seen as many


@dataclasses.dataclass
class Config:
    """What the text of a decoder depends on."""

    family: str
    vocabulary: int
    depth: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    eps: float
    theta: float
    context: int
    bias: bool = False
    mlp_bias: bool = False
    tied: bool = False
    ternary: bool = False
    window: int | None = None
    gguf: bool = False  # members have the names of GGUF
    interleaved: bool = False  # the rotary embedding turns pairs of neighbours


def decoder_text(config):
    """The source of a decoder."""
    activation, sub_norm = FAMILIES[config.family]
    linear = "TernaryLinear" if config.ternary else "nn.Linear"
    more = ", sub_norm=true, norm_eps=eps" if sub_norm else ""
    more += f", linear={linear}" if config.ternary else ""
    embedding = "_model.token_embd" if config.gguf else "model.embed_tokens"
    values = {
        "title": f"{config.family}: a decoder of {config.depth} layers. Sizes are those of its configuration.",
        "constants": "\n".join(f"const {word} = {getattr(config, word)}" for word in SIZES),
        "linear": (STORED if config.gguf else TERNARY) if config.ternary else "",
        "interleaved": ", interleaved=true" if config.interleaved else "",
        "activation": activation,
        "attention": f", bias={str(config.bias).lower()}, rope_base=theta{more}",
        "mlp": f'"{activation}", bias={str(config.mlp_bias).lower()}{more}',
        "tied": f", weight={embedding}.weight" if config.tied else "",
        "window": WINDOW.replace("{window}", str(config.window)) if config.window else "",
    }
    values["project"] = linear
    values["sub_attn"] = "\n    let attn_sub_norm = nn.RMSNorm(heads * head_dim, eps)" if sub_norm else ""
    values["sub_ffn"] = "\n    let ffn_sub_norm = nn.RMSNorm(intermediate, eps)" if sub_norm else ""
    values["normed_attn"] = "attn_sub_norm(y)" if sub_norm else "y"
    values["normed_ffn"] = "ffn_sub_norm(y)" if sub_norm else "y"
    values["gguf"] = fill(GGUF, {**values, **NAMED[config.gguf]}) if config.gguf else ""
    values["attn"], values["mlp"] = (
        ("Attention()", "FeedForward()")
        if config.gguf
        else (
            fill("nn.GroupedQueryAttention(hidden, heads, kv_heads, head_dim<attention>)", values),
            fill("nn.GatedFeedForward(hidden, intermediate, <mlp>)", values),
        )
    )
    return fill(DECODER, {**values, **NAMED[config.gguf]})


def fill(text, values):
    """The text with values in its places."""
    return re.sub(r"<(\w+)>", lambda found: values[found.group(1)], text)


# Names of members, which are those of the tensors: of transformers, and of GGUF.
NAMED = {
    False: {
        "m_model": "model", "m_embed": "embed_tokens", "m_blocks": "layers", "m_norm": "norm", "m_head": "lm_head",
        "m_norm1": "input_layernorm", "m_attn": "self_attn", "m_norm2": "post_attention_layernorm", "m_mlp": "mlp",
    },
    True: {
        "m_model": "_model", "m_embed": "token_embd", "m_blocks": "blk", "m_norm": "output_norm", "m_head": "output",
        "m_norm1": "attn_norm", "m_attn": "_attn", "m_norm2": "ffn_norm", "m_mlp": "_mlp",
    },
}  # fmt: skip

TERNARY = """
# Ternary weights with one scale, int8 activations with a scale for each token. A build quantizes the weights.
layer TernaryLinear(in_features: int, out_features: int, bias: bool = false) {
    let _linear = nn.BitLinear(in_features, out_features, bias, norm=false)
    fn forward(x) { return _linear(x) }
}
"""

STORED = """
# Ternary weights with one scale, as the file has them, int8 activations with a scale for each token.
layer TernaryLinear(in_features: int, out_features: int, bias: bool = false) {
    param weight: Tensor<float32, [out_features, in_features]>
    fn forward(x) {
        let scale = maximum(amax(abs(weight)), 1e-5)
        let (q, sx) = absmax_quantize(x)
        return float32(q @ ternary_quantize(weight / scale).transpose()) * (sx * scale)
    }
}
"""

WINDOW = """
    assert tokens.shape[1] <= {window}, "more tokens than the sliding window has: pass at most {window}"
"""

GGUF = """
layer Attention() {
    let attn_q = <project>(hidden, heads * head_dim, false)
    let attn_k = <project>(hidden, kv_heads * head_dim, false)
    let attn_v = <project>(hidden, kv_heads * head_dim, false)
    let attn_output = <project>(heads * head_dim, hidden, false)<sub_attn>
    let _cache = nn.KeyValueCache(1, kv_heads, head_dim)

    fn turned(x, count: int, position) {
        return rope(nn.split_heads(x, count), position, theta<interleaved>)
    }

    fn attend(x, k, v, position, mask, causal: bool) {
        let y = nn.join_heads(attention(turned(attn_q(x), heads, position), k, v, mask, causal))
        return attn_output(<normed_attn>)
    }

    fn prefill(x) {
        let (k, v) = (turned(attn_k(x), kv_heads, 0), nn.split_heads(attn_v(x), kv_heads))
        return (attend(x, k, v, 0, none, true), k, v)
    }

    fn decode(
        x: Tensor<float32, [B, L, E]>,
        cache_k: Tensor<float32, [B, KV, P, D]>,
        cache_v: Tensor<float32, [B, KV, P, D]>,
    ) {
        let k = concat([cache_k, turned(attn_k(x), kv_heads, P)], dim=2)
        let v = concat([cache_v, nn.split_heads(attn_v(x), kv_heads)], dim=2)
        let seen = arange(P + L).unsqueeze(0) <= arange(P, P + L).unsqueeze(1)
        return (attend(x, k, v, P, seen, false), k, v)
    }

    fn step(x: Tensor<float32, [1, L, E]>) {
        let at = _cache.k.shape[2]
        let (k, v) = _cache.update(
            turned(attn_k(x), kv_heads, at),
            nn.split_heads(attn_v(x), kv_heads),
        )
        let seen = arange(at + L).unsqueeze(0) <= arange(at, at + L).unsqueeze(1)
        return attend(x, k, v, at, seen, false)
    }
}

layer FeedForward() {
    let ffn_gate = <project>(hidden, intermediate, false)
    let ffn_up = <project>(hidden, intermediate, false)
    let ffn_down = <project>(intermediate, hidden, false)<sub_ffn>
    fn forward(x) {
        let y = <activation>(ffn_gate(x)) * ffn_up(x)
        return ffn_down(<normed_ffn>)
    }
}
"""

DECODER = """# <title>
import nn

<constants>
<linear><gguf>
layer DecoderLayer() {
    let <m_norm1> = nn.RMSNorm(hidden, eps)
    let <m_attn> = <attn>
    let <m_norm2> = nn.RMSNorm(hidden, eps)
    let <m_mlp> = <mlp>

    fn feed_forward(x) { return x + <m_mlp>(<m_norm2>(x)) }

    fn prefill(x) {
        let (y, k, v) = <m_attn>.prefill(<m_norm1>(x))
        return (feed_forward(x + y), k, v)
    }

    fn decode(x, cache_k, cache_v) {
        let (y, k, v) = <m_attn>.decode(<m_norm1>(x), cache_k, cache_v)
        return (feed_forward(x + y), k, v)
    }

    fn step(x) { return feed_forward(x + <m_attn>.step(<m_norm1>(x))) }
}

layer Decoder() {
    let <m_embed> = nn.Embedding(vocabulary, hidden)
    let <m_blocks> = [DecoderLayer() for i in 0..depth]
    let <m_norm> = nn.RMSNorm(hidden, eps)

    # Keys and values of all layers come stacked: [depth, batch, kv_heads, length, head_dim].
    fn prefill(tokens) {<window>
        let x = <m_embed>(tokens)
        let keys = []
        let values = []
        for block in <m_blocks> {
            let (y, k, v) = block.prefill(x)
            x = y
            keys += [k]
            values += [v]
        }
        return (<m_norm>(x), stack(keys), stack(values))
    }

    fn decode(tokens, cache_k, cache_v) {
        let x = <m_embed>(tokens)
        let keys = []
        let values = []
        for (i, block) in enumerate(<m_blocks>) {
            let (y, k, v) = block.decode(x, cache_k[i], cache_v[i])
            x = y
            keys += [k]
            values += [v]
        }
        return (<m_norm>(x), stack(keys), stack(values))
    }

    fn step(tokens) {
        let x = <m_embed>(tokens)
        for block in <m_blocks> { x = block.step(x) }
        return <m_norm>(x)
    }
}

layer Net() {
    let <m_model> = Decoder()
    let <m_head> = nn.Linear(hidden, vocabulary, bias=false<tied>)

    # The whole prompt: logits of the token that follows it, and the cache.
    fn prefill(tokens: Tensor<int32, [B, L]>) {
        let (x, k, v) = <m_model>.prefill(tokens)
        return (<m_head>(x[:, -1]), k, v)
    }

    # One token more.
    fn decode(
        tokens: Tensor<int32, [B, 1]>,
        cache_k: Tensor<float32, [depth, B, kv_heads, P, head_dim]>,
        cache_v: Tensor<float32, [depth, B, kv_heads, P, head_dim]>,
    ) {
        let (x, k, v) = <m_model>.decode(tokens, cache_k, cache_v)
        return (<m_head>(x[:, -1]), k, v)
    }

    # The tokens after those of earlier runs: the cache is state. Logits of the token that follows.
    fn step(tokens: Tensor<int32, [1, L]>) { return <m_head>(<m_model>.step(tokens)[:, -1]) }

    # Logits of all tokens.
    fn forward(tokens: Tensor<int32, [B, L]>) { return <m_head>(<m_model>.prefill(tokens)[0]) }
}
"""
