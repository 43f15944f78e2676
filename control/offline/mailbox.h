/* Messages from worker threads to the loop: each is an input of the loop's env, in the order of
 * posting.
 *
 * Made and freed on the loop thread; mailbox_post may be called from any thread while it lives.
 * Owned by its maker. */
#ifndef OFFLINE_MAILBOX_H
#define OFFLINE_MAILBOX_H

#include "ipc/env.h"

struct mailbox;

/* The handler runs on the loop thread inside a step. ENOMEM, EMFILE. */
int mailbox_alloc(struct mailbox **out, struct env *env, env_input_h *h, void *arg);
/* No thread may post any more. */
struct mailbox *mailbox_free(struct mailbox *m);
/* Copies data. ENOMEM. */
int mailbox_post(struct mailbox *m, uint8_t kind, const void *data, size_t len);

#endif
