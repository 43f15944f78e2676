/* Children that were told to end and that nobody uses any more: the reaper waits for them in the
 * background, so that their users can go at once.
 *
 * Everything runs on env's thread. A replay has no processes and takes the same steps. */
#ifndef IPC_REAPER_H
#define IPC_REAPER_H

struct child;
struct env;
struct reaper;

/* ENOMEM. Caller owns *out; frees it before env. */
int reaper_alloc(struct reaper **out, struct env *env);
/* Waits at most 3 s for all children that have not ended, then kills them. NULL accepted. */
struct reaper *reaper_free(struct reaper *r);
/* Takes the child over, tells it to end without waiting, and frees it once it has ended. Its
 * handlers are not called any more. May be called in them. Without memory, or where r is NULL, it
 * frees the child at once, which waits (ipc/child.h). child: NULL accepted. */
void reaper_take(struct reaper *r, struct child *child);
/* Children that have not been freed yet. */
unsigned reaper_count(const struct reaper *r);

#endif
