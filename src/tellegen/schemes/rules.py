"""The rules of schemes (codes G2xx): what cannot be drawn in one of the notations."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("G")

NO_SCALAR_BOND = RULES.rule(
    "G201",
    "element without a scalar bond graph",
    meaning="A field of several ports was to be written with scalar bonds.",
    why="C, I and R on a scalar bond have one parameter; the matrix of a field joins as many bonds as it has rows",
)
SHORTED_ELEMENT = RULES.rule(
    "G202",
    "element between a node and itself",
    meaning="Both ends of an element are at one node, so no bond carries its power; or junctions short it, so no network has nodes for it.",
    why="its across variable is zero whatever happens: it takes no part in any junction",
)
NO_STROKES = RULES.rule(
    "G203",
    "junctions without consistent strokes",
    meaning="The variables can be solved for, but not by giving each bond one direction of cause and effect.",
    why="at a 0-junction one bond decides the effort and at a 1-junction one decides the flow; some loops of gyrators leave no such choice",
)
NO_LADDER = RULES.rule(
    "G204",
    "scheme without a text",
    meaning="A scheme without storages and losses, one whose dependent storages fall into no two groups of lanes, or one with a field of "
    "several kinds of causality has no text as a ladder; one with a terminal that nothing meets has none as a ladder or a bond graph; one with "
    "a junction that a modulus of zero leaves alone has none as a bond graph.",
    why="the entries of a ladder have a letter for each element, one word for a field, and a section that leads to each lane",
)
NO_SUCH_SIGNAL = RULES.rule(
    "G206",
    "no such variable in the scheme",
    meaning="A sign was to be changed, or a path followed, of something that is no variable of the scheme.",
    why="signs belong to the variables that sections, blocks and summations name",
)
NO_LAW_TEXT = RULES.rule(
    "G207",
    "law that cannot be written",
    meaning="A law uses parameters that have the names of all letters of its variable.",
    why="in a law the letters of the domain stand for the variables of the element",
)
TOO_MANY_LOOPS = RULES.rule(
    "G208",
    "too many loops to list",
    meaning="The scheme has more elementary loops than were asked for.",
    why="in a mesh their number grows exponentially",
)
NO_SUCH_PATH = RULES.rule(
    "G209",
    "no such path in the scheme",
    meaning="Variables were named one after the other, but no line of the scheme leads from one to the next, or one is passed twice.",
    why="a path follows the lines of the scheme through blocks and summations, each once",
)
NO_INVERSION = RULES.rule(
    "G210",
    "path that may not be inverted",
    meaning="A path or loop was to be inverted that has a storage on it, a law that works one way only, or loose ends.",
    why="a storage asked backwards differentiates, which is not physically realizable and not useful in simulation",
)
NO_MASON = RULES.rule(
    "G211",
    "loop that is no transfer function",
    meaning="A loop was to be replaced by one block, but more than one of its variables is used outside, or inputs come in by different gains.",
    why="one block has one input and one output",
)
NO_PICTURES = RULES.rule(
    "G212",
    "reduction without pictures",
    meaning="A storage was to vanish from a scheme by the inversion of a loop, but it is none, or no loop leads through it.",
    why="the loop through the storage is inverted, so that another element decides what the storage decided",
)
NO_VECTOR_BLOCK = RULES.rule(
    "G213",
    "vector block that cannot be merged or split",
    meaning="Vector blocks were to be joined by what does not fit, or split where they hold energy together.",
    why="two blocks are joined where one variable is an input here and a state there, and parts that share energy are one storage",
)
NO_JOINING = RULES.rule(
    "G231",
    "schemes that cannot be joined",
    meaning="Two schemes were to be one, but they use one name for different things, or the sections are of different domains.",
    why="joined sections have one pair of power variables, and a model has one thing for each name",
)
NO_MODES = RULES.rule(
    "G230",
    "modes or signals without their model",
    meaning="A scheme with a switch, a diode, a clutch, a stop or signals was to be written as a file without the model it comes from.",
    why="the scheme shows an element in one of its modes, and sources as inputs; when modes change, and what signals are, the model says",
)
NO_MATRICES = RULES.rule(
    "G232",
    "scheme that is no system of constant matrices",
    meaning="A whole scheme was to be written in other coordinates, but it is not linear, moves with displacements, or needs rates of inputs.",
    why="L x' = -A x + B u takes new coordinates, and exchanges inputs with outputs, where its matrices are constant",
)
NOT_ORTHOGONAL = RULES.rule(
    "G233",
    "similarity that breaks the structure",
    meaning="New coordinates by a similarity would make L unsymmetric, or lose that outputs belong to inputs.",
    why="T^-1 does not preserve power; it does where T^T L T = L, and then it is T^T L",
)
NO_RESISTIVE_PORT = RULES.rule(
    "G234",
    "domain without the element that a matrix needs",
    meaning="A scheme was to be written in other coordinates, and its domain has no storage or resistive element of that kind.",
    why="entropy has no inertia, and no element that only loses it",
)
NO_PORT_PATH = RULES.rule(
    "G235",
    "input that cannot be exchanged for its output",
    meaning="An input of a scheme that is not linear, or that moves, was to be exchanged for its output, but no loss answers it at once.",
    why="the path from the input to its output is inverted: a storage on it would differentiate, and a law without inverse gives no value",
)
LOST_PORT = RULES.rule(
    "G240",
    "port without a place in the notation",
    meaning="A system with a port at a node was to be written as a ladder or as a bond graph that has no such node.",
    why="what is joined to the port would have nothing to be joined to: the file could not be a part of another system any more",
)
