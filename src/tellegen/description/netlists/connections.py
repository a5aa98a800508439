"""What only connection blocks (`CB` lines) say: pairs such as `[3; 4]`, and relations such as `F2=K_m*F1`."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from tellegen.description.files import clip
from tellegen.description.netlists import rules
from tellegen.description.netlists.findings import Findings
from tellegen.description.netlists.labels import LabelReader
from tellegen.description.netlists.lines import Label, Relation
from tellegen.elements import CouplingType

RELATION_FORM = "write a relation such as F2=K_m*F1: a variable E or F of each side, a name or a number between"

_RELATION = re.compile(r"([EF])([12]) ?= ?(.*?) ?\* ?([EF])([12])")
_CONNECTIONS: Mapping[str, tuple[CouplingType, bool]] = MappingProxyType(
    {
        "F2F1": ("transformer", False),
        "E1E2": ("transformer", False),
        "F1F2": ("transformer", True),
        "E2E1": ("transformer", True),
        "F2E1": ("gyrator", False),
        "F1E2": ("gyrator", False),
        "E1F2": ("gyrator", True),
        "E2F1": ("gyrator", True),
    }
)
"""The two variables of a relation: the coupling, and whether its modulus is the reciprocal one."""


def read_pair(findings: Findings, line: int, field: int, text: str) -> tuple[str, str]:
    """The two texts of `[first; second]`."""
    parts = [part.strip() for part in text[1:-1].split(";")]
    if text[:1] != "[" or text[-1:] != "]" or len(parts) != 2:
        what = f"'{clip(text)}' is not a pair"
        raise findings.refuse(rules.BAD_PAIR, what, line, field, fix="write one for each side in brackets: [3; 4]")
    return parts[0], parts[1]


def read_relation(labels: LabelReader, line: int, field: int, text: str) -> Relation:
    """The relation that a text after Kn states."""
    match = _RELATION.fullmatch(" ".join(text.split()))
    findings = labels.findings
    if match is None:
        what = f"'{clip(text)}' is not the relation of a connection block"
        raise findings.refuse(rules.BAD_RELATION, what, line, field, fix=RELATION_FORM)
    left, left_side, modulus, right, right_side = match.groups()
    found = _CONNECTIONS.get(f"{left}{left_side}{right}{right_side}")
    if found is None:
        what = f"'{clip(text)}' relates two variables of side {left_side}"
        raise findings.refuse(rules.BAD_RELATION, what, line, field, fix=RELATION_FORM)
    if modulus.startswith("-"):
        fix = "write the modulus without its minus and exchange the two points of one side: [2; b], [0; 3]"
        raise findings.refuse(rules.BAD_RELATION, f"the modulus of '{clip(text)}' has a minus", line, field, fix=fix)
    return Relation(*found, _modulus(labels, line, field, modulus))


def _modulus(labels: LabelReader, line: int, field: int, text: str) -> Label:
    """A name, `name=value`, or a number: then the label has no name."""
    if text[:1].isdecimal() or text[:1] in ("(", ".") or (text.endswith(")") and "=" not in text):
        expression, size = labels.value(line, field, text)
        return Label("", expression, size, field)
    label = labels.label(line, field, text)
    if not label.name:
        what = "the relation has no modulus"
        raise labels.findings.refuse(rules.BAD_RELATION, what, line, field, fix=RELATION_FORM)
    return label
