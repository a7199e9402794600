# Rackrate's one Makefile: `make help` lists what it does. Nothing is configured by hand; what is built lies under build/.
#
# VARIANT picks how it is compiled: release (default), asan (ASan + UBSan), tsan, clang (release by clang), fuzz (libFuzzer).
# Every variant has its own tree, build/VARIANT/; build/rackrate is the release binary.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VARIANT ?= release

# V=1 shows whole commands. Every processor compiles, unless -j says how many.
Q := $(if $(V),,@)
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
B := build/$(VARIANT)

# ---- flags ----------------------------------------------------------------------------------------------------------
WARN := -Wall -Wextra -Wshadow -Wconversion -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Werror
CFLAGS_release := -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong
CFLAGS_clang := $(CFLAGS_release)
CFLAGS_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
CFLAGS_tsan := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
CFLAGS_fuzz := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -DRACKRATE_FUZZ
LDFLAGS_release := -pie -Wl,-z,relro,-z,now
LDFLAGS_clang := $(LDFLAGS_release)
LDFLAGS_asan := -fsanitize=address,undefined
LDFLAGS_tsan := -fsanitize=thread
LDFLAGS_fuzz := -fsanitize=address,undefined

CC_release := gcc
CC_clang := clang-14
CC_asan := gcc
CC_tsan := gcc
CC_fuzz := clang-14
COMPILER := $(CC_$(VARIANT))

LIBS_NAMES := libmicrohttpd libpq jansson libsodium zlib libzstd libutf8proc inih
PKG_CFLAGS = $(shell pkg-config --cflags $(LIBS_NAMES))
PKG_LIBS = $(shell pkg-config --libs $(LIBS_NAMES)) -lcsv -lm
CFLAGS_ALL = -std=gnu11 -D_GNU_SOURCE -I. -I$(B)/gen -fPIE -pthread -MMD -MP $(WARN) $(CFLAGS_$(VARIANT)) $(PKG_CFLAGS) $(CFLAGS)
LDFLAGS_ALL = -pthread $(LDFLAGS_$(VARIANT)) $(LDFLAGS)

# The hot loops of search vectorise only at -O3 (gcc 12 at -O2 leaves them scalar, up to 20 times slower).
$(B)/obj/server/catalog/%.o: OPT := $(if $(filter release clang,$(VARIANT)),-O3)

