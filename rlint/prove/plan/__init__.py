"""Plan the recording: the statements that each fix changes, and the smallest code around them to replay.

Answers which regions of which files are recorded for which fix. Runs nothing.
"""
