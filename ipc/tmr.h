/* One-shot timers on an env's loop; a fired timer is an input like any other.
 *
 * Embed by pointer: tmr_alloc once, tmr_start as often as needed. Freeing or stopping inside its
 * own handler is allowed. */
#ifndef IPC_TMR_H
#define IPC_TMR_H

#include <stdint.h>

struct env;
struct tmr;

typedef void(tmr_h)(void *arg);

/* EINVAL, ENOMEM. Caller owns *out and frees it before env. */
int tmr_alloc(struct tmr **out, struct env *env, tmr_h *h, void *arg);
struct tmr *tmr_free(struct tmr *t);
/* Fires once, delay_ns from now; restarts when running. */
void tmr_start(struct tmr *t, uint64_t delay_ns);
/* Fires once at this env time (at once when past). */
void tmr_start_at(struct tmr *t, uint64_t when_ns);
void tmr_stop(struct tmr *t);
/* When it fires, also on replay, where only a recorded input has it fire; UINT64_MAX: it does not
 * run. */
uint64_t tmr_due(const struct tmr *t);

#endif
