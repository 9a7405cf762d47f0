# The ladder, its emulator and their tests. `make` alone prints help.
#
#     make b2 && ./b2/run         builds one rung (and, without a GPU, the emulator it runs on)
#     make test                   builds and checks everything
#
# In this file: 1 the rungs   2 the toolkit   3 GPU or emulator   4 building a rung   5 the emulator   6 tests and the rest

.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.PRECIOUS: build/%/main.o build/%/kernel.o build/%/runpath
.PHONY: FORCE
Q := $(if $(V),,@)

# ------------------------------------------------------------------ 1 the rungs
# target: the oldest chip a rung runs on (75 is compute capability 7.5); with an "a": that chip alone.
# also:   further chips for which it has code of its own.
# from:   the rung it grew from, which `make diff-<rung>` compares it with.

target_a0 := 75
target_a1 := 75
target_a2 := 75
target_b2 := 80
target_b5 := 90
target_b7 := 90
target_c1 := 90a
target_c2 := 90a
target_c3 := 90a
target_c4 := 90a
target_d1 := 100a
target_d2 := 100a
target_d3 := 100a
target_d4 := 100a

target_side/a0_reduce := 90
target_side/a1_clc := 100
target_side/a1_grouped := 75
target_side/a1_persistent := 75
target_side/a2_ring := 90
target_side/b6_epilogue := 90
target_side/d1_ld := 100a
target_side/d5_mxfp8 := 100a
target_side/e0_pdl := 90
target_side/z0_swizzle := 90
target_side/z1_tv := 80
target_side/z2_tmem := 100a

also_side/z1_tv := 90a 100a

from_a1 := a0
from_a2 := a1
from_b2 := a2
from_b5 := b2
from_b7 := b5
from_c1 := b5
from_c2 := c1
from_c3 := c2
from_c4 := c3
from_d1 := c1
from_d2 := d1
from_d3 := d2
from_d4 := d3

from_side/a0_reduce := a0
from_side/a1_clc := side/a1_persistent
from_side/a1_grouped := side/a1_persistent
from_side/a1_persistent := a1
from_side/a2_ring := a2
from_side/b6_epilogue := b5
from_side/d1_ld := d1
from_side/d5_mxfp8 := d4
from_side/e0_pdl := a0
from_side/z0_swizzle := a0
from_side/z1_tv := b2
from_side/z2_tmem := a0

