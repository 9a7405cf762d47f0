/* wgmma_descriptors.cu: where a matrix descriptor says that the elements are. Shared memory holds numbered halves, and the
 * other matrix picks them one by one, so that the results are the places that were read: a hash of them all, then the byte
 * addresses of element (mn, k) for 0, for each power of two as k and as mn. Last the types that know K-major only. */
#define TILE_WORDS 10240
#define PROBE_B(F, trans) F("B", GROUP(MULTIPLY("wgmma.mma_async", "m64n128k16.f32.f16.f16", TENS6 ", " TO4(6), A_REGISTERS, "", ", 1, 1, " trans)), \
    128, 64, f32, f16, f16, -1)
#define PROBE_A(F, trans) F("A", GROUP(MULTIPLY("wgmma.mma_async", "m64n16k16.f32.f16.f16", TO8(), A_DESCRIPTOR, "", ", 1, 1, " trans ", 0")), \
    16, 8, f32, f16, f16, -1)
#define BOTH(F, types, d, a, b, tail) F("m64n64" types, GROUP(MULTIPLY("wgmma.mma_async", "m64n64" types, TENS3 ", " TO2(3), A_DESCRIPTOR, "", tail)), \
    64, 32, d, a, b, -1)
#define WGMMA_FORMS(F) PROBE_B(F, "0") PROBE_B(F, "1") PROBE_A(F, "0") PROBE_A(F, "1")                                \
    BOTH(F, "k8.f32.tf32.tf32", f32, tf32, tf32, ", 1, 1") BOTH(F, "k32.f32.e4m3.e5m2", f32, e4m3, e5m2, ", 1, 1")   \
    BOTH(F, "k32.s32.s8.u8", s32, s8, u8, "") BOTH(F, "k256.s32.b1.b1.and.popc", s32, b1, b1, "")
#include "wgmma.h"

