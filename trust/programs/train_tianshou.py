"""Train an algorithm of tianshou as one of its tests does, without asking whether it got good.

python train_tianshou.py MODULE FUNCTION [ARGUMENT ...], in tianshou's folder: the module of the test, as
`test.discrete.test_dqn`, the function in it, and options that the module reads.
"""

import importlib
import sys

if __name__ == "__main__":
    module = importlib.import_module(sys.argv[1])
    getattr(module, sys.argv[2])(module.get_args(), enable_assertions=False)
