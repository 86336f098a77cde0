"""Where the executable `trib` and libtrib.so are: beside the package in a wheel or a build folder, or on PATH."""

from __future__ import annotations

import os
import shutil

from . import errors

# From the package's folder: a virtual environment or prefix, `pip install --target`, a build folder.
_PROGRAMS = ("../../../../bin/trib", "../bin/trib", "../../trib")
_LIBRARIES = ("../lib/trib/libtrib.so", "lib/trib/libtrib.so")  # from the program's folder


def program() -> str:
    """Returns the path of the executable. Raises NotFoundError."""
    here = os.path.dirname(os.path.abspath(__file__))
    for place in _PROGRAMS:
        path = os.path.normpath(os.path.join(here, place))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    found = shutil.which("trib")
    if found:
        return os.path.realpath(found)
    raise errors.NotFoundError("the executable `trib` is missing: install the package again, or put trib on PATH")


def library() -> str:
    """Returns the path of libtrib.so. Raises NotFoundError."""
    folder = os.path.dirname(program())
    for place in _LIBRARIES:
        path = os.path.normpath(os.path.join(folder, place))
        if os.path.isfile(path):
            return path
    raise errors.NotFoundError(f"there is no libtrib.so for {program()}: install the package again")
