/* The thread for key work (MLS, scrypt): an ipc/worker whose jobs are struct dave_job. The work is
 * pure, so a replay runs it on the replaying thread. */
#ifndef MEDIAD_KEY_WORKER_H
#define MEDIAD_KEY_WORKER_H

#include "ipc/worker.h"

enum { KEY_WORKER_MAX = 4096 };

/* doneh gets struct dave_job and owns it. Errors and ownership as of worker_alloc. */
int key_worker_alloc(struct worker **out, struct env *env, worker_done_h *doneh, void *arg);

#endif
