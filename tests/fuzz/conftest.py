"""What the tests here share is imported by its own name, also by the process that reads documents."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
