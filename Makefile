# gpnn: Gaussian-process regression from nearest neighbours, as Unix filters.
# 'make help' lists the targets.  CC, CXX, CFLAGS, CXXFLAGS, CPPFLAGS, LDFLAGS and LDLIBS are
# yours; V=1 shows the commands; SANITIZE=1 builds with the address and undefined-behaviour
# sanitizers into a directory of its own.

VERSION := 1.0.0

# ---- what is yours to set -----------------------------------------------------------------
PREFIX ?= /usr/local
bindir ?= $(PREFIX)/bin
libdir ?= $(PREFIX)/lib
includedir ?= $(PREFIX)/include
mandir ?= $(PREFIX)/share/man
docdir ?= $(PREFIX)/share/doc/gpnn
bashcompletiondir ?= $(PREFIX)/share/bash-completion/completions
zshcompletiondir ?= $(PREFIX)/share/zsh/site-functions
CFLAGS ?= -O2 -g
CXXFLAGS ?= -O2 -g
BUILD ?= build$(if $(SANITIZE),/sanitize)
# What the time limits of tests are multiplied by.
PATIENCE ?= $(if $(SANITIZE),3,1)

# ---- libraries ----------------------------------------------------------------------------
PKG_CONFIG ?= pkg-config
OBJCOPY ?= objcopy
LIBRARIES := openblas lapacke zlib nlopt RapidJSON
ifeq ($(origin DEP_CFLAGS),undefined)
DEP_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBRARIES) 2>/dev/null)
endif
ifeq ($(origin DEP_LIBS),undefined)
DEP_LIBS := $(shell $(PKG_CONFIG) --libs $(LIBRARIES) 2>/dev/null)
endif
FAISS_CFLAGS ?=
FAISS_LIBS ?= -lfaiss
CHOLMOD_LIBS ?= -lcholmod
# Open MPI, where it is found; without it gpnn-mpi says what is missing.
ifeq ($(origin MPI_LIBS),undefined)
MPI_CFLAGS := $(patsubst -I%,-isystem %,$(shell $(PKG_CONFIG) --cflags ompi-c 2>/dev/null))
MPI_LIBS := $(shell $(PKG_CONFIG) --libs ompi-c 2>/dev/null)
endif

# ---- how we compile -----------------------------------------------------------------------
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Wvla -Wundef -Wformat=2
C_WARNINGS := $(WARNINGS) -Wstrict-prototypes -Wmissing-prototypes -Wbad-function-cast
comma := ,
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
# Whatever CFLAGS are, what is built is hardened.  The C library's checks need a compiler that
# optimises, get in the way of the sanitizers', and may be asked for by the caller.
is_optimised = $(filter-out -O0,$(lastword $(filter -O%,$(1))))
checks = $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(1)),,$(if $(SANITIZE),,$(if \
  $(call is_optimised,$(1)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)))
HARDENING := -fPIE -fstack-protector-strong -fstack-clash-protection \
  $(if $(filter x86_64%,$(MACHINE)),-fcf-protection) \
  $(if $(filter aarch64%,$(MACHINE)),-mbranch-protection=standard)
# A tool leaves out what it does not call.
SECTIONS := -ffunction-sections -fdata-sections
# No exception passes through C; debuggers have tables of their own.
UNWINDING := $(if $(SANITIZE),,-fno-asynchronous-unwind-tables)
# A build id would depend on the folder of the sources.
HARD_LINKS := -pie -Wl,--build-id=none -Wl,--as-needed -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code
SANITIZERS := $(if $(SANITIZE),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all \
  -fno-omit-frame-pointer -DGPNN_SANITIZE)
OURS := -I. -Ilib -I$(BUILD)/include -D_FILE_OFFSET_BITS=64 -pthread -fopenmp-simd \
  -fno-math-errno $(HARDENING) $(SECTIONS) $(SANITIZERS) -MMD -MP
