"""Run programs before and after their fixes, and report whether they behave the same, the speedup, and its
uncertainty.

Answers with verdicts and intervals; workload files import what they need from here. It and `rlint.prove` are
the only parts of rlint that run the checked code; it treats rules as fixtures only.
"""

from rlint.harness.workload import Case, Estimate, Tolerance, Workload

__all__ = ["Case", "Estimate", "Tolerance", "Workload"]
