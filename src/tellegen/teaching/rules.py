"""The rules of exercises and answers (codes L)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("L")

NOTHING_TO_HIDE = RULES.rule(
    "L101",
    "no such exercise",
    meaning="An exercise was asked for that hides something unknown, in an unknown language, or for no sensible number of variants.",
    why="what can be hidden are strokes, equations, signs, values and the equations of a reduction; there are from 1 to 99 variants",
)
NOT_ASKABLE = RULES.rule(
    "L102",
    "model that cannot be asked like this",
    meaning="The model has no such thing that could be hidden, or it could not be found again from what the sheet shows.",
    why="signs are those of a scalar POG, values are found from a linear model, equations are compared where they can be evaluated",
)
TOO_FEW_VARIANTS = RULES.rule(
    "L103",
    "too few variants",
    meaning="Fewer different exercises could be made from the model than were asked for.",
    why="a variant has other values or another topology, no errors, and is equal to no other one; a small model has few of them",
)
NOT_A_SHEET = RULES.rule(
    "L104",
    "file that is no sheet",
    meaning="Answers were to be graded against a file that carries no exercise, or a damaged one.",
    why="a sheet carries what grading needs: its model and what was hidden, with a digest that tells whether it is whole",
)
SHEET_NOT_WRITTEN = RULES.rule(
    "L105",
    "sheet of an unknown format",
    meaning="A sheet was to be written to a file whose ending says no format that there is, or the system refused to write it.",
    why="the ending decides: .html, .tex or .ipynb",
)
NO_ANSWERS = RULES.rule(
    "L110",
    "no answers",
    meaning="A file of answers holds none to the question of the sheet.",
    why="answers stand under the word that the sheet shows: strokes, equations, signs or parameters; or they are a model file",
)
OTHER_SHEET = RULES.rule(
    "L111",
    "answers to another sheet",
    meaning="The answers say that they belong to another sheet, or are a model of other elements.",
    why="variants differ: what is right on one sheet is wrong on another",
)
UNKNOWN_ITEM = RULES.rule(
    "L112",
    "answer to something that was not asked",
    meaning="An answer names a bond, an end, a sum, a parameter or a variable that the sheet does not have.",
    why="under a misspelt name an answer would be lost, and the mark with it",
)
UNREADABLE_ANSWER = RULES.rule(
    "L113",
    "answer that cannot be read",
    meaning="An answer is no formula, no equation or no value.",
    why="answers are read by the grammar of model files; nothing in them is run",
)
LESSON_FILES = (".html", ".tex")
"""The endings of steps with figures."""
