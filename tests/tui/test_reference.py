"""The pages about keys say what the registry says, in the guide and in both READMEs."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from orca_tui import keys
from orca_tui.commands import BY_NAME, COMMANDS

ROOT = Path(__file__).parents[2]
READMES = ("README.md", "README.zh-CN.md")
ROW = re.compile(r"^\| (?P<key>[^|]*) \| `/(?P<name>[a-z]+)", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?://)([^)#]+)(#[^)]*)?\)")


def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_of_keys_is_up_to_date(language: str) -> None:
    made = reference()
    assert made.PAGES[language].read_text("utf-8") == made.page(language), "run: python docs/reference.py"


@pytest.mark.parametrize("name", READMES)
def test_keys_in_a_readme_are_those_of_the_registry(name: str) -> None:
    rows = [(row["key"], row["name"]) for row in ROW.finditer((ROOT / name).read_text("utf-8"))]
    assert len(rows) > 20
    for key, command in rows:
        assert key in [keys.display(one) for one in keys.split(BY_NAME[command].keys)], command


def test_both_readmes_have_the_same_keys() -> None:
    first, second = ([row.groups() for row in ROW.finditer((ROOT / name).read_text("utf-8"))] for name in READMES)
    assert first == second


def test_no_two_commands_have_one_key() -> None:
    given = [key for command in COMMANDS for key in keys.split(command.keys)]
    assert len(given) == len(set(given))


@pytest.mark.parametrize(
    "path", sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")], key=str), ids=lambda p: p.name
)
def test_what_a_page_links_to_is_there(path: Path) -> None:
    for target, anchor in LINK.findall(path.read_text("utf-8")):
        linked = path.parent / target
        assert linked.exists(), target
        if anchor:
            heads = [_anchor(line) for line in linked.read_text("utf-8").splitlines() if line.startswith("#")]
            assert anchor in heads, f"{target}{anchor}"


def _anchor(heading: str) -> str:
    """What GitHub makes of a heading."""
    text = heading.lstrip("#").strip().lower()
    return "#" + re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
