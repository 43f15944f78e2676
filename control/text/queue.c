/* Bursts, the limits of a channel, and the start of the next answer (inside.h). */
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "control/text/inside.h"
#include "proto/base/time.h"

#define HOUR_NS (UINT64_C(3600) * NS_PER_S)

struct burst {
	struct text_live *v[TEXT_BURST];
	unsigned n;
};

/* Where Discord keeps from the bot what does not mention it, the window could hold nothing but
 * further mentions. */
static uint64_t burst_until(const struct settings *s, const struct text_live *head)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a burst has its head */
	bool blind = s->text_chat == SETTINGS_TEXT_MENTIONS && head->t.guild;
	uint64_t window = s->text_coalesce_s;

	window = blind && window > TEXT_BLIND_S ? TEXT_BLIND_S : window;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a burst has its head */
	return head->t.at + (window ? window * NS_PER_S + TEXT_GRACE_MS * NS_PER_MS : 0);
}

/* The message, and what its author wrote with it. */
static struct burst burst_from(const struct text_chat *chat, const struct text_channel *ch,
			       unsigned at)
{
	const struct settings *s = chat->settings;
	struct burst b = {.n = 0};

	for (unsigned i = at; i < ch->n_queue && b.n < s->text_coalesce_most; i++) {
		struct text_live *l = ch->queue[i];

		if (l->state == TEXT_QUEUED &&
		    (!b.n || (l->t.user == b.v[0]->t.user && l->t.at <= burst_until(s, b.v[0]))))
			b.v[b.n++] = l;
	}
	return b;
}

static bool addresses(const struct burst *b)
{
	for (unsigned i = 0; i < b->n; i++)
		if (text_trigger_addresses(&b->v[i]->t))
			return true;
	return false;
}

/* The bursts of its author that are before this one. */
struct before {
	unsigned all, addressed;
	bool begins; /* the message is the first of a burst */
};

static struct before look_before(const struct text_chat *chat, const struct text_channel *ch,
				 unsigned at)
{
	const struct settings *s = chat->settings;
	struct before before = {.all = 0};
	const struct text_live *head = NULL;
	bool addressed = false;
	unsigned n = 0;

	for (unsigned i = 0; i <= at; i++) {
		const struct text_live *l = ch->queue[i];

		if (l->state != TEXT_QUEUED || l->t.user != ch->queue[at]->t.user)
			continue;
		if (head && n < s->text_coalesce_most && l->t.at <= burst_until(s, head)) {
			n++;
		} else {
			before.all += head != NULL;
			before.addressed += addressed;
			head = l;
			addressed = false;
			n = 1;
		}
		addressed = addressed || text_trigger_addresses(&l->t);
	}
	before.begins = head == ch->queue[at];
	return before;
}

/* A burst begins with it that may be next: its author's first, or their first that addresses the
 * bot, which does not wait for what they say to others. */
static bool is_head(const struct text_chat *chat, const struct text_channel *ch, unsigned at)
{
	struct before before = look_before(chat, ch, at);
	struct burst b;

	if (!before.begins)
		return false;
	b = burst_from(chat, ch, at);
	return addresses(&b) ? !before.addressed : !before.all;
}

bool text_queue_joins(const struct text_chat *chat, const struct text_channel *ch, uint64_t user)
{
	const struct settings *s = chat->settings;

	for (unsigned i = 0; i < ch->n_queue; i++) {
		struct burst b;

		if (ch->queue[i]->t.user != user || !is_head(chat, ch, i))
			continue;
		b = burst_from(chat, ch, i);
		if (b.n < s->text_coalesce_most && burst_until(s, b.v[0]) >= chat->now &&
		    addresses(&b))
			return true;
	}
	return false;
}

