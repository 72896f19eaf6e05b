"""bruit's kernel fed by NumPy's PCG64: fast, but predictable from its own output."""

from __future__ import annotations

import harness
import keystream

if __name__ == "__main__":
    harness.main({("GRR", "keystream"): keystream.pcg64})
