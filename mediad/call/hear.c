#include "mediad/call/call_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"

/* A voice server can name any user; more than Discord admits to a channel are not kept. */
enum { PEOPLE_MAX = 16384 };
/* A needed slot is reclaimed from a user who was silent for IDLE_MS and so has no open capture. At
 * most RETURNING slots may be on their way back. */
enum { IDLE_MS = 6000, RETURNING = 64 };
/* Listens of all slots: each open capture of the stream takes an event when the session ends
 * (THREAD_ROOM). */
enum { LISTENS_LENT = CALL_STREAM_SLOTS };

/* ---- persons, sorted by user id ---- */

static size_t find_index(const struct call *c, uint64_t user)
{
	size_t lo = 0, hi = c->n_people;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->people[mid]->user < user)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct person *find_person(struct call *c, uint64_t user)
{
	size_t i = find_index(c, user);

	return i < c->n_people && c->people[i]->user == user ? c->people[i] : NULL;
}

struct person *hear_find(struct call *c, uint64_t user)
{
	return find_person(c, user);
}

static struct person *add_person(struct call *c, uint64_t user)
{
	size_t i = find_index(c, user), cap;
	struct person *p, **more;

	if (i < c->n_people && c->people[i]->user == user)
		return c->people[i];
	if (c->n_people == PEOPLE_MAX)
		return NULL;
	if (c->n_people == c->cap_people) {
		cap = c->cap_people ? c->cap_people * 2 : 16;
		more = realloc(c->people, cap * sizeof(struct person *));
		if (!more)
			return NULL;
		c->people = more;
		c->cap_people = cap;
	}
	p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->user = user;
	memmove(c->people + i + 1, c->people + i, (c->n_people - i) * sizeof(struct person *));
	c->people[i] = p;
	c->n_people++;
	return p;
}

static void drop_person_if_idle(struct call *c, struct person *p)
{
	size_t i = find_index(c, p->user);

	if (p->present || p->consent_known || p->n_listens || p->slot || p->returning)
		return;
	hear_set_ssrc(c, p, 0);
	hear_set_claim(c, p, 0);
	free(p);
	c->n_people--;
	memmove(c->people + i, c->people + i + 1, (c->n_people - i) * sizeof(struct person *));
}

bool hear_has_consent(const struct call *c)
{
	for (size_t i = 0; i < c->n_people && !c->consent; i++)
		if (c->people[i]->consent_known && c->people[i]->consented)
			return true;
	return c->consent;
}

static bool has_consent(const struct call *c, const struct person *p)
{
	return p->consent_known ? p->consented : c->consent;
}

/* ---- the speaker's slot on the audio thread ---- */

/* A slot that missed a command does not do as it should, so it is replaced. */
static bool send_slot_command(struct call *c, struct person *p, struct cmd cmd)
{
	bool sent;

	cmd.slot.slot = p->slot;
	sent = call_command(c, &cmd);
	p->stale = p->stale || !sent;
	return sent;
}

static int lend_listen(struct call *c, struct person *p, const struct listen *l)
{
	struct cmd cmd = {.type = CMD_LISTEN};
	int err = audio_decoder_alloc(&cmd.slot.decoder, l->rate);

	if (err)
		return err;
	cmd.slot.listen = l->id;
	cmd.slot.rate = l->rate;
	cmd.slot.silence_ms = l->silence_ms;
	send_slot_command(c, p, cmd);
	return 0;
}

static void reclaim_slot(struct call *c, struct person *p, enum media_reason reason)
{
	struct cmd cmd = {.type = CMD_SLOT_REMOVE};

	if (!p->slot)
		return;
	cmd.slot.reason = reason;
	if (!send_slot_command(c, p, cmd))
		return; /* hear_replace_slots tries again */
	p->returning++;
	hear_set_slot(c, p, NULL);
	p->stale = p->speaking = false;
}

/* True if a's slot is needed less than b's: without listens, or silent for longer. */
static bool is_needed_less(const struct person *a, const struct person *b)
{
	if (!a->n_listens != !b->n_listens)
		return !a->n_listens;
	return a->spoke_at != b->spoke_at ? a->spoke_at < b->spoke_at : a->user < b->user;
}

