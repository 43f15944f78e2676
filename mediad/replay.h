/* `mediad --replay FILE`: runs a recorded session again, on one thread and without sockets, and
 * compares what it sends with what was sent. */
#ifndef MEDIAD_REPLAY_H
#define MEDIAD_REPLAY_H

#include <stddef.h>

/* Prints `digest <64 hex>` on stdout. 0; EPROTO when the run diverged or sent something else (said
 * on stderr); EBADMSG a damaged journal; errno of the file. */
int mediad_replay(const char *path);

/* BLAKE2b-256 over the digests (64 hex digits each) of n threads, in their order, as 64 hex digits
 * and NUL. */
void mediad_digest(const char (*threads)[65], size_t n, char hex[65]);

/* The meta line of a journal: what the replayer must know of the options. Always terminated. */
void mediad_meta(char *buf, size_t size, unsigned threads, unsigned orphan_s);

#endif
