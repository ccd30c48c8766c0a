"""The program that a recorded script runs in: `python script_main.py SCRIPT [ARGUMENTS]...`.

The hooks are there already: Python has installed them when it started.
"""

import sys

if __name__ == "__main__":
    from rlint.prove.record.import_hook import run_script

    run_script(sys.argv[1])
