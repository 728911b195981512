"""The rules of the house: the map, the mirror, the sizes, what an import may load."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import dragoman

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "dragoman"
TESTS = ROOT / "tests"
MAX_LINES = 600
# `child.py` is a program; `__main__` runs the command when it is imported.
MODULES = sorted(
    name
    for _, name, _ in pkgutil.walk_packages([str(SOURCE)], "dragoman.")
    if not name.endswith("__main__")
)
HEAVY = ("pydantic", "httpx2", "asyncio", "jinja2", "pyarrow", "xllamacpp", "rich", "click")


def python_files() -> list[Path]:
    return sorted(
        path
        for folder in (SOURCE, TESTS, ROOT / "examples")
        for path in folder.rglob("*.py")
        if "cases" not in path.parts
    )


def test_no_file_is_longer_than_a_person_reads():
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in python_files()
    }
    assert {name: n for name, n in sizes.items() if n > MAX_LINES} == {}


def test_every_test_file_stands_where_its_module_stands():
    strays = []
    for path in TESTS.rglob("test_*.py"):
        folder = path.relative_to(TESTS).parent
        if not (SOURCE / folder).is_dir():
            strays.append(str(path.relative_to(ROOT)))
    assert strays == []


def test_every_package_with_code_has_tests():
    untested = [
        str(init.parent.relative_to(SOURCE))
        for init in SOURCE.rglob("__init__.py")
        if init.parent != SOURCE
        and any(path.name != "__init__.py" for path in init.parent.glob("*.py"))
        and not any((TESTS / init.parent.relative_to(SOURCE)).glob("test_*.py"))
    ]
    assert untested == []


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_exists_and_every_module_says_what_it_is(name):
    module = importlib.import_module(name)
    assert module.__doc__, "a module docstring"
    public = getattr(module, "__all__", [])
    assert len(set(public)) == len(public)
    assert [n for n in public if not hasattr(module, n)] == []


def test_the_public_modules_say_what_is_public():
    silent = [
        path.relative_to(SOURCE)
        for path in SOURCE.rglob("*.py")
        if not path.name.startswith("_")
        and not any(
            isinstance(node, ast.Assign | ast.AnnAssign)
            and "__all__" in ast.unparse(node).partition("=")[0]
            for node in ast.parse(path.read_text()).body
        )
    ]
    assert silent == [Path("chat_models/local/child.py")]


@pytest.mark.parametrize(
    "statement",
    [
        "import dragoman",
        "import dragoman.messages",
        "import dragoman.codecs",
        "import dragoman.transcript",
        "from dragoman.messages import AIMessage, HumanMessage, trim_messages",
    ],
)
def test_a_light_import_loads_nothing_heavy(statement):
    code = f"import sys; {statement}; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_the_chat_models_package_waits_with_the_network_until_it_is_used():
    code = (
        "import sys, dragoman.chat_models\n"
        "print([m for m in ('pydantic', 'httpx2', 'ssl', 'xllamacpp') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_imports_go_up_the_map():
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


def test_nothing_is_left_for_later():
    words = ("TO" + "DO", "FIX" + "ME", "XX" + "X:", "NotImplemented" + "Error()")
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in python_files()
        for word in words
        if word in path.read_text()
    ]
    assert found == []


def test_the_version_is_said_once():
    text = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{dragoman.__version__}"' in text
    assert f"[{dragoman.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
