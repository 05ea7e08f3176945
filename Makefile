# opsctl: `make` lists the targets. Bun comes from npm into .tools; nothing else is needed.
BUN_VERSION := 1.4.5
# SHA-256 of bin/bun in the npm packages @oven/bun-<platform> of this version. No other builds or tests; see .ci/bun.sh.
BUN_SHA256_linux-x64          := f05d28a3862f4b84395c7fa32480b835dd47482e80b7e7a49a115227f0c06083
BUN_SHA256_linux-aarch64      := 04778f1f42399a69d086853e9c7af4acf574b2f21a43d0dc673853d8b84a2923
BUN_SHA256_linux-x64-musl     := cf5d285ddbe256785a5121a3c113191a6b577504976374c7cfd5aedca609b720
BUN_SHA256_linux-aarch64-musl := 9c48986093073afec8b76a3e285303598dd2462f52748aecb65e4d94866e1ea3
BUN_SHA256_darwin-x64         := 88f97645b270aef20f9f9442f1658461cab3e7128e658af4615144e3396f084a
BUN_SHA256_darwin-aarch64     := e2984124f1514e1e6bbda20adedbf07a02c443c6a5828853a15c7c7abf78e19f
PLATFORM    := $(shell uname -s | tr A-Z a-z)-$(subst x86_64,x64,$(subst arm64,aarch64,$(shell uname -m)))
PLATFORM    := $(PLATFORM)$(if $(wildcard /etc/alpine-release),-musl)
bun-of       = .tools/bun-$(BUN_VERSION)/$1/bun
get-bun      = sh .ci/bun.sh $(BUN_VERSION) $1 "$(BUN_SHA256_$1)" $(call bun-of,$1)
BUN         := $(call bun-of,$(PLATFORM))

COMMIT      := $(shell git describe --always --exclude '*' --abbrev=12 --dirty=+changes 2>/dev/null || echo unknown)
BUILD_FLAGS := --compile --minify --bytecode --format=esm --splitting \
	--no-compile-autoload-dotenv --no-compile-autoload-bunfig \
	--define OPSCTL_COMMIT='"$(COMMIT)"'

# Where `make install` puts things; the paths inside what it installs follow.
PREFIX      ?= /usr/local
SYSCONFDIR  ?= /etc
# What root builds in somebody's clone stays theirs, also what the build keeps for the next time.
AS_OWNER     = $(shell [ "$$(id -u)" != 0 ] || [ "$$(stat -c %u .)" = 0 ] || echo setpriv --reuid=$$(stat -c %u .) \
	--regid=$$(stat -c %g .) --clear-groups env "HOME='$(CURDIR)/.tools'")
export PREFIX SYSCONFDIR

# Platform, and what Bun's packages call it.
build-for    = $(BUN) build $(BUILD_FLAGS) --target=bun-linux-$1 --compile-executable-path=$(call bun-of,linux-$2) \
	--metafile=dist/opsctl-linux-$1.meta.json cli/main.ts --outfile dist/opsctl-linux-$1

.DEFAULT_GOAL := help
.PHONY: help bun setup build man generate build-all install uninstall release demo test run-tests check types-bun types-deno style bench chaos integration pictures clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What is there already is checked each time, too; one that is named, as in `make BUN=<path>`, is the caller's own choice.
bun:
	@$(if $(findstring command,$(origin BUN)),:,$(call get-bun,$(PLATFORM)))

node_modules/.installed: package.json bun.lock | bun
	@echo "Installing the packages of bun.lock"
	@$(BUN) install --frozen-lockfile --silent
	@touch $@

setup: bun node_modules/.installed ## Install the pinned tools and packages

build: setup ## Compile dist/opsctl for this machine
	@mkdir -p dist
	$(BUN) build $(BUILD_FLAGS) cli/main.ts --outfile dist/opsctl
	@$(MAKE) --no-print-directory man

# Their date is that of the commit, so that two builds of one commit have the same bytes.
man: setup ## Make dist/man and dist/completions from the command tree
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 0)} \
		$(BUN) .ci/manual.ts dist

generate: setup ## Write the sample settings and their tables in the docs from the table of settings
	$(BUN) .ci/settings.ts

# By itself Bun would download the other platform's Bun: here that one is checked, too.
build-all: setup ## Compile for Linux x64 and arm64
	@mkdir -p dist
	@$(call get-bun,linux-x64)
	@$(call get-bun,linux-aarch64)
	$(call build-for,x64,x64)
	$(call build-for,arm64,aarch64)

dist/opsctl: $(shell find cli lib sql docs/codes.md .ci -type f 2>/dev/null) Makefile package.json bun.lock
	@$(AS_OWNER) $(MAKE) --no-print-directory build

install: dist/opsctl ## Put everything on this host, as root (or below DESTDIR; PREFIX, SYSCONFDIR)
	@sh systemd/install.sh install

uninstall: ## Take it back, but for secrets, state, logs and edited environment files
	@sh systemd/install.sh uninstall

# A tree with changes is refused before anything is built.
release: ## Make what is published, in dist/release: tarballs, Debian packages, SBOMs, checksums, notes
	@version=$$(sh packaging/version.sh) && $(MAKE) --no-print-directory build-all man && \
		list="$(BUN) packaging/sbom.ts $$version $$(git log -1 --format=%ct) $(BUN_VERSION)" && \
		$$list linux-x64 @oven/bun-linux-x64 $(BUN_SHA256_linux-x64) && \
		$$list linux-arm64 @oven/bun-linux-aarch64 $(BUN_SHA256_linux-aarch64) && \
		sh packaging/release.sh "$$version"

demo: build ## Watch a Monday fail and recover, then a host's alarm in trouble: two minutes, stand-in services
	$(BUN) tests/demo/demo.ts

# Beside each other: each of them leaves a core idle for a while.
CHECKS := types-bun types-deno style
test: build ## Run every test, and make check beside them (ONLY="tests/webhook tests/docs.test.ts": some tests)
	@$(MAKE) --no-print-directory --jobs=4 run-tests $(if $(ONLY),,$(CHECKS))
run-tests: setup
	@$(BUN) tests/run.ts $(ONLY)

check: setup ## Types for Bun and for Deno, lint, format
	@$(MAKE) --no-print-directory --jobs=3 $(CHECKS)

types-bun: setup
	node_modules/.bin/tsc --singleThreaded
types-deno: setup
	node_modules/.bin/deno check --quiet cli lib
style: setup
	node_modules/.bin/biome check --error-on-warnings

bench: build ## Measure speed and memory against baselines of the same run (ONLY=startup,speed: parts)
	$(BUN) tests/bench/bench.ts $(ONLY)

chaos: build ## Some fifteen minutes: kill -9 at every step, outages, failovers (CHAOS_ROUNDS=20: more of it)
	FAILOVER_SECONDS=2,30 $(BUN) test --timeout 900000 ./tests/chaos/long.ts ./tests/weekly/run/failover.test.ts

integration: build ## As root: against real systemd, Docker, … (ONLY=systemd,docker: some); ends with 1 when one failed
	$(BUN) tests/integration/integration.ts $(ONLY)

pictures: setup ## Draw the pictures of documents and tests again (CHROMIUM=<program>: the e-mails, too)
	CHROMIUM="$(CHROMIUM)" $(BUN) tests/pictures/make.ts

clean: ## Remove what was built and installed
	rm -rf dist node_modules .tools .demo .bench
