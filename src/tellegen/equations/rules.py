"""The rules of equations (codes E)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("E")

NOT_A_STATE = RULES.rule(
    "E101",
    "independent storage asked to follow",
    meaning="A storage was put into derivative causality although nothing but resistive elements decides its output.",
    why="its content is then free: it is a state, and the equations need it as one",
    example=(
        "system: denied\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 ohm}\n"
        "  C: {capacitor: [b, gnd], C: 1 F, causality: force through}\n"
    ),
    instead="system: granted\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 ohm}\n  C: {capacitor: [b, gnd], C: 1 F}\n",
)
DEPENDS_ON_OUTPUT_LAW = RULES.rule(
    "E102",
    "dependent storage beside a law solved for its output",
    meaning="A dependent storage follows a storage whose law gives the output of the energy variable.",
    why="the two contents add up to one, which needs both as functions of the shared output",
    example=(
        "system: mixed laws\nparameters: {a: 1, b: 1}\nnetwork:\n  I: {current source: [gnd, a]}\n  C_1: {capacitor: [a, gnd], law: v = a*q + b*q^3}\n"
        "  C_2: {capacitor: [a, gnd], C: 1 F}\n  R: {resistor: [a, gnd], R: 1 ohm}\n"
    ),
    instead=(
        "system: one kind of law\nparameters: {a: 1, b: 1}\nnetwork:\n  I: {current source: [gnd, a]}\n  C_1: {capacitor: [a, gnd], law: q = a*v + b*v^3}\n"
        "  C_2: {capacitor: [a, gnd], C: 1 F}\n  R: {resistor: [a, gnd], R: 1 ohm}\n"
    ),
)
SINGULAR_RESISTORS = RULES.rule(
    "E103",
    "resistive elements without a solution",
    meaning="The equations of resistive elements that decide each other have no unique solution.",
    why="a negative resistance can cancel the others exactly, and the matrix of a field may be singular in what storages and sources ask of it",
    example=(
        "system: cancelled\nparameters: {R: 1 ohm}\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R_1: {resistor: [a, b], R: R}\n"
        "  R_2: {resistor: [b, gnd], R: -R}\n"
    ),
    instead=(
        "system: solvable\nparameters: {R: 1 ohm}\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R_1: {resistor: [a, b], R: R}\n"
        "  R_2: {resistor: [b, gnd], R: R}\n"
    ),
)
NOT_LINEAR = RULES.rule(
    "E104",
    "form that only a linear model has",
    meaning="A transfer matrix, a numeric matrix form or a composition was asked of a model with nonlinear laws.",
    why="a nonlinear model has a transfer matrix only about an operating point",
)
NO_VALUE = RULES.rule(
    "E105",
    "parameter without a value",
    meaning="Numbers were asked for, but a parameter has none.",
    why="a symbol can be printed, not computed with",
)
NOT_COMPUTABLE = RULES.rule(
    "E110",
    "parameter that cannot be computed",
    meaning="With the values of others, a parameter has no finite value: a division by zero, say, or a logarithm of a negative number.",
    why="numbers are asked for, and no number stands for such a value",
)
NO_OPERATING_POINT = RULES.rule(
    "E106",
    "operating point that cannot be computed",
    meaning="The algebraic equations have no solution at the operating point, or a law is not defined there.",
    why="a linearisation is the tangent at a point of the model",
)
NO_HAMILTONIAN_FORM = RULES.rule(
    "E107",
    "no port-Hamiltonian form from matrices alone",
    meaning="The port-Hamiltonian form was asked of matrices that contain rates of inputs, and the model behind them is not at hand.",
    why="a source that decides the output of a storage supplies what the storage takes; only the model tells which storage that is",
)
CURVED_TRANSFORMATION = RULES.rule(
    "E108",
    "dependent storage behind a modulus without a known rate",
    meaning="A storage follows others through a transformer or gyrator whose modulus reads its own output, or an algebraic unknown.",
    why="what the storage takes is the derivative of its output, so the modulus is differentiated too; states, displacements and many signals have rates that the equations give, but a modulus that depends on what it gives is an equation to be solved at every instant",
    example=(
        "system: x\nparameters: {J_1: 1 kg*m^2, J_2: 1 kg*m^2, c: 1 s/rad}\nbond graph:\n  - Se:tau -> 1:a (omega, rotational)\n"
        "  - a -> I:J_1\n  - a -> MTF:n -> 1:b (w, rotational)\n  - b -> I:J_2\nelements: {n: {K: 1 + c*(omega + w)}}\n"
    ),
    instead=(
        "system: x\nparameters: {J_1: 1 kg*m^2, J_2: 1 kg*m^2, c: 1 s/rad}\nbond graph:\n  - Se:tau -> 1:a (omega, rotational)\n"
        "  - a -> I:J_1\n  - a -> MTF:n -> 1:b (w, rotational)\n  - b -> I:J_2\nelements: {n: {K: 1 + c*omega}}\n"
    ),
)
NO_SIGNAL_RATE = RULES.rule(
    "E120",
    "signal without a known rate",
    meaning="A dependent storage follows others through a modulus that reads a signal, and the rate of that signal is not known.",
    why="the storage takes L d(m x)/dt, so the rate of m is needed; a jump of m would need an impulse",
    example=(
        "system: shifting\nparameters: {J_1: 1 kg*m^2, J_2: 2 kg*m^2}\nnetwork:\n  tau: {torque source: [frame, a]}\n  J_1: {inertia: [a]}\n"
        "  belt: {connection: [a, frame, b, frame], domains: [rotational, rotational], relation: across_2 = n*across_1}\n"
        "  J_2: {inertia: [b]}\nsignals: {n: 'step(2, 1 s)'}\n"
    ),
    instead=(
        "system: shifting\nparameters: {J_1: 1 kg*m^2, J_2: 2 kg*m^2}\nnetwork:\n  tau: {torque source: [frame, a]}\n  J_1: {inertia: [a]}\n"
        "  belt: {connection: [a, frame, b, frame], domains: [rotational, rotational], relation: across_2 = n*across_1}\n"
        "  J_2: {inertia: [b]}\nsignals: {n: 'quintic(1, 2, from=1 s, to=2 s)'}\n"
    ),
)
NOT_CONTINUOUS = RULES.rule(
    "E121",
    "closed loop that is not continuous",
    meaning="""A closed loop was asked for, and a signal in it is sampled, delayed or a Python function; or a linear model, and a
