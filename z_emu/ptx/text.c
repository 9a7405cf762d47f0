/* text.c: names of types and spaces, the text of an instruction, its source line. */
#include <string.h>
#include <ctype.h>
#include "ptx.h"

static const struct { const char *name; uint8_t bytes; } types[T_COUNT] = {
    [T_NONE] = { "none", 0 },   [T_PRED] = { "pred", 0 },
    [T_B8] = { "b8", 1 },       [T_B16] = { "b16", 2 },     [T_B32] = { "b32", 4 },     [T_B64] = { "b64", 8 },
    [T_B128] = { "b128", 16 },  [T_B1024] = { "b1024", 128 },
    [T_U8] = { "u8", 1 },       [T_U16] = { "u16", 2 },     [T_U32] = { "u32", 4 },     [T_U64] = { "u64", 8 },
    [T_S8] = { "s8", 1 },       [T_S16] = { "s16", 2 },     [T_S32] = { "s32", 4 },     [T_S64] = { "s64", 8 },
    [T_F16] = { "f16", 2 },     [T_F16X2] = { "f16x2", 4 }, [T_BF16] = { "bf16", 2 },   [T_BF16X2] = { "bf16x2", 4 },
    [T_TF32] = { "tf32", 4 },   [T_F32] = { "f32", 4 },     [T_F32X2] = { "f32x2", 8 }, [T_F64] = { "f64", 8 },
    [T_U16X2] = { "u16x2", 4 }, [T_S16X2] = { "s16x2", 4 }, [T_U8X4] = { "u8x4", 4 },   [T_S8X4] = { "s8x4", 4 },
    [T_E4M3] = { "e4m3", 1 },   [T_E5M2] = { "e5m2", 1 },   [T_E4M3X2] = { "e4m3x2", 2 }, [T_E5M2X2] = { "e5m2x2", 2 },
    [T_E4M3X4] = { "e4m3x4", 4 }, [T_E5M2X4] = { "e5m2x4", 4 },
    [T_E2M1] = { "e2m1", 0 },   [T_E2M3] = { "e2m3", 0 },   [T_E3M2] = { "e3m2", 0 },
    [T_E2M1X2] = { "e2m1x2", 1 }, [T_E2M3X2] = { "e2m3x2", 2 }, [T_E3M2X2] = { "e3m2x2", 2 },
    [T_E2M1X4] = { "e2m1x4", 2 }, [T_E2M3X4] = { "e2m3x4", 4 }, [T_E3M2X4] = { "e3m2x4", 4 },
    [T_UE8M0] = { "ue8m0", 1 }, [T_UE8M0X2] = { "ue8m0x2", 2 }, [T_UE4M3] = { "ue4m3", 1 },
    [T_B1] = { "b1", 0 },       [T_U4] = { "u4", 0 },       [T_S4] = { "s4", 0 },       [T_U2] = { "u2", 0 },
    [T_S2] = { "s2", 0 },       [T_S2F6X2] = { "s2f6x2", 2 },
    [T_B4X16] = { "b4x16", 0 }, [T_B4X16_P64] = { "b4x16_p64", 0 }, [T_B6X16_P32] = { "b6x16_p32", 0 },
    [T_B8X16] = { "b8x16", 0 },
};

uint32_t type_bytes(enum type t)
{
    return types[t].bytes;
}

const char *type_name(enum type t)
{
    return types[t].name;
}

const char *space_name(enum space s)
{
    static const char *const names[] = {
        [SP_GENERIC] = "generic", [SP_GLOBAL] = "global", [SP_SHARED_CTA] = "shared::cta",
        [SP_SHARED_CLUSTER] = "shared::cluster", [SP_LOCAL] = "local", [SP_CONST] = "const", [SP_PARAM] = "param",
        [SP_TMEM] = "tensor memory", [SP_NONE] = "none"
    };
    return names[s];
}

/* Up to its semicolon, white space squeezed. */
const char *instr_text(const struct instr *in, char *buf, size_t len)
{
    size_t n = 0;
    for (const char *c = in->text; c && *c && *c != ';' && n + 2 < len; c++) {
        if (c[0] == '/' && c[1] == '/') {
            c += strcspn(c, "\n");
            if (!*c)
                break;
        }
        if (!isspace((unsigned char)*c))
            buf[n++] = *c;
        else if (n && buf[n - 1] != ' ')
            buf[n++] = ' ';
    }
    if (len)
        buf[n] = 0;
    return buf;
}

uint32_t ptx_line_of(const struct instr *in, const char **file)
{
    const struct module *m = in->func->module;
    *file = in->line && in->file < m->nfile ? m->file[in->file] : NULL;
    return in->line;
}

struct func *ptx_func(const struct module *m, const char *name)
{
    for (uint32_t i = 0; i < m->nfunc; i++)
        if (strcmp(m->func[i]->name, name) == 0)
            return m->func[i];
    return NULL;
}

struct symbol *ptx_var(const struct module *m, const char *name)
{
    for (uint32_t i = 0; i < m->nvar; i++)
        if (strcmp(m->var[i]->name, name) == 0)
            return m->var[i];
    return NULL;
}

void ptx_free(struct module *m)
{
    if (m)
        arena_free(m->arena);
}
