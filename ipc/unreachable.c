#include "ipc/unreachable.h"

#include <stdio.h>
#include <string.h>

static const char *const words[] = {
#define X_(NAME, text) text,
	UNREACHABLE_FAULTS(X_)
#undef X_
};

const char *unreachable_words(enum unreachable fault)
{
	return words[fault];
}

void unreachable_print(enum unreachable fault, const char *detail, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", words[fault], *detail ? ": " : "", detail);
}

bool unreachable_told(const char *why, size_t n)
{
	static const char closed[] = "closed 1006 ";
	size_t head = sizeof closed - 1;

	if (n >= head && memcmp(why, closed, head) == 0) {
		why += head;
		n -= head;
	}
	for (size_t i = 0; i < UNREACHABLE_COUNT; i++) {
		size_t k = strlen(words[i]);

		/* The words alone, or a detail behind them. */
		if (n >= k && memcmp(why, words[i], k) == 0 && (n == k || why[k] == ':'))
			return true;
	}
	return false;
}
