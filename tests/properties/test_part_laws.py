"""Any part of any network may be put into a file of its own: the equations stay the same."""

import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st

from support.evaluated import Evaluated, legal
from support.networks import Network, Part, equations
from support.strategies import networks
from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.elements import KINDS
from tellegen.model.model import Model, SystemPort
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

POINT = Fraction(3, 7)


def domains_of(parts: Iterable[Part]) -> dict[str, str]:
    """The domain of every node but the references."""
    return {
        node: KINDS[part.kind].domains[k // 2]
        for part in parts
        for k, node in enumerate(part.nodes)
        if node not in REFERENCES
    }


def split(network: Network, inside: set[str], folder: Path) -> Model:
    """The network with some of its elements in a part, read from two files."""
    within = network.with_parts(part for part in network.parts if part.name in inside)
    beside = network.with_parts(part for part in network.parts if part.name not in inside)
    there, here = domains_of(within.parts), domains_of(beside.parts)
    shared = [node for node in there if node in here]
    ports = {
        f"port_{node}": SystemPort(f"port_{node}", there[node], (node, DOMAINS[there[node]].reference))
        for node in shared
    }
    described = within.model()
    (folder / "part.yaml").write_text(
        to_yaml(Model("Part", described.elements, described.parameters, ports=ports)), encoding="utf-8"
    )
    joined = ", ".join(f"port_{node}: {node}" for node in shared)
    line = f"parts: {{p: {{use: part.yaml, ports: {{{joined}}}}}}}\n"
    (folder / "whole.yaml").write_text(to_yaml(beside.model()) + line, encoding="utf-8")
    return read_model(folder / "whole.yaml")


def as_in_files(network: Network) -> Network:
    """The network with its masses against the frame, as a file has them; what then hangs in the air is passed over."""
    parts = []
    for part in network.parts:
        kind = KINDS[part.kind]
        moving = [node for node in part.nodes if node not in REFERENCES]
        nodes = (moving[0], kind.domain.reference) if kind.grounded else part.nodes
        parts.append(
            replace(part, nodes=nodes, parameter=part.name)
        )  # parameters in files have units: each element its own
    ends = Counter(node for part in parts for node in part.nodes if node not in REFERENCES)
    assume(all(count > 1 for count in ends.values()))
    assume({node for part in network.parts for node in part.nodes} <= ends.keys() | REFERENCES)
    return network.with_parts(parts)


@given(networks(grounded=True).map(as_in_files), st.data())
def test_elements_in_a_part_have_the_equations_of_elements_beside_each_other(
    network: Network, data: st.DataObject
) -> None:
    names = [part.name for part in network.parts]
    inside = set(data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True)))
    plain = legal(network)
    with tempfile.TemporaryDirectory() as folder:
        whole = split(network, inside, Path(folder))
    assert len(whole.elements) == len(network.parts)
    values = {**network.values, **{f"p.{name}": value for name, value in network.values.items()}}
    joined = Evaluated(equations(whole), values)
    assert {name.removeprefix("p.") for name in joined.system.inputs} == set(plain.system.inputs)
    assert len(joined.system.states) == len(plain.system.states)
    order = [[name.removeprefix("p.") for name in joined.system.inputs].index(name) for name in plain.system.inputs]
    expected, found = plain.transfer_matrix(POINT), joined.transfer_matrix(POINT)
    assume(expected is not None)
    assert expected is not None
    assert found is not None
    assert [[found[i][j] for j in order] for i in order] == expected
