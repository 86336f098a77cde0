"""Errors and warnings of sources, as objects: texts, colours, HTML."""

from __future__ import annotations

import dataclasses
import html
import os

_COLOURS = {"error": "1;31", "warning": "1;33", "place": "1;34", "bold": "1"}
_STYLES = {"error": "color:#c00;font-weight:bold", "warning": "color:#a60;font-weight:bold", "place": "color:#36c"}


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """An error or a warning.

    Lines and columns count from 1, columns in bytes; the end is exclusive. Without a place `file` is "".
    """

    severity: str
    code: str
    message: str
    label: str
    help: str
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    source: str = dataclasses.field(default="", repr=False)

    def __str__(self):
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        return f"{place}{self.severity}[{self.code}]: {self.message}"

    def _pieces(self):
        """The text as (text, kind) pairs: the message, the line of the source with the place marked, and what to do."""
        yield f"{self.severity}[{self.code}]", self.severity
        yield f": {self.message}\n", "bold"
        if self.file:
            yield "  --> ", "place"
            yield f"{self.file}:{self.line}:{self.column}\n", ""
        if self.source:
            margin, line = f"{self.line:4} | ", self.source.encode()
            end = self.end_column if self.end_line == self.line else len(line) + 1
            before = line[: self.column - 1].decode(errors="replace")
            marked = line[self.column - 1 : end - 1].decode(errors="replace")
            yield margin, "place"
            yield self.source + "\n", ""
            yield " " * 5 + "| ", "place"
            blank = "".join("\t" if c == "\t" else " " for c in before)
            yield f"{blank}{'^' * max(len(marked), 1)} {self.label}".rstrip() + "\n", self.severity
        if self.help:
            yield "help", "bold"
            yield f": {self.help}\n", ""

    def render(self, color: bool = False) -> str:
        """Returns the text with the line of the source; with `color` for a terminal."""
        paint = "\x1b[{}m{}\x1b[0m".format if color else lambda _, text: text
        return "".join(paint(_COLOURS[kind], text) if kind else text for text, kind in self._pieces())

    def _repr_html_(self):
        spans = (
            f"<span style='{_STYLES.get(kind, 'font-weight:bold')}'>{html.escape(text)}</span>"
            if kind
            else html.escape(text)
            for text, kind in self._pieces()
        )
        return f"<pre>{''.join(spans)}</pre>"


def with_source(diagnostic: Diagnostic, folder: str) -> Diagnostic:
    """Returns the diagnostic with the line of its source, if that is readable."""
    try:
        with open(os.path.join(folder, diagnostic.file), encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
    except OSError:
        return diagnostic
    line = lines[diagnostic.line - 1] if 0 < diagnostic.line <= len(lines) else ""
    return dataclasses.replace(diagnostic, source=line)
