/* alu_f16.h: rows of f16 to f32 and back, by the host's conversion instructions where it has them. The results are those of
 * f32_of_f16 and f16_of_f32, NaNs too. n is a multiple of 16. */
#ifndef Z_EMU_ALU_F16_H
#define Z_EMU_ALU_F16_H

#include "core/alu_fp.h"

#if defined __AVX512F__
#include <immintrin.h>

static inline __m512 canonical_16(__m512 x)
{
    __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_mask_mov_ps(x, nan, _mm512_castsi512_ps(_mm512_set1_epi32(NAN_F32)));
}
static inline void widen_f16(float *to, const uint16_t *from, int n)
{
    for (int i = 0; i < n; i += 16)
        _mm512_storeu_ps(to + i, canonical_16(_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from + i)))));
}
static inline void narrow_f16(uint16_t *to, const float *from, int n)
{
    for (int i = 0; i < n; i += 16) {
        __m512 x = canonical_16(_mm512_loadu_ps(from + i));
        _mm256_storeu_si256((__m256i *)(to + i), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
}

#elif defined __F16C__ && defined __AVX__
#include <immintrin.h>

static inline __m256 canonical_8(__m256 x)
{
    __m256 nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
    return _mm256_blendv_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(NAN_F32)), nan);
}
static inline void widen_f16(float *to, const uint16_t *from, int n)
{
    for (int i = 0; i < n; i += 8)
        _mm256_storeu_ps(to + i, canonical_8(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i)))));
}
static inline void narrow_f16(uint16_t *to, const float *from, int n)
{
    for (int i = 0; i < n; i += 8) {
        __m256 x = canonical_8(_mm256_loadu_ps(from + i));
        _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
}

#else

static inline void widen_f16(float *to, const uint16_t *from, int n)
{
    for (int i = 0; i < n; i++) to[i] = f32_of_f16(from[i]);
}
static inline void narrow_f16(uint16_t *to, const float *from, int n)
{
    for (int i = 0; i < n; i++) to[i] = f16_of_f32(from[i]);
}

#endif
#endif