main_rungs := $(patsubst %/kernel.cu,%,$(wildcard [a-d][0-9]_*/kernel.cu))
side_rungs := $(patsubst %/kernel.cu,%,$(wildcard side/*/kernel.cu))
rungs := $(main_rungs) $(side_rungs)

# a1_naive -> a1; a side rung has no short name. And back: a1 -> a1_naive.
short = $(if $(findstring /,$1),$1,$(firstword $(subst _, ,$1)))
long = $(or $(firstword $(filter $1 $1_%,$(rungs))),$1)
target = $(or $(target_$(call short,$1)),$(error no line `target_$(call short,$1) := …` in the Makefile))

# ------------------------------------------------------------------ 2 the toolkit
# nvcc is taken from PATH, $CUDA_HOME or /usr/local/cuda, else it is downloaded into .toolkit/ (TOOLKIT=fetch insists).

toolkit := $(shell TOOLKIT=$(TOOLKIT) scripts/find_toolkit.sh)
CUDA := $(word 1,$(toolkit))
CUDA_VERSION := $(word 2,$(toolkit))
CUDA_MAJOR := $(firstword $(subst ., ,$(CUDA_VERSION)))
CUDA_LIB := $(word 3,$(toolkit))
NVCC := $(CUDA)/bin/nvcc

$(CURDIR)/.toolkit/bin/nvcc:
	@scripts/fetch_toolkit.sh $(CUDA_VERSION) $(if $(gpu),cublas)

# Changes when another toolkit is found than last time, so that what it compiled is compiled again.
build/toolkit: FORCE
	@mkdir -p $(@D)
	@echo '$(toolkit)' | cmp -s - $@ || echo '$(toolkit)' >$@

# ------------------------------------------------------------------ 3 GPU or emulator
# DEVICE=auto takes the GPU when one is there that can run the rung, else the emulator; gpu and emu insist.
# The program is the same: only the folder differs in which it looks for libcudart.so.

DEVICE ?= auto
# Compute capability of the best GPU here (90), empty if there is none. Asked for once, when first needed.
gpu = $(eval gpu := $$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | \
          grep -E '^[0-9]+\.[0-9]+$$$$' | tr -d . | sort -rn | head -1))$(gpu)

ifeq ($(filter $(DEVICE),auto gpu emu),)
    $(error DEVICE=$(DEVICE): it is auto, gpu or emu)
endif
ifeq ($(DEVICE),gpu)
    ifeq ($(gpu),)
        $(error DEVICE=gpu, but there is no GPU here (nvidia-smi finds none))
    endif
endif

# $(call gpu_runs,90a): not empty if the GPU here can run code for that target.
gpu_runs = $(if $(filter %a,$1),$(filter $(1:a=),$(gpu)),$(shell [ "$(gpu)" -ge $1 ] 2>/dev/null && echo yes))
chip_name = sm_$1$(if $(filter %a,$1),, or later)

# $(call device_of,RUNG): gpu or emu. device_why: the reason for the rung $*, for people.
device_of = $(if $(filter auto,$(DEVICE)),$(if $(call gpu_runs,$(target_$(call short,$1))),gpu,emu),$(DEVICE))
device_why = $(if $(filter emu,$(DEVICE)),DEVICE=emu,$(if $(gpu),the GPU here is sm_$(gpu)$(comma) the rung is for \
             $(call chip_name,$(call target,$*)),there is no GPU here))
device_name = $(if $(filter gpu,$(call device_of,$1)),GPU,emulator)
comma := ,

libcudart_dir = $(if $(filter gpu,$(call device_of,$1)),$(CUDA_LIB),$(CURDIR)/build/emu)

# ------------------------------------------------------------------ 4 building a rung

CC := gcc
NATIVE := $(if $(PORTABLE),,$(if $(filter x86_64,$(shell uname -m)),-march=native,-mcpu=native))
HOST_FLAGS := -std=c17 -Wall -Wextra -Werror -O2 -g $(NATIVE) -Iz_utils -isystem $(CUDA)/include
NVCC_FLAGS := -std=c++17 -O3 -lineinfo --compress-mode=none -cudart shared -Iz_utils -allow-unsupported-compiler \
              -Xcompiler -Wall,-Wextra -Xptxas -warn-spills

# One PTX in the program, and machine code for each chip that can run it. A target with an "a" is compiled for that
# chip alone; note that -arch=sm_90a would also assemble plain compute_90, hence -gencode in full. With also_, a PTX for each,
# and a chip that has code of its own has no other.
chips := 75 80 90 100 120
newer_chips = $(shell for chip in $(chips); do [ $$chip -ge $1 ] && echo sm_$$chip; done)
codes = $(if $(filter %a,$1),sm_$1,$(filter-out $(2:%a=sm_%),$(newer_chips))) compute_$1
also = $(also_$(call short,$1))
list = $(subst $() ,$(comma),$(strip $1))
gencode = -gencode 'arch=compute_$1,code=[$(call list,$(codes))]'
gencodes = $(call gencode,$(call target,$1),$(call also,$1)) $(foreach chip,$(call also,$1),$(call gencode,$(chip)))

.PHONY: help all $(rungs) $(foreach r,$(main_rungs),$(call short,$r))

all: $(rungs)

# `make a1` and `make a1_naive` build a1_naive/run; a1 becomes a link, so that ./a1/run works.
$(side_rungs): %: %/run
$(main_rungs): %: %/run
	@ln -sfn $@ $(call short,$@)
$(foreach r,$(main_rungs),$(eval $(call short,$r): $r))

# Linked under another name and renamed at the end: a build that was cut leaves no half a program behind.
%/run: build/%/runpath build/%/main.o build/%/kernel.o
	$(CC) -o $@.part build/$*/main.o build/$*/kernel.o -L$(CUDA_LIB) -lcudart -ldl -lm -lpthread -lstdc++ \
	    -Wl,--disable-new-dtags,-rpath,$$(cat build/$*/runpath)
	@mv $@.part $@

build/%/main.o: %/main.c build/toolkit | $(NVCC)
	@mkdir -p $(@D)
	$(CC) $(HOST_FLAGS) -MMD -MP -c -o $@ $<

# A spill, or a warning of ptxas that matters, fails the build.
build/%/kernel.o: %/kernel.cu build/toolkit | $(NVCC)
	@mkdir -p $(@D)
	scripts/strict_nvcc.sh $(NVCC) $(NVCC_FLAGS) $(call gencodes,$*) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

# Changes, and so relinks the rung, only when the choice does.
build/%/runpath: FORCE
	@$(if $(filter gpu,$(DEVICE)),$(if $(call gpu_runs,$(call target,$*)),,$(error DEVICE=gpu$(comma) but $(device_why))))
	@mkdir -p $(@D)
	@echo "$*: for the $(call device_name,$*) ($(strip $(device_why)))"
	@echo '$(call libcudart_dir,$*)' | cmp -s - $@ || echo '$(call libcudart_dir,$*)' >$@

# On the emulator a rung needs the emulator.
$(foreach r,$(rungs),$(if $(filter emu,$(call device_of,$r)),$(eval $r: emu)))

-include $(wildcard $(foreach r,$(rungs),build/$r/*.d))

# ------------------------------------------------------------------ 5 the emulator
# Two libraries with the names of NVIDIA's, and libemu.a for the unit tests. SANITIZE=1 builds them with ASan and
# UBSan into build/asan instead.

emu_dir := build/$(if $(SANITIZE),asan,emu)
emu_sources := $(wildcard z_emu/*/*.c)
emu_objects := $(emu_sources:z_emu/%.c=$(emu_dir)/%.o)
libcudart := $(emu_dir)/libcudart.so.$(CUDA_MAJOR)
libcuda := $(emu_dir)/libcuda.so.1

SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
# Arithmetic is exact: nothing contracted (-std=c17 says so, too). Rows of registers are read as many types.
ARITHMETIC := -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-strict-aliasing
EMU_FLAGS := -std=c17 -Wall -Wextra -Werror -g -fPIC -fno-semantic-interposition -pthread $(NATIVE) $(ARITHMETIC) -Iz_emu \
             -DCUDART_MAJOR=$(CUDA_MAJOR) $(if $(SANITIZE),-O1 -w $(SANITIZERS),-O3)

.PHONY: emu
emu: $(libcudart) $(libcuda) $(emu_dir)/libemu.a

$(emu_dir)/%.o: z_emu/%.c
	@mkdir -p $(@D)
	@echo "  gcc $<"
	$(Q)$(CC) $(EMU_FLAGS) -MMD -MP -c -o $@ $<

# Handlers are found through tables, so objects are linked whole. Programs ask for the entry points of the runtime
# by the version node of their toolkit; those of the driver have none.
$(libcudart): $(emu_objects) $(emu_dir)/exports
	@echo "  gcc -o $@"
	$(Q)$(CC) $(EMU_FLAGS) -shared -o $@.part -Wl,-soname,$(@F),--version-script,$(emu_dir)/exports,-z,defs $(emu_objects) -lm -ldl
	@mv $@.part $@
	@ln -sf $(@F) $(emu_dir)/libcudart.so

$(emu_dir)/exports: Makefile
	@mkdir -p $(@D)
	@echo 'libcudart.so.$(CUDA_MAJOR) { global: cuda*; __cuda*; local: *; }; libcuda.so.1 { global: cu[A-Z]*; };' >$@

# The driver's entry points live in the same library, so that both share one GPU: libcuda.so.1 only leads there.
$(libcuda): $(libcudart)
	@echo "  gcc -o $@"
	$(Q)$(CC) -shared -o $@.part -Wl,-soname,$(@F),-rpath,'$$ORIGIN',--no-as-needed $(libcudart)
	@mv $@.part $@
	@ln -sf $(@F) $(emu_dir)/libcuda.so

# The page that the instruction table yields, and the program that prints it (and any PTX file as it was parsed).
docs/instructions.md: $(emu_dir)/ptx_dump
	$< --docs >$@

$(emu_dir)/ptx_dump: z_emu/ptx/dump/ptx_dump.c $(emu_dir)/libemu.a
	$(CC) $(EMU_FLAGS) -o $@ $< $(emu_dir)/libemu.a -lm -ldl

$(emu_dir)/libemu.a: $(emu_objects)
	@rm -f $@
	@echo "  ar $@"
	$(Q)ar rcs $@ $(emu_objects)

-include $(emu_objects:.o=.d)

# ------------------------------------------------------------------ 6 tests and the rest

.PHONY: test mutants golden bench plots ptxas clean

# T=name runs the tests whose name has that in it; L=1 lists them. The runner calls make for what a test needs.
test:
	@CUDA_MAJOR=$(CUDA_MAJOR) python3 tests/run.py $(if $(L),--list) $(T)

# Leaves out each synchronising statement of the pipelined rungs in turn, under 20 schedules.
mutants: emu
	@python3 tests/mutate.py $(T)

# Records what the GPU here prints for tests/conformance/.
golden:
	@CUDA_VERSION=$(CUDA_VERSION) python3 tests/run.py --golden

include tests/tests.mk

runnable := $(strip $(foreach r,$(rungs),$(if $(filter gpu,$(call device_of,$r)),$r)))
bench: $(runnable)
	$(if $(runnable),,$(error there is no GPU here to time))python3 results/bench.py $(runnable)

plots:
	python3 results/plot.py

# Registers, spills and warnings of every rung, into results/ptxas.csv.
ptxas: | $(NVCC)
	python3 results/ptxas.py $(NVCC)

diffs := $(sort $(foreach r,$(rungs),diff-$r diff-$(call short,$r)))
parent = $(or $(from_$(call short,$1)),$(error no line `from_$(call short,$1) := …` in the Makefile))
.PHONY: $(diffs)
$(diffs): diff-%:
	@scripts/diff_rung.sh $(call long,$(call parent,$(call long,$*))) $(call long,$*)

clean:
	rm -rf build $(wildcard */run side/*/run) $(foreach r,$(main_rungs),$(call short,$r))

help:
	@echo 'make <rung>       build a rung: make b2 && ./b2/run (./b2/run --help says what it takes)'
	@echo 'make all          build every rung'
	@echo 'make emu          build the emulator alone'
	@echo 'make test         build everything and check it (T=name: the tests whose name has that in it; L=1: list them)'
	@echo 'make mutants      does the emulator notice when a wait, arrival or fence is left out of a pipelined rung?'
	@echo 'make diff-<rung>  show what a rung adds to the one it grew from'
	@echo 'make bench        time every rung beside cuBLAS (needs a GPU), into results/'
	@echo 'make plots        draw results/'
	@echo 'make ptxas        what ptxas says of every rung, into results/'
	@echo 'make clean        remove what was built'
	@echo 'DEVICE=auto|gpu|emu (default auto: the GPU if there is one that can run the rung, else the emulator)'
	@echo 'PORTABLE=1 (code for any CPU of this kind)  SANITIZE=1 (the emulator with ASan, UBSan)  V=1 (show commands)'
	@echo 'rungs: $(rungs)'
