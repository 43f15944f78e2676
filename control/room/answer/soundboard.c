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
	const char *p = (const char *)ev->text.p, *end = p + ev->text.n;
	size_t size = sizeof soundboard->names, n = 0;
	unsigned sounds = 0;

	(void)context;
	if (ev->type != ROOM_SOUNDS)
		return;
	soundboard->names[0] = '\0';
	while (p < end && sounds < ROOM_SOUNDBOARD_SOUNDS) {
		const char *line_end = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((line_end ? line_end : end) - p);
		char name[NAME_SIZE];

		if (take_name(p, len, name)) {
			if (n + 2 + len >= size)
				return;
			n += (size_t)snprintf(soundboard->names + n, size - n, "%s%s",
					      n ? ", " : "", name);
			sounds++;
		}
		p += len + 1;
	}
}

const char *room_soundboard_names(const struct room_soundboard *soundboard)
{
	return soundboard->names;
}
