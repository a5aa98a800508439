"""`modelDescription.xml`, in the words of FMI 2.0 and of FMI 3.0.

Value references are the same in both: the time, then states, rates, inputs, parameters, those given by others, observables,
modes and event functions, each in the order of the code.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, final
from xml.sax.saxutils import quoteattr

from tellegen.compiler.code import dependences
from tellegen.core.names import unused
from tellegen.core.units import Dimension, parse_unit
from tellegen.exporting.exchanged import Exchanged, ExchangedVariable, Role

Version = Literal["2", "3"]

DISPLAY_UNITS: Mapping[str, tuple[tuple[str, float, float], ...]] = {
    "rad": (("deg", 180.0 / math.pi, 0.0),),
    "rad/s": (("rpm", 30.0 / math.pi, 0.0),),
    "Pa": (("bar", 1e-5, 0.0),),
    "K": (("degC", 1.0, -273.15),),
}
"""What a unit is shown in: the name, and factor and offset from the unit to it."""

ROLES: Mapping[str, Role] = {"y": "state", "u": "input"}
"""Of the letters by which the code calls its leaves."""

STEPS = 5000
"""Steps of an importer that is given none."""


@final
@dataclass(frozen=True)
class References:
    """Where the value references of each role begin."""

    made: Exchanged

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many there are of each role, whether or not they are described, in the order of references."""
        code = self.made.code
        program = code.program
        return {
            "time": 1,
            "state": len(self.made.states),
            "rate": len(self.made.states),
            "input": len(program.inputs),
            "parameter": len(code.base),
            "given parameter": len(program.formulas),
            "observable": len(program.observables),
            "event": event_count(self.made),
            "mode": len(self.made.elements),
        }

    def first(self, role: Role | Literal["time", "event", "mode"]) -> int:
        """The reference of the first of a role."""
        names = list(self.counts)
        return sum(self.counts[name] for name in names[: names.index(role)])

    def of(self, variable: ExchangedVariable) -> int:
        """The reference of a variable."""
        return self.first(variable.role) + variable.place


def event_count(made: Exchanged) -> int:
    """How many event functions there are in the mode that has most."""
    codes = [mode.code for mode in made.modes if mode.code is not None]
    return max(len(code.program.events) for code in codes) + len(made.code.program.signals.crossings)


def _attributes(**given: object) -> str:
    """Attributes of an element; those that are None are left out."""
    return "".join(f" {key}={quoteattr(_text(value))}" for key, value in given.items() if value is not None)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def description_xml(made: Exchanged, version: Version, name: str, token: str, *, model_exchange: bool = True) -> str:
    """The description of a unit whose files are called `name`."""
    return _Description(made, version, name, token, model_exchange).xml()


