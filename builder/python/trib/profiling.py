"""Profiles of builds and runs: :func:`profile_build`, :func:`profile_block`, :func:`record`, and what reads them:
:func:`compare_profiles`, :func:`suggest`, :func:`check_regression`.

A profile is a file as `trib profile` writes it, so each tool reads what the other wrote.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from typing import Any, Union

from . import errors, installation

_active: contextvars.ContextVar[BuildProfiles | None] = contextvars.ContextVar("trib_profile", default=None)
_block: contextvars.ContextVar[Block | None] = contextvars.ContextVar("trib_block", default=None)


def _trib(*words: str, ok: tuple[int, ...] = (0,)) -> str:
    """Runs `trib profile`. Raises ArgumentError or Error with its words."""
    done = subprocess.run([installation.program(), "profile", *words], capture_output=True, text=True, check=False)
    if done.returncode in ok:
        return done.stdout
    said = done.stderr.strip() or done.stdout.strip() or f"`trib profile` ended with {done.returncode}"
    raise (errors.ArgumentError if done.returncode == 2 else errors.Error)(said)


class BuildProfile:
    """What builds or runs of a model cost, from a profile file.

    `data` is its JSON (builder/profile/PROFILE.md describes it). Figures are medians over the samples; times are
    nanoseconds.
    """

    def __init__(self, text: str):
        try:
            self.data: dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise errors.ArgumentError(f"this is no profile: {error}") from None
        if not isinstance(self.data, dict) or self.data.get("type") != "profile":
            raise errors.ArgumentError("this is no profile: pass a file that `trib profile record` or a build wrote")
        self._text = text

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BuildProfile:
        """Reads a profile file. Raises FileNotFoundError, and ArgumentError for another file."""
        with open(path, encoding="utf-8") as file:
            return cls(file.read())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the profile to a file, which `trib profile` and :meth:`load` read."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._text)

    @property
    def kind(self) -> str:
        """ "build" or "run"."""
        return self.data["kind"]

    @property
    def samples(self) -> int:
        """The number of processes that were measured."""
        return self.data["samples"]

    @property
    def facts(self) -> dict[str, float]:
        """Numbers such as `efficiency`, `cache.hits` and `critical_path_ns`."""
        return self.data["facts"]

    def _total(self, metric: str) -> float:
        return statistics.median(self.data["total"].get(metric) or [0])

    @property
    def wall_ns(self) -> float:
        """The time of the whole process."""
        return self._total("wall_ns")

    @property
    def cpu_ns(self) -> float:
        """The time that all threads worked."""
        return self._total("cpu_ns")

    @property
    def peak_bytes(self) -> float:
        """The highest memory in use."""
        return self._total("peak_bytes")

    def items(self, kind: str) -> list[dict[str, Any]]:
        """The items of a kind ("phase", "unit", "statement", "kernel", "pass", …), the costliest first, with medians of
        their metrics."""
        found = []
        for item in self.data["items"]:
            if item["kind"] == kind:
                values = {k: statistics.median(v) for k, v in item.items() if isinstance(v, list) and v}
                found.append({**{k: v for k, v in item.items() if not isinstance(v, list)}, **values})
        return sorted(found, key=lambda item: -item.get("wall_ns", 0))

    @property
    def phases_ns(self) -> dict[str, float]:
        """The time of each phase of a build."""
        return {item["name"]: item.get("wall_ns", 0) for item in self.items("phase")}

    @contextlib.contextmanager
    def _file(self) -> Iterator[str]:
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
            file.write(self._text)
            file.flush()
            yield file.name

    def report(self, top: int = 10, format: str = "text") -> str:
        """The costliest parts and the bottlenecks, as `trib profile report` prints them.

        `format`: "text", "json" or "markdown".
        """
        with self._file() as path:
            return _trib("report", path, "--top", str(top), "--format", format)

    def html(self, path: str | os.PathLike[str]) -> None:
        """Writes a page with charts."""
        with self._file() as file:
            _trib("html", file, "-o", os.fspath(path))

    def __repr__(self):
        return f"<{self.kind} profile: {self.samples} samples, {self.wall_ns / 1e6:.1f} ms>"

    def _repr_html_(self):
        import html

        return f"<pre>{html.escape(self.report())}</pre>"


Profile = Union[BuildProfile, str, os.PathLike]


@contextlib.contextmanager
def _path_of(profile: Profile) -> Iterator[str]:
    if isinstance(profile, BuildProfile):
        with profile._file() as path:
            yield path
    elif os.path.isfile(profile):
        yield os.fspath(profile)
    else:
        raise errors.NotFoundError(
            f"there is no profile {os.fspath(profile)}: write one with trib.record(…).save(path)"
        )


# ---- measuring ----


@dataclasses.dataclass
class Block:
    """A block of code that :func:`profile_block` measures.

    `memory_bytes` is by how much the peak memory of the process grew meanwhile, `cpu_ns` the time of all its threads.
    """

    name: str
    wall_ns: int = 0
    cpu_ns: int = 0
    memory_bytes: int = 0
    calls: int = 0
    blocks: list[Block] = dataclasses.field(default_factory=list)

    def _lines(self, depth: int) -> Iterator[str]:
        memory = f", {self.memory_bytes / 2**20:.1f} MiB more" if self.memory_bytes else ""
        calls = f", {self.calls} times" if self.calls > 1 else ""
        times = f"{self.wall_ns / 1e6:.2f} ms, processor {self.cpu_ns / 1e6:.2f} ms"
        yield f"{'  ' * depth}{self.name}: {times}{memory}{calls}"
        for block in self.blocks:
            yield from block._lines(depth + 1)

    def __str__(self):
        return "\n".join(self._lines(0))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class profile_block(contextlib.ContextDecorator):
    """Measures a block of code, or each call of a function.

    >>> with trib.profile_block("load the images") as block:
    ...     images = numpy.load("x.npy")
    >>> print(block)

    Blocks inside it are its parts. Inside :func:`profile_build` blocks are also in its `blocks`.
    """

    def __init__(self, name: str):
        self.name = name

    def _recreate_cm(self):
        return type(self)(self.name)

    def __enter__(self) -> Block:
        outer, recorder = _block.get(), _active.get()
        siblings = outer.blocks if outer else recorder.blocks if recorder else []
        self._found = next((b for b in siblings if b.name == self.name), None)
        if self._found is None:
            self._found = Block(self.name)
            siblings.append(self._found)
        self._token = _block.set(self._found)
        self._start = time.perf_counter_ns(), time.process_time_ns(), _peak()
        return self._found

    def __exit__(self, *_):
        wall, cpu, peak = self._start
        block = self._found
        block.wall_ns += time.perf_counter_ns() - wall
        block.cpu_ns += time.process_time_ns() - cpu
        block.memory_bytes += _peak() - peak
        block.calls += 1
        _block.reset(self._token)


@dataclasses.dataclass
class BuildProfiles:
    """What :func:`profile_build` measured: a profile for each build, and the blocks of code."""

    output: str | None = None
    builds: list[BuildProfile] = dataclasses.field(default_factory=list)
    blocks: list[Block] = dataclasses.field(default_factory=list)

    @property
    def last(self) -> BuildProfile:
        """The profile of the last build. Raises NotFoundError if nothing was built."""
        if not self.builds:
            raise errors.NotFoundError("no build was profiled: call trib.build inside trib.profile_build()")
        return self.builds[-1]

    def report(self, top: int = 10) -> str:
        """The reports of all builds, and the blocks."""
        return "\n".join([*(b.report(top) for b in self.builds), *map(str, self.blocks)])

    __str__ = report


class profile_build(contextlib.ContextDecorator):
    """Profiles the builds of a block of code, or of each call of a function: :func:`trib.build`, `Builder.build`.

    >>> with trib.profile_build() as profile:
    ...     trib.build("examples/digits")
    >>> print(profile.last.phases_ns, profile.report())

    `output`: writes the profile of the last build to this file. For medians over several builds see :func:`record`.
    """

    def __init__(self, output: str | os.PathLike[str] | None = None):
        self.output = None if output is None else os.fspath(output)

    def _recreate_cm(self):
        return type(self)(self.output)

    def __enter__(self) -> BuildProfiles:
        self._profiles = BuildProfiles(self.output)
        self._token = _active.set(self._profiles)
        return self._profiles

    def __exit__(self, *_):
        _active.reset(self._token)
        if self.output and self._profiles.builds:
            self._profiles.last.save(self.output)


def is_profiling() -> bool:
    """True inside :func:`profile_build`. Builders ask for profiles then."""
    return _active.get() is not None


def note_build(text: str | None) -> None:
    """Adds the profile of a build to that of the block around it."""
    recorder = _active.get()
    if recorder is not None and text:
        recorder.builds.append(BuildProfile(text))


def record(
    path: str | os.PathLike[str] = ".",
    model: str | None = None,
    *,
    run: bool = False,
    samples: int | None = None,
    scenario: str | None = None,
    flags: Iterable[str] = (),
) -> BuildProfile:
    """Measures builds of a project, or with `run` runs of a model with random inputs, in processes of their own.

    `scenario` of builds: "cold", "warm", "noop", "edit", "comment", "touched" or "all". `flags` are those of
    `trib build` or `trib run`. Raises Error with the words of trib if a build or a run fails.
    """
    if run and not model:
        raise errors.ArgumentError("record: pass the model that is to run: record(path, 'digits', run=True)")
    words = ["run" if run else "build", *([model] if model else [])]
    words += ["-n", str(samples)] if samples else []
    words += ["--scenario", scenario] if scenario else []
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "profile.json")
        _trib("record", *words, "-C", os.path.abspath(path), "-o", file, *(["--", *flags] if flags else []))
        return BuildProfile.load(file)


# ---- judging ----


@dataclasses.dataclass(frozen=True)
class Change:
    """A figure of two profiles.

    `change` is "REGRESSION", "IMPROVEMENT", "NO_CHANGE", "UNDECIDED" (too few samples, or too much noise), "NEW" or
    "REMOVED"; `ratio` is after / before.
    """

    kind: str
    item: str
    metric: str
    before: float | None
    after: float | None
    ratio: float | None
    change: str
    reason: str | None


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The difference of two profiles."""

    speed: float
    changes: tuple[Change, ...]
    text: str = dataclasses.field(repr=False)

    @property
    def regressions(self) -> tuple[Change, ...]:
        """What became slower or larger."""
        return tuple(c for c in self.changes if c.change == "REGRESSION")

    @property
    def improvements(self) -> tuple[Change, ...]:
        """What became faster or smaller."""
        return tuple(c for c in self.changes if c.change == "IMPROVEMENT")

    def __str__(self):
        return self.text


