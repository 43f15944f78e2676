#include "mediad/call/key_marks.h"

#include <string.h>

#include <sodium.h>

#include "mediad/transport/rtpsize.h"

_Static_assert((int)KEY_MARK >= (int)crypto_generichash_BYTES_MIN, "a hash is longer than a mark");

bool key_marks_begin(struct key_marks *m, const uint8_t *key)
{
	static const uint8_t purpose[] = "marks of transport keys";
	uint8_t mark[KEY_MARK];

	crypto_generichash(mark, sizeof mark, key, RTPSIZE_KEY, purpose, sizeof purpose);
	for (unsigned i = 0; i < m->n && i < KEY_MARKS; i++)
		if (memcmp(m->mark[i], mark, sizeof mark) == 0)
			return false;
	memcpy(m->present, mark, sizeof mark);
	m->unused = true;
	return true;
}

void key_marks_used(struct key_marks *m)
{
	if (m->unused)
		memcpy(m->mark[m->n++ % KEY_MARKS], m->present, sizeof m->present);
	m->unused = false;
}
