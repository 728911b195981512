"""The traffic checker over all recordings, wherever they stand beside the repository."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TRAFFIC = ROOT.parent / "shared" / "traffic"


def test_the_checker_holds_over_all_recordings(capsys):
    """Runs `check.py`; without the recordings beside the repository it says so and has nothing to do."""
    if not (TRAFFIC / "check.py").exists():
        with capsys.disabled():
            print(
                f"\nno recorded traffic in {TRAFFIC.parent.name}/traffic beside the repository: not run"
            )
        return
    run = subprocess.run(
        [sys.executable, str(TRAFFIC / "check.py")], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-2000:]
