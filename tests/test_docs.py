"""Every piece of code that a reader may copy runs: in README.md, docs/ and docstrings.

The Python blocks of one page run in order in one namespace, in an empty folder. A block behind the
line `<!-- no-run -->` needs a key or a network and is only compiled.
"""

import ast
import doctest
import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

import dragoman

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# These two are pasted into a fresh interpreter by test_quickstart.py.
PASTED = [ROOT / "README.md", ROOT / "docs" / "quickstart.md"]
BLOCK = re.compile(r"(<!-- no-run -->\n+)?^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:|#)([^)#]+)(?:#[^)]*)?\)")
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
MODULES = sorted(
    name
    for _, name, _ in pkgutil.walk_packages(dragoman.__path__, "dragoman.")
    if not name.endswith("__main__")
)
DOCTESTED = [
    name
    for name in MODULES
    if ">>> " in Path(str(importlib.util.find_spec(name).origin)).read_text()
]


def blocks(page: Path) -> list[tuple[bool, str, int]]:
    text = page.read_text()
    return [(bool(m[1]), m[2], text.count("\n", 0, m.start(2)) + 1) for m in BLOCK.finditer(text)]


@pytest.mark.local_model
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page not in PASTED and blocks(page)],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_the_code_of_a_page_runs_as_it_stands(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "__page__"}
    for is_compiled_only, code, line in blocks(page):
        # The line numbers of a traceback are those of the page.
        compiled = compile("\n" * (line - 1) + code, str(page), "exec")
        if not is_compiled_only:
            exec(compiled, names)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page):
    links = LINK.findall(FENCED.sub("", page.read_text()))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("name", DOCTESTED)
def test_the_examples_in_docstrings_hold(name):
    # Read from the source: a class may say that it is from another module than its file.
    module = importlib.import_module(name)
    tree = ast.parse(Path(str(module.__file__)).read_text())
    runner = doctest.DocTestRunner(
        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False
    )
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        text = ast.get_docstring(node) if isinstance(node, kinds) else None
        if text and ">>> " in text:
            names = dict(vars(module))
            title = f"{name}.{getattr(node, 'name', '')}"
            runner.run(doctest.DocTestParser().get_doctest(text, names, title, module.__file__, 0))
    assert runner.failures == 0
    assert runner.tries > 0


@pytest.mark.parametrize("page", ["providers.md", "histories.md", "performance.md"])
def test_the_tables_of_a_page_are_those_of_the_data(page):
    spec = importlib.util.spec_from_file_location("tables", ROOT / "docs" / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    assert tables.page_with_table(page) == (ROOT / "docs" / page).read_text()


def test_the_tests_that_a_page_names_exist():
    # The first page gives a command for each claim; the page on security names tests.
    text = "\n".join(page.read_text() for page in PAGES)
    named = set(re.findall(r"\btests/[\w/]+(?:\.py)?", text))
    assert named
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_every_page_is_in_the_menu():
    menu = (ROOT / "mkdocs.yml").read_text()
    pages = [p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")]
    assert sorted(page for page in pages if f": {page}\n" not in menu) == []


def test_the_readme_opens_with_what_it_is_and_the_two_commands():
    head = (ROOT / "README.md").read_text()[:1500]
    assert "keeps one conversation valid on every LLM provider" in " ".join(head.split())
    assert "make chat" in head
    assert "make test" in head
