"""What a library says about itself: :func:`trib.Model.describe`."""

from __future__ import annotations

import dataclasses
import html

_CONST, _SYM = 0, 1  # enum tri_dim_op of tri.h
_OPERATORS = {2: "+", 3: "*", 4: "//", 5: "%"}


def _dimension(steps, names):
    """A size as an int, or as text over dynamic dimensions: a postfix program in infix form."""
    stack = []
    for op, value in steps:
        if op == _CONST:
            stack.append((str(value), True))
        elif op == _SYM:
            stack.append((names[value], True))
        else:
            b, a = stack.pop(), stack.pop()
            a, b = (text if atom or op == 2 else f"({text})" for text, atom in (a, b))
            minus = _OPERATORS[op] == "+" and b.startswith("-")
            stack.append((f"{a} - {b[1:]}" if minus else f"{a} {_OPERATORS[op]} {b}", False))
    text = stack[0][0]
    return int(text) if len(steps) == 1 and steps[0][0] == _CONST else text


def _type(dtype, shape):
    return f"{dtype}[{', '.join(map(str, shape))}]"


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or an output. A size is an int, a name such as "N", or an expression such as "2 * N"."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]

    def __str__(self):
        return f"{self.name}: {_type(self.dtype, self.shape)}"


@dataclasses.dataclass(frozen=True)
class EntryDescription:
    """A function of the library: its inputs, its outputs, its dynamic dimensions, and the states that it reads or
    changes."""

    name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    dims: tuple[str, ...]
    states_read: tuple[str, ...]
    states_changed: tuple[str, ...]

    def __str__(self):
        return f"{self.name}({', '.join(map(str, self.inputs))}) -> ({', '.join(map(str, self.outputs))})"


@dataclasses.dataclass(frozen=True)
class State:
    """Memory that a model keeps between calls. The size 0 grows, up to the capacity of that name."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    capacity: str | None


@dataclasses.dataclass(frozen=True)
class Weight:
    """A ternary weight as it is packed. Its form is "dense", "blocks", "lists" or "bytes"."""

    name: str
    layout: str
    form: str
    shape: tuple[int, ...]
    bytes: int
    zeros: int


def _rows(rows):
    cells = ("".join(f"<td style='text-align:left'>{html.escape(str(cell))}</td>" for cell in row) for row in rows)
    return "".join(f"<tr>{row}</tr>" for row in cells)


@dataclasses.dataclass(frozen=True)
class Description:
    """A library: its name, its origin, what it was built for, and what it has."""

    name: str
    version: str
    compiler: str
    target: str
    backend: str
    commit: str
    dirty: bool
    entries: tuple[EntryDescription, ...]
    states: tuple[State, ...]
    capacities: tuple[tuple[str, int], ...]
    weights: tuple[Weight, ...]

    def _head(self):
        return f"{self.name} {self.version}".strip() + f" ({self.backend}, {self.target})"

    def __str__(self):
        lines = [self._head()]
        lines += [f"  {entry}" for entry in self.entries]
        lines += [
            f"  state {s.name}: {_type(s.dtype, s.shape)}" + (f" up to {s.capacity}" if s.capacity else "")
            for s in self.states
        ]
        lines += [f"  capacity {name} = {most}" for name, most in self.capacities]
        packed = sum(w.bytes for w in self.weights)
        lines += [f"  {len(self.weights)} ternary weights, {packed:,} bytes packed"] if self.weights else []
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self):
        rows = [(e.name, ", ".join(map(str, e.inputs)), ", ".join(map(str, e.outputs))) for e in self.entries]
        rows += [
            (f"state {s.name}", _type(s.dtype, s.shape), f"up to {s.capacity}" if s.capacity else "")
            for s in self.states
        ]
        titles = "<tr><th>entry</th><th>inputs</th><th>outputs</th></tr>"
        return f"{html.escape(self._head())}<table>{titles}{_rows(rows)}</table>"


def _tensors(tensors, dims):
    return tuple(Tensor(name, dtype, tuple(_dimension(d, dims) for d in shape)) for name, dtype, shape in tensors)


def of_library(library):
    """Returns the :class:`Description` of an opened library of the extension module."""
    *head, entries, states, capacities, weights = library.describe()
    names = [s[0] for s in states]
    limits = [c[0] for c in capacities]
    return Description(
        *head,
        tuple(
            EntryDescription(
                name,
                _tensors(inputs, dims),
                _tensors(outputs, dims),
                dims,
                tuple(names[i] for i in reads),
                tuple(names[i] for i in changes),
            )
            for name, inputs, outputs, dims, reads, changes in entries
        ),
        tuple(
            State(name, dtype, shape, limits[capacity] if axis >= 0 else None)
            for name, dtype, shape, axis, capacity in states
        ),
        capacities,
        tuple(Weight(*w) for w in weights),
    )
