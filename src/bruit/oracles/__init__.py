"""One category per person: mechanisms that report it privately and estimate frequencies from the reports."""

from typing import TYPE_CHECKING

from bruit._renamed import answering
from bruit.oracles.base import Oracle
from bruit.oracles.bit_flip import DBitFlip
from bruit.oracles.bits import BitOracle
from bruit.oracles.choosing import Choice, OracleRanking, choose, people_needed
from bruit.oracles.following import FollowedChanges
from bruit.oracles.hadamard_response import HadamardResponse
from bruit.oracles.local_hashing import LocalHashing
from bruit.oracles.longitudinal import PANELS, one_report, panel
from bruit.oracles.longitudinal_hashing import LongitudinalHashing
from bruit.oracles.memory import Memory
from bruit.oracles.messages import SetOracle
from bruit.oracles.named import NAMES, from_dict, oracle
from bruit.oracles.panel_ranking import PanelChoice, PanelRanking, choose_panel
from bruit.oracles.projective_geometry import ProjectiveGeometry
from bruit.oracles.randomized_response import RandomizedResponse
from bruit.oracles.repeated import Repeated
from bruit.oracles.series import RoundContrast, Series
from bruit.oracles.subset_selection import SubsetSelection
from bruit.oracles.unary_encoding import UnaryEncoding

__all__ = [
    "NAMES",
    "PANELS",
    "BitOracle",
    "Choice",
    "DBitFlip",
    "FollowedChanges",
    "HadamardResponse",
    "LocalHashing",
    "LongitudinalHashing",
    "Memory",
    "Oracle",
    "OracleRanking",
    "PanelChoice",
    "PanelRanking",
    "ProjectiveGeometry",
    "RandomizedResponse",
    "Repeated",
    "RoundContrast",
    "Series",
    "SetOracle",
    "SubsetSelection",
    "UnaryEncoding",
    "choose",
    "choose_panel",
    "from_dict",
    "one_report",
    "oracle",
    "panel",
    "people_needed",
]

if not TYPE_CHECKING:  # a checker would take any name then
    __getattr__ = answering(__name__)
