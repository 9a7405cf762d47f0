/* z_args.h: the command line of a rung. Host C only, no CUDA.
 *
 *     run [-m M] [-n N] [-k K] [--seed S] [--iters I] [--check | --bench] [--json FILE] [--help]
 *
 * What differs between rungs is data: struct rung says which dimensions there are and what they may be.
 * Whatever is wrong is found here, at the door, and said in one line that names the argument and what is
 * allowed; behind the door every dimension fits an int, and so does the number of elements of every matrix.
 *
 * In this file: 1 the rung and its options   2 numbers   3 parsing   4 shapes   5 help
 */
#ifndef Z_ARGS_H
#define Z_ARGS_H

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ 1 the rung and its options */

enum { EXIT_PASS = 0, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_CUDA = 3 };

enum { DIM_MAX = 1 << 30 };         /* so that rounding up to a tile cannot overflow */

struct shape { int m, n, k; };

struct rung {
    const char *name;
    const char *dims;               /* the dimensions it has: "mnk", "n" for a vector, "" if it has none */
    struct shape multiple_of;       /* each dimension must be; 0: any size will do */
    struct shape at_most;           /* 0: DIM_MAX */
    struct shape ragged;            /* the default for checking: tiles cut short on every side, m != n != k */
    struct shape large;             /* the default for timing */
};

struct options {
    struct shape shape;             /* 0: not given */
    uint64_t seed;
    int iters;                      /* rounds of timing; 0: as many as each regime asks for */
    bool check_only, bench;
    const char *json;               /* file to write the report to, or NULL */
    char message[200];              /* what was wrong */
};

enum parsed { PARSED_OK, PARSED_HELP, PARSED_BAD };

/* The member of a shape that a letter stands for. */
static inline int *dim_of(struct shape *s, char letter)
{
    return letter == 'm' ? &s->m : letter == 'n' ? &s->n : &s->k;
}

static inline int dim_multiple(const struct rung *rung, char letter)
{
    struct shape s = rung->multiple_of;
    return *dim_of(&s, letter) ? *dim_of(&s, letter) : 1;
}

static inline int dim_max(const struct rung *rung, char letter)
{
    struct shape s = rung->at_most;
    const int most = *dim_of(&s, letter) ? *dim_of(&s, letter) : DIM_MAX;
    return most - most % dim_multiple(rung, letter);
}

/* ------------------------------------------------------------------ 2 numbers */

