/* The line's end-to-end encryption: keys that come and go, what may leave, who is not heard. */
#include <errno.h>

#include "ipc/env.h"
#include "mediad/dave/session.h"
#include "mediad/engine/line_inside.h"
#include "proto/base/time.h"

/* ---- keys go back ---- */

static void give_back(struct dave_key *key, void *arg)
{
	struct line *l = arg;

	if (key)
		line_tell(l, &(struct ev){.type = EV_DAVE_KEY_GONE, .line = l, .dave_key = key});
}

/* Outside of a command there may be no room above: what does not fit waits here. */
static void spend(struct dave_key *key, void *arg)
{
	struct line *l = arg;

	l->spent[l->n_spent++] = key;
}

static void tell_spent(struct line *l)
{
	while (l->n_spent) {
		struct ev ev = {
			.type = EV_DAVE_KEY_GONE, .line = l, .dave_key = l->spent[l->n_spent - 1]};

		if (!l->uph(&ev, true, l->arg))
			return;
		l->n_spent--;
	}
}

/* The keys of a session that is over open nothing any more. They leave here, a speaker at a time:
 * an opener may hold more than there is room for if all did at once. False: not now. */
static bool renewed(struct line *l, struct slot *s)
{
	if (s->stale && !l->n_spent) {
		dave_opener_clear(s->opener, spend, l);
		s->stale = false;
		l->n_stale--;
		tell_spent(l);
	}
	return !s->stale;
}

/* ---- out ---- */

static void set_gate(struct line *l)
{
	sender_gate(l->sender, l->clear || dave_sealer_ready(l->sealer));
	line_prepare(l);
}

bool line_protect(struct line *l, const struct sender_packet *pkt, uint8_t *buf, size_t cap,
		  struct slice *out)
{
	size_t n;

	*out = (struct slice){pkt->opus, pkt->len};
	if (pkt->silence || l->clear)
		return true;
	if (dave_seal(l->sealer, DAVE_OPUS, pkt->opus, pkt->len, buf, cap, &n))
		return false;
	*out = (struct slice){buf, n};
	if (dave_sealer_wants_next(l->sealer)) {
		struct ev ev = {.type = EV_DAVE_NEXT, .line = l};

		ev.dave.epoch = l->epoch;
		ev.dave.generation = l->generation + 1;
		line_tell(l, &ev);
	}
	return true;
}

static void set_send(struct line *l, struct dave_key *key)
{
	if (!l->linked) {
		give_back(key, l);
		return;
	}
	if (key) {
		l->epoch = dave_key_epoch(key);
		l->generation = dave_key_generation(key);
		l->secured = true;
	}
	give_back(dave_sealer_set(l->sealer, key), l);
	set_gate(l);
}

/* ---- who is not heard ---- */

static void tell_spell(struct line *l, struct slot *s)
{
	struct ev ev = {.type = EV_DAVE_DEAF, .line = l};

	if (!s->spell.owed)
		return;
	ev.dave.user = s->user;
	ev.dave.deaf = s->spell.deaf;
	ev.dave.at = s->spell.deaf ? s->spell.since : env_now(l->env);
	s->spell.owed = !l->uph(&ev, true, l->arg);
}

static void end_spell(struct line *l, struct slot *s)
{
	if (s->spell.deaf) {
		s->spell.ns += env_now(l->env) - s->spell.since;
		s->spell.owed = true;
	}
	s->spell.deaf = false;
	s->spell.run = 0;
}

void line_heard_again(struct line *l, struct slot *s)
{
	end_spell(l, s);
	tell_spell(l, s);
}

void line_refused(struct line *l, struct slot *s, uint64_t at)
{
	if (!s->spell.run++)
		s->spell.since = at;
	if (s->spell.run % DAVE_DEAF_PACKETS == 0) {
		s->spell.count += !s->spell.deaf;
		s->spell.deaf = s->spell.owed = true;
	}
	tell_spell(l, s);
}

