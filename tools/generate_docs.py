"""Write the pages that are made from the code: docs/reference from the registries, and notebooks.

python tools/generate_docs.py           write the pages, remove those of parts and tutorials that are gone
python tools/generate_docs.py --check   write nothing; exit 1 when a page differs from the code
"""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import tellegen
from formula_pages import formulas_page, units_page
from imported_pages import imported_page
from notebooks import notebook
from part_equations import part_equations
from reference_pages import commands_page, decisions_page, python_page
from tellegen.core.domains import DOMAINS, Domain, Variable, other_side
from tellegen.core.errors import sentence
from tellegen.core.shipped import LIBRARY, SYSTEMS, part_names
from tellegen.drawing import draw
from tellegen.elements import KINDS, ElementKind, Role, kinds_of, schedule_key
from tellegen.model.model import Model
from tellegen.notations.grammar import Key, Words
from tellegen.notations.reading import read_model
from tellegen.notations.signals.blocks import BLOCKS
from tellegen.notations.signals.formulas import SHAPES

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(tellegen.__file__).parent

ROLES: dict[Role, str] = {
    "storage": "Storages",
    "potential": "Weights",
    "resistive": "Resistive elements",
    "source": "Sources",
}
MODES_HEAD = ("kind", "also called", "modes", "keys", "law", "what it does")


# -- Reference -------------------------------------------------------------------------------------------------------------------


def elements_page() -> str:
    """The table of element kinds, by domain."""
    parts = [
        _made_from("src/tellegen/elements"),
        "# Elements",
        "The kinds of element that a network is made of. In a file, the kind is the first key of an element:\n"
        "`R_a: {resistor: [b, c], R: 0.5 ohm}`. *Code* is the letter code in POG_Modeler netlists.",
        "A law stands as a formula, `law: F = K*x + k_3*x^3`, or by its points, `law: {table: [[0, 0], [1, 2]]}`, which may\n"
        "come from a file beside the model: `{table: {file: spring.csv, time: x, column: F}}`. The first number of a point is the\n"
        "argument of the law, the second what `gives` names; where that is left out, it is the left side of the law in the tables\n"
        "below. `interpolation: cubic` joins points smoothly; beyond its ends a law goes on straight.",
        "A dissipator of another domain may bring its heat into a thermal node: `R_a: {resistor: [b, c], heat: winding}`. The\n"
        "books count that energy as transferred, not as lost. It is short for a source `R_a_heat: {heat flow source: [winding],\n"
        "signal: power.R_a}`, or for an entropy flow source of `power.R_a` divided by the temperature.",
        "An element with modes has one law in each of them; `start` names the mode in which a run begins. A control, a capacity\n"
        "and a gap may be formulas of signals, variables and time. Other keys of its line that are left out are ideal: zero, or\n"
        "no limit.",
    ]
    for domain in DOMAINS.values():
        parts += [f"## {domain.name.capitalize()}", _letters(domain)]
        for role, title in ROLES.items():
            kinds = kinds_of(domain.name, role)
            if kinds:
                parts += [f"### {title}", table(_HEAD, map(_one_port, kinds))]
        if switching := kinds_of(domain.name, "switching"):
            parts += ["### Elements with modes", table(MODES_HEAD, map(_with_modes, switching))]
    couplings = [k for k in dict.fromkeys(KINDS.values()) if k.role == "coupling"]
    parts += [
        "## Couplings",
        "A coupling passes power from side 1 (its first two nodes) to side 2 (its last two nodes):\n"
        "`across_1*through_1 = across_2*through_2`. The through variable of side 1 enters at the first node, that of\n"
        "side 2 leaves at the third.",
        table(
            ("kind", "also called", "from", "to", "parameter", "unit", "law", "type", "what it does"),
            map(_two_port, couplings),
        ),
        "## Fields and connections of several ports",
        "A field is one element with several ports and one law: a matrix, an energy of several variables, or a law for each port.\n"
        "A `multiport` passes power between its ports and keeps none. Both have two nodes for each port.\n"
        "[How to give an element its law](../howto/laws.md) has an example of each.",
        table(("kind", "keys", "what it does"), FIELDS),
    ]
    return "\n\n".join(parts) + "\n"


