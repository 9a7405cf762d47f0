/* test_race: the clocks of the race detector: what a join, a meet and a fence do to what is known to be ordered; words and bytes
 * that are told apart; numbers that come to their end. */
#include "memory_machine.h"

#include "core/race.h"

static struct race_clock clock_of(uint32_t first, uint32_t second)
{
    struct race_clock c = { 0 };
    clock_set(&c, 0, first);
    clock_set(&c, 1, second);
    return c;
}

static void who_is_not_known_is_not_ordered(void)
{
    struct race_clock c = { 0 };
    CHECK_EQ(clock_v(&c, 0), 0);
    CHECK_EQ(clock_a(&c, 7), 0);
    clock_set(&c, 40, 3);
    CHECK_EQ(clock_v(&c, 40), 3);
    CHECK_EQ(clock_v(&c, 39), 0);
    CHECK_EQ(clock_v(&c, 4000), 0);
    clock_free(&c);
    CHECK_EQ(clock_v(&c, 40), 0);
}

static void an_epoch_never_goes_back(void)
{
    struct race_clock c = clock_of(5, 1);
    clock_set(&c, 0, 3);
    CHECK_EQ(clock_v(&c, 0), 5);
    clock_free(&c);
}

static void a_join_knows_what_either_knew(void)
{
    struct race_clock c = clock_of(5, 1), d = clock_of(2, 9);
    clock_set(&d, 30, 4);
    clock_join(&c, &d);
    CHECK_EQ(clock_v(&c, 0), 5);
    CHECK_EQ(clock_v(&c, 1), 9);
    CHECK_EQ(clock_v(&c, 30), 4);
    CHECK_EQ(clock_v(&d, 0), 2);
    clock_free(&c), clock_free(&d);
}

static void a_meet_knows_what_both_knew(void)
{
    struct race_clock c = clock_of(5, 1), d = clock_of(2, 9);
    clock_set(&c, 30, 4);
    clock_meet(&c, &d);
    CHECK_EQ(clock_v(&c, 0), 2);
    CHECK_EQ(clock_v(&c, 1), 1);
    CHECK_EQ(clock_v(&c, 30), 0);
    clock_free(&c), clock_free(&d);
}

static void the_async_proxy_sees_up_to_the_fence(void)
{
    struct race_clock c = clock_of(5, 1), other = { 0 };
    CHECK_EQ(clock_a(&c, 0), 0);
    clock_fence(&c);
    clock_set(&c, 0, 6);
    CHECK_EQ(clock_v(&c, 0), 6);
    CHECK_EQ(clock_a(&c, 0), 5);
    clock_join(&other, &c);             /* the fence counts for those who hear of it */
    CHECK_EQ(clock_v(&other, 0), 6);
    CHECK_EQ(clock_a(&other, 0), 5);
    clock_set(&other, 1, 8);
    clock_join(&c, &other);
    CHECK_EQ(clock_a(&c, 1), 1);
    clock_free(&c), clock_free(&other);
}

static void a_copy_forgets_what_was_there(void)
{
    struct race_clock c = clock_of(5, 1), d = clock_of(2, 9);
    clock_set(&c, 30, 4);
    clock_copy(&c, &d);
    CHECK_EQ(clock_v(&c, 0), 2);
    CHECK_EQ(clock_v(&c, 1), 9);
    CHECK_EQ(clock_v(&c, 30), 0);
    clock_clear(&c);
    CHECK_EQ(clock_v(&c, 1), 0);
    clock_free(&c), clock_free(&d);
}

/* ---------------------------------------------------------------- kernels of two warps */

#define SHARED ".shared .align 128 .b8 s[4096];"
/* %r10: s; %p1: the second warp. */
#define BEGIN "mov.u32 %r10, s; setp.ge.u32 %p1, %r1, 32; mov.u32 %r11, 1;\n"

static enum fault_id fault_of(const char *lines, uint32_t n)
{
    struct machine x = machine(SHARED, lines);
    run(&x, 1, 64, n);
    enum fault_id f = x.fault;
    machine_close(&x);
    return f;
}

