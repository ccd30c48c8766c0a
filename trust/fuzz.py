"""Coverage-guided fuzzing of all inputs of rlint.

    pip install atheris
    python trust/fuzz.py --minutes 60 --folder /tmp/fuzz

Starts from small programs of the fixtures, which it changes by expressions, statements, tokens, lines and
bytes (mutators.py), and from an example of each other kind of input (inputs.py). An input fails if it
breaks a promise (promises.py), takes more than ten seconds of processor time, or more than a gigabyte of
memory. Each cause is kept once in FOLDER/failures: the input, reduced to the necessary lines, and a
description of the failure. FOLDER/corpus keeps what reached new code, for the next run. `--again` runs rlint
on every stored failure again.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "trust")]

MOST_INPUT = 10_000


def main() -> int:
    """Fuzz for a while; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0, help="of the processor, not of the clock")
    parser.add_argument("--folder", type=Path, required=True, help="where corpus and failures are kept")
    parser.add_argument("--seed", type=int, default=0, help="of the random choices")
    parser.add_argument("--again", action="store_true", help="only try the kept failures once more")
    options = parser.parse_args()
    for name in ("corpus", "failures"):
        (options.folder / name).mkdir(parents=True, exist_ok=True)
    if options.again:
        return _try_again(options.folder / "failures")

    import atheris

    with atheris.instrument_imports(include=["rlint"]):
        from rlint.registry import catalogue

        catalogue.load_usable(frozenset(entry.code for entry in catalogue.catalogue()))
        from inputs import seeds
        from trying import Fuzzer, Mutator
    fuzzer = Fuzzer(options.folder / "failures", minutes=options.minutes)
    for data in seeds():
        (options.folder / "corpus" / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    settings = [
        f"-seed={options.seed + 1}",
        f"-max_len={MOST_INPUT}",
        "-rss_limit_mb=0",  # libFuzzer itself grows by some 20 kB per input; rlint's own memory is monitored
        "-timeout=600",
        "-len_control=0",
        "-report_slow_units=30",
        f"-artifact_prefix={options.folder}/",
    ]
    atheris.Setup(
        [sys.argv[0], *settings, str(options.folder / "corpus")],
        fuzzer.try_input,
        custom_mutator=Mutator().mutated,
    )
    atheris.Fuzz()
    return 0


def _try_again(failures: Path) -> int:
    from trying import memory_folder, tried

    left = 0
    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        for path in sorted(failures.glob("*.input")):
            found = tried(path.read_bytes(), Path(folder))
            left += bool(found)
            print(f"{path.stem}: {', '.join(one.key for one in found) or 'holds'}", flush=True)
    print(f"{left} still fail")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
