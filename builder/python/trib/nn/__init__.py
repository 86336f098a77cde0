"""Layers, quantizers and schedules for training ternary networks with PyTorch 1.13 or newer. README.md is the guide.

In evaluation mode a layer computes what the layer of `.tri` of the same name computes: integers bit for bit, floats
within the bound of their sums.
"""

from . import functional, table
from .blocks import GatedFeedForward, GroupedQueryAttention, attention, rope
from .convert import BIT, TERNARY, Rule, freeze, ternarize, to_state_dict
from .layers import (
    BitConv2d,
    BitLinear,
    RMSNorm,
    TernaryActivation,
    TernaryConv2d,
    TernaryEmbedding,
    TernaryLinear,
)
from .quantizers import (
    QUANTIZERS,
    AbsMean,
    Adaptive,
    Gumbel,
    LearnedScale,
    Quantizer,
    Stochastic,
    Threshold,
    Xnor,
)
from .schedule import GradualQuantization, Temperature, ramp

__all__ = [
    "BIT",
    "QUANTIZERS",
    "TERNARY",
    "AbsMean",
    "Adaptive",
    "BitConv2d",
    "BitLinear",
    "GatedFeedForward",
    "GradualQuantization",
    "GroupedQueryAttention",
    "Gumbel",
    "LearnedScale",
    "Quantizer",
    "RMSNorm",
    "Rule",
    "Stochastic",
    "Temperature",
    "TernaryActivation",
    "TernaryConv2d",
    "TernaryEmbedding",
    "TernaryLinear",
    "Threshold",
    "Xnor",
    "attention",
    "freeze",
    "functional",
    "ramp",
    "rope",
    "table",
    "ternarize",
    "to_state_dict",
]
