"""Hide findings: suppression comments, baselines, and fingerprints that survive moved lines.

Answers whether a finding is shown. Knows findings as data, never how they were found.
"""
