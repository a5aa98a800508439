"""`python -m fuzz --seconds 600 --seed 1`: attack everything for a time, print counts, keep counterexamples.

Each subject is attacked by a process of its own, so that one that hangs, dies or fills its memory is an answer like others.
"""

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in ("src", "tests", "tools", "")]

from fuzz.properties import Outcome, Property, attack, properties_of, use_settings  # noqa: E402  # needs the paths above
from fuzz.subjects import SUBJECTS  # noqa: E402

SLICE = 2.0
"""Seconds for one property before the next one has its turn; the examples of the turn after that are others."""
LEAST = 0.5
"""In less a property has hardly made its first example: in a short time some have none instead."""
GRACE = 150.0
"""Seconds that a process may take beyond its time: imports, the last example, making a counterexample small."""
MEMORY = 6 * 2**30


@dataclass
class Tally:
    """What a subject came to: counts, and the files of counterexamples."""

    properties: int = 0
    held: int = 0
    left_out: int = 0
    found: Counter[str] = field(default_factory=Counter)
    files: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count the examples of one property."""
        self.held += outcome.held
        self.left_out += outcome.left_out


def main() -> int:
    """The exit status: 0 where nothing was found."""
    options = _options()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.property:
        return _repeat(Property.read(options.property), options.seed, options.folder)
    if options.within:
        _attack_subject(options.subjects[0], options.seconds, options.seed, options.folder)
        return 0
    print(f"{'subject':<18}{'properties':>11}{'held':>9}{'left out':>10}{'failed':>8}")
    tallies = [_in_a_process(name, options) for name in options.subjects]
    found = sum(len(tally.files) for tally in tallies)
    held = sum(tally.held for tally in tallies)
    print(
        f"seed {options.seed}: {held} examples held, {found} counterexamples"
        + (f" in {options.folder}" if found else "")
    )
    return 1 if found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m fuzz", description="Attack Tellegen with random and hostile input."
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long, for all subjects together")
    parser.add_argument("--seed", type=int, default=1, help="other examples for each number")
    parser.add_argument(
        "--subjects", nargs="+", choices=SUBJECTS, default=list(SUBJECTS), metavar="SUBJECT", help=", ".join(SUBJECTS)
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fuzz", help="where counterexamples are kept")
    parser.add_argument("--property", help="repeat this one alone, as a counterexample says")
    parser.add_argument("--within", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_a_process(subject: str, options: argparse.Namespace) -> Tally:
    """Attack a subject in a process that is ended when it takes far too long; what it was doing then is what is found."""
    share = options.seconds / len(options.subjects)
    words = ["--within", "--subjects", subject, "--seconds", str(share), "--seed", str(options.seed)]
    command = [sys.executable, "-m", "fuzz", *words, "--folder", str(options.folder)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=share + GRACE, check=False)
        how = f"the process ended with {done.returncode}\n{done.stderr}" if done.returncode else ""
    except subprocess.TimeoutExpired as late:
        how = f"no end after {late.timeout:g} s"
    state = _state(options.folder, subject)
    tally = Tally(**json.loads(state.read_text(encoding="utf-8"))) if state.exists() else Tally()
    if how:
        running = tally.files.pop() if tally.files and tally.files[-1].startswith("running ") else f"running {subject}"
        tally.files.append(_keep(options.folder, subject, running.removeprefix("running "), Outcome(failure=how)))
    state.unlink(missing_ok=True)
    print(
        f"{subject:<18}{tally.properties:>11}{tally.held:>9}{tally.left_out:>10}{sum(tally.found.values()):>8}",
        flush=True,
    )
    for file in tally.files:
        print(f"    {file}", flush=True)
    return tally


def _attack_subject(subject: str, seconds: float, seed: int, folder: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    use_settings()
    chance, tally = random.Random(f"{subject} {seed}"), Tally()
    todo = list(properties_of(SUBJECTS[subject]))
    tally.properties = len(todo)
    begun = time.monotonic()
    end, length = begun + seconds, min(SLICE, max(seconds / max(len(todo), 1), LEAST))
    known: set[Property] = set()
    while time.monotonic() < end:
        chance.shuffle(todo)
        for this in todo:
            if time.monotonic() > end or len(known) == len(todo):
                break
            number = chance.randrange(2**31)
            _write_state(folder, subject, tally, running=f"{this} --seed {number}")
            if this in known:  # one counterexample of a property is told; to look for more would find it again
                continue
            outcome = attack(this, number, min(end, time.monotonic() + length))
            tally.add(outcome)
            if outcome.failure:
                known.add(this)
                tally.found[outcome.kind] += 1
                tally.files.append(_keep(folder, subject, f"{this} --seed {number}", outcome))
    _write_state(folder, subject, tally)


def _state(folder: Path, subject: str) -> Path:
    return folder / f".{subject.replace(' ', '_')}.json"


def _write_state(folder: Path, subject: str, tally: Tally, running: str = "") -> None:
    files = [*tally.files, f"running {running}"] if running else tally.files
    _state(folder, subject).write_text(json.dumps({**vars(tally), "files": files}), encoding="utf-8")


def _keep(folder: Path, subject: str, which: str, outcome: Outcome) -> str:
    """Write a counterexample with the command that repeats it, and the models in it as files beside it."""
    name = which.partition(":")[2] or "process"
    stem = re.sub(r"[ :]+", "_", f"{subject}-{name}".replace(" --seed ", "-"))
    file = folder / f"{stem}.txt"
    command = f"python -m fuzz --property {which}" if ":" in which else f"python -m fuzz --subjects {which!r}"
    file.write_text(f"{command}\n\n{outcome.failure}\n", encoding="utf-8", errors="backslashreplace")
    for k, text in enumerate(outcome.models):
        file.with_name(f"{stem}-{k}.yaml").write_text(text, encoding="utf-8", errors="backslashreplace")
    return str(file)


def _repeat(this: Property, seed: int, folder: Path) -> int:
    use_settings()
    outcome = attack(this, seed, 0.0, bounded=False)
    print(f"{this}: {outcome.held} held, {outcome.left_out} left out")
    if outcome.failure:
        print(outcome.failure)
        print(_keep(folder, "again", f"{this} --seed {seed}", outcome))
    return 1 if outcome.failure else 0


if __name__ == "__main__":
    sys.exit(main())
