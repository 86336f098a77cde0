"""The speed of the library and of its build, with pytest and pytest-benchmark: `pytest examples/digits/test_speed.py`."""

import os

import numpy as np
import pytest
import trib

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture(scope="module")
def model():
    trib.build(HERE)
    with trib.load(os.path.join(HERE, "build", "libdigits.so")) as m:
        yield m


@pytest.mark.parametrize("batch", [1, 64])
def test_call(benchmark, model, batch):
    x = np.load(os.path.join(HERE, "data", "test_x.npy"))[:batch]
    logits = benchmark(model, x)
    assert logits.shape == (batch, 10)


def test_build(trib_profile):
    trib_profile.build(HERE)
    trib_profile.check(budget={"total": "60s", "peak": "1GB"})
