# Everything from a fresh clone: `make chat` and `make test` need Python 3.11+, git and make.

VENV := .venv
BIN := $(VENV)/bin
QUESTION := What is the capital of Italy?

.PHONY: help chat test lint types unit cover soak bench docs release-check format clean

help:
	@echo "make chat    install, fetch the bundled model once, ask it, show what dragoman does"
	@echo "make test    install what the tests need; lint, types, import rules, tests"
	@echo "make cover   the tests, and which lines and branches they reach"
	@echo "make soak    the long versions of the tests"
	@echo "make bench   compare with langchain-core on this machine"
	@echo "make docs    run the code of README.md and docs/, build the pages"
	@echo "make release-check  build wheel and sdist, try each extra in a clean environment"
	@echo "make format  format the code"
	@echo "make clean   remove what the above made here"

# The stamps stand inside the environment, so that removing it removes them.
$(VENV)/.chat: pyproject.toml .ci/setup
	@.ci/setup $(VENV) cli,local,migrate $@

$(VENV)/.dev: pyproject.toml .ci/setup
	@.ci/setup $(VENV) dev $@

$(VENV)/.bench: pyproject.toml .ci/setup
	@.ci/setup $(VENV) bench $@

chat: $(VENV)/.chat
	@$(BIN)/dragoman demo '$(QUESTION)' </dev/null

test: lint types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/pyright
	@mkdir -p build
	PATH="$(CURDIR)/$(BIN):$$PATH" PYTHONPATH=src $(BIN)/pyright --verifytypes dragoman --ignoreexternal \
		>build/types.txt || { cat build/types.txt; exit 1; }
	@grep 'completeness' build/types.txt

unit: $(VENV)/.dev
	$(BIN)/python -m pytest -q

cover: $(VENV)/.dev
	$(BIN)/python -m pytest -q --cov --cov-report=term-missing:skip-covered

soak: $(VENV)/.dev
	DRAGOMAN_SOAK=1 $(BIN)/python -m pytest -q

docs: $(VENV)/.dev
	$(BIN)/python -m pytest -q tests/test_docs.py tests/test_quickstart.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo 'open build/site/index.html'

release-check: $(VENV)/.dev
	$(BIN)/python .ci/release_check.py

bench: $(VENV)/.bench
	$(BIN)/python bench/bench.py --target dragoman
	$(BIN)/python bench/convert.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache .grimp_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
