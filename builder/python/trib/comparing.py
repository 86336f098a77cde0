"""compare(): of two profiles, or of a PyTorch model with its library."""

from __future__ import annotations

import os

from .profiling import BuildProfile, compare_profiles


def compare(before, after, *arguments, **options):
    """Compares two profiles (:func:`trib.profiling.compare_profiles`), or a PyTorch model with its library
    (:func:`trib.pytorch.compare.compare`): compare(model, library, inputs)."""
    if isinstance(before, (BuildProfile, str, os.PathLike)):
        return compare_profiles(before, after, *arguments, **options)
    from .pytorch.compare import compare as compare_models

    return compare_models(before, after, *arguments, **options)