def compare_profiles(
    before: Profile, after: Profile, threshold: float = 1.05, any_conditions: bool = False
) -> Comparison:
    """Compares two profiles, or their files. A change counts if it is larger than the threshold and than the noise.

    Raises Error if machine or settings differ, unless `any_conditions`.
    """
    words = ["--threshold", str(threshold), *(["--any-conditions"] if any_conditions else [])]
    with _path_of(before) as one, _path_of(after) as two:
        data = json.loads(_trib("compare", one, two, "--format", "json", *words))
        text = _trib("compare", one, two, *words)
    fields = [field.name for field in dataclasses.fields(Change)]
    return Comparison(data["speed"], tuple(Change(**{k: row.get(k) for k in fields}) for row in data["rows"]), text)


@dataclasses.dataclass(frozen=True)
class Suggestion:
    """What would make a build or a run faster or smaller.

    `saving` is a share of the whole, None if unknown; `edit` is the flag or setting to try.
    """

    rule: str
    type: str
    priority: str
    effort: str
    item: str
    at: str | None
    evidence: str
    action: str
    edit: str | None
    saving: float | None

    def __str__(self):
        return f"{self.priority}: {self.item}: {self.evidence}; {self.action}" + (
            f" ({self.edit})" if self.edit else ""
        )


