"""The options of POG_Modeler: what may stand in the `Par, Val` pairs of a netlist, as its help text lists them.

Most of them are about the drawing. Tellegen keeps them as they were written; those that it acts on are in `NAMES` and `PHYSICS`.
"""

from typing import Literal, NamedTuple

Where = Literal["system", "branch", "both"]
"""On `**` lines, on the lines of elements and connections, or on both (the branch then overrides the system)."""


class Option(NamedTuple):
    """An option: its short and its long spelling, where it may stand, its value when absent, the values it takes."""

    key: str
    long: str
    where: Where
    default: str
    values: str


NAMES = ("Kn", "En", "Fn", "Qn")
"""The names (and values) of the parameter, the across, the through and the energy variable of an element."""

DEFAULTS = ("Kn0", "In0", "En0", "Fn0")
"""The values of parameters, inputs and initial states that have none of their own."""

PHYSICS = frozenset(("Pin", "Out", *DEFAULTS))
"""What a branch says, beside its names, that is not about the drawing: signs, the variable it decides, values."""

OPTIONS: tuple[Option, ...] = (
    # The POG scheme
    Option("pSx", "pog_Block_S_dx", "both", "2.2", "number 1..4"),
    Option("pSy", "pog_Block_S_dy", "both", "2.2", "number 1..4"),
    Option("pMx", "pog_Block_M_dx", "both", "2.7", "number 1..6"),
    Option("pMy", "pog_Block_M_dy", "both", "2.7", "number 1..6"),
    Option("pSyM", "pog_From_S_to_M_dy", "both", "1.1", "number 0.5..3"),
    Option("pSpx", "pog_Space_dx", "both", "1", "number 0.1..3"),
    Option("pSsi", "pog_S_exists", "system", "Si", "Si No"),
    Option("pEsu", "pog_Effort_Su", "both", "Si", "Si No"),
    Option("pDst", "pog_Vai_a_Destra", "system", "Si", "Si No"),
    Option("pLw", "pog_Line_Width", "both", "0.9", "number 0.01..5"),
    Option("pLt", "pog_Line_Type", "both", "k", "text"),
    Option("pShY", "pog_Show_Y", "both", "No", "Si No"),
    Option("pFnY", "pog_Font_Y", "both", "9", "whole number 0..30"),
    Option("pClY", "pog_Color_Y", "both", "k", "b g r c m y k w"),
    Option("pShQ", "pog_Show_Q", "both", "Si", "Si No"),
    Option("pFnQ", "pog_Font_Q", "both", "8", "whole number 0..30"),
    Option("pClQ", "pog_Color_Q", "both", "k", "b g r c m y k w"),
    Option("pShK", "pog_Show_K", "both", "Si", "Si No"),
    Option("pFnK", "pog_Font_K", "both", "10", "whole number 0..30"),
    Option("pClK", "pog_Color_K", "both", "k", "b g r c m y k w"),
    Option("pShX", "pog_Show_X", "both", "Si", "Si No"),
    Option("pFnX", "pog_Font_X", "both", "10", "whole number 0..30"),
    Option("pClX", "pog_Color_X", "both", "k", "b g r c m y k w"),
    Option("pShT", "pog_Show_T", "both", "Si", "Si No"),
    Option("pLwT", "pog_Width_T", "both", "0.4", "number 0.01..2"),
    Option("pClT", "pog_Color_T", "both", "--k", "text"),
    Option("pVs", "pog_Visibile", "both", "Si", "Si No"),
    Option("pSr", "pog_Show_Nome_Ramo", "both", "No", "Si No"),
    Option("pFr", "pog_Font_Nome_Ramo", "both", "6", "whole number 0..30"),
    Option("pCr", "pog_Color_Nome_Ramo", "both", "k", "b g r c m y k w"),
    Option("pColored", "pog_Colored", "both", "Si", "Si No"),
    Option("pPatch", "pog_Patch", "both", "Si", "Si No"),
    Option("pCle", "pog_Color_e", "both", "[0.184 0.376 0.725]", "number 0..1"),
    Option("pClm", "pog_Color_m", "both", "[0.267 0.502 0.361]", "number 0..1"),
    Option("pClr", "pog_Color_r", "both", "[0.208 0.831 0.380]", "number 0..1"),
    Option("pCli", "pog_Color_i", "both", "[0.690 0.600 0.322]", "number 0..1"),
    Option("pCl4", "pog_Color_4", "both", "[100 100 100]/255", "number 0..1"),
    Option("pEFColor", "pog_En_Fn_Color", "both", "No", "Si No"),
    Option("pClEn", "pog_Color_En", "both", "[0 0.6 0]", "number 0..1"),
    Option("pClFn", "pog_Color_Fn", "both", "[0.6 0 0]", "number 0..1"),
    # Values of what has none
    Option("In0", "pog_In_0", "both", "10", "text"),
    Option("Kn0", "pog_Kn_0", "both", "1", "text"),
    Option("Qn0", "pog_Qn_0", "both", "0", "text"),
    Option("En0", "pog_En_0", "both", "0", "text"),
    Option("Fn0", "pog_Fn_0", "both", "0", "text"),
    # The POG scheme as a whole, printing and the run
    Option("pIntM", "pog_IntM", "system", "No", "Si No"),
    Option("pPSF", "pog_Show_Psfrag", "system", "No", "Si No"),
    Option("pUs", "pog_Underscore", "both", "No", "Si No"),
    Option("pStep", "pog_Plot_Step", "both", "3", "whole number 1..3"),
    Option("pPr", "pog_Print_POG", "system", "No", "Si No"),
    Option("xPr", "slx_Print_SLX", "system", "No", "Si No"),
    Option("sPr", "sim_Print_SIM", "system", "No", "Si No"),
    Option("sTfin", "sim_Tfin", "system", "0", "number 0..1000"),
    Option("sNrTs", "sim_Nr_Ts_Points", "system", "2000", "whole number 0..20000"),
    Option("pGTy", "pog_Graphic_Type", "system", "epsc", "eps epsc jpeg tiff png"),
    Option("X1Sh", "X1_Shift", "system", "1+1.5*1i", "number"),
    Option("pSplit", "Split_POG", "system", "0", "text"),
    Option("pSpDx", "Split_POG_Ver_Dx", "system", "5", "number 2..10"),
    Option("pSpSL", "Split_POG_Show_Lines", "system", "Si", "Si No"),
    # Lines, arrows and labels of the physical scheme
    Option("Lw", "Line_Width", "both", "1.2", "number 0.1..5"),
    Option("Lt", "Line_Type", "both", "k", "text"),
    Option("Colored", "Line_Colored_POG", "both", "Si", "Si No"),
    Option("Fw", "Frecce_Width", "both", "0.8", "number 0.1..3"),
    Option("Ft", "Frecce_Type", "both", "k", "text"),
    Option("ShX", "Show_X", "both", "Si", "Si No"),
    Option("FnX", "Font_X", "both", "10", "whole number 0..30"),
    Option("ClX", "Color_X", "both", "k", "b g r c m y k w"),
    Option("ShK", "Show_K", "both", "Si", "Si No"),
    Option("FnK", "Font_K", "both", "10", "whole number 0..30"),
    Option("ClK", "Color_K", "both", "k", "b g r c m y k w"),
    Option("ShY", "Show_Y", "both", "No", "Si No"),
    Option("FnY", "Font_Y", "both", "10", "whole number 0..30"),
    Option("ClY", "Color_Y", "both", "k", "b g r c m y k w"),
    Option("Zm", "Zoom", "both", "1", "number 0.01..10"),
    Option("SDR", "Show_Dots_Ramo", "both", "Si", "Si No"),
    Option("SL", "Show_Labels", "both", "Si", "Si No"),
    Option("Pol", "Show_Polarita", "both", "Si", "Si No"),
    # The physical scheme as a whole
    Option("ExD", "Extra_Dash", "system", "0.1", "number 0.01..1"),
    Option("SimScBlo", "Use_Simscape_Blocks", "system", "No", "Si No"),
    Option("Split", "Split_Scheme", "system", "", "text"),
    Option("SpShift", "Split_Shift", "system", "-1.6*1i", "number"),
    Option("SpDots1", "Split_Dots_1", "system", "0.1", "number"),
    Option("SpDots2", "Split_Dots_2", "system", "-0.1", "number"),
    Option("Gr", "Show_Grafico", "system", "Si", "Si No"),
    Option("Pr", "Print_Grafico", "system", "No", "Si No"),
    Option("Ng", "Nome_del_grafico", "system", "__", "name"),
    Option("GTy", "Graphic_Type", "system", "epsc", "eps epsc jpeg tiff png"),
    Option("SD", "Show_Dots", "system", "No", "Si No"),
    Option("Sn", "Show_Nomi_Nodi", "system", "Si", "Si No"),
    Option("FnN", "Font_Nodi", "system", "10", "whole number 0..30"),
    Option("ClN", "Color_Nodi", "system", "k", "b g r c m y k w"),
    Option("Sr", "Show_Nomi_dei_Rami", "system", "No", "Si No"),
    Option("Fr", "Font_Nomi_dei_Rami", "system", "7", "whole number 0..30"),
    Option("Cr", "Color_Nomi_dei_Rami", "system", "k", "b g r c m y k w"),
    Option("SG", "Grid", "system", "No", "Si No"),
    Option("GrBo", "Grid_Border", "system", "0.1", "number 0..1"),
    Option("GrSt", "Grid_Step", "system", "0.1", "number 0..1"),
    Option("GrLT", "Grid_Line_Type_Big", "system", "-r", "text"),
    Option("GrLt", "Grid_Line_Type_Small", "system", ":r", "text"),
    Option("GrLw", "Grid_Line_Width", "system", "0.2", "number 0..1"),
    Option("GrFs", "Grid_Label_FontSize", "system", "12", "whole number 0..30"),
    Option("GrFc", "Grid_Label_FontColor", "system", "r", "text"),
    # What to do
    Option("Rtxt", "Rigenera_File_txt", "system", "No", "Si No"),
    Option("As", "Analizza_lo_Schema", "system", "Si", "Si No"),
    Option("diary", "Genera_il_file_diary", "system", "No", "Si No"),
    Option("EQN", "Salva_EQN_Diff_Eqs", "system", "No", "Si No"),
    Option("POG", "Crea_lo_Schema_POG", "system", "No", "Si No"),
    Option("SLX", "Crea_lo_Schema_SLX", "system", "No", "Si No"),
    Option("SIM", "Simula_lo_Schema_SLX", "system", "No", "Si No"),
    Option("Skw", "Show_Skew", "system", "No", "Si No"),
    Option("Hs", "Show_Hs", "system", "No", "Si No"),
    Option("Hs_Det", "Hs_Det", "system", "Si", "Si No"),
    Option("Hs_In", "Hs_In", "system", "", "text"),
    Option("Hs_Out", "Hs_Out", "system", "", "text"),
    # One branch
    Option("Out", "Out", "branch", "Vuoto", "Effort Flow Vuoto"),
    Option("An", "Angle", "branch", "0", "number -180..180"),
    Option("Ln", "Lung", "branch", "1", "number 0..10"),
    Option("Sh", "Shift", "branch", "0", "number -5..5"),
    Option("La", "Lateral", "branch", "0.4", "number -2..2"),
    Option("Tr", "Trasla", "branch", "0", "number -10..10"),
    Option("Vs", "Visibile", "branch", "Si", "Si No"),
    Option("Eu", "E_up_down", "branch", "-1", "-1 1"),
    Option("Ku", "K_up_down", "branch", "1", "-1 1"),
    Option("Qu", "Q_up_down", "branch", "1", "-1 1"),
    Option("Fu", "F_up_down", "branch", "-1", "-1 1"),
    Option("Pin", "Pow_In", "branch", "1", "-1 1"),
)

SPELLINGS: dict[str, str] = {spelling: option.key for option in OPTIONS for spelling in (option.long, option.key)}
"""Every spelling of an option, and its short one."""

SPELLINGS |= {name: name for name in NAMES}
