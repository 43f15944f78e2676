/* Marks of the transport keys under which a call has opened packets. A key that the voice server
 * hands out again would open everything that was recorded under it, because replay windows last as
 * long as their key. The marks are keyed hashes, so that old keys need not be kept.
 *
 * Each key has a number, because the audio thread tells only later that it has opened something
 * under it. The struct is plain memory of its owner; all zero: no key yet. */
#ifndef MEDIAD_CALL_KEY_MARKS_H
#define MEDIAD_CALL_KEY_MARKS_H

#include <stdbool.h>
#include <stdint.h>

enum { KEY_MARKS = 128, KEY_MARK = 16, KEY_MARKS_RECENT = 8 };

struct key_marks {
	uint8_t mark[KEY_MARKS][KEY_MARK];
	unsigned n; /* of all keys that were used; the newest KEY_MARKS are kept */
	struct {
		uint8_t mark[KEY_MARK];
		bool used;
	} recent[KEY_MARKS_RECENT]; /* the newest keys, by their numbers */
	uint32_t number;	    /* of the present key, from 1 on; 0: none yet */
};

/* Takes a key of RTPSIZE_KEY bytes as the present one, with the next number. Returns false if it
 * was noted before. */
bool key_marks_begin(struct key_marks *m, const uint8_t *key);
/* Notes the key of this number: packets may have been opened under it. Returns false if the present
 * key is the same one, handed out for the second time before this was known. */
bool key_marks_used(struct key_marks *m, uint32_t number);

#endif
