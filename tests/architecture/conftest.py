"""The tests of this folder read the same sources, which `sources.py` parses once."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
