# `make` alone lists what there is. Everything runs in .venv, which `make install` makes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help install page test lint format types docs pictures demo bench-boxes bench-spark bench-arrays bench-latency bench-pressure bench-statistics bench-shedding bench-converters bench-server bench-page brokers soak fuzz oracle experiments clean

help: ## show this list
	@echo "Aurora. Targets:"
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{ printf "  make %-14s %s\n", $$1, $$2 }'

install: $(INSTALLED) ## make .venv with Aurora (editable), its page and the test tools
	@$(BIN)/python web/build_page.py --if-possible

page: $(INSTALLED) ## build the page of the server, if its sources have changed
	$(BIN)/python web/build_page.py

# Made anew only when what is to be installed has changed.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Aurora needs Python 3.11 or later; '$(PYTHON)' is $$($(PYTHON) --version 2>/dev/null || echo missing)."; \
		echo "Way out: install a newer Python and say which: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$(PYTHON)' cannot make virtual environments. Way out: install its venv package (Debian: apt install python3-venv)."; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python web/build_page.py --if-possible
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar on --constraint constraints.txt --editable '.[test]'
	@$(BIN)/python -m aurora.processors.spark.java || echo "Aurora is installed; without Java it runs with --processor local."
	@touch $@

test: lint types ## install, lint, check types, and run all tests and documentation examples
	@$(BIN)/python -m tests.server.install_brokers --once
	@$(BIN)/python -m tests.page.browser
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(PYTEST_ARGS)

lint: install ## ruff: rules and format, nothing changed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install ## mypy, strict
	$(BIN)/mypy

format: install ## ruff: put the code in form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: install ## write the reference pages that come from the code
	$(BIN)/python -m docs.generate

pictures: install ## take the pictures of the page that the documentation shows; needs an idle machine
	$(BIN)/python -m tests.page.pictures

demo: install ## the feed-alarms case study live, with its page; Ctrl-C ends it (DEMO_ARGS="--seconds 60 --processor local")
	$(BIN)/aurora demo $(DEMO_ARGS)

bench-boxes: install ## the boxes against Polars over the same data (BENCH_ARGS=--quick for a tenth of it)
	$(BIN)/python -m benchmarks.boxes $(BENCH_ARGS)

bench-spark: install ## Aurora on Spark against Structured Streaming, over the same files (BENCH_ARGS=--quick)
	$(BIN)/python -m benchmarks.spark $(BENCH_ARGS)

bench-latency: install ## latency beside Bytewax, Pathway, Flink SQL and Structured Streaming (BENCH_ARGS=--quick)
	$(BIN)/python -m benchmarks.latency $(BENCH_ARGS)

soak: install ## ten minutes at changing rates: nothing lost, queues short, memory flat (BENCH_ARGS="--seconds 60 --processor spark")
	$(BIN)/python -m benchmarks.soak $(BENCH_ARGS)

oracle: install ## random expressions, windows and joins against DuckDB, for minutes (ORACLE_ARGS="5000 --seed 7 --only windows")
	$(BIN)/python -m tests.sql_twins $(ORACLE_ARGS)

bench-pressure: install ## queues larger than their memory: how much slower a run gets (BENCH_ARGS=--quick)
	$(BIN)/python -m benchmarks.pressure $(BENCH_ARGS)

bench-statistics: install ## what it costs to measure, as a share of a live run
	$(BIN)/python -m benchmarks.statistics_cost

bench-arrays: install ## array work in NumPy against Polars, the ground for how window kernels are written
	$(BIN)/python -m benchmarks.array_work

bench-converters: install ## converters against Polars, NumPy and pyarrow over the same bytes (BENCH_ARGS=--quick)
	$(BIN)/python -m benchmarks.converters $(BENCH_ARGS)

bench-server: install ## Flight against a bare echo, 200 producers, JSON lines over TCP (BENCH_ARGS=--quick)
	$(BIN)/python -m benchmarks.server $(BENCH_ARGS)

bench-page: install ## how smooth the page stays with a thousand boxes, beside an empty page (BENCH_ARGS=--quick)
	$(BIN)/python -m benchmarks.page $(BENCH_ARGS)

brokers: install ## install Mosquitto, PostgreSQL and Kafka for the tests of sources and sinks
	$(BIN)/python -m tests.server.install_brokers

bench-shedding: install ## what answers are worth under overload, by policy, locally and on Spark (EXPERIMENT_ARGS=--quick)
	$(BIN)/python -m benchmarks.experiments --only shedding,shedding-spark $(EXPERIMENT_ARGS)

fuzz: install ## a million random expressions: only errors of our own, no panic, no answer that depends on the train (FUZZ_ARGS="--count 10000")
	$(BIN)/python -m tests.fuzz $(FUZZ_ARGS)

experiments: install ## the scheduling paper's figures on this engine, in 20 minutes (EXPERIMENT_ARGS="--quick --only 5,6")
	$(BIN)/python -m benchmarks.experiments $(EXPERIMENT_ARGS)

clean: ## remove .venv and what tools leave behind
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist out web/node_modules src/aurora/server/page
