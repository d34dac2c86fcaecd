# gpnn: Gaussian-process regression from nearest neighbours, as Unix filters.
# 'make help' lists the targets.  CC, CXX, CFLAGS, CXXFLAGS, CPPFLAGS, LDFLAGS and LDLIBS are
# yours; V=1 shows the commands; SANITIZE=1 builds with the address and undefined-behaviour
# sanitizers into a directory of its own.

VERSION := 0.1.0

# ---- what is yours to set -----------------------------------------------------------------
PREFIX ?= /usr/local
bindir ?= $(PREFIX)/bin
libdir ?= $(PREFIX)/lib
includedir ?= $(PREFIX)/include
mandir ?= $(PREFIX)/share/man
CFLAGS ?= -O2 -g
CXXFLAGS ?= -O2 -g
BUILD ?= build$(if $(SANITIZE),/sanitize)

# ---- libraries ----------------------------------------------------------------------------
PKG_CONFIG ?= pkg-config
LIBRARIES := openblas lapacke zlib nlopt
DEP_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(LIBRARIES))
DEP_LIBS = $(shell $(PKG_CONFIG) --libs $(LIBRARIES))
FAISS_CFLAGS ?=
FAISS_LIBS ?= -lfaiss
# The system's C interface to FAISS where there is one, else ours (lib/data/faiss_c.cc).
FAISS_C ?= $(shell printf 'int main(void){return 0;}' | \
  $(CC) -x c - -lfaiss_c -o /dev/null 2>/dev/null && echo -lfaiss_c)

# ---- how we compile -----------------------------------------------------------------------
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Wvla -Wundef
C_WARNINGS := $(WARNINGS) -Wstrict-prototypes -Wmissing-prototypes -Wbad-function-cast
HARDENING := -fstack-protector-strong $(if $(SANITIZE),,-D_FORTIFY_SOURCE=2) -fPIE
SANITIZERS := $(if $(SANITIZE),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all \
  -fno-omit-frame-pointer -DGPNN_SANITIZE)
comma := ,
OURS := -Ilib -I$(BUILD)/include -fopenmp -fno-math-errno $(HARDENING) $(SANITIZERS) -MMD -MP
ALL_CFLAGS = -std=c11 -D_XOPEN_SOURCE=700 $(OURS) $(C_WARNINGS) $(DEP_CFLAGS) $(FAISS_CFLAGS) \
  $(CPPFLAGS) $(CFLAGS)
ALL_CXXFLAGS = -std=c++17 $(OURS) $(WARNINGS) $(DEP_CFLAGS) $(FAISS_CFLAGS) $(CPPFLAGS) $(CXXFLAGS)
ALL_LIBS = $(FAISS_C) $(FAISS_LIBS) $(DEP_LIBS) -lstdc++ -lm $(LDLIBS)
ALL_LDFLAGS = -fopenmp -pie -Wl,-z,relro,-z,now $(SANITIZERS) $(LDFLAGS)
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $@)

# ---- files --------------------------------------------------------------------------------
LIB_C := $(wildcard lib/base/*.c lib/data/*.c lib/models/*.c lib/methods/*.c)
LIB_CC := $(filter-out $(if $(FAISS_C),lib/data/faiss_c.cc),$(wildcard lib/*/*.cc))
LIB_OBJECTS := $(LIB_C:%.c=$(BUILD)/%.o) $(LIB_CC:%.cc=$(BUILD)/%.o)
LIB := $(BUILD)/libgpnn.a
HEADERS := $(wildcard lib/*.h lib/*/*.h)
TOOLS := $(patsubst cmd/%.c,%,$(wildcard cmd/gpnn-*.c))
CMD_SHARED := $(patsubst %.c,$(BUILD)/%.o,$(filter-out cmd/gpnn-%,$(wildcard cmd/*.c)))
PROGRAMS := $(TOOLS:%=$(BUILD)/bin/%)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
MANUALS := $(wildcard man/*.[157])
SHELL_SCRIPTS := $(wildcard scripts/setup scripts/fresh scripts/demo scripts/check-* \
  scripts/bench/* scripts/experiments/* tests/run tests/*.sh .ci/run)

.PHONY: all setup demo check bench install uninstall clean format lint help
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

all: $(LIB) $(PROGRAMS) ## build the library and the tools (default)

# Needs the packages that 'make setup' installs.
$(LIB): $(LIB_OBJECTS)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/include/version.h: Makefile
	$(Q)mkdir -p $(@D)
	$(Q)printf '#define GPNN_VERSION "%s"\n' '$(VERSION)' >$@

$(BUILD)/%.o: %.c | $(BUILD)/include/version.h
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(BUILD)/%.o: %.cc | $(BUILD)/include/version.h
	$(call say,CXX)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(ALL_CXXFLAGS) -c $< -o $@

$(BUILD)/bin/%: $(BUILD)/cmd/%.o $(CMD_SHARED) $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $^ $(ALL_LDFLAGS) $(ALL_LIBS) -o $@

$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(LIB)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $^ $(ALL_LDFLAGS) -lcmocka $(ALL_LIBS) -o $@

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
