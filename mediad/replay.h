/* `mediad --replay FILE`: runs a recorded session again, on one thread and without sockets, and
 * compares the output with the recorded one. */
#ifndef MEDIAD_REPLAY_H
#define MEDIAD_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/address_list.h"

struct mediad_conf;

/* shapes: the file for the journal's shapes, or NULL. Prints the sums (ipc/journal_play.h). Returns
 * the result of journal_play, EBADMSG for a damaged journal or one of another program, or errno of
 * the file. */
int mediad_replay(const char *path, const char *shapes);

enum { MEDIAD_META_MAX = 256 + ADDRESS_LIST_BYTES };
/* Writes the meta line of a journal: the options that the replay must know. Always terminated.
 * whole: with the addresses, which a journal of shapes leaves out. */
void mediad_meta(char *buf, size_t size, const struct mediad_conf *conf, bool whole);

#endif
