"""Small rooms: files and functions stay readable in one sitting."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAX_FILE = 320
MAX_FUNCTION = 60
DATA_ROOMS = {"i18n_zh"}


def sources() -> list[Path]:
    return sorted(path for room in ("memory", "orca_tui") for path in (ROOT / room).rglob("*.py"))


def test_files_are_short() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in sources()
        if path.parent.name not in DATA_ROOMS and (lines := len(path.read_text("utf-8").splitlines())) > MAX_FILE
    }
    assert not long


def test_functions_are_short() -> None:
    long = {}
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION:
                    long[f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"] = lines
    assert not long
