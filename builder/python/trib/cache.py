"""The user's cache: its figures, and named entries that are valid while files are unchanged.

>>> trib.cache.put("tokenizer", data, files=["tokenizer.json"])
>>> trib.cache.get("tokenizer")            # None once tokenizer.json has another content

Entries are bytes. They are in the folder of `trib cache`, in `entries`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable
from typing import Any

from . import errors, installation

_MAGIC = b"trib entry 1\n"


@dataclasses.dataclass(frozen=True)
class Stats:
    """Figures of the user's cache: `trib cache stats`. `data` is all of them."""

    size_bytes: int
    entries: int
    hits: int
    misses: int
    data: dict[str, Any] = dataclasses.field(repr=False)

    @property
    def hit_rate(self) -> float:
        """The share of look-ups that found something."""
        return self.hits / max(self.hits + self.misses, 1)


def _trib(*words: str) -> str:
    done = subprocess.run([installation.program(), "cache", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise errors.Error(done.stderr.strip() or f"`trib cache` ended with {done.returncode}")
    return done.stdout


def stats() -> Stats:
    """Returns the figures of the user's cache."""
    data = json.loads(_trib("stats", "--format", "json"))
    return Stats(data["size_bytes"], data["entries"], data["hits"], data["misses"], data)


def _folder() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "trib", "entries")


def _path(name: str) -> str:
    if not isinstance(name, str) or not name:
        raise errors.ArgumentError(f"an entry's name is a text, not {name!r}")
    return os.path.join(_folder(), hashlib.blake2b(name.encode(), digest_size=20).hexdigest())


def _digest(path: str | os.PathLike[str]) -> str:
    """Of a file's content; "" if it cannot be read."""
    h = hashlib.blake2b(digest_size=20)
    try:
        with open(path, "rb") as file:
            for part in iter(lambda: file.read(1 << 20), b""):
                h.update(part)
    except OSError:
        return ""
    return h.hexdigest()


def _stamp(path: str) -> list[int] | None:
    try:
        s = os.stat(path)
    except OSError:
        return None
    return [s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino]


def put(name: str, value: bytes, files: Iterable[str | os.PathLike[str]] = ()) -> None:
    """Stores bytes under a name, in place of an older entry. It is valid while the contents of `files` are the same.

    Raises ArgumentError for another value, NotFoundError for a file that is missing.
    """
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise errors.ArgumentError(f"an entry's value is bytes, not {type(value).__name__}: encode it first")
    needs = []
    for file in files:
        path = os.path.abspath(file)
        stamp, digest = _stamp(path), _digest(path)
        if not digest:
            raise errors.NotFoundError(f"the entry `{name}` depends on {path}, which cannot be read")
        needs.append([path, stamp, digest])
    value = bytes(value)
    head = {"name": name, "files": needs, "digest": hashlib.blake2b(value, digest_size=20).hexdigest()}
    os.makedirs(_folder(), exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=_folder())
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(_MAGIC + json.dumps(head).encode() + b"\n" + value)
        os.replace(temporary, _path(name))
    except BaseException:
        os.unlink(temporary)
        raise


def _read(path: str) -> tuple[dict[str, Any], bytes] | None:
    """The entry in a file; None if there is none, or it is damaged."""
    try:
        with open(path, "rb") as file:
            if file.readline() != _MAGIC:
                return None
            head, value = json.loads(file.readline()), file.read()
    except (OSError, ValueError):
        return None
    return (head, value) if head.get("digest") == hashlib.blake2b(value, digest_size=20).hexdigest() else None


def _is_unchanged(path: str, stamp: list[int], digest: str) -> bool:
    return _stamp(path) == stamp or _digest(path) == digest


def get(name: str) -> bytes | None:
    """Returns the bytes of an entry; None if there is none, or a file that it depends on has another content."""
    found = _read(_path(name))
    if found is None or found[0].get("name") != name:
        return None
    return found[1] if all(_is_unchanged(*need) for need in found[0]["files"]) else None


def invalidate(name: str) -> bool:
    """Removes an entry. Returns whether there was one."""
    try:
        os.unlink(_path(name))
    except FileNotFoundError:
        return False
    return True


def clear(level: str | None = None) -> None:
    """Empties the cache: all entries and what builds stored, or one level of builds, "l2" or "l3"."""
    if level is None:
        for name in os.listdir(_folder()) if os.path.isdir(_folder()) else ():
            os.unlink(os.path.join(_folder(), name))
    _trib("clear", *(["--level", level] if level else []))