coefficient reads a Python function.""",
    why="matrices of a continuous linear model describe states with rates; a sample or a delay has another kind of memory",
)
NO_CLOSED_LOOP = RULES.rule(
    "E122",
    "closed loop that cannot be written",
    meaning="A signal in the loop reads the rate of a state, or drives a source that needs the rate of its signal.",
    why="the closed loop would contain rates of rates",
)
NO_PORT_INVERSION = RULES.rule(
    "E130",
    "inputs that do not follow from the outputs",
    meaning="Inputs and outputs were to change places, but D is singular there, or the equations contain rates of inputs.",
    why="an output that answers through a storage alone gives its input back only when it is differentiated",
)
NO_COMPOSITION = RULES.rule(
    "E131",
    "systems that cannot be joined",
    meaning="Two systems were to be joined at ports that they do not have, under names that clash, or in a loop without solution.",
    why="joined systems are one system: names are unique there, and what one gives the other takes",
)
NO_SUCH_OUTPUT = RULES.rule(
    "E132",
    "no such output",
    meaning="A transfer function was asked for to something that the model does not have.",
    why="outputs are states, displacements, power variables of elements, powers, and signals that are formulas of them",
)
NO_SUCH_INPUT = RULES.rule(
    "E134",
    "nothing that can be an input",
    meaning="Inputs of a linear model were chosen, and one of the names is no source, signal, parameter or modulus.",
    why="an input is something that a formula of the model reads, and that may be changed from outside",
)
NOT_MEASURED = RULES.rule(
    "E133",
    "output that does not follow from states and inputs",
    meaning="Something was to be measured that has a memory, a table or the time in it, or a product of rates.",
    why="a row of C and D reads states, inputs and rates of inputs; a signal with a memory belongs to the closed loop",
)
NO_INPUT_REACHES = RULES.rule(
    "E140",
    "output that no input reaches",
    meaning="Inputs were asked for that give an output its course, and none of them acts on it, at once or through storages.",
    why="a causal path leads from an input to every variable that it can move; without one the transfer function is zero",
)
NOT_INDEPENDENT = RULES.rule(
    "E141",
    "inputs that act in one direction",
    meaning="""Several inputs were asked for that give as many outputs their courses, and in the highest derivatives of these they
act in one direction only.""",
    why="""the derivatives in which inputs first appear are as many equations for them; where their matrix is singular one input would
have to be differentiated before the others count, which makes it a state (dynamic extension)""",
)
RATE_OF_INPUT = RULES.rule(
    "E142",
    "input whose rate acts",
    meaning="An input was asked for that fixes a storage, so that its rate acts on the model beside its value.",
    why="the output would give the rate of the input, and the input only up to a constant that nothing decides",
)
SEVERAL_VALUES = RULES.rule(
    "E143",
    "loop that several values solve",
    meaning="""The equation of a loop without storage rises for some values of its unknown and falls for others: for some inputs and
states several values solve it.""",
    why="a law that falls where it is told more may be met at several points, and without a storage nothing says which",
    severity="notice",
    example="""system: Tunnel diode
parameters: {E: 3 V, R: 1 kohm}
network:
  V: {voltage source: [a], signal: E}
  R: {resistor: [a, b]}
  D: {resistor: [b], law: i = 0.01*v - 0.03*v^2 + 0.025*v^3}
""",
    instead="""system: Tunnel diode
parameters: {E: 3 V, R: 1 kohm, C: 1 pF}
network:
  V: {voltage source: [a], signal: E}
  R: {resistor: [a, b]}
  D: {resistor: [b], law: i = 0.01*v - 0.03*v^2 + 0.025*v^3}
  C: {capacitor: [b]}
""",
)
