"""The matrices that the example netlists of POG_Modeler lead to, in its sign: L x' = A x + B u, y = C x + D u.

POG_Modeler publishes no results for these files. The matrices follow from the sign rules of its manual: across is first
point minus second; through enters storages and resistive elements at the first point and leaves sources there; `Pin, 1`
turns the through variable of a source. Rows and columns are in the order of lines.

`turned` are the rows of C and D (from 0) that have the opposite sign in Tellegen, those of sources with `Pin, 1`:
outputs are counted there so that output times input is the power supplied. L, B and A (with `sign="+"`) are the same.
"""

from typing import NamedTuple

Matrix = tuple[tuple[str, ...], ...]


class Expectation(NamedTuple):
    """One example: the names of states and inputs, the diagonal of L, and the other matrices as texts."""

    states: tuple[str, ...]
    inputs: tuple[str, ...]
    L: tuple[str, ...]
    A: Matrix
    B: Matrix
    C: Matrix
    D: Matrix
    turned: tuple[int, ...] = ()


def _matrix(text: str) -> Matrix:
    """Rows parted by `;`, entries by blanks."""
    return tuple(tuple(row.split()) for row in text.split(";"))


EXPECTED: dict[str, Expectation] = {
    "example_1": Expectation(
        states=("V_2", "V_4", "I_L", "V_3"),
        inputs=("I_a", "I_b"),
        L=("C_1", "C_2", "L_3", "C_3"),
        A=_matrix("0 0 -1 0; 0 0 1 0; 1 -1 -R_a -1; 0 0 1 0"),
        B=_matrix("1 0; 0 0; 0 0; 0 -1"),
        C=_matrix("1 0 0 0; 0 0 0 1"),
        D=_matrix("0 0; 0 0"),
        turned=(1,),
    ),
    "example_2": Expectation(
        states=("I_1", "I_2", "V_3", "V_4"),
        inputs=("V_a", "I_b"),
        L=("L_1", "L_2", "C_3", "C_4"),
        A=_matrix("-R_a R_a 0 0; R_a -R_a -1 0; 0 1 -1/R_b 1/R_b; 0 0 1/R_b -1/R_b"),
        B=_matrix("1 0; 0 0; 0 0; 0 -1"),
        C=_matrix("1 0 0 0; 0 0 0 1"),
        D=_matrix("0 0; 0 0"),
        turned=(1,),
    ),
    "example_3": Expectation(
        states=("I_1", "V_2", "I_3", "V_4"),
        inputs=("V_a", "V_b"),
        L=("L_1", "C_2", "L_3", "C_4"),
        A=_matrix("0 -1 0 0; 1 0 -1 0; 0 1 -R_3 -1; 0 0 1 -1/R_4"),
        B=_matrix("1 0; 0 0; 0 0; 0 1/R_4"),
        C=_matrix("1 0 0 0; 0 0 0 -1/R_4"),
        D=_matrix("0 0; 0 1/R_4"),
    ),
    "example_4": Expectation(
        states=("V_1", "I_2", "V_3", "V_4"),
        inputs=("I_a", "V_b"),
        L=("C_1", "L_2", "C_3", "C_4"),
        A=_matrix("0 0 0 0; 0 -R_a -1 0; 0 1 -1/R_b 1/R_b; 0 0 1/R_b -1/R_b"),
        B=_matrix("1 0; R_a 0; 0 1/R_b; 0 -1/R_b"),
        C=_matrix("1 -R_a 0 0; 0 0 1/R_b -1/R_b"),
        D=_matrix("R_a 0; 0 -1/R_b"),
        turned=(1,),
    ),
    "example_6": Expectation(
        states=("I_1", "V_2", "I_3", "V_4"),
        inputs=("V_1", "I_4"),
        L=("L_1", "C_2", "L_3", "C_4"),
        A=_matrix("0 -1 0 -1; 1 -1/R_a 0 -1/R_a; 0 0 0 1; 1 -1/R_a -1 -1/R_a-1/R_b"),
        B=_matrix("1 0; 0 0; 0 0; 0 1"),
        C=_matrix("1 0 0 0; 0 0 0 1"),
        D=_matrix("0 0; 0 0"),
    ),
    "example_8": Expectation(
        states=("Q_1", "P_2", "Q_3", "P_4"),
        inputs=("P_0", "Q_b"),
        L=("L_1", "C_2", "L_3", "C_4"),
        A=_matrix("-R_1 -1 0 0; 1 -1/R_2 -1 0; 0 1 0 -1; 0 0 1 -1/R_4"),
        B=_matrix("1 0; 0 0; 0 0; 0 -1"),
        C=_matrix("1 0 0 0; 0 0 0 -1"),
        D=_matrix("0 0; 0 0"),
    ),
    "example_10": Expectation(
        states=("I_1", "I_2", "V_3", "V_4"),
        inputs=("V_a", "I_b"),
        L=("L_1", "L_2", "C_3", "C_4"),
        A=_matrix("-R_4 R_4 -1 -1; R_4 -R_4 1 1; 1 -1 0 0; 1 -1 0 0"),
        B=_matrix("1 0; 0 0; 0 0; 0 -1"),
        C=_matrix("1 0 0 0; 0 0 0 -1"),
        D=_matrix("0 0; 0 R_5"),
    ),
    "example_12": Expectation(
        states=("I_a", "w_1", "P_0", "Q_1"),
        inputs=("V_a", "P_b"),
        L=("L_a", "J_m", "K_0", "L_1"),
        A=_matrix("-R_a -K_m 0 0; K_m -b_m -K_p 0; 0 K_p -d_0-d_2 -1; 0 0 1 -1/d_3"),
        B=_matrix("1 0; 0 0; 0 d_2; 0 -1"),
        C=_matrix("1 0 0 0; 0 0 d_2 1"),
        D=_matrix("0 0; 0 -d_2"),
        turned=(1,),
    ),
}
