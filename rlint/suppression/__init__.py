"""Suppress findings: suppression comments, baselines, and fingerprints that survive moved lines.

Answers whether a finding is shown. Treats findings as data, and does not know how they were found.
"""
