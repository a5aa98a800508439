"""The rules that a model of 20-sim keeps; examples here are such files."""

from tellegen.core.errors import Rulebook


def _component(name: str, library: str, port: str, equations: str) -> str:
    word = "knot" if "Junction" in library else "type"
    kind = library.rpartition("\\")[2]
    return (
        f"   {name} 0 0\n    description '<LibraryPath>{library}.emx</LibraryPath>';\n    {word} {kind}\n     ports\n      {port}\n"
        f"    end;\n    implementation eq\n{equations}\nimplementation_end;\n"
    )


def model_text(components: str, connections: str) -> str:
    """A file of 20-sim around components and connections."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<Document><Model version="5.1"><Sidops><![CDATA[model 0 0\n type Mainmodel\n end;\n'
        f" implementation bg\n  submodels\n{components}  end;\n  connections\n{connections}  end;\n implementation_end;\n"
        "]]></Sidops></Model></Document>\n"
    )


def _loop(law: str = "p.e = r * p.f;", bond: str = "J\\p => R\\p;", port: str = "electric in p;") -> str:
    return model_text(
        _component("S", "Bond Graph\\Se", "power out p;", "parameters\n\treal effort = 12;\nequations\n\tp.e = effort;")
        + _component("R", "Bond Graph\\R", port, f"parameters\n\treal r = 2;\nequations\n\t{law}")
        + _component(
            "J",
            "Bond Graph\\OneJunction",
            "power knot duplicatable none p [1];",
            "equations\n\tsum (direct (p.e)) = 0;",
        ),
        f"   S\\p => J\\p;\n   {bond}\n",
    )


RULES = Rulebook("D", _loop())

NOT_READ = RULES.rule(
    "D322",
    "submodel of 20-sim that is not read",
    meaning="A submodel has matrices, code, a library of another program, or equations that are no law of its ports.",
    why="bond-graph elements, their laws and signal formulas have counterparts here; programs have none",
    example=_loop(law="p.e = dll('motor.dll', 'step', p.f);"),
)
WRONG_FILE = RULES.rule(
    "D323",
    "file of 20-sim that makes no sense",
    meaning="The file is no XML of 20-sim 4 or 5, its text ends too early, or a connection leads to nothing.",
    why="a model of 20-sim is a text of submodels and connections inside an XML file",
    example=_loop(bond="J\\p => Q\\p;"),
)
NO_DOMAIN = RULES.rule(
    "D324",
    "power port without a domain",
    meaning="Ports of the type 'power' are joined to nothing that says whether they are electrical, mechanical or hydraulic.",
    why="effort and flow have units, and a model of several domains must know where each one is",
    example=_loop(port="power in p;"),
)
