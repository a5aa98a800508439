"""Compare runs of SPICE decks with those of ngspice: `python tools/judge_decks.py FOLDER` imports and runs every deck of a folder.

A deck without a run over time is compared at its operating point. Each other deck is given a finer step and `wrdata` of all nodes,
and both programs read that text. A node is compared at up to 2000 times,
beside its own largest value; rows beside a change of mode or a jump are left out, because there each program has a row of its own.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.importing.imported import node_names, plain_name
from tellegen.importing.spice.deck import GROUND, Card, Circuit, Findings, node, read_deck, split_words, understand

Array = NDArray[np.float64]

ENDINGS = (".cir", ".net", ".sp", ".ckt", ".spice")
FINE = 160_000
"""The least number of steps of ngspice."""
TOLERANCES = ("reltol=1e-6 abstol=1e-13 vntol=1e-8 chgtol=1e-16 trtol=1", "reltol=1e-5 trtol=1", "reltol=1e-4 trtol=1")
MOST_NODES = 40
ROWS = 2000
WITHOUT_A_NODE = re.compile(
    r"\s*\.(control|tran|print|plot|save|probe|four|meas|measure|end|options?|ac|dc|op|noise|tf)\b", re.IGNORECASE
)


class Comparison(NamedTuple):
    """How far a run is from that of ngspice: the largest difference of a node beside its largest value."""

    worst: float
    node: str
    by_node: dict[str, float]
    left_out: tuple[str, ...]
    seconds: float


class NotComparedError(Exception):
    """Why a deck was not compared: it was refused, or one of the programs did not run it."""


def compare(deck: Path, *, diodes: str = "exponential", seconds: float = 60.0, fine: int = FINE) -> Comparison:
    """Run a deck in both programs.

    Raises: NotComparedError.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for other in deck.parent.iterdir():
            if other.is_file() and other.stat().st_size < 1_000_000:
                shutil.copy(other, folder / other.name)
        nodes, run = _shown_nodes(deck)
        judged = folder / "judged.cir"
        if run is None:
            return _compared_at_rest(deck, judged, nodes, diodes, seconds)
        judged.write_text(_judged_text(deck, nodes, run, "", TOLERANCES[0]), encoding="utf-8")
        begun = time.perf_counter()
        lines, left_out = _imported(judged, diodes)
        until = float(next(line.split()[1] for line in lines if line.startswith("  until:")))
        for tolerances in TOLERANCES:
            # Where ngspice gives up with close tolerances it may go on with wider ones.
            judged.write_text(_judged_text(deck, nodes, run, f"{until / fine:.6g}", tolerances), encoding="utf-8")
            try:
                rows = _ngspice(folder, nodes, seconds)
                break
            except NotComparedError:
                if tolerances is TOLERANCES[-1]:
                    raise
        return _compared(folder, rows, left_out, begun)


def _imported(deck: Path, diodes: str) -> tuple[list[str], tuple[str, ...]]:
    """The lines of the model file of a deck, which is put beside it, and what it leaves out."""
    written = deck.with_suffix(".yaml")
    try:
        tg.import_model(deck, written, diodes=diodes, force=True)
    except TellegenError as error:
        raise NotComparedError("refused: " + "; ".join(f"{f.code} {f.what}" for f in error.findings)) from error
    lines = written.read_text(encoding="utf-8").splitlines()
    return lines, tuple(line[2:] for line in lines if line.startswith("# "))


def _compared_at_rest(deck: Path, judged: Path, nodes: list[str], diodes: str, seconds: float) -> Comparison:
    """The operating points of both programs."""
    begun = time.perf_counter()
    shown = " ".join(f"v({found})" for found in nodes)
    judged.write_text("\n".join([*_kept_lines(deck), f".save {shown}", ".end", ""]), encoding="utf-8")
    _, left_out = _imported(judged, diodes)
    try:
        run = tg.simulate(tg.read(judged.with_suffix(".yaml")), start="steady", until=1e-9, samples=1, rtol=1e-9)
    except TellegenError as error:
        raise NotComparedError(f"not simulated: {error.code} {error.what}") from error
    end = [".options reltol=1e-9 abstol=1e-15 vntol=1e-10", ".control", "set wr_singlescale", "set wr_vecnames", "op"]
    end += [f"wrdata judged.out {shown}", ".endc", ".end"]
    judged.write_text("\n".join([*_kept_lines(deck), *end]) + "\n", encoding="utf-8")
    row = _ngspice(judged.parent, nodes, seconds)
    words = node_names(list(nodes))
    sizes = {name: float(row[name][0]) for name in nodes}
    largest = max(map(abs, sizes.values()), default=0.0) or 1e-6
    by_node = {
        name: abs(float(run.values(_sensor(words[name]))[0]) - size) / max(abs(size), 1e-3 * largest)
        for name, size in sizes.items()
        if _sensor(words[name]) in run
    }
    if not by_node:
        raise NotComparedError("no node is shown")
    worst = max(by_node, key=lambda name: by_node[name])
    return Comparison(by_node[worst], worst, by_node, left_out, time.perf_counter() - begun)


def _shown_nodes(deck: Path) -> tuple[list[str], Card | None]:
    """The nodes of a deck outside its subcircuits, and its run where it has one."""
    findings = Findings()
    try:
        found = understand(read_deck(deck, findings), findings)
    except TellegenError as error:
        raise NotComparedError(f"refused: {error.code} {error.what}") from error
    return list(dict.fromkeys(_nodes(found.circuit)))[:MOST_NODES], found.transient


