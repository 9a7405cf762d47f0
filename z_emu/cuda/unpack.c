/* unpack.c: the two compressions that nvcc uses for fatbins. LZ4 is decoded here; zstd, which is far larger, by
 * the system's libzstd if there is one. */
#include "cuda_emu.h"
#include <dlfcn.h>
#include <string.h>

/* A length that does not fit its four bits goes on in bytes, until one is not 255. */
static bool lz4_length(const uint8_t **in, const uint8_t *end, size_t *length)
{
    if (*length != 15)
        return true;
    for (uint8_t byte = 255; byte == 255; *length += byte) {
        if (*in == end)
            return false;
        byte = *(*in)++;
    }
    return true;
}

bool lz4_unpack(const uint8_t *in, size_t inlen, uint8_t *out, size_t size)
{
    const uint8_t *in_end = in + inlen;
    uint8_t *begin = out, *end = out + size;
    while (in < in_end) {
        uint8_t token = *in++;
        size_t literals = token >> 4, match = token & 15;
        if (!lz4_length(&in, in_end, &literals) || literals > (size_t)(in_end - in) || literals > (size_t)(end - out))
            return false;
        memcpy(out, in, literals);
        in += literals;
        out += literals;
        if (out == end)
            return true;
        if (in_end - in < 2)
            return false;
        size_t offset = in[0] | (size_t)in[1] << 8;
        in += 2;
        if (!lz4_length(&in, in_end, &match))
            return false;
        match += 4;
        if (offset == 0 || offset > (size_t)(out - begin) || match > (size_t)(end - out))
            return false;
        for (; match; match--, out++)           /* byte by byte: a match may overlap what it makes */
            *out = *(out - offset);
    }
    return out == end;
}

bool zstd_unpack(const uint8_t *in, size_t inlen, uint8_t *out, size_t size, char *err, size_t errlen)
{
    void *lib = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    size_t (*decompress)(void *, size_t, const void *, size_t) = NULL;
    if (lib)
        *(void **)&decompress = dlsym(lib, "ZSTD_decompress");
    if (!decompress) {
        snprintf(err, errlen, "it is compressed with zstd and there is no libzstd.so.1 here to unpack it: install libzstd, "
                              "or compile with nvcc --compress-mode=none");
        return false;
    }
    if (decompress(out, size, in, inlen) == size)
        return true;
    snprintf(err, errlen, "its zstd compression is damaged");
    return false;
}
