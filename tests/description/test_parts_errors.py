"""What a wrong part is told: where it should be, how its ports and parameters are called, what does not fit."""

from pathlib import Path

import pytest

from tellegen.core.errors import DescriptionError, Finding
from tellegen.description import Network, read_model
from tellegen.description.parts.shelf import MOST_LEVELS

COIL = """\
system: Coil
ports: {ends: [a, b], foot: f}
signal ports: {inputs: [u], outputs: [i]}
parameters: {L: 2 mH, R: 3 ohm, ports: 1}
signals: {u: 1 V}
network:
  L: {inductor: [a, m], current: i}
  R: {resistor: [m, b]}
  K: {spring: [f], K: 1 N/m}
  m: {mass: [f], m: 1 kg}
"""
WHOLE = """\
system: Whole
parameters: {R_1: 7 ohm, T: 1 s}
parts:
  left: {use: coil.yaml, ports: {ends: [p, q]}}
network:
  V: {voltage source: [p, gnd]}
  C: {capacitor: [q, gnd], C: 1 mF}
  M: {mass: [x], m: 1 kg}
"""


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder / "whole.yaml"


def findings(folder: Path, whole: str, **files: str) -> tuple[Finding, ...]:
    with pytest.raises(DescriptionError) as caught:
        read_model(write(folder, whole=whole, **{"coil": COIL, **files}))
    return caught.value.findings


def line(text: str) -> str:
    return WHOLE.replace("{use: coil.yaml, ports: {ends: [p, q]}}", text)


ENDS = "ports: {ends: [p, q]}"
WRONG_LINES = [
    ("{use: coyl.yaml}", "D600", "the part 'coyl.yaml' cannot be read: there is no such file", "did you mean 'coil.yaml'?"),
    ("{use: dc_motor.yaml}", "D600", "there is no such file", "write 'use: dc_motor' for the part of the library"),
    ("{use: coil}", "D600", "the library has no part 'coil'", "write 'coil.yaml' for the file beside the model"),
    ("{use: dc_moter}", "D600", "the library has no part 'dc_moter'", "did you mean 'dc_motor'?"),
    ("{use: whole.yaml}", "D601", "'whole.yaml' is a part of itself", "use another file, or leave the part out"),
    ("{use: ../coil.yaml}", "D602", "the part '../coil.yaml' lies outside the folder of the model", "put the file beside"),
    ("{use: sub/../../coil.yaml}", "D602", "lies outside the folder", "put the file beside"),
    ("{use: /etc/coil.yaml}", "D602", "lies outside the folder", "put the file beside"),
    ("{use: 'C:\\coil.yaml'}", "D602", "lies outside the folder", "put the file beside"),
    ("{use: 'sub\\coil.yaml'}", "D602", "lies outside the folder", "put the file beside"),
    ("{use: sub/coil.txt}", "D614", "'sub/coil.txt' is no model file, so it cannot be a part", "ends in .yaml"),
    ("{ports: {ends: p}}", "D614", "the part left does not say what it uses", "add 'use: motor.yaml'"),
    ("{use: coil.yaml, ports: {end: p}}", "D605", "the part left (Coil) has no port 'end'", "did you mean 'ends'?"),
    ("{use: coil.yaml, ports: {z: p}}", "D605", "has no port 'z'", "its ports are 'ends', 'foot'"),
    ("{use: coil.yaml, signals: {v: 1 V}, " + ENDS + "}", "D605", "no signal input 'v'", "its inputs are 'u'"),
    (
        "{use: coil.yaml, ports: {ends: [p, x]}}",
        "D606",
        "the port 'ends' of left is electrical, and the node 'x' is translational: the mass M is there",
        "join it to a electrical node",
    ),
    ("{use: coil.yaml, ports: {ends: [p, frame]}}", "D606", "'frame' is the reference of another domain", "'gnd'"),
    ("{use: coil.yaml, ports: {ends: {source: V}, foot: q}}", "D606", "'q' is electrical: the capacitor C is there", ""),
    ("{use: coil.yaml, ports: {ends: [p, q, r]}}", "D607", "the port 'ends' of left is joined to 3 nodes", "give one node"),
    ("{use: coil.yaml, ports: {ends: []}}", "D607", "is joined to 0 nodes", "give one node, or two"),
    (
        "{use: coil.yaml, ports: {foot: [x, y], ends: p}}",
        "D607",
        "the port 'foot' of left is joined to 'y' where it stands against 'frame'",
        "to let the part float, offer two nodes of its own, such as 'foot: [a, b]'",
    ),
    ("{use: coil.yaml, K_t: 2, " + ENDS + "}", "D609", "'K_t' is no parameter of the part left (Coil)", "its parameters are 'L', 'R'"),
    ("{use: coil.yaml, port: {}}", "D609", "'port' is no parameter of the part left", "did you mean 'ports'?"),
    ("{use: coil.yaml, R: 1 ohm, parameters: {R: 2 ohm}}", "D610", "'R' of the part left is set twice", "keep one"),
    ("{use: coil.yaml, ports: {ends: {source: W}}}", "D613", "names 'W', which is no element", "the sources are 'V'"),
    ("{use: coil.yaml, ports: {ends: {source: C}}}", "D613", "names 'C', which is not a source", "the sources are 'V'"),
    ("{use: coil.yaml, ports: {ends: [p, p]}}", "D113", "", "") if False else (
        "{use: coil.yaml, R: 2 V, " + ENDS + "}", "D120", "'R' of the part left is in V, not in ohm", "give it in ohm",
    ),
    ("{use: coil.yaml, R: T*R_1, " + ENDS + "}", "D120", "'R' of the part left is in", "give it in ohm"),
    ("{use: coil.yaml, R: R_2, " + ENDS + "}", "D124", "'R' of the part left uses 'R_2', which is not a parameter", "did you mean 'R_1'?"),
    ("{use: coil.yaml, R: 3*, " + ENDS + "}", "D001", "", ""),
    ("{use: coil.yaml, R: -3 ohm, L: 0 H, " + ENDS + "}", "D162", "the inductance of left.L is 0", ""),
    ("{use: coil.yaml, signals: {u: R_1}, " + ENDS + "}", "D504", "", ""),
    ("{use: coil.yaml, signals: {u: nobody}, " + ENDS + "}", "D502", "'nobody'", ""),
]


@pytest.mark.parametrize(("text", "code", "what", "fix"), WRONG_LINES, ids=[f"{row[1]} {row[0]}" for row in WRONG_LINES])
def test_a_wrong_line_is_told_what_fits(tmp_path: Path, text: str, code: str, what: str, fix: str) -> None:
    found = findings(tmp_path, line(text))
    assert len(found) == 1, "\n".join(map(str, found))
    assert found[0].code == code, str(found[0])
    assert what in found[0].what
    assert fix in found[0].fix
    assert found[0].place is not None
    assert found[0].place.file.endswith(("whole.yaml", "coil.yaml"))