ALL_CFLAGS = -std=c11 -D_XOPEN_SOURCE=700 $(OURS) $(UNWINDING) $(call checks,$(CFLAGS)) $(C_WARNINGS) \
  $(DEP_CFLAGS) $(FAISS_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(EXTRA_CFLAGS)
ALL_CXXFLAGS = -std=c++17 $(OURS) $(call checks,$(CXXFLAGS)) $(WARNINGS) $(DEP_CFLAGS) \
  $(FAISS_CFLAGS) $(CPPFLAGS) $(CXXFLAGS) $(LOCALISABLE)
# C++ objects define what the standard library and FAISS leave to whoever includes their headers.
# The library keeps its copies to itself: of those objects, only names with our prefix are global.
# The linker must then find no groups to merge with those of others, nor the compiler's own code in
# place of the processor's (-flto).  Sanitizers rely on such groups, and so are spared.
LOCALISABLE := -fno-lto $(shell echo | $(CXX) -fno-gnu-unique -x c++ -E - >/dev/null 2>&1 && \
  echo -fno-gnu-unique)
localise = $(if $(findstring -fsanitize,$(ALL_CXXFLAGS)),,$(OBJCOPY) --wildcard \
  --keep-global-symbol='gpnn_*' --remove-section=.group)
ALL_LIBS = $(FAISS_LIBS) $(DEP_LIBS) $(CHOLMOD_LIBS) -lstdc++ -lm $(LDLIBS) \
  $(if $(MPI_LIBS),-Wl$(comma)--as-needed $(MPI_LIBS))
# The OpenMP runtime is for FAISS and CHOLMOD, which are kept to one thread
# (lib/search/faiss_calls.cc, lib/linalg/factors/sparse_factor.c).
ALL_LDFLAGS = -pthread -fopenmp $(HARD_LINKS) $(SANITIZERS) $(LDFLAGS)
# Some two hundred test programs are linked, each with the whole library: lld, where it is
# installed, takes a quarter of the time.
TEST_LDFLAGS = $(if $(shell command -v ld.lld),-fuse-ld=lld) $(ALL_LDFLAGS)
define newline


endef
# Words for the shell, whatever is in them: a text, and what the caller gave as variable $(1), as it
# was typed: as one word, or as none if it is empty; and as many.
quote = '$(subst ','\'',$(1))'
given = $(if $(value $(1)),$(call quote,$(value $(1))))
all_given = $(foreach word,$(value $(1)),$(call quote,$(word)))
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $@)

