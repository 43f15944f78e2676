/* Writes events to places besides the store: log lines, and the turn file (PARLEY_TURNS).
 *
 * Two subscribers of the bus. Each copies the event; a worker formats and writes, so no disk delays
 * the loop. When the worker is far behind, events are shed, and one line says how many. On replay
 * log lines are written and no file is. */
#ifndef CONTROL_WRITER_H
#define CONTROL_WRITER_H

struct bus;
struct env;
struct settings;
struct writer;

/* Subscribes. settings are borrowed and read at each event, on the loop. ENOMEM, ENOSPC, errors of
 * worker_alloc. The caller owns *out and frees it when nobody publishes any more, before env. */
int writer_alloc(struct writer **out, struct env *env, struct bus *bus,
		 const struct settings *settings);
/* Calls h once all events that were published before are written, or shed. Not called when the
 * writer is freed first. ENOSPC, ENOMEM. */
typedef void(writer_done_h)(void *arg);
int writer_sync(struct writer *w, writer_done_h *h, void *arg);
/* Writes what waits. NULL accepted. */
struct writer *writer_free(struct writer *w);

#endif