enum { NONE, S128, S64, S32, K_MAJOR = 0, MN_MAJOR = 1 };
struct place { int major, swizzle, start, lbo, sbo, base; };
static const place places[] = {
    /* major  swizzle start  lbo   sbo  base: where the pattern starts, in 128 bytes */
    { K_MAJOR, NONE,      0,  128,  256, 0 }, { K_MAJOR, NONE,     0, 2048,  128, 0 }, { K_MAJOR, NONE,  4096,  144,  304, 0 },
    { K_MAJOR, NONE,    112, 8192, 1024, 0 }, { K_MAJOR, NONE,    48,    0,  512, 0 }, { K_MAJOR, NONE,    16,  256,    0, 0 },
    { K_MAJOR, S128,      0,   16, 1024, 0 }, { K_MAJOR, S128,    32,   16, 1024, 0 }, { K_MAJOR, S128,    64,   16, 1024, 0 },
    { K_MAJOR, S128,     96,   16, 1024, 0 }, { K_MAJOR, S128,    16,   16, 1024, 0 }, { K_MAJOR, S128,    80,   16, 1024, 0 },
    { K_MAJOR, S128,   1024,    0, 1024, 0 }, { K_MAJOR, S128,  2048,  512, 1024, 0 }, { K_MAJOR, S128,     0, 4096, 2048, 0 },
    { K_MAJOR, S128,   3072,   16, 1152, 0 }, { K_MAJOR, S128,    32,   16,    0, 0 },
    { K_MAJOR, S64,       0,   16,  512, 0 }, { K_MAJOR, S64,     32,   16,  512, 0 }, { K_MAJOR, S64,     16,   16,  512, 0 },
    { K_MAJOR, S64,     512,    0,  512, 0 }, { K_MAJOR, S64,   1024,  256, 1024, 0 }, { K_MAJOR, S64,   1536,   16,  640, 0 },
    { K_MAJOR, S32,       0,   16,  256, 0 }, { K_MAJOR, S32,    256,    0,  256, 0 }, { K_MAJOR, S32,   1280,   64,  512, 0 },
    { K_MAJOR, S32,     512,   16,  384, 0 },
    { K_MAJOR, S128,    128,   16, 1024, 1 }, { K_MAJOR, S128,   256,   16, 1024, 2 }, { K_MAJOR, S128,   384,   16, 1024, 3 },
    { K_MAJOR, S128,    512,   16, 1024, 4 }, { K_MAJOR, S128,   640,   16, 1024, 5 }, { K_MAJOR, S128,   768,   16, 1024, 6 },
    { K_MAJOR, S128,    896,   16, 1024, 7 }, { K_MAJOR, S128,   160,   16, 1024, 1 }, { K_MAJOR, S128,   960,   16, 1024, 7 },
    { K_MAJOR, S128,      0,   16, 1024, 1 }, { K_MAJOR, S128,     0,   16, 1024, 2 }, { K_MAJOR, S128,     0,   16, 1024, 3 },
    { K_MAJOR, S128,      0,   16, 1024, 6 }, { K_MAJOR, S128,   256,   16, 1024, 1 }, { K_MAJOR, S128,   128,   16, 1024, 3 },
    { K_MAJOR, S64,     128,   16,  512, 1 }, { K_MAJOR, S64,    256,   16,  512, 2 }, { K_MAJOR, S64,    384,   16,  512, 3 },
    { K_MAJOR, S64,       0,   16,  512, 1 }, { K_MAJOR, S64,      0,   16,  512, 4 }, { K_MAJOR, S64,    640,   16,  512, 5 },
    { K_MAJOR, S32,     128,   16,  256, 1 }, { K_MAJOR, S32,      0,   16,  256, 1 }, { K_MAJOR, S32,      0,   16,  256, 2 },
    { MN_MAJOR, NONE,     0, 2048,  128, 0 }, { MN_MAJOR, NONE,    0,  128,  256, 0 }, { MN_MAJOR, NONE, 4112,  400,  144, 0 },
    { MN_MAJOR, NONE,    48,    0,  512, 0 }, { MN_MAJOR, NONE,   16, 1024,    0, 0 },
    { MN_MAJOR, S128,     0, 2048, 1024, 0 }, { MN_MAJOR, S128,    0, 1024, 2048, 0 }, { MN_MAJOR, S128, 1024, 4096, 1024, 0 },
    { MN_MAJOR, S128,  2048, 4096, 2048, 0 }, { MN_MAJOR, S128,    0,   16, 1024, 0 }, { MN_MAJOR, S128,    0, 2176, 1152, 0 },
    { MN_MAJOR, S64,      0, 1024,  512, 0 }, { MN_MAJOR, S64,     0,  512, 2048, 0 }, { MN_MAJOR, S64,  1536, 2048, 1024, 0 },
    { MN_MAJOR, S64,    512, 1152,  640, 0 },
    { MN_MAJOR, S32,      0,  512,  256, 0 }, { MN_MAJOR, S32,     0,  256, 2048, 0 }, { MN_MAJOR, S32,   768, 1024,  512, 0 },
    { MN_MAJOR, S32,    256,  640,  384, 0 },
    { MN_MAJOR, S128,   128, 2048, 1024, 1 }, { MN_MAJOR, S128,  640, 2048, 1024, 5 }, { MN_MAJOR, S128,    0, 2048, 1024, 3 },
    { MN_MAJOR, S64,    384, 1024,  512, 3 }, { MN_MAJOR, S32,   128,  512,  256, 1 },
};
enum { PLACES = sizeof places / sizeof places[0], PICKER = 32768, HALVES = 16384, LOW = 1024, DEPTH = 16 };

static uint64_t descriptor_of(const place &p)
{
    return descriptor(p.start, p.lbo, p.sbo, p.swizzle) | (uint64_t)p.base << 49;
}

/* Half number i of shared memory is i / divisor % LOW. */
static void number_halves(words &in, int divisor)
{
    for (int i = 0; i < HALVES; i++)
        in[i / 2] |= (uint32_t)small_integer(f16, i / divisor % LOW) << i % 2 * 16;
}

