"""Reports for other programs: CI services, code scanning, review tools.

Answers with a finding in the format of each. Knows nothing of terminals and pages.
"""
