/* The sandbox of a program that control runs for others, a server of MCP or a worker: bubblewrap
 * with namespaces of its own, no network unless it is granted, the system's programs read-only, no
 * capability, and one folder that it may write. Without a sandbox that works no such program is
 * started.
 *
 * Its processes run at nice 10. It has at most 512 processes and threads (RLIMIT_NPROC; the kernel
 * exempts root), and 256 MiB each in /tmp, /home and /dev/shm, which are gone with it.
 *
 * Values of its environment do not stand in the arguments: everybody on the machine can read
 * these. */
#ifndef CONTROL_JAIL_JAIL_H
#define CONTROL_JAIL_JAIL_H

#include <stdbool.h>
#include <stddef.h>

enum { JAIL_READ_MAX = 16, JAIL_COMMAND_MAX = 32, JAIL_ARGS_MAX = 192 };

/* Everything is borrowed; lists are NULL-terminated. */
struct jail {
	const char *bwrap;	    /* path of the program */
	const char *folder;	    /* the one that it may write, its working directory; NULL: none
				       that lasts */
	const char *const *read;    /* further paths that it may read; or NULL */
	const char *const *command; /* the program and its arguments */
	const char *memory; /* "--data=BYTES", for prlimit(1): each process may write so much
			       memory; NULL: no limit */
	bool network;
};

/* The whole command line, NULL-terminated: pointers into the jail and constants. E2BIG: too many
 * paths or arguments; EINVAL: no command. */
int jail_command(const struct jail *jail, const char *argv[JAIL_ARGS_MAX]);

#endif
