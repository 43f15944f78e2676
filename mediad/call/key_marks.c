#include "mediad/call/key_marks.h"

#include <string.h>

#include <sodium.h>

#include "mediad/transport/rtpsize.h"

_Static_assert((int)KEY_MARK >= (int)crypto_generichash_BYTES_MIN, "a hash is longer than a mark");

bool key_marks_begin(struct key_marks *m, const uint8_t *key)
{
	static const uint8_t purpose[] = "marks of transport keys";
	uint8_t mark[KEY_MARK];
	unsigned to;

	crypto_generichash(mark, sizeof mark, key, RTPSIZE_KEY, purpose, sizeof purpose);
	for (unsigned i = 0; i < m->n && i < KEY_MARKS; i++)
		if (memcmp(m->mark[i], mark, sizeof mark) == 0)
			return false;
	to = ++m->number % KEY_MARKS_RECENT;
	memcpy(m->recent[to].mark, mark, sizeof mark);
	m->recent[to].used = false;
	return true;
}

bool key_marks_used(struct key_marks *m, uint32_t number)
{
	unsigned i = number % KEY_MARKS_RECENT, present = m->number % KEY_MARKS_RECENT;

	if (!number || m->number - number >= KEY_MARKS_RECENT)
		return true;
	if (!m->recent[i].used)
		memcpy(m->mark[m->n++ % KEY_MARKS], m->recent[i].mark, KEY_MARK);
	m->recent[i].used = true;
	return i == present || memcmp(m->recent[i].mark, m->recent[present].mark, KEY_MARK) != 0;
}
