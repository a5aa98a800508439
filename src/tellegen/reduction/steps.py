"""The reduction step by step: the six steps of the procedure for full and reduced POG models (corking machine, section 5.2),
and its pictures on the POG scheme.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.causality import assign_causality
from tellegen.core.errors import TellegenError
from tellegen.core.language import Language, Phrases
from tellegen.core.names import listing
from tellegen.equations.matrices import Matrix, negative
from tellegen.equations.printing.explanation import ExplanationSection, Item, NamedFormula, Sentence, ShownMatrix, Sign
from tellegen.equations.steps import Explanation
from tellegen.equations.system import EquationSystem
from tellegen.expressions import Expression
from tellegen.expressions.elimination import used_names
from tellegen.graph import lower
from tellegen.model.model import Model
from tellegen.reduction.limited import ModelAtLimits, model_at_limits
from tellegen.reduction.reduction import Glossary, Reduction
from tellegen.schemes import PogScheme, ReductionPictures, pog, reduction_pictures
from tellegen.schemes.algebra.reduction_pictures import cut_pictures, frozen_pictures


@final
@dataclass(frozen=True)
class SchemePictures:
    """The pictures of each element that goes, one after the other; `why_not` tells where the scheme cannot show the rest.

    The scheme of one reduction is the first picture of the next one, so that `simplified` is the scheme of the reduced model.
    `notes` tell what was done to the scheme before.
    """

    stages: tuple[ReductionPictures, ...]
    why_not: str = ""
    notes: tuple[str, ...] = ()

    @property
    def simplified(self) -> PogScheme | None:
        """The last scheme; None where no element could be taken out."""
        return self.stages[-1].simplified if self.stages else None

    def __str__(self) -> str:
        lines = [f"{stage.element}:\n{stage}" for stage in self.stages]
        return "\n".join([*self.notes, *lines, *([self.why_not] if self.why_not else [])])


def scheme_pictures(reduction: Reduction) -> SchemePictures:
    """How a reduction looks on the scheme of the full model: links that are cut, storages that freeze, then what vanishes.

    A field that loses rank is split first into what vanishes and what is left. `why_not` says where a law admits no inverse.
    """
    graph = reduction.causal.graph
    # Made again from the original: pictures show elements, and the reduction itself keeps equations only.
    limited = model_at_limits(reduction.original, graph, reduction.limits)
    known = {port.element for port in graph.ports}
    # Names that the model does not have come from fields that were split.
    split = [name for name in (*limited.vanishing, *limited.frozen) if name not in known]
    model = _split_model(reduction, limited) if split else reduction.original
    notes = (f"{', '.join(split)} first stand beside what is left of their field",) if split else ()
    scheme = pog(assign_causality(lower(model)) if split else reduction.causal, derivative=True)
    stages: list[ReductionPictures] = []
    # Cut first, since a link that is gone opens loops; freeze before what vanishes, whose loop may lead through the frozen storage.
    for name in (*_cut(reduction, limited), *limited.frozen, *limited.vanishing):
        try:
            if name in limited.frozen:
                found = frozen_pictures(scheme, name)
            elif name in limited.vanishing:
                found = reduction_pictures(scheme, name, zero=limited.vanishing[name])
            else:
                model = _with_coupling(model, limited, name)
                found = cut_pictures(scheme, name, pog(assign_causality(lower(model)), derivative=True))
        # The equations are reduced in any case: a picture that cannot be drawn is said, not raised.
        except TellegenError as reason:
            why_not = f"{name} is taken out of the equations only: {reason.what}"
            return SchemePictures(tuple(stages), why_not, notes)
        stages.append(found)
        # Each picture starts where the last one ended, as on a blackboard.
        scheme = found.simplified
    return SchemePictures(tuple(stages), notes=notes)


def _cut(reduction: Reduction, limited: ModelAtLimits) -> list[str]:
    """The couplings of which a modulus vanishes."""
    before = {e.name: e for e in reduction.original.elements}
    couplings = [e for e in limited.model.elements if e.kind.role == "coupling" and e.name in before]
    return [e.name for e in couplings if e != before[e.name]]


def _with_coupling(model: Model, limited: ModelAtLimits, name: str) -> Model:
    at_limit = next(e for e in limited.model.elements if e.name == name)
    return replace(model, elements=tuple(at_limit if e.name == name else e for e in model.elements))


def _split_model(reduction: Reduction, limited: ModelAtLimits) -> Model:
    """The model whose fields are split, in which nothing has gone yet."""
    before = {e.name: e for e in reduction.original.elements}
    inside = {m for f in limited.model.fields for m in f.members}
    elements = tuple(e if e.name in inside else before.get(e.name, e) for e in limited.model.elements)
    return replace(limited.model, elements=elements)


def reduction_steps(reduction: Reduction, *, sign: Sign = "-", language: Language = "en") -> Explanation:
    """How the reduced equations follow from the full ones, as a teacher would write it in a language."""
    return _ReductionSteps(reduction, sign, Phrases(language)).derivation()


class _ReductionSteps:
    def __init__(self, reduction: Reduction, sign: Sign, phrases: Phrases) -> None:
        self.reduction = reduction
        self.sign, self.phrases = sign, phrases
        self.full, self.small = reduction.full, reduction.equations
        shared = {**self.small.where, **reduction.where}
        variables = (*self.full.states, *self.full.inputs, *self.full.outputs, *self.full.displacements)
        self.glossary = Glossary([*variables, *self.full.parameters], shared)

    def derivation(self) -> Explanation:
        told = {
            "title_ports": self._sections(),
            "title_limits": self._elements(),
            "title_full": self._full(),
            "title_static": self._relations(),
            "title_transformation": self._transformation(),
            "title_reduced": self._small(),
        }
        sections = tuple(ExplanationSection(self._say(title), tuple(items)) for title, items in told.items())
        small = self.small
        where = {**small.where, **self.reduction.where, **self.glossary.where}
        shown = [e for section in sections for item in section.items for e in _formulas(item)]
        # Only names that are shown are explained: a mesh has hundreds of others.
        needed = used_names(shown, where)
        return Explanation(
            self.full.name,
            self.sign,
            small.states,
            small.inputs,
            small.outputs,
            self.full.parameters,
            sections=sections,
            where={name: e for name, e in where.items() if name in needed},
            symbols=self.full.symbols,
            language=self.phrases.language,
        )

    def _say(self, key: str, **parts: object) -> str:
        return self.phrases(f"reduce.{key}", **parts)

    def _told(self, key: str, names: Sequence[str]) -> Sentence:
        """A sentence about one name or several."""
        return Sentence(self._say(f"{key}_many" if len(names) > 1 else f"{key}_one", names=_names(names)))

    def _sections(self) -> Iterator[Item]:
        yield Sentence(self._say("ports"))
        for u, y in zip(self.full.inputs, self.full.outputs, strict=True):
            yield Sentence(self._say("port", input=u, output=y), listed=True)

    def _elements(self) -> Iterator[Item]:
        yield Sentence(self._say("limits"))
        for limit in self.reduction.limits:
            value = self._say("infinity") if limit.to is None else limit.value
            yield Sentence(self._say("limit", name=limit.name, value=value), listed=True)

    def _full(self) -> Iterator[Item]:
        yield Sentence(self._say("full_states", names=_names(self.full.states)))
        yield from self._matrices(self.full, ("L", "A", "B"))

    def _relations(self) -> Iterator[Item]:
        gone = [name for name in self.reduction.full_states if name not in self.small.states]
        # Two sorts of relations: those without rates define what is gone, those with rates only carry the constraint.
        static = [
            name for name in gone if name in self.reduction.recovered and not self.reduction.follows_from_rates(name)
        ]
        others = [name for name in gone if name in self.reduction.recovered and self.reduction.follows_from_rates(name)]
        if static:
            yield Sentence(self._say("static"))
            for name in static:
                yield NamedFormula(name, self.reduction.recovered[name])
        if others:
            yield self._told("carry", others)
        frozen = [name for name in gone if name in self.small.inputs]
        if frozen:
            yield self._told("frozen", frozen)

    def _transformation(self) -> Iterator[Item]:
        states, inputs = self.small.states, self.small.inputs
        yield Sentence(self._say("states_left", names=_names(states)) if states else self._say("no_states_left"))
        if states:
            yield ShownMatrix("T", self.reduction.transformation)
        if inputs and any(str(e) != "0" for row in self.reduction.input_transformation for e in row):
            yield ShownMatrix("T_u", self.reduction.input_transformation)

    def _small(self) -> Iterator[Item]:
        yield from self._matrices_left()
        yield from self._pictures()

    def _pictures(self) -> Iterator[Item]:
        """The same on the scheme: the loop, the inverted loop, the simplified scheme."""
        pictures = scheme_pictures(self.reduction)
        english = self.phrases.language == "en"
        # The notes of findings are English; other languages tell in their own words what happens.
        for note in pictures.notes if english else ():
            yield Sentence(f"On the scheme {note}.")
        for stage in pictures.stages:
            yield Sentence(self._say("scheme", element=stage.element))
            for letter, account in zip("abc", stage.accounts if english else self._accounts(stage), strict=True):
                yield Sentence(f"{letter}) {account}", listed=True)
        if pictures.why_not:
            yield Sentence(f"On the scheme: {pictures.why_not}." if english else self._say("equations_only"))

    def _accounts(self, stage: ReductionPictures) -> tuple[str, str, str]:
        """The loop, whether it is inverted, and what goes."""
        loop = self._say("loop", names=_names(stage.loop)) if stage.loop else self._say("no_loop")
        return loop, self._say("inverted" if stage.loop else "not_inverted"), self._say("left", element=stage.element)

    def _matrices_left(self) -> Iterator[Item]:
        if not self.small.states:
            yield Sentence(self._say("static_left_rates" if self._has("D_1") else "static_left"))
            yield from self._matrices(
                self.small, tuple(name for name in ("D", "D_1") if name == "D" or self._has(name))
            )
            return
        yield Sentence(self._say("congruence"))
        further = [name for name in ("N", "B_1", "D", "D_1") if self._has(name)]
        yield from self._matrices(self.small, ("L", "A", "B", "C", *further))
        poles = self.reduction.account
        if poles.removed_poles:
            yield Sentence(self._say("poles", poles=", ".join(f"{p:.4g}" for p in poles.removed_poles)))

    def _has(self, name: str) -> bool:
        return not self.small.is_zero(name)  # type: ignore[arg-type]

    def _matrices(self, system: EquationSystem, names: tuple[str, ...]) -> Iterator[Item]:
        for name in names:
            rows: Matrix = system.matrices[name]  # type: ignore[index]
            written = tuple(tuple(self.glossary.written(e, system.where) for e in row) for row in rows)
            if written and written[0]:
                yield ShownMatrix(name, negative(written) if name == "A" and self.sign == "+" else written)


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) if names else listing(names)


def _formulas(item: Item) -> list[Expression]:
    if isinstance(item, NamedFormula):
        return [item.value]
    return [e for row in item.rows for e in row] if isinstance(item, ShownMatrix) else []