def suggest(profile: Profile, critical: bool = False) -> list[Suggestion]:
    """Returns what would help, the most important first; with `critical` only critical ones."""
    with _path_of(profile) as path:
        data = json.loads(_trib("suggest", path, "--format", "json", *(["--critical"] if critical else [])))
    fields = [field.name for field in dataclasses.fields(Suggestion)]
    return [Suggestion(**{k: s.get(k) for k in fields}) for s in data["suggestions"]]


@dataclasses.dataclass(frozen=True)
class Check:
    """The verdict of :func:`check_regression`. Findings are dicts: `item`, `metric`, `value` and what is violated."""

    passed: bool
    findings: tuple[dict[str, Any], ...]


def check_regression(
    profile: Profile,
    baseline: str | os.PathLike[str] | None = None,
    *,
    threshold: float = 1.2,
    budget: str | dict[str, str] | None = None,
    save: bool = False,
    update_if_better: bool = False,
    any_conditions: bool = False,
    check: bool = True,
) -> Check:
    """Compares a profile with a baseline file, and with limits: {"total": "1s", "peak": "500MB", "unit:*": "50ms"}.

    `save` writes the baseline if there is none; `update_if_better` replaces it if nothing is worse.
    Raises RegressionError with `findings` if something is worse; without `check` the verdict is returned.
    """
    if baseline is None and budget is None:
        raise errors.ArgumentError("check_regression: pass a baseline, a budget, or both")
    limits = ",".join(f"{k}={v}" for k, v in budget.items()) if isinstance(budget, dict) else budget
    words = ["--threshold", str(threshold), "--format", "json"]
    words += ["--baseline", os.fspath(baseline)] if baseline is not None else []
    words += ["--budget", limits] if limits else []
    for flag, given in (
        ("--save", save),
        ("--update-if-better", update_if_better),
        ("--any-conditions", any_conditions),
    ):
        words += [flag] if given else []
    with _path_of(profile) as path:
        said = _trib("check", path, *words, ok=(0, 1))
    found = [json.loads(line) for line in said.splitlines() if line.startswith('{"type":"check"')]
    if not found:
        raise errors.Error(said.strip() or "`trib profile check` gave no verdict")
    verdict = Check(found[-1]["verdict"] == "passed", tuple(found[-1]["findings"]))
    if check and not verdict.passed:
        raise errors.RegressionError(verdict.findings)
    return verdict
