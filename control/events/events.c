#include "control/events/events.h"
#include "control/events/turn_parts.def"

#include "proto/base/utf8.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 20 };
#define FIELD_turn(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, turn.m)},
#define FIELD_utterance(K, m, t) {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, utterance.m)},
#define FIELD_speech(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, speech.m)},
#define FIELD_member(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, member.m)},
#define FIELD_asr(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, asr.m)},
#define FIELD_session(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, session.m)},
#define FIELD_call(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, call.m)},
#define FIELD_link(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, link.m)},
#define FIELD_discord(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, discord.m)},
#define FIELD_engine(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, engine.m)},
#define FIELD_usage(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, usage.m)},
#define FIELD_refusal(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, refusal.m)},
#define FIELD_failover(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, failover.m)},
#define FIELD_fault(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, fault.m)},
#define FIELD_context(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, context.m)},
#define FIELD_command(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, command.m)},
#define FIELD_notice(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, notice.m)},
#define FIELD_setting(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, setting.m)},
#define FIELD_document(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, document.m)},
#define FIELD_tool(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, tool.m)},
#define FIELD_sound(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, sound.m)},
#define FIELD_action(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, action.m)},
#define FIELD_memory(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, memory.m)},
#define FIELD_text(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, text.m)},
#define FIELD_message(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, message.m)},
#define FIELD_share(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, share.m)},
#define FIELD_video(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, video.m)},
#define FIELD_frame(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, frame.m)},
#define FIELD_note(K, m, t)	 {#m, t, EVENT_KIND_##K, offsetof(struct bus_event, note.m)},
#define X(set)                                                                                     \
	static const struct bus_event_field fields_##set[] = {EVENT_FIELDS_##set(FIELD_##set)};
EVENT_SETS(X)
#undef X
#define X(set) static_assert(sizeof fields_##set / sizeof fields_##set[0] <= FIELDS_MAX, #set);
EVENT_SETS(X)
#undef X

static const struct bus_event_info infos[EVENT_COUNT] = {
#define X(NAME, name, version, audience, keep, level, set, text)                                   \
	{#name,                                                                                    \
	 text,                                                                                     \
	 version,                                                                                  \
	 keep,                                                                                     \
	 EVENT_FOR_##audience,                                                                     \
	 EVENT_LEVEL_##level,                                                                      \
	 fields_##set,                                                                             \
	 sizeof fields_##set / sizeof fields_##set[0]},
	EVENTS(X)
#undef X
};

const struct bus_event_info *bus_event_info(enum event_type type)
{
	return &infos[type];
}

static bool is_text(enum event_kind kind)
{
	return kind >= EVENT_KIND_TEXT;
}

static const char **text_at(const struct bus_event *ev, const struct bus_event_field *f)
{
	return (const char **)((const char *)ev + f->at);
}

static uint64_t uint_at(const struct bus_event *ev, const struct bus_event_field *f)
{
	return *(const uint64_t *)((const char *)ev + f->at);
}

static int64_t maybe_at(const struct bus_event *ev, const struct bus_event_field *f)
{
	return *(const int64_t *)((const char *)ev + f->at);
}

static bool flag_at(const struct bus_event *ev, const struct bus_event_field *f)
{
	return *(const bool *)((const char *)ev + f->at);
}

struct bus_event *bus_event_copy(const struct bus_event *ev, size_t *bytes)
{
	const struct bus_event_info *info = bus_event_info(ev->type);
	size_t n = sizeof *ev, len[FIELDS_MAX];
	struct bus_event *copy;
	char *at;

	for (size_t i = 0; i < info->n_fields; i++) {
		const char *text =
			is_text(info->fields[i].kind) ? *text_at(ev, &info->fields[i]) : NULL;

		len[i] = text ? strlen(text) + 1 : 0;
		n += len[i];
	}
	copy = malloc(n);
	if (!copy)
		return NULL;
	*copy = *ev;
	at = (char *)(copy + 1);
	for (size_t i = 0; i < info->n_fields; i++) {
		if (!len[i])
			continue;
		memcpy(at, *text_at(ev, &info->fields[i]), len[i]);
		*text_at(copy, &info->fields[i]) = at;
		at += len[i];
	}
	if (bytes)
		*bytes = n;
	return copy;
}

bool bus_turn_is_part(const char *reason)
{
#define X(name) #name,
	static const char *const parts[] = {EVENT_TURN_PARTS(X)};
#undef X

	for (size_t i = 0; reason && i < sizeof parts / sizeof parts[0]; i++)
		if (strcmp(reason, parts[i]) == 0)
			return true;
	return false;
}

bool bus_event_is_transient(const struct bus_event *ev)
{
	switch (ev->type) {
	case EVENT_TURN_ADMITTED:
	case EVENT_TURN_SPEAKING:
	case EVENT_TURN:
		return ev->turn.transient;
	case EVENT_UTTERANCE:
		return ev->utterance.transient;
	default:
		return false;
	}
}

/* ---- JSON ---- */

static json_t *id_json(uint64_t id)
{
	char text[24];

	if (!id)
		return json_null();
	snprintf(text, sizeof text, "%llu", (unsigned long long)id);
	return json_string(text);
}

/* A text that was cut at a number of bytes costs no event. */
static json_t *mended_json(const char *text)
{
	char *copy = utf8_valid(text) ? NULL : strdup(text);
	json_t *j;

	if (copy)
		utf8_mend(copy);
	j = json_string(copy ? copy : text);
	free(copy);
	return j;
}

static json_t *text_json(enum event_kind kind, const char *text, bool words)
{
	if (!text)
		text = "";
	if (kind == EVENT_KIND_WORDS && !words)
		return json_string("");
	if (kind == EVENT_KIND_SAID && !words)
		return json_null();
	if (kind == EVENT_KIND_JSON || kind == EVENT_KIND_SAID)
		return *text ? json_loads(text, JSON_DECODE_ANY, NULL) : json_null();
	return mended_json(text);
}

static json_t *field_json(const struct bus_event *ev, const struct bus_event_field *f, bool words)
{
	switch (f->kind) {
	case EVENT_KIND_ID:
		return id_json(uint_at(ev, f));
	case EVENT_KIND_UINT:
		return json_integer((json_int_t)uint_at(ev, f));
	case EVENT_KIND_MAYBE:
		return maybe_at(ev, f) < 0 ? json_null() : json_integer(maybe_at(ev, f));
	case EVENT_KIND_FLAG:
		return json_boolean(flag_at(ev, f));
	case EVENT_KIND_TEXT:
	case EVENT_KIND_WORDS:
	case EVENT_KIND_NAME:
	case EVENT_KIND_JSON:
	case EVENT_KIND_SAID:
		return text_json(f->kind, *text_at(ev, f), words);
	}
	return NULL;
}

json_t *bus_event_json(const struct bus_event *ev, bool words)
{
	const struct bus_event_info *info = bus_event_info(ev->type);
	json_t *j = json_pack("{s:s,s:i,s:I,s:o,s:o}", "event", info->name, "version",
			      (int)info->version, "at", (json_int_t)ev->at_ms, "guild",
			      id_json(ev->guild), "user", id_json(ev->user));

	for (size_t i = 0; j && i < info->n_fields; i++)
		if (json_object_set_new(j, info->fields[i].name,
					field_json(ev, &info->fields[i], words))) {
			json_decref(j);
			j = NULL;
		}
	return j;
}

/* ---- a log line ---- */

struct line {
	char *buf;
	size_t size, n;
};

static void put_char(struct line *l, char c)
{
	if (l->n + 1 < l->size)
		l->buf[l->n++] = c;
}

static void put_text(struct line *l, const char *text)
{
	for (; *text; text++)
		put_char(l, *text);
}

/* C0, DEL, and the two bytes of C1 (U+0080 to U+009F), which terminals obey as well. last: the byte
 * before, 0 for none. */
static bool is_control(const char *text, unsigned char last)
{
	unsigned char c = (unsigned char)text[0], next = (unsigned char)text[1];

	if (c == 0xc2)
		return next >= 0x80 && next <= 0x9f;
	if (c >= 0x80 && c <= 0x9f)
		return last == 0xc2;
	return c < 0x20 || c == 0x7f;
}

/* A value with blanks, quotes or '=' is quoted, so that nobody's words look like a field. */
static void put_value(struct line *l, const char *text, bool quote)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char last = 0;

	quote = quote || !*text || strpbrk(text, " \"=\\");
	if (quote)
		put_char(l, '"');
	for (; *text; last = (unsigned char)*text++) {
		unsigned char c = (unsigned char)*text;

		if (quote && (c == '"' || c == '\\'))
			put_char(l, '\\');
		if (!is_control(text, last)) {
			put_char(l, *text);
			continue;
		}
		put_text(l, "\\x");
		put_char(l, hex[c >> 4]);
		put_char(l, hex[c & 15]);
	}
	if (quote)
		put_char(l, '"');
}