# ---- what is built --------------------------------------------------------------------------------------------------
SRC := $(filter-out server/main.c,$(wildcard server/*/*.c db/*.c))
OBJ := $(SRC:%.c=$(B)/obj/%.o) $(B)/obj/gen/assets.o
SUPPORT_SRC := $(wildcard tests/support/*.c)
SUPPORT_OBJ := $(SUPPORT_SRC:%.c=$(B)/obj/%.o)
TEST_SRC := $(wildcard tests/unit/*/*_test.c tests/api/*_test.c tests/e2e/*_test.c)
TEST_BIN := $(TEST_SRC:%.c=$(B)/%)
FUZZ_SRC := $(wildcard tests/fuzz/*_fuzz.c)
FUZZ_BIN := $(FUZZ_SRC:%.c=$(B)/%)
STRESS_SRC := $(wildcard tests/stress/*.c)
STRESS_BIN := $(STRESS_SRC:%.c=$(B)/%)
BENCH_SRC := $(wildcard tests/bench/*.c)
BENCH_BIN := $(BENCH_SRC:%.c=$(B)/%)
ASSETS := $(shell find static migrations -type f 2>/dev/null | LC_ALL=C sort)

.PHONY: help deps build run test test-build bench fit-latency lint format fuzz asan tsan clean vendor
.SECONDARY:

help: ## List what can be made.
	@echo "make TARGET [VARIANT=release|clang|asan|tsan|fuzz] [V=1]"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

deps: ## Install the Debian packages that are missing (deploy/debian-packages.txt).
	@tests/tools/deps.sh deploy/debian-packages.txt

build: ## Compile build/rackrate, installing missing packages first.
	@tests/tools/deps.sh deploy/debian-packages.txt build
	@$(MAKE) --no-print-directory $(JOBS) $(B)/rackrate
ifeq ($(VARIANT),release)
	@ln -sf release/rackrate build/rackrate
endif

run: build ## Serve http://127.0.0.1:8080/ on a private PostgreSQL; Ctrl-C stops both, the data stay.
	@exec build/rackrate serve $(ARGS)

test-build: $(B)/rackrate $(TEST_BIN)

test: build ## All tests, on a throw-away PostgreSQL.
	@tests/tools/deps.sh deploy/debian-packages.txt test
	@$(MAKE) --no-print-directory $(JOBS) test-build
	@tests/tools/run-tests.sh $(B) $(TESTS)

bench: deps build ## Measure, as ratios in one run (nginx, COPY, psql).
	@$(MAKE) --no-print-directory $(JOBS) $(BENCH_BIN)
	@tests/bench/run.sh $(B) $(BENCH)

# The latency model's table is fitted to measured round trips and committed; a test fits it again and compares. The program is
# built without the table it makes.
LATENCY_DATA ?= $(or $(RACKRATE_TEST_DATA),../shared/data)/latency/aws-rtt-long.csv
fit-latency: deps ## Fit server/reference/latency_table.c again to LATENCY_DATA.
	@$(MAKE) --no-print-directory $(JOBS) $(B)/tests/tools/fit_latency
	@$(B)/tests/tools/fit_latency $(LATENCY_DATA) > $(B)/latency_table.c
	@mv $(B)/latency_table.c server/reference/latency_table.c
	@sed -n '/Errors/,/\*\//p' server/reference/latency_table.c

lint: deps ## Warnings by gcc and clang, cppcheck, -fanalyzer, include rules, format, contract.
	@tests/tools/lint.sh

format: ## Lay out all C by .clang-format.
	@git ls-files '*.c' '*.h' | xargs clang-format-14 -i

fuzz: deps ## Run every fuzzer for SECONDS_EACH (default 20) on its corpus.
	@$(MAKE) --no-print-directory $(JOBS) VARIANT=fuzz fuzz-build
	@tests/tools/run-fuzz.sh build/fuzz $(or $(SECONDS_EACH),20)

.PHONY: fuzz-build stress-build
fuzz-build: $(FUZZ_BIN)
stress-build: $(STRESS_BIN) $(B)/rackrate

asan: ## All tests again under ASan and UBSan.
	@$(MAKE) --no-print-directory $(JOBS) VARIANT=asan test

tsan: deps ## The race programs of tests/stress under TSan.
	@$(MAKE) --no-print-directory $(JOBS) VARIANT=tsan stress-build
	@tests/tools/run-stress.sh build/tsan

vendor: ## Fetch the front-end files of static/vendor again, at their pinned versions.
	@static/vendor/update.sh

clean: ## Remove build/ (the data in .state/ stay).
	rm -rf build

# ---- rules ----------------------------------------------------------------------------------------------------------
$(B)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(if $(V),,@echo "  cc   $<")
	$(Q)$(COMPILER) $(CFLAGS_ALL) $(OPT) -c -o $@ $<

# static/ and migrations/ travel inside the binary; the table is made by a script from the list of files.
# A file that was removed leaves no prerequisite behind: the list itself is one.
.PHONY: always
always:
$(B)/gen/assets.list: always
	@mkdir -p $(@D)
	@printf '%s\n' $(ASSETS) | cmp -s - $@ || printf '%s\n' $(ASSETS) > $@

$(B)/gen/assets.c: tests/tools/embed.sh $(B)/gen/assets.list $(ASSETS)
	@mkdir -p $(@D)
	@tests/tools/embed.sh $(ASSETS) > $@

$(B)/obj/gen/assets.o: $(B)/gen/assets.c
	@mkdir -p $(@D)
	$(Q)$(COMPILER) $(CFLAGS_ALL) -c -o $@ $<

$(B)/librackrate.a: $(OBJ)
	@rm -f $@
	@ar rcs $@ $^

# An archive: a program takes only what it uses, so that those without the test framework need none.
$(B)/libsupport.a: $(SUPPORT_OBJ)
	@rm -f $@
	@ar rcs $@ $^

$(B)/rackrate: $(B)/obj/server/main.o $(B)/librackrate.a
	@echo "  link $@"
	@$(COMPILER) $(LDFLAGS_ALL) -o $@ $^ $(PKG_LIBS)

$(B)/tests/%_test: $(B)/obj/tests/%_test.o $(B)/libsupport.a $(B)/librackrate.a
	@mkdir -p $(@D)
	@$(COMPILER) $(LDFLAGS_ALL) -o $@ $^ $(PKG_LIBS) -lcriterion

$(B)/tests/fuzz/%: $(B)/obj/tests/fuzz/%.o $(B)/libsupport.a $(B)/librackrate.a
	@mkdir -p $(@D)
	@$(COMPILER) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $^ $(PKG_LIBS)

$(B)/tests/stress/%: $(B)/obj/tests/stress/%.o $(B)/libsupport.a $(B)/librackrate.a
	@mkdir -p $(@D)
	@$(COMPILER) $(LDFLAGS_ALL) -o $@ $^ $(PKG_LIBS)

$(B)/tests/tools/fit_latency: $(addprefix $(B)/obj/,tests/tools/fit_latency.o tests/support/latency_samples.o) $(B)/librackrate.a
	@mkdir -p $(@D)
	@$(COMPILER) $(LDFLAGS_ALL) -o $@ $^ $(PKG_LIBS)

$(B)/tests/bench/%: $(B)/obj/tests/bench/%.o $(B)/libsupport.a $(B)/librackrate.a
	@mkdir -p $(@D)
	@$(COMPILER) $(LDFLAGS_ALL) -o $@ $^ $(PKG_LIBS)

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