FIELDS = (
    (
        "`KIND field`, KIND a storage or a resistive kind",
        "`matrix`, or `law` with a formula for each port where it is resistive; `each: {k: 1..m}`; `initial`; names of variables",
        "couples ports of one kind: windings, springs, meshes",
    ),
    (
        "`field`",
        "`kinds`, and `matrix`, `energy` or `law`; `initial`; names of variables",
        "couples ports of several kinds or domains: a magnet, a piezo stack",
    ),
    (
        "`multiport`",
        "`domains`, and `relation`: one formula or a list",
        "joins ports by a linear relation: planetary gears, machines of several phases",
    ),
)
_HEAD = ("kind", "also called", "parameter", "unit", "law", "code", "what it does")


def _letters(domain: Domain) -> str:
    kept = [domain.energy(side) for side in dict.fromkeys(kind.side for kind in kinds_of(domain.name, "storage"))]
    variables = "Variables" if domain.heat_books else "Power variables"
    plural = "s" if len(kept) > 1 else ""
    powers = _and(map(_variable, (domain.across, domain.through)))
    return f"{variables}: {powers}. Energy variable{plural}: {_and(map(_variable, kept))}."


def _variable(variable: Variable) -> str:
    return f"{variable.word} {code(variable.letters[0])} ({code(variable.unit)})"


def _and(words: Iterable[str]) -> str:
    return " and ".join(words)


def _one_port(kind: ElementKind) -> tuple[str, ...]:
    return (kind.name, _aliases(kind), *_parameter(kind), _law(kind), code(kind.netlist), cell(kind.summary))


def _with_modes(kind: ElementKind) -> tuple[str, ...]:
    keys = [
        f"{code(s.key)} {s.word}" + (f" ({code(s.unit)})" if s.unit not in ("", "1") else "") for s in kind.settings
    ]
    keys += [f"{code(key)} times" for key in [schedule_key(kind)] if key]
    return (kind.name, _aliases(kind), ", ".join(kind.modes), ", ".join(keys), _law(kind), cell(kind.summary))


def _two_port(kind: ElementKind) -> tuple[str, ...]:
    return (
        kind.name,
        _aliases(kind),
        *kind.domains,
        *_parameter(kind),
        _law(kind),
        str(kind.coupling),
        cell(kind.summary),
    )


def _law(kind: ElementKind) -> str:
    """The law as code, its cases apart so that a line may break between them."""
    return re.sub(r"(,? or |,? and )", r"`\1`", code(kind.law))


def _aliases(kind: ElementKind) -> str:
    return ", ".join(kind.aliases)


def _parameter(kind: ElementKind) -> tuple[str, str]:
    if kind.quantity is None:
        return "", ""
    return f"{code(kind.quantity.key)} {kind.quantity.word}", code(kind.quantity.unit)


def domains_page() -> str:
    """The table of domains in both readings."""
    parts = [
        _made_from("src/tellegen/core/domains.py"),
        "# Domains",
        "Each domain has two power variables whose product is power. Power-Oriented Graphs read them as *across* and *through*,\n"
        "bond graphs as *effort* and *flow*. The two readings agree in most domains and swap in mechanics.",
        "Thermal systems can be described in two ways. In the domain *thermal* the pair is absolute temperature and entropy flow,\n"
        "whose product is power. In the domain *heat* it is temperature and heat flow, as engineers use them: temperatures count\n"
        "from the `ambient`, the heat flow is a power by itself, and the energy books count heat. Nothing keeps the integral of a\n"
        "temperature or of a magnetomotive force, so these domains have one kind of storage.",
        "In the domain *pneumatic* the across variable is the gas potential `R*T*log(P/P_0)`: what a kilogram of gas can do\n"
        "at the temperature of its surroundings, until it is at the pressure of the `atmosphere`. Its product with the mass flow\n"
        "is power; that of pressure and mass flow is none. The parts of the library take and show absolute pressures.",
        "## The two readings",
        table(("domain", "across", "through", "effort", "flow", "reference"), map(_readings, DOMAINS.values())),
        "## Storages",
        "An across storage (`D_e`) keeps the integral of the through variable, a through storage (`D_f`) the integral of\n"
        "the across variable. A bond graph calls `C` what keeps the integral of a flow, and `I` what keeps the integral of\n"
        "an effort.",
        table(
            ("domain", "across storage keeps", "bond graph", "through storage keeps", "bond graph"),
            map(_storages, DOMAINS.values()),
        ),
        "## Junctions",
        table(
            ("domain", "parallel: shared across variable", "series: shared through variable"),
            map(_junctions, DOMAINS.values()),
        ),
        "## Names and letters",
        "A variable without a name of its own is called `<symbol>_<element>`. Laws may use any of the letters.",
        table(("domain", "netlist letter", "variable", "symbol", "letters", "SI unit"), _names()),
    ]
    return "\n\n".join(parts) + "\n"