@final
class _Description:
    def __init__(self, made: Exchanged, version: Version, name: str, token: str, model_exchange: bool) -> None:
        self.made, self.version, self.name, self.token = made, version, name, token
        self.model_exchange = model_exchange
        self.references = References(made)
        self.is_3 = version == "3"
        self.time = unused("time", {v.name for v in made.variables})

    def xml(self) -> str:
        made = self.made
        events = self.references.counts["event"]
        token = {"instantiationToken": self.token} if self.is_3 else {"guid": self.token}
        head = _attributes(
            fmiVersion="3.0" if self.is_3 else "2.0",
            modelName=made.name,
            **token,
            generationTool="Tellegen",
            variableNamingConvention="structured",
            # FMI 3 counts its event indicators in the structure.
            numberOfEventIndicators=None if self.is_3 else events,
        )
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<fmiModelDescription{head}>"]
        lines += self._interfaces()
        lines += self._units()
        setup = made.setup
        experiment = _attributes(
            startTime=0.0,
            stopTime=float(setup.until),
            tolerance=setup.model.experiment.rtol or 1e-6,
            stepSize=float(setup.until) / STEPS,
        )
        lines.append(f"  <DefaultExperiment{experiment}/>")
        lines += ["  <ModelVariables>", *self._variables(), "  </ModelVariables>"]
        lines += ["  <ModelStructure>", *self._structure(), "  </ModelStructure>", "</fmiModelDescription>", ""]
        return "\n".join(lines)

    def _interfaces(self) -> Iterator[str]:
        word = "State" if self.is_3 else "state"
        state = {f"canGetAndSetFMU{word}": True, f"canSerializeFMU{word}": True} if self.model_exchange else {}
        slopes = "providesDirectionalDerivatives" if self.is_3 else "providesDirectionalDerivative"
        both = {"modelIdentifier": self.name, **state, slopes: True if self.model_exchange else None}
        if self.model_exchange:
            yield self._interface("ModelExchange", both)
        yield self._interface("CoSimulation", {**both, "canHandleVariableCommunicationStepSize": True})

    def _interface(self, word: str, given: Mapping[str, object]) -> str:
        head = f"  <{word}{_attributes(**given)}"
        if self.is_3:  # which has a file beside the sources that tells how they are built
            return f"{head}/>"
        return f"{head}><SourceFiles><File name={quoteattr(self.name + '.c')}/></SourceFiles></{word}>"

    def _units(self) -> Iterator[str]:
        names = dict.fromkeys(v.unit for v in self.made.variables if whole_unit(v))
        if not names:
            return
        yield "  <UnitDefinitions>"
        for name in names:
            base = _attributes(**base_units(name, parse_unit(name).dimension))
            shown = "".join(
                f"<DisplayUnit{_attributes(name=other, factor=factor, offset=offset or None)}/>"
                for other, factor, offset in DISPLAY_UNITS.get(name, ())
            )
            yield f"    <Unit name={quoteattr(name)}><BaseUnit{base}/>{shown}</Unit>"
        yield "  </UnitDefinitions>"

    # -- variables -------------------------------------------------------------------------------------------------------------

    def _variables(self) -> Iterator[str]:
        yield self._element(self.time, 0, causality="independent", variability="continuous")
        for v in self.made.variables:
            yield self._variable(v)
        first = self.references.first("mode")
        for k, element in enumerate(self.made.elements):
            yield self._mode_variable(f"mode.{element}", first + k)
        if self.is_3:
            first = self.references.first("event")
            for k in range(self.references.counts["event"]):
                yield self._element(f"event_{k + 1}", first + k, causality="local", variability="continuous")

    def _variable(self, v: ExchangedVariable) -> str:
        given: dict[str, object] = {"unit": whole_unit(v)}
        if v.unit in DISPLAY_UNITS and v.role != "rate":
            given["displayUnit"] = DISPLAY_UNITS[v.unit][0][0]
        causality, variability, initial = "output" if v.is_output else "local", "continuous", "calculated"
        if v.role == "state":
            formula = self.made.start_formulas[v.place]
            given["nominal"] = v.nominal if v.nominal > 0.0 and math.isfinite(v.nominal) else None
            if not formula.free_symbols:
                initial, given["start"] = "exact", self.made.start[v.place]
        elif v.role == "rate":
            state = self.references.first("state") + v.place
            given["derivative"] = state if self.is_3 else state + 1
        elif v.role == "input":
            causality, initial, given["start"] = "input", "", v.start
        elif v.role == "parameter":
            causality, variability = "parameter", "fixed" if v.is_fixed else "tunable"
            initial, given["start"] = "exact", v.start
        elif v.role == "given parameter":
            causality, variability = "calculatedParameter", "tunable"
        reference = self.references.of(v)
        return self._element(
            v.name, reference, causality=causality, variability=variability, initial=initial or None, **given
        )

    def _mode_variable(self, name: str, reference: int) -> str:
        """The number of the mode of an element, in the order of its table."""
        given = {"name": name, "valueReference": reference, "causality": "local", "variability": "discrete"}
        if self.is_3:
            return f"    <Int32{_attributes(**given)}/>"
        return f"    <ScalarVariable{_attributes(**given, initial='calculated')}><Integer/></ScalarVariable>"

    def _element(self, name: str, reference: int, *, causality: str, variability: str, **given: object) -> str:
        initial = given.pop("initial", None)
        if self.is_3:
            if variability == "continuous":
                variability_said: str | None = None  # what FMI 3 takes a number for
            else:
                variability_said = variability
            # The same of initial values that are calculated.
            if initial == "calculated":
                initial = None
            said = _attributes(
                name=name,
                valueReference=reference,
                causality=causality if causality != "local" else None,
                variability=variability_said,
                initial=initial if causality != "parameter" else None,
                **given,
            )
            return f"    <Float64{said}/>"
        head = _attributes(
            name=name, valueReference=reference, causality=causality, variability=variability, initial=initial
        )
        return f"    <ScalarVariable{head}><Real{_attributes(**given)}/></ScalarVariable>"

    # -- structure -------------------------------------------------------------------------------------------------------------

    def _structure(self) -> Iterator[str]:
        made = self.made
        known = dependences(made.code) if len(made.modes) == 1 else None
        outputs = [v for v in made.variables if v.is_output]
        names = {v.role + str(v.place): self._index(k) for k, v in enumerate(made.variables, 1)}

        def depends(on: Sequence[tuple[Role, int]]) -> str:
            found = sorted(names[role + str(place)] for role, place in on)
            return " ".join(map(str, found))

        def line(word: str, v: ExchangedVariable, on: Sequence[tuple[Role, int]]) -> str:
            key = "valueReference" if self.is_3 else "index"
            given: dict[str, object] = {key: names[v.role + str(v.place)]}
            # With modes, all that is known is that everything may depend on everything.
            given |= {"dependencies": depends(on)} if known is not None else {}
            return f"<{word}{_attributes(**given)}/>"

        def of(v: ExchangedVariable) -> Sequence[tuple[Role, int]]:
            if v.role == "state":
                return (("state", v.place),)
            found = known[v.role != "rate"][v.place] if known is not None else ()
            return [(ROLES[word], place) for word, place in found]

        derived = list(made.by_role.get("rate", ()))
        computed = [v for v in made.by_role.get("state", ()) if made.start_formulas[v.place].free_symbols]
        # At the start everything may follow from parameters, too: all that is known is what others depend on then.
        given = made.by_role.get("given parameter", ())
        initial = [*(v for v in outputs if v.role == "observable"), *computed, *derived, *given]
        if self.is_3:
            yield from (f"    {line('Output', v, of(v))}" for v in outputs)
            yield from (f"    {line('ContinuousStateDerivative', v, of(v))}" for v in derived)
            yield from (
                f"    <InitialUnknown valueReference={quoteattr(str(self.references.of(v)))}/>" for v in initial
            )
            first = self.references.first("event")
            for k in range(self.references.counts["event"]):
                yield f"    <EventIndicator valueReference={quoteattr(str(first + k))}/>"
            return
        if outputs:
            yield "    <Outputs>"
            yield from (f"      {line('Unknown', v, of(v))}" for v in outputs)
            yield "    </Outputs>"
        if derived:
            yield "    <Derivatives>"
            yield from (f"      {line('Unknown', v, of(v))}" for v in derived)
            yield "    </Derivatives>"
        if initial:
            places = sorted(names[v.role + str(v.place)] for v in initial)
            yield "    <InitialUnknowns>"
            yield from (f'      <Unknown index="{place}"/>' for place in places)
            yield "    </InitialUnknowns>"

    def _index(self, k: int) -> int:
        """What the structure calls variable k of the list: FMI 2 counts lines, of which the first is the time."""
        return self.references.of(self.made.variables[k - 1]) if self.is_3 else k + 1


def whole_unit(variable: ExchangedVariable) -> str | None:
    """The unit where FMI can say it: its exponents are whole numbers."""
    unit = variable.unit
    if not unit:
        return None
    return unit if all(int(p) == p for p in parse_unit(unit).dimension) else None


def base_units(unit: str, dimension: Dimension) -> dict[str, object]:
    """The exponents that are not zero; angles have one of their own there."""
    found: dict[str, object] = {name: int(p) for name, p in dimension._asdict().items() if p}
    if unit in ("rad", "rad/s"):
        found["rad"] = 1
    return found