/* Returns the person whose slot is needed least, or NULL when every slot is needed. */
static struct person *find_idlest(struct call *c, uint64_t now)
{
	struct person *best = NULL;

	for (unsigned i = 0; i < c->n_lent; i++) {
		struct person *p = c->with_slot[i];

		if (p->speaking || now < p->spoke_at + IDLE_MS * NS_PER_MS)
			continue;
		if (!best || is_needed_less(p, best))
			best = p;
	}
	return best;
}

/* True if the stream has room for n more listens. */
static bool has_listen_room(const struct call *c, unsigned n)
{
	for (unsigned i = 0; i < c->n_lent; i++)
		n += c->with_slot[i]->n_listens;
	return n <= LISTENS_LENT;
}

/* Makes sure that the stream has room for one more slot. A reclaimed slot has left the stream when
 * the next one arrives there. */
static int make_slot_room(struct call *c)
{
	struct person *idle;

	if (c->n_slots < CALL_STREAM_SLOTS)
		return 0;
	if (c->n_slots >= CALL_STREAM_SLOTS + RETURNING)
		return ENOSPC;
	if (c->n_lent < CALL_STREAM_SLOTS)
		return 0;
	idle = find_idlest(c, env_now(c->conf.env));
	if (!idle)
		return ENOSPC;
	reclaim_slot(c, idle, MEDIA_REASON_SILENCE);
	return idle->slot ? ENOMEM : 0;
}

static int lend_slot(struct call *c, struct person *p)
{
	int err = !c->stream || c->leaving ? ENOTCONN : make_slot_room(c);
	struct slot *s;

	if (!err && !has_listen_room(c, p->n_listens))
		err = ENOSPC;
	if (!err)
		err = slot_alloc(&s, c->stream, p->user, has_consent(c, p), c->next_capture);
	if (err)
		return err;
	hear_set_slot(c, p, s);
	if (!send_slot_command(c, p, (struct cmd){.type = CMD_SLOT_ADD})) {
		hear_set_slot(c, p, NULL); /* the command has freed it */
		p->stale = false;
		return ENOMEM;
	}
	c->n_slots++;
	p->spoke_at = env_now(c->conf.env); /* so that a new slot is not reclaimed at once */
	secure_slot(c, p);
	for (unsigned i = 0; i < p->n_listens; i++)
		if (lend_listen(c, p, &p->listens[i]))
			p->stale = true;
	return 0;
}

/* ---- SSRCs ---- */

/* Maps the person's SSRC to a slot, and lends one if needed. Returns false when that fails. */
static bool map_ssrc(struct call *c, struct person *p)
{
	struct cmd cmd = {.type = CMD_SLOT_MAP};
	int err = p->slot ? 0 : lend_slot(c, p);

	if (err) {
		if (!c->refusal_logged)
			log_warn("speaker_refused", "call=%u user=%llu error=\"%s\"", c->id,
				 (unsigned long long)p->user, strerror(err));
		c->refusal_logged = true;
		return false;
	}
	cmd.slot.ssrc = p->ssrc;
	return send_slot_command(c, p, cmd);
}

void hear_replace_slots(struct call *c)
{
	for (size_t i = c->n_people; i-- > 0;) {
		struct person *p = c->people[i];

		if (!p->stale)
			continue;
		reclaim_slot(c, p,
			     has_consent(c, p) ? MEDIA_REASON_SILENCE : MEDIA_REASON_NO_CONSENT);
		if (p->slot)
			return; /* there still is no memory */
		if (p->ssrc)
			map_ssrc(c, p);
	}
}

/* p takes the SSRC from its owner (NULL: it had none). With the new mapping the audio thread ends
 * the old one; without it p would be heard as the owner, by the owner's consent. */
static void take_ssrc(struct call *c, struct person *p, uint32_t ssrc, struct person *owner)
{
	hear_set_ssrc(c, p, ssrc);
	hear_set_claim(c, p, 0);
	p->proven = false;
	if (!map_ssrc(c, p) && owner && owner->slot)
		send_slot_command(c, owner, (struct cmd){.type = CMD_SLOT_MAP});
}