/* Row m of A picks k = m % 16 of B. */
static void pick_by_registers(words &in)
{
    for (int thread = 0; thread < THREADS; thread++)
        for (int i = 0; i < 8; i++) {
            int row = thread % 32 / 4 + i / 2 % 2 * 8, k = thread % 4 * 2 + i % 2 + i / 4 * 8;
            in[AT_A + i / 2 * THREADS + thread] |= row == k ? 0x3c00u << i % 2 * 16 : 0;
        }
}

/* Column n of B picks k = n of A. */
static void pick_by_tile(words &in)
{
    for (int n = 0; n < DEPTH; n++) {
        int byte = PICKER + n / 8 * 256 + n / 8 * 128 + n % 8 * 16 + n % 8 * 2;
        in[byte / 4] |= 0x3c00u << byte % 4 * 8;
    }
}

static float result_at(const words &results, int row, int column)
{
    int i = column / 8 * 4 + row % 16 / 8 * 2 + column % 2, thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
    float f;
    memcpy(&f, &results[i * THREADS + thread], 4);
    return f;
}

static values places_read(int form, const place &p)
{
    bool b = form < 2;
    values ids((b ? 128 : 64) * DEPTH);
    for (int divisor = 1; divisor <= LOW; divisor *= LOW) {
        words in(AT_D + forms[form].registers * THREADS);
        number_halves(in, divisor);
        (b ? pick_by_registers : pick_by_tile)(in);
        words results = run(form, in, descriptor_of(p), b ? descriptor_of(p) : descriptor(PICKER, 128, 256, 0), false);
        for (size_t i = 0; i < ids.size(); i++)
            ids[i] += divisor * (int)(b ? result_at(results, i % DEPTH, i / DEPTH) : result_at(results, i / DEPTH, i % DEPTH));
    }
    return ids;
}

static void print_places(const char *name, const place &p, const values &ids)
{
    const char *const swizzles[] = { "no swizzle", "128 bytes", "64 bytes", "32 bytes" };
    uint64_t hash = 0;
    for (uint64_t id : ids)
        hash = mix(hash ^ id) + 1;
    printf("%s, %s-major, %s, start %d, leading %d, stride %d, base %d: %016llx, (0, 0) at %d; k:", name, p.major ? "MN" : "K",
           swizzles[p.swizzle], p.start, p.lbo, p.sbo, p.base, (unsigned long long)hash, (int)ids[0] * 2);
    for (int k = 1; k < DEPTH; k *= 2)
        printf(" %d", (int)ids[k] * 2);
    printf("; mn:");
    for (size_t mn = 1; mn * DEPTH < ids.size(); mn *= 2)
        printf(" %d", (int)ids[mn * DEPTH] * 2);
    printf("\n");
}

/* The same descriptor for A and, 16 KB behind, for B: of types with 32 bytes of k. */
static void print_other(int form, const place &p)
{
    char text[200];
    words in(AT_D + forms[form].registers * THREADS);
    for (int i = 0; i < TILE_WORDS; i++)
        in[i] = packed(i < TILE_WORDS / 2 ? forms[form].a : forms[form].b, INTEGERS, i < TILE_WORDS / 2 ? 0 : 1, i);
    snprintf(text, sizeof text, "%s, swizzle %d, start %d, leading %d, stride %d, base %d", forms[form].text, p.swizzle, p.start, p.lbo,
             p.sbo, p.base);
    print_words(text, run(form, in, descriptor_of(p), descriptor_of(p) + (20480 >> 4), false), false);
}

int main()
{
    for (int form = 0; form < 4; form++)
        for (const place &p : places)
            if (p.major == form % 2)
                print_places(forms[form].text, p, places_read(form, p));
    for (int form = 4; form < NUMBER_OF_FORMS; form++)
        for (const place &p : places)
            if (p.major == K_MAJOR && p.start + p.lbo + 8 * p.sbo < 14000)
                print_other(form, p);
    return 0;
}
