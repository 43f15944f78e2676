#include "control/text/incoming.h"

#include <errno.h>
#include <string.h>

#include "control/text/content.h"
#include "control/text/enclosed.h"
#include "control/text/own_words.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

enum { MESSAGE_DEFAULT = 0, MESSAGE_REPLY = 19, MESSAGE_THREAD_STARTER = 21 };

static uint64_t id_at(const json_t *object, const char *key)
{
	uint64_t id = 0;

	discord_snowflake(json_string_value(json_object_get(object, key)), &id);
	return id;
}

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* Names stand in brackets before what people say, so they may hold none. */
void incoming_copy_name(char to[INCOMING_NAME], const char *name)
{
	utf8_copy(to, INCOMING_NAME, name);
	utf8_plain(to);
	for (char *p = to; *p; p++)
		if (*p == '[' || *p == ']')
			*p = ' ';
}

/* ---- the text ---- */

static void put_line(struct content *t, const char *line)
{
	if (t->n && *line)
		content_put(t, "\n", 1);
	content_put(t, line, strlen(line));
}

static void put_attached(struct content *t, const struct attached_list *files)
{
	char line[ATTACHED_LINE];

	for (unsigned i = 0; i < files->n; i++) {
		attached_line(&files->v[i], line);
		put_line(t, line);
	}
}

static void put_own(struct content *t, const json_t *message, const struct attached_list *files)
{
	char lines[ENCLOSED_TEXT];

	enclosed_own(message, lines);
	put_line(t, lines);
	put_attached(t, files);
}

/* False: there is none. */
static bool put_strangers(struct content *t, const json_t *message, bool embeds)
{
	char lines[ENCLOSED_TEXT];

	enclosed_of_strangers(message, embeds, lines);
	put_line(t, lines);
	return *lines != '\0';
}

/* ---- whom it is for ---- */

static void read_mentions(struct incoming *in, const json_t *d, uint64_t self)
{
	const json_t *m;
	size_t i;

	in->to_others = json_is_true(json_object_get(d, "mention_everyone")) ||
			json_array_size(json_object_get(d, "mention_roles")) > 0;
	json_array_foreach(json_object_get(d, "mention_roles"), i, m)
	{
		if (in->n_roles < INCOMING_ROLES &&
		    discord_snowflake(json_string_value(m), &in->role[in->n_roles]))
			in->n_roles++;
	}
	json_array_foreach(json_object_get(d, "mentions"), i, m)
	{
		if (i == INCOMING_MENTIONS)
			break;
		if (id_at(m, "id") == self)
			in->to_bot = true;
		else
			in->to_others = true;
	}
}

static void read_reply(struct incoming *in, const json_t *d, uint64_t self, const char *name)
{
	const json_t *of = json_object_get(d, "referenced_message");
	const json_t *author = json_object_get(of, "author");
	struct content t = {.buf = in->quoted, .size = sizeof in->quoted};

	in->replies_to = id_at(json_object_get(d, "message_reference"), "message_id");
	in->untold = in->replies_to && !author;
	if (!author)
		return;
	in->replied_user = id_at(author, "id");
	if (in->replied_user == self)
		in->to_bot = true;
	else
		in->to_others = true;
	incoming_copy_name(in->quoted_name, content_name(author, json_object_get(of, "member")));
	attached_read(&in->quoted_files, json_object_get(of, "attachments"));
	t.n = content_copy(in->quoted, sizeof in->quoted, of, self, name);
	put_own(&t, of, &in->quoted_files);
	in->quoted_strangers = put_strangers(&t, of, true);
	utf8_plain(in->quoted);
}

static json_int_t type_of(const json_t *d)
{
	return json_integer_value(json_object_get(d, "type"));
}

static bool is_said(const json_t *d)
{
	return type_of(d) == MESSAGE_DEFAULT || type_of(d) == MESSAGE_REPLY;
}

/* The author's own text comes first. */
static void read_text(struct incoming *out, const json_t *d, uint64_t self, const char *name)
{
	const json_t *forwarded = enclosed_forwarded(d);
	struct content t = {.buf = out->text, .size = sizeof out->text};
	bool embeds = !*text_at(d, "content") || out->bot;

	t.n = content_copy(out->text, sizeof out->text, d, self, name);
	own_words(out->said, sizeof out->said, text_at(d, "content"));
	attached_read(&out->files, json_object_get(d, "attachments"));
	put_own(&t, d, &out->files);
	out->own = t.n;
	out->strangers = put_strangers(&t, d, embeds && !out->self);
	/* Whose files are shown is the person who forwards them. */
	if (forwarded && !out->files.n) {
		attached_read(&out->files, json_object_get(forwarded, "attachments"));
		put_attached(&t, &out->files);
	}
}

int incoming_read(struct incoming *out, const json_t *d, uint64_t self, const char *name)
{
	bool starter = type_of(d) == MESSAGE_THREAD_STARTER;
	const json_t *m = starter ? json_object_get(d, "referenced_message") : d;
	const json_t *author = json_object_get(m, "author"), *nonce = json_object_get(d, "nonce");

	*out = (struct incoming){.guild = id_at(d, "guild_id"),
				 .channel = id_at(d, "channel_id"),
				 .message = id_at(d, "id"),
				 .user = id_at(author, "id"),
				 .starter = starter};
	if (!out->channel || !out->message)
		return EBADMSG;
	/* The thread has the id of the message from which it was started. */
	if (starter)
		out->message = out->channel;
	/* Updates that change other things, such as a preview of a link, may lack the rest. */
	if (!is_said(m) || !author || !json_is_string(json_object_get(m, "content")))
		return ENOMSG;
	out->self = out->user && out->user == self;
	out->bot = !out->self && (json_is_true(json_object_get(author, "bot")) ||
				  json_object_get(m, "webhook_id") != NULL);
	incoming_copy_name(out->name, content_name(author, json_object_get(m, "member")));
	read_mentions(out, m, self);
	/* A forwarded message refers to another one and is no reply. */
	if (!starter && type_of(d) == MESSAGE_REPLY)
		read_reply(out, d, self, name);
	read_text(out, m, self, name);
	if (json_is_string(nonce))
		utf8_copy(out->nonce, sizeof out->nonce, json_string_value(nonce));
	return 0;
}