/* p gives up its SSRC, which goes to the member with a claim to it. */
static void release_ssrc(struct call *c, struct person *p)
{
	uint32_t ssrc = p->ssrc;
	struct person *next = hear_find_claimant(c, ssrc);

	hear_set_ssrc(c, p, 0);
	p->proven = false;
	if (next)
		take_ssrc(c, next, ssrc, p);
}

void hear_prove_ssrc(struct call *c, uint64_t user)
{
	struct person *p = find_person(c, user);

	if (p)
		p->proven = p->ssrc != 0;
}

void hear_doubt_ssrc(struct call *c, uint64_t user)
{
	struct person *p = find_person(c, user);
	uint32_t ssrc;

	if (!p || !hear_find_claimant(c, p->ssrc))
		return;
	ssrc = p->ssrc;
	release_ssrc(c, p);
	hear_set_claim(c, p, ssrc);
}

bool hear_unmapped_ssrc(struct call *c, uint32_t ssrc)
{
	struct person *p = hear_find_owner(c, ssrc);

	if (p && !p->slot)
		map_ssrc(c, p);
	return p;
}

/* ---- members ---- */

static void send_member(struct call *c, uint64_t user, bool present)
{
	struct media_msg msg = {.type = MEDIA_MEMBER};

	msg.member.user = user;
	msg.member.present = present;
	call_send(c, &msg, 0);
}

static void remove_member(struct call *c, struct person *p)
{
	uint64_t user = p->user;
	bool was = p->present;

	secure_end_outage(c, p, "left");
	reclaim_slot(c, p, MEDIA_REASON_LEFT);
	hear_set_claim(c, p, 0);
	release_ssrc(c, p);
	p->present = false;
	drop_person_if_idle(c, p);
	if (was)
		send_member(c, user, false);
}

void hear_member(struct call *c, uint64_t user, bool present)
{
	struct person *p = present ? add_person(c, user) : find_person(c, user);

	if (!p)
		return;
	if (!present) {
		remove_member(c, p);
		return;
	}
	p->confirmed = true;
	if (p->present)
		return;
	p->present = true;
	send_member(c, user, true);
}

/* Op 5 may name a user before op 11 does. The voice server alone says whose an SSRC is, and may
 * pass on a member's word for it; end to end, the speaker's key says it. */
void hear_ssrc(struct call *c, uint64_t user, uint32_t ssrc)
{
	struct person *p, *owner;

	hear_member(c, user, true);
	p = find_person(c, user);
	if (!p)
		return;
	if (p->ssrc == ssrc)
		hear_set_claim(c, p, 0); /* the newest op 5 counts */
	if (p->ssrc == ssrc && p->slot)
		return;
	owner = hear_find_owner(c, ssrc);
	if (owner && owner != p && owner->proven) {
		hear_set_claim(c, p, ssrc);
		if (call_may_log(c))
			log_warn("ssrc_contested", "call=%u ssrc=%u user=%llu owner=%llu", c->id,
				 ssrc, (unsigned long long)user, (unsigned long long)owner->user);
		return;
	}
	if (owner == p)
		owner = NULL;
	if (owner) {
		hear_set_ssrc(c, owner, 0);
		hear_set_claim(c, owner, ssrc);
	}
	if (p->ssrc != ssrc)
		release_ssrc(c, p);
	take_ssrc(c, p, ssrc, owner);
}

void hear_end_session(struct call *c)
{
	for (size_t i = 0; i < c->n_people; i++) {
		struct person *p = c->people[i];

		p->confirmed = p->proven = false;
		/* The stream forgets its mapping with CMD_UNLINK. */
		hear_set_ssrc(c, p, 0);
		hear_set_claim(c, p, 0);
	}
}

void hear_drop_unconfirmed(struct call *c)
{
	for (size_t i = c->n_people; i-- > 0;)
		if (c->people[i]->present && !c->people[i]->confirmed)
			remove_member(c, c->people[i]);
}

/* ---- commands ---- */

static struct listen *find_listen(struct person *p, uint32_t id)
{
	for (unsigned i = 0; i < p->n_listens; i++)
		if (p->listens[i].id == id)
			return &p->listens[i];
	return NULL;
}

