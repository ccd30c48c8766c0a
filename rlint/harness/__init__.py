"""Run programs before and after their fixes: the same behaviour? faster? by how much, how surely?

Answers with verdicts and intervals; what a workload file needs is imported from here. It is the only part
of rlint that runs the code it is given, and knows rules as fixtures alone.
"""

from rlint.harness.workload import Case, Estimate, Tolerance, Workload

__all__ = ["Case", "Estimate", "Tolerance", "Workload"]
