"""A project before and after fixing: its tests and its trainings (trust/projects.py)."""
