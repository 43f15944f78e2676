/* The fence around a fetcher: it needs the network, name resolution and certificates, so it cannot
 * be jailed as decoder processes are. It starts no program and no process, touches no other one,
 * listens on nothing, leaves nothing in the kernel's memory, writes, makes and changes no file, has
 * no sockets but those of TCP, UDP and the system's routes, and little memory. Where the kernel has
 * Landlock (Linux 5.13), it reads no file but those by which names are resolved and certificates
 * are judged; since Linux 6.7 it reaches TCP ports alone that sources may have, and that of name
 * servers. tests/escape tries each of these. */
#ifndef MEDIAD_DECODER_FENCE_H
#define MEDIAD_DECODER_FENCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { FENCE_PORTS_MAX = 32 };

/* Dies with its parent, which must be `parent`. ports: of TCP, at most FENCE_PORTS_MAX. errno of a
 * failure. */
int fence_enter(pid_t parent, const uint16_t *ports, size_t n_ports);

#endif
