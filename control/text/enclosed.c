#include "control/text/enclosed.h"

#include <string.h>

#include "control/text/attached.h"
#include "control/text/content.h"
#include "proto/base/utf8.h"

enum {
	REFERENCE_FORWARD = 1, /* the type of its message_reference */
	LINE_LEAST = 32,       /* bytes that are free before a line is begun */
};

struct lines {
	char *buf;
	bool any;  /* the line that is written has a part */
	bool full; /* there is no place for it */
};

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* Leaves place for the end of a line. */
static void add(struct lines *l, const char *text)
{
	size_t n = strlen(l->buf);

	if (!l->full)
		utf8_copy(l->buf + n, ENCLOSED_TEXT - 1 - n, text);
}

static void begin_line(struct lines *l, const char *what)
{
	l->full = strlen(l->buf) + LINE_LEAST > ENCLOSED_TEXT;
	add(l, *l->buf ? "\n[" : "[");
	add(l, what);
	l->any = false;
}

static void add_part(struct lines *l, const char *text, const char *between)
{
	char part[ENCLOSED_PART];

	attached_copy_plain(part, sizeof part, text);
	if (!*part)
		return;
	add(l, l->any ? between : ": ");
	add(l, part);
	l->any = true;
}

static void end_line(struct lines *l)
{
	if (!l->full)
		strcat(l->buf, "]");
}

static void add_stickers(struct lines *l, const json_t *message)
{
	const json_t *stickers = json_object_get(message, "sticker_items"), *one;
	size_t i;

	json_array_foreach(stickers, i, one)
	{
		if (i == ENCLOSED_STICKERS)
			break;
		begin_line(l, "sticker");
		add_part(l, text_at(one, "name"), "");
		end_line(l);
	}
}

static void add_poll(struct lines *l, const json_t *poll)
{
	const json_t *answer;
	size_t i;

	if (!json_is_object(poll))
		return;
	begin_line(l, "poll");
	add_part(l, text_at(json_object_get(poll, "question"), "text"), "");
	json_array_foreach(json_object_get(poll, "answers"), i, answer)
	{
		if (i < ENCLOSED_ANSWERS)
			add_part(l, text_at(json_object_get(answer, "poll_media"), "text"), " / ");
	}
	end_line(l);
}

/* An embed without words, such as that of an image, is none. */
static void add_embeds(struct lines *l, const json_t *message)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(message, "embeds"), i, one)
	{
		const char *title = text_at(one, "title"), *text = text_at(one, "description");

		if (i == ENCLOSED_EMBEDS)
			break;
		if (!*title && !*text)
			continue;
		begin_line(l, "embed");
		add_part(l, title, "");
		add_part(l, text, " / ");
		end_line(l);
	}
}

void enclosed_own(const json_t *message, char buf[ENCLOSED_TEXT])
{
	struct lines l = {.buf = buf};

	*buf = '\0';
	add_stickers(&l, message);
	add_poll(&l, json_object_get(message, "poll"));
}

const json_t *enclosed_forwarded(const json_t *message)
{
	const json_t *reference = json_object_get(message, "message_reference");
	const json_t *first = json_array_get(json_object_get(message, "message_snapshots"), 0);

	return json_integer_value(json_object_get(reference, "type")) == REFERENCE_FORWARD
		       ? json_object_get(first, "message")
		       : NULL;
}

void enclosed_of_strangers(const json_t *message, bool embeds, char buf[ENCLOSED_TEXT])
{
	const json_t *of = enclosed_forwarded(message);
	struct lines l = {.buf = buf};
	char content[ENCLOSED_PART];

	*buf = '\0';
	if (of) {
		begin_line(&l, "forwarded");
		content_copy(content, sizeof content, of, 0, "");
		add_part(&l, content, "");
		end_line(&l);
		add_stickers(&l, of);
		add_poll(&l, json_object_get(of, "poll"));
	}
	if (of || embeds)
		add_embeds(&l, of ? of : message);
}
