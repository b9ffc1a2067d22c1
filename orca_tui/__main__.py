"""`python -m orca_tui`: the same as `orca-tui`."""

import sys

from orca_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