def _readings(domain: Domain) -> tuple[str, ...]:
    across, through = _variable(domain.across), _variable(domain.through)
    effort, flow = domain.power(domain.effort).word, domain.power(domain.flow).word
    return (domain.name, across, through, effort, flow, code(domain.reference))


def _storages(domain: Domain) -> tuple[str, ...]:
    across, through = _variable(domain.across_energy), _variable(domain.through_energy)
    # C gives an effort of the integral of the flow: it is the storage whose output is the effort.
    of_across, of_through = ("C", "I") if domain.effort == "across" else ("I", "C")
    if not any(kind.side == "through" for kind in kinds_of(domain.name, "storage")):
        return (domain.name, across, code(of_across), "nothing", "")
    return (domain.name, across, code(of_across), through, code(of_through))


def _junctions(domain: Domain) -> tuple[str, ...]:
    parallel, series = ("0-junction", "1-junction") if domain.effort == "across" else ("1-junction", "0-junction")
    return (domain.name, parallel, series)


def _names() -> Iterator[tuple[str, ...]]:
    for domain in DOMAINS.values():
        for side in ("across", other_side("across")):
            for variable in (domain.power(side), domain.energy(side)):
                letters = ", ".join(map(code, variable.letters))
                yield (
                    domain.name,
                    code(domain.code),
                    variable.word,
                    code(variable.symbol),
                    letters,
                    code(variable.unit),
                )


def signals_page() -> str:
    """The tables of signal blocks and of shapes."""
    parts = [
        _made_from("src/tellegen/notations/signals/blocks.py and src/tellegen/notations/signals/formulas.py"),
        "# Signals",
        "Signals are causal and carry no power: references, sensors, controllers, tables. They stand under `signals:`, each a\n"
        "formula or a block whose word is the first key. A formula reads variables of elements by their names, displacements,\n"
        "other signals, parameters, the time `t`, and `power.R` for the power of an element `R`. Where a signal has\n"
        "the name of a unit, `3 ohm*h` could mean either and is refused: write `(3 ohm)*h`.",
        f"```yaml\n{SIGNALS_EXAMPLE.rstrip()}\n```",
        "A source follows a signal by the key `signal` on its line (a name or a formula), or by `inputs` in the experiment, not\n"
        "by both. Values of resistive elements, moduli and laws may read signals; parameters, storages and initial values may\n"
        "not. A factor in a formula may carry a unit that nobody wrote (`0.2*e` may be a voltage); quantities that are added\n"
        "must be of one kind.",
        "Conditions are comparisons, joined by `and`, `or` and `not`: `if(x > 0 and not late > 5 s, a, b)` in formulas,\n"
        "bare in keys that hold one. Relays, counters, timers and machines with states change at the instant at which\n"
        "their condition does; simulation and functional mock-up units find it exactly, C looks in each step, other\n"
        "exports refuse them (X402).",
        "A block is made of formulas, integrals, samples, latches, delays and tables. Names of inner signals begin with\n"
        "that of the block: `V_integral`, `V_filter` and `V_unlimited` belong to the controller `V`. A loop of signals\n"
        "without a state, a sample or a delay is an algebraic equation: `tellegen check` lists its unknown. `tellegen\n"
        "derive MODEL --closed` gives the linear closed loop; [linear models](../howto/analyse.md) tells about which\n"
        "point, and how to cut it open.",
        "## Shapes",
        "Functions of time for formulas, in `signals` and in the inputs of an experiment. Arguments may be given by name:\n"
        "`step(24 V, start=1 s)`. A bare number for a time is in seconds.",
        table(("shape", "what it does"), ((code(s.usage(n)), cell(s.summary)) for n, s in SHAPES.items())),
        "## Blocks",
    ]
    for block in BLOCKS.values():
        rows = [_signal_key(key) for key in block.keys if key.summary]
        parts += [f"### {block.word}", sentence(block.summary), code(block.example)]
        parts += [table(("key", "holds", "where left out", "what it is"), rows)]
    return "\n\n".join(parts) + "\n"


