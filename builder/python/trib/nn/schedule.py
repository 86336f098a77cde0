"""Schedules of training: how a value changes from step to step, and where it is set.

`step()` after each optimizer step, as a learning rate schedule. Values are tensors of the modules, so that a compiled
model is not compiled again.
"""

from __future__ import annotations

import math
from typing import Any, Callable

from torch import nn

#: How a value goes from 0 to 1 as time does.
SHAPES: dict[str, Callable[[float], float]] = {
    "linear": lambda t: t,
    "cosine": lambda t: 0.5 - 0.5 * math.cos(math.pi * t),
    "cubic": lambda t: 1 - (1 - t) ** 3,
    "step": lambda t: float(t >= 1),
}


def ramp(step: int, begin: int, steps: int, shape: str = "linear") -> float:
    """Returns 0 up to the step `begin`, 1 from `begin + steps` on, and between them the shape of `SHAPES`. Raises
    ValueError for an unknown shape."""
    if shape not in SHAPES:
        raise ValueError(f"the shape must be one of {', '.join(map(repr, SHAPES))}, not {shape!r}")
    return SHAPES[shape](min(max((step - begin) / steps, 0.0), 1.0) if steps > 0 else float(step >= begin))


class _Schedule:
    """Sets the buffer `buffer` of all modules that have it."""

    buffer = ""

    def __init__(self, model: nn.Module, steps: int, begin: int, shape: str):
        self.steps, self.begin, self.shape = steps, begin, shape
        self.now = 0
        self._modules = [m for m in model.modules() if self.buffer in m._buffers]
        if not self._modules:
            raise ValueError(f"no layer of the model has a {self.buffer}")
        self._set()

    def value(self, step: int) -> float:
        """Returns the value at that step."""
        raise NotImplementedError

    def step(self) -> float:
        """Goes on to the next step, and returns its value."""
        self.now += 1
        return self._set()

    def _set(self) -> float:
        value = self.value(self.now)
        for m in self._modules:
            getattr(m, self.buffer).fill_(value)
        return value

    def state_dict(self) -> dict[str, Any]:
        """Returns what a checkpoint needs."""
        return {"now": self.now}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to the step of a checkpoint, and sets its value."""
        self.now = int(state["now"])
        self._set()


class GradualQuantization(_Schedule):
    """Mixes trits with the float weights, and int8 codes with the activations: floats only up to
    the step `begin`, quantized only from `begin + steps` on. It matters in training mode only; evaluation mode
    always quantizes. Shapes: `SHAPES`."""

    buffer = "blend"

    def __init__(self, model: nn.Module, steps: int, begin: int = 0, shape: str = "cosine"):
        super().__init__(model, steps, begin, shape)
        for m in self._modules:
            m.gradual = True

    def value(self, step: int) -> float:
        return ramp(step, self.begin, self.steps, self.shape)


class Temperature(_Schedule):
    """Changes the temperature of quantizers that have one (`Gumbel`, `Stochastic`) from `first` to `last`: by equal
    factors, or with another shape of `SHAPES` by its differences."""

    buffer = "temperature"

    def __init__(
        self,
        model: nn.Module,
        steps: int,
        first: float = 1.0,
        last: float = 0.1,
        begin: int = 0,
        shape: str = "exponential",
    ):
        self.first, self.last = first, last
        super().__init__(model, steps, begin, shape)

    def value(self, step: int) -> float:
        if self.shape == "exponential":
            return self.first * (self.last / self.first) ** ramp(step, self.begin, self.steps)
        return self.first + (self.last - self.first) * ramp(step, self.begin, self.steps, self.shape)
