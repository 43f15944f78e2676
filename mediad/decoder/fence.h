/* The fence around a fetcher: it needs the network, name resolution and certificates, so it cannot
 * be jailed as decoder processes are. It starts no program, touches no other process, listens on
 * nothing, writes no file, and has no sockets but those of the internet. */
#ifndef MEDIAD_DECODER_FENCE_H
#define MEDIAD_DECODER_FENCE_H

#include <sys/types.h>

/* Dies with its parent, which must be `parent`. errno of a failure. */
int fence_enter(pid_t parent);

#endif
