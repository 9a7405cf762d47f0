/* expr.c: constant expressions and literals. Integers are 64 bits; signed unless an operand is unsigned. */
#include <string.h>
#include "ptx.h"

static struct value expression(struct parser *p, int level, int depth);

static struct value integer(uint64_t bits, bool is_unsigned)
{
    return (struct value){ .bits = bits, .is_unsigned = is_unsigned };
}

static struct value literal(struct parser *p)
{
    struct token t = p->tok;
    if (t.kind == TOK_INT) {
        advance(p);
        return integer(t.i, t.is_unsigned);
    }
    if (t.kind == TOK_FLOAT) {
        advance(p);
        return (struct value){ .is_float = true, .float_bits = t.float_bits, .bits = t.i };
    }
    if (take_word(p, "WARP_SZ"))
        return integer(WARP, true);
    ptx_fail(p, t.s, "a number is expected here");
}

static struct value negate(struct value v)
{
    if (v.is_float)
        v.bits ^= v.float_bits == 32 ? 1ull << 31 : 1ull << 63;
    else
        v.bits = -v.bits;
    return v;
}

static struct value unary(struct parser *p, int depth)
{
    const char *at = p->tok.s;
    if (depth > 100)
        ptx_fail(p, at, "this expression is nested too deeply");
    if (take(p, '-'))
        return negate(unary(p, depth + 1));
    if (take(p, '+'))
        return unary(p, depth + 1);
    bool complement = p->tok.kind == '~';
    if (complement || p->tok.kind == '!') {
        advance(p);
        struct value v = unary(p, depth + 1);
        if (v.is_float)
            ptx_fail(p, at, "an integer is expected here");
        return complement ? integer(~v.bits, v.is_unsigned) : integer(!v.bits, false);
    }
    if (!take(p, '('))
        return literal(p);
    if (is_dot(p, "s64") || is_dot(p, "u64")) {
        bool to_unsigned = is_dot(p, "u64");
        advance(p);
        need(p, ')', "')'");
        struct value v = unary(p, depth + 1);
        v.is_unsigned = to_unsigned;
        return v;
    }
    struct value v = expression(p, 0, depth + 1);
    need(p, ')', "')'");
    return v;
}

/* The binary operator at the token: its level, and its one or two characters; level -1 when there is none. */
static int operator_at(const struct parser *p, char op[3])
{
    static const struct { const char *op; int level; } table[] = {
        { "||", 1 }, { "&&", 2 }, { "|", 3 }, { "^", 4 }, { "&", 5 }, { "==", 6 }, { "!=", 6 }, { "<=", 7 }, { ">=", 7 },
        { "<<", 8 }, { ">>", 8 }, { "<", 7 }, { ">", 7 }, { "+", 9 }, { "-", 9 }, { "*", 10 }, { "/", 10 }, { "%", 10 },
    };
    if (p->tok.kind >= TOK_END)
        return -1;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strncmp(p->tok.s, table[i].op, strlen(table[i].op)) == 0) {
            strcpy(op, table[i].op);
            return table[i].level;
        }
    return -1;
}

static uint64_t divide(struct parser *p, const char *at, uint64_t a, uint64_t b, bool is_unsigned, bool remainder)
{
    if (b == 0)
        ptx_fail(p, at, "division by zero");
    if (is_unsigned)
        return remainder ? a % b : a / b;
    if (b == UINT64_MAX)        /* -1: INT64_MIN / -1 overflows */
        return remainder ? 0 : -a;
    return (uint64_t)(remainder ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static struct value apply(struct parser *p, const char *at, const char *op, struct value x, struct value y)
{
    if (x.is_float || y.is_float)
        ptx_fail(p, at, "an operator needs integers");
    bool u = x.is_unsigned || y.is_unsigned;
    uint64_t a = x.bits, b = y.bits, shift = b & 63;
    bool less = u ? a < b : (int64_t)a < (int64_t)b;
    switch (op[0]) {
    case '+': return integer(a + b, u);
    case '-': return integer(a - b, u);
    case '*': return integer(a * b, u);
    case '/': return integer(divide(p, at, a, b, u, false), u);
    case '%': return integer(divide(p, at, a, b, u, true), u);
    case '^': return integer(a ^ b, u);
    case '&': return op[1] ? integer(a && b, false) : integer(a & b, u);
    case '|': return op[1] ? integer(a || b, false) : integer(a | b, u);
    case '=': return integer(a == b, false);
    case '!': return integer(a != b, false);
    case '<':
        if (op[1] == '<')
            return integer(b > 63 ? 0 : a << shift, x.is_unsigned);
        return integer(op[1] ? less || a == b : less, false);
    default:
        if (op[1] == '>')
            return integer(x.is_unsigned ? (b > 63 ? 0 : a >> shift) :
                           (uint64_t)((int64_t)a >> (b > 63 ? 63 : shift)), x.is_unsigned);
        return integer(op[1] ? !less : !less && a != b, false);
    }
}

/* Operators of `level` and above; level 0 is the conditional. */
static struct value expression(struct parser *p, int level, int depth)
{
    struct value v = unary(p, depth);
    char op[3];
    int at_level;
    while ((at_level = operator_at(p, op)) >= (level ? level : 1)) {
        const char *at = p->tok.s;
        advance(p);
        if (op[1])
            advance(p);
        v = apply(p, at, op, v, expression(p, at_level + 1, depth + 1));
    }
    if (level == 0 && take(p, '?')) {
        struct value yes = expression(p, 0, depth + 1);
        need(p, ':', "':'");
        struct value no = expression(p, 0, depth + 1);
        return v.bits ? yes : no;
    }
    return v;
}

struct value parse_value(struct parser *p)
{
    return expression(p, 0, 0);
}

int64_t parse_int(struct parser *p)
{
    const char *at = p->tok.s;
    struct value v = parse_value(p);
    if (v.is_float)
        ptx_fail(p, at, "an integer is expected here");
    return (int64_t)v.bits;
}

/* ---- literals as a type */

static double as_double(struct value v)
{
    double d;
    if (v.float_bits == 32) {
        uint32_t bits = (uint32_t)v.bits;
        float f;
        memcpy(&f, &bits, sizeof f);
        return f;
    }
    memcpy(&d, &v.bits, sizeof d);
    return d;
}

static uint64_t float_bits(double d)
{
    float f = (float)d;
    uint32_t bits;
    memcpy(&bits, &f, sizeof f);
    return bits;
}

bool value_as(struct value v, enum type type, uint64_t *bits)
{
    uint32_t bytes = type_bytes(type);
    *bits = v.bits;
    if (type == T_PRED) {
        *bits = v.bits ? UINT32_MAX : 0;
        return !v.is_float;
    }
    if (!v.is_float) {
        if (type == T_F32 || type == T_F64)
            return false;
        if (bytes < 8)
            *bits &= (1ull << 8 * bytes) - 1;
        return bytes != 0;
    }
    if (type == T_F64) {
        double d = as_double(v);
        if (v.float_bits == 32)
            memcpy(bits, &d, sizeof d);
        return true;
    }
    if (type == T_F32 || type == T_TF32 || (type == T_B32 && v.float_bits == 32)) {
        if (v.float_bits != 32)
            *bits = float_bits(as_double(v));
        return true;
    }
    return type == T_B64 && v.float_bits == 64;
}
