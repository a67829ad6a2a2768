# Makefile: the few commands that everybody needs, in front of CMake. `make help` lists them.
# Variables: JOBS (parallel jobs), PREFIX and DESTDIR (install), FUZZ_SECONDS (per fuzz target).

JOBS ?= $(shell nproc)
# Tests with more threads than cores wait for each other most of the time: one more test than cores runs beside them.
TEST_JOBS ?= $(shell expr $(JOBS) + 1)
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60

# ThreadSanitizer needs its shadow addresses free, which address randomisation of new kernels does not promise.
NO_ASLR = $(shell setarch -R true 2>/dev/null && echo setarch -R)

# A build without tests; a build directory that has them keeps them.
define BUILD
@test -f build/build.ninja || cmake -G Ninja -S . -B build -D LOCKSTEP_TESTS=OFF >/dev/null
@cmake --build build -j $(JOBS)
endef

.DEFAULT_GOAL := build
.PHONY: help deps build test test-clients demo demo-queueing kernels readme deb bench validation lint format install asan tsan \
        coverage fuzz clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install everything that any target needs (Debian packages), except the programs of test-clients
	@scripts/deps build kernels test bench lint fuzz

build: ## build the program, the library and the examples into build/
	@scripts/deps build
	$(BUILD)

test: ## build and run all tests, except those that need heavy packages and some long ones
	@scripts/deps build test
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS)
	@ctest --test-dir build --output-on-failure --no-label-summary -j $(TEST_JOBS) -LE '^clients$$'

test-clients: ## install real OpenCL programs, a disassembler and debootstrap, and run the tests that need them, those against PoCL, and some long ones
	@scripts/deps build test clients
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS)
	@cmake --build build -j $(JOBS) --target clients-kernels
	@ctest --test-dir build --output-on-failure --no-label-summary -j 2 -L '^clients$$'

demo: ## build and show a first result: an NVIDIA kernel, an AMD program, and models of several fidelities
	@scripts/deps build
	$(BUILD)
	@scripts/demo

demo-queueing: ## build and compare machines of queues with their closed forms
	@scripts/deps build
	$(BUILD)
	@scripts/demo-queueing

kernels: ## compile the workloads' kernels again and renew workloads/prebuilt (clang-15)
	@scripts/deps build kernels
	@test -f build/build.ninja || cmake -G Ninja -S . -B build -D LOCKSTEP_TESTS=OFF >/dev/null
	@cmake build >/dev/null
	@cmake --build build -j $(JOBS) --target kernels_recompiled
	@scripts/kernels

readme: ## put into README.md and docs/ what their commands print now
	@scripts/deps build
	$(BUILD)
	@scripts/readme --update
	@LOCKSTEP_PANDAS=0 PYTHONPATH=build/python python3 tests/python/doc.py --update docs/python.md

deb: ## build a Debian package into build/
	@scripts/deps build deb
	$(BUILD)
	@cd build && cpack -G DEB

bench: ## measure the engine against its targets (bench/run --record keeps the numbers)
	@scripts/deps build bench
	$(BUILD)
	@bench/run

validation: ## renew docs/validation.md and docs/validation-fidelity.md (some minutes)
	@scripts/deps build
	$(BUILD)
	@build/lockstep validate --markdown docs/validation.md | grep '^  [A-Za-z]*: '
	@build/lockstep validate --fidelity all --markdown docs/validation-fidelity.md | grep '^  [A-Za-z]*: '

lint: ## check format, clang-tidy, cppcheck and shell scripts
	@scripts/deps build test lint
	@cmake --preset release >/dev/null
	@scripts/lint

format: ## format all C files in place
	@scripts/deps lint
	@git ls-files '*.c' '*.h' | xargs clang-format-15 -i

install: build ## install into PREFIX (default /usr/local), below DESTDIR
	@DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX)

asan: ## run all tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/deps build test
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan -j $(JOBS)
	@ctest --preset asan --no-label-summary

tsan: ## run the tests of base and engine under ThreadSanitizer
	@scripts/deps build test
	@cmake --preset tsan >/dev/null
	@cmake --build --preset tsan -j $(JOBS)
	@$(NO_ASLR) ctest --preset tsan --no-label-summary

coverage: ## which lines the tests run
	@scripts/deps build test
	@cmake --preset coverage >/dev/null
	@cmake --build --preset coverage -j $(JOBS)
	@scripts/coverage

fuzz: ## fuzz every parser for FUZZ_SECONDS each
	@scripts/deps build test fuzz
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz -j $(JOBS)
	@scripts/fuzz $(FUZZ_SECONDS)

clean: ## remove everything that was built
	@rm -rf build build-debug build-asan build-tsan build-coverage build-fuzz out
