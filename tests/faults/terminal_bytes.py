"""Reading what a program wrote to its terminal: which orders it gave, and which text it showed."""

import os
import re
import sys
from pathlib import Path

import pexpect

from orca_tui.safe import safe_link

ROOT = Path(__file__).parents[2]
TIMEOUT = 120
ORDER = re.compile(
    r"\x1b\[(?P<csi>[0-?]*[ -/]*[@-~])|\x1b\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)|\x1b[P^_X](?P<dcs>[^\x1b]*)\x1b\\"
    r"|\x1b(?P<esc>[ -/]*[0-~]?)|(?P<c1>[\x80-\x9f])|(?P<c0>[\x00-\x09\x0b-\x1a\x1c-\x1f\x7f])"
)
HIDDEN = re.compile(
    "[\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\ufeff\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\u2028\u2029"
    "\U000e0000-\U000e007f]"
)
FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")
MARK = re.compile(rb"\x1b\]7777;([^\x07]*)\x07")


def run(arguments: list[str], home: Path, *, rows: int = 40, columns: int = 150) -> tuple[bytes, int]:
    """Everything that a Python program wrote in a pseudo-terminal, and its exit code."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("COV_")}
    env |= {"ORCA_HOME": str(home), "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    child = pexpect.spawn(sys.executable, arguments, env=env, dimensions=(rows, columns), timeout=TIMEOUT)
    output = b""
    while True:
        try:
            output += child.read_nonblocking(65536, timeout=TIMEOUT)
        except pexpect.EOF:
            break
    child.close()
    assert child.signalstatus is None
    return output, int(child.exitstatus)


def by_entry(output: bytes) -> dict[str, str]:
    """The text that was written for each entry; under `""` what came before the first."""
    pieces = MARK.split(output)
    found = {"": pieces[0].decode("utf-8")}
    for name, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        found[name.decode()] = piece.decode("utf-8")
    return found


def orders(text: str) -> set[str]:
    """The kinds of orders in a text: numbers do not matter, but those of modes and the code of an OSC do."""
    found = set()
    for match in ORDER.finditer(text):
        if (csi := match["csi"]) is not None:
            found.add(f"CSI {csi}" if csi[-1] in "hl" or csi[0] in "<=>" else f"CSI {csi[-1]}")
        elif (osc := match["osc"]) is not None:
            found.add(_osc(osc))
        else:
            found.add(repr(match[0])[:20])
    return found


def _osc(body: str) -> str:
    code, _, rest = body.partition(";")
    if code != "8":
        return f"OSC {code}"
    target = rest.partition(";")[2]
    return "OSC 8" if not target or safe_link(target) else f"OSC 8 to {target[:40]!r}"


def hidden(text: str) -> str:
    """Characters in a text that nobody sees; a flag may have its tags."""
    return "".join(sorted(set(HIDDEN.findall(FLAG.sub("", ORDER.sub("", text))))))
