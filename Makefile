# SPDX-License-Identifier: MIT
# `make help` lists the targets.

SWIFT ?= swift
# The system's own: its packages bring the bindings that the interop tests use.
PYTHON ?= /usr/bin/python3

# What of the tests in Python is run on the debug binaries, too, where Swift checks more: on one bus,
# since that changes nothing for these; and by how many processes at a time.
INTEROP_DEBUG ?= Tests/Interop/test_behaviour_*.py Tests/Interop/test_daemon_*.py \
	-m "not slow and not timing" -k "not broker"
INTEROP_JOBS ?= 3

RELEASE := .build/release
DEBUG := .build/debug
REPORTS := .build/reports

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run check check-desktop build test interop lint deps deps-build clean

help: ## List the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

run: deps-build build ## Build, and play a scene on a private bus
	tools/demo

check: deps lint test interop ## All of the checks: lint, unit tests, build, interop tests
	tools/check-binary $(RELEASE)/busyindicatord $(RELEASE)/busyctl
	@tools/test-report $(REPORTS)

# Building. The target machines have no Swift runtime, so that is linked statically; the C++ library
# that it needs comes along, where there is an archive of it, since loading the shared one takes a
# fourth of the time in which busyctl starts. The linker strips, which leaves nothing to be done
# after an incremental build.

RELEASE_FLAGS := -c release --static-swift-stdlib --disable-local-rpath \
	-Xlinker --gc-sections -Xlinker -s -Xlinker -z -Xlinker now \
	-Xlinker -L$(CURDIR)/.build/archives -Xswiftc -Xclang-linker -Xswiftc -static-libgcc

build: .build/archives ## Build the release binaries: .build/release/busyindicatord, busyctl
	$(SWIFT) build $(RELEASE_FLAGS)

# A directory of archives only, found before those with shared libraries.
.build/archives:
	@mkdir -p $@
	@archive=$$(gcc -print-file-name=libstdc++.a); \
	if [ -f "$$archive" ]; then ln -s "$$archive" $@; fi

# Testing. Each run leaves a report; skipped tests are faults.

test: ## Run the unit tests
	@mkdir -p $(REPORTS)
	$(SWIFT) test --disable-xctest --xunit-output $(REPORTS)/unit.xml

interop: build ## Run the tests in Python on the release binaries, the behaviour on the debug ones, too
	$(call run_pytest,release,$(RELEASE),-n $(INTEROP_JOBS) Tests/Interop -m "not timing")
	$(call run_pytest,timing,$(RELEASE),Tests/Interop -m timing)
	$(SWIFT) build
	$(call run_pytest,debug,$(DEBUG),-n $(INTEROP_JOBS) $(INTEROP_DEBUG))

# $(call run_pytest,NAME,FOLDER OF BINARIES,TESTS AND OPTIONS)
define run_pytest
@mkdir -p $(REPORTS)
BUSYINDICATORD=$(CURDIR)/$(2)/busyindicatord BUSYCTL=$(CURDIR)/$(2)/busyctl \
	$(PYTHON) -m pytest -q $(3) -p no:cacheprovider --junit-xml=$(REPORTS)/interop-$(1).xml
endef

check-desktop: deps build ## Show the plugins on real desktop programs; leaves pictures
	Tests/Desktop/run

lint: ## Check the format and the rules of the house
	$(SWIFT) format lint --strict --parallel --recursive Sources Tests Package.swift
	tools/lint

deps: ## Install what building and testing need and is missing
	@tools/deps build test

deps-build:
	@tools/deps build

clean: ## Remove what was built
	rm -rf .build

include packaging/packaging.mk
include Benchmarks/bench.mk
