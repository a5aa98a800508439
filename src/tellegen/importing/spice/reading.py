"""`read_spice`: a SPICE deck as a model file, with a file for each subcircuit."""

import math
import re
from pathlib import Path
from typing import Literal, get_args

from tellegen.core.union_find import strong_components
from tellegen.importing import rules as importing_rules
from tellegen.importing.imported import Imported
from tellegen.importing.naming import plain_name
from tellegen.importing.spice import rules
from tellegen.importing.spice.deck import GROUND, Card, Findings, ReadDeck, node, read_deck, split_words, understand
from tellegen.importing.spice.elements import WRITERS
from tellegen.importing.spice.values import DeckValue, Span, ValueProblemError, read_formula
from tellegen.importing.spice.writing import CircuitWriter, DeckJob

Diodes = Literal["exponential", "static", "ideal"]

_SHOWN = re.compile(r"\b([vi])\s*\(\s*([^\s(),]+)\s*(?:,\s*([^\s(),]+)\s*)?\)", re.IGNORECASE)
_INITIAL = re.compile(r"\bv\s*\(\s*([^\s(),]+)\s*\)\s*=\s*(\{[^{}]*\}|'[^']*'|[^\s]+)", re.IGNORECASE)


def read_spice(path: Path, name: str, *, diodes: Diodes = "exponential") -> Imported:
    """A deck of SPICE as the text of a model file of the stem `name`, with a file for each of its subcircuits.

    Raises: DescriptionError with all that is not read (D307) or makes no sense (D313 to D319).
    """
    if diodes not in get_args(Diodes):
        fix = "choose exponential, static (exponential without charge) or ideal"
        raise importing_rules.UNKNOWN_OPTION.error(f"there are no diodes of the kind '{diodes}'", fix=fix)
    findings = Findings()
    found = understand(read_deck(path, findings), findings)
    if not found.circuit.elements:
        findings.raise_errors()
        place = found.transient.place if found.transient is not None else None
        raise rules.EMPTY.error(f"there is no element in '{path}'", fix="begin with a line for the title", place=place)
    if re.match(r"[rclvidx]\d\w*\s+\S+\s+\S+\s+\S+", found.title, re.IGNORECASE):
        fix = "put a line for the title before it"
        findings.left_out(f"the first line is the title, as always: '{found.title}' is no card", None, fix)
    writer = _writer(found, name, diodes)
    writer.write()
    experiment = _experiment(writer, found)
    findings.raise_errors()
    title = found.title or path.stem
    beside = {file: part.text(part.circuit.name) for file, part in writer.job.files.items()}
    return Imported(writer.text(title, experiment), beside, tuple(findings.warnings))


def _writer(deck: ReadDeck, name: str, diodes: Diodes) -> CircuitWriter:
    known = _known(deck)
    words, _ = split_words(deck.transient.words[1:]) if deck.transient is not None else ([], {})
    sizes: list[float | None] = []
    for word in words:
        if word.lower() == "uic":
            continue
        try:
            sizes.append(
                read_formula(word, lambda low: low if low in known else "", None, deck.circuit.function).number(known)
            )
        except ValueProblemError as problem:
            assert deck.transient is not None, "its words are being read"
            fix = "write .tran STEP STOP"
            deck.findings.error(rules.BAD_CARD, f"'.tran' has '{word}': {problem}", deck.transient.place, fix)
    if deck.transient is not None and (len(sizes) < 2 or not sizes[1] or sizes[1] <= 0):
        fix = "write .tran STEP STOP"
        deck.findings.error(rules.BAD_CARD, "'.tran' tells no time at which the run ends", deck.transient.place, fix)
    if deck.transient is not None and len(sizes) > 2 and sizes[2]:
        what = "the time from which '.tran' keeps results is left out: they begin at zero"
        deck.findings.left_out(what, deck.transient.place, "look at the end of the run")
    span = Span(*(sizes[:2] if len(sizes) > 1 else (None, None)))
    initial = {node(m[1]): m[2] for card in deck.initial for m in _INITIAL.finditer(card.text)}
    initial[GROUND] = "0"
    uic = any(word.lower() == "uic" for word in words)
    job = DeckJob(
        deck,
        plain_name(name, "deck"),
        diodes=diodes,
        span=span,
        uic=uic,
        initial=initial if len(initial) > 1 else {},
        known=known,
        writers=WRITERS,
    )
    return CircuitWriter(job, deck.circuit, {})


def _known(deck: ReadDeck) -> dict[str, float]:
    """The parameters of the deck itself with their sizes, as far as they are numbers or follow from numbers."""
    waiting: dict[str, DeckValue] = {}
    names = deck.circuit.parameters
    for low, parameter in names.items():
        try:
            waiting[low] = read_formula(
                parameter.text, lambda name: name if name in names else "", None, deck.circuit.function
            )
        except ValueProblemError:
            continue  # told where the parameter is written
    known: dict[str, float] = {}
    # Those in a circle need each other: they stay unknown, and the model file tells them.
    for group in strong_components({low: value.names & waiting.keys() for low, value in waiting.items()}):
        low = group[0]
        if len(group) == 1 and low in waiting and waiting[low].names <= known.keys():
            size = waiting[low].number(known)
            known[low] = math.nan if size is None else size
    return {low: size for low, size in known.items() if not math.isnan(size)}


def _experiment(writer: CircuitWriter, deck: ReadDeck) -> dict[str, object]:
    """The run over time: its end, its start, the courses of sources, and what the deck shows."""
    job = writer.job
    outputs: dict[str, None] = {}
    for card in deck.shown:
        outputs |= dict.fromkeys(_outputs(writer, card))
    found: dict[str, object] = {}
    if job.span.end is not None:
        found["until"] = f"{job.span.end:.15g} s"
    if not job.uic and not job.initial:
        # Every analysis of SPICE begins at the operating point.
        found["start"] = "steady"
    if writer.inputs:
        found["inputs"] = writer.inputs
    if outputs:
        found["outputs"] = list(outputs)
    if job.initial and not job.uic and writer.starts_at_zero:
        what = "with '.ic' and without 'uic' SPICE looks for an operating point; here other storages begin at zero"
        deck.findings.left_out(what, deck.initial[0].place, "give IC= of the others and '.tran ... uic'")
    return found


def _outputs(writer: CircuitWriter, card: Card) -> list[str]:
    """What a card shows: voltages of nodes and currents of sources; others are not told, as they change nothing."""
    found = []
    for kind, one, other in _SHOWN.findall(card.text):
        if kind.lower() == "v":
            ends = [node(word) for word in (one, other) if word]
            if (
                all(end == GROUND or end in writer.loaded | writer.imposed for end in ends) and ends[0] != ends[-1:][0]
            ) or len(ends) == 1:
                found.append(writer.sensor(ends[0], ends[1] if len(ends) > 1 else GROUND))
        elif one.lower() in writer.elements and one[0].lower() in "vrclid":
            found.append(f"I_{writer.elements[one.lower()]}")
    return found