static void put_key(struct line *l, const char *name)
{
	if (l->n)
		put_char(l, ' ');
	put_text(l, name);
	put_char(l, '=');
}

static void put_uint(struct line *l, const char *name, uint64_t v)
{
	char text[24];
	size_t at = sizeof text - 1;

	text[at] = '\0';
	do
		text[--at] = (char)('0' + v % 10);
	while ((v /= 10));
	put_key(l, name);
	put_text(l, text + at);
}

static void put_words(struct line *l, const char *text, bool words)
{
	char instead[40];

	snprintf(instead, sizeof instead, "(%zu characters)", strlen(text));
	put_value(l, words ? text : instead, true);
}

static void put_field(struct line *l, const struct bus_event *ev, const struct bus_event_field *f,
		      bool words)
{
	const char *text = is_text(f->kind) && *text_at(ev, f) ? *text_at(ev, f) : "";

	switch (f->kind) {
	case EVENT_KIND_ID:
	case EVENT_KIND_UINT:
		put_uint(l, f->name, uint_at(ev, f));
		break;
	case EVENT_KIND_MAYBE:
		if (maybe_at(ev, f) >= 0)
			put_uint(l, f->name, (uint64_t)maybe_at(ev, f));
		break;
	case EVENT_KIND_FLAG:
		put_uint(l, f->name, flag_at(ev, f));
		break;
	case EVENT_KIND_TEXT:
		if (!*text)
			break;
		put_key(l, f->name);
		put_value(l, text, false);
		break;
	case EVENT_KIND_WORDS:
		put_key(l, f->name);
		put_words(l, text, words);
		break;
	case EVENT_KIND_NAME:
	case EVENT_KIND_JSON:
	case EVENT_KIND_SAID:
		break;
	}
}

void bus_event_line(const struct bus_event *ev, bool words, char *buf, size_t size)
{
	const struct bus_event_info *info = bus_event_info(ev->type);
	struct line l = {.buf = buf, .size = size};

	if (ev->guild)
		put_uint(&l, "guild", ev->guild);
	if (ev->user)
		put_uint(&l, "user", ev->user);
	for (size_t i = 0; i < info->n_fields; i++)
		put_field(&l, ev, &info->fields[i], words);
	buf[l.n] = '\0';
}
