# How the programs that tests/run.py runs are built. The runner asks for them by name, so `make test T=name`
# builds only what it needs, and a program that does not build is a test that fails.

tests_dir := build/$(if $(SANITIZE),asan_tests,tests)

# Unit tests are plain C, linked with the whole of the emulator: its handlers are found through tables.
$(tests_dir)/unit/%: tests/unit/%.c $(emu_dir)/libemu.a
	@mkdir -p $(@D)
	$(CC) $(EMU_FLAGS) -MMD -MP -MF $@.d -Itests -Iz_utils -o $@ $< -Wl,--whole-archive $(emu_dir)/libemu.a \
		-Wl,--no-whole-archive -lm -ldl

# Programs for the emulator carry PTX alone, for sm_90a unless a line in their head says otherwise: " * target: 80".
target_of = $(or $(shell sed -n 's/^ \* target: *//p' $1),90a)
test_nvcc = $(NVCC) -std=c++17 -O2 -lineinfo --compress-mode=none -cudart shared -allow-unsupported-compiler \
            -Itests -Iz_utils $(foreach chip,$1,-gencode arch=compute_$(chip),code=compute_$(chip))
rpath = -Xlinker --disable-new-dtags,-rpath,$(CURDIR)/$(emu_dir)
libraries = $(rpath) -L$(emu_dir) -Xlinker --push-state,--as-needed -lcuda -Xlinker --pop-state

$(tests_dir)/%: tests/%.cu build/toolkit | $(NVCC) $(libcuda)
	@mkdir -p $(@D)
	$(call test_nvcc,$(call target_of,$<)) -MMD -MP -MF $@.d -MT $@ -o $@ $< $(libraries)

# The same for the GPU here, to record what it prints: machine code, and NVIDIA's libraries.
build/golden/%: tests/conformance/%.cu build/toolkit | $(NVCC)
	@mkdir -p $(@D)
	$(NVCC) -std=c++17 -O2 -cudart shared -allow-unsupported-compiler -Itests -Iz_utils -o $@ $< \
	    -gencode arch=compute_$(call target_of,$<),code=sm_$(call target_of,$<) -Xlinker -rpath,$(CUDA_LIB)

# The twin of a program in tests/faults, without the fault.
$(tests_dir)/%.fixed: tests/%.cu build/toolkit | $(NVCC) $(libcuda)
	@mkdir -p $(@D)
	$(call test_nvcc,$(call target_of,$<)) -DFIXED -MMD -MP -MF $@.d -MT $@ -o $@ $< $(libraries)

# Programs of others: built with the toolkit's defaults, the runtime shared or, as nvcc does by itself, linked in.
$(tests_dir)/emu/%.shared: tests/emu/%.cu build/toolkit | $(NVCC)
	@mkdir -p $(@D)
	$(NVCC) -arch=sm_90 -allow-unsupported-compiler -cudart shared -o $@ $<
$(tests_dir)/emu/%.static: tests/emu/%.cu build/toolkit | $(NVCC)
	@mkdir -p $(@D)
	$(NVCC) -arch=sm_90 -allow-unsupported-compiler -o $@ $<

# Known-wrong kernels: the runner writes build/tests/wrong/<rung>/<mutation>.cu; the rung's own main.c must reject them.
define wrong_rung
$(tests_dir)/wrong/$1/%.run: $(tests_dir)/wrong/$1/%.cu build/$1/main.o build/toolkit | $(NVCC)
	$(call test_nvcc,$(target_$(call short,$1)) $(call also,$1)) -I$1 -o $$@ $$< build/$1/main.o -ldl -lm $(rpath)
endef
$(foreach r,$(rungs),$(eval $(call wrong_rung,$r)))

-include $(wildcard $(tests_dir)/*/*.d)
