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

/* A fault that takes two instructions: `what` ends in what the other one did, whose place follows. NULL: it is not known. */
int fault_between(struct warp *w, const struct instr *in, int lane, enum fault_id id, const char *what,
                  const struct instr *other, const char *hint);

#endif
