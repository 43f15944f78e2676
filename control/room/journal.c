#include "control/room/journal.h"

#include <errno.h>
#include <string.h>

/* ---- events: a table of their fields makes both directions ---- */

enum row {
#define N(type, member) ROW_##member,
#define T(member)	ROW_##member,
	ROOM_EVENT_FIELDS(N, T)
#undef N
#undef T
		ROWS
};

_Static_assert(ROWS <= 17, "ROOM_JOURNAL_EVENT_MAX");

static void write_number(struct wr *w, enum row row, uint64_t v)
{
	if (!v)
		return;
	wr_be(w, (uint64_t)row, 1);
	wr_be(w, v, 8);
}

static void write_bytes(struct wr *w, enum row row, struct slice s)
{
	if (!s.n)
		return;
	wr_be(w, (uint64_t)row, 1);
	wr_be(w, s.n, 4);
	wr_bytes(w, s.p, s.n);
}

static void write_event(struct wr *w, const struct room_event *ev, uint64_t now)
{
	wr_be(w, now, 8);
	wr_be(w, (uint64_t)ev->type, 1);
#define N(type, member) write_number(w, ROW_##member, (uint64_t)ev->member);
#define T(member)	write_bytes(w, ROW_##member, ev->member);
	ROOM_EVENT_FIELDS(N, T)
#undef N
#undef T
}

static struct slice read_bytes(struct rd *r)
{
	size_t n = (size_t)rd_be(r, 4);
	const uint8_t *p = rd_bytes(r, n);

	return (struct slice){p, p ? n : 0};
}

static bool read_field(struct rd *r, struct room_event *ev)
{
	switch ((int)rd_be(r, 1)) {
#define N(type, member)                                                                            \
	case ROW_##member:                                                                         \
		ev->member = (type)rd_be(r, 8);                                                    \
		return r->ok;
#define T(member)                                                                                  \
	case ROW_##member:                                                                         \
		ev->member = read_bytes(r);                                                        \
		return r->ok;
		ROOM_EVENT_FIELDS(N, T)
#undef N
#undef T
	default:
		return false;
	}
}

static bool read_event(struct rd *r, struct room_journal_record *out)
{
	uint64_t type;

	out->now = rd_be(r, 8);
	type = rd_be(r, 1);
	if (!r->ok || type >= ROOM_EVENT_COUNT)
		return false;
	out->event.type = (enum room_event_type)type;
	while (rd_left(r))
		if (!read_field(r, &out->event))
			return false;
	return true;
}

/* ---- records ---- */

static void write_body(struct wr *w, const struct room_journal_record *r)
{
	switch (r->what) {
	case ROOM_JOURNAL_NAME:
		wr_bytes(w, r->text.p, r->text.n);
		break;
	case ROOM_JOURNAL_SETTING:
		wr_bytes(w, r->text.p, r->text.n);
		wr_be(w, 0, 1);
		wr_bytes(w, r->value.p, r->value.n);
		break;
	case ROOM_JOURNAL_EVENT:
		write_event(w, &r->event, r->now);
		break;
	case ROOM_JOURNAL_SUM:
		wr_be(w, r->steps, 8);
		wr_be(w, r->sum, 8);
		break;
	}
}

void room_journal_write(struct wr *w, const struct room_journal_record *r)
{
	size_t at = w->pos;
	struct wr length;

	wr_be(w, 0, 4);
	wr_be(w, (uint64_t)r->what, 1);
	write_body(w, r);
	if (!w->ok)
		return;
	length = wr_of(w->p + at, 4);
	wr_be(&length, w->pos - at - 4, 4);
}

static bool read_body(struct rd *r, struct room_journal_record *out)
{
	const uint8_t *end;

	switch (out->what) {
	case ROOM_JOURNAL_NAME:
		out->text = (struct slice){r->p + r->pos, rd_left(r)};
		return true;
	case ROOM_JOURNAL_SETTING:
		out->text = (struct slice){r->p + r->pos, rd_left(r)};
		end = memchr(out->text.p, 0, out->text.n);
		if (!end)
			return false;
		out->value = (struct slice){end + 1, out->text.n - (size_t)(end + 1 - out->text.p)};
		out->text.n = (size_t)(end - out->text.p);
		return true;
	case ROOM_JOURNAL_EVENT:
		return read_event(r, out);
	case ROOM_JOURNAL_SUM:
		out->steps = rd_be(r, 8);
		out->sum = rd_be(r, 8);
		return r->ok && !rd_left(r);
	}
	return false;
}

int room_journal_read(struct rd *r, struct room_journal_record *out)
{
	uint64_t n;
	struct rd body;

	if (rd_left(r) < 5)
		return ENODATA;
	n = rd_be(r, 4);
	if (!n || n > ROOM_JOURNAL_RECORD_MAX)
		return EBADMSG;
	if (n > rd_left(r))
		return ENODATA;
	body = rd_of(rd_bytes(r, (size_t)n), (size_t)n);
	*out = (struct room_journal_record){.what = (enum room_journal_what)rd_be(&body, 1)};
	return read_body(&body, out) ? 0 : EBADMSG;
}

/* ---- the sum: FNV-1a over what an effect says, sound included ---- */

static uint64_t add(uint64_t sum, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ b[i]) * 0x100000001b3ull;
	return sum;
}

static uint64_t add_number(uint64_t sum, uint64_t v)
{
	uint8_t b[8];
	struct wr w = wr_of(b, sizeof b);

	wr_be(&w, v, 8);
	return add(sum, b, sizeof b);
}

uint64_t room_journal_sum(uint64_t sum, const struct room_effects *fx)
{
	for (size_t i = 0; i < fx->n; i++) {
		const struct room_effect *e = &fx->v[i];

		sum = add_number(sum, (uint64_t)e->type);
		sum = add_number(sum, e->user);
		sum = add_number(sum, (uint64_t)e->utterance << 32 | e->turn);
		sum = add_number(sum, (uint64_t)e->chunk << 32 | e->gain);
		sum = add_number(sum, e->ms);
		sum = add(sum, e->pcm.p, e->pcm.n);
		if (e->text)
			sum = add(sum, e->text, strlen(e->text) + 1);
		if (e->instructions)
			sum = add(sum, e->instructions, strlen(e->instructions) + 1);
		for (size_t k = 0; k < e->history_n; k++)
			sum = add(sum, e->history[k].text, strlen(e->history[k].text) + 1);
		if (e->record)
			sum = add_number(sum, (uint64_t)e->record->id << 32 | e->record->reason);
	}
	return sum;
}
