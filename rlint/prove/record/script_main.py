"""The program that runs a recorded script: `python script_main.py SCRIPT [ARGUMENTS]...`.

The hooks are already there: Python has installed them at its start.
"""

import sys

if __name__ == "__main__":
    from rlint.prove.record.import_hook import run_script

    run_script(sys.argv[1])
