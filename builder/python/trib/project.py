"""Projects on disk: their files, formatting and builds."""

from __future__ import annotations

import pathlib
import re
import subprocess

from . import building, errors, installation, safetensors


def build(folder):
    """Builds the project in a folder. Raises: CompileError."""
    building.build(folder)


def arrange(path):
    """Formats a source file. Raises: CompileError if its syntax is wrong."""
    words = [installation.program(), "fmt", path.name]
    done = subprocess.run(words, cwd=path.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        raise errors.CompileError(done.stderr.strip())


def write(folder, name, text, entry, tensors):
    """Writes the project of one model: NAME.tri, NAME.safetensors and tri.build."""
    options = [f"weights = {name}.safetensors"] if tensors else []
    write_text(folder, name, text, [f"entry   = {entry}", *options])
    if tensors:
        safetensors.write(pathlib.Path(folder) / f"{name}.safetensors", tensors)


def write_text(folder, name, text, options):
    """Writes NAME.tri, and tri.build with a model of these options."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.tri").write_text(text, encoding="utf-8")
    lines = [f"project {name}", "    version = 1.0", "", f"model {name}", f"    sources = {name}.tri"]
    lines += [f"    {option}" for option in options]
    (folder / "tri.build").write_text("\n".join(lines) + "\n", encoding="utf-8")


def library(folder, name):
    """The path of a model's library in a project that was built."""
    return pathlib.Path(folder) / "build" / f"lib{name}.so"


def snake(name):
    """`TinyModel` as tiny_model, for the name of a model."""
    words = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", name).lower()).strip("_") or "model"
    return f"model_{words}" if words[0].isdigit() else words
