/* mma_integer.cu: mma.sync with integers and bits. */
#define BYTES(F, a, b, sat) F("mma.sync.aligned.m8n8k16.row.col" sat ".s32." #a "." #b ".s32 " D2 ", " A1 ", " B1 ", " C2 ";", a, b, s32, 0) \
    F("mma.sync.aligned.m16n8k16.row.col" sat ".s32." #a "." #b ".s32 " D4 ", " A2 ", " B1 ", " C4 ";", a, b, s32, 0)           \
    F("mma.sync.aligned.m16n8k32.row.col" sat ".s32." #a "." #b ".s32 " D4 ", " A4 ", " B2 ", " C4 ";", a, b, s32, 0)
#define NIBBLES(F, a, b, sat) F("mma.sync.aligned.m8n8k32.row.col" sat ".s32." #a "." #b ".s32 " D2 ", " A1 ", " B1 ", " C2 ";", a, b, s32, 0) \
    F("mma.sync.aligned.m16n8k32.row.col" sat ".s32." #a "." #b ".s32 " D4 ", " A2 ", " B1 ", " C4 ";", a, b, s32, 0)           \
    F("mma.sync.aligned.m16n8k64.row.col" sat ".s32." #a "." #b ".s32 " D4 ", " A4 ", " B2 ", " C4 ";", a, b, s32, 0)
#define BITS(F, op) F("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32." op ".popc " D2 ", " A1 ", " B1 ", " C2 ";", b1, b1, s32, 0) \
    F("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32." op ".popc " D4 ", " A2 ", " B1 ", " C4 ";", b1, b1, s32, 0)           \
    F("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32." op ".popc " D4 ", " A4 ", " B2 ", " C4 ";", b1, b1, s32, 0)
#define BOTH(M, F, a, b) M(F, a, b, "") M(F, a, b, ".satfinite")
#define FORMS(F) BOTH(BYTES, F, s8, s8) BOTH(BYTES, F, u8, u8) BOTH(BYTES, F, s8, u8) BOTH(BYTES, F, u8, s8)                    \
    BOTH(NIBBLES, F, s4, s4) BOTH(NIBBLES, F, u4, u4) BOTH(NIBBLES, F, s4, u4) BOTH(NIBBLES, F, u4, s4) BITS(F, "xor") BITS(F, "and")

#include "mma.h"
