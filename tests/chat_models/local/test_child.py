import json
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.chat_models.local import child

COMMAND = [sys.executable, "-P", str(Path(child.__file__))]


@pytest.mark.parametrize("said", ["", "\n", "not json\n", "[]\n", '{"path": "/nowhere.gguf"}\n'])
def test_a_child_told_nonsense_reports_it_and_leaves(said):
    done = subprocess.run(COMMAND, input=said, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stderr == ""
    assert list(json.loads(done.stdout)) == ["error"]


def test_it_imports_nothing_of_dragoman():
    assert "dragoman" not in Path(child.__file__).read_text().partition('"""\n\nimport')[2]