static unsigned sends_to(const struct text_chat *chat, const struct text_channel *ch, uint64_t user)
{
	unsigned n = 0;

	for (uint64_t i = ch->sends; i > 0 && i + TEXT_SENDS > ch->sends; i--) {
		if (ch->sent_at[(i - 1) % TEXT_SENDS] + HOUR_NS <= chat->now)
			break;
		n += ch->sent_to[(i - 1) % TEXT_SENDS] == user;
	}
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

/* Answers of an hour that this user may have: who had a share of them leaves one to the others who
 * are there, and other talk leaves one to what addresses the bot. */
static unsigned hour_of(const struct text_chat *chat, const struct text_channel *ch, uint64_t user,
			bool ambient)
{
	unsigned all = chat->settings->text_per_hour, share = all / TEXT_SHARE;

	if (ambient)
		return all - share;
	return ch->guild && share && sends_to(chat, ch, user) >= share && has_others(chat, ch, user)
		       ? all - share
		       : all;
}

/* When the limits allow it behind so many answers to others. */
static uint64_t allowed_behind(const struct text_chat *chat, const struct text_channel *ch,
			       uint64_t user, bool ambient, unsigned ahead)
{
	uint64_t at = text_spending_at(chat, ch, user, ambient), rate = 0;
	uint64_t spacing = chat->settings->text_spacing_s * NS_PER_S;
	unsigned most = hour_of(chat, ch, user, ambient);

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
	return allowed_behind(chat, ch, user, ambient, 0);
}

/* When the burst may be answered: it is whole, and the limits allow a message behind so many. */
static uint64_t start_behind(const struct text_chat *chat, const struct text_channel *ch,
			     const struct burst *b, unsigned ahead)
{
	const struct settings *s = chat->settings;
	const struct text_live *head = b->v[0];
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a burst has its head */
	uint64_t at = b->n == s->text_coalesce_most ? head->t.at : burst_until(s, head);
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a burst has its head */
	uint64_t rate = allowed_behind(chat, ch, head->t.user, !addresses(b), ahead);

	return rate > at ? rate : at;
}

/* How lately an answer to this user was begun here: 0 for never. */
static unsigned served_at(const struct text_channel *ch, uint64_t user)
{
	for (unsigned i = ch->n_served; i > 0 && i + TEXT_SERVED > ch->n_served; i--)
		if (ch->served[(i - 1) % TEXT_SERVED] == user)
			return i;
	return 0;
}

/* When what addresses the bot may be answered next; UINT64_MAX: none of it waits. */
static uint64_t addressed_at(const struct text_chat *chat, const struct text_channel *ch)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < ch->n_queue; i++) {
		struct burst b;
		uint64_t at;

		if (!is_head(chat, ch, i))
			continue;
		b = burst_from(chat, ch, i);
		at = addresses(&b) ? start_behind(chat, ch, &b, 0) : UINT64_MAX;
		first = at < first ? at : first;
	}
	return first;
}

/* Other talk is left alone while what addresses the bot is about to be answered. */
static bool is_held(const struct text_chat *chat, const struct text_channel *ch)
{
	uint64_t at = addressed_at(chat, ch);

	return at != UINT64_MAX && at <= chat->now + TEXT_AMBIENT_S * NS_PER_S;
}

/* Whose turn is next: of those who may be answered first, the one whose last answer is the longest
 * ago. n 0: nobody waits. */
