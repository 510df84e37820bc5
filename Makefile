# The two commands of the README: `make lint` and `make test`. Both need only Python 3.11+, make and PyPI.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$python; exit; }; done; \
	echo no-python-3.11-or-newer)
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: lint dev test golden clean
.DELETE_ON_ERROR:

lint: $(VENV)/.installed ## check the reference ops package
	$(BIN)/opslint veomni/

test: $(VENV)/.installed-test ## everything that CI runs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/opslint .
	$(BIN)/pytest

dev: $(VENV)/.installed-dev ## the test tools, without torch

golden: $(VENV)/.installed-test ## rewrite findings.txt and console blocks from what opslint now says; read the diff
	OPSLINT_UPDATE_GOLDEN=1 $(BIN)/pytest -q tests/test_golden_trees.py tests/test_docs.py -k 'golden or console'

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,veomni]'
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[tilelang]' # its tests are skipped without
	touch $@ $(VENV)/.installed
