/* The running timers of an env (tmr.h), in the order in which they fire. For ipc/env.c and
 * ipc/tmr.c.
 *
 * One timerfd stands for all of them. It is set only when the earliest one becomes earlier, so a
 * timer that is restarted again and again costs no system call, and neither does a turn of the
 * loop: libevent's own precise timers would set a timerfd before every wait. */
#ifndef IPC_TMR_QUEUE_H
#define IPC_TMR_QUEUE_H

struct env;
struct tmr_queue;

/* env has a loop and does not replay; it owns *out. ENOMEM. */
int tmr_queue_alloc(struct tmr_queue **out, struct env *env);
/* No timer may be used after this. */
struct tmr_queue *tmr_queue_free(struct tmr_queue *q);

#endif
