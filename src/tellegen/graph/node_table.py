"""The nodes of a network while it is lowered: one number for each name, in one domain."""

from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.core.errors import Finding
from tellegen.core.names import listing
from tellegen.description.model import Element
from tellegen.elements import KINDS
from tellegen.graph import rules


class NodeTable:
    """Numbers nodes in order of first use and watches over their domains."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.domains: list[str] = []
        self.first_user: list[str] = []
        self.findings: list[Finding] = []
        self._number: dict[str | tuple[str, str], int] = {}

    def terminals_of(self, element: Element) -> tuple[int, ...]:
        """The numbers of the nodes that an element joins."""
        domains = element.kind.domains
        if len(domains) == 1:
            domain = domains[0]
            return tuple([self._node(name, domain, element) for name in element.nodes])
        return tuple([self._node(name, domains[k // 2], element) for k, name in enumerate(element.nodes)])

    def _node(self, name: str, domain: str, element: Element) -> int:
        # Two domains may share the word of their reference (frame), never the node.
        key = (domain, name) if name in REFERENCES else name
        number = self._number.get(key)
        if number is None:
            if name in REFERENCES and name != DOMAINS[domain].reference:
                self.findings.append(_wrong_reference(name, domain, element))
            number = self._number[key] = len(self.names)
            self.names.append(name)
            self.domains.append(domain)
            self.first_user.append(element.name)
        elif self.domains[number] != domain:
            self.findings.append(self._mixed(number, domain, element))
        return number

    def _mixed(self, node: int, domain: str, element: Element) -> Finding:
        mine, theirs = DOMAINS[domain], DOMAINS[self.domains[node]]
        couplings = _couplings_between(mine.name, theirs.name)
        what = (
            f"node '{self.names[node]}' is {theirs.name} for '{self.first_user[node]}' and {mine.name} for '{element.name}' "
            f"({element.kind.name})"
        )
        fix = f"join the domains through a coupling ({couplings}), or use an element of the {theirs.name} domain"
        return rules.MIXED_DOMAINS.finding(
            what, where=element.name, fix=fix, place=element.place, members=[element.name]
        )


def _wrong_reference(name: str, domain: str, element: Element) -> Finding:
    right = DOMAINS[domain].reference
    what = f"'{element.name}' ({element.kind.name}) is {domain}, but '{name}' is the reference of another domain"
    return rules.WRONG_REFERENCE.finding(
        what, where=element.name, fix=f"write '{right}'", place=element.place, members=[element.name]
    )


def _couplings_between(one: str, two: str) -> str:
    names = {kind.name for kind in KINDS.values() if kind.role == "coupling" and set(kind.domains) == {one, two}}
    return listing(sorted(names)) if names else "'connection'"
