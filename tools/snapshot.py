"""What the commands say about every built-in example, kept as files, and two such folders compared.

    python tools/snapshot.py write FOLDER [EXAMPLE ...]
    python tools/snapshot.py compare BEFORE AFTER

A change that must not change results is judged by this: texts are equal, numbers agree to 1e-12, seconds are left out.
"""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

TIMES = {"setup_s", "solve_s", "seconds", "time", "us"}
"""Keys of JSON whose values are measured, not computed."""
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
SECONDS = re.compile(r"\b\d+(?:\.\d+)?(?:e[-+]\d+)? ?(?:s|ms|us|µs)\b")
TOLERANCE = 1e-12

FORMS = ("pog", "ph", "lagrange", "dae", "tf", "ss")
NOTATIONS = ("network", "bond", "pog")
FIGURES = tuple((notation, suffix) for notation in NOTATIONS for suffix in ("svg", "tex", "json"))


def commands(example: str, limits: list[str]) -> dict[str, list[str]]:
    """The command lines of one example, by the name of the file that keeps what they print."""
    plain = {
        "check": ["check", example, "--json"],
        "derive": ["derive", example],
        "derive_steps": ["derive", example, "--steps"],
        "derive_latex": ["derive", example, "--latex"],
        "derive_plus": ["derive", example, "--sign", "+"],
        "suggest": ["reduce", example, "--suggest"],
        "analyse": ["analyse", example, "--json"],
        "simulate": ["simulate", example, "--json"],
        "simulink": ["export", example, "--to", "simulink", "-o", "made"],
    }
    forms = {f"form_{form}": ["derive", example, "--form", form, "--json"] for form in FORMS}
    form_texts = {f"form_{form}_text": ["derive", example, "--form", form] for form in FORMS[1:]}
    reductions = {
        f"reduce_{limit.split('=')[0]}{end}": ["reduce", example, "--limit", limit, *option]
        for limit in limits
        for end, option in (("", ["--json"]), ("_steps", ["--steps"]))
    }
    figures = {
        f"draw_{notation}_{suffix}": ["draw", example, "--as", notation, "-o", f"made.{suffix}"]
        for notation, suffix in FIGURES
    }
    texts = {f"translate_{notation}": ["translate", example, notation] for notation in ("network", "bond", "pog")}
    return plain | forms | form_texts | reductions | figures | texts


def run(words: list[str], folder: Path) -> str:
    """What a command printed and wrote, as one text."""
    with TemporaryDirectory(dir=folder) as place:
        done = subprocess.run(
            [sys.executable, "-m", "tellegen", *words], cwd=place, capture_output=True, text=True, check=False
        )
        written = [f"--- {path.name}\n{path.read_text()}" for path in sorted(Path(place).rglob("*")) if path.is_file()]
        return "\n".join([" ".join(words), f"exit {done.returncode}", done.stdout, done.stderr, *written])


def some_limits(example: str) -> list[str]:
    """The first parameters of the energy matrix at zero."""
    done = subprocess.run(
        [sys.executable, "-m", "tellegen", "derive", example, "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return []
    record = json.loads(done.stdout)
    words = {word: None for row in record.get("L", []) for entry in row for word in re.findall(r"[A-Za-z_]\w*", entry)}
    return [f"{name}=0" for name in words if name in record["parameters"]][:2]


def write(folder: Path, names: list[str]) -> None:
    """Runs all commands of all examples, or of those named."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(
        [sys.executable, "-m", "tellegen", "examples", "--json"], capture_output=True, text=True, check=True
    )
    examples = names or [entry["name"] for entry in json.loads(listed.stdout)["examples"]]
    jobs = [(name, key, words) for name in examples for key, words in commands(name, some_limits(name)).items()]

    def keep(job: tuple[str, str, list[str]]) -> None:
        name, key, words = job
        (folder / f"{name}.{key}.txt").write_text(run(words, folder))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(keep, jobs))


def plain(text: str) -> str:
    """A text without what is measured."""
    text = re.sub(r'("file": ")[^"]*/', r"\1", text)  # where the package lies
    for key in TIMES:
        text = re.sub(rf'"{key}": [^,}}\n]*', f'"{key}": 0', text)
    return SECONDS.sub("some s", text)


def difference(before: str, after: str) -> str | None:
    """The first place where two texts differ, numbers within the tolerance counting as equal."""
    first, second = plain(before), plain(after)
    if first == second:
        return None
    for number, (line, other) in enumerate(zip(first.splitlines(), second.splitlines(), strict=False), 1):
        if line == other:
            continue
        values, others = ([float(word) for word in NUMBER.findall(part)] for part in (line, other))
        close = len(values) == len(others) and all(
            abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b)) for a, b in zip(values, others, strict=True)
        )
        if not close or NUMBER.sub("#", line) != NUMBER.sub("#", other):
            return f"line {number}:\n  - {line[:300]}\n  + {other[:300]}"
    if len(first.splitlines()) != len(second.splitlines()):
        return f"{len(first.splitlines())} lines, then {len(second.splitlines())}"
    return None


def compare(before: Path, after: Path) -> int:
    """Prints what differs; the number of files that do."""
    wrong = 0
    for path in sorted(before.glob("*.txt")):
        other = after / path.name
        told = difference(path.read_text(), other.read_text()) if other.exists() else "is missing"
        if told:
            wrong += 1
            print(f"{path.name}: {told}")
    print(f"{wrong} of {len(list(before.glob('*.txt')))} files differ")
    return wrong


def main() -> int:
    """Does what the command line says."""
    match sys.argv[1:]:
        case ["write", folder, *names]:
            write(Path(folder), names)
            return 0
        case ["compare", before, after]:
            return min(compare(Path(before), Path(after)), 1)
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
