"""The parts of a system: lines of `parts:`, repeated ones among them, whose contents join the elements of the whole."""

from collections.abc import Iterator
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.description import repetition_rules
from tellegen.description import rules as common_rules
from tellegen.description.context import MOST_NOTICES, Context
from tellegen.description.dimensions import UNKNOWN
from tellegen.description.document import Mapping, Node, Scalar
from tellegen.description.indexing import Copy, NotWholeError, not_whole
from tellegen.description.model import Part
from tellegen.description.parts import rules
from tellegen.description.parts.instances import Instance, instance_of, replaced_sources
from tellegen.description.parts.joints import Joints
from tellegen.description.parts.lines import PartLine
from tellegen.description.parts.names import check_names
from tellegen.description.parts.reads import names_read, source_variables
from tellegen.description.parts.shelf import MOST_PARTS, Shelf
from tellegen.description.quantities import Reading
from tellegen.description.repeating import MOST_ELEMENTS, Block, copies, read_ranges


@final
class PartsReader:
    """Reads `parts:` once the elements beside them are known, and adds what is in the parts to the model."""

    def __init__(self, context: Context, shelf: Shelf) -> None:
        self.context = context
        self.shelf = shelf
        self.joints = Joints(context)
        self.readings: dict[str, tuple[Reading, Scalar]] = {}  # bindings that decide the dimension of their parameter
        self._reported: set[int] = set()

    def read(self, node: Node, *, first: bool) -> None:
        """Add all parts; with `first`, their elements come before those of the network, as they do in the file."""
        context = self.context
        self._entries(context.mapping(node, "'parts'"), (), ())
        self.joints.check_network()
        for source in self.joints.taken:
            context.elements.pop(source, None)
        for name in [n for n, members in context.vectors.items() if not self.joints.taken.keys().isdisjoint(members)]:
            del context.vectors[name]
        if first:
            inside = {name: e for name, e in context.elements.items() if name not in self.joints.own}
            own = {name: e for name, e in context.elements.items() if name in self.joints.own}
            context.elements.clear()
            context.elements.update(inside | own)

    def _entries(self, mapping: Mapping, indices: tuple[str, ...], copy: Copy, broken: set[int] | None = None) -> None:
        # One error a line is enough: other copies would repeat it.
        failed: set[int] = set() if broken is None else broken
        for key, value in mapping.items():
            if id(key) in failed:
                continue
            try:
                if isinstance(value, Mapping) and "repeat" in value:
                    self._block(key, value, indices, copy)
                else:
                    self._part(PartLine(self.context, self.joints, key, value, indices, copy))
            except NotWholeError as problem:
                failed.add(id(key))
                shown = ", ".join(f"{index} = {n}" for index, n in zip(indices, copy, strict=True))
                self.context.collect(not_whole(self.context, key, problem, shown))
            except TellegenError as error:
                failed.add(id(key))
                self.context.broken.add(key.text)
                self.context.collect(error)

    def _block(self, key: Scalar, node: Mapping, outer: tuple[str, ...], copy: Copy) -> None:
        context = self.context
        context.check_keys(node, ("repeat", "parts"), f"the repeated parts {key.text}")
        ranges, indices = read_ranges(context, key, node, outer)
        inner = node.get("parts")
        if inner is None:
            what = f"the repeated block {key.text} has no parts"
            raise context.error(common_rules.MISSING_KEY, node, what, fix="add 'parts: {...}'")
        mapping, broken = context.mapping(inner, f"the parts of {key.text}"), set[int]()
        for each in self._copies(Block(key, indices, ranges, []), copy):
            self._entries(mapping, indices, each, broken)

    def _copies(self, block: Block, outer: Copy) -> Iterator[Copy]:
        try:
            yield from copies(self.context, block, block.ranges, outer)
        except TellegenError as error:
            if error.code != repetition_rules.TOO_MANY.code:
                raise
            raise rules.TOO_LARGE.error(error.what, fix=error.finding.fix, place=error.finding.place) from None

    # Joining

    def _part(self, line: PartLine) -> None:
        part = line.read(self.shelf)
        if part is not None:
            self.readings |= line.readings
            self._add(part, line.key)

    def _add(self, part: Part, key: Scalar) -> None:
        """Add what is in a part to the model."""
        context = self.context
        self._check_sources(part, key)
        made = instance_of(part)
        self._check_size(part, made, key)
        check_names(context, part.name, part.names.values(), key)
        self._check_names(part, made, key)
        self._check_shorts(part, made, key)
        context.elements.update(made.elements)
        context.parameters.update(made.parameters)
        context.displacements.update(made.displacements)
        context.fields.extend(made.fields)
        context.vectors.update(made.vectors)
        for name, definition in made.signals.items():
            context.signals[name] = definition
            context.signal_measures[name] = UNKNOWN if definition.dimension is None else definition.dimension
        self.joints.parts[part.name] = part
        self._note(part)

    def _check_size(self, part: Part, made: Instance, key: Scalar) -> None:
        shelf = self.shelf
        shelf.parts += 1 + shelf.inside(part.model)
        shelf.items += len(made.elements) + len(made.parameters) + len(made.signals)
        what = ""
        if shelf.parts > MOST_PARTS:
            what = f"there are more than {MOST_PARTS} parts, those inside parts counted"
        elif shelf.items > MOST_ELEMENTS:
            what = f"all parts together have more than {MOST_ELEMENTS} elements, parameters and signals"
        if what:
            raise self.context.error(rules.TOO_LARGE, key, what, fix="use fewer or smaller parts")

    def _check_names(self, part: Part, made: Instance, key: Scalar) -> None:
        """Nothing beside the part has a name that belongs inside."""
        context = self.context
        for word, inside, beside in (
            ("parameter", made.parameters, context.parameters),
            ("displacement", made.displacements, context.displacements),
            ("signal", made.signals, context.signals),
        ):
            if taken := sorted(inside.keys() & beside.keys()):
                own = taken[0].removeprefix(f"{part.name}.")
                what = f"the {word} '{taken[0]}' is described beside the part {part.name}, where it belongs"
                bind = f"write '{own}: ...' on the line of {part.name}"
                fix = bind if word == "parameter" else "choose a name without dots"
                raise context.error(rules.NAME_CLASH, key, what, fix=fix, where=part.name)

    def _check_shorts(self, part: Part, made: Instance, key: Scalar) -> None:
        if not part.ports:
            return
        for element in made.elements.values():
            ends = element.nodes
            at = next((one for one, two in zip(ends[::2], ends[1::2], strict=True) if one == two), None)
            if at is not None:
                what = f"both ends of the {element.kind.name} {element.name} are at '{at}' through the ports of {part.name}"
                fix = "join the ports to different nodes"
                raise self.context.error(common_rules.SHORTED, key, what, fix=fix, where=part.name)

    def _check_sources(self, part: Part, key: Scalar) -> None:
        """Nothing reads the variables of a source whose place is taken."""
        replaced = replaced_sources(part)
        if replaced:
            by_name = {e.name: e for e in part.model.elements if e.name in replaced}
            gone = {name: source for source, e in by_name.items() for name in source_variables(e)}
            if read := sorted(gone.keys() & names_read(part.model)):
                what = f"a formula in the part {part.name} reads '{read[0]}' of the source '{gone[read[0]]}', which a port replaces"
                fix = "read a variable of another element, or offer nodes as the port"
                raise self.context.error(rules.SOURCE_IS_READ, key, what, fix=fix, where=part.name)

    def _note(self, part: Part) -> None:
        """What reading the part by itself found, once; parameters that stay symbols, for each part."""
        context, model = self.context, part.model
        if id(model) not in self._reported:
            self._reported.add(id(model))
            again = (common_rules.NO_VALUE.code, common_rules.ACTIVE_ELEMENT.code)
            context.notes.extend(finding for finding in model.findings if finding.code not in again)
        for name, parameter in model.parameters.items():
            if parameter.expression is None and name not in part.bindings:
                context.without_value += 1
                if context.without_value <= MOST_NOTICES:
                    what = f"{part.name}.{name} has no value: it stays a symbol"
                    fix = f"add '{name}: ...' to the line of {part.name}"
                    finding = common_rules.NO_VALUE.finding(what, where=part.name, fix=fix, place=part.place)
                    context.notes.append(finding)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that were read."""
        return tuple(self.joints.parts.values())