SIGNALS_EXAMPLE = """\
network:
  V_a: {voltage source: [a, gnd], signal: V}
  L_a: {inductor: [a, b], current: I_a}
signals:
  I_ref: step(2 A, start=10 ms)
  e:     I_ref - I_a
  V:     {pid: e, K_p: 3 ohm, K_i: 500 ohm/s, limits: [-24 V, 24 V]}
"""


def _signal_key(key: Key) -> tuple[str, ...]:
    holds = " or ".join(map(code, key.holds.words)) if isinstance(key.holds, Words) else key.word
    default = "" if key.required else code(key.default) or "none"
    return (code(key.name), holds, "needed" if key.required else default, cell(key.summary))


# -- Markdown --------------------------------------------------------------------------------------------------------------------


def library_page() -> str:
    """The parts of the library: ports, signals, parameters with their values, and the equations of their files."""
    parts = [
        _made_from("src/tellegen/library"),
        "# The library of parts",
        "`use: NAME` on the line of a part finds these files;\n"
        "[how to build a system from parts](../howto/parts.md) tells the rest.\n"
        "Each is an ordinary model file, and its parameters keep their values unless the line of the part sets them.",
        "The equations below each part are those of the part alone, with a source at each of its ports; `V_electrical` is the\n"
        "voltage of a source at the port `electrical`.",
    ]
    abouts = ((f"[{name}](#{name})", cell(read_model(LIBRARY / f"{name}.yaml").about)) for name in part_names())
    parts.append(table(("part", "what it is"), abouts))
    for name in part_names():
        parts += _library_part(name)
    return "\n\n".join(parts) + "\n"


def _library_part(name: str) -> list[str]:
    path = LIBRARY / f"{name}.yaml"
    model, lines = read_model(path), path.read_text(encoding="utf-8").splitlines()
    told = " ".join(line.removeprefix("# ") for line in lines if line.startswith("# "))
    ports = [(code(p.name), p.domain, code(", ".join(p.nodes))) for p in model.ports.values()]
    described = dict(_described_parameters(lines))
    rows = [(code(key), code(value), cell(note)) for key, (value, note) in described.items()]
    signals = model.signal_ports
    offered = [
        f"Signals {word}: {', '.join(map(code, names))}."
        for word, names in (("taken", signals.inputs), ("offered", signals.outputs))
        if names
    ]
    return [
        f"## {name}",
        model.about,
        f"![Schematic of {name}](../images/library/{name}.svg)",
        cell(told),
        table(("port", "domain", "nodes"), ports),
        *offered,
        table(("parameter", "value", "what it is"), rows),
        *(f"$$\n{lines}\n$$" for lines in part_equations(model)),
        f"At work in {', '.join(machines_with(name))}.",
    ]


def machines_with(part: str) -> list[str]:
    """Links to the pages and built-in examples with a machine that uses a part, those of the gallery first."""
    use, docs = re.compile(rf"\buse: {part}\b"), ROOT / "docs"
    pages = [page for folder in ("gallery", "howto") for page in sorted((docs / folder).glob("*.md"))]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    found = {
        f"../{page.relative_to(docs)}": text.partition("\n")[0] for page, text in texts.items() if use.search(text)
    }
    examples = (path for path in sorted(SYSTEMS.glob("*.yaml")) if use.search(path.read_text(encoding="utf-8")))
    found |= {f"../gallery/pictures.md#{path.stem}": path.stem for path in examples}
    return [f"[{heading.removeprefix('# ')}]({link})" for link, heading in found.items()]


def library_figures() -> dict[str, str]:
    """The schematic of each part, by the path of its file."""
    return {
        f"docs/images/library/{name}.svg": draw(read_model(LIBRARY / f"{name}.yaml"), "network").svg()
        for name in part_names()
    }


def pictures_page() -> str:
    """All built-in examples: what each looks like, and the commands that go on from it."""
    parts = [
        _made_from("src/tellegen/systems"),
        "# All examples in pictures",
        "Each is a file that comes with the package: give its name to any command, as in `tellegen simulate rlc`.",
    ]
    for name, model in _examples():
        lines = [
            sentence(model.about),
            "",
            f"![{name}](../images/examples/{name}.svg)",
            "",
            f"`tellegen report {name} -o {name}.html`",
        ]
        parts.append("\n".join([f"## {name}", "", *lines]))
    parts += ["## Machines of the gallery", "Each has its file on its page."]
    for page in sorted((ROOT / "docs/gallery").glob("*.md")):
        parts += _pictures_of(page) if page.stem not in ("pictures", "papers", "numbers") else []
    return "\n\n".join(parts) + "\n"