# ---- files --------------------------------------------------------------------------------
LIB_C := $(wildcard lib/*/*.c lib/*/*/*.c lib/*/*/*/*.c)
LIB_CC := $(wildcard lib/*/*.cc)
LIB_OBJECTS := $(LIB_C:%.c=$(BUILD)/%.o) $(LIB_CC:%.cc=$(BUILD)/%.o)
LIB := $(BUILD)/libgpnn.a
HEADERS := $(wildcard lib/*/*.h lib/*/*/*.h lib/*/*/*/*.h)
# Headers that mean nothing outside the sources that include them
TEMPLATES := $(wildcard lib/linalg/panels/panels_*_private.h)
# The public headers: gpnn.h and what it includes, found when first asked for.  Clients see them as
# they are in PUBLIC, where they include each other as <gpnn/...>.
PUBLIC := $(BUILD)/public
PUBLIC_HEADERS = $(eval PUBLIC_HEADERS := version.h $(patsubst lib/%,%,$(filter lib/%,$(shell \
  $(CC) -std=c11 -x c -MM -MG -Ilib lib/gpnn.h))))$(PUBLIC_HEADERS)
PUBLIC_FILES = $(PUBLIC_HEADERS:%=$(PUBLIC)/gpnn/%)
TOOLS := $(patsubst cmd/%.c,%,$(wildcard cmd/*.c))
CMD_COMMON := $(patsubst %.c,$(BUILD)/%.o,$(wildcard cmd/common/*.c))
CMD_LIB := $(BUILD)/libcmd.a
# A tool that needs more than one file has a folder: gpnn has cmd/gpnn, and gpnn-fit cmd/fit.  A mode
# of gpnn-grid is gpnn-predict with more options, and those of gpnn-mpi are tools whose model is another.
folders_of = cmd/$(1:gpnn-%=%) $(if $(filter gpnn-grid gpnn-mpi,$1),cmd/predict) \
  $(if $(filter gpnn-mpi,$1),cmd/calibrate cmd/fit cmd/index)
own_objects = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(addsuffix /*.c,$(call folders_of,$1))))
PROGRAMS := $(TOOLS:%=$(BUILD)/bin/%)
# For bash and for zsh
COMPLETIONS := $(BUILD)/completion/gpnn $(BUILD)/completion/_gpnn
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
FUZZ_TESTS := $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/fuzz/replay_%,$(wildcard tests/fuzz/fuzz_*.c))
INJECT := $(BUILD)/tests/inject.so
BENCH_PROGRAMS := $(patsubst scripts/bench/%.c,$(BUILD)/bench/%,$(wildcard scripts/bench/*.c))
MANUALS := $(wildcard man/*.[157])
VERSION_H := $(BUILD)/include/version.h
C_SOURCES := $(wildcard $(addsuffix /*.[ch],lib lib/* lib/*/* lib/*/*/* cmd cmd/* tests/* \
  scripts/*) lib/*/*.cc)
