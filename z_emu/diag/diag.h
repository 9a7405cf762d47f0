/* diag.h: what the files of diag/ share. */
#ifndef Z_EMU_DIAG_H
#define Z_EMU_DIAG_H

#include "../core/core.h"

/* A text that grows; write it with report_end. */
struct report { char *s; size_t len, room; };
void report(struct report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void report_end(struct report *r);              /* to stderr at once, and freed */

/* "kernel.cu:41", the line itself and a caret under the column that it names, each line indented. */
void report_source(struct report *r, const struct instr *in, const char *indent);

#endif
