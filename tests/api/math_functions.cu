/* The toolkit's mathematical functions, which are hundreds of plain instructions each, against the host's in a wider
 * type, rounded: they may differ by as many units of the last place as NVIDIA documents. */
#include <cmath>
#include "api.h"

enum { N = 2048 };
__device__ static int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

/* name, the reference, the documented error in ulp */
#define FLOATS(X) X(sinf, sin, 2) X(cosf, cos, 2) X(tanf, tan, 4) X(expf, exp, 2) X(exp2f, exp2, 2) X(exp10f, exp10, 2)                 \
    X(expm1f, expm1, 1) X(logf, log, 1) X(log2f, log2, 1) X(log10f, log10, 2) X(log1pf, log1p, 1) X(tanhf, tanh, 2) X(sinhf, sinh, 3)   \
    X(coshf, cosh, 2) X(asinf, asin, 2) X(acosf, acos, 2) X(atanf, atan, 2) X(asinhf, asinh, 3) X(atanhf, atanh, 3)                     \
    X(acoshf, acosh, 4) X(sqrtf, sqrt, 0) X(cbrtf, cbrt, 1) X(erff, erf, 2) X(erfcf, erfc, 4) X(tgammaf, tgamma, 5)                   \
    X(floorf, floor, 0) X(ceilf, ceil, 0) X(rintf, rint, 0) X(truncf, trunc, 0) X(roundf, round, 0)
#define DOUBLES(X) X(sin, sinl, 2) X(cos, cosl, 2) X(tan, tanl, 2) X(exp, expl, 1) X(log, logl, 1) X(log2, log2l, 1) X(tanh, tanhl, 2)  \
    X(sinh, sinhl, 2) X(asin, asinl, 2) X(atan, atanl, 2) X(sqrt, rounded_root, 0) X(cbrt, cbrtl, 1) X(erf, erfl, 2) X(erfc, erfcl, 5)       \
    X(tgamma, tgammal, 10) X(floor, floorl, 0) X(rint, rintl, 0) X(trunc, truncl, 0)

/* The host's square root is the rounded one; that of the wider type, rounded again, need not be. */
static long double rounded_root(long double a) { return sqrt((double)a); }

#define FLOAT_KERNEL(f, reference, most) \
    __global__ void k_##f(float *out, const float *a) { out[thread()] = f(a[thread()]); }
#define DOUBLE_KERNEL(f, reference, most) \
    __global__ void k_##f(double *out, const double *a) { out[thread()] = f(a[thread()]); }
FLOATS(FLOAT_KERNEL)
DOUBLES(DOUBLE_KERNEL)

/* The distance in units of the last place of a type with so many bits and that least exponent. */
static double ulps(long double got, long double want, int bits, int least)
{
    if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : INFINITY;
    if (got == want) return 0;
    if (std::isinf(got) || std::isinf(want)) return INFINITY;
    int e;
    frexpl(want, &e);
    return (double)(fabsl(got - want) / ldexpl(1, (e > least ? e : least) - bits));
}

static void holds(const char *name, double worst, double most)
{
    if (worst > most) printf("%s: %g ulp, documented %g\n", name, worst, most);
    EXPECT(worst <= most);
}

int main()
{
    float *fa, *fo;
    double *da, *dd, worst;
    OK(cudaMallocManaged(&fa, N * sizeof *fa));
    OK(cudaMallocManaged(&fo, N * sizeof *fo));
    OK(cudaMallocManaged(&da, N * sizeof *da));
    OK(cudaMallocManaged(&dd, N * sizeof *dd));
    srand48(1);
    for (int i = 0; i < N; i++) {
        static const double spread[] = {2, 20, 100, 1e4};
        da[i] = (drand48() - 0.5) * spread[i % 4];
        fa[i] = (float)da[i];
    }
#define FLOAT_CHECK(f, reference, most)                                                                                 \
    k_##f<<<N / 128, 128>>>(fo, fa);                                                                                    \
    OK(cudaDeviceSynchronize());                                                                                        \
    worst = 0;                                                                                                          \
    for (int i = 0; i < N; i++) worst = fmax(worst, ulps(fo[i], (float)reference((double)fa[i]), 24, -125));  \
    holds(#f, worst, most);
#define DOUBLE_CHECK(f, reference, most)                                                                                \
    k_##f<<<N / 128, 128>>>(dd, da);                                                                                    \
    OK(cudaDeviceSynchronize());                                                                                        \
    worst = 0;                                                                                                          \
    for (int i = 0; i < N; i++) worst = fmax(worst, ulps(dd[i], (double)reference((long double)da[i]), 53, -1021)); \
    holds(#f, worst, most);
    FLOATS(FLOAT_CHECK)
    DOUBLES(DOUBLE_CHECK)
    return report();
}
