"""Local privacy: every device randomises its own value, and the collector never sees the truth.

An *encoding* is the device's half: it turns one of ``size`` values into a report that is epsilon-LDP whatever is done
with it later. `estimate` is the collector's half: reports in, counts with standard errors out. Reports stream into a
`Tally`; `choose` picks an encoding, `shuffled` and `repeated` say what reports promise when they arrive shuffled, or
day after day.
"""

from sudare.local.accounting import repeated, shuffled
from sudare.local.choosing import Choice, choose, encoding_from_json
from sudare.local.encoding import Encoding
from sudare.local.estimation import Estimate, JointEstimate, estimate, joint
from sudare.local.files import ReportFile, decode_report, encode_report
from sudare.local.flood import FORGED, honest_chance
from sudare.local.hadamard import HadamardResponse
from sudare.local.hashing import LocalHashing
from sudare.local.one_bit import BitMemory, EstimatedMean, OneBitMean
from sudare.local.permanent import Memory, PermanentUnary, Rappor, rappor
from sudare.local.reports import Reports
from sudare.local.several import Several
from sudare.local.square_wave import SquareWave
from sudare.local.subset import RandomisedResponse, SubsetSelection
from sudare.local.tally import Tally
from sudare.local.unary import OptimisedUnary, SymmetricUnary
from sudare.registry import ENCODINGS

__all__ = [
    "ENCODINGS",
    "FORGED",
    "BitMemory",
    "Choice",
    "Encoding",
    "Estimate",
    "EstimatedMean",
    "HadamardResponse",
    "JointEstimate",
    "LocalHashing",
    "Memory",
    "OneBitMean",
    "OptimisedUnary",
    "PermanentUnary",
    "RandomisedResponse",
    "Rappor",
    "ReportFile",
    "Reports",
    "Several",
    "SquareWave",
    "SubsetSelection",
    "SymmetricUnary",
    "Tally",
    "choose",
    "decode_report",
    "encode_report",
    "encoding_from_json",
    "estimate",
    "honest_chance",
    "joint",
    "rappor",
    "repeated",
    "shuffled",
]
