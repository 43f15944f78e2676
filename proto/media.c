#include "proto/media.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "proto/codec.h"

/* ---- tables made from media.def ---- */

#define KIND_u8	      CODEC_U8, 0
#define KIND_u16      CODEC_U16, 0
#define KIND_u32      CODEC_U32, 0
#define KIND_u64      CODEC_U64, 0
#define KIND_b	      CODEC_BOOL, 0
#define KIND_str(cap) CODEC_STR, cap
#define KIND_bin(cap) CODEC_BIN, cap

#define DEF_NUMBER(def)	 def, NULL
#define DEF_TEXT(def)	 0, def
#define DEF_NOTHING(def) 0, NULL
#define DEF_u8		 DEF_NUMBER
#define DEF_u16		 DEF_NUMBER
#define DEF_u32		 DEF_NUMBER
#define DEF_u64		 DEF_NUMBER
#define DEF_b		 DEF_NUMBER
#define DEF_str(cap)	 DEF_TEXT
#define DEF_bin(cap)	 DEF_NOTHING

#define FIELD_INIT(name, kind, cap, offset, since, num, text)                                      \
	{                                                                                          \
		name, kind, offset, cap, since, num, text                                          \
	}
#define FIELD_EXPAND(...) FIELD_INIT(__VA_ARGS__)

