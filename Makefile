# make demo: store a conversation and ask about it.  make test: run the tests.  Needs python3 and make only.
# make test-shared: the tests of behaviour on PostgreSQL and a Chroma server. Needs PostgreSQL's server (postgresql).
# make soak: the tests of faults in their long form, with 1,000 killed processes.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-shared soak lint types bench clean

$(VENV)/.base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.dev: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: $(VENV)/.base
	$(BIN)/hexamem demo

# On two cores; some tests wait. Threads of BLAS would only wait for each other.
test: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 3 --dist worksteal

test-shared: $(VENV)/.dev
	HEXAMEM_TEST_SHARED=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 3 --dist loadfile

# With HEXAMEM_SOAK_SEED=N other faults; with HEXAMEM_TEST_POSTGRES (scripts/postgres_for_tests.sh) on a shared ledger too.
soak: $(VENV)/.dev
	HEXAMEM_SOAK=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -s --durations 10 tests/test_durability.py tests/test_faults.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/python scripts/check_types.py

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/foundation.py

clean:
	rm -rf $(VENV) build dist *.egg-info
