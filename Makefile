# Everything a developer runs. Each target prepares what it needs in $(VENV); nothing is asked of the
# machine but a C++20 compiler, make and Python >= 3.10.
#
#   make demo                      build, then next-token prediction over Python's standard library
#   make test                      every check: linters, types, C++ tests, Python tests, doctests
#   make test PYTEST_ARGS="-k tree"
#   make test-engines              the tests that need Ray, Spark and DuckDB, which it installs
#   make test-annif                the backend for Annif, in an environment of its own
#   make VENV=/tmp/other test      another virtual environment
#   make docs                      the documentation as pages, in build/docs/html
#   make fuzz FUZZ_SECONDS=600     look for bytes that a parser cannot bear (needs clang++)

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
PYTEST_ARGS ?= -n $(JOBS) --dist worksteal
BENCH_ARGS ?=
WHEEL_TESTS ?= tests

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
CMAKE := $(BIN)/cmake
CTEST := $(BIN)/ctest --output-on-failure -j $(JOBS)

# What the build needs is listed once, in pyproject.toml.
BUILD_REQUIRES = $(shell sed -n 's/^requires = \[\(.*\)\]/\1/p' pyproject.toml | sed 's/", "/" "/g')
CPP_FILES := $(wildcard cpp/include/recalltree/*/*.hpp cpp/src/*/*.cpp cpp/bindings/*.hpp cpp/bindings/*.cpp cpp/tests/*.hpp cpp/tests/*.cpp cpp/fuzz/*.hpp cpp/fuzz/*.cpp)
CORE_SOURCES := $(filter-out cpp/tests/% cpp/fuzz/%,$(CPP_FILES)) CMakeLists.txt pyproject.toml

export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)

.PHONY: demo test test-annif test-engines build lint format bench cpp-test tsan asan fuzz wheel test-wheel docs docs-links clean
.DEFAULT_GOAL := build

# --- environment and build -----------------------------------------------------------------------

# --no-build-isolation keeps the paths of the build tools, so that a rebuild compiles what changed.
INSTALL := CMAKE_GENERATOR=Ninja PATH="$(abspath $(BIN)):$$PATH" $(PIP) install --no-build-isolation -e

$(VENV)/.tools: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install $(BUILD_REQUIRES) cmake ninja
	@touch $@

$(VENV)/.package: $(VENV)/.tools $(CORE_SOURCES)
	$(INSTALL) .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.package
	$(INSTALL) '.[dev]'
	@touch $@

build: $(VENV)/.package

wheel: $(VENV)/.tools
	PATH="$(abspath $(BIN)):$$PATH" $(PIP) wheel --no-build-isolation --no-deps -w dist .

# The wheel, in an environment with nothing else but what its tests need.
test-wheel: $(VENV)/.tools build/.exists
	rm -rf build/wheel && mkdir build/wheel
	PATH="$(abspath $(BIN)):$$PATH" $(PIP) wheel --no-build-isolation --no-deps -w build/wheel .
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip --disable-pip-version-check -q install \
	  "$$(echo build/wheel/*.whl)[test]"
	build/wheel/venv/bin/python -m pytest $(PYTEST_ARGS) -p no:cacheprovider $(WHEEL_TESTS)

# --- use -----------------------------------------------------------------------------------------

demo: $(VENV)/.package
	$(BIN)/python -m recalltree.demo

bench: $(VENV)/.package
	$(INSTALL) '.[bench]'
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

# --- documentation --------------------------------------------------------------------------------

$(VENV)/.docs: pyproject.toml | $(VENV)/.package
	$(INSTALL) '.[docs]'
	@touch $@

SPHINX = $(BIN)/sphinx-build -q -W --keep-going -j $(JOBS) -c docs -d build/docs/doctrees

# Warnings are errors, links between pages included. The tutorials draw their plots on the way.
docs: $(VENV)/.docs
	rm -rf build/docs/html
	$(SPHINX) -b html . build/docs/html
	@echo "make docs: open build/docs/html/index.html"

# Asks the network whether links to other sites still lead somewhere.
docs-links: $(VENV)/.docs
	$(SPHINX) -b linkcheck . build/docs/links

# --- checks --------------------------------------------------------------------------------------

# Installing waits for the network and for one core: meanwhile the other compiles.
test:
	@$(MAKE) --no-print-directory --output-sync=target -j $(JOBS) lint cpp-test tsan
	$(BIN)/python -m pytest $(PYTEST_ARGS)
	@echo "make test: all checks passed"

# Engines are large: they have an environment of their own, which looks into that of the developers.
ENGINES_VENV ?= .venv-engines
ENGINES_REQUIRE = $(shell sed -n 's/^\(ray\|spark\|duckdb\) = \[\("[^]]*\]*[^]]*"\)\].*/\2/p' pyproject.toml)
SITE = $$($(1)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")

$(ENGINES_VENV)/.ready: pyproject.toml | $(VENV)/.dev
	$(PYTHON) -m venv $(ENGINES_VENV)
	echo "import site; site.addsitedir('$(call SITE,$(VENV))')" > $(call SITE,$(ENGINES_VENV))/developers.pth
	$(ENGINES_VENV)/bin/python -m pip --disable-pip-version-check -q install $(ENGINES_REQUIRE)
	@touch $@

# Where there is Java, Spark has to be tested. Most of the time engines start: two files at a time.
ENGINES_ARGS ?= -n $(JOBS) --dist loadfile
test-engines: $(ENGINES_VENV)/.ready
	RECALLTREE_ENGINES="ray duckdb $(shell command -v java > /dev/null && echo pyspark)" \
	  $(ENGINES_VENV)/bin/python -m pytest tests/test_engine_*.py src/recalltree/ray $(ENGINES_ARGS)
	@echo "make test-engines: all checks passed"

# Annif is large and holds other packages at versions of its own: it has an environment to itself, with
# the wheel that users would install.
ANNIF_VENV ?= .venv-annif
ANNIF_PIP := $(ANNIF_VENV)/bin/python -m pip --disable-pip-version-check -q
PYTHON_SOURCES := $(wildcard src/recalltree/*.py src/recalltree/*/*.py src/recalltree/*/*/*.py)

$(ANNIF_VENV)/.annif: pyproject.toml
	$(PYTHON) -m venv $(ANNIF_VENV)
	$(ANNIF_PIP) install $$(sed -n 's/^annif = \["\([^"]*\)"\].*/\1/p' pyproject.toml) pytest hypothesis
	@touch $@

$(ANNIF_VENV)/.package: $(ANNIF_VENV)/.annif $(VENV)/.package $(PYTHON_SOURCES)
	rm -rf build/annif
	PATH="$(abspath $(BIN)):$$PATH" $(PIP) wheel --no-build-isolation --no-deps -w build/annif .
	$(ANNIF_PIP) uninstall -y recalltree
	$(ANNIF_PIP) install "$$(echo build/annif/*.whl)[annif]"
	@touch $@

test-annif: $(ANNIF_VENV)/.package
	RECALLTREE_ANNIF=required $(ANNIF_VENV)/bin/python -m pytest tests/test_annif.py --pyargs recalltree.annif

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

# $(call cpp_tests,folder,sanitizer,wrapper,tests,core): all tests, or these; with a core that is built already
define cpp_tests
	$(CMAKE) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -S . -B build/$(1) \
	  -DRECALLTREE_TESTS=ON -DRECALLTREE_SANITIZE=$(2) -DRECALLTREE_CORE="$(5)" > build/$(1).log \
	  || { cat build/$(1).log; exit 1; }
	$(CMAKE) --build build/$(1) $(if $(4),--target $(4))
	$(3) $(CTEST) --test-dir build/$(1) $(if $(4),-R "$$(echo $(4) | tr ' ' '|')")
endef

build/.exists:
	@mkdir -p build && touch $@

# The tests link the core that the package was made of.
PACKAGE_CORE = $(abspath $(firstword $(shell ls -t build/cp3*/librecalltree_core.a 2> /dev/null)))

cpp-test: $(VENV)/.package build/.exists
	$(call cpp_tests,cpp,,,,$(PACKAGE_CORE))

# Of the C++ tests, these have threads.
THREAD_TESTS := mini_batches paper_mini_batches thread_team while_learning

# Some kernels randomise addresses more than ThreadSanitizer can bear: then it runs without.
tsan: $(VENV)/.tools build/.exists
	@echo 'int main() { return 0; }' > build/probe.cpp; \
	if ! $${CXX:-c++} -fsanitize=thread build/probe.cpp -o build/probe 2> /dev/null; then \
	  echo "tsan: skipped, the compiler has no ThreadSanitizer"; exit 0; \
	elif build/probe 2> /dev/null; then wrapper=; \
	elif setarch -R build/probe 2> /dev/null; then wrapper="setarch -R"; \
	else echo "tsan: skipped, ThreadSanitizer does not run on this machine"; exit 0; fi; \
	$(MAKE) --no-print-directory tsan-run WRAPPER="$$wrapper"

.PHONY: tsan-run
tsan-run:
	$(call cpp_tests,cpp-thread,thread,$(WRAPPER),$(THREAD_TESTS))

asan: $(VENV)/.tools build/.exists
	$(call cpp_tests,cpp-address,address)
	$(call cpp_tests,cpp-undefined,undefined)

# New inputs are kept in build/fuzz; those worth keeping go to cpp/fuzz/corpus, which `make cpp-test`
# runs over.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS := $(patsubst cpp/fuzz/corpus/%,%,$(wildcard cpp/fuzz/corpus/*))

fuzz: $(VENV)/.tools build/.exists
	$(CMAKE) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -S . -B build/fuzz \
	  -DRECALLTREE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ > build/fuzz.log || { cat build/fuzz.log; exit 1; }
	$(CMAKE) --build build/fuzz --target $(addprefix fuzz_,$(FUZZ_TARGETS))
	@set -e; for target in $(FUZZ_TARGETS); do \
	  echo "fuzz $$target: $(FUZZ_SECONDS) seconds"; mkdir -p build/fuzz/new/$$target; \
	  build/fuzz/fuzz_$$target -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -rss_limit_mb=2048 \
	    -timeout=10 -artifact_prefix=build/fuzz/$$target- -print_final_stats=1 -verbosity=0 \
	    build/fuzz/new/$$target cpp/fuzz/corpus/$$target; \
	done; echo "make fuzz: nothing found"

clean:
	rm -rf build dist wheelhouse .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
