"""Profiles of real runs: read as data, matched to source files, and turned into shares and gains."""
