"""A short soak with fixed seeds; the long ones are `make soak`."""

import os
from pathlib import Path

import pytest
from soak import soak

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL")


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_while_all_fails(home: Path, seed: int) -> None:
    assert soak(home, 15.0, seed) == []
