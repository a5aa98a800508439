"""The ports of one part, joined to nodes of the whole."""

from collections import Counter
from collections.abc import Iterator
from typing import final

from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar
from tellegen.description.indexing import Copy
from tellegen.description.keys import with_article
from tellegen.description.model import Model, Port
from tellegen.description.parts import rules
from tellegen.description.parts.joints import Joints
from tellegen.description.parts.ports import find_source
from tellegen.description.parts.repeated_ports import PortEntry, port_entries

Ends = dict[str, tuple[str, str]]
"""The two nodes of the whole that each port is joined to."""


@final
class PortsOfPart:
    """What the line of a part, or of one copy of it, says under `ports`."""

    def __init__(self, joints: Joints, name: str, indices: tuple[str, ...], copy: Copy) -> None:
        self.context: Context = joints.context
        self.joints = joints
        self.name = name
        self.indices = indices
        self.copy = copy

    def read(self, model: Model, node: Node | None, key: Scalar) -> Ends:
        """The ends of every port that is joined; `key` is the name of the part."""
        found: Ends = {}
        for entry in self._entries(node):
            port = model.ports.get(entry.name)
            if port is None:
                raise self._unknown(model, entry)
            who = f"the port '{port.name}' of {self.name}"
            found[port.name] = nodes = self._nodes(port, entry, who)
            for outer in nodes:
                self.joints.join(outer, port.domain, who, entry.value)
        if node is not None:
            self._check_shared(model, found, node)
        self._warn_of_open(model, found, key)
        return found

    def _entries(self, node: Node | None) -> Iterator[PortEntry]:
        subject = f"the ports of {self.name}"
        return iter(()) if node is None else port_entries(self.context, node, subject, self.indices, self.copy)

    def _unknown(self, model: Model, entry: PortEntry) -> TellegenError:
        ports = model.ports
        fix = did_you_mean(entry.name, ports)
        if not fix:
            offer = f"offer some in its file: 'ports: {{{entry.name}: node}}'"
            fix = f"its ports are {listing(ports, 12)}" if ports else offer
        what = f"the part {self.name} ({model.name}) has no port '{entry.name}'"
        return self.context.error(rules.UNKNOWN_PORT, entry.key, what, fix=fix, where=self.name)

    def _nodes(self, port: Port, entry: PortEntry, who: str) -> tuple[str, str]:
        context, reference, value = self.context, DOMAINS[port.domain].reference, entry.value
        if isinstance(value, Mapping):
            source = find_source(context, value, who)
            if source.kind.domain.name != port.domain:
                what = f"{who} is {port.domain}, and the source '{source.name}' is {source.kind.domain.name}"
                fix = f"name {with_article(port.domain)} source"
                raise context.error(rules.WRONG_PORT_DOMAIN, value, what, fix=fix, where=self.name)
            return self._ends(port, self.joints.take_source(self.name, source, value), value, who)
        texts = context.texts(value, f"the nodes of {who}")
        if not 1 <= len(texts) <= 2:
            what = f"{who} is joined to {len(texts)} nodes"
            fix = f"give one node, or two; the second is '{reference}' where it is left out"
            raise context.error(rules.WRONG_PORT_NODES, value, what, fix=fix, where=self.name)
        names = [entry.node(context, text) for text in texts]
        for text, name in zip(texts, names, strict=True):
            if "." in name and (part := self.joints.is_inside(name)):
                ports = self.joints.parts[part].model.ports
                what = f"{who} is joined to '{name}', inside the part {part}"
                fix = f"join both to a node: the ports of {part} are {listing(ports, 12)}"
                raise context.error(rules.INSIDE_A_PART, text, what, fix=fix, where=self.name)
        return self._ends(port, (names[0], names[1] if len(names) == 2 else reference), value, who)

    def _ends(self, port: Port, nodes: tuple[str, str], value: Node, who: str) -> tuple[str, str]:
        for inner, outer in zip(port.nodes, nodes, strict=True):
            if inner in REFERENCES and outer != inner:
                what = f"{who} is joined to '{outer}' where it stands against '{inner}'"
                fix = f"give one node; to let the part float, offer two nodes of its own, such as '{port.name}: [a, b]'"
                raise self.context.error(rules.WRONG_PORT_NODES, value, what, fix=fix, where=self.name)
        return nodes

    def _check_shared(self, model: Model, found: Ends, node: Node) -> None:
        """A node that two ports share is one node outside as well."""
        outer_of: dict[str, tuple[str, str]] = {}
        for name, nodes in found.items():
            for inner, outer in zip(model.ports[name].nodes, nodes, strict=True):
                there, by = outer_of.setdefault(inner, (outer, name))
                if there != outer:
                    share = f"the ports '{by}' and '{name}' of {self.name} share the node '{inner}'"
                    what = f"{share}, and are joined to '{there}' and '{outer}'"
                    fix = "join both to one node"
                    raise self.context.error(rules.WRONG_PORT_NODES, node, what, fix=fix, where=self.name)

    def _warn_of_open(self, model: Model, joined: Ends, key: Scalar) -> None:
        open_ports = [port for name, port in model.ports.items() if name not in joined and not port.source]
        if not open_ports:
            return
        ends = Counter(node for element in model.elements for node in element.nodes)
        taken = {inner for name in joined for inner in model.ports[name].nodes}
        for port in open_ports:
            if any(ends[node] == 1 and node not in taken and node not in REFERENCES for node in port.nodes):
                what = f"the port '{port.name}' of {self.name} is open"
                fix = f"add 'ports: {{{port.name}: node}}' to its line"
                finding = rules.OPEN_PORT.finding(what, where=self.name, fix=fix, place=self.context.place(key))
                self.context.notes.append(finding)
