/* printf.cu: the device's printf. One thread prints, so the order is the program's; each line begins with what it
 * is about and shows the results between bars. */
#include <cfloat>
#include <climits>
#include <cmath>
#include "conformance.h"

/* `name` says which conversion the line tests. */
#define SHOW(name, format, ...) printf(name " |" format "|\n", __VA_ARGS__)

/* Read through a volatile pointer, so that no number is known when the kernel is compiled. */
struct numbers {
    int small, negative, least;
    unsigned most;
    long long long_negative, long_least;
    unsigned long long long_most;
    double pi, tiny, huge, third, half, zero, minus_zero, infinity, nan;
};

__global__ void integers(const volatile numbers *n)
{
    SHOW("d", "%d|%d|%d|%d", n->small, n->negative, n->least, 0);
    SHOW("i", "%i|%i", n->small, n->negative);
    SHOW("u", "%u|%u|%u", n->small, n->negative, n->most);
    SHOW("x", "%x|%X|%#x|%#X|%#x", n->small, n->most, n->small, n->most, 0);
    SHOW("o", "%o|%o|%#o|%#o", n->small, n->most, n->small, 0);
    SHOW("width", "%6d|%-6d|%06d|%2d|%20d", n->small, n->small, n->negative, n->least, n->least);
    SHOW("sign", "%+d|%+d|% d|% d|%+06d|%-+6d", n->small, n->negative, n->small, n->negative, n->small, n->small);
    SHOW("precision", "%.5d|%8.3d|%-8.3d|%.0d|%.3d|%.5x|%#.6x", n->small, n->small, n->negative, 0, 0, n->small, n->small);
    SHOW("hex width", "%08x|%#010x|%-#8x|%8X", n->small, n->small, n->small, n->most);
    SHOW("lld", "%lld|%lld|%lld", n->long_negative, n->long_least, (long long)n->small);
    SHOW("llu", "%llu|%llx|%llo|%#llx", n->long_most, n->long_most, n->long_most, n->long_most);
    SHOW("ld", "%ld|%lu|%lx", (long)n->long_negative, (unsigned long)n->long_most, (unsigned long)n->long_most);
    SHOW("lld width", "%24lld|%-24lld|%024lld|%+lld", n->long_negative, n->long_negative, n->long_negative, (long long)n->small);
    SHOW("c", "%c%c%c|%3c|%-3c", 'a' + (n->small & 7), 'Z', '!', 'w', 'w');
    SHOW("mixed sizes", "%d|%lld|%d|%f|%d|%llu|%c", n->small, n->long_negative, n->negative, n->pi, n->least, n->long_most, 'c');
    SHOW("short", "%d|%d|%u", (short)n->negative, (char)n->negative, (unsigned char)n->negative);
}

__global__ void floats(const volatile numbers *n)
{
    SHOW("f", "%f|%f|%f|%f", n->pi, n->third, n->tiny, n->zero);
    SHOW("e", "%e|%e|%e|%E", n->pi, n->huge, n->tiny, n->third);
    SHOW("g", "%g|%g|%g|%g|%g|%G", n->pi, n->huge, n->tiny, n->third, n->zero, n->tiny);
    SHOW("a", "%a|%a|%a|%A", n->pi, n->half, n->zero, n->third);
    SHOW("precision", "%.0f|%.1f|%.10f|%.0e|%.3e|%.3g|%.12g|%.2a", n->half, n->pi, n->third, n->pi, n->huge, n->pi, n->third, n->pi);
    SHOW("width", "%12f|%-12f|%012f|%12.3e|%-12.3g|%3f", n->pi, n->pi, -n->pi, n->pi, n->pi, n->huge / 1e290);
    SHOW("sign", "%+f|% f|%+e|% g|%+g", n->pi, n->pi, n->third, n->pi, -n->pi);
    SHOW("#", "%#.0f|%#g|%#.0e|%g|%#.3g", n->pi, n->half, n->pi, 100000.0, n->half);
    SHOW("halves", "%.0f|%.0f|%.0f|%.1f|%.2f", 0.5, 1.5, 2.5, 0.25, 1.005);
    SHOW("specials", "%f|%f|%e|%g|%f|%F", n->infinity, -n->infinity, n->infinity, n->infinity, n->minus_zero, n->infinity);
    SHOW("nan", "%f|%e|%g|%6f|%-6g", n->nan, n->nan, n->nan, n->nan, n->nan);
    SHOW("inf width", "%8f|%-8f|%+f|%08f", n->infinity, n->infinity, n->infinity, n->infinity);
    SHOW("float", "%f|%.9g", (float)n->third, (float)n->pi);
    SHOW("huge", "%.3f", n->huge);
}

__device__ const char text[] = "in global memory";

__global__ void strings(const volatile numbers *n)
{
    SHOW("s", "%s|%s|%s", "text", text, "");
    SHOW("s width", "%10s|%-10s|%.3s|%8.2s|%-8.2s", "text", "text", "text", "text", "text");
    SHOW("chosen", "%s|%s", n->small > 0 ? "yes" : "no", n->negative > 0 ? "yes" : "no");
    SHOW("p", "%p", (void *)nullptr);
    SHOW("p value", "%p|%p", (void *)(size_t)n->small, (void *)0x123456789abcull);
    SHOW("percent", "%%|%d%%|%%%d", n->small, n->small);
    printf("no arguments: %%d\n");
    printf("returns %d\n", printf("three: %d %s %f\n", n->small, "b", n->pi));
    printf("returns %d\n", printf("none\n"));
    printf("in ");
    printf("pieces%c", '\n');
}

int main(void)
{
    numbers given = { 42, -7, INT_MIN, UINT_MAX, -1234567890123, LLONG_MIN, ULLONG_MAX,
                      3.14159265358979, 1.5e-310, 1.2345e300, 1.0 / 3, 0.5, 0.0, -0.0, INFINITY, NAN };
    numbers *n;
    CHECKED(cudaMalloc(&n, sizeof given));
    CHECKED(cudaMemcpy(n, &given, sizeof given, cudaMemcpyHostToDevice));
    integers<<<1, 1>>>(n);
    CHECKED(cudaDeviceSynchronize());
    floats<<<1, 1>>>(n);
    CHECKED(cudaDeviceSynchronize());
    strings<<<1, 1>>>(n);
    CHECKED(cudaDeviceSynchronize());
    return 0;
}