/* Reads digits and nothing else: no sign, no space, no suffix. False if there is more, or the value exceeds `most`. */
static inline bool parse_number(const char *text, uint64_t most, uint64_t *value)
{
    *value = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        const uint64_t digit = (uint64_t)(*text - '0');
        if (digit > most || *value > (most - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return true;
}

/* ------------------------------------------------------------------ 3 parsing */

__attribute__((format(printf, 2, 3)))
static inline enum parsed bad_option(struct options *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(o->message, sizeof o->message, format, args);
    va_end(args);
    return PARSED_BAD;
}

static inline enum parsed parse_dim(const struct rung *rung, struct options *o, char letter, const char *text)
{
    const int multiple = dim_multiple(rung, letter), most = dim_max(rung, letter);
    uint64_t value;
    if (parse_number(text, (uint64_t)most, &value) && value > 0 && value % (uint64_t)multiple == 0) {
        *dim_of(&o->shape, letter) = (int)value;
        return PARSED_OK;
    }
    if (multiple > 1)
        return bad_option(o, "-%c %s: must be a multiple of %d, from %d to %d", letter, text, multiple, multiple, most);
    return bad_option(o, "-%c %s: must be a whole number from 1 to %d", letter, text, most);
}

static inline enum parsed parse_seed(struct options *o, const char *text)
{
    if (parse_number(text, UINT64_MAX, &o->seed))
        return PARSED_OK;
    return bad_option(o, "--seed %s: must be a whole number from 0 to 18446744073709551615", text);
}

static inline enum parsed parse_iters(struct options *o, const char *text)
{
    uint64_t value;
    if (!parse_number(text, 1000000, &value) || value == 0)
        return bad_option(o, "--iters %s: must be a whole number from 1 to 1000000", text);
    o->iters = (int)value;
    return PARSED_OK;
}

static inline bool is_dim(const struct rung *rung, const char *option)
{
    return option[0] == '-' && option[1] && strchr(rung->dims, option[1]) && !option[2];
}

static inline enum parsed unknown_option(const struct rung *rung, struct options *o, const char *option)
{
    char dims[16] = "";
    for (const char *d = rung->dims; *d; d++)
        sprintf(dims + strlen(dims), "-%c ", *d);
    return bad_option(o, "%s: no such option; there are %s--seed --iters --check --bench --json --help", option, dims);
}

/* An option that takes a value. */
static inline enum parsed parse_value(const struct rung *rung, struct options *o, const char *option, const char *value)
{
    const bool seed = !strcmp(option, "--seed"), iters = !strcmp(option, "--iters"), json = !strcmp(option, "--json");
    if (!seed && !iters && !json && !is_dim(rung, option))
        return unknown_option(rung, o, option);
    if (!value || !*value)
        return bad_option(o, "%s: needs a %s after it", option, json ? "file name" : "whole number");
    if (seed)
        return parse_seed(o, value);
    if (iters)
        return parse_iters(o, value);
    if (!json)
        return parse_dim(rung, o, option[1], value);
    o->json = value;
    return PARSED_OK;
}

static inline enum parsed parse_options(const struct rung *rung, int argc, char **argv, struct options *o)
{
    *o = (struct options){ .seed = 1 };
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help"))
            return PARSED_HELP;
        if (!strcmp(argv[i], "--check")) {
            o->check_only = true;
        } else if (!strcmp(argv[i], "--bench")) {
            o->bench = true;
        } else {
            const enum parsed parsed = parse_value(rung, o, argv[i], argv[i + 1]);
            if (parsed != PARSED_OK)
                return parsed;
            i++;
        }
    }
    if (o->check_only && o->bench)
        return bad_option(o, "--check and --bench: only one of them; --bench checks before it times");
    return PARSED_OK;
}

/* ------------------------------------------------------------------ 4 shapes */

/* Dimensions that were not given are taken from `defaults`. */
static inline void fill_shape(const struct rung *rung, struct options *o, struct shape defaults)
{
    for (const char *d = rung->dims; *d; d++)
        if (!*dim_of(&o->shape, *d))
            *dim_of(&o->shape, *d) = *dim_of(&defaults, *d);
}

/* Each matrix must have no more elements than an int can count. */
static inline enum parsed check_sizes(const struct rung *rung, struct options *o)
{
    static const struct { const char *name; char rows, columns; } matrix[] = {
        { "A", 'm', 'k' }, { "B", 'n', 'k' }, { "C", 'm', 'n' },
    };
    if (strcmp(rung->dims, "mnk"))
        return PARSED_OK;
    for (int i = 0; i < 3; i++) {
        const char rows = matrix[i].rows, columns = matrix[i].columns;
        const int64_t height = *dim_of(&o->shape, rows), width = *dim_of(&o->shape, columns);
        if (height * width > INT_MAX)
            return bad_option(o, "-%c %lld -%c %lld: %s would have %lld elements; at most %d are allowed",
                              rows, (long long)height, columns, (long long)width, matrix[i].name,
                              (long long)(height * width), INT_MAX);
    }
    return PARSED_OK;
}

/* "1021x67x509" */
static inline const char *shape_text(const struct rung *rung, struct shape s, char text[48])
{
    int used = 0;
    text[0] = 0;
    for (const char *d = rung->dims; *d; d++)
        used += sprintf(text + used, "%s%d", used ? "x" : "", *dim_of(&s, *d));
    return text;
}

/* ------------------------------------------------------------------ 5 help */

static inline void print_help(const struct rung *rung)
{
    char ragged[48], large[48];
    printf("Usage: run [options]\n\n%s: checks its kernel to the bit and, on a GPU, times it.\n\n", rung->name);
    for (const char *d = rung->dims; *d; d++) {
        const int multiple = dim_multiple(rung, *d);
        printf("  -%c %c         %s from %d to %d", *d, *d - 32, multiple > 1 ? "a multiple," : "any size", multiple,
               dim_max(rung, *d));
        printf(multiple > 1 ? ", of %d\n" : "\n", multiple);
    }
    printf("  --seed S     other random inputs (default 1)\n"
           "  --iters I    rounds of timing in each regime\n"
           "  --check      check only\n"
           "  --bench      check, then time in both regimes beside the vendor's library\n"
           "  --json FILE  write the report to FILE too\n"
           "  --help       this\n\n");
    if (*rung->dims)
        printf("Default shape: %s on a GPU, %s on an emulated one or with --check.\n",
               shape_text(rung, rung->large, large), shape_text(rung, rung->ragged, ragged));
    printf("Exit status: 0 pass, 1 wrong result, 2 bad arguments, 3 CUDA error.\n");
}

#endif
