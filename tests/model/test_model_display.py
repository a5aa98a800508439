"""A model shows itself: as text, and as a table in a notebook."""

import tellegen as tg


def test_text_names_every_element() -> None:
    text = str(tg.load("dc_motor_pump"))
    assert text.splitlines()[0] == "DC motor driving a hydraulic pump"
    assert "  V_a: voltage source [a, gnd]" in text


def test_notebooks_show_a_table() -> None:
    shown = tg.load("dc_motor_pump")._repr_markdown_()
    assert "**DC motor driving a hydraulic pump**" in shown
    assert "| L_a | inductor | a, b | `L_a` |" in shown


def test_long_models_are_cut() -> None:
    net = tg.Network("ladder")
    for k in range(60):
        net.resistor(f"R_{k}", f"n_{k}", f"n_{k + 1}", R="1 ohm")
    assert str(net.model()).endswith("and 20 more")
