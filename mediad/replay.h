/* `mediad --replay FILE`: runs a recorded session again, on one thread and without sockets, and
 * compares what it sends with what was sent. */
#ifndef MEDIAD_REPLAY_H
#define MEDIAD_REPLAY_H

#include <stddef.h>

/* shapes: where to write the record's shapes to, or NULL. Prints the sums (ipc/journal_play.h).
 * What journal_play gives; EBADMSG a damaged journal or another program's; errno of the file. */
int mediad_replay(const char *path, const char *shapes);

/* The meta line of a journal: what the replayer must know of the options. Always terminated. */
void mediad_meta(char *buf, size_t size, unsigned threads, unsigned orphan_s);

#endif
