"""The rules, one file each, in a folder per family. Installed as `rlint.rules`."""

if __name__ != "rlint.rules":
    raise ImportError("import rlint.rules instead of rules: one rule class, one name")