void line_opened(struct line *l, struct slot *s, uint64_t epoch)
{
	struct ev ev = {.type = EV_DAVE_PROOF, .line = l};

	line_heard_again(l, s);
	if (epoch && epoch == s->epoch && epoch != s->proved) {
		ev.dave.user = s->user;
		ev.dave.epoch = epoch;
		if (l->uph(&ev, true, l->arg))
			s->proved = epoch;
	}
	if (dave_opener_wants_next(s->opener)) {
		ev.type = EV_DAVE_NEXT;
		ev.dave.user = s->user;
		ev.dave.epoch = s->epoch;
		ev.dave.generation = s->generation + 1;
		line_tell(l, &ev);
	}
}

void line_spell_stats(struct line *l, const struct slot *s, struct slot_stats *out)
{
	out->deaf = s->spell.deaf;
	out->deaf_spells = s->spell.count;
	out->deaf_ns = s->spell.ns + (s->spell.deaf ? env_now(l->env) - s->spell.since : 0);
}

/* ---- in ---- */

bool line_may_open(struct line *l, struct slot *s)
{
	return l->secured && renewed(l, s);
}

static void lend_open(struct line *l, struct slot *s, struct dave_key *key)
{
	if (!l->linked) {
		give_back(key, l);
		return;
	}
	if (s->stale) {
		dave_opener_clear(s->opener, give_back, l);
		s->stale = false;
		l->n_stale--;
	}
	/* A later pair of an epoch before the newest changes nothing about which is the newest. */
	if (dave_key_epoch(key) >= s->epoch) {
		s->epoch = dave_key_epoch(key);
		s->generation = dave_key_generation(key);
	}
	l->secured = true;
	dave_opener_add(s->opener, key, env_now(l->env), give_back, l);
	line_retry(l, s);
}

static void set_clear(struct line *l, bool send, uint64_t until)
{
	if (!l->linked)
		return;
	l->secured = true;
	l->clear = send;
	l->clear_until = until;
	for (unsigned i = 0; i < l->n_slots; i++)
		dave_opener_clear_until(l->slots[i]->opener, until);
	set_gate(l);
	for (unsigned i = 0; i < l->n_slots; i++)
		l->slots[i]->more = l->slots[i]->waiting > 0;
	line_catch_up(l);
}

void line_dave_command(struct line *l, struct cmd *c)
{
	switch (c->type) {
	case CMD_DAVE_CLEAR:
		set_clear(l, c->dave.send, c->dave.until);
		break;
	case CMD_DAVE_SEND:
		set_send(l, c->dave.key);
		break;
	default:
		/* A slot that found no room went back. */
		if (line_has_slot(l, c->dave.slot))
			lend_open(l, c->dave.slot, c->dave.key);
		else
			give_back(c->dave.key, l);
		break;
	}
}

void line_dave_slot(struct line *l, struct slot *s)
{
	dave_opener_clear_until(s->opener, l->clear_until);
}

/* ---- the session is over ---- */

static void close_slot(struct line *l, struct slot *s)
{
	end_spell(l, s);
	s->spell.owed = false; /* nobody asks any more */
	dave_opener_clear_until(s->opener, 0);
	if (s->epoch && !s->stale) {
		s->stale = true;
		l->n_stale++;
	}
	s->epoch = s->proved = 0;
}

void line_dave_close(struct line *l)
{
	give_back(dave_sealer_set(l->sealer, NULL), l);
	l->secured = l->clear = false;
	l->clear_until = 0;
	for (unsigned i = 0; i < l->n_slots; i++)
		close_slot(l, l->slots[i]);
	sender_gate(l->sender, false);
	l->sweep_at = env_now(l->env);
}

/* ---- now and then ---- */

void line_dave_tick(struct line *l, uint64_t now)
{
	struct slot *s;

	l->sweep_at = now + SENDER_TICK_MS * NS_PER_MS;
	tell_spent(l);
	if (!l->n_slots || l->n_spent)
		return;
	s = l->slots[l->sweep_slot++ % l->n_slots];
	tell_spell(l, s);
	if (s->stale)
		renewed(l, s);
	else
		dave_opener_sweep(s->opener, now, spend, l);
	tell_spent(l);
}

uint64_t line_dave_next(const struct line *l)
{
	return l->n_stale || l->n_spent ? l->sweep_at : UINT64_MAX;
}
