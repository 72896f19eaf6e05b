"""Local hashing (BLH, OLH, LH): the oracle, its reports as lines, the pool of seeds, and the error that a pool adds."""

from bruit.oracles.local_hashing.oracle import LocalHashing

__all__ = ["LocalHashing"]
