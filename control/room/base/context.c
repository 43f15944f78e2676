#include "control/room/base/context.h"

#include <assert.h>
#include <string.h>

#include "control/room/base/turns.h"
#include "proto/base/utf8.h"

struct room_effect *room_emit(struct room_context *context, enum room_effect_type type)
{
	static struct room_effect nowhere;
	struct room_effects *effects = context->effects;
	struct room_effect *e = &nowhere;

	/* ROOM_EFFECTS holds the most effects of any step: 3 for each speaker and 8 for each
	 * turn. */
	_Static_assert(ROOM_EFFECTS >= 3 * ROOM_SPEAKERS + 8 * ROOM_TURNS, "effects");
	assert(effects->n < ROOM_EFFECTS);
	if (effects->n < ROOM_EFFECTS)
		e = &effects->v[effects->n++];
	*e = (struct room_effect){.type = type};
	return e;
}

char *room_text(struct room_context *context, size_t size, size_t most)
{
	struct room_texts *t = &context->texts;

	if (t->n > most || size > most - t->n)
		return NULL;
	t->buf[t->n] = '\0';
	return t->buf + t->n;
}

const char *room_text_keep(struct room_context *context, const char *text)
{
	context->texts.n = (size_t)(text - context->texts.buf) + strlen(text) + 1;
	return text;
}

const char *room_text_of(struct room_context *context, const char *text, size_t n)
{
	char *to = room_text(context, n + 1, ROOM_TEXTS_MANY);

	if (!to)
		return NULL;
	memcpy(to, text, n);
	to[n] = '\0';
	utf8_mend(to);
	return room_text_keep(context, to);
}
