# Every target works on a fresh clone with Python 3.11+ and make; .venv is created on first use.
PYTHON ?= python3
BIN := .venv/bin
# One process more than cores: some tests wait for a browser, a server or a run that they will kill.
TESTERS = $(shell $(PYTHON) -c 'import os; print(os.cpu_count() + 1)')

.PHONY: demo test install lint format docs bench bench-tables clean

demo: .venv/core.stamp  ## the main job on bundled data
	$(BIN)/funnel demo -o out/demo --force

test: .venv/dev.stamp  ## all tests
	$(BIN)/pytest -n $(TESTERS)

install: .venv/dev.stamp  ## .venv with every extra

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/dev.stamp  ## the site, in build/site; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: .venv/dev.stamp  ## what is fast, as ratios from one run
	$(BIN)/python benchmarks/first_merge.py
	$(BIN)/python benchmarks/frontier.py
	$(BIN)/python benchmarks/soft.py

bench-tables: .venv/dev.stamp  ## 20 million rows, memory and time against plain SQL
	$(BIN)/python benchmarks/tables.py

.venv/core.stamp: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[all]'
	touch $@

.venv/dev.stamp: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	test -x .venv/dbt/bin/dbt || $(PYTHON) -m venv .venv/dbt # dbt pins versions that mypy does not go with
	.venv/dbt/bin/pip install --quiet --disable-pip-version-check 'dbt-core<1.12' 'dbt-duckdb>=1.9'
	touch $@ .venv/core.stamp

clean:
	rm -rf .venv build out