/* The title is by somebody else than the author of the post. */
static void put_foreign_title(struct incoming *in, const char *title)
{
	struct content t = {.buf = in->text, .n = strlen(in->text), .size = sizeof in->text};
	char line[INCOMING_TITLE];

	utf8_copy(line, sizeof line, title);
	utf8_plain(line);
	for (char *p = line; *p; p++)
		if (*p == '[' || *p == ']')
			*p = ' ';
	put_line(&t, "[post: ");
	content_put(&t, line, strlen(line));
	content_put(&t, "]", 1);
	in->strangers = true;
}

void incoming_set_thread(struct incoming *in, uint64_t parent, const char *title, bool own)
{
	char text[INCOMING_TEXT];
	struct content t = {.buf = in->text, .size = sizeof in->text};
	char line[INCOMING_TITLE];

	in->parent = parent;
	/* A post has the id of its thread, and no other message has. */
	if (in->message != in->channel || in->starter || !*title)
		return;
	if (!own) {
		put_foreign_title(in, title);
		return;
	}
	strcpy(text, in->text);
	utf8_copy(line, sizeof line, title);
	utf8_plain(line);
	content_put(&t, line, strlen(line));
	content_put(&t, "\n", 1);
	in->own += t.n;
	content_put(&t, text, strlen(text));
	strcpy(text, in->said);
	own_words(line, sizeof line, title);
	t = (struct content){.buf = in->said, .size = sizeof in->said};
	content_put(&t, line, strlen(line));
	content_put(&t, "\n", 1);
	content_put(&t, text, strlen(text));
}

static int read_place(struct incoming_change *out, const json_t *d)
{
	*out = (struct incoming_change){.guild = id_at(d, "guild_id"),
					.channel = id_at(d, "channel_id")};
	return out->channel ? 0 : EBADMSG;
}

int incoming_deleted(struct incoming_change *out, const json_t *d)
{
	const json_t *ids = json_object_get(d, "ids"), *one;
	int err = read_place(out, d);
	uint64_t id = id_at(d, "id");
	size_t i;

	if (id)
		out->message[out->n++] = id;
	json_array_foreach(ids, i, one)
	{
		if (out->n < INCOMING_DELETED && discord_snowflake(json_string_value(one), &id))
			out->message[out->n++] = id;
	}
	return err ? err : out->n ? 0 : EBADMSG;
}

int incoming_stop(struct incoming_change *out, const json_t *d)
{
	const char *emoji = text_at(json_object_get(d, "emoji"), "name");
	int err = read_place(out, d);

	out->user = id_at(d, "user_id");
	out->message[0] = id_at(d, "message_id");
	out->n = 1;
	if (err || !out->user || !out->message[0])
		return EBADMSG;
	/* U+1F6D1; clients may add a selector of its form. */
	return strncmp(emoji, "\xf0\x9f\x9b\x91", 4) == 0 ? 0 : ENOMSG;
}

/* Puts text in the place of n bytes at this one of buf. False: there is no place for it. */
static bool replace(char *buf, size_t size, char *at, size_t n, const char *text)
{
	size_t m = strlen(text), rest = strlen(at + n) + 1;

	if ((size_t)(at - buf) + m + rest > size)
		return false;
	memmove(at + m, at + n, rest);
	memcpy(at, text, m);
	return true;
}

/* own: NULL, or bytes of it, which become others. */
static void name_channels(char *buf, size_t size, size_t *own, incoming_channel_h *h, void *arg)
{
	for (char *at = strstr(buf, "<#"); at; at = strstr(at + 1, "<#")) {
		char name[INCOMING_NAME + 1] = "#";
		uint64_t channel = 0;
		size_t n = content_channel(at, &channel);
		const char *known = n ? h(channel, arg) : "";

		incoming_copy_name(name + 1, known);
		if (!name[1] || !replace(buf, size, at, n, name))
			continue;
		if (own && (size_t)(at - buf) < *own)
			*own = *own - n + strlen(name);
	}
}

void incoming_name_channels(struct incoming *in, incoming_channel_h *h, void *arg)
{
	name_channels(in->text, sizeof in->text, &in->own, h, arg);
	name_channels(in->quoted, sizeof in->quoted, NULL, h, arg);
}

void incoming_name_role(struct incoming *in, uint64_t role, const char *name)
{
	char mention[32], tail[INCOMING_TEXT];
	size_t n = (size_t)snprintf(mention, sizeof mention, "<@&%llu>", (unsigned long long)role);
	size_t m = strlen(name) + 1;

	for (char *at = strstr(in->text, mention); at; at = strstr(at + m, mention)) {
		/* Of strangers, who mention nobody here. */
		if ((size_t)(at - in->text) >= in->own ||
		    strlen(in->text) - n + m >= sizeof in->text)
			return;
		memcpy(tail, at + n, strlen(at + n) + 1);
		snprintf(at, sizeof in->text - (size_t)(at - in->text), "@%s%s", name, tail);
		in->own = in->own - n + m;
	}
}
