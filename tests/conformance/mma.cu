/* mma.cu: mma.sync with floating-point elements: f16, bf16, tf32, fp8.
 * Not m8n8k4 on f16: of that ptxas makes other instructions for chips after sm_75, which round otherwise. */
#define HALF(F, k, A, B) F("mma.sync.aligned.m16n8" k ".row.col.f32.f16.f16.f32 " D4 ", " A ", " B ", " C4 ";", f16, f16, f32, 0) \
    F("mma.sync.aligned.m16n8" k ".row.col.f16.f16.f16.f16 " D2 ", " A ", " B ", " C2 ";", f16, f16, f16, 0)             \
    F("mma.sync.aligned.m16n8" k ".row.col.f32.bf16.bf16.f32 " D4 ", " A ", " B ", " C4 ";", bf16, bf16, f32, 0)
#define TF32(F, k, A, B) F("mma.sync.aligned.m16n8" k ".row.col.f32.tf32.tf32.f32 " D4 ", " A ", " B ", " C4 ";", tf32, tf32, f32, 0)
#define FP8(F, a, b) F("mma.sync.aligned.m16n8k32.row.col.f32." #a "." #b ".f32 " D4 ", " A4 ", " B2 ", " C4 ";", a, b, f32, 0) \
    F("mma.sync.aligned.m16n8k16.row.col.f32." #a "." #b ".f32 " D4 ", " A2 ", " B1 ", " C4 ";", a, b, f32, 0)             \
    F("mma.sync.aligned.m16n8k32.row.col.f16." #a "." #b ".f16 " D2 ", " A4 ", " B2 ", " C2 ";", a, b, f16, 0)             \
    F("mma.sync.aligned.m16n8k16.row.col.f16." #a "." #b ".f16 " D2 ", " A2 ", " B1 ", " C2 ";", a, b, f16, 0)
#define FORMS(F) HALF(F, "k16", A4, B2) HALF(F, "k8", A2, B1) TF32(F, "k4", A2, B1) TF32(F, "k8", A4, B2)             \
    FP8(F, e4m3, e4m3) FP8(F, e4m3, e5m2) FP8(F, e5m2, e4m3) FP8(F, e5m2, e5m2)

#include "mma.h"
