/* mma_sparse.cu: mma.sp, with plain and with ordered metadata, each value of the selector of lanes. */
#define SP(F, kind, shape, types, D, A, B, C, a, b, c, sparsity, lane) \
    F("mma.sp" kind ".sync.aligned." shape ".row.col" types " " D ", " A ", " B ", " C ", " SPARSITY ", " lane ";", a, b, c, sparsity)
#define HALVES(F, kind, lane) SP(F, kind, "m16n8k16", ".f32.f16.f16.f32", D4, A2, B2, C4, f16, f16, f32, 0, lane)   \
    SP(F, kind, "m16n8k16", ".f16.f16.f16.f16", D2, A2, B2, C2, f16, f16, f16, 0, lane)                             \
    SP(F, kind, "m16n8k16", ".f32.bf16.bf16.f32", D4, A2, B2, C4, bf16, bf16, f32, 0, lane)
#define LONG_HALVES(F, kind, lane) SP(F, kind, "m16n8k32", ".f32.f16.f16.f32", D4, A4, B4, C4, f16, f16, f32, 0, lane) \
    SP(F, kind, "m16n8k32", ".f16.f16.f16.f16", D2, A4, B4, C2, f16, f16, f16, 0, lane)                             \
    SP(F, kind, "m16n8k32", ".f32.bf16.bf16.f32", D4, A4, B4, C4, bf16, bf16, f32, 0, lane)
#define TF32(F, kind, lane) SP(F, kind, "m16n8k8", ".f32.tf32.tf32.f32", D4, A2, B2, C4, tf32, tf32, f32, 1, lane)
#define LONG_TF32(F, kind, lane) SP(F, kind, "m16n8k16", ".f32.tf32.tf32.f32", D4, A4, B4, C4, tf32, tf32, f32, 1, lane)
#define BYTES(F, kind, a, b, sat) SP(F, kind, "m16n8k32", sat ".s32." #a "." #b ".s32", D4, A2, B2, C4, a, b, s32, 0, "0") \
    SP(F, kind, "m16n8k32", sat ".s32." #a "." #b ".s32", D4, A2, B2, C4, a, b, s32, 0, "1")                        \
    SP(F, kind, "m16n8k64", sat ".s32." #a "." #b ".s32", D4, A4, B4, C4, a, b, s32, 0, "0")
#define NIBBLES(F, kind, a, b) SP(F, kind, "m16n8k64", ".s32." #a "." #b ".s32", D4, A2, B2, C4, a, b, s32, 2, "0")  \
    SP(F, kind, "m16n8k64", ".satfinite.s32." #a "." #b ".s32", D4, A2, B2, C4, a, b, s32, 2, "1")                  \
    SP(F, kind, "m16n8k128", ".s32." #a "." #b ".s32", D4, A4, B4, C4, a, b, s32, 2, "0")
#define FP8(F, kind, a, b) SP(F, kind, "m16n8k64", ".f32." #a "." #b ".f32", D4, A4, B4, C4, a, b, f32, 0, "0")
#define FLOATS(F, kind) HALVES(F, kind, "0") HALVES(F, kind, "1") HALVES(F, kind, "2") HALVES(F, kind, "3")          \
    LONG_HALVES(F, kind, "0") LONG_HALVES(F, kind, "1") TF32(F, kind, "0") TF32(F, kind, "3") LONG_TF32(F, kind, "0") LONG_TF32(F, kind, "1")
#define FORMS(F) FLOATS(F, "") FLOATS(F, "::ordered_metadata") FP8(F, "::ordered_metadata", e4m3, e4m3) FP8(F, "", e4m3, e5m2) \
    FP8(F, "", e5m2, e4m3) FP8(F, "::ordered_metadata", e5m2, e5m2)                                                 \
    BYTES(F, "", s8, s8, "") BYTES(F, "::ordered_metadata", u8, s8, ".satfinite") BYTES(F, "", s8, u8, ".satfinite") BYTES(F, "", u8, u8, "") \
    NIBBLES(F, "", s4, s4) NIBBLES(F, "::ordered_metadata", u4, u4) NIBBLES(F, "", s4, u4)

#include "mma.h"
