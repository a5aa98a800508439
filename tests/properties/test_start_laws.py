"""A model that is made of another one starts where that starts; where a limit forbids it, the jump and its energy are told."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import tellegen as tg
from support.no_compiler import no_compiler
from support.started import FRICTION, Group, Member, Train, start_of, trains
from tellegen.conditioning import FORMS
from tellegen.core.errors import ConditioningError
from tellegen.exporting.diagram_building import block_diagram
from tellegen.exporting.firmware.source import c_files
from tellegen.exporting.fmu.description import description_xml
from tellegen.exporting.fmu.unit import exchanged_unit
from tellegen.exporting.modelica.package import Shape, modelica_files
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture(scope="module")
def interpreted() -> Iterator[None]:
    """Every model here is another program, and runs for one instant: compilers would take most of the time."""
    with no_compiler():
        yield


def agree(model: object, train: Train, what: str) -> None:
    found, wanted = start_of(model), train.truth()  # type: ignore[arg-type]
    told = {name: found[name] for name in wanted if name in found}
    assert told == pytest.approx({name: wanted[name] for name in told}, rel=1e-6, abs=1e-9), what


FEW = settings(max_examples=settings().max_examples // 8)
"""Each example is a dozen programs."""


@FEW
@given(trains())
def test_forms_start_where_the_model_starts(train: Train) -> None:
    model = train.model()
    agree(model, train, "the model")
    for form in FORMS:
        try:
            made = tg.condition(model, form, stiffness=1e5 if form == "parasitic" else None)
        except ConditioningError:
            continue
        agree(made, train, form)


@FEW
@given(trains())
def test_other_notations_and_exports_start_where_the_model_starts(train: Train) -> None:
    model = train.model()
    for notation in ("network", "bond", "pog"):
        agree(read_model(tg.translate(model, notation)), train, notation)
    exported = {i.name: i.initial for i in block_diagram(model).integrators}
    wanted = {name: value for name, value in train.truth().items() if name in exported}
    assert {name: exported[name] for name in wanted} == pytest.approx(wanted, rel=1e-6, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=8)
@given(trains())
def test_files_for_other_programs_start_where_the_model_starts(train: Train) -> None:
    """Functions, units and live pages, firmware, and Modelica as a network and as equations."""
    model, wanted = train.model(), train.truth()

    def begins(found: Mapping[str, float]) -> None:
        told = {name: found[name] for name in wanted if name in found}
        assert told
        assert told == pytest.approx({name: wanted[name] for name in told}, rel=1e-6, abs=1e-9)

    functions = tg.functions(model, sources="experiment")
    names = functions.names
    shown = functions.outputs(0.0, functions.start, functions.inputs, functions.parameters)
    begun = dict(zip([*names.states, *names.outputs], [*functions.start, *shown], strict=True))
    assert wanted.keys() <= begun.keys()
    begins(begun)
    description = description_xml(exchanged_unit(model, "3", "open", ()), "3", "unit", "")
    begins({name: float(value) for name, value in re.findall(r'name="(\w+)"[^>]* start="([^"]+)"', description)})
    (values,) = re.findall(r"tg_first_y\[\] = \{([^}]*)\}", c_files(model, "train", step=1e-3)["train.c"])
    begins(dict(zip(names.states, map(float, values.split(",")), strict=True)))
    for shape in get_args(Shape):
        (text,) = modelica_files(model, "train", shape=shape).values()
        begins(modelica_starts(text, wanted))


def modelica_starts(text: str, names: Iterable[str]) -> dict[str, float]:
    """What a package says of the start of variables, and of the outputs of components."""
    found = {name: float(value) for name, value in re.findall(r"Real (\w+)\([^)]*start=\(?([-+.\de]+)", text)}
    for element, value in re.findall(r"(\w+)\([^;]*?\bv\(start=\(?([-+.\de]+)", text):
        found |= {name: float(value) for name in names if name.endswith(f"_{element}")}
    return found


@FEW
@given(trains())
def test_stiffened_models_start_where_the_model_starts(train: Train) -> None:
    model = train.model()
    full = start_of(model)
    for member in (m for group in train.groups for m in group.members if len(group.members) > 1):
        stiffened = tg.stiffen(model, member.name, value=1e3).model
        for made in (stiffened, read_model(to_yaml(stiffened))):
            agree(made, train, member.name)
            found = start_of(made)
            # Nothing rings: what is made elastic carries from the first instant what it carried while it was rigid.
            told = {name: full[name] for name in full if name in found}
            assert {n: found[n] for n in told} == pytest.approx(told, rel=1e-5, abs=1e-6), member.name


def at_limit(train: Train, limit: str) -> tuple[dict[str, float], float]:
    """The outputs after a limit, and the energy that is left: momentum is kept, and what has no inertia goes with what moves it."""
    groups = train.groups
    if limit == "k1":
        joined = sum(g.inertia * g.speed for g in groups) / sum(g.inertia for g in groups)
        after = [replace(g, speed=joined) for g in groups]
    else:
        after = [replace(g, members=tuple(m for m in g.members if m.name != limit)) for g in groups]
        at_rest = (train.torque / FRICTION, 0.0)  # no spring is loaded yet: friction alone holds the torque
        after = [g if g.members else replace(g, speed=at_rest[k]) for k, g in enumerate(after)]
    return Train(tuple(after)).truth(), sum(g.energy for g in after)


TURNING_TOGETHER = Train(
    tuple(
        Group((Member(name, inertia, 1.0, follows=True),), 0.25, (0,), in_experiment=False)
        for name, inertia in (("J00", 0.375), ("J10", 0.125))
    )
)
"""No speed jumps where the shaft between the two becomes rigid, and yet its torque does."""


@FEW
@given(trains(), st.sampled_from(("k1", "J00", "J10", "J11")))
@example(TURNING_TOGETHER, "k1")
def test_reductions_start_where_the_model_starts_or_tell_the_jump(train: Train, limit: str) -> None:
    assume(limit == "k1" or limit in train.text())
    train = train.without_choice()  # what is left at the limit may ask another storage to follow
    model = train.model()
    found = tg.reduce(model, {limit: math.inf if limit == "k1" else 0})
    wanted, energy = at_limit(train, limit)
    for made in (found, read_model(to_yaml(found.model))):
        told = start_of(made)
        known = {name: value for name, value in wanted.items() if name in told}
        assert {name: told[name] for name in known} == pytest.approx(known, rel=1e-6, abs=1e-9)
    before = sum(g.energy for g in train.groups)
    jumped = any(g.speed and wanted_speed(g, wanted) != pytest.approx(g.speed) for g in train.groups)
    said = " ".join(f.what for f in found.findings if f.code == "T203")
    energies = re.search(r"; (\S+) J of (\S+) J are lost", said)
    assert bool(energies) == jumped, said
    assert jumped or not said or "; no energy is lost" in said
    if energies is not None:
        assert float(energies[1]) == pytest.approx(before - energy, rel=1e-4)
        assert float(energies[2]) == pytest.approx(before, rel=1e-4)


def wanted_speed(group: Group, outputs: dict[str, float]) -> float:
    """The speed of a group by the outputs of its members that are left; with none left, nothing says that it stays."""
    return next((outputs[m.output] / m.ratio for m in group.members if m.output in outputs), math.nan)
