"""Reports that other programs read: CI services, code scanning, review tools.

Answers what a finding is in the format of each. Knows nothing of terminals and pages.
"""
