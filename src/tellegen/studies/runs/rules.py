"""The rules of studies of many runs (codes S4)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("S")

TOO_MANY_RUNS = RULES.rule(
    "S401",
    "more runs than a study may have",
    meaning="The values of the grid and the draws together make more than a hundred million runs.",
    why="the table of all values is made before the first run, and has to be kept",
)
NOT_PAIRED = RULES.rule(
    "S402",
    "values that do not pair",
    meaning="Values were to be taken side by side, and there are more of one name than of another.",
    why="run k takes the k-th value of each name",
)
OTHER_STUDY = RULES.rule(
    "S403",
    "folder of another study",
    meaning="The folder holds a study of another model, other values, other settings or other things to keep.",
    why="runs of two studies in one folder could not be told apart",
)
WRITTEN_ELSEWHERE = RULES.rule(
    "S404",
    "study that somebody else is writing",
    meaning="Another process writes into the folder at this moment.",
    why="two writers would make the same runs, and each would count on the other's chunks",
)
DISK_FULL = RULES.rule(
    "S405",
    "disk too small for a study",
    meaning="What is to be kept of all runs does not fit on the disk, or the disk was full on the way.",
    why="a study that stops for want of room would have been in vain; what was written stays",
)
OTHER_VERSION = RULES.rule(
    "S406",
    "worker of another version",
    meaning="A worker of a cluster has another version of this program than the one that has begun the study.",
    why="two versions may differ in the last bits of a run, and a study would depend on who made which chunk",
)
BAD_VARIATION = RULES.rule(
    "S407",
    "values that cannot be varied so",
    meaning="A range is empty, a deviation is negative, a count is no positive number, or nothing is varied at all.",
    why="the table of runs follows from the ranges and distributions alone",
)
NOT_KEPT = RULES.rule(
    "S408",
    "something to keep that a run does not tell",
    meaning="What is to be kept of each run is no variable and no max, min, mean, rms, integral, at, time_of_max or time_of_min of one.",
    why="only what runs know can be kept of them",
)
NO_DRAWS = RULES.rule(
    "S409",
    "distributions without a number of draws",
    meaning="A name follows a distribution, and nothing says how many values to draw; or draws are asked for without a distribution.",
    why="a distribution has no values of its own, and a sequence has nothing to draw",
)
INACCURATE = RULES.rule(
    "S410",
    "runs off by more than is promised",
    meaning="Some runs were made again with a tenth of the tolerance, and one of them is off by more than twenty tolerances.",
    why="the tolerance holds for each step; errors of steps add up, and the first runs looked at did not show by how much",
    severity="warning",
)
BAD_TABLE = RULES.rule(
    "S411",
    "table that is no list of runs",
    meaning="A table of values has no rows, a column without a name, cells that are no numbers, or units of another quantity.",
    why="a table is read by its heads, and each row is a run, or an instant of a measurement",
)
NO_STUDY = RULES.rule(
    "S412",
    "no study",
    meaning="The folder or file holds no study of this program, or one of a later version.",
    why="a study is known by the attributes that it was begun with",
)
ALL_FAILED = RULES.rule(
    "S413",
    "run that failed in a study",
    meaning="A run of a study failed, and the study was to stop at the first failure.",
    why="a value that a model cannot have, or a motion that no solver can follow, ends a run",
)
NO_PACKAGE = RULES.rule(
    "S414",
    "package for studies that is missing",
    meaning="A store, or a search by evolution, needs a package that the core installation does not bring.",
    why="the core installation stays small",
)
NOT_STORED = RULES.rule(
    "S415",
    "setting that no file can hold",
    meaning="A study was to be kept in a folder, and one of its settings is a function of Python or something else without a text.",
    why="whoever resumes the study, perhaps tomorrow, has nothing but its folder",
)
BAD_GOAL = RULES.rule(
    "S416",
    "goal or constraint that is none",
    meaning="What is to be smallest is no formula of what runs give, or a constraint has no relation between such a formula and a number.",
    why="a search compares numbers of runs with each other and with limits",
)
NO_POINT = RULES.rule(
    "S417",
    "no values that keep all constraints",
    meaning="A search has found no values between the bounds at which the model runs and all constraints are kept.",
    why="constraints may contradict each other, or the bounds; the nearest that was found is told",
)
NOT_ENDED = RULES.rule(
    "S418",
    "optimum that is not certain",
    meaning="No search ended where slopes and constraints balance: what is told is the best that was found.",
    why="where two peaks are equally high, or values jump, slopes do not vanish at the best point, and rounding ends a search early",
    severity="warning",
)
NO_WORKERS = RULES.rule(
    "S419",
    "workers that make no runs",
    meaning="A cluster cannot be reached, has no workers, or its workers failed again and again at the same chunk of runs.",
    why="what cannot be made by others is not made in silence by this machine; chunks that were done stay",
)
NO_SUCH_HEAD = RULES.rule(
    "S420",
    "column that is nothing in the model",
    meaning="A column of measured data is neither an input of the model nor anything that a run of it tells.",
    why="a column that is passed over in silence would be missed in the fit",
)
OPEN_DIRECTION = RULES.rule(
    "S421",
    "parameters that the data leave open",
    meaning="The data do not change when some of the free parameters change together in a certain ratio.",
    why="only what moves a measured quantity can be told from it; any value along that direction fits as well",
    severity="warning",
)
WEAK = RULES.rule(
    "S422",
    "parameter that the data hardly tell",
    meaning="The deviation of a fitted parameter is more than half of its value, or its profile meets a bound before it has risen.",
    why="the measured quantities hardly change with it beside their noise",
    severity="warning",
)
DOUBT = RULES.rule(
    "S423",
    "residuals that are no noise",
    meaning="Residuals that follow each other are alike: their correlation from one row to the next is more than 0.3.",
    why="noise forgets; what does not is something that the model misses, and the intervals are then too small",
    severity="warning",
)
NO_TRUE_SLOPES = RULES.rule(
    "S424",
    "slopes that lead nowhere",
    meaning="The exact slopes of the model differ from what a change of one percent does, so that the fit has taken differences.",
    why="where values are rounded or sampled, the true slope at a point says nothing of a step that matters",
    severity="notice",
)
BAD_RECORD = RULES.rule(
    "S425",
    "data that are no record",
    meaning="Measured data have no times, times that go back, cells that are no numbers, another unit, or nothing to compare.",
    why="a model is compared with numbers in its own units, at times that rise",
)
BAD_FREE = RULES.rule(
    "S426",
    "parameter that cannot be free so",
    meaning="""A free parameter follows from others, has bounds that exclude where the search starts or that stand the wrong
