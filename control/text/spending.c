/* What the bot spends on people (inside.h): asks of models, signs. Each rate
 * is one time, of a leaky bucket: it gives a whole hour's share at once, and then one after the
 * other. */
#include "control/settings/settings.h"
#include "control/text/inside.h"
#include "proto/base/time.h"

#define HOUR_NS (UINT64_C(3600) * NS_PER_S)

/* From when on a further one is within the rate; ambient: within what it leaves to others. */
static uint64_t rate_at(uint64_t until, unsigned per_hour, bool ambient)
{
	uint64_t all = ambient ? HOUR_NS - HOUR_NS / TEXT_SHARE : HOUR_NS, one = HOUR_NS / per_hour;
	uint64_t ahead = all > one ? all - one : 0;

	return until > ahead ? until - ahead : 0;
}

static void take(uint64_t *until, unsigned per_hour, uint64_t now)
{
	*until = (*until > now ? *until : now) + HOUR_NS / per_hour;
}

/* One author has half of what a channel has. */
static unsigned share_of(const struct text_chat *chat)
{
	unsigned all = chat->settings->text_asks_per_hour;

	return all > 1 ? all / 2 : 1;
}

static const struct text_author *find_author(const struct text_chat *chat, uint64_t user)
{
	for (unsigned i = 0; i < TEXT_AUTHORS; i++)
		if (chat->author[i].user == user)
			return &chat->author[i];
	return NULL;
}

static uint64_t left_of(uint64_t until, uint64_t now)
{
	return until > now ? until - now : 0;
}

/* The one who has most of both rates left gives way. */
static struct text_author *open_author(struct text_chat *chat, uint64_t user)
{
	struct text_author *best = chat->author;
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < TEXT_AUTHORS; i++) {
		struct text_author *a = &chat->author[i];
		uint64_t asks = left_of(a->asks_until, chat->now);
		uint64_t decisions = left_of(a->decisions_until, chat->now);

		if (a->user == user)
			return a;
		if (asks + decisions < least) {
			least = asks + decisions;
			best = a;
		}
	}
	*best = (struct text_author){.user = user};
	return best;
}

uint64_t text_spending_at(const struct text_chat *chat, const struct text_channel *ch,
			  uint64_t user, bool ambient)
{
	return text_spending_of(chat, ch, user ? find_author(chat, user) : NULL, ambient);
}

uint64_t text_spending_of(const struct text_chat *chat, const struct text_channel *ch,
			  const struct text_author *a, bool ambient)
{
	uint64_t at = rate_at(ch->asks_until, chat->settings->text_asks_per_hour, ambient);
	uint64_t own = a ? rate_at(a->asks_until, share_of(chat), ambient) : 0;

	return own > at ? own : at;
}

void text_spending_ask(struct text_chat *chat, struct text_channel *ch, uint64_t user)
{
	take(&ch->asks_until, chat->settings->text_asks_per_hour, chat->now);
	if (user)
		take(&open_author(chat, user)->asks_until, share_of(chat), chat->now);
}

bool text_spending_decide(struct text_chat *chat, struct text_channel *ch, uint64_t user)
{
	struct text_author *a = open_author(chat, user);
	unsigned all = chat->settings->text_asks_per_hour;

	if (rate_at(ch->decisions_until, all, false) > chat->now ||
	    rate_at(a->decisions_until, share_of(chat), false) > chat->now)
		return false;
	take(&ch->decisions_until, all, chat->now);
	take(&a->decisions_until, share_of(chat), chat->now);
	return true;
}

bool text_spending_tells(const struct text_chat *chat, struct text_channel *ch)
{
	unsigned all = chat->settings->text_per_hour;

	if (!all || rate_at(ch->stops_until, all, false) > chat->now)
		return false;
	take(&ch->stops_until, all, chat->now);
	return true;
}

/* Those of channels whose state gave way are counted, too. */
bool text_spending_reacts(const struct text_chat *chat, const struct text_channel *ch)
{
	unsigned here = 0, all = 0;

	for (unsigned i = 0; i < TEXT_REACTIONS && i < chat->n_reacted; i++) {
		if (chat->reacted[i].at + HOUR_NS <= chat->now)
			continue;
		all++;
		here += chat->reacted[i].channel == ch->id;
	}
	return all < TEXT_REACTIONS && here < chat->settings->text_reactions_per_hour;
}

void text_spending_react(struct text_chat *chat, const struct text_channel *ch)
{
	unsigned i = chat->n_reacted++ % TEXT_REACTIONS;

	chat->reacted[i].channel = ch->id;
	chat->reacted[i].at = chat->now;
}

bool text_spending_sign(struct text_chat *chat, enum text_effect_type type, uint64_t channel,
			uint64_t user)
{
	unsigned s = type == TEXT_DO_WARN ? TEXT_WARN_S : TEXT_ACKNOWLEDGE_S;
	struct text_signed *place = NULL;

	for (unsigned i = 0; i < TEXT_SIGNS; i++) {
		struct text_signed *p = &chat->sign[i];

		if (p->until <= chat->now)
			place = p;
		else if (p->channel == channel && p->user == user && p->type == type)
			return false;
	}
	if (place)
		*place = (struct text_signed){.type = type,
					      .channel = channel,
					      .user = user,
					      .until = chat->now + s * NS_PER_S};
	return place != NULL;
}

bool text_chat_warns(struct text_chat *chat, uint64_t channel, uint64_t user, uint64_t now)
{
	chat->now = now;
	return text_spending_sign(chat, TEXT_DO_WARN, channel, user);
}