SHELL_SCRIPTS = $(shell grep -rlE '^\#(!.*sh$$| shellcheck shell=)' scripts tests/run tests/cli tests/docs .ci)
BATS_FILES := $(wildcard tests/cli/*.bats)

.PHONY: all tests test setup demo check bench install install-strip uninstall clean format help
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

# ---- build --------------------------------------------------------------------------------
all: $(LIB) $(PROGRAMS) $(COMPLETIONS) ## build the library, the tools and their completion (default)

tests: all $(UNIT_TESTS) $(FUZZ_TESTS) $(INJECT) ## build what the tests need as well

# An archive hands a tool the objects that it needs.
$(LIB): $(LIB_OBJECTS)
$(CMD_LIB): $(CMD_COMMON)
$(LIB) $(CMD_LIB):
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Stands for the libraries we need being there, so that a missing one is named before any
# compiler trips over it.
$(BUILD)/libraries:
	@$(PKG_CONFIG) --print-errors --exists $(LIBRARIES) && \
	  printf '#include <%s>\n' faiss/MetricType.h suitesparse/cholmod.h | \
	  $(CXX) $(FAISS_CFLAGS) $(CPPFLAGS) -x c++ -E - >/dev/null || \
	  { echo "gpnn needs $(LIBRARIES), faiss, cholmod; on Debian, 'make setup' installs them" >&2; exit 1; }
	@mkdir -p $(@D) && touch $@

$(VERSION_H): Makefile
	$(Q)mkdir -p $(@D)
	$(Q)printf '#define GPNN_VERSION "%s"\n' '$(VERSION)' >$@

$(PUBLIC)/gpnn/version.h: $(VERSION_H)
	$(Q)mkdir -p $(@D) && cp $< $@

$(PUBLIC)/gpnn/%.h: lib/%.h
	$(Q)mkdir -p $(@D)
	$(Q)sed 's|^#include "\([^"]*\)"|#include <gpnn/\1>|' $< >$@

# Those over lanes (linalg/simd.h) keep their sums in registers only where they are unrolled.
SIMD_SOURCES := $(shell grep -rlF '"linalg/simd.h"' lib --include='*.c')
$(SIMD_SOURCES:%.c=$(BUILD)/%.o): EXTRA_CFLAGS = \
  $(if $(call is_optimised,$(CFLAGS)),-O3 -fno-trapping-math)
$(BUILD)/lib/shard/comm_mpi.o: EXTRA_CFLAGS = $(if $(MPI_LIBS),-DGPNN_MPI $(MPI_CFLAGS))
# Loops over panels are compiled for one set of instructions each, and chosen at run time.
$(BUILD)/lib/linalg/panels/panels_%.o: EXTRA_CFLAGS = -O3 -ffp-contract=fast $(INSTRUCTIONS)
ifneq ($(filter x86_64%,$(MACHINE)),)
$(BUILD)/lib/linalg/panels/panels_avx2.o: INSTRUCTIONS := -mavx2 -mfma
$(BUILD)/lib/linalg/panels/panels_avx512.o: INSTRUCTIONS := -mavx512f -mavx512dq -mavx512vl -mavx2 -mfma \
  -mprefer-vector-width=512
endif

$(BUILD)/%.o: %.c | $(VERSION_H) $(BUILD)/libraries
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(BUILD)/%.o: %.cc | $(VERSION_H) $(BUILD)/libraries
	$(call say,CXX)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(ALL_CXXFLAGS) -c $< -o $@
	$(Q)$(if $(localise),$(localise) $@)

.SECONDEXPANSION:
$(BUILD)/bin/%: $(BUILD)/cmd/%.o $$(call own_objects,%) $(CMD_LIB) $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $^ -Wl,--gc-sections $(ALL_LDFLAGS) $(ALL_LIBS) -o $@

# All tools for one program, where main() of gpnn-fit is main_fit().
ALL_TOOLS := $(TOOLS:%=$(BUILD)/mains/%.o) $(sort $(foreach tool,$(TOOLS),$(call own_objects,$(tool))))
main_of = main_$(subst -,_,$(1:gpnn-%=%))
$(BUILD)/mains/%.o: cmd/%.c | $(VERSION_H) $(BUILD)/libraries
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Dmain=$(call main_of,$*) -Wno-missing-prototypes -c $< -o $@

# What the shells complete is read off the tables of options, which tools hand to functions that the
# linker replaces: these must not be inlined where it optimises (-flto).
$(BUILD)/cmd/common/cli.o $(BUILD)/cmd/common/modes.o: EXTRA_CFLAGS := -fno-lto
$(BUILD)/completion/tools.h: cmd
	$(Q)mkdir -p $(@D)
	$(Q)printf 'TOOL(%s)\n' $(foreach tool,$(TOOLS),$(patsubst main_%,%,$(call main_of,$(tool)))) >$@

$(BUILD)/scripts/completion/options.o: $(BUILD)/completion/tools.h
$(BUILD)/scripts/completion/options.o: EXTRA_CFLAGS := -I$(BUILD)/completion
$(BUILD)/completion/options: $(BUILD)/scripts/completion/options.o $(ALL_TOOLS) $(CMD_COMMON) $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $^ -Wl,--wrap=cli_main,--wrap=cli_main_modes -Wl,--gc-sections $(ALL_LDFLAGS) \
	  $(ALL_LIBS) -o $@

$(BUILD)/completion/table: $(BUILD)/completion/options
	$(Q)$< >$@

$(BUILD)/completion/gpnn: $(BUILD)/completion/table $(wildcard scripts/completion/*bash*)
	$(Q)awk -f scripts/completion/bash.awk $< scripts/completion/gpnn.bash >$@

$(BUILD)/completion/_gpnn: $(BUILD)/completion/table scripts/completion/zsh.awk
	$(Q)awk -f scripts/completion/zsh.awk $< >$@

# Compilers take a third less time for tests that they optimise less.
$(BUILD)/tests/unit/%.o: CFLAGS := $(CFLAGS:-O2=-O1)

$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out $(LIB),$^) $(LIB) $(TEST_LDFLAGS) -lcmocka $(ALL_LIBS) -o $@

# Tests of what the tools share.
$(BUILD)/tests/test_progress $(BUILD)/tests/test_warnings $(BUILD)/tests/test_shell: $(CMD_COMMON)

# A harness once more on every input that its fuzzer kept; and the fuzzer, for scripts/fuzz, whose
# compiler knows -fsanitize=fuzzer.
FUZZ_SHARED := $(BUILD)/tests/fuzz/fuzz.o
$(BUILD)/fuzz/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(FUZZ_SHARED) $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out $(LIB),$^) $(LIB) $(TEST_LDFLAGS) $(FUZZ_LDFLAGS) $(ALL_LIBS) -o $@

$(BUILD)/fuzz/pack: $(BUILD)/tests/fuzz/pack.o $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $^ $(ALL_LDFLAGS) $(ALL_LIBS) -o $@

$(BUILD)/fuzz/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(FUZZ_SHARED) $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out $(LIB),$^) $(LIB) $(ALL_LDFLAGS) $(FUZZ_LDFLAGS) -fsanitize=fuzzer \
	  $(ALL_LIBS) -o $@

# The tools' own main functions, without what a process does but once, and for their options cut
# off from all files.
FUZZ_ONCE := sigaction atexit fclose cli_guard cli_open_output
FUZZ_CUT := gpnn_table_open gpnn_index_open gpnn_parameters_read_one gpnn_parameters_read \
  gpnn_atomic_file_create gpnn_scratch_create mkdir
FUZZ_TOOLS := $(CMD_COMMON) $(BUILD)/tests/fuzz/tools.o
$(BUILD)/fuzz/%_eval: FUZZ_LDFLAGS = $(FUZZ_ONCE:%=-Wl,--wrap=%)
$(BUILD)/fuzz/%_options: FUZZ_LDFLAGS = $(FUZZ_ONCE:%=-Wl,--wrap=%) $(FUZZ_CUT:%=-Wl,--wrap=%)
$(BUILD)/fuzz/replay_eval $(BUILD)/fuzz/fuzz_eval: $(BUILD)/mains/gpnn-eval.o \
  $(call own_objects,gpnn-eval) $(FUZZ_TOOLS)
$(BUILD)/fuzz/replay_options $(BUILD)/fuzz/fuzz_options: $(ALL_TOOLS) $(FUZZ_TOOLS)

# Loaded into the tools, which it lets meet failures (scripts/faults).
$(INJECT): tests/faults/inject.c
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -shared -fPIC $(C_WARNINGS) $(CPPFLAGS) $(CFLAGS) $< -o $@ -ldl

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# ---- tests, and the two commands ----------------------------------------------------------
RUN_TESTS = GPNN_BUILD=$(abspath $(BUILD)) PATIENCE=$(PATIENCE) tests/run
# Commands that install start where compiler and libraries may be missing, and this file has already
# asked for them in vain: so they call make again once everything is installed.
AGAIN = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc || echo 1))

setup: ## install the Debian packages that building and checking need
	@scripts/setup check

demo: ## install what is missing, build, and show the tools at work on real data
	@scripts/setup build
	@$(AGAIN) all
	@GPNN_BUILD=$(abspath $(BUILD)) scripts/demo

test: tests ## build and run every test, and install nothing; T=PATTERN picks some
	@$(RUN_TESTS) $(or $(call given,T),'^(unit|cli|fuzz)/')

check: ## install what is missing, build, run every test and the lint; T=PATTERN picks some
	@scripts/setup check
	@if command -v npm >/dev/null; then BUILD=$(BUILD) timeout 120 scripts/setup parquet; fi || :
	@$(AGAIN) tests || { echo '0 passed, 1 failed'; exit 1; }
	@$(RUN_TESTS) $(call given,T)

$(BUILD)/bench/%: $(BUILD)/scripts/bench/%.o $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $^ $(ALL_LDFLAGS) $(ALL_LIBS) -o $@

$(BUILD)/experiments/%: $(BUILD)/scripts/experiments/%.o $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $^ $(ALL_LDFLAGS) $(ALL_LIBS) -o $@

# What cannot be installed, benches do without, or name it and stand aside.
bench: ## install what is missing, build, and measure speed as ratios; B=NAME picks one
	@scripts/setup bench || :
	@$(AGAIN) all $(BENCH_PROGRAMS)
	@GPNN_BUILD=$(abspath $(BUILD)) scripts/bench/run $(call all_given,B)

# ---- attacks ------------------------------------------------------------------------------
.PHONY: fuzz properties pairs audit faults threads tsan load matrix valgrind large coverage mutate
TRIALS ?= 5000

# FUZZ_SECONDS and FUZZER are for scripts/fuzz, which says what they are.
export FUZZ_SECONDS FUZZER
fuzz: ## install what is missing, attack every reader for FUZZ_SECONDS; F=NAME picks one
	@scripts/setup fuzz || :
	@scripts/fuzz $(call all_given,F)

properties: $(BUILD)/tests/test_properties ## try what holds of every prediction; TRIALS=N, 5000
	$< $(call given,TRIALS)

pairs: all ## run all pairs of features from a table to scores; P="NAME [NAME]" picks
	@GPNN_BUILD=$(abspath $(BUILD)) scripts/pairs $(call all_given,P)

audit: $(BUILD)/tests/test_release ## try to tell neighbours apart by PAIRS (10^6) of private releases
	GPNN_AUDIT_PAIRS=$(or $(PAIRS),1000000) $<

faults: all $(INJECT) ## let every call of every tool fail, and kill them; N kills, F=TOOL picks some
	@GPNN_BUILD=$(abspath $(BUILD)) scripts/faults $(call given,F)
	@GPNN_BUILD=$(abspath $(BUILD)) scripts/kills $(call given,N)

tsan: ## build with clang's thread sanitizer and run all that has threads; T=PATTERN picks some
	@scripts/tsan $(call given,T)

threads: all ## run every tool with threads by 1 to 8, in hostile environments, ROUNDS (100) times
	@GPNN_BUILD=$(abspath $(BUILD)) scripts/threads $(call given,ROUNDS)

load: all ## put the tools under load (scripts/load says what can be set); L=PART picks one
	@GPNN_BUILD=$(abspath $(BUILD)) scripts/load $(call all_given,L)

matrix: ## build and test with other compilers, flags and processors; CELLS=NAMES picks some
	@GPNN_BUILD=$(abspath $(BUILD)) T=$(call given,T) scripts/matrix $(call all_given,CELLS)

valgrind: tests ## run the quick unit tests, and all tools, under valgrind
	@GPNN_BUILD=$(abspath $(BUILD)) scripts/valgrind $(call all_given,T)

large: all ## predict from files of more than 4 GiB; SIZE=GIB, T="table index" picks
	@GPNN_BUILD=$(abspath $(BUILD)) scripts/large $(call all_given,T)

coverage: ## install gcovr if it is missing, and measure which lines and branches the tests reach
	@scripts/setup coverage
	@GPNN_BUILD=$(abspath $(BUILD)) scripts/coverage $(call given,T)

mutate: ## break the code in MUTANTS (120) small ways, drawn by SEED (1): which do no tests find?
	@scripts/setup check
	@GPNN_BUILD=$(abspath $(BUILD)) scripts/mutate -n $(or $(MUTANTS),120) -s $(or $(SEED),1)

# ---- lint ---------------------------------------------------------------------------------
LINTS := lint-format lint-cppcheck lint-shell lint-manuals lint-layers lint-unused lint-headers
.PHONY: lint $(LINTS)

lint: $(LINTS) ## check form: layout, static analysis, scripts, manuals, layers, unused functions, headers

format: ## lay the C and C++ sources out
	clang-format -i $(C_SOURCES)

lint-format:
	clang-format --dry-run -Werror $(C_SOURCES)

# cppcheck does not see a block handed on by memcpy, in memory.c, nor by a test's state, counts
# offsets in bytes where it looks for overlaps, and gives up at a _Generic of members of members.
# Headers are checked where they are included.
lint-cppcheck:
	@mkdir -p $(BUILD)/cppcheck
	cppcheck --quiet --enable=warning,performance,portability --error-exitcode=1 \
	  --inline-suppr --suppress=memleak:lib/base/memory.c \
	  --suppress='memleak:tests/unit/*' --suppress=overlappingWriteFunction \
	  --suppress='internalAstError:cmd/simulate/*' \
	  -j$(shell nproc) --cppcheck-build-dir=$(BUILD)/cppcheck --std=c11 --std=c++17 \
	  -D_XOPEN_SOURCE=700 -I. -Ilib $(filter lib/% cmd/% tests/%,$(filter %.c %.cc,$(C_SOURCES)))

lint-shell:
	shellcheck --exclude=SC1091 $(SHELL_SCRIPTS)
	$(if $(BATS_FILES),shellcheck --exclude=SC1091 --severity=warning $(BATS_FILES))

lint-manuals:
	$(if $(MANUALS),mandoc -T lint -W warning $(MANUALS))

lint-layers:
	scripts/check-layers

lint-unused: all
	@CC='$(CC)' scripts/check-unused $(BUILD)

# Every header stands alone; public ones, as they are installed, in C and in C++ both.
alone = printf '\#include $(1)\nint main(void);\n' "$$header" | $(2) -Werror -fsyntax-only
lint-headers: $(VERSION_H) $$(PUBLIC_FILES)
	@for header in $(patsubst lib/%,%,$(filter-out $(TEMPLATES),$(HEADERS))); do \
	  $(call alone,"%s",$(CC) -std=c11 -D_XOPEN_SOURCE=700 $(C_WARNINGS)) -fopenmp-simd -Ilib -x c - \
	    || exit 1; \
	done
	@for header in $(PUBLIC_HEADERS); do \
	  $(call alone,<gpnn/%s>,$(CC) -std=c11 -Wall -Wextra -Wpedantic) -I$(PUBLIC) -x c - && \
	  $(call alone,<gpnn/%s>,$(CXX) -std=c++17 -Wall -Wextra -Wpedantic) -I$(PUBLIC) -x c++ - || \
	    exit 1; \
	done
	@! grep -L 'extern "C"' $(filter-out %/gpnn.h %/version.h,$(PUBLIC_FILES)) | \
	  sed 's/$$/: lacks extern "C"/' | grep .

# ---- install ------------------------------------------------------------------------------
INSTALL ?= install
INSTALL_PROGRAM ?= $(INSTALL)
PC := $(libdir)/pkgconfig/gpnn.pc
INCLUDES := $(includedir)/gpnn
# bash-completion looks for the name of the command: all are links to the file for gpnn.
LINKS := $(filter-out gpnn,$(TOOLS))
INSTALLED = $(TOOLS:%=$(bindir)/%) $(libdir)/libgpnn.a $(PC) $(docdir)/LICENSE \
  $(zshcompletiondir)/_gpnn \
  $(bashcompletiondir)/gpnn $(LINKS:%=$(bashcompletiondir)/%) \
  $(PUBLIC_HEADERS:%=$(INCLUDES)/%) \
  $(foreach page,$(MANUALS),$(mandir)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))
# Paths below the prefix are told relative to it, so that the .pc file can be moved with it.
relative = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
there = $(call quote,$(DESTDIR)$(1))
put = @$(INSTALL) -D -m 644 $(call quote,$(1)) $(call there,$(2))

# Tests that install do so at the same time.
tests: $$(PUBLIC_FILES)
install: all $$(PUBLIC_FILES) ## install under DESTDIR and PREFIX, or in bindir, libdir, mandir ...
	$(foreach tool,$(TOOLS),@$(INSTALL_PROGRAM) -D $(call quote,$(BUILD)/bin/$(tool)) $(call \
	  there,$(bindir)/$(tool))$(newline))
	$(foreach header,$(PUBLIC_HEADERS),$(call \
	  put,$(PUBLIC)/gpnn/$(header),$(INCLUDES)/$(header))$(newline))
	$(foreach page,$(MANUALS),$(call put,$(page),$(mandir)/man$(subst \
	  .,,$(suffix $(page)))/$(notdir $(page)))$(newline))
	$(call put,$(LIB),$(libdir)/libgpnn.a)
	$(call put,LICENSE,$(docdir)/LICENSE)
	$(call put,$(BUILD)/completion/_gpnn,$(zshcompletiondir)/_gpnn)
	$(call put,$(BUILD)/completion/gpnn,$(bashcompletiondir)/gpnn)
	$(foreach tool,$(LINKS),@ln -sf gpnn $(call there,$(bashcompletiondir)/$(tool))$(newline))
	@mkdir -p $(call there,$(dir $(PC)))
	@sed -e $(call quote,s|@PREFIX@|$(PREFIX)|) -e $(call quote,s|@VERSION@|$(VERSION)|) \
	  -e $(call quote,s|@LIBDIR@|$(call relative,$(libdir))|) \
	  -e $(call quote,s|@INCLUDEDIR@|$(call relative,$(includedir))|) \
	  -e $(call quote,s|@LIBS@|$(strip $(FAISS_LIBS) $(DEP_LIBS) $(CHOLMOD_LIBS))|) \
	  lib/gpnn.pc.in >$(call there,$(PC))

install-strip: ## the same, the tools without what only debuggers read
	@$(MAKE) --no-print-directory install INSTALL_PROGRAM='$(INSTALL_PROGRAM) -s'

uninstall: ## remove what install put there
	@rm -f $(foreach file,$(INSTALLED),$(call there,$(file)))
	@[ ! -d $(call there,$(INCLUDES)) ] || \
	  find $(call there,$(INCLUDES)) -depth -type d -empty -delete

.PHONY: deb
deb: ## make Debian packages, gpnn, gpnn-mpi and libgpnn-dev, in the folder deb of the build directory
	@scripts/setup deb
	@$(AGAIN) all
	@GPNN_BUILD=$(abspath $(BUILD)) scripts/deb $(VERSION) $(call quote,$(BUILD)/deb)

# What is committed, and nothing else: the same bytes of the same commit.
DIST := gpnn-$(VERSION)
.PHONY: dist distcheck
dist: ## write gpnn-VERSION.tar.gz into the build directory, which builds and is tested without git
	$(Q)mkdir -p $(BUILD)
	$(Q)git archive --format=tar --prefix=$(DIST)/ HEAD | gzip -9n >$(BUILD)/$(DIST).tar.gz
	@echo $(BUILD)/$(DIST).tar.gz

distcheck: dist ## build, test and install what 'make dist' writes, in an empty folder; T=PATTERN picks tests
	$(Q)rm -rf $(BUILD)/distcheck && mkdir -p $(BUILD)/distcheck
	$(Q)tar -xzf $(BUILD)/$(DIST).tar.gz -C $(BUILD)/distcheck
	@$(AGAIN) -C $(BUILD)/distcheck/$(DIST) BUILD=build test $(if $(value T),T=$(call given,T))
	@$(AGAIN) -C $(BUILD)/distcheck/$(DIST) BUILD=build DESTDIR=$(abspath $(BUILD))/distcheck/root install
	$(Q)rm -rf $(BUILD)/distcheck

clean: ## remove what was built
	rm -rf $(BUILD)

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' Makefile
