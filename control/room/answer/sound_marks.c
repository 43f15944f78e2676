#include "control/room/answer/sound_marks.h"

#include <string.h>

#include "control/room/base/text.h"

/* The playout position is known at the ends of words. */
static size_t end_of_words(const char *text)
{
	size_t n = strlen(text);

	while (n && !room_is_word_byte(text[n - 1]))
		n--;
	return n;
}

void room_sound_marks_add(struct room_sound_marks *marks, const char *text, const char *ref,
			  size_t n)
{
	if (marks->n == ROOM_SOUNDS_MAX || n > ROOM_SOUND_REF_MAX)
		return;
	marks->mark[marks->n].at = end_of_words(text);
	memcpy(marks->mark[marks->n].ref, ref, n);
	marks->mark[marks->n++].ref[n] = '\0';
}

bool room_sound_marks_next(const struct room_sound_marks *marks, size_t *at)
{
	if (marks->next == marks->n)
		return false;
	*at = marks->mark[marks->next].at;
	return true;
}

const char *room_sound_marks_take(struct room_sound_marks *marks, size_t played)
{
	if (marks->next == marks->n || marks->mark[marks->next].at > played)
		return NULL;
	return marks->mark[marks->next++].ref;
}
