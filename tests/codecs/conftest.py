"""Makes `codec_kit` importable from the tests of every format."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
