/* Bursts, the limits of a channel, and the start of the next answer (inside.h). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "control/text/inside.h"
#include "proto/base/time.h"

#define HOUR_NS (UINT64_C(3600) * NS_PER_S)

enum { SLOT_BITS = 7, SLOTS = 1 << SLOT_BITS };
static_assert((int)SLOTS > (int)TEXT_QUEUE,
	      "an author of each message that waits, and a free slot");

/* What one author wrote in one go, and that waits for one answer. */
struct burst {
	uint64_t user, since, until; /* its first message came, and others join it, until (ns) */
	uint64_t start;		     /* when it may be answered if nothing is before it */
	unsigned at, n;		     /* the place of the first one in the queue; how many */
	unsigned ahead;		     /* bursts of others that are answered before it */
	bool addresses;
	bool first, behind_addressed; /* of its author's; one that addresses the bot is before */
};

/* An author of what waits. */
struct writer {
	uint64_t user;
	const struct text_author *spent; /* NULL: nothing */
	unsigned last;			 /* burst */
	unsigned sends;			 /* answers of the hour */
	unsigned served;		 /* how lately one was begun: 0 for never */
};

/* All that waits in a channel, looked at once a time: a queue may be full. */
struct waiting {
	struct burst v[TEXT_QUEUE];
	struct writer writer[TEXT_QUEUE];
	unsigned n, n_writers;
	uint8_t slot[SLOTS]; /* a writer's index + 1, by the hash of the user */
};

/* The messages of a burst that begins. */
struct members {
	struct text_live *v[TEXT_BURST];
	unsigned n;
};

/* Where Discord keeps from the bot what does not mention it, the window could hold nothing but
 * further mentions. */
static uint64_t burst_until(const struct settings *s, const struct text_live *head)
{
	bool blind = head->t.guild && (s->text_chat == SETTINGS_TEXT_MENTIONS || head->t.blind);
	uint64_t window = s->text_coalesce_s;

	window = blind && window > TEXT_BLIND_S ? TEXT_BLIND_S : window;
	return head->t.at + (window ? window * NS_PER_S + TEXT_GRACE_MS * NS_PER_MS : 0);
}

/* ---- what waits ---- */

static uint8_t *slot_of(struct waiting *w, uint64_t user)
{
	unsigned i = (unsigned)(user * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS));

	while (w->slot[i] && w->writer[w->slot[i] - 1].user != user)
		i = (i + 1) % SLOTS;
	return &w->slot[i];
}

/* NULL: nothing of this user waits. */
static struct writer *find_writer(struct waiting *w, uint64_t user)
{
	uint8_t slot = *slot_of(w, user);

	return slot ? &w->writer[slot - 1] : NULL;
}

static struct burst *begin_burst(const struct settings *s, struct waiting *w,
				 const struct text_live *l, unsigned at)
{
	struct writer *author = find_writer(w, l->t.user);
	const struct burst *before = author ? &w->v[author->last] : NULL;
	struct burst *b = &w->v[w->n];

	*b = (struct burst){.user = l->t.user,
			    .since = l->t.at,
			    .until = burst_until(s, l),
			    .at = at,
			    .first = !before,
			    .behind_addressed =
				    before && (before->behind_addressed || before->addresses)};
	if (!author) {
		author = &w->writer[w->n_writers];
		*slot_of(w, l->t.user) = (uint8_t)++w->n_writers;
		*author = (struct writer){.user = l->t.user};
	}
	author->last = w->n++;
	return b;
}

/* A message, and what its author wrote with it. */
static void find_bursts(const struct text_chat *chat, const struct text_channel *ch,
			struct waiting *w)
{
	const struct settings *s = chat->settings;

	w->n = w->n_writers = 0;
	memset(w->slot, 0, sizeof w->slot);
	for (unsigned i = 0; i < ch->n_queue; i++) {
		const struct text_live *l = ch->queue[i];
		struct writer *author;
		struct burst *b;

		if (l->state != TEXT_QUEUED)
			continue;
		author = find_writer(w, l->t.user);
		b = author ? &w->v[author->last] : NULL;
		if (!b || b->n >= s->text_coalesce_most || l->t.at > b->until)
			b = begin_burst(s, w, l, i);
		b->n++;
		b->addresses = b->addresses || text_trigger_addresses(&l->t);
	}
}

