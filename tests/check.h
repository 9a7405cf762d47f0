/* check.h: what a unit test (tests/unit/NAME.c) needs. A test file is functions and one table of them:
 *
 *     static void barrier_counts_threads(void) { CHECK(arrived == 32); CHECK_EQ(phase, 1); }
 *     TESTS({ barrier_counts_threads, "a barrier counts threads" })
 *
 * Build and run: make test T=unit/NAME. A failed check prints its line; exit status 1 if any failed.
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>
#include <string.h>

struct unit_test { void (*run)(void); const char *name; };

static int checks_failed;

static inline void check_(int holds, const char *text, const char *file, int line)
{
    if (holds)
        return;
    checks_failed++;
    printf("%s:%d: not true: %s\n", file, line, text);
}

static inline void check_eq_(long long got, long long want, const char *text, const char *file, int line)
{
    if (got == want)
        return;
    checks_failed++;
    printf("%s:%d: %s is %lld (0x%llx), not %lld (0x%llx)\n", file, line, text, got, (unsigned long long)got, want,
           (unsigned long long)want);
}

static inline void check_str_(const char *got, const char *want, const char *text, const char *file, int line)
{
    if (got && strcmp(got, want) == 0)
        return;
    checks_failed++;
    printf("%s:%d: %s is \"%s\", not \"%s\"\n", file, line, text, got ? got : "(null)", want);
}

#define CHECK(condition) check_(!!(condition), #condition, __FILE__, __LINE__)
#define CHECK_EQ(got, want) check_eq_((long long)(got), (long long)(want), #got, __FILE__, __LINE__)
#define CHECK_STR(got, want) check_str_(got, want, #got, __FILE__, __LINE__)

/* main: runs the tests of the table, names those that fail. */
#define TESTS(...)                                                                             \
    int main(void)                                                                             \
    {                                                                                          \
        const struct unit_test tests[] = { __VA_ARGS__ };                                      \
        int bad = 0;                                                                           \
        for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {                          \
            int before = checks_failed;                                                        \
            tests[i].run();                                                                    \
            bad += checks_failed > before;                                                     \
            printf("%s  %s\n", checks_failed > before ? "FAIL" : "ok  ", tests[i].name);       \
        }                                                                                      \
        return bad != 0;                                                                       \
    }

#endif
