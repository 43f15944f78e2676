#include "control/report/secure.h"

#include "proto/media.h"

void secure_code(const struct media_call_secure *m, char *buf, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < m->privacy_code.n && at + 2 < size; i++) {
		if (i && i % 5 == 0)
			buf[at++] = ' ';
		buf[at++] = (char)m->privacy_code.p[i];
	}
	if (size)
		buf[at] = '\0';
}
