"""The lines of a netlist as they are written, and the options that may stand in them.

Most of them are about the drawing. Tellegen keeps them as they were written; those that it acts on are in `NAMES` and `PHYSICS`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, final

from tellegen.core.domains import Side
from tellegen.core.errors import DescriptionError, Finding, Place, Rule
from tellegen.core.files import clip
from tellegen.elements import CouplingType, ElementKind
from tellegen.expressions import Expression
from tellegen.notations.context import MOST_ERRORS, MOST_NOTICES

NAMES = ("Kn", "En", "Fn", "Qn")
"""The names (and values) of the parameter, the across, the through and the energy variable of an element."""

DEFAULTS = ("Kn0", "In0", "En0", "Fn0")
"""The values of parameters, inputs and initial states that have none of their own."""

PHYSICS = frozenset(("Pin", "Out", *DEFAULTS))
"""What a branch says, beside its names, that is not about the drawing: signs, the variable it decides, values."""

# As the help text of the program lists them, a `#` before each of its headings.
_LISTED = """
# The POG scheme
pSx=pog_Block_S_dx pSy=pog_Block_S_dy pMx=pog_Block_M_dx pMy=pog_Block_M_dy pSyM=pog_From_S_to_M_dy pSpx=pog_Space_dx
pSsi=pog_S_exists pEsu=pog_Effort_Su pDst=pog_Vai_a_Destra pLw=pog_Line_Width pLt=pog_Line_Type pShY=pog_Show_Y
pFnY=pog_Font_Y pClY=pog_Color_Y pShQ=pog_Show_Q pFnQ=pog_Font_Q pClQ=pog_Color_Q pShK=pog_Show_K pFnK=pog_Font_K
pClK=pog_Color_K pShX=pog_Show_X pFnX=pog_Font_X pClX=pog_Color_X pShT=pog_Show_T pLwT=pog_Width_T pClT=pog_Color_T
pVs=pog_Visibile pSr=pog_Show_Nome_Ramo pFr=pog_Font_Nome_Ramo pCr=pog_Color_Nome_Ramo pColored=pog_Colored
pPatch=pog_Patch pCle=pog_Color_e pClm=pog_Color_m pClr=pog_Color_r pCli=pog_Color_i pCl4=pog_Color_4
pEFColor=pog_En_Fn_Color pClEn=pog_Color_En pClFn=pog_Color_Fn
# Values of what has none
In0=pog_In_0 Kn0=pog_Kn_0 Qn0=pog_Qn_0 En0=pog_En_0 Fn0=pog_Fn_0
# The POG scheme as a whole, printing and the run
pIntM=pog_IntM pPSF=pog_Show_Psfrag pUs=pog_Underscore pStep=pog_Plot_Step pPr=pog_Print_POG xPr=slx_Print_SLX
sPr=sim_Print_SIM sTfin=sim_Tfin sNrTs=sim_Nr_Ts_Points pGTy=pog_Graphic_Type X1Sh=X1_Shift pSplit=Split_POG
pSpDx=Split_POG_Ver_Dx pSpSL=Split_POG_Show_Lines
# Lines, arrows and labels of the physical scheme
Lw=Line_Width Lt=Line_Type Colored=Line_Colored_POG Fw=Frecce_Width Ft=Frecce_Type ShX=Show_X FnX=Font_X ClX=Color_X
ShK=Show_K FnK=Font_K ClK=Color_K ShY=Show_Y FnY=Font_Y ClY=Color_Y Zm=Zoom SDR=Show_Dots_Ramo SL=Show_Labels
Pol=Show_Polarita
# The physical scheme as a whole
ExD=Extra_Dash SimScBlo=Use_Simscape_Blocks Split=Split_Scheme SpShift=Split_Shift SpDots1=Split_Dots_1
SpDots2=Split_Dots_2 Gr=Show_Grafico Pr=Print_Grafico Ng=Nome_del_grafico GTy=Graphic_Type SD=Show_Dots
Sn=Show_Nomi_Nodi FnN=Font_Nodi ClN=Color_Nodi Sr=Show_Nomi_dei_Rami Fr=Font_Nomi_dei_Rami Cr=Color_Nomi_dei_Rami
SG=Grid GrBo=Grid_Border GrSt=Grid_Step GrLT=Grid_Line_Type_Big GrLt=Grid_Line_Type_Small GrLw=Grid_Line_Width
GrFs=Grid_Label_FontSize GrFc=Grid_Label_FontColor
# What to do
Rtxt=Rigenera_File_txt As=Analizza_lo_Schema diary=Genera_il_file_diary EQN=Salva_EQN_Diff_Eqs POG=Crea_lo_Schema_POG
SLX=Crea_lo_Schema_SLX SIM=Simula_lo_Schema_SLX Skw=Show_Skew Hs=Show_Hs Hs_Det=Hs_Det Hs_In=Hs_In Hs_Out=Hs_Out
# One branch
Out=Out An=Angle Ln=Lung Sh=Shift La=Lateral Tr=Trasla Vs=Visibile Eu=E_up_down Ku=K_up_down Qu=Q_up_down Fu=F_up_down
Pin=Pow_In
"""

OPTIONS: dict[str, str] = dict(
    pair.split("=") for line in _LISTED.splitlines() if not line.startswith("#") for pair in line.split()
)
"""The short spelling of every option, and its long one."""

SPELLINGS: dict[str, str] = {spelling: key for key, long in OPTIONS.items() for spelling in (long, key)}
"""Every spelling of an option, and its short one."""

SPELLINGS |= {name: name for name in NAMES}


_BRACKET = re.compile(r"[][(){}]")
_MARK = re.compile(r"[][(){},]")
_CLOSED_BY = {"[": "]", "(": ")", "{": "}"}


def without_comment(line: str) -> str:
    """The line up to its `%`."""
    return line[: line.index("%")] if "%" in line else line


def fields_of(line: str) -> list[str] | None:
    """The fields of a line, blanks included; None where brackets do not match. Commas inside brackets part nothing."""
    # Nearly all lines have no bracket, and `split` is in C.
    if not _BRACKET.search(line):
        return line.split(",")
    awaited: list[str] = []
    found, start = [], 0
    for mark in _MARK.finditer(line):
        sign = mark.group()
        if sign == ",":
            if not awaited:
                found.append(line[start : mark.start()])
                start = mark.end()
        elif sign in _CLOSED_BY:
            awaited.append(_CLOSED_BY[sign])
        elif not awaited or awaited.pop() != sign:
            return None
    return None if awaited else [*found, line[start:]]


@final
@dataclass(frozen=True, slots=True)
class NetlistWire:
    """A `--` line: two points that are one node, what the line says about its drawing, and where it stands."""

    points: tuple[str, str]
    notes: Mapping[str, str]
    line: int = 0


class NetlistLabel(NamedTuple):
    """A name after Kn, En, Fn or Qn (empty where only a value is given), with its value; `field` is where it stands."""

    name: str
    value: Expression | None
    size: float
    field: int


class BlockRelation(NamedTuple):
    """The relation of a connection block; the modulus is a name, or a number without one."""

    coupling: CouplingType
    reciprocal: bool
    modulus: NetlistLabel


@final
class NetlistBranch:
    """One element line; a class with slots because a large file has 200 000 of them."""

    __slots__ = ("kind", "labels", "line", "notes", "ordinal", "out", "pin", "place", "points", "relation")

    def __init__(self, place: Place, ordinal: int, kind: ElementKind | None, points: tuple[str, ...]) -> None:
        self.place = place
        self.line = place.line
        self.ordinal = ordinal
        self.kind = kind  # None for a connection block until its domains are known
        self.points = points
        self.labels: dict[str, NetlistLabel] = {}
        self.notes: dict[str, str] | None = None
        self.pin: int | None = None
        self.out: Side | None = None
        self.relation: BlockRelation | None = None

    def note(self, key: str, text: str) -> None:
        """Keep what the line says about its drawing."""
        if self.notes is None:
            self.notes = {}
        self.notes[key] = text

    def sides(self) -> list[tuple[str, str]]:
        """The pairs of points between which across variables are taken: one, or two for a connection block."""
        points = self.points
        return [(points[0], points[1])] if len(points) == 2 else [(points[0], points[1]), (points[2], points[3])]


class RefusedLineError(Exception):
    """A line that cannot be used; the finding is already kept."""


@final
class NetlistFindings:
    """What was found, with places worked out only when needed; stops at too many errors.

    Lines count from 1, fields of a line from 0; the field -1 is the whole line.
    """

    def __init__(self, file: str, lines: list[str]) -> None:
        self.file, self.lines = file, lines
        self.errors: list[Finding] = []
        self.notices: dict[str, list[Finding]] = {}
        self.unsaid: dict[str, int] = {}

    def error(
        self, rule: Rule, what: str, line: int, field: int = -1, *, fix: str = "", members: Iterable[str] = ()
    ) -> None:
        """Keep an error; raises DescriptionError when enough are there."""
        self.errors.append(rule.finding(what, fix=fix, place=self.place(line, field), members=members))
        if len(self.errors) >= MOST_ERRORS:
            self.raise_errors()

    def refuse(self, rule: Rule, what: str, line: int, field: int = -1, *, fix: str = "") -> RefusedLineError:
        """Keep an error and give what to raise to leave the line."""
        self.error(rule, what, line, field, fix=fix)
        return RefusedLineError()

    def notice(
        self, rule: Rule, what: str, line: int, field: int = -1, *, fix: str = "", members: Iterable[str] = ()
    ) -> None:
        """Keep a notice or a warning, up to a number of each rule; the rest is counted."""
        if self.is_full(rule):
            self.unsaid[rule.code] = self.unsaid.get(rule.code, 0) + 1
        else:
            finding = rule.finding(what, fix=fix, place=self.place(line, field), members=members)
            self.notices.setdefault(rule.code, []).append(finding)

    def is_full(self, rule: Rule) -> bool:
        """Whether further notices of a rule are only counted."""
        return rule.code in self.unsaid or len(self.notices.get(rule.code, ())) >= MOST_NOTICES

    def raise_errors(self) -> None:
        """Raises: DescriptionError with all errors so far, if there are any."""
        if self.errors:
            raise DescriptionError(self.errors)

    def all_notices(self) -> tuple[Finding, ...]:
        """Notices in the order of lines; where some were left out, a last one says how many."""
        found = [finding for kept in self.notices.values() for finding in kept]
        found.sort(key=lambda finding: finding.place.line if finding.place else 0)
        for code, count in self.unsaid.items():
            last = self.notices[code][-1]
            found.append(Finding(code, last.severity, f"{count} more like this were found", why=last.why))
        return tuple(found)

    def place(self, line: int, field: int = -1) -> Place:
        """Where a field of a line stands."""
        # Worked out again from the line: keeping columns would cost every right line for the sake of the wrong ones.
        text = without_comment(self.lines[line - 1])
        if field < 0:
            return Place(self.file, line, len(text) - len(text.lstrip()) + 1, clip(text.strip()))
        pieces = fields_of(text)
        if pieces is None or field >= len(pieces):
            return Place(self.file, line, len(text.rstrip()) + 1, clip(text.strip()))
        piece = pieces[field]
        column = sum(map(len, pieces[:field])) + field + len(piece) - len(piece.lstrip()) + 1
        return Place(self.file, line, column, clip(piece.strip()))

    def line_place(self, line: int) -> Place:
        """The place of a line as a whole; made for each element, so the column is not worked out."""
        return Place(self.file, line, 1, clip(self.lines[line - 1].strip()))
