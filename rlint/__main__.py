"""`python -m rlint`."""

from rlint.cli import main

if __name__ == "__main__":
    main()