static struct burst next_burst(const struct text_chat *chat, const struct text_channel *ch,
			       uint64_t *at)
{
	bool held = is_held(chat, ch);
	struct burst best = {.n = 0};
	unsigned served = 0;

	*at = UINT64_MAX;
	for (unsigned i = 0; i < ch->n_queue; i++) {
		struct burst b;
		uint64_t start;
		unsigned last;

		if (!is_head(chat, ch, i))
			continue;
		b = burst_from(chat, ch, i);
		if (held && !addresses(&b))
			continue;
		start = start_behind(chat, ch, &b, 0);
		start = start > chat->now ? start : chat->now;
		last = served_at(ch, b.v[0]->t.user);
		if (start < *at || (start == *at && last < served)) {
			best = b;
			*at = start;
			served = last;
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
static void limit_late(struct text_chat *chat, struct text_channel *ch, struct burst *b)
{
	unsigned n = 0;

	if (!b->v[0]->t.late || may_be_late(chat, ch))
		return;
	for (unsigned i = 0; i < b->n; i++)
		if (b->v[i]->t.late)
			text_trigger_end(chat, ch, b->v[i], TEXT_REASON_MISSED_ENOUGH);
		else
			b->v[n++] = b->v[i];
	b->n = n;
}

/* Nothing begins if none of them is admitted any more. */
static void start_burst(struct text_chat *chat, struct text_channel *ch, struct burst *b)
{
	bool any = false, addressed;

	limit_late(chat, ch, b);
	addressed = addresses(b);
	for (unsigned i = 0; i < b->n; i++) {
		b->v[i]->t.goes_on = addressed && !text_trigger_addresses(&b->v[i]->t);
		if (text_admission_again(chat, ch, b->v[i])) {
			b->v[i]->state = TEXT_ASKED;
			any = true;
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

static uint64_t burst_expires_at(const struct burst *b)
{
	return b->v[0]->t.at + (addresses(b) ? TEXT_WAIT_S : TEXT_AMBIENT_S) * NS_PER_S;
}

/* How many of those who wait are answered before the burst of this head. */
static unsigned count_ahead(const struct text_chat *chat, const struct text_channel *ch,
			    unsigned at)
{
	struct burst b = burst_from(chat, ch, at);
	unsigned served = served_at(ch, ch->queue[at]->t.user), n = 0;
	bool addressed = addresses(&b);

	for (unsigned i = 0; i < ch->n_queue; i++) {
		struct burst other;
		unsigned last;

		if (i == at || !is_head(chat, ch, i))
			continue;
		other = burst_from(chat, ch, i);
		last = served_at(ch, ch->queue[i]->t.user);
		if (addresses(&other) != addressed)
			n += !addressed;
		else if (start_behind(chat, ch, &other, 0) <= burst_expires_at(&other))
			n += last < served || (last == served && i < at);
	}
	return n;
}

static bool is_late(const struct text_chat *chat, const struct text_channel *ch, unsigned at)
{
	struct burst b = burst_from(chat, ch, at);

	if (start_behind(chat, ch, &b, ch->n_queue) <= burst_expires_at(&b))
		return false;
	return start_behind(chat, ch, &b, count_ahead(chat, ch, at)) > burst_expires_at(&b);
}

/* Those whom the limits would hold for too long are told so at once. */
static void refuse_late(struct text_chat *chat, struct text_channel *ch)
{
	for (unsigned i = 0; i < ch->n_queue;) {
		struct burst b;

		if (!is_head(chat, ch, i) || !is_late(chat, ch, i)) {
			i++;
			continue;
		}
		b = burst_from(chat, ch, i);
		for (unsigned k = 0; k < b.n; k++)
			text_trigger_end(chat, ch, b.v[k], TEXT_REASON_RATE_LIMITED);
	}
}

void text_queue_tick(struct text_chat *chat, struct text_channel *ch)
{
	uint64_t at;

	expire(chat, ch);
	if (is_held(chat, ch))
		text_reply_overtake(chat, ch);
	if (ch->reply.state == TEXT_REPLY_NONE && ch->asked_in != chat->steps &&
	    start_result(chat, ch))
		return;
	if (ch->reply.state == TEXT_REPLY_NONE)
		refuse_late(chat, ch);
	/* An edit may come when its answer is given up: the next one begins with the next step. */
	while (ch->reply.state == TEXT_REPLY_NONE && ch->asked_in != chat->steps) {
		struct burst b = next_burst(chat, ch, &at);

		if (!b.n || at > chat->now)
			return;
		start_burst(chat, ch, &b);
	}
}

uint64_t text_queue_deadline(const struct text_chat *chat, const struct text_channel *ch)
{
	uint64_t first = UINT64_MAX, at;

	for (unsigned i = 0; i < ch->n_queue; i++)
		if (ch->queue[i]->state == TEXT_QUEUED && expires_at(ch->queue[i]) < first)
			first = expires_at(ch->queue[i]);
	if (ch->reply.state != TEXT_REPLY_NONE)
		return first;
	if (ch->n_results && text_queue_allowed_at(chat, ch, 0, false) < first)
		first = text_queue_allowed_at(chat, ch, 0, false);
	next_burst(chat, ch, &at);
	return at < first ? at : first;
}
