"""`python -m rlint`."""

import os
import sys

# Python puts the working folder first, where the code to check may have a `click.py` of its own.
if sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from rlint.cli import main

if __name__ == "__main__":
    main()