static void refuse_listen(struct call *c, const struct media_listen *m)
{
	struct media_msg msg = {.type = MEDIA_HEARD_END};

	msg.heard_end.listen = m->listen;
	msg.heard_end.user = m->user;
	msg.heard_end.reason = MEDIA_REASON_BAD_REQUEST;
	call_send(c, &msg, 0);
}

/* Returns true when this listen is open. If control repeats it after a resync, it must be the same.
 */
static bool listen_exists(struct call *c, const struct media_listen *m)
{
	for (size_t i = 0; i < c->n_people; i++) {
		const struct listen *l = find_listen(c->people[i], m->listen);

		if (!l)
			continue;
		if (c->people[i]->user != m->user || l->rate != m->rate)
			refuse_listen(c, m);
		return true;
	}
	return false;
}

void call_listen(struct call *c, const struct media_listen *m)
{
	struct person *p;
	struct listen *l;

	if (listen_exists(c, m))
		return;
	p = m->user ? add_person(c, m->user) : NULL;
	if (!p || !m->listen || p->n_listens == AUDIO_LISTENS || !audio_rate_valid(m->rate) ||
	    m->silence_ms < 100 || m->silence_ms > 5000 || (p->slot && !has_listen_room(c, 1))) {
		refuse_listen(c, m);
		if (p)
			drop_person_if_idle(c, p);
		return;
	}
	l = &p->listens[p->n_listens++];
	*l = (struct listen){.id = m->listen, .rate = m->rate, .silence_ms = m->silence_ms};
	do
		l->flow = ++*c->conf.flows;
	while (!l->flow); /* 0 means no flow */
	if (p->slot && lend_listen(c, p, l)) {
		p->n_listens--;
		refuse_listen(c, m);
	}
}

void call_unlisten(struct call *c, const struct media_unlisten *m)
{
	struct cmd cmd = {.type = CMD_UNLISTEN};

	for (size_t i = 0; i < c->n_people; i++) {
		struct person *p = c->people[i];
		struct listen *l = find_listen(p, m->listen);

		if (!l)
			continue;
		cmd.slot.listen = l->id;
		cmd.slot.reason = MEDIA_REASON_UNLISTENED;
		*l = p->listens[--p->n_listens];
		if (p->slot)
			send_slot_command(c, p, cmd);
		drop_person_if_idle(c, p);
		return;
	}
}

void call_consent(struct call *c, const struct media_consent *m)
{
	struct cmd cmd = {.type = CMD_CONSENT};
	struct person *p = add_person(c, m->user);

	if (!p) {
		log_warn("consent_lost", "call=%u error=memory", c->id);
		if (m->yes)
			return;
		c->lost_refusal = true;
		hear_set_default_consent(c, false);
		call_send_set(c);
		return;
	}
	p->consent_known = p->consent_told = true;
	p->consented = cmd.slot.yes = m->yes;
	if (p->slot)
		send_slot_command(c, p, cmd);
	call_send_set(c);
}

void hear_doubt_consents(struct call *c)
{
	/* Control repeats all refusals before it sets the default consent again. */
	c->lost_refusal = false;
	for (size_t i = 0; i < c->n_people; i++)
		c->people[i]->consent_told = false;
}

void hear_set_default_consent(struct call *c, bool yes)
{
	bool yes_before = c->consent;

	/* Of a refusal that found no memory nobody knows the user, so it counts for all. */
	c->consent = yes && !c->lost_refusal;
	for (size_t i = c->n_people; i-- > 0;) {
		struct person *p = c->people[i];
		bool before = p->consent_known ? p->consented : yes_before;
		struct cmd cmd = {.type = CMD_CONSENT};

		p->consent_known = p->consent_known && p->consent_told;
		cmd.slot.yes = has_consent(c, p);
		if (p->slot && cmd.slot.yes != before)
			send_slot_command(c, p, cmd);
		drop_person_if_idle(c, p);
	}
}

/* ---- events of the audio thread ---- */