/* The second warp writes, then the first reads or writes: which of them conflict? */
static void what_overlaps_conflicts_and_nothing_else(void)
{
    static const struct { const char *first, *second; bool race; } rows[] = {
        { "st.shared.u32 [%r10], %r11;", "ld.shared.u32 %r12, [%r10];", true },
        { "st.shared.u32 [%r10], %r11;", "ld.shared.u32 %r12, [%r10+4];", false },
        { "st.shared.u8 [%r10+1], %r11;", "ld.shared.u8 %r12, [%r10];", false },
        { "st.shared.u8 [%r10+1], %r11;", "ld.shared.u16 %r12, [%r10];", true },
        { "st.shared.u8 [%r10+130], %r11;", "ld.shared.u32 %r12, [%r10+128];", true },
        { "st.shared.v4.u32 [%r10+112], {%r11, %r11, %r11, %r11};", "ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r10+128];", false },
        { "ld.shared.u8 %r12, [%r10+3];", "st.shared.u8 [%r10+2], %r11;", false },
        { "ld.shared.u32 %r12, [%r10];", "st.shared.u8 [%r10+2], %r11;", true },
        { "ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r10+16];", "st.shared.u32 [%r10+28], %r11;", true },
        { "ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r10+16];", "st.shared.u32 [%r10+32], %r11;", false },
    };
    static const char fill[] = "shl.b32 %r16, %r1, 4; add.u32 %r16, %r16, %r10; mov.u32 %r17, 0;\n"
                               "st.shared.v4.u32 [%r16], {%r17, %r17, %r17, %r17}; bar.sync 0;\n";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int ordered = 0; ordered < 2; ordered++) {
            char lines[1000];
            snprintf(lines, sizeof lines, "%s%s@%%p1 %s\n%s\n@!%%p1 %s\n", BEGIN, fill, rows[i].first, ordered ? "bar.sync 0;" : "",
                     rows[i].second);
            CHECK_EQ(fault_of(lines, 0), rows[i].race && !ordered ? FAULT_RACE : FAULT_NONE);
        }
}

/* An agent's reads of a line at different times, and which of them a barrier covers. */
static void reads_of_different_times_are_told_apart(void)
{
    static const char covered[] = BEGIN "st.shared.u32 [%r10], %r11; st.shared.u32 [%r10+4], %r11; bar.sync 0;\n"
                                  "@%p1 ld.shared.u32 %r12, [%r10]; bar.sync 0; @%p1 ld.shared.u32 %r12, [%r10+4];\n"
                                  "mov.u32 %r11, 2; @!%p1 st.shared.u32 [%r10], %r11;";
    static const char racing[] = BEGIN "st.shared.u32 [%r10], %r11; st.shared.u32 [%r10+4], %r11; bar.sync 0;\n"
                                 "@%p1 ld.shared.u32 %r12, [%r10]; bar.sync 0; @%p1 ld.shared.u32 %r12, [%r10+4];\n"
                                 "mov.u32 %r11, 2; @!%p1 st.shared.u32 [%r10+4], %r11;";
    CHECK_EQ(fault_of(covered, 0), FAULT_NONE);
    CHECK_EQ(fault_of(racing, 0), FAULT_RACE);
}

/* More releases than there are times: no false alarm on the way, and a race behind it is found. */
static void it_is_watched_for_ever(void)
{
    static const char lines[] = BEGIN "mov.u32 %r13, 0;\nAGAIN: @%p1 st.shared.u32 [%r10], %r13; bar.sync 0;\n"
                                "ld.shared.u32 %r12, [%r10]; bar.sync 0; add.u32 %r13, %r13, 1;\n"
                                "setp.lt.u32 %p2, %r13, 1000000; @%p2 bra AGAIN;\n"
                                "setp.eq.u32 %p3, %r0, 1; @!%p3 bra END; @!%p1 st.shared.u32 [%r10], %r11; @%p1 ld.shared.u32 %r12, [%r10];\nEND:";
    CHECK_EQ(fault_of(lines, 0), FAULT_NONE);
    CHECK_EQ(fault_of(lines, 1), FAULT_RACE);
}

TESTS({ who_is_not_known_is_not_ordered, "who is not known is not ordered" },
      { an_epoch_never_goes_back, "an epoch never goes back" },
      { a_join_knows_what_either_knew, "a join knows what either knew" },
      { a_meet_knows_what_both_knew, "a meet knows what both knew" },
      { the_async_proxy_sees_up_to_the_fence, "the async proxy sees up to the fence" },
      { a_copy_forgets_what_was_there, "a copy forgets what was there" },
      { what_overlaps_conflicts_and_nothing_else, "what overlaps conflicts, and nothing else" },
      { reads_of_different_times_are_told_apart, "reads of different times are told apart" },
      { it_is_watched_for_ever, "it is watched for ever" })
