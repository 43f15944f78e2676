#include "control/text/content.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "control/text/incoming.h"
#include "proto/base/iso_time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

enum { LATEST_S = 253402300799 /* the year 9999 */ };

void content_put(struct content *to, const char *text, size_t n)
{
	utf8_copy_bytes(to->buf + to->n, to->size - to->n, text, n);
	to->n += strlen(to->buf + to->n);
}

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

const char *content_name(const json_t *user, const json_t *member)
{
	const char *nick = text_at(member, "nick"), *global = text_at(user, "global_name");

	return *nick ? nick : *global ? global : text_at(user, "username");
}

/* A number between begin and one of ends: the bytes up to that end, which is part of them. 0: there
 * is none. */
static size_t read_number(const char *text, const char *begin, const char *ends, uint64_t *out)
{
	char digits[21];
	size_t first = strlen(begin), n;

	if (strncmp(text, begin, first) != 0)
		return 0;
	n = strspn(text + first, "0123456789");
	if (!n || n >= sizeof digits || !text[first + n] || !strchr(ends, text[first + n]))
		return 0;
	memcpy(digits, text + first, n);
	digits[n] = '\0';
	return discord_snowflake(digits, out) ? first + n + 1 : 0;
}

size_t content_channel(const char *text, uint64_t *channel)
{
	return read_number(text, "<#", ">", channel);
}

static size_t read_user(const char *text, uint64_t *user)
{
	size_t n = read_number(text, "<@!", ">", user);

	return n ? n : read_number(text, "<@", ">", user);
}

/* "<t:1764410000>", and with a style "<t:1764410000:F>". */
static size_t read_time(const char *text, uint64_t *s)
{
	size_t n = read_number(text, "<t:", ":>", s);

	if (n && text[n - 1] == ':')
		n = text[n] && text[n + 1] == '>' ? n + 2 : 0;
	return n && *s <= LATEST_S ? n : 0;
}

static bool find_name(const json_t *mentions, uint64_t user, char to[INCOMING_NAME])
{
	const json_t *m;
	uint64_t id;
	size_t i;

	json_array_foreach(mentions, i, m)
	{
		if (i == INCOMING_MENTIONS)
			break;
		if (discord_snowflake(text_at(m, "id"), &id) && id == user) {
			incoming_copy_name(to, content_name(m, json_object_get(m, "member")));
			return *to != '\0';
		}
	}
	return false;
}

/* Returns the bytes that were read; 0 if they mention nobody who is known. */
static size_t put_user(struct content *t, const char *text, const json_t *mentions, uint64_t self,
		       const char *name)
{
	char who[INCOMING_NAME];
	uint64_t user = 0;
	size_t n = read_user(text, &user);

	if (!n)
		return 0;
	if (self && user == self)
		incoming_copy_name(who, name);
	else if (!find_name(mentions, user, who))
		return 0;
	content_put(t, "@", 1);
	content_put(t, who, strlen(who));
	return n;
}

static size_t put_time(struct content *t, const char *text)
{
	char at[ISO_TIME_SIZE], minute[32];
	uint64_t s = 0;
	size_t n = read_time(text, &s);

	if (!n)
		return 0;
	iso_time_format(at, s * 1000);
	snprintf(minute, sizeof minute, "%.10s %.5s UTC", at, at + 11);
	content_put(t, minute, strlen(minute));
	return n;
}

size_t content_copy(char *to, size_t size, const json_t *message, uint64_t self, const char *name)
{
	const json_t *mentions = json_object_get(message, "mentions");
	struct content t = {.buf = to, .size = size};

	*to = '\0';
	/* The longest character may not fit any more. */
	for (const char *text = text_at(message, "content"); *text && t.n + 4 < size;) {
		size_t n = put_user(&t, text, mentions, self, name);

		if (!n)
			n = put_time(&t, text);
		if (!n) {
			n = 1 + strcspn(text + 1, "<");
			content_put(&t, text, n);
		}
		text += n;
	}
	return t.n;
}
