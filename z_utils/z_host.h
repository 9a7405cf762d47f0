/* z_host.h: what the main.c of every rung is made of. Host C only.
 *
 *     start                   reads the command line, finds the device, settles the shape          (z_args.h)
 *     integers_a, integers_b  inputs whose products have exact sums                                (z_check.h)
 *     upload_integers         an input, as fp16 on the device                                       (z_cuda.h)
 *     guarded_alloc           the output, poisoned, between guards                                  (z_cuda.h)
 *     CHECK                   around every CUDA call                                                (z_cuda.h)
 *     check_guarded_gemm      the verdict                                                          (z_check.h)
 *     time_gemm               the rung beside cuBLAS, hot and cool                     (z_bench.h, z_cublas.h)
 *     report                  what was found, for people and as JSON; the exit status
 *
 * In this file: 1 start   2 verdict   3 timing   4 report
 */
#ifndef Z_HOST_H
#define Z_HOST_H

#include "z_args.h"
#include "z_bench.h"
#include "z_check.h"
#include "z_cublas.h"
#include "z_cuda.h"

/* ------------------------------------------------------------------ 1 start */

struct run {
    const struct rung *rung;
    struct options options;
    struct shape shape;
    struct cudaDeviceProp device;
    bool emulated;                  /* its times are modelled, and the vendor's libraries cannot run there */
    bool timed;                     /* whether this run is to be timed */
    FILE *json;
};

static inline void exit_usage(const struct rung *rung, const struct options *o)
{
    fprintf(stderr, "%s: %s\n", rung->name, o->message);
    exit(EXIT_USAGE);
}

static inline void find_device(struct run *run)
{
    CHECK(cudaGetDeviceProperties(&run->device, 0));
    run->emulated = strstr(run->device.name, "emulated") != NULL;
}

/* Does not return if the arguments are bad (exit status 2) or ask for help. */
static inline struct run start(const struct rung *rung, int argc, char **argv)
{
    struct run run = { .rung = rung };
    struct options *o = &run.options;
    const enum parsed parsed = parse_options(rung, argc, argv, o);
    if (parsed == PARSED_HELP) {
        print_help(rung);
        exit(EXIT_PASS);
    }
    if (parsed == PARSED_BAD || check_sizes(rung, o) == PARSED_BAD)
        exit_usage(rung, o);
    if (o->json && !(run.json = fopen(o->json, "w"))) {
        bad_option(o, "--json %s: cannot be written", o->json);
        exit_usage(rung, o);
    }

    find_device(&run);
    run.timed = o->bench || !(o->check_only || run.emulated);
    fill_shape(rung, o, run.timed && !run.emulated ? rung->large : rung->ragged);
    if (check_sizes(rung, o) == PARSED_BAD)
        exit_usage(rung, o);
    run.shape = o->shape;

    return run;
}

/* ------------------------------------------------------------------ 2 verdict */

static inline void judge_guards(struct verdict *v, const uint8_t *image, size_t bytes)
{
    const long long damage = guard_damage(image, bytes);
    if (!v->pass || !damage)
        return;
    v->pass = false;
    snprintf(v->reason, sizeof v->reason,
             "a store outside the output: the byte at offset %lld of its %zu bytes was changed", damage, bytes);
}

static inline struct verdict check_guarded_product(struct shape s, const int8_t *a, const int8_t *b, const half *c_gmem,
                                                   uint64_t seed)
{
    const size_t bytes = (size_t)s.m * s.n * sizeof(half);
    uint8_t *image = guarded_download(c_gmem, bytes);
    struct verdict v = check_gemm(a, b, (const half *)(image + GUARD_BYTES), s.m, s.n, s.k, seed);
    judge_guards(&v, image, bytes);
    free(image);
    return v;
}

static inline struct verdict check_guarded_gemm(const struct run *run, const int8_t *a, const int8_t *b,
                                                const half *c_gmem)
{
    return check_guarded_product(run->shape, a, b, c_gmem, run->options.seed);
}

