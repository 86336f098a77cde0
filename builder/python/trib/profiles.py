"""What the statements of a model cost: :meth:`trib.Model.profile`."""

from __future__ import annotations

import dataclasses
import html


@dataclasses.dataclass
class Statement:
    """A loop, a kernel or a call of a unit. Times are nanoseconds, and include the statements of the units that it
    calls.

    `parent` is the index of the call in which it is; None: the model runs it itself. `operations` are those of the
    network, 0 for calls.
    """

    code: str
    operation: str
    layer: str
    file: str
    line: int
    parent: int | None
    calls: int = 0
    wall_ns: int = 0
    cpu_ns: int = 0
    bytes: int = 0
    operations: int = 0
    memory: int = 0

    @property
    def place(self) -> str:
        """The line of the sources: "src/net.tri:12"; "" if unknown."""
        return f"{self.file}:{self.line}" if self.file else ""


@dataclasses.dataclass
class Profile:
    """The cost of all runs of a model, over all of its contexts."""

    runs: int
    wall_ns: int
    cpu_ns: int
    memory_bytes: int
    threads: int
    statements: tuple[Statement, ...]

    def _rows(self):
        for s in sorted((s for s in self.statements if s.parent is None), key=lambda s: -s.wall_ns):
            share = 100 * s.wall_ns / self.wall_ns if self.wall_ns else 0
            yield (
                f"{s.layer} {s.operation or s.code}".strip(),
                s.place,
                f"{s.wall_ns / max(self.runs, 1) / 1e6:.3f} ms",
                f"{share:.1f} %",
            )

    def __str__(self):
        rows = list(self._rows())
        widths = [max((len(row[k]) for row in rows), default=0) for k in range(4)]
        lines = [f"{self.runs} runs, {self.wall_ns / max(self.runs, 1) / 1e6:.3f} ms each, {self.threads} threads"]
        return "\n".join(
            lines + ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        )

    __repr__ = __str__

    def _repr_html_(self):
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows()
        )
        head = "".join(f"<th>{title}</th>" for title in ("statement", "at", "time", "share"))
        return f"{html.escape(str(self).splitlines()[0])}<table><tr>{head}</tr>{rows}</table>"


def merge(contexts) -> Profile:
    """Adds the profiles of the contexts of a model, which the extension module returns as tuples."""
    whole = Profile(0, 0, 0, 0, 0, ())
    statements: list[Statement] = []
    places: dict[tuple, int] = {}
    for runs, wall, cpu, memory, threads, entries in contexts:
        whole.runs, whole.wall_ns, whole.cpu_ns = whole.runs + runs, whole.wall_ns + wall, whole.cpu_ns + cpu
        whole.memory_bytes, whole.threads = max(whole.memory_bytes, memory), max(whole.threads, threads)
        merged: list[int] = []  # for each entry of this context its index in `statements`
        for code, operation, layer, file, line, parent, statement, calls, *costs, most in entries:
            above = merged[parent] if parent >= 0 else None
            at = places.setdefault((above, code, file, line, statement), len(statements))
            if at == len(statements):
                statements.append(Statement(code, operation, layer, file, line, above))
            s = statements[at]
            s.calls, s.memory = s.calls + calls, max(s.memory, most)
            s.wall_ns, s.cpu_ns, s.bytes, s.operations = (
                a + b for a, b in zip((s.wall_ns, s.cpu_ns, s.bytes, s.operations), costs)
            )
            merged.append(at)
    whole.statements = tuple(statements)
    return whole
