"""Runs programs before and after their fixes: the same behaviour? faster? by how much, how surely?

This package gives what a workload file needs. It is the only part of rlint that runs the code it is given.
"""

from rlint.harness.workload import Case, Estimate, Tolerance, Workload

__all__ = ["Case", "Estimate", "Tolerance", "Workload"]
