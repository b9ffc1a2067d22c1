"""Markup stays off for foreign text: every call that could read it says `markup=False` or passes no variable text."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
READS_MARKUP = {"notify", "Static", "Label", "Collapsible", "Button", "Checkbox", "RadioButton", "TabPane"}
"""Textual reads Rich-like markup in what these are given."""


def is_plain(call: ast.Call) -> bool:
    """No text, text written in the source, text of our own catalogue without values, or markup switched off."""
    if any(k.arg == "markup" and isinstance(k.value, ast.Constant) and k.value.value is False for k in call.keywords):
        return True
    if not call.args:
        return True
    text = call.args[0]
    if isinstance(text, ast.Constant):
        return True
    return isinstance(text, ast.Call) and isinstance(text.func, ast.Name) and text.func.id == "_" and not text.keywords


def test_no_foreign_text_meets_markup() -> None:
    found = []
    for path in sorted((ROOT / "orca_tui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in READS_MARKUP and not is_plain(node):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno} {name}")
            if name == "from_markup":
                found.append(f"{path.relative_to(ROOT)}:{node.lineno} {name}")
    assert not found
