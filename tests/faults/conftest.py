"""The fault injector, compiled once, and a model server on loopback."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import serving
from shim import Shim


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shim]:
    """Skips where no library can be put before the C library's calls."""
    if sys.platform != "linux":
        pytest.skip("LD_PRELOAD is for Linux")
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler")
    library = tmp_path_factory.mktemp("shim") / "faultshim.so"
    source = Path(__file__).with_name("faultshim.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    made = Shim(library)
    yield made
    made.close()


@pytest.fixture(scope="session")
def model_url() -> Iterator[str]:
    with serving() as url:
        yield url
