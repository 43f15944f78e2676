/* Input of a target that plays a peer: one message of the peer a line; lines that begin with ! are
 * commands to the client under test. */
#ifndef TESTS_FUZZ_PEER_LINES_H
#define TESTS_FUZZ_PEER_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline void require(bool holds)
{
	if (!holds)
		abort();
}

/* arg goes to both handlers. A command comes without its mark. */
static inline void feed_peer_lines(const uint8_t *data, size_t size,
				   void (*commandh)(const uint8_t *p, size_t n, void *arg),
				   void (*messageh)(const char *p, size_t n, void *arg), void *arg)
{
	while (size) {
		const uint8_t *nl = memchr(data, '\n', size);
		size_t n = nl ? (size_t)(nl - data) : size;

		if (n && data[0] == '!')
			commandh(data + 1, n - 1, arg);
		else
			messageh((const char *)data, n, arg);
		data += n + (nl != NULL);
		size -= n + (nl != NULL);
	}
}

#endif