#define FIELD(type, field, since, def)                                                             \
	FIELD_EXPAND(#field, KIND_##type, offsetof(this_t, field), since, DEF_##type(def)),

/* Returns NULL for a number that is not in the table. */
static const struct codec_message *find_description(uint64_t number)
{
	switch (number) {
#define X(NAME, name, num, dir, lane, cap, since)                                                  \
	case num: {                                                                                \
		typedef struct media_##name this_t;                                                \
		static const struct codec_field fields[] = {MEDIA_FIELDS_##NAME(FIELD)};           \
		static const struct codec_message m = {                                            \
			num, #NAME, cap, since, fields, sizeof fields / sizeof fields[0]};         \
		return &m;                                                                         \
	}
		MEDIA_MESSAGES(X)
#undef X
	default:
		return NULL;
	}
}

enum { SENT_BY_C = 1, SENT_BY_M = 2, SENT_BY_B = 3 };

static bool may_send(enum media_side side, enum media_type type)
{
	unsigned by = 0;

	switch (type) {
#define X(NAME, name, num, dir, lane, cap, since)                                                  \
	case MEDIA_##NAME:                                                                         \
		by = SENT_BY_##dir;                                                                \
		break;
		MEDIA_MESSAGES(X)
#undef X
	}
	return by & (side == MEDIA_SIDE_CONTROL ? SENT_BY_C : SENT_BY_M);
}

enum media_lane media_lane_of(enum media_type type)
{
	switch (type) {
#define X(NAME, name, num, dir, lane, cap, since)                                                  \
	case MEDIA_##NAME:                                                                         \
		return MEDIA_LANE_##lane;
		MEDIA_MESSAGES(X)
#undef X
	}
	return MEDIA_LANE_COMMAND;
}

unsigned media_since(enum media_type type)
{
	const struct codec_message *m = find_description(type);

	return m ? m->since : 0;
}

const char *media_type_name(unsigned type)
{
	const struct codec_message *m = find_description(type);

	return m ? m->name : "?";
}

#define NAMES(fn, table, column, unknown)                                                          \
	const char *fn(unsigned number)                                                            \
	{                                                                                          \
		switch (number) {                                                                  \
			table(column) default : return unknown;                                    \
		}                                                                                  \
	}
#define NAME_OF(NAME, name, num, ...)                                                              \
	case num:                                                                                  \
		return #name;
#define TEXT_OF(NAME, name, num, text, ...)                                                        \
	case num:                                                                                  \
		return text;
NAMES(media_phase_name, MEDIA_PHASES, NAME_OF, "unknown")
NAMES(media_phase_text, MEDIA_PHASES, TEXT_OF, "not known")
NAMES(media_reason_name, MEDIA_REASONS, NAME_OF, "unknown")
NAMES(media_reason_text, MEDIA_REASONS, TEXT_OF, "the reason is not known")
NAMES(media_music_phase_name, MEDIA_MUSIC_PHASES, NAME_OF, "unknown")
NAMES(media_music_phase_text, MEDIA_MUSIC_PHASES, TEXT_OF, "not known")
NAMES(media_video_codec_name, MEDIA_VIDEO_CODECS, NAME_OF, "unknown")
NAMES(media_heal_name, MEDIA_HEALS, NAME_OF, "unknown")
NAMES(media_heal_text, MEDIA_HEALS, TEXT_OF, "what is done is not known")
NAMES(media_fault_text, MEDIA_FAULTS, TEXT_OF, "the fault is not known")

bool media_reason_is_final(unsigned reason)
{
	switch (reason) {
#define X(NAME, name, num, text, final)                                                            \
	case num:                                                                                  \
		return final;
		MEDIA_REASONS(X)
#undef X
	}
	return false;
}

/* ---- the codec ---- */

/* Every member begins where the union begins. */
static const void *body_of(const struct media_msg *msg)
{
	return &msg->hello;
}

int media_pack(const struct media_msg *msg, unsigned minor, uint8_t *buf, size_t cap, size_t *len)
{
	const struct codec_message *m = find_description(msg->type);

	return m ? codec_pack(m, body_of(msg), minor, buf, cap, len) : EINVAL;
}

int media_unpack(struct media_msg *msg, enum media_side from, const uint8_t *body, size_t len)
{
	struct rd r = rd_of(body, len);
	const struct codec_message *m;
	struct media_msg got;
	uint64_t number;
	uint32_t left;

	if (codec_head(&r, &number, &left))
		return EBADMSG;
	m = find_description(number);
	if (!m)
		return number < 32768 ? ENOSYS : EPROTO;
	memset(&got, 0, sizeof got);
	got.type = (enum media_type)number;
	if (!may_send(from, got.type))
		return EPERM;
	if (codec_fields(m, &r, left, &got.hello))
		return EBADMSG;
	*msg = got;
	return 0;
}

/* ---- traces ---- */

struct line {
	char *p;
	size_t size, n;
};

static void put_char(struct line *l, char c)
{
	if (l->n + 1 < l->size)
		l->p[l->n++] = c;
}

static void put_text(struct line *l, const char *s)
{
	while (*s)
		put_char(l, *s++);
}

static void put_quoted(struct line *l, const struct slice *s)
{
	char hex[8];

	put_char(l, '"');
	for (size_t i = 0; i < s->n; i++) {
		uint8_t c = s->p[i];

		if (c < 0x20 || c == 0x7f || c == '"' || c == '\\') {
			snprintf(hex, sizeof hex, "\\u%04x", c);
			put_text(l, hex);
		} else {
			put_char(l, (char)c);
		}
	}
	put_char(l, '"');
}

/* Fields that must not be shown (credentials, which a URL may contain) or cannot be read (audio).
 */
static bool left_out(const struct codec_field *f)
{
	return f->kind == CODEC_BIN || strcmp(f->name, "token") == 0 ||
	       strcmp(f->name, "session") == 0 || strcmp(f->name, "path") == 0 ||
	       strcmp(f->name, "headers") == 0;
}

void media_print(const struct media_msg *msg, char *buf, size_t size)
{
	const struct codec_message *m = find_description(msg->type);
	struct line l = {.p = buf, .size = size};
	char number[32];

	if (!size)
		return;
	put_text(&l, "{\"type\":\"");
	put_text(&l, m ? m->name : "?");
	put_char(&l, '"');
	for (size_t i = 0; m && i < m->n_fields; i++) {
		const struct codec_field *f = &m->fields[i];

		if (left_out(f))
			continue;
		put_text(&l, ",\"");
		put_text(&l, f->name);
		put_text(&l, "\":");
		if (f->kind == CODEC_STR) {
			put_quoted(&l, codec_slice(f, body_of(msg)));
		} else if (f->kind == CODEC_BOOL) {
			put_text(&l, codec_number(f, body_of(msg)) ? "true" : "false");
		} else {
			snprintf(number, sizeof number, "%" PRIu64, codec_number(f, body_of(msg)));
			put_text(&l, number);
		}
	}
	put_char(&l, '}');
	buf[l.n] = '\0';
}