/* True if it may be next: it is its author's first, or their first that addresses the bot, which
 * does not wait for what they say to others. */
static bool leads(const struct burst *b)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Branch): find_bursts sets it */
	return b->addresses ? !b->behind_addressed : b->first;
}

static struct members members_of(const struct text_chat *chat, const struct text_channel *ch,
				 const struct burst *b)
{
	struct members m = {.n = 0};

	for (unsigned i = b->at; i < ch->n_queue && m.n < chat->settings->text_coalesce_most; i++) {
		struct text_live *l = ch->queue[i];

		if (l->state == TEXT_QUEUED && l->t.user == b->user && l->t.at <= b->until)
			m.v[m.n++] = l;
	}
	return m;
}

bool text_queue_joins(const struct text_chat *chat, const struct text_channel *ch, uint64_t user)
{
	struct waiting w;

	find_bursts(chat, ch, &w);
	for (unsigned i = 0; i < w.n; i++) {
		const struct burst *b = &w.v[i];

		if (b->user == user && leads(b) && b->n < chat->settings->text_coalesce_most &&
		    b->until >= chat->now && b->addresses)
			return true;
	}
	return false;
}

/* ---- limits ---- */

/* The newest first; false: there are no more within the hour. */
static bool next_send(const struct text_chat *chat, const struct text_channel *ch, uint64_t *i,
		      uint64_t *to)
{
	uint64_t at = --*i % TEXT_SENDS;

	*to = ch->sent_to[at];
	return *i + TEXT_SENDS >= ch->sends && ch->sent_at[at] + HOUR_NS > chat->now;
}

static unsigned sends_to(const struct text_chat *chat, const struct text_channel *ch, uint64_t user)
{
	unsigned n = 0;
	uint64_t i = ch->sends, to;

	while (i && next_send(chat, ch, &i, &to))
		n += to == user;
	return n;
}

void text_queue_note(const struct text_chat *chat, struct text_channel *ch, uint64_t user)
{
	if (ch->wrote[0].user != user)
		ch->wrote[1] = ch->wrote[0];
	ch->wrote[0].user = user;
	ch->wrote[0].at = chat->now;
}

/* True if somebody else has written there within the hour. */
static bool has_others(const struct text_chat *chat, const struct text_channel *ch, uint64_t user)
{
	unsigned i = ch->wrote[0].user == user;

	return ch->wrote[i].user && ch->wrote[i].at + HOUR_NS > chat->now;
}

/* Answers of an hour that this user, who had so many of them, may have: who had a share leaves one
 * to the others who are there, and other talk leaves one to what addresses the bot. */
static unsigned hour_of(const struct text_chat *chat, const struct text_channel *ch, uint64_t user,
			unsigned sends, bool ambient)
{
	unsigned all = chat->settings->text_per_hour, share = all / TEXT_SHARE;
	bool shares = ch->guild && share && sends >= share && has_others(chat, ch, user);

	return ambient || shares ? all - share : all;
}

/* When the limits allow it behind so many answers to others. at: when models may be asked; most:
 * answers of an hour. */
static uint64_t allowed_behind(const struct text_chat *chat, const struct text_channel *ch,
			       uint64_t at, unsigned most, unsigned ahead)
{
	uint64_t spacing = chat->settings->text_spacing_s * NS_PER_S, rate = 0;

	/* None at all, or none within the hour. */
	if (ahead >= most)
		return chat->now + HOUR_NS;
	if (ch->sends)
		rate = ch->sent_at[(ch->sends - 1) % TEXT_SENDS] + spacing;
	if (ahead)
		rate = (rate > chat->now ? rate : chat->now) + ahead * spacing;
	at = rate > at ? rate : at;
	if (ch->sends + ahead >= most)
		rate = ch->sent_at[(ch->sends + ahead - most) % TEXT_SENDS] + HOUR_NS;
	return rate > at ? rate : at;
}

uint64_t text_queue_allowed_at(const struct text_chat *chat, const struct text_channel *ch,
			       uint64_t user, bool ambient)
{
	return allowed_behind(chat, ch, text_spending_at(chat, ch, user, ambient),
			      hour_of(chat, ch, user, sends_to(chat, ch, user), ambient), 0);
}

