"""The pytest fixture `trib_profile`: builds that a test measures, and limits that it sets."""

from __future__ import annotations

import os

import pytest

from . import building, profiling


class ProfileFixture:
    """Builds a project with a profile, and fails the test if it is worse than a baseline or a budget."""

    def __init__(self):
        self._profiles = profiling.BuildProfiles()

    def build(self, path: str | os.PathLike[str] = ".", models=None, **options) -> building.Summary:
        """As trib.build."""
        with profiling.profile_build() as profiles:
            summary = building.build(path, models, **options)
        self._profiles.builds += profiles.builds
        return summary

    @property
    def last(self) -> profiling.BuildProfile:
        """The profile of the last build."""
        return self._profiles.last

    def check(self, baseline: str | os.PathLike[str] | None = None, **options) -> profiling.Check:
        """As trib.check_regression of the last build. A baseline that does not exist is written."""
        return profiling.check_regression(self.last, baseline, save=baseline is not None, **options)


@pytest.fixture
def trib_profile() -> ProfileFixture:
    """Builds with profiles: `trib_profile.build(path)`, then `trib_profile.check(budget={"total": "1s"})`."""
    return ProfileFixture()
