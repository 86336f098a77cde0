"""`trib import`: models of other tools as projects. Run as `python3 -m trib.importing SOURCE [DIR]`."""

from __future__ import annotations

import pathlib
import sys

from . import errors


def import_model(source, path=None):
    """Writes the project of a model: a .onnx or .gguf file, or a folder of transformers with safetensors.

    `path` is the project's folder, by default the source's name in the current folder.

    Returns the folder as a `pathlib.Path`.

    Raises: OperatorError with all that has no counterpart; NotFoundError; ArgumentError for other files.
    """
    source = pathlib.Path(source)
    path = pathlib.Path(path) if path is not None else pathlib.Path(source.resolve().stem)
    if path.resolve() == source.resolve() or (path / "tri.build").exists():
        raise errors.ArgumentError(
            f"{path} is the model itself or has a tri.build: pass another folder for the project"
        )
    if source.is_dir():
        if not (source / "config.json").is_file():
            raise errors.NotFoundError(f"{source} has no config.json: pass the folder of a model of transformers")
        from . import decoders

        return decoders.from_pretrained(source, path)
    if not source.exists():
        raise errors.NotFoundError(f"there is no {source}: pass a .onnx or .gguf file, or a folder with config.json")
    if source.suffix == ".onnx":
        from .onnx.importer import from_onnx

        return from_onnx(source, path)
    if source.suffix == ".gguf":
        from . import decoders

        return decoders.from_gguf(source, path)
    raise errors.ArgumentError(f"{source} is no .onnx or .gguf file, and no folder with config.json: pass one of these")


def _safe(text):
    """The text of others for a terminal and a log of CI: what would command them is shown by its codes, and each
    further line begins with a bar."""
    shown = "".join(c if c == "\n" or c.isprintable() else f"\\u{{{ord(c):x}}}" for c in str(text))
    return shown.replace("##", "#\\u{23}").replace("\n", "\n  | ")


def main(words):
    """The command `trib import`. Returns the exit code."""
    if not 1 <= len(words) <= 2:
        print("usage: trib import SOURCE [DIR]", file=sys.stderr)
        return 2
    try:
        folder = import_model(*words)
    except errors.Error as error:
        print(f"error: {_safe(error)}", file=sys.stderr)
        return 1
    print(f"created project {_safe(folder)}; try `cd {_safe(folder)} && trib build`")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
