/* mma_double.cu: mma.sync with f64, in every shape and rounding. */
#define SHAPES(F, rnd) F("mma.sync.aligned.m8n8k4.row.col" rnd ".f64.f64.f64.f64 " D2 ", " A1 ", " B1 ", " C2 ";", f64, f64, f64, 0)   \
    F("mma.sync.aligned.m16n8k4.row.col" rnd ".f64.f64.f64.f64 " D4 ", " A2 ", " B1 ", " C4 ";", f64, f64, f64, 0)           \
    F("mma.sync.aligned.m16n8k8.row.col" rnd ".f64.f64.f64.f64 " D4 ", " A4 ", " B2 ", " C4 ";", f64, f64, f64, 0)           \
    F("mma.sync.aligned.m16n8k16.row.col" rnd ".f64.f64.f64.f64 " D4 ", " A8 ", " B4 ", " C4 ";", f64, f64, f64, 0)
#define FORMS(F) SHAPES(F, "") SHAPES(F, ".rn") SHAPES(F, ".rz") SHAPES(F, ".rm") SHAPES(F, ".rp")
#define MATRIX_REGISTER "d"
#define MATRIX_TYPE double

#include "mma.h"
