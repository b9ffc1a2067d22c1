"""Markup stays off for foreign text: every way into Textual's and Rich's markup is closed, or holds our words alone.

A call is looked at by its name; an attribute that is read as markup, by the assignment. What is allowed: text in the
source, text of our catalogue without values, `Content` and `Text` that are built from plain text, `markup=False`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READS_MARKUP = {
    "notify",
    "Static",
    "Label",
    "Button",
    "Checkbox",
    "RadioButton",
    "Collapsible",
    "TabPane",
    "Tab",
    "Option",
    "OptionList",
    "Digits",
    "Link",
    "Rule",
}
"""Textual reads markup in the first argument of these; `OptionList` and `notify` have a switch for it."""
NEVER = {"from_markup", "render_str", "Markdown", "RichLog"}
"""What nothing of ours needs: each is, or makes, markup of a text."""
READ_AS_MARKUP = {"border_title", "border_subtitle", "tooltip", "sub_title", "title_markup"}
"""Attributes whose text Textual reads as markup."""
BUILT = {"Content", "Text", "assemble", "styled", "join", "SafeStatic", "SafeLabel"}
"""What makes a value that is no markup any more."""


def problems(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of every place where foreign text could be read as markup."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in NEVER or (name in READS_MARKUP and not _is_plain(node)):
                yield node.lineno, name
            for keyword in node.keywords:
                if keyword.arg == "markup" and not _is_false(keyword.value):
                    yield node.lineno, "markup"
                if keyword.arg in READ_AS_MARKUP and not _is_ours(keyword.value):
                    yield node.lineno, keyword.arg
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Attribute) and target.attr in READ_AS_MARKUP and not _is_ours(node.value):
                    yield node.lineno, target.attr


def _is_plain(call: ast.Call) -> bool:
    """No text, our own words, or markup switched off."""
    if any(keyword.arg == "markup" and _is_false(keyword.value) for keyword in call.keywords):
        return True
    given = [*call.args[:1], *(k.value for k in call.keywords if k.arg in ("content", "label", "title", "message"))]
    return all(_is_ours(value) for value in given)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _is_ours(node: ast.expr | None) -> bool:
    """Text in the source, of the catalogue without values, or built from plain text. An f-string never is."""
    if node is None or isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.IfExp):
        return _is_ours(node.body) and _is_ours(node.orelse)
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.BinOp) and _is_ours(node.left) and _is_ours(node.right)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "_":
        return not node.keywords and all(isinstance(argument, ast.Constant) for argument in node.args)
    return name in BUILT or (name == "_line" and isinstance(node.func, ast.Attribute))


def test_no_foreign_text_meets_markup() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in sorted((ROOT / "orca_tui").rglob("*.py"))
        for line, name in problems(path.read_text("utf-8"))
    ]
    assert not found


@pytest.mark.parametrize(
    "source",
    [
        "Static(text)",
        'Static(f"[b]{text}[/b]")',
        'Static("a %s" % text)',
        'Static(_("{name} is here", name=name))',
        "Label(self.title)",
        "Static(content=text)",
        "app.notify(text)",
        "app.notify(text, markup=True)",
        "app.notify(text, markup=flag)",
        'app.notify(f"{error}")',
        "Button(label=text)",
        "Option(name)",
        "Content.from_markup(text)",
        "Text.from_markup('[b]x')",
        "app.render_str(text)",
        "widget.border_title = text",
        'widget.border_title = f"{name}"',
        "widget.tooltip = text",
        "self.sub_title = name",
        "Static(markup=False, tooltip=text)",
        "Markdown(text)",
    ],
)
def test_what_the_lint_finds(source: str) -> None:
    assert list(problems(source))


@pytest.mark.parametrize(
    "source",
    [
        "Static()",
        "Static(Content(text))",
        "Static(Content.styled(text, 'bold') + Content(other))",
        "Static(text, markup=False)",
        'Label(_("Send"))',
        "app.notify(text, markup=False)",
        'Static("one" if wide else "two")',
        "widget.border_title = Content(label(name))",
        "widget.border_title = None",
        "Option(Content(label(name)))",
    ],
)
def test_what_the_lint_lets_be(source: str) -> None:
    assert not list(problems(source))
