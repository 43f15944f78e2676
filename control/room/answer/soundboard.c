#include "control/room/answer/soundboard.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "control/room/base/context.h"
#include "control/room/base/text.h"
#include "proto/base/utf8.h"

enum { NAME_SIZE = 64 };

/* True: the name is one that the model can repeat, and it is in `name`. */
static bool take_name(const char *line, size_t n, char *name)
{
	char plain[NAME_SIZE];

	if (!n || n >= NAME_SIZE)
		return false;
	memcpy(name, line, n);
	name[n] = '\0';
	room_clean_name(name, n, plain, sizeof plain);
	return utf8_valid(name) && strcmp(plain, name) == 0;
}

void room_soundboard_on_event(struct room_soundboard *soundboard,
			      const struct room_context *context, const struct room_event *ev)
{
	const char *text = (const char *)ev->text.p;
	size_t size = sizeof soundboard->names, n = 0;
	unsigned sounds = 0;

	(void)context;
	if (ev->type != ROOM_SOUNDS)
		return;
	soundboard->names[0] = '\0';
	for (size_t at = 0, len; at < ev->text.n && sounds < ROOM_SOUNDBOARD_SOUNDS;
	     at += len + 1) {
		const char *line_end = memchr(text + at, '\n', ev->text.n - at);
		char name[NAME_SIZE];

		len = line_end ? (size_t)(line_end - text) - at : ev->text.n - at;
		if (take_name(text + at, len, name)) {
			if (n + 2 + len >= size)
				return;
			n += (size_t)snprintf(soundboard->names + n, size - n, "%s%s",
					      n ? ", " : "", name);
			sounds++;
		}
	}
}

const char *room_soundboard_names(const struct room_soundboard *soundboard)
{
	return soundboard->names;
}
