/* True if datagrams still travel between us and the voice server.
 *
 * Proof are the answers to what we send: echoes of keepalives, and receiver reports about our
 * stream. Some servers never send either, so silence counts only after one was seen; sends that
 * fail count in any case. Audio of others is no proof, because the way out may be blocked alone.
 *
 * Plain memory of its owner, all zero at first. Times in ns. */
#ifndef MEDIAD_TRANSPORT_PATH_H
#define MEDIAD_TRANSPORT_PATH_H

#include <stdbool.h>
#include <stdint.h>

enum { PATH_SILENT_MS = 15000 };

struct path {
	bool proved;
	bool asking;		/* discovery was started again, to be sure */
	uint64_t proved_at;	/* newest */
	uint64_t failing_since; /* no send has succeeded since; 0: the newest one did */
};

void path_prove(struct path *p, uint64_t now);
void path_sent(struct path *p, uint64_t now, bool ok);
/* True if the path must be examined. */
bool path_is_silent(const struct path *p, uint64_t now);

#endif
