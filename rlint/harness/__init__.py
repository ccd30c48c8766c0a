"""Run programs before and after their fixes: the same behaviour? faster? by how much, how surely?

Answers with verdicts and intervals; what a workload file needs is imported from here. It and `rlint.prove`
are the only parts of rlint that run the code they are given; it knows rules as fixtures alone.
"""

from rlint.harness.workload import Case, Estimate, Tolerance, Workload

__all__ = ["Case", "Estimate", "Tolerance", "Workload"]
