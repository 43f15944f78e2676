#include "control/vision/core/notes.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { MOST = 500, LINE_MAX_BYTES = NOTE_TEXT + 80 };

static struct note *add_note(struct notes *n, uint64_t now)
{
	struct note *note;

	if (n->n == NOTES_MAX) {
		memmove(n->v, n->v + 1, (NOTES_MAX - 1) * sizeof n->v[0]);
		n->n--;
	}
	note = &n->v[n->n++];
	if (!++n->last_id)
		n->last_id = 1;
	*note = (struct note){.id = n->last_id, .at = now};
	return note;
}

uint32_t notes_changed(struct notes *n, unsigned share, uint32_t picture, uint64_t now)
{
	struct note *note = add_note(n, now);

	note->share = share;
	note->picture = picture;
	n->changed_at = now;
	return note->id;
}

bool notes_tell(struct notes *n, uint32_t picture, const char *text)
{
	for (unsigned i = n->n; i-- > 0;)
		if (n->v[i].share && n->v[i].picture <= picture) {
			utf8_copy(n->v[i].text, sizeof n->v[i].text, text);
			return true;
		}
	return false;
}

const char *notes_told(const struct notes *n)
{
	for (unsigned i = n->n; i-- > 0;)
		if (n->v[i].text[0])
			return n->v[i].text;
	return "";
}

void notes_wipe(struct notes *n)
{
	for (unsigned i = 0; i < NOTES_MAX; i++)
		explicit_bzero(n->v[i].text, sizeof n->v[i].text);
}

bool notes_unchanged(struct notes *n, uint64_t idle, uint64_t now)
{
	struct note *last = n->n ? &n->v[n->n - 1] : NULL;

	if (!last || now - last->at < idle)
		return false;
	if (last->share)
		add_note(n, now);
	else
		last->at = now;
	return true;
}

static int write_line(const struct notes *n, const struct note *note, uint64_t now,
		      char out[LINE_MAX_BYTES])
{
	unsigned long age = (unsigned long)((now - note->at) / NS_PER_S);

	if (!note->share)
		return snprintf(out, LINE_MAX_BYTES,
				"%lu s ago: nothing large had changed for %lu s\n", age,
				(unsigned long)((note->at - n->changed_at) / NS_PER_S));
	if (note->text[0])
		return snprintf(out, LINE_MAX_BYTES, "%lu s ago: %s\n", age, note->text);
	if (note->share > MOST)
		return snprintf(out, LINE_MAX_BYTES, "%lu s ago: most of the picture changed\n",
				age);
	return snprintf(out, LINE_MAX_BYTES, "%lu s ago: %u.%u %% of the picture changed\n", age,
			note->share / 10, note->share % 10);
}

size_t notes_write(const struct notes *n, uint64_t now, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (unsigned i = 0; i < n->n && i < NOTES_SHOWN; i++) {
		char line[LINE_MAX_BYTES];
		int k = write_line(n, &n->v[n->n - 1 - i], now, line);

		if (k < 0 || used + (size_t)k >= size)
			break;
		memcpy(buf + used, line, (size_t)k + 1);
		used += (size_t)k;
	}
	return used;
}