static void on_heard(struct call *c, const struct ev *ev)
{
	struct person *p = find_person(c, ev->heard.user);
	struct listen *l = p ? find_listen(p, ev->heard.listen) : NULL;
	struct media_msg msg = {.type = MEDIA_HEARD};

	if (!l || !has_consent(c, p))
		return; /* the listen has ended, or consent was withdrawn, meanwhile */
	msg.heard.listen = ev->heard.listen;
	msg.heard.user = ev->heard.user;
	msg.heard.capture = ev->heard.capture;
	msg.heard.seq = ev->heard.seq;
	msg.heard.rtp = ev->heard.rtp;
	msg.heard.at = ev->heard.at;
	msg.heard.flags = ev->heard.flags;
	msg.heard.level = ev->heard.level;
	msg.heard.gap = l->gap + ev->heard.dropped;
	msg.heard.pcm = (struct slice){(const uint8_t *)ev->heard.pcm, ev->heard.n * 2u};
	c->heard_dropped += ev->heard.dropped;
	l->gap = 0; /* later drops count for the next frame, including a drop of this one */
	call_send(c, &msg, l->flow);
}

void call_heard_dropped(struct call *c, const struct media_heard *msg)
{
	struct person *p = find_person(c, msg->user);
	struct listen *l = p ? find_listen(p, msg->listen) : NULL;

	c->heard_dropped++;
	if (l)
		l->gap += 1 + msg->gap;
}

static void on_heard_end(struct call *c, const struct ev *ev)
{
	struct media_msg msg = {.type = MEDIA_HEARD_END};

	msg.heard_end.listen = ev->heard.listen;
	msg.heard_end.user = ev->heard.user;
	msg.heard_end.capture = ev->heard.capture;
	msg.heard_end.reason = (uint16_t)ev->heard.reason;
	msg.heard_end.at = ev->heard.at;
	call_send(c, &msg, 0);
}

static void on_speaking(struct call *c, const struct ev *ev)
{
	struct person *p = find_person(c, ev->heard.user);
	struct media_msg msg = {.type = MEDIA_SPEAKING};

	if (p && p->slot) {
		p->speaking = ev->heard.on;
		p->spoke_at = env_now(c->conf.env);
	}
	msg.speaking.user = ev->heard.user;
	msg.speaking.on = ev->heard.on;
	msg.speaking.at = ev->heard.at;
	call_send(c, &msg, 0);
}

/* A slot returned. If a person still has it, it found no room in the stream. */
static void on_slot_gone(struct call *c, const struct ev *ev)
{
	struct person *p = find_person(c, ev->slot->user);

	c->n_slots--;
	if (p && p->slot == ev->slot) {
		hear_set_slot(c, p, NULL);
		hear_set_ssrc(c, p, 0);
		p->stale = false;
		if (call_may_log(c))
			log_warn("speaker_refused", "call=%u user=%llu reason=full", c->id,
				 (unsigned long long)p->user);
	} else if (p) {
		p->returning--;
		secure_forget_outage(c, p);
	}
	secure_take_slot(c, ev->slot, p);
	if (p)
		drop_person_if_idle(c, p);
}

void hear_event(struct call *c, const struct ev *ev)
{
	/* A returning person gets a new slot; capture numbers continue to rise. */
	if (ev->type != EV_SLOT_GONE && ev->heard.capture >= c->next_capture)
		c->next_capture = ev->heard.capture + 1;
	switch (ev->type) {
	case EV_HEARD:
		on_heard(c, ev);
		break;
	case EV_HEARD_END:
		on_heard_end(c, ev);
		break;
	case EV_SPEAKING:
		on_speaking(c, ev);
		break;
	default:
		on_slot_gone(c, ev);
		break;
	}
}

void hear_send_all(struct call *c)
{
	for (size_t i = 0; i < c->n_people; i++) {
		const struct person *p = c->people[i];

		if (p->present)
			send_member(c, p->user, true);
	}
	for (size_t i = 0; i < c->n_people; i++) {
		const struct person *p = c->people[i];

		for (unsigned n = 0; n < p->n_listens; n++) {
			struct media_msg msg = {.type = MEDIA_LISTENING};

			msg.listening.listen = p->listens[n].id;
			msg.listening.user = p->user;
			msg.listening.rate = p->listens[n].rate;
			msg.listening.silence_ms = p->listens[n].silence_ms;
			call_send(c, &msg, 0);
		}
	}
}

void hear_free(struct call *c)
{
	/* The stream owns the slots. */
	for (size_t i = 0; i < c->n_people; i++)
		free(c->people[i]);
	free(c->people);
}
