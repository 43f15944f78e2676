/* Marks of the transport keys under which a call has opened packets. A key that the voice server
 * hands out again would open everything that was recorded under it, because replay windows last as
 * long as their key. The marks are keyed hashes, so that old keys need not be kept.
 *
 * The struct is plain memory of its owner; all zero: no key yet. */
#ifndef MEDIAD_CALL_KEY_MARKS_H
#define MEDIAD_CALL_KEY_MARKS_H

#include <stdbool.h>
#include <stdint.h>

enum { KEY_MARKS = 128, KEY_MARK = 16 };

struct key_marks {
	uint8_t mark[KEY_MARKS][KEY_MARK];
	unsigned n; /* of all keys so far; the newest KEY_MARKS are kept */
	uint8_t present[KEY_MARK];
	bool unused; /* nothing was opened under the present key, which is not noted yet */
};

/* Takes a key of RTPSIZE_KEY bytes as the present one. Returns false if it was noted before. */
bool key_marks_begin(struct key_marks *m, const uint8_t *key);
/* Notes the present key: packets may have been opened under it. */
void key_marks_used(struct key_marks *m);

#endif
