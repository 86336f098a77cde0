"""Builds of projects: :func:`build` and :class:`Builder`, through libtrib.so."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from typing import Callable

from . import _native, errors, installation, profiling
from .diagnostics import Diagnostic, with_source

# In the order of the enums of tri_build.h.
_EVENTS = ("phase", "reason", "task-start", "task-end")
_SEVERITIES = ("error", "warning")
_OK, _FAILED, _USAGE, _ENVIRONMENT, _CANCELLED, _BUSY = range(6)


@dataclasses.dataclass(frozen=True)
class Progress:
    """What a build does now.

    `event` is "phase", "reason" (with `explain`), "task-start" or "task-end"; `name` is that of the phase, unit or
    task.
    """

    event: str
    name: str
    kind: str
    reason: str
    worker: int
    done: int
    total: int
    ok: bool
    wall_ns: int


@dataclasses.dataclass(frozen=True)
class Summary:
    """The result of a build.

    `outputs` are the paths of the files that are now current, `efficiency` is the share of the workers' time that was
    busy, `phases_ns` the time of all workers together, and `profile` JSON for `trib profile report`.
    """

    ok: bool
    message: str
    errors: int
    warnings: int
    units: int
    compiled: int
    reused: int
    failed: int
    cache_hits: int
    cache_misses: int
    jobs: int
    phases_ns: dict[str, int]
    outputs: tuple[str, ...]
    wall_ns: int
    peak_bytes: int
    efficiency: float
    profile: str | None = dataclasses.field(repr=False)
    diagnostics: tuple[Diagnostic, ...]

    def __str__(self):
        how = f"{self.compiled} compiled, {self.reused} reused" if self.ok else f"failed: {self.message}"
        return f"trib: {how} in {self.wall_ns / 1e9:.2f} s, {self.jobs} workers {100 * self.efficiency:.0f} % busy"


def _level(level):
    if level is None:
        return 0
    if str(level) not in ("0", "1", "2", "3", "s"):
        raise errors.ArgumentError(f"opt is {level!r}: pass 0, 1, 2, 3 or 's'")
    return ord(str(level))


def _names(models):
    if isinstance(models, (str, bytes)):
        models = [models]
    return tuple(os.fsencode(name) for name in models or ())


def _path(path):
    return None if path is None else os.fsdecode(path)


class Builder:
    """A project folder with a process that builds it.

    The process stays between builds, and with it the code generator in memory.

    Raises: NotFoundError without such a folder; BuildError if the process cannot start.
    """

    def __init__(self, path: str | os.PathLike[str] = "."):
        self.path = os.path.abspath(_path(path))
        if not os.path.isfile(os.path.join(self.path, "tri.build")):
            raise errors.NotFoundError(
                f"{self.path} has no tri.build: pass the folder of a project, or run `trib init`"
            )
        self._native = _native.Builder(os.fsencode(installation.library()), os.fsencode(self.path))
        self._owner = os.getpid()

    def build(
        self,
        models: str | Iterable[str] | None = None,
        *,
        jobs: int = 0,
        opt: int | str | None = None,
        target: str | None = None,
        cpu: str | None = None,
        out: str | os.PathLike[str] | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        settings: str | None = None,
        use_cache: bool = True,
        locked: bool = False,
        offline: bool = False,
        deny_warnings: bool = False,
        explain: bool = False,
        profile: bool = False,
        profile_file: str | os.PathLike[str] | None = None,
        on_progress: Callable[[Progress], object] | None = None,
        on_diagnostic: Callable[[Diagnostic], object] | None = None,
        check: bool = True,
    ) -> Summary:
        """Builds models, all of them by default.

        The options are those of `trib build`; `settings` names a `profile` block of tri.build. Callbacks are called on
        this thread, and the build waits for them. If one raises, and at Ctrl-C, the build is cancelled and the
        exception raised. Without `check` a failed build returns its summary.

        Raises: CompileError with `diagnostics` if the sources have errors; ArgumentError for wrong options;
        BuildError for a file or dependency; BuildCancelled after cancel(); BusyError during another build.
        """
        if self._owner != os.getpid():
            raise errors.ForkError("this process was forked: open another trib.Builder here")
        found = []

        def progress(event, *rest):
            on_progress(Progress(_EVENTS[event], *rest))

        def diagnostic(severity, *rest):
            one = with_source(Diagnostic(_SEVERITIES[severity], *rest), self.path)
            found.append(one)
            if on_diagnostic:
                on_diagnostic(one)

        code, message, *counts, phases, outputs, wall, peak, efficiency, json = self._native.run(
            models=_names(models),
            jobs=jobs,
            level=_level(opt),
            target=target,
            cpu=cpu,
            out=_path(out),
            cache_dir=_path(cache_dir),
            settings=settings,
            messages=2 if explain else 0,
            no_cache=not use_cache,
            locked=locked,
            offline=offline,
            deny_warnings=deny_warnings,
            profile=profile or profiling.is_profiling(),
            profile_file=_path(profile_file),
            on_progress=progress if on_progress else None,
            on_diagnostic=diagnostic,
        )
        profiling.note_build(json)
        outputs = tuple(os.path.join(self.path, path) for path in outputs)
        ends = (dict(phases), outputs, wall, peak, efficiency, json, tuple(found))
        summary = Summary(code == _OK, message, *counts, *ends)
        if code == _CANCELLED or (check and code != _OK):
            raise _failure(code, summary)
        return summary

    def cancel(self):
        """Ends the running build between two tasks. Any thread and any callback may call it."""
        self._native.cancel()

    def close(self):
        """Ends the process. Raises BusyError during a build."""
        if self._owner == os.getpid():
            self._native.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _failure(code, summary):
    """The exception of a build that did not succeed."""
    if code == _CANCELLED:
        return errors.BuildCancelled("the build was cancelled: build again to continue with what is done")
    if code == _FAILED:
        return errors.CompileError(summary.message, summary.diagnostics, summary)
    return {_USAGE: errors.ArgumentError, _BUSY: errors.BusyError}.get(code, errors.BuildError)(summary.message)


def build(path: str | os.PathLike[str] = ".", models: str | Iterable[str] | None = None, **options) -> Summary:
    """Builds the project in a folder, as `trib build` does. :meth:`Builder.build` has the options and the exceptions.

    >>> trib.build("examples/digits", on_progress=print).outputs
    """
    with Builder(path) as builder:
        return builder.build(models, **options)
