"""The command line: `orca-tui` opens the app, all else is a subcommand. Exit 0 done, 1 failed, 2 wrong usage."""

from orca_tui.cli.entry import main

__all__ = ["main"]
