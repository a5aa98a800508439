"""What people call an element, who have not seen the list of kinds yet."""

from tellegen.core.names import did_you_mean, listing
from tellegen.elements.kinds import KINDS, kind_names

KINDS_BY_WORD = {
    "battery": ("voltage source",),
    "bearing": ("friction",),
    "body": ("mass", "inertia"),
    "capacity": ("capacitor", "heat capacity", "accumulator"),
    "dashpot": ("damper",),
    "flywheel": ("inertia",),
    "generator": ("dc machine", "voltage source"),
    "insulation": ("thermal resistor",),
    "load": ("resistor", "mass", "inertia"),
    "motor": ("dc machine", "hydraulic motor", "linear motor"),
    "orifice": ("restriction",),
    "pipe": ("hydraulic resistor", "fluid inertia"),
    "rotor": ("inertia",),
    "shaft": ("torsion spring", "inertia"),
    "supply": ("voltage source", "pressure source"),
    "tank": ("accumulator",),
    "valve": ("restriction", "on-off valve", "check valve"),
}
"""Words that name several kinds at once, or one that is spelt otherwise."""

ADVICE = {
    "ground": "a reference is a node, not an element: write 'gnd' (or 'frame', 'tank', 'ambient') among the nodes of elements",
    "use": "a system used as an element stands under 'parts:', beside 'network:'",
    "wire": "elements with a node in common are joined: give both the same node",
}
"""Words for what is described in another way."""


def kind_advice(word: str, further: tuple[str, ...] = ()) -> str:
    """What to do about a word that is no kind of element; `further` are words that may stand there too."""
    plain = word.lower()
    if plain in ADVICE:
        return ADVICE[plain]
    if plain in KINDS_BY_WORD:
        return f"{'one of' if len(KINDS_BY_WORD[plain]) > 1 else 'the kind is'} {listing(KINDS_BY_WORD[plain])}"
    known = (*KINDS, *further)
    containing = [kind for kind in known if plain in kind.split()]
    if containing:
        return f"did you mean {listing(containing)}?"
    return did_you_mean(word, known) or f"the kinds are {listing([*kind_names(), *further], 60)}"
