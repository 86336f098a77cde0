"""The cell magic `%%tri` of IPython and Jupyter, after `%load_ext trib`."""

from __future__ import annotations

import argparse
import shlex

from . import compiling, errors


class _Words(argparse.ArgumentParser):
    def error(self, message):
        raise errors.ArgumentError(f"%%tri: {message}: write %%tri NAME --weights VARIABLE --entry LAYER")


def _parse(line):
    words = _Words(prog="%%tri", add_help=False)
    words.add_argument("name", nargs="?", default="model")
    words.add_argument("--weights")
    words.add_argument("--entry")
    words.add_argument("--opt")
    words.add_argument("--threads", type=int, default=0)
    return words.parse_args(shlex.split(line))


def tri(line: str, cell: str, namespace: dict):
    """Compiles a cell and stores the model in the namespace, under the name in the line; default: `model`.

    `--weights` is a variable of the namespace, such as a `state_dict`, or the path of a file. Returns the model.

    Raises: CompileError, which notebooks show with the lines of the cell; ArgumentError for a wrong line.
    """
    given = _parse(line)
    if not given.name.isidentifier():
        raise errors.ArgumentError(f"%%tri: `{given.name}` is no name of a variable")
    model = compiling.compile(
        cell if "\n" in cell else cell + "\n",
        namespace.get(given.weights, given.weights),
        entry=given.entry,
        opt=given.opt,
        threads=given.threads,
    )
    namespace[given.name] = model
    return model


def load_ipython_extension(shell):
    """Registers the magic: IPython calls this for `%load_ext trib`."""
    shell.register_magic_function(lambda line, cell: tri(line, cell, shell.user_ns), "cell", "tri")