/* When the burst may be answered: it is whole, and the limits allow a message behind so many. */
static uint64_t start_behind(const struct text_chat *chat, const struct text_channel *ch,
			     struct waiting *w, const struct burst *b, unsigned ahead)
{
	const struct writer *author = find_writer(w, b->user);
	unsigned most = hour_of(chat, ch, b->user, author->sends, !b->addresses);
	uint64_t at = b->n == chat->settings->text_coalesce_most ? b->since : b->until;
	uint64_t rate = text_spending_of(chat, ch, author->spent, !b->addresses);

	rate = allowed_behind(chat, ch, rate, most, ahead);
	return rate > at ? rate : at;
}

/* ---- whose turn it is ---- */

static uint64_t burst_expires_at(const struct burst *b)
{
	return b->since + (b->addresses ? TEXT_WAIT_S : TEXT_AMBIENT_S) * NS_PER_S;
}

/* What each author has had. */
static void weigh_writers(const struct text_chat *chat, const struct text_channel *ch,
			  struct waiting *w)
{
	struct writer *author;
	uint64_t i = ch->sends, to;

	for (unsigned k = 0; k < TEXT_AUTHORS; k++)
		if ((author = find_writer(w, chat->author[k].user)))
			author->spent = &chat->author[k];
	while (i && next_send(chat, ch, &i, &to))
		if ((author = find_writer(w, to)))
			author->sends++;
	for (unsigned k = ch->n_served; k > 0 && k + TEXT_SERVED > ch->n_served; k--)
		if ((author = find_writer(w, ch->served[(k - 1) % TEXT_SERVED])) && !author->served)
			author->served = k;
}

/* Those that may be next, in the order of their turns: first the one whose author's last answer is
 * the longest ago. Returns how many. */
static unsigned order_turns(struct waiting *w, struct burst *turn[TEXT_QUEUE])
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->n; i++) {
		unsigned last = find_writer(w, w->v[i].user)->served, k = n;

		if (!leads(&w->v[i]))
			continue;
		while (k > 0 && last < find_writer(w, turn[k - 1]->user)->served) {
			turn[k] = turn[k - 1];
			k--;
		}
		turn[k] = &w->v[i];
		n++;
	}
	return n;
}

/* How many of those who wait are answered before each burst. */
static void count_ahead(struct burst *const *turn, unsigned n)
{
	unsigned addressed = 0, before[2] = {0};

	for (unsigned i = 0; i < n; i++)
		addressed += turn[i]->addresses;
	for (unsigned i = 0; i < n; i++) {
		struct burst *b = turn[i];

		b->ahead = before[b->addresses] + (b->addresses ? 0 : addressed);
		before[b->addresses] += b->start <= burst_expires_at(b);
	}
}

/* All that waits; turn: as order_turns. */
static unsigned look(const struct text_chat *chat, const struct text_channel *ch, struct waiting *w,
		     struct burst *turn[TEXT_QUEUE])
{
	unsigned n;

	find_bursts(chat, ch, w);
	if (!w->n)
		return 0;
	weigh_writers(chat, ch, w);
	n = order_turns(w, turn);
	for (unsigned i = 0; i < n; i++)
		turn[i]->start = start_behind(chat, ch, w, turn[i], 0);
	count_ahead(turn, n);
	return n;
}

/* Other talk is left alone while what addresses the bot is about to be answered. */
static bool is_held(const struct text_chat *chat, struct burst *const *turn, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (turn[i]->addresses && turn[i]->start <= chat->now + TEXT_AMBIENT_S * NS_PER_S)
			return true;
	return false;
}

/* Whose turn is next: of those who may be answered first, the one whose last answer is the longest
 * ago. NULL: nobody waits. */
static const struct burst *next_burst(const struct text_chat *chat, struct burst *const *turn,
				      unsigned n, uint64_t *at)
{
	bool held = is_held(chat, turn, n);
	const struct burst *best = NULL;

	*at = UINT64_MAX;
	for (unsigned i = 0; i < n; i++) {
		const struct burst *b = turn[i];
		uint64_t start = b->start > chat->now ? b->start : chat->now;

		if (held && !b->addresses)
			continue;
		if (start < *at) {
			best = b;
			*at = start;
		}
	}
	return best;
}

/* People do not wait for an answer to other talk, which goes on. */
static uint64_t expires_at(const struct text_live *l)
{
	return l->t.at + (text_trigger_is_ambient(&l->t) ? TEXT_AMBIENT_S : TEXT_WAIT_S) * NS_PER_S;
}

