# opsctl: `make` lists the targets. Bun is found or installed from npm into .tools; nothing else is needed.
BUN_VERSION := 1.4.5
LOCAL_BUN   := .tools/node_modules/.bin/bun
# A Bun of exactly this version on PATH is used as it is; any other machine gets the pinned one.
BUN         := $(shell [ "$$(bun --version 2>/dev/null)" = "$(BUN_VERSION)" ] && command -v bun || echo "$(CURDIR)/$(LOCAL_BUN)")

COMMIT      := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
DIRTY       := $(shell git diff --quiet HEAD 2>/dev/null || echo +changes)
BUILD_FLAGS := --compile --minify --bytecode --format=esm --splitting \
	--no-compile-autoload-dotenv --no-compile-autoload-bunfig \
	--define OPSCTL_COMMIT='"$(COMMIT)$(DIRTY)"'

# Where `make install` puts things; the paths inside what it installs follow.
PREFIX      ?= /usr/local
SYSCONFDIR  ?= /etc
# What root builds in somebody's clone stays theirs, also what the build keeps for the next time.
AS_OWNER     = $(shell [ "$$(id -u)" != 0 ] || [ "$$(stat -c %u .)" = 0 ] || echo setpriv --reuid=$$(stat -c %u .) \
	--regid=$$(stat -c %g .) --clear-groups env HOME=$(CURDIR)/.tools)
install uninstall: export DESTDIR := $(DESTDIR)
install uninstall: export PREFIX := $(PREFIX)
install uninstall: export SYSCONFDIR := $(SYSCONFDIR)

.DEFAULT_GOAL := help
.PHONY: help setup build build-all install uninstall demo test check bench chaos peers clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(LOCAL_BUN):
	@mkdir -p .tools && echo "Installing Bun $(BUN_VERSION) into .tools"
	@if command -v npm >/dev/null; then npm install --loglevel=error --no-save --no-audit --no-fund --prefix .tools bun@$(BUN_VERSION); \
	elif command -v bun >/dev/null; then cd .tools && { [ -f package.json ] || echo '{}' > package.json; } && bun add --exact --trust bun@$(BUN_VERSION); \
	else echo "opsctl: neither npm nor bun found; install Node.js with npm, or Bun, then run make again" >&2; exit 1; fi
	@$(LOCAL_BUN) --version >/dev/null 2>&1 || node .tools/node_modules/bun/install.js

node_modules/.installed: package.json bun.lock | $(if $(findstring .tools,$(BUN)),$(LOCAL_BUN))
	@echo "Installing the packages of bun.lock"
	@$(BUN) install --frozen-lockfile --silent
	@touch $@

setup: node_modules/.installed ## Install the pinned tools and packages

build: setup ## Compile dist/opsctl for this machine
	@mkdir -p dist
	$(BUN) build $(BUILD_FLAGS) cli/main.ts --outfile dist/opsctl

build-all: setup ## Compile for Linux x64 and arm64
	@mkdir -p dist
	$(BUN) build $(BUILD_FLAGS) --target=bun-linux-x64 cli/main.ts --outfile dist/opsctl-linux-x64
	$(BUN) build $(BUILD_FLAGS) --target=bun-linux-arm64 cli/main.ts --outfile dist/opsctl-linux-arm64

dist/opsctl: $(shell find cli lib sql -type f 2>/dev/null) Makefile package.json bun.lock
	@$(AS_OWNER) $(MAKE) --no-print-directory build

install: dist/opsctl ## Put everything on this host, as root (or below DESTDIR; PREFIX, SYSCONFDIR)
	@sh systemd/install.sh install

uninstall: ## Take it back, but for secrets, state, logs and edited environment files
	@sh systemd/install.sh uninstall

demo: build ## Watch a real weekly run: PostgreSQL, a dozen tenants, stand-in peers
	$(BUN) tests/demo/demo.ts

test: build check ## Run every test
	$(BUN) test

check: setup ## Types for Bun and for Deno, lint, format
	node_modules/.bin/tsc
	node_modules/.bin/deno check cli lib
	node_modules/.bin/biome check --error-on-warnings

bench: build ## Measure speed and memory against baselines of the same run (ONLY=startup,speed: parts)
	$(BUN) tests/bench/bench.ts $(ONLY)

chaos: build ## The long kill-at-every-step runs
	$(BUN) test --timeout 900000 ./tests/chaos/long.ts

peers: build ## As root: against real systemd, Docker, … (ONLY=systemd,docker: some); ends with 1 when one failed
	$(BUN) tests/peers/peers.ts $(ONLY)

clean: ## Remove what was built and installed
	rm -rf dist node_modules .tools .demo .bench