way round, or nothing is free at all.""",
    why="a search begins at the value of the model, between the bounds",
)
NO_FIT = RULES.rule(
    "S427",
    "fit that did not end",
    meaning="The search for the parameters did not converge, or the model does not run at its start.",
    why="parameters of a search that has not ended are no estimate",
)
NOT_ON_CARD = RULES.rule(
    "S430",
    "study that no graphics card can make",
    meaning="""Runs were asked for on a graphics card, and there is none, or the model is none for it: with modes, jumps, samples, delays,
functions of Python, unknowns that are searched for, or more than 24 variables; or single precision was asked for with a fine
tolerance.""",
    why="a thread of a card makes one run in its registers, by formulas and tables alone",
)
SINGLE_ANGLE = RULES.rule(
    "S431",
    "angle that grows in single precision",
    meaning="A study is made in single precision, an angle of the model is a state, and no absolute tolerance was given.",
    why="a share of an angle that has grown over many turns is whole degrees, and single precision has seven digits",
    severity="warning",
)
WIDE_INDEX = RULES.rule(
    "S428",
    "index that is not known well",
    meaning="The bounds of an index of influence are more than a tenth apart.",
    why="indices are estimated from draws, and their error falls with the number of these",
    severity="warning",
)
SMOOTH_INPUT = RULES.rule(
    "S429",
    "measured input that is joined smoothly",
    meaning="Measured points of an input are joined by a smooth curve, and how far that may be off was tried with every second of them.",
    why="what happened between two points was not measured; where it is a jump, steps are nearer to it",
    severity="notice",
)
