"""What the core may say to a person, read from its source: sentences of errors and hints, and every text there is."""

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import count, product
from pathlib import Path

import memory.errors
import orca_tui.doctor

CORE = Path(memory.errors.__file__).parent
APP = Path(orca_tui.doctor.__file__).parent
ERRORS = {name for name, value in vars(memory.errors).items() if isinstance(value, type)}
REFUSALS = {"_refusal": "config.toml line 7: [a] b {}."}
"""Functions that make a whole sentence of what they are given."""
MOST = 40
"""Ways to say one sentence that are looked at."""
Names = Mapping[str, list[ast.expr]]


def told() -> dict[str, tuple[str, ...]]:
    """Every sentence and hint of an error, with probes for its values, and the words that it has of its own."""
    modules = [_nodes(path) for path in _files()]
    errors = ERRORS | {name for nodes in modules for name in _error_classes(nodes)}
    assigned = [_assigned(nodes) for nodes in modules]
    shared = {name: values for names in assigned for name, values in names.items() if name.isupper()}
    found: dict[str, tuple[str, ...]] = {}
    for nodes, own in zip(modules, assigned, strict=True):
        names = shared | own
        for call, said in _said(nodes, errors):
            for pieces in _texts(said, names):
                words = _filled(pieces, REFUSALS.get(_name(call), "{}"))
                if " " in words.strip():
                    found[words] = tuple(piece for piece in pieces if not piece.startswith("\0"))
    return found


def corpus() -> str:
    """All texts of the core and of the doctor, and the system's own, one a line."""
    found = [os.strerror(number) for number in range(1, 130)]
    for path in (*_files(), *sorted(APP.glob("doctor*.py")), APP / "cli" / "open_app.py"):
        constants = [node.value for node in _nodes(path) if isinstance(node, ast.Constant)]
        found += [value for value in constants if isinstance(value, str)]
    return "\n".join(found)


def _files() -> list[Path]:
    return [*sorted(CORE.rglob("*.py")), APP / "settings_file.py"]


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


def _filled(pieces: Iterable[str], form: str) -> str:
    """The text with a probe for each value; the same value has the same probe."""
    numbers = count(1)
    probes: dict[str, str] = {}
    for piece in pieces:
        if piece.startswith("\0") and piece not in probes:
            probes[piece] = f"x{next(numbers)}"
    return form.replace("{}", "".join(probes.get(piece, piece) for piece in pieces))


def _error_classes(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ClassDef) and ERRORS & {base.id for base in node.bases if isinstance(base, ast.Name)}:
            yield node.name


def _assigned(nodes: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    """What is assigned to each name of a module."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=True))
        for one, given in pairs:
            if isinstance(one, ast.Name):
                found.setdefault(one.id, []).append(given)
    return found


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _said(nodes: Iterable[ast.AST], errors: set[str]) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Sentence and hint of every error that is made, and of calls of functions that make one."""
    for node in nodes:
        if isinstance(node, ast.Call):
            hints = [word.value for word in node.keywords if word.arg == "hint"]
            if _name(node) in errors or hints:
                yield from ((node, said) for said in (*node.args[:1], *hints))
            elif _name(node) in REFUSALS:
                yield from ((node, said) for said in node.args[1:2])
            elif _name(node) == "_unreachable":
                yield from ((node, said) for said in node.args)


def _texts(node: ast.expr, names: Names, depth: int = 3) -> list[tuple[str, ...]]:
    """The texts that an expression may be, each in pieces: words, and values that are not known, behind a NUL."""
    found: list[tuple[str, ...]] = []
    match node:
        case ast.Constant(value=str(value)):
            found = [(value,)]
        case ast.JoinedStr(values=values):
            ways = [_piece(part, names, depth) for part in values]
            found = [sum(way, ()) for way, _n in zip(product(*ways), range(MOST), strict=False)]
        case ast.IfExp(body=body, orelse=orelse):
            found = _texts(body, names, depth) + _texts(orelse, names, depth)
        case ast.BoolOp(values=values):
            found = [text for value in values for text in _texts(value, names, depth)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            found = [a + b for a in _texts(left, names, depth) for b in _texts(right, names, depth)]
        case ast.Call(func=ast.Name(id="_join"), args=args):
            found = [text for value in args for text in _texts(value, names, depth)]
        case ast.Name(id=name) if depth:
            found = [text for value in names.get(name, ()) for text in _texts(value, names, depth - 1)]
    return found


def _piece(part: ast.expr, names: Names, depth: int) -> list[tuple[str, ...]]:
    if isinstance(part, ast.Constant):
        return [(str(part.value),)]
    assert isinstance(part, ast.FormattedValue)
    return _texts(part.value, names, min(depth, 2) - 1) or [(f"\0{ast.unparse(part.value)}",)]
