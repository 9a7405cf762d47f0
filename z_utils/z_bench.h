/* z_bench.h: timing two contestants beside each other. Host C only.
 *
 * A matrix product at full tilt is limited by power: the clock falls until the chip keeps within its watts, so
 * a time says as much about what ran before it as about the kernel. Hence nothing is timed alone. Rung and
 * baseline take turns in one run, and what we quote is the median of the ratios of neighbours, in two regimes:
 *
 *     hot     one launch each, by turns, for at least 5 seconds, the first third dropped: the chip sits at its
 *             limit of power, and what counts is joules
 *     cool    bursts of 10 launches, by turns, each after a second's rest and one launch to wake up: clocks are
 *             high, and what counts is cycles
 *
 * In this file: 1 statistics   2 the meter: clock and power   3 bursts and pairs   4 the two regimes
 */
#ifndef Z_BENCH_H
#define Z_BENCH_H

#include <dlfcn.h>
#include <threads.h>
#include <time.h>

#include "z_cuda.h"

/* ------------------------------------------------------------------ 1 statistics */

struct stats { double median, spread; };        /* spread: from the 10th to the 90th percentile, over the median */

struct regime {
    const char *name;
    int rounds;
    struct stats rung, baseline;    /* seconds per launch */
    double ratio;                   /* median over rounds of baseline / rung; 0 without a baseline */
    double mhz, watts;              /* medians while it ran: clock of the SMs, power; 0 if unknown */
};

struct timing {
    int regimes;
    struct regime regime[2];
    double work;                    /* operations or bytes in a launch */
    const char *unit;               /* of work / 1e12 per second */
    const char *baseline;           /* its name */
    const char *inputs;             /* what was multiplied */
    char note[100];                 /* for people */
    char driver[80];
};

static inline int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts its argument. */
static inline struct stats stats_of(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, compare_doubles);
    const double median = (value[(count - 1) / 2] + value[count / 2]) / 2;
    const double low = value[(count - 1) / 10], high = value[count - 1 - (count - 1) / 10];
    return (struct stats){ median, (high - low) / median };
}

static inline double wall_seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------ 2 the meter: clock and power
 * From NVML, the library behind nvidia-smi, if it is there. */

struct meter {
    void *device;
    int (*clock)(void *device, int type, unsigned *mhz);
    int (*power)(void *device, unsigned *milliwatts);
    int samples;
    double mhz[512], watts[512];
};

static inline void meter_open(struct meter *m, char driver[80])
{
    enum { CHARACTERS = 80 };
    char bus[32];
    *m = (struct meter){ 0 };
    strcpy(driver, "unknown");
    void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!nvml)
        return;
    int (*init)(void), (*version)(char *, unsigned), (*find)(const char *, void **);
    *(void **)&init = dlsym(nvml, "nvmlInit_v2");
    *(void **)&version = dlsym(nvml, "nvmlSystemGetDriverVersion");
    *(void **)&find = dlsym(nvml, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&m->clock = dlsym(nvml, "nvmlDeviceGetClockInfo");
    *(void **)&m->power = dlsym(nvml, "nvmlDeviceGetPowerUsage");
    if (!init || !version || !find || !m->clock || !m->power || init())
        return;
    version(driver, CHARACTERS);
    if (cudaDeviceGetPCIBusId(bus, sizeof bus, 0) != cudaSuccess || find(bus, &m->device))
        m->device = NULL;
}

/* Call while the kernels run. */
static inline void meter_sample(struct meter *m)
{
    enum { CLOCK_OF_SMS = 1 };
    unsigned mhz, milliwatts;
    if (!m->device || m->samples == 512 || m->clock(m->device, CLOCK_OF_SMS, &mhz) || m->power(m->device, &milliwatts))
        return;
    m->mhz[m->samples] = mhz;
    m->watts[m->samples++] = milliwatts * 1e-3;
}

static inline void meter_read(struct meter *m, struct regime *r)
{
    if (m->samples) {
        r->mhz = stats_of(m->mhz, m->samples).median;
        r->watts = stats_of(m->watts, m->samples).median;
    }
    m->samples = 0;
}

/* ------------------------------------------------------------------ 3 bursts and pairs */

/* Something to launch, again and again, on the default stream. */
struct contestant {
    cudaError_t (*launch)(const void *call);        /* NULL: nobody there */
    const void *call;
};

struct series { double *rung, *baseline; int count, room; };

static inline void series_add(struct series *s, double rung, double baseline)
{
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->rung = reallocate(s->rung, (size_t)s->room * sizeof *s->rung);
        s->baseline = reallocate(s->baseline, (size_t)s->room * sizeof *s->baseline);
    }
    s->rung[s->count] = rung;
    s->baseline[s->count++] = baseline;
}

