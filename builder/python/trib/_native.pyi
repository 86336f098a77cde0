from typing import Any, Callable

from typing_extensions import Self

DTYPES: tuple[str, ...]

class Library:
    def __new__(
        cls,
        path: bytes,
        weights: bytes | None,
        device: bytes | None,
        capacities: dict[bytes, int],
        threads: int,
        contexts: int,
        verify: bool,
        no_profile: bool,
        timeout_ms: int,
        open_timeout_ms: int,
    ) -> Self: ...
    def close(self) -> None: ...
    def reset(self) -> None: ...
    def state_save(self) -> bytes: ...
    def state_load(self, saved: bytes, /) -> None: ...
    def describe(self) -> tuple[Any, ...]: ...
    def device(self) -> tuple[str, str, str]: ...
    def profile(self) -> list[tuple[Any, ...]]: ...
    def profile_reset(self) -> None: ...

class Entry:
    def __new__(cls, library: Library, index: int, results: type | None) -> Self: ...
    def __call__(self, *inputs: Any, out: Any = ..., **named: Any) -> Any: ...

class Builder:
    def __new__(cls, library: bytes, folder: bytes) -> Self: ...
    def run(
        self,
        models: tuple[bytes, ...],
        jobs: int,
        level: int,
        target: str | None,
        cpu: str | None,
        out: str | None,
        cache_dir: str | None,
        settings: str | None,
        messages: int,
        no_cache: bool,
        locked: bool,
        offline: bool,
        deny_warnings: bool,
        profile: bool,
        profile_file: str | None,
        on_progress: Callable[..., object] | None = None,
        on_diagnostic: Callable[..., object] | None = None,
    ) -> tuple[Any, ...]: ...
    def cancel(self) -> None: ...
    def close(self) -> None: ...
