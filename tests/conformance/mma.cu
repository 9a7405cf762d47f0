/* mma.cu: mma.sync with floating-point elements: f16, bf16, tf32, fp8. */
#define HALF(F, k, A, B) F("mma.sync.aligned.m16n8" k ".row.col.f32.f16.f16.f32 " D4 ", " A ", " B ", " C4 ";", f16, f16, f32, 0) \
    F("mma.sync.aligned.m16n8" k ".row.col.f16.f16.f16.f16 " D2 ", " A ", " B ", " C2 ";", f16, f16, f16, 0)             \
    F("mma.sync.aligned.m16n8" k ".row.col.f32.bf16.bf16.f32 " D4 ", " A ", " B ", " C4 ";", bf16, bf16, f32, 0)
#define TF32(F, k, A, B) F("mma.sync.aligned.m16n8" k ".row.col.f32.tf32.tf32.f32 " D4 ", " A ", " B ", " C4 ";", tf32, tf32, f32, 0)
#define FP8(F, a, b) F("mma.sync.aligned.m16n8k32.row.col.f32." #a "." #b ".f32 " D4 ", " A4 ", " B2 ", " C4 ";", a, b, f32, 0) \
    F("mma.sync.aligned.m16n8k16.row.col.f32." #a "." #b ".f32 " D4 ", " A2 ", " B1 ", " C4 ";", a, b, f32, 0)             \
    F("mma.sync.aligned.m16n8k32.row.col.f16." #a "." #b ".f16 " D2 ", " A4 ", " B2 ", " C2 ";", a, b, f16, 0)             \
    F("mma.sync.aligned.m16n8k16.row.col.f16." #a "." #b ".f16 " D2 ", " A2 ", " B1 ", " C2 ";", a, b, f16, 0)
#define VOLTA(F, la, lb) F("mma.sync.aligned.m8n8k4." la "." lb ".f32.f16.f16.f32 " D8 ", " A2 ", " B2 ", " C8 ";", f16, f16, f32, 0) \
    F("mma.sync.aligned.m8n8k4." la "." lb ".f16.f16.f16.f16 " D4 ", " A2 ", " B2 ", " C4 ";", f16, f16, f16, 0)             \
    F("mma.sync.aligned.m8n8k4." la "." lb ".f32.f16.f16.f16 " D8 ", " A2 ", " B2 ", " C4 ";", f16, f16, f16, 0)
#define FORMS(F) HALF(F, "k16", A4, B2) HALF(F, "k8", A2, B1) TF32(F, "k4", A2, B1) TF32(F, "k8", A4, B2)             \
    FP8(F, e4m3, e4m3) FP8(F, e4m3, e5m2) FP8(F, e5m2, e4m3) FP8(F, e5m2, e5m2)                                       \
    VOLTA(F, "row", "col") VOLTA(F, "col", "row") VOLTA(F, "row", "row") VOLTA(F, "col", "col")

#include "mma.h"
