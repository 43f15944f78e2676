/* Why a host cannot be reached: one table of the faults of a network and their words, for
 * WebSockets and for HTTP.
 *
 * The text of a failure begins with these words, so that whoever gets it can tell a provider that
 * cannot be reached from one that refuses. */
#ifndef IPC_UNREACHABLE_H
#define IPC_UNREACHABLE_H

#include <stdbool.h>
#include <stddef.h>

/* X(NAME, words) */
#define UNREACHABLE_FAULTS(X)                                                                      \
	X(NAME, "its host name cannot be resolved (DNS)")                                          \
	X(CONNECT, "cannot connect")                                                               \
	X(TIME, "connecting timed out")                                                            \
	X(TLS, "TLS failed")                                                                       \
	X(PROXY, "proxy")

enum unreachable {
#define X_(NAME, words) UNREACHABLE_##NAME,
	UNREACHABLE_FAULTS(X_)
#undef X_
		UNREACHABLE_COUNT
};

/* Static. */
const char *unreachable_words(enum unreachable fault);
/* "cannot connect: Connection refused"; detail may be "". Always terminated. */
void unreachable_print(enum unreachable fault, const char *detail, char *buf, size_t size);
/* True if the text of a failure, or of a close ("closed 1006 …"), begins with such words. */
bool unreachable_told(const char *why, size_t n);

#endif
