"""Linear analysis of models: poles, zeros, responses, structure, and how power divides."""

from tellegen.analysis.linear_model import LinearModel, linear_model
from tellegen.analysis.poles import Pole, frequency_response, poles_near
from tellegen.analysis.responses import Bode, Response
from tellegen.analysis.steady import steady_state
from tellegen.analysis.structure import Passivity, Reach
from tellegen.analysis.summary import Analysis, ClosedLoop, PowerSplit, split_power

__all__ = [
    "Analysis",
    "Bode",
    "ClosedLoop",
    "LinearModel",
    "Passivity",
    "Pole",
    "PowerSplit",
    "Reach",
    "Response",
    "frequency_response",
    "linear_model",
    "poles_near",
    "split_power",
    "steady_state",
]
