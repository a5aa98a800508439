"""The port-Hamiltonian form as plain text."""

from collections.abc import Iterable, Mapping, Sequence

from tellegen.equations.hamiltonian_display import Group, Share, energy_functions, hamiltonian_output, hamiltonian_state
from tellegen.equations.readable_forms import (
    HamiltonianForm,
)
from tellegen.equations.text_blocks import (
    MOST_STATES,
    Block,
    beside,
    bracketed,
    fitting_groups,
    text_of_block,
    vector_block,
    word_block,
)
from tellegen.equations.text_rows import (
    NO_UNITS,
    WIDTH,
    append_term,
    indented,
    joining_sign,
    lists_of_names,
    named_block,
    parameters_to_text,
    rates_block,
    signals_block,
    wrapped,
)
from tellegen.expressions import Add, to_text, total

MULTIPLIER_NOTE = "these sources decide outputs of storages: E is singular, and they supply what keeps 0 = u - v"


def hamiltonian_to_text(
    form: HamiltonianForm, *, width: int = WIDTH, unicode: bool = True, units: Mapping[str, str] = NO_UNITS
) -> str:
    """The port-Hamiltonian form with matrices in brackets, then names, energy and what the names stand for."""
    left, right = hamiltonian_state(form)
    reading = hamiltonian_output(form)
    rates = [f"{name}'" for name in form.states]
    parts = [form.name, indented(_hamiltonian_letters(form, left, right, reading))]
    if form.states:
        parts.append(_grouped(left, right, rates, width, unicode))
    if form.outputs:
        parts.append(_grouped((), reading, form.outputs, width, unicode))
    parts.append(lists_of_names(form, units))
    if form.multipliers:
        parts.append(wrapped(f"multipliers  {', '.join(form.multipliers)}  ({MULTIPLIER_NOTE})", width, ""))
    for name, note, e in energy_functions(form):
        written = f"{name} = {'no closed form' if e is None else to_text(e)}"
        parts.append(wrapped(f"{written}   ({note})" if note else written, width, ""))
    parts.append(named_block("energy variables", form.energy_variables, width))
    parts.append(rates_block(form.displacements, width))
    if form.algebraic.unknowns:
        parts.append(f"unknowns  {', '.join(form.algebraic.unknowns)}")
        parts.append("\n".join(wrapped(f"0 = {to_text(e)}", width, "") for e in form.algebraic.residuals))
    parts.append(signals_block(form.signals, width))
    parts.append(named_block("where", form.where, width))
    parts.append(parameters_to_text(form.parameters, form.values(), units))
    return "\n\n".join(part for part in parts if part) + "\n"


def _hamiltonian_letters(
    form: HamiltonianForm, left: Sequence[Group], right: Sequence[Group], reading: Sequence[Group]
) -> str:
    written = []
    if form.states:
        rates = _group_letters(left) or "x'"
        written.append(f"{rates} = {_group_letters(right)}")
    if form.outputs:
        letters = _group_letters(reading).replace("(g^T + P^T)", "(g + P)^T")
        written.append(f"y = {letters}")
    return ",   ".join(written)


def _group_letters(groups: Iterable[Group]) -> str:
    text = ""
    for group in groups:
        inner = ""
        for share in group.shares:
            inner += joining_sign(inner, share.negative) + share.matrix
        inner = f"({inner})" if len(group.shares) > 1 or inner.startswith("-") else inner
        factor = f" {group.vector}" + ("'" if group.dotted else "") if group.vector else ""
        text += joining_sign(text, group.negative) + inner + factor
    return text


def _grouped(left: Sequence[Group], right: Sequence[Group], names: Sequence[str], width: int, unicode: bool) -> str:
    """Like `equation_text`, for sums of matrices in parentheses; `names` stand left where no matrix does."""
    groups = [*left, *right]
    if max(len(names), *(len(group.factors) for group in groups)) <= MOST_STATES:
        head = _group_blocks(left, unicode) if left else [vector_block(names, unicode)]
        whole = beside([*head, word_block(" = "), *_group_blocks(right, unicode)])
        if whole.width + 2 <= width:
            return indented(text_of_block(whole))
        shares = [share for group in groups for share in group.shares if not share.matrix.endswith("^T")]
        single = [beside([word_block(f"{s.matrix} = "), _share(s, unicode)]) for s in shares]
        vectors = [group for group in groups if group.vector == "grad_H" and shares and shares[0].matrix in {"J", "E"}]
        single += [beside([word_block("grad_H = "), _cells(vectors[0], unicode)])] if vectors else []
        if all(block.width + 2 <= width for block in single):
            return indented("\n\n".join(text_of_block(beside(group)) for group in fitting_groups(single, width - 2)))
    return "\n".join(_group_rows(left, right, names, width))


def _group_blocks(groups: Iterable[Group], unicode: bool) -> list[Block]:
    blocks: list[Block] = []
    for group in groups:
        sign = ("-" if group.negative else "") if not blocks else (" - " if group.negative else " + ")
        many = len(group.shares) > 1 or (group.shares[0].negative and bool(group.vector))
        blocks += [word_block(sign + ("(" if many else ""))] if sign or many else []
        for k, share in enumerate(group.shares):
            joint = joining_sign("before" if k else "", share.negative)
            blocks += [word_block(joint)] if joint else []
            blocks.append(_share(share, unicode))
        blocks += [word_block(")")] if many else []
        blocks += [word_block(" "), _cells(group, unicode)] if group.vector else []
    return blocks


def _share(share: Share, unicode: bool) -> Block:
    return bracketed([[to_text(e) for e in row] for row in share.rows], unicode)


def _cells(group: Group, unicode: bool) -> Block:
    return vector_block([to_text(e) + ("'" if group.dotted else "") for e in group.factors], unicode)


def _group_rows(left: Sequence[Group], right: Sequence[Group], names: Sequence[str], width: int) -> Iterable[str]:
    for k, name in enumerate(names):
        head = _group_row(left, k) if left else name
        yield wrapped(f"{head} = {_group_row(right, k)}", width)


def _group_row(groups: Iterable[Group], k: int) -> str:
    text = ""
    for group in groups:
        if not group.vector:
            text = append_term(text, group.shares[0].rows[k][0], "", group.negative)
            continue
        for j, factor in enumerate(group.factors):
            entry = total(-s.rows[k][j] if s.negative else s.rows[k][j] for s in group.shares)
            written = to_text(factor) + ("'" if group.dotted else "")
            written = f"({written})" if isinstance(factor, Add) else written
            text = append_term(text, entry, written, group.negative)
    return text or "0"
