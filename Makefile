# Every target sets up what it needs: a fresh machine with git, make and python3 >= 3.11 is enough.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
# Python may keep its bytecode: the tests start hundreds of commands, which else compile all again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-all lint mutation fuzz bench cpp vectors docs site format dist vscode clean

demo: $(VENV)/run
	@$(BIN)/python examples/demo.py

test: $(VENV)/dev
	$(BIN)/pytest -n 2 --dist worksteal

# Style and types; the gate runs it before the tests.
lint: $(VENV)/dev
	$(BIN)/ruff check src tests account examples bench
	$(BIN)/ruff format --check src tests account examples bench
	$(BIN)/pyright

FACTOR ?= 10
# The same with whole matrices of cases and FACTOR times as many random ones.
test-all: lint $(VENV)/site
	PTOKIT_FUZZ=$(FACTOR) $(BIN)/pytest -n 2 --dist worksteal

# Faults in 40 page bodies, 40 rules and 20 analyses: the test that notices each, or "survives".
KIND ?= bodies rules analyses
mutation: $(VENV)/dev
	@for kind in $(KIND); do $(BIN)/python tests/mutation/faults.py $$kind || exit 1; done

# Random and mutated programs, FACTOR times as many as in `make test`; FUZZ names some of them.
# FUZZ_SCHEDULER=tcp://HOST:PORT runs the random kernels on a Dask cluster.
FUZZ ?= tests/fuzz
fuzz: $(VENV)/dev
	PTOKIT_FUZZ=$(FACTOR) $(BIN)/pytest -n 2 $(FUZZ)

# It writes docs/speed.md: run it on a quiet machine.
bench: $(VENV)/bench
	@$(BIN)/python bench/run.py --document docs/speed.md

# The C++ of every program against the public headers: PTO_ISA is a clone of
# github hw-native-sys/pto-isa. Programs that its CPU simulator can run give our bytes there.
PTO_ISA ?=
cpp: $(VENV)/dev
	@PYTHONPATH=.:tests $(BIN)/python tests/pto/public_headers.py $(PTO_ISA)

# The public cases of vector functions: PTO_GYM is a clone of github PTO-ISA/PTO-Gym, CASES a word
# in the paths of some of them.
PTO_GYM ?=
vectors: $(VENV)/dev
	@PYTHONPATH=.:tests $(BIN)/python tests/pto/public_vectors.py "$(PTO_GYM)" "$(CASES)"

docs: $(VENV)/run
	@$(BIN)/python -m account.files

# The documentation as a site, in build/site: guides, a page for each instruction and diagnostic.
site: $(VENV)/site
	$(BIN)/python -m account.site.build build/site

format: $(VENV)/dev
	$(BIN)/ruff check --fix-only src tests account examples bench
	$(BIN)/ruff format src tests account examples bench

# An sdist and a wheel, tried in an empty environment of each Python that is found.
dist: $(VENV)/dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	PTOKIT_WHEEL=$$(ls $(CURDIR)/dist/*.whl) $(BIN)/pytest tests/repo/test_wheel.py

# The extension for VS Code, tested: editors/vscode/ptokit.vsix. It needs node and npm.
VSCODE := editors/vscode
vscode: docs
	cp LICENSE $(VSCODE)/
	cd $(VSCODE) && npm ci --no-audit --no-fund && npm test && npm run package

clean:
	rm -rf $(VENV)

$(VENV)/run: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/dev: $(VENV)/run
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# Numba is an opponent only: where there is none for this Python, its column stays empty.
$(VENV)/bench: $(VENV)/dev
	-@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	@touch $@

$(VENV)/site: $(VENV)/run
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[site]'
	@touch $@