static void expire(struct text_chat *chat, struct text_channel *ch)
{
	for (unsigned i = ch->n_queue; i > 0; i--)
		if (ch->queue[i - 1]->state == TEXT_QUEUED &&
		    expires_at(ch->queue[i - 1]) <= chat->now)
			text_trigger_end(chat, ch, ch->queue[i - 1], TEXT_REASON_EXPIRED);
}

/* An answer to messages that were missed. False: there were enough of them within the hour. */
static bool may_be_late(struct text_chat *chat, struct text_channel *ch)
{
	if (!ch->late || ch->late_since + HOUR_NS <= chat->now) {
		ch->late = 0;
		ch->late_since = chat->now;
	}
	if (ch->late >= chat->settings->text_catchup_replies)
		return false;
	ch->late++;
	return true;
}

/* Ends those of the burst that were missed, if no more of them may be answered. */
static void limit_late(struct text_chat *chat, struct text_channel *ch, struct members *b)
{
	unsigned n = 0;

	if (!b->n || !b->v[0]->t.late || may_be_late(chat, ch))
		return;
	for (unsigned i = 0; i < b->n; i++)
		if (b->v[i]->t.late)
			text_trigger_end(chat, ch, b->v[i], TEXT_REASON_MISSED_ENOUGH);
		else
			b->v[n++] = b->v[i];
	b->n = n;
}

/* Nothing begins if none of them is admitted any more. */
static void start_burst(struct text_chat *chat, struct text_channel *ch, struct members *b)
{
	bool any = false, addressed = false;

	limit_late(chat, ch, b);
	for (unsigned i = 0; i < b->n; i++)
		addressed = addressed || text_trigger_addresses(&b->v[i]->t);
	for (unsigned i = 0; i < b->n; i++) {
		b->v[i]->t.goes_on = addressed && !text_trigger_addresses(&b->v[i]->t);
		if (text_admission_again(chat, ch, b->v[i])) {
			b->v[i]->state = TEXT_ASKED;
			any = true;
			if (b->v[i]->t.late && text_signal_forces(b->v[i]->t.signal))
				text_admission_owe(chat, ch, b->v[i]);
		}
	}
	if (any)
		text_reply_begin(chat, ch);
}

/* The oldest result is told before the next answer. False: none is, now. */
static bool start_result(struct text_chat *chat, struct text_channel *ch)
{
	struct text_result first = ch->result[0];
	enum text_reason reason;

	if (!ch->n_results || text_queue_allowed_at(chat, ch, 0, false) > chat->now)
		return false;
	memmove(ch->result, ch->result + 1, --ch->n_results * sizeof first);
	reason = text_admission_gate(chat, ch, first.user);
	if (reason) {
		text_result_record(chat, ch, &first, reason);
		free(first.text);
		return start_result(chat, ch);
	}
	text_reply_tell(chat, ch, &first);
	return true;
}

static bool is_late(const struct text_chat *chat, const struct text_channel *ch, struct waiting *w,
		    const struct burst *b)
{
	if (start_behind(chat, ch, w, b, ch->n_queue) <= burst_expires_at(b))
		return false;
	return start_behind(chat, ch, w, b, b->ahead) > burst_expires_at(b);
}

/* The first that the limits would hold for too long; NULL: there is none. */
static const struct burst *find_late(const struct text_chat *chat, const struct text_channel *ch,
				     struct waiting *w)
{
	for (unsigned i = 0; i < w->n; i++)
		if (leads(&w->v[i]) && is_late(chat, ch, w, &w->v[i]))
			return &w->v[i];
	return NULL;
}

/* Those whom the limits would hold for too long are told so at once. Returns how many turns are
 * left. */
static unsigned refuse_late(struct text_chat *chat, struct text_channel *ch, struct waiting *w,
			    struct burst *turn[TEXT_QUEUE])
{
	const struct burst *late;
	unsigned n = look(chat, ch, w, turn);

	while (ch->reply.state == TEXT_REPLY_NONE && (late = find_late(chat, ch, w))) {
		struct members m = members_of(chat, ch, late);

		for (unsigned k = 0; k < m.n; k++)
			text_trigger_end(chat, ch, m.v[k], TEXT_REASON_RATE_LIMITED);
		n = look(chat, ch, w, turn);
	}
	return n;
}

