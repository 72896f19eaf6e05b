"""The methods of this library, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bruit.collection.cross_tables import TAB
from bruit.collection.fake import RSFD, RSRFD
from bruit.collection.method import SINGLE, Method
from bruit.collection.one import One
from bruit.collection.sample import SMP
from bruit.collection.several import SMPk
from bruit.collection.split import SPL
from bruit.registry import register

#: What each name stands for: methods for several attributes.
METHODS: Mapping[str, str] = MappingProxyType(Method.kinds.meanings)

Method.kinds.add(SINGLE, One)
for _kind in (SPL, SMP, SMPk, RSFD, RSRFD, TAB):
    register(_kind)
