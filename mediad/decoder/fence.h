/* The fence around a fetcher: it needs the network, name resolution and certificates, so it cannot
 * be jailed as decoder processes are. It starts no program and no process, touches no other one,
 * listens on nothing, writes, makes and changes no file, and has no sockets but those of the
 * internet and of its routes. tests/escape tries each of these. */
#ifndef MEDIAD_DECODER_FENCE_H
#define MEDIAD_DECODER_FENCE_H

#include <sys/types.h>

/* Dies with its parent, which must be `parent`. errno of a failure. */
int fence_enter(pid_t parent);

#endif