void text_queue_tick(struct text_chat *chat, struct text_channel *ch)
{
	struct waiting w;
	struct burst *turn[TEXT_QUEUE];
	unsigned n = 0;

	expire(chat, ch);
	if (ch->reply.state != TEXT_REPLY_NONE && is_held(chat, turn, look(chat, ch, &w, turn)))
		text_reply_overtake(chat, ch);
	if (ch->reply.state == TEXT_REPLY_NONE && ch->asked_in != chat->steps &&
	    start_result(chat, ch))
		return;
	if (ch->reply.state == TEXT_REPLY_NONE)
		n = refuse_late(chat, ch, &w, turn);
	/* An edit may come when its answer is given up: the next one begins with the next step. */
	while (ch->reply.state == TEXT_REPLY_NONE && ch->asked_in != chat->steps) {
		uint64_t at;
		const struct burst *b = next_burst(chat, turn, n, &at);
		struct members m;

		if (!b || at > chat->now)
			return;
		m = members_of(chat, ch, b);
		start_burst(chat, ch, &m);
		n = look(chat, ch, &w, turn);
	}
}

/* The burst that this message belongs to: its author's last one that begins with it or before. */
static const struct burst *burst_of(const struct text_channel *ch, const struct waiting *w,
				    const struct text_live *l)
{
	const struct burst *b = &w->v[0];
	unsigned at = 0;

	while (ch->queue[at] != l)
		at++;
	for (unsigned i = 0; i < w->n; i++)
		if (w->v[i].user == l->t.user && w->v[i].at <= at)
			b = &w->v[i];
	return b;
}

static enum text_hold hold_of(const struct text_chat *chat, const struct text_channel *ch,
			      struct waiting *w, const struct burst *b)
{
	const struct settings *s = chat->settings;
	const struct writer *author = find_writer(w, b->user);
	unsigned most = hour_of(chat, ch, b->user, author->sends, !b->addresses);
	uint64_t last = ch->sends ? ch->sent_at[(ch->sends - 1) % TEXT_SENDS] : 0;
	uint64_t hour = !most		   ? UINT64_MAX
			: ch->sends < most ? 0
					   : ch->sent_at[(ch->sends - most) % TEXT_SENDS] + HOUR_NS;
	const struct {
		enum text_hold hold;
		uint64_t until;
	} v[] = {
		{TEXT_HOLD_HOUR, hour},
		{TEXT_HOLD_MORE, b->n == s->text_coalesce_most ? b->since : b->until},
		{TEXT_HOLD_SPACING, last ? last + s->text_spacing_s * NS_PER_S : 0},
		{TEXT_HOLD_ASKS, text_spending_of(chat, ch, author->spent, !b->addresses)},
	};
	enum text_hold hold = TEXT_HOLD_OTHERS;
	uint64_t until = chat->now;

	for (size_t i = 0; i < sizeof v / sizeof v[0]; i++)
		if (v[i].until > until) {
			hold = v[i].hold;
			until = v[i].until;
		}
	return hold;
}

enum text_hold text_queue_hold(const struct text_chat *chat, const struct text_channel *ch,
			       const struct text_live *l)
{
	struct waiting w;
	struct burst *turn[TEXT_QUEUE];
	const struct burst *b;

	look(chat, ch, &w, turn);
	b = burst_of(ch, &w, l);
	if (ch->reply.state != TEXT_REPLY_NONE || !leads(b))
		return TEXT_HOLD_OTHERS;
	return hold_of(chat, ch, &w, b);
}

uint64_t text_queue_deadline(const struct text_chat *chat, const struct text_channel *ch)
{
	uint64_t first = UINT64_MAX, at;
	struct waiting w;
	struct burst *turn[TEXT_QUEUE];

	for (unsigned i = 0; i < ch->n_queue; i++)
		if (ch->queue[i]->state == TEXT_QUEUED && expires_at(ch->queue[i]) < first)
			first = expires_at(ch->queue[i]);
	if (ch->reply.state != TEXT_REPLY_NONE)
		return first;
	if (ch->n_results && text_queue_allowed_at(chat, ch, 0, false) < first)
		first = text_queue_allowed_at(chat, ch, 0, false);
	next_burst(chat, turn, look(chat, ch, &w, turn), &at);
	return at < first ? at : first;
}
