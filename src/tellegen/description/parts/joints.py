"""Where parts meet each other and the elements beside them: nodes of one domain, sources that parts replace, names inside."""

from typing import final

from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.core.names import listing
from tellegen.description.context import Context
from tellegen.description.document import Node
from tellegen.description.keys import with_article
from tellegen.description.model import Element, Part
from tellegen.description.parts import rules
from tellegen.description.parts.ports import ends_of, node_domains
from tellegen.description.parts.reads import formulas_of, source_variables


@final
class Joints:
    """What the parts of one system are joined to. `own` are the elements beside the parts, `taken` those sources whose place a
    part takes, with its name.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.parts: dict[str, Part] = {}
        self.own = dict(context.elements)
        self.taken: dict[str, str] = {}
        self._domains = {node: (domain, "") for node, domain in node_domains(self.own.values()).items()}

    def join(self, node: str, domain: str, who: str, at: Node) -> None:
        """Watch that what meets at a node is of one domain."""
        if node in REFERENCES:
            if node != DOMAINS[domain].reference:
                what = f"{who} is {domain}, and '{node}' is the reference of another domain"
                fix = f"join it to '{DOMAINS[domain].reference}' or to {with_article(domain)} node"
                raise self.context.error(rules.WRONG_PORT_DOMAIN, at, what, fix=fix)
            return
        there, by = self._domains.setdefault(node, (domain, who))
        if there != domain:
            holder = by or next(f"the {e.kind.name} {e.name}" for e in self.own.values() if node in e.nodes)
            what = f"{who} is {domain}, and the node '{node}' is {there}: {holder} is there"
            raise self.context.error(rules.WRONG_PORT_DOMAIN, at, what, fix=f"join it to {with_article(domain)} node")

    def take_source(self, part: str, source: Element, at: Node) -> tuple[str, str]:
        """The nodes of a source of the whole whose place a port takes."""
        if source.name in self.taken or source.name not in self.own:
            holder = self.taken.get(source.name, "")
            what = f"'{source.name}' is {f'replaced by {holder} already' if holder else 'inside another part'}"
            raise self.context.error(rules.WRONG_PORT_NODES, at, what, fix="join the port to nodes")
        self.taken[source.name] = part
        return ends_of(source)

    def is_inside(self, path: str) -> str:
        """The part that a dotted name leads into, or nothing."""
        head = path
        while "." in head:
            head = head.rpartition(".")[0]
            if head in self.parts:
                return head
        return ""

    def check_network(self) -> None:
        """The network beside the parts has its own names and nodes."""
        if not self.parts:
            return
        for name, element in self.own.items():
            if "." in name and (part := self.is_inside(name)):
                what = f"the element '{name}' has a name inside the part {part}"
                fix = f"change it in the file of {part}, or choose a name without dots"
                self.context.add_errors([rules.NAME_CLASH.finding(what, where=name, fix=fix, place=element.place)])
            for node in element.nodes:
                if "." in node and (part := self.is_inside(node)):
                    ports = self.parts[part].model.ports
                    what = f"the {element.kind.name} {name} is joined to '{node}', inside the part {part}"
                    fix = f"join a port of {part} to a node: its ports are {listing(ports, 12)}"
                    self.context.add_errors(
                        [rules.INSIDE_A_PART.finding(what, where=name, fix=fix, place=element.place)]
                    )
        gone = {n: (s, self.taken[s]) for s in self.taken for n in source_variables(self.own[s])}
        for name in sorted(gone.keys() & self._names_read_by_formulas()):
            source, part = gone[name]
            what = f"a formula reads '{name}' of the source '{source}', whose place the part {part} takes"
            fix = f"read a variable of {part}, or join the port to nodes"
            self.context.add_errors([rules.SOURCE_IS_READ.finding(what, fix=fix, place=self.own[source].place)])

    def _names_read_by_formulas(self) -> set[str]:
        context = self.context
        formulas = [*context.displacements.values(), *(driven.marked for driven in context.driven)]
        formulas += [f for s in context.signals.values() for f in formulas_of(s.settings.values())]
        return {name for formula in formulas for name in formula.free_symbols}