def _pictures_of(page: Path) -> list[str]:
    """The heading of a page with a machine of its own, and its first picture."""
    text = page.read_text(encoding="utf-8")
    picture = re.search(r"^!\[.*\]\(\.\./images/.*\)$", text, re.MULTILINE)
    if picture is None or "```yaml " not in text:
        return []
    return [f"### [{text.partition(chr(10))[0].removeprefix('# ')}]({page.name})", picture[0]]


def example_figures() -> dict[str, str]:
    """Each built-in example as a mechanism where it is one, else as a schematic."""
    found = {}
    for name, model in _examples():
        kind = "network" if model.geometry is None and model.mechanism is None else "mechanism"
        found[f"docs/images/examples/{name}.svg"] = draw(model, kind).svg()
    return found


def _examples() -> Iterator[tuple[str, Model]]:
    for path in sorted(SYSTEMS.glob("*.yaml")):
        yield path.stem, read_model(path)


def _described_parameters(lines: Iterable[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """The lines of `parameters:` with their comments."""
    inside = False
    for line in lines:
        inside = line == "parameters:" or (inside and line.startswith("  "))
        if inside and line.startswith("  "):
            key, _, rest = line.strip().partition(": ")
            value, _, note = rest.partition("#")
            yield key, (value.strip(), note.strip())


def _made_from(source: str) -> str:
    return f"<!-- Made from {source} by `make docs`. Edit that, not this page. -->"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table without the columns in which nothing stands."""
    head, body = list(head), [list(row) for row in rows]
    used = [k for k in range(len(head)) if not body or any(row[k] for row in body)]
    lines = [[line[k] for k in used] for line in (head, ["---"] * len(head), *body)]
    return "\n".join(" ".join(["|", *(f"{text} |" if text else "|" for text in line)]) for line in lines)


def cell(text: str) -> str:
    """A text that fits into a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def code(text: str) -> str:
    """The text as code, nothing for nothing."""
    return f"`{text}`" if text else ""


# -- Files -----------------------------------------------------------------------------------------------------------------------


def pages() -> dict[str, str]:
    """Every generated page by its path from the root."""
    made = {"docs/reference/elements.md": elements_page()}
    made["docs/reference/domains.md"] = domains_page()
    made["docs/reference/signals.md"] = signals_page()
    made["docs/reference/formulas.md"] = formulas_page(_made_from("src/tellegen/expressions/functions.py"))
    made["docs/reference/units.md"] = units_page(_made_from("src/tellegen/core/units.py"))
    made["docs/reference/imported.md"] = imported_page(_made_from("src/tellegen/importing"), table)
    made["docs/reference/library.md"] = library_page()
    made |= library_figures()
    made["docs/gallery/pictures.md"] = pictures_page()
    made |= example_figures()
    made["docs/reference/commands.md"] = commands_page()
    made["docs/reference/python.md"] = python_page()
    made["docs/decisions/index.md"] = decisions_page((ROOT / "docs/decisions").glob("[0-9]*.md"))
    for page in (ROOT / "docs/tutorials").glob("*.md"):
        made[f"docs/notebooks/{page.stem}.ipynb"] = notebook(page)
    return made


def differences(made: dict[str, str]) -> list[str]:
    """The paths whose file is missing, differs, or should not be there."""
    folders = ("docs/notebooks/*", "docs/images/library/*", "docs/images/examples/*")
    there = {str(p.relative_to(ROOT)) for folder in folders for p in ROOT.glob(folder)}
    wrong = {path for path, text in made.items() if _text_at(path) != text}
    return sorted(wrong | (there - made.keys()))


def _text_at(path: str) -> str | None:
    file = ROOT / path
    return file.read_text(encoding="utf-8") if file.is_file() else None


def main() -> int:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description="Write the pages that are made from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page differs from the code")
    check = parser.parse_args().check
    made = pages()
    changed = differences(made)
    if check:
        for path in changed:
            print(f"{path} differs from the code: run 'make docs'")
        return 1 if changed else 0
    for path in changed:
        if path in made:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(made[path], encoding="utf-8")
        else:
            (ROOT / path).unlink()
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