/* Drops the first `warm_up` rounds, sums up the rest. */
static inline void series_close(struct series *s, int warm_up, struct regime *r)
{
    double *rung = s->rung + warm_up, *baseline = s->baseline + warm_up;
    const int count = s->count - warm_up;
    double *ratio = allocate((size_t)count * sizeof *ratio);
    for (int i = 0; i < count; i++)
        ratio[i] = baseline[i] / rung[i];
    r->rounds = count;
    r->ratio = stats_of(ratio, count).median;
    r->rung = stats_of(rung, count);
    r->baseline = baseline[0] > 0 ? stats_of(baseline, count) : (struct stats){ 0, 0 };
    free(ratio);
    free(s->rung);
    free(s->baseline);
}

static inline double seconds_between(cudaEvent_t from, cudaEvent_t to)
{
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, from, to));
    return milliseconds * 1e-3;
}

static inline void launch_times(const struct contestant *c, int times)
{
    for (int i = 0; i < times && c->launch; i++)
        CHECK(c->launch(c->call));
}

/* Seconds per launch of a burst; 0 if there is nobody. One launch more goes ahead, which is not timed: a chip
 * that has rested takes some 150 us to wake, and that is no matter of the kernel's. */
static inline double time_burst(const struct contestant *c, int launches, struct meter *meter)
{
    if (!c->launch)
        return 0;
    cudaEvent_t from, to;
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    launch_times(c, 1);
    CHECK(cudaEventRecord(from, 0));
    launch_times(c, launches);
    CHECK(cudaEventRecord(to, 0));
    if (meter)
        meter_sample(meter);
    CHECK(cudaEventSynchronize(to));
    const double seconds = seconds_between(from, to);
    CHECK(cudaEventDestroy(from));
    CHECK(cudaEventDestroy(to));
    return seconds / launches;
}

enum { PAIRS_MAX = 128 };           /* launched in one go: the queue must never run dry, nor hold seconds of work */

static inline void time_pairs(const struct contestant *rung, const struct contestant *baseline, int pairs,
                              cudaEvent_t *event, struct meter *meter, struct series *series)
{
    CHECK(cudaEventRecord(event[0], 0));
    for (int i = 0; i < pairs; i++) {
        launch_times(rung, 1);
        CHECK(cudaEventRecord(event[2 * i + 1], 0));
        launch_times(baseline, 1);
        CHECK(cudaEventRecord(event[2 * i + 2], 0));
    }
    meter_sample(meter);
    CHECK(cudaEventSynchronize(event[2 * pairs]));
    for (int i = 0; i < pairs; i++)
        series_add(series, seconds_between(event[2 * i], event[2 * i + 1]),
                   baseline->launch ? seconds_between(event[2 * i + 1], event[2 * i + 2]) : 0);
}

/* ------------------------------------------------------------------ 4 the two regimes */

static inline struct regime time_hot(const struct contestant *rung, const struct contestant *baseline, int rounds,
                                     struct meter *meter)
{
    struct regime r = { .name = "hot" };
    struct series series = { 0 };
    cudaEvent_t event[2 * PAIRS_MAX + 1];
    for (int i = 0; i <= 2 * PAIRS_MAX; i++)
        CHECK(cudaEventCreate(&event[i]));

    /* A tenth of a second at a time. */
    const double pair = time_burst(rung, 1, NULL) + time_burst(baseline, 1, NULL);
    const int pairs = pair < 0.1 / PAIRS_MAX ? PAIRS_MAX : pair < 0.1 ? (int)(0.1 / pair) : 1;
    const double start = wall_seconds();
    while (rounds ? series.count < rounds : wall_seconds() - start < 5) {
        const int left = rounds ? rounds - series.count : pairs;
        time_pairs(rung, baseline, left < pairs ? left : pairs, event, meter, &series);
    }

    series_close(&series, series.count / 3, &r);
    meter_read(meter, &r);
    for (int i = 0; i <= 2 * PAIRS_MAX; i++)
        CHECK(cudaEventDestroy(event[i]));
    return r;
}

static inline struct regime time_cool(const struct contestant *rung, const struct contestant *baseline, int rounds,
                                      struct meter *meter)
{
    enum { LAUNCHES = 10 };
    const struct timespec second = { .tv_sec = 1 };
    struct regime r = { .name = "cool" };
    struct series series = { 0 };
    for (int i = 0; i < rounds; i++) {
        thrd_sleep(&second, NULL);
        const double rung_seconds = time_burst(rung, LAUNCHES, meter);
        if (baseline->launch)
            thrd_sleep(&second, NULL);
        series_add(&series, rung_seconds, time_burst(baseline, LAUNCHES, meter));
    }
    series_close(&series, 0, &r);
    meter_read(meter, &r);
    r.watts = 0;                    /* the meter's reading is a mean over longer than a burst */
    return r;
}

/* Both regimes, or only a glance at the cool one. `rounds` 0: as many as are usual. */
static inline void time_regimes(const struct contestant *rung, const struct contestant *baseline, bool both, int rounds,
                                struct timing *t)
{
    struct meter meter;
    meter_open(&meter, t->driver);
    launch_times(rung, 2);
    launch_times(baseline, 2);
    if (both)
        t->regime[t->regimes++] = time_hot(rung, baseline, rounds, &meter);
    t->regime[t->regimes++] = time_cool(rung, baseline, rounds ? rounds : both ? 7 : 3, &meter);
}

#endif