/* The same for C = A B^T with each column scaled. */
static inline struct verdict check_guarded_scaled_gemm(const struct run *run, const int8_t *a, const int8_t *b,
                                                       const float *scale, const half *c_gmem)
{
    const struct shape s = run->shape;
    const size_t bytes = (size_t)s.m * s.n * sizeof(half);
    uint8_t *image = guarded_download(c_gmem, bytes);
    struct verdict v = check_scaled_gemm(a, b, scale, (half *)(image + GUARD_BYTES), s.m, s.n, s.k, run->options.seed);
    judge_guards(&v, image, bytes);
    free(image);
    return v;
}

static inline struct verdict check_guarded_vector(const float *want, const float *z_gmem, size_t count)
{
    const size_t bytes = count * sizeof(float);
    uint8_t *image = guarded_download(z_gmem, bytes);
    struct verdict v = check_vector((const float *)(image + GUARD_BYTES), want, count);
    judge_guards(&v, image, bytes);
    free(image);
    return v;
}

/* ------------------------------------------------------------------ 3 timing */

static inline void refill_normal(half *gmem, size_t count, uint64_t seed)
{
    half *halves = allocate(count * sizeof *halves);
    halves_normal(halves, count, seed);
    CHECK(cudaMemcpy(gmem, halves, count * sizeof *halves, cudaMemcpyHostToDevice));
    free(halves);
}

/* Times a rung that multiplies a and b, in whatever way, beside cuBLAS. Overwrites the inputs with N(0,1) and the
 * output with whatever comes of it. */
static inline struct timing time_beside_cublas(const struct run *run, struct contestant rung, half *a, half *b, half *c)
{
    const struct shape s = run->shape;
    struct timing t = { .work = 2.0 * s.m * s.n * s.k, .unit = "TFLOPS", .baseline = "cuBLAS", .inputs = "N(0,1)" };
    refill_normal(a, (size_t)s.m * s.k, run->options.seed);
    refill_normal(b, (size_t)s.n * s.k, ~run->options.seed);

    const struct gemm_call call = { NULL, a, b, c, s };
    struct cublas cublas;
    const struct contestant baseline = cublas_open(&cublas, &call, run->emulated, t.note, sizeof t.note);
    time_regimes(&rung, &baseline, run->options.bench, run->options.iters, &t);
    cublas_close(&cublas);
    return t;
}

static inline struct timing time_gemm(const struct run *run, gemm_launcher *launch, half *a, half *b, half *c)
{
    const struct gemm_call call = { launch, a, b, c, run->shape };
    return time_beside_cublas(run, (struct contestant){ launch_gemm_call, &call }, a, b, c);
}

struct copy_call { void *to; const void *from; size_t bytes; };

static inline cudaError_t launch_copy_call(const void *call)
{
    const struct copy_call *c = call;
    return cudaMemcpyAsync(c->to, c->from, c->bytes, cudaMemcpyDeviceToDevice, 0);
}

/* Times a rung on its integers beside anything else that does the same work: operations or bytes per launch. */
static inline struct timing time_beside(const struct run *run, struct contestant rung, struct contestant baseline,
                                        const char *name, double work, const char *unit)
{
    struct timing t = { .work = work, .unit = unit, .baseline = name, .inputs = "integers" };
    time_regimes(&rung, &baseline, run->options.bench, run->options.iters, &t);
    return t;
}

/* Times something that moves `bytes` of global memory beside a copy that moves as many: half read, half written. */
static inline struct timing time_beside_copy(const struct run *run, struct contestant rung, size_t bytes)
{
    struct copy_call call = { .bytes = bytes / 2 };
    void *from;
    CHECK(cudaMalloc(&call.to, call.bytes));
    CHECK(cudaMalloc(&from, call.bytes));
    CHECK(cudaMemset(from, 1, call.bytes));
    call.from = from;
    const struct contestant copy = { launch_copy_call, &call };
    const struct timing t = time_beside(run, rung, copy, "copy", (double)bytes, "TB/s");
    CHECK(cudaFree(call.to));
    CHECK(cudaFree(from));
    return t;
}

/* ------------------------------------------------------------------ 4 report */

/* What a kernel's own clock counts. */
static inline const char *cycles_text(const struct run *run) { return run->emulated ? "modelled cycles" : "cycles"; }

