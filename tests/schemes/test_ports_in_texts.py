"""Ports of a system that is written in another notation: none is lost without a word."""

import pytest

from tellegen import bond_graph, derive, pog
from tellegen.core.errors import GraphError, TellegenError
from tellegen.equations.system import EquationSystem
from tellegen.notations.reading import read_model
from tellegen.schemes import bond_graph_text, ladder_text

WINCH = """
system: Winch
ports: {shaft: s, hook: x}
parameters: {r: 0.1 m, J: 0.02 kg*m^2, b: 0.05 N*m*s, m: 3 kg}
network:
  tau:  {torque source: [frame, s]}
  J:    {inertia: [s]}
  b:    {friction: [s]}
  drum: {wheel: [s, x], r: r}
  m:    {mass: [x]}
"""
WHOLE = """
system: Two winches
parts:
  one: {use: winch.yaml, ports: {hook: x}}
  two: {use: winch.yaml, ports: {hook: y}}
network:
  k: {spring: [x, y], K: 100 N/m}
"""


@pytest.mark.parametrize("writer", ["ladder", "bond graph"])
def test_a_port_at_a_node_becomes_one_at_an_element(writer: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    model = read_model(WINCH)
    text = (
        ladder_text(pog(model), model=model) if writer == "ladder" else bond_graph_text(bond_graph(model), model=model)
    )
    again = read_model(text)
    assert set(again.ports) == {"shaft", "hook"}
    records = []
    for k, winch in enumerate((WINCH, text)):
        folder = tmp_path_factory.mktemp(f"whole{k}")
        (folder / "winch.yaml").write_text(winch)
        (folder / "whole.yaml").write_text(WHOLE)
        found = derive(str(folder / "whole.yaml"))
        assert isinstance(found, EquationSystem)
        records.append((set(found.states), sorted(map(str, (e for row in found.matrices["L"] for e in row)))))
    assert records[0] == records[1]


def test_a_port_at_no_element_is_refused_with_a_way_out() -> None:
    text = WINCH.replace("  m:    {mass: [x]}\n", "").replace("m: 3 kg", "k: 10 N/m")
    model = read_model(text + "  k:    {spring: [x, y], K: k}\n  F:    {force source: [frame, y]}\n")
    with pytest.raises(GraphError) as caught:
        ladder_text(pog(model), model=model)
    finding = caught.value.finding
    assert finding.code == "G240"
    assert finding.what.startswith("the port 'hook' is at 'x'")
    assert finding.fix == "put a force source there and write 'hook: {source: ...}'"


@pytest.mark.parametrize(
    ("port", "what", "fix"),
    [
        ("{at: mm}", "the port 'hook' is at 'mm', which is no element", "did you mean 'm'?"),
        ("{at: drum}", "the port 'hook' is at 'drum', which is between more nodes", "between two nodes"),
        ("{at: m, source: tau}", "'source' is not a key of the port 'hook'", ""),
    ],
)
def test_a_slip_in_a_port_at_an_element_is_named(port: str, what: str, fix: str) -> None:
    with pytest.raises(TellegenError) as caught:
        read_model(WINCH.replace("hook: x", f"hook: {port}"))
    assert caught.value.finding.what == what
    assert fix in caught.value.finding.fix
