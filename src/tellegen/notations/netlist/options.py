"""The options of POG_Modeler: what may stand in the `Par, Val` pairs of a netlist, with their short and their long spelling.

Most of them are about the drawing. Tellegen keeps them as they were written; those that it acts on are in `NAMES` and `PHYSICS`.
"""

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