def _nodes(circuit: Circuit) -> Iterator[str]:
    for card in circuit.elements.values():
        if card.letter == "x":
            words = [word for word in card.words if word.lower() != "params:"][:-1]
        else:
            words = list(card.words[: {"k": 0, "q": 3, "m": 4, "j": 3}.get(card.letter, 2)])
        yield from (found for word in words if (found := node(word)) != GROUND)


def _kept_lines(deck: Path) -> list[str]:
    """The lines of the circuit alone."""
    kept: list[str] = []
    skipping = False
    for line in deck.read_text(encoding="utf-8", errors="replace").splitlines():
        word = line.strip().split(None, 1)[0].lower() if line.strip() else ""
        if skipping or word == ".control":
            skipping = word != ".endc"
            continue
        if kept and (WITHOUT_A_NODE.match(line) or (kept[-1] == "*" and word.startswith("+"))):
            kept.append("*")
        else:
            kept.append(line)
    return kept


def _judged_text(deck: Path, nodes: list[str], run: Card, step: str, tolerances: str) -> str:
    """The deck with a finer step, all nodes kept, and nothing else shown."""
    kept = _kept_lines(deck)
    words, _ = split_words(run.words[1:])
    uic = " uic" if any(w.lower() == "uic" for w in words) else ""
    shown = " ".join(f"v({found})" for found in nodes)
    kept += [f".tran {words[0]} {words[1]} 0 {step}{uic}"]
    kept += [f".options {tolerances}", f".save {shown}"]
    kept += [".control", "set wr_singlescale", "set wr_vecnames", "run", f"wrdata judged.out {shown}", ".endc", ".end"]
    return "\n".join(kept) + "\n"


def _ngspice(folder: Path, nodes: list[str], seconds: float) -> dict[str, Array]:
    """The rows of ngspice: the time, and the voltage of each node."""
    command = ["ngspice", "-b", "judged.cir"]
    try:
        run = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired as error:
        raise NotComparedError(f"ngspice took longer than {seconds:g} s") from error
    written = folder / "judged.out"
    if not written.is_file():
        lines = [line for line in (run.stderr + run.stdout).splitlines() if "rror" in line or "singular" in line]
        raise NotComparedError(f"ngspice: {lines[0].strip() if lines else 'no result'}")
    table = np.loadtxt(written, skiprows=1, ndmin=2)
    if "aborted" in run.stderr + run.stdout:
        raise NotComparedError("ngspice: the run was aborted")
    return {"time": table[:, 0], **{name: table[:, k + 1] for k, name in enumerate(nodes)}}


def _compared(folder: Path, rows: dict[str, Array], left_out: tuple[str, ...], begun: float) -> Comparison:
    every = max(1, len(rows["time"]) // ROWS)
    times, first = np.unique(rows["time"][::every], return_index=True)
    try:
        run = tg.simulate(tg.read(folder / "judged.yaml"), times=times, rtol=1e-8)
    except TellegenError as error:
        raise NotComparedError(f"not simulated: {error.code} {error.what}") from error
    seconds = time.perf_counter() - begun
    at = np.asarray(run.t)
    keep = np.ones(len(times), bool)
    step = times[-1] / len(times)
    for event in run.events:
        keep &= np.abs(times - event.t) > 2 * step
    words = node_names([name for name in rows if name != "time"])
    by_node: dict[str, float] = {}
    for name, row in rows.items():
        if name == "time":
            continue
        ours = np.interp(times, at, run.values(_sensor(words[name])))
        theirs = row[::every][first]
        # A jump takes a step of each program: beside it they are not compared.
        steep = np.abs(np.diff(theirs, prepend=theirs[0])) > 0.2 * np.ptp(theirs)
        here = keep & ~(steep | np.roll(steep, 1) | np.roll(steep, -1))
        largest = max(float(np.max(np.abs(theirs))), 1e-6)
        by_node[name] = float(np.max(np.abs(ours - theirs)[here], initial=0.0)) / largest
    worst = max(by_node, key=lambda name: by_node[name])
    return Comparison(by_node[worst], worst, by_node, left_out, seconds)


def _sensor(name: str) -> str:
    return f"v_{plain_name(name, 'n')}"


def _line(deck: Path, root: Path, diodes: str) -> tuple[str, str]:
    """The row of a deck in the table, and its class."""
    shown = str(deck.relative_to(root))
    try:
        found = compare(deck, diodes=diodes)
    except NotComparedError as error:
        return f"{shown:<44} {str(error)[:400]}", str(error).split(":")[0]
    told = f"   left out: {'; '.join(found.left_out)}" if found.left_out else ""
    verdict = "agrees" if found.worst < 1e-4 else "nearly" if found.worst < 1e-2 else "DIFFERS"
    return f"{shown:<44} {verdict:<8} {found.worst:8.1e} at v({found.node}) {found.seconds:5.1f} s{told}", verdict


def main() -> int:
    """Compare every deck of a folder, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--diodes", default="exponential", choices=("exponential", "ideal"))
    options = parser.parse_args()
    if shutil.which("ngspice") is None:
        print("ngspice is missing: make test-tools", file=sys.stderr)
        return 1
    counts: dict[str, int] = {}
    for deck in sorted(path for path in options.folder.rglob("*") if path.suffix.lower() in ENDINGS):
        line, kind = _line(deck, options.folder, options.diodes)
        counts[kind] = counts.get(kind, 0) + 1
        print(line, flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
