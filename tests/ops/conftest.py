"""Makes the reference package importable: it is checked and tested here, and never installed."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