static inline void print_regime(const struct run *run, const struct timing *t, const struct regime *r)
{
    const double scale = t->work / 1e12;
    printf("%-9s %9.4f ms %s %5.1f%%  %8.2f %s", r->name, r->rung.median * 1e3, "±", r->rung.spread * 100,
           scale / r->rung.median, t->unit);
    if (r->ratio > 0)
        printf("   %s %9.4f ms ± %.1f%%   ratio %.4f", t->baseline, r->baseline.median * 1e3, r->baseline.spread * 100,
               r->ratio);
    if (r->mhz > 0)
        printf("   %.0f MHz", r->mhz);
    if (r->watts > 0)
        printf(" %.0f W", r->watts);
    printf("%s\n", run->emulated ? "   (modelled)" : "");
}

static inline void write_json_regime(FILE *f, const struct timing *t, const struct regime *r)
{
    fprintf(f, "    {\"regime\": \"%s\", \"rounds\": %d, \"median_ms\": %.6f, \"spread\": %.4f, \"rate\": %.4f, ",
            r->name, r->rounds, r->rung.median * 1e3, r->rung.spread, t->work / 1e12 / r->rung.median);
    fprintf(f, "\"baseline_ms\": %.6f, \"baseline_spread\": %.4f, \"ratio\": %.5f, \"mhz\": %.0f, \"watts\": %.0f}%s\n",
            r->baseline.median * 1e3, r->baseline.spread, r->ratio, r->mhz, r->watts,
            r == &t->regime[t->regimes - 1] ? "" : ",");
}

/* Returns whether all of it reached the file. */
static inline bool write_json(const struct run *run, const struct verdict *v, const struct timing *t)
{
    FILE *f = run->json;
    fprintf(f, "{\n  \"rung\": \"%s\",\n  \"pass\": %s,\n", run->rung->name, v->pass ? "true" : "false");
    fprintf(f, "  \"check\": \"%s\",\n  \"reason\": \"%s\",\n", v->method, v->reason);
    fprintf(f, "  \"m\": %d, \"n\": %d, \"k\": %d, \"seed\": %llu,\n", run->shape.m, run->shape.n, run->shape.k,
            (unsigned long long)run->options.seed);
    fprintf(f, "  \"device\": \"%s\", \"emulated\": %s,\n", run->device.name, run->emulated ? "true" : "false");
    if (t->regimes)
        fprintf(f, "  \"driver\": \"%s\", \"inputs\": \"%s\", \"baseline\": \"%s\", \"unit\": \"%s\",\n", t->driver,
                t->inputs, t->baseline, t->unit);
    fprintf(f, "  \"regimes\": [\n");
    for (int i = 0; i < t->regimes; i++)
        write_json_regime(f, t, &t->regime[i]);
    fprintf(f, "  ]\n}\n");
    const bool failed = ferror(f);
    return !fclose(f) && !failed;
}

/* Prints what was found and returns the exit status. The verdict is the last line. */
static inline int report(const struct run *run, const struct verdict *v, const struct timing *t)
{
    char shape[48];
    shape_text(run->rung, run->shape, shape);
    printf("device    %s, %d SMs, sm_%d%d\n", run->device.name, run->device.multiProcessorCount, run->device.major,
           run->device.minor);
    printf("check     integers, seed %llu; %s, compared for equality\n", (unsigned long long)run->options.seed,
           v->method);
    if (t->regimes)
        printf("timing    inputs %s; median and spread (10%% to 90%%)%s%s\n", t->inputs, *t->note ? "; " : "", t->note);
    for (int i = 0; i < t->regimes; i++)
        print_regime(run, t, &t->regime[i]);
    if (run->json && !write_json(run, v, t)) {
        printf("FAIL %s: --json %s could not be written\n", run->rung->name, run->options.json);
        return EXIT_USAGE;
    }
    if (v->pass)
        printf("PASS %s%s%s\n", run->rung->name, *shape ? " " : "", shape);
    else
        printf("FAIL %s%s%s: %s\n", run->rung->name, *shape ? " " : "", shape, v->reason);
    return v->pass ? EXIT_PASS : EXIT_WRONG;
}

#endif
