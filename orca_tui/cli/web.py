"""`orca-tui web`: the app in a browser of this machine, through textual-serve.

What is served is a whole terminal program with the user's memories, so nobody else may reach it: it listens on
127.0.0.1 only, wants a token that is made for this run, and looks at Host and Origin, so that neither another site
(cross-site WebSocket) nor another name for this address (DNS rebinding) gets through.
"""

import importlib.util
import secrets
import shlex
import socket
import sys
from argparse import Namespace

from memory.config import Home
from memory.errors import ConfigError, OrcaError
from orca_tui.plain import complain, plain_print

ADDRESS = "127.0.0.1"
MISSING = 'What serves a browser is not installed here. Install it with: pip install "orca-tui[web]"'


class MissingExtra(OrcaError):
    """The optional packages of a command are not installed."""

    title = "Something is missing"


def run(arguments: Namespace, home: Home) -> int:
    """Serve until Ctrl+C. Raises `ConfigError` when the port is taken, `MissingExtra` without textual-serve."""
    if importlib.util.find_spec("textual_serve") is None:
        raise MissingExtra(MISSING)
    from aiohttp.web import run_app

    from orca_tui.web import make_server

    listening = _listen(arguments.port)
    token = secrets.token_urlsafe(24)
    port = listening.getsockname()[1]
    server = make_server(app_command(home), port, token)
    complain("Whoever has this address has your chats; it holds until Ctrl+C.")
    plain_print(f"http://{ADDRESS}:{port}/?token={token}")
    sys.stdout.flush()
    run_app(server, sock=listening, print=None, access_log=None)
    return 0


def app_command(home: Home) -> str:
    """What starts the app, as a shell reads it."""
    return shlex.join([sys.executable, "-m", "orca_tui", "--home", str(home.root)])


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((ADDRESS, port))
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"Port {port} cannot be used: {error.strerror}.", hint="Choose another with --port, or 0 for any."
        ) from error
    return listening
