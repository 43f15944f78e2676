#include "mediad/call/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"

/* A voice server can name anybody: more than Discord lets into a channel are not kept. */
enum { PEOPLE_MAX = 16384 };
/* A slot that is needed elsewhere is taken from whoever was silent so long: no capture is open any
 * more. So many may be on their way back. */
enum { IDLE_MS = 6000, RETURNING = 64 };

/* ---- people, sorted by user id ---- */

static size_t place(const struct call *c, uint64_t user)
{
	size_t lo = 0, hi = c->n_people;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->people[mid].user < user)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct person *person(struct call *c, uint64_t user)
{
	size_t i = place(c, user);

	return i < c->n_people && c->people[i].user == user ? &c->people[i] : NULL;
}

struct person *hear_find(struct call *c, uint64_t user)
{
	return person(c, user);
}

/* Pointers to other people move. */
static struct person *person_add(struct call *c, uint64_t user)
{
	size_t i = place(c, user), cap;
	struct person *more;

	if (i < c->n_people && c->people[i].user == user)
		return &c->people[i];
	if (c->n_people == PEOPLE_MAX)
		return NULL;
	if (c->n_people == c->cap_people) {
		cap = c->cap_people ? c->cap_people * 2 : 16;
		more = realloc(c->people, cap * sizeof *more);
		if (!more)
			return NULL;
		c->people = more;
		c->cap_people = cap;
	}
	memmove(&c->people[i + 1], &c->people[i], (c->n_people - i) * sizeof *c->people);
	c->people[i] = (struct person){.user = user};
	c->n_people++;
	return &c->people[i];
}

static void person_drop_if_idle(struct call *c, struct person *p)
{
	size_t i = (size_t)(p - c->people);

	if (p->present || p->asked || p->n_listens || p->slot)
		return;
	memmove(p, p + 1, (c->n_people - i - 1) * sizeof *p);
	c->n_people--;
}

bool hear_anyone(const struct call *c)
{
	for (size_t i = 0; i < c->n_people && !c->consent; i++)
		if (c->people[i].asked && c->people[i].yes)
			return true;
	return c->consent;
}

static bool consents(const struct call *c, const struct person *p)
{
	return p->asked ? p->yes : c->consent;
}

/* ---- the speaker's slot on the audio thread ---- */

static void slot_cmd(struct call *c, struct person *p, struct cmd cmd)
{
	cmd.slot.slot = p->slot;
	call_cmd(c, &cmd);
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
	slot_cmd(c, p, cmd);
	return 0;
}

static void ask_slot_back(struct call *c, struct person *p, enum media_reason reason)
{
	struct cmd cmd = {.type = CMD_SLOT_REMOVE};

	if (!p->slot)
		return;
	cmd.slot.reason = reason;
	slot_cmd(c, p, cmd);
	p->slot = NULL;
	p->speaking = false;
}

/* Who needs a slot least: nobody listens to them, or else they have been silent longest. NULL: all
 * of them do. */
static struct person *idlest(struct call *c, uint64_t now)
{
	struct person *best = NULL;

	for (size_t i = 0; i < c->n_people; i++) {
		struct person *p = &c->people[i];

		if (!p->slot || p->speaking || now < p->spoke + IDLE_MS * NS_PER_MS)
			continue;
		if (!best || (!p->n_listens && best->n_listens) ||
		    (!p->n_listens == !best->n_listens && p->spoke < best->spoke))
			best = p;
	}
	return best;
}

/* The line has room for one more. What is asked back has left it when the next one comes there. */
static int make_room(struct call *c)
{
	struct person *idle;
	size_t used = 0;

	if (c->n_slots < LINE_SLOTS)
		return 0;
	for (size_t i = 0; i < c->n_people; i++)
		used += c->people[i].slot != NULL;
	if (c->n_slots >= LINE_SLOTS + RETURNING)
		return ENOSPC;
	if (used < LINE_SLOTS)
		return 0;
	idle = idlest(c, env_now(c->conf.env));
	if (!idle)
		return ENOSPC;
	ask_slot_back(c, idle, MEDIA_REASON_SILENCE);
	return 0;
}

static int lend_slot(struct call *c, struct person *p)
{
	struct cmd cmd = {.type = CMD_CONSENT};
	int err = !c->line || c->leaving ? ENOTCONN : make_room(c);

	if (!err)
		err = slot_alloc(&p->slot, c->line, p->user, c->next_capture);
	if (err)
		return err;
	c->n_slots++;
	p->spoke = env_now(c->conf.env); /* a place is not taken at once from who got it */
	slot_cmd(c, p, (struct cmd){.type = CMD_SLOT_ADD});
	cmd.slot.yes = consents(c, p);
	slot_cmd(c, p, cmd);
	secure_slot(c, p);
	for (unsigned i = 0; !err && i < p->n_listens; i++)
		err = lend_listen(c, p, &p->listens[i]);
	return err;
}

/* ---- who is there ---- */

static void tell_member(struct call *c, uint64_t user, bool present)
{
	struct media_msg msg = {.type = MEDIA_MEMBER};

	msg.member.user = user;
	msg.member.present = present;
	call_out(c, &msg, 0);
}

static void depart(struct call *c, struct person *p)
{
	uint64_t user = p->user;
	bool was = p->present;

	secure_spell_over(c, p, "left");
	ask_slot_back(c, p, MEDIA_REASON_LEFT);
	p->ssrc = 0;
	p->present = false;
	person_drop_if_idle(c, p);
	if (was)
		tell_member(c, user, false);
}

void hear_member(struct call *c, uint64_t user, bool present)
{
	struct person *p = present ? person_add(c, user) : person(c, user);

	if (!p)
		return;
	if (!present) {
		depart(c, p);
		return;
	}
	p->confirmed = true;
	if (p->present)
		return;
	p->present = true;
	tell_member(c, user, true);
}

/* Their packets go to a slot of theirs. */
static void map_ssrc(struct call *c, struct person *p)
{
	struct cmd cmd = {.type = CMD_SLOT_MAP};
	int err = p->slot ? 0 : lend_slot(c, p);

	if (err) {
		if (!c->refused_told)
			log_warn("speaker_refused", "call=%u user=%llu error=\"%s\"", c->id,
				 (unsigned long long)p->user, strerror(err));
		c->refused_told = true;
		return;
	}
	cmd.slot.ssrc = p->ssrc;
	slot_cmd(c, p, cmd);
}

/* Op 5 may name somebody before op 11 does. */
void hear_ssrc(struct call *c, uint64_t user, uint32_t ssrc)
{
	struct person *p;

	hear_member(c, user, true);
	p = person(c, user);
	if (!p || (p->ssrc == ssrc && p->slot))
		return;
	/* An SSRC has one owner: who had it before may be given it back. */
	for (size_t i = 0; i < c->n_people; i++)
		if (c->people[i].ssrc == ssrc)
			c->people[i].ssrc = 0;
	p->ssrc = ssrc;
	map_ssrc(c, p);
}

bool hear_unheard(struct call *c, uint32_t ssrc)
{
	for (size_t i = 0; i < c->n_people; i++) {
		struct person *p = &c->people[i];

		if (p->ssrc != ssrc)
			continue;
		if (!p->slot)
			map_ssrc(c, p);
		return true;
	}
	return false;
}

void hear_session_over(struct call *c)
{
	for (size_t i = 0; i < c->n_people; i++) {
		c->people[i].confirmed = false;
		c->people[i].ssrc = 0; /* the line forgets them with CMD_UNLINK */
	}
}

void hear_settle(struct call *c)
{
	for (size_t i = c->n_people; i-- > 0;)
		if (c->people[i].present && !c->people[i].confirmed)
			depart(c, &c->people[i]);
}

/* ---- commands ---- */

static struct listen *listen_of(struct person *p, uint32_t id)
{
	for (unsigned i = 0; i < p->n_listens; i++)
		if (p->listens[i].id == id)
			return &p->listens[i];
	return NULL;
}

static void refuse(struct call *c, const struct media_listen *m)
{
	struct media_msg msg = {.type = MEDIA_HEARD_END};

	msg.heard_end.listen = m->listen;
	msg.heard_end.user = m->user;
	msg.heard_end.reason = MEDIA_REASON_BAD_REQUEST;
	call_out(c, &msg, 0);
}

/* True when this listen is open; one that is said again after a resync must be the same. */
static bool listened(struct call *c, const struct media_listen *m)
{
	for (size_t i = 0; i < c->n_people; i++) {
		const struct listen *l = listen_of(&c->people[i], m->listen);

		if (!l)
			continue;
		if (c->people[i].user != m->user || l->rate != m->rate)
			refuse(c, m);
		return true;
	}
	return false;
}

void call_listen(struct call *c, const struct media_listen *m)
{
	struct person *p;
	struct listen *l;

	if (listened(c, m))
		return;
	p = m->user ? person_add(c, m->user) : NULL;
	if (!p || !m->listen || p->n_listens == AUDIO_LISTENS || !audio_rate_valid(m->rate) ||
	    m->silence_ms < 100 || m->silence_ms > 5000) {
		refuse(c, m);
		if (p)
			person_drop_if_idle(c, p);
		return;
	}
	l = &p->listens[p->n_listens++];
	*l = (struct listen){.id = m->listen, .rate = m->rate, .silence_ms = m->silence_ms};
	do
		l->flow = ++*c->conf.flows;
	while (!l->flow); /* 0 is no flow */
	if (p->slot && lend_listen(c, p, l)) {
		p->n_listens--;
		refuse(c, m);
	}
}

void call_unlisten(struct call *c, const struct media_unlisten *m)
{
	struct cmd cmd = {.type = CMD_UNLISTEN};

	for (size_t i = 0; i < c->n_people; i++) {
		struct person *p = &c->people[i];
		struct listen *l = listen_of(p, m->listen);

		if (!l)
			continue;
		cmd.slot.listen = l->id;
		cmd.slot.reason = MEDIA_REASON_UNLISTENED;
		*l = p->listens[--p->n_listens];
		if (p->slot)
			slot_cmd(c, p, cmd);
		person_drop_if_idle(c, p);
		return;
	}
}

void call_consent(struct call *c, const struct media_consent *m)
{
	struct cmd cmd = {.type = CMD_CONSENT};
	struct person *p = person_add(c, m->user);

	if (!p) {
		log_warn("consent_lost", "call=%u error=memory", c->id);
		return;
	}
	p->asked = true;
	p->yes = cmd.slot.yes = m->yes;
	if (p->slot)
		slot_cmd(c, p, cmd);
	call_send_set(c);
}

/* ---- what the audio thread hears ---- */

static void on_heard(struct call *c, const struct ev *ev)
{
	struct person *p = person(c, ev->heard.user);
	struct listen *l = p ? listen_of(p, ev->heard.listen) : NULL;
	struct media_msg msg = {.type = MEDIA_HEARD};

	if (!l)
		return; /* unlistened meanwhile */
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
	l->gap = 0; /* from here on drops count for the next one, this frame's own too */
	call_out(c, &msg, l->flow);
}

void call_heard_dropped(struct call *c, const struct media_heard *msg)
{
	struct person *p = person(c, msg->user);
	struct listen *l = p ? listen_of(p, msg->listen) : NULL;

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
	call_out(c, &msg, 0);
}

static void on_speaking(struct call *c, const struct ev *ev)
{
	struct person *p = person(c, ev->heard.user);
	struct media_msg msg = {.type = MEDIA_SPEAKING};

	if (p && p->slot) {
		p->speaking = ev->heard.on;
		p->spoke = env_now(c->conf.env);
	}
	msg.speaking.user = ev->heard.user;
	msg.speaking.on = ev->heard.on;
	msg.speaking.at = ev->heard.at;
	call_out(c, &msg, 0);
}

/* One that somebody still has found no room on the line. */
static void on_slot_gone(struct call *c, const struct ev *ev)
{
	c->n_slots--;
	for (size_t i = 0; i < c->n_people; i++) {
		if (c->people[i].slot != ev->slot)
			continue;
		c->people[i].slot = NULL;
		c->people[i].ssrc = 0;
		log_warn("speaker_refused", "call=%u user=%llu reason=full", c->id,
			 (unsigned long long)c->people[i].user);
		return;
	}
}

void hear_event(struct call *c, const struct ev *ev)
{
	/* A person who comes back gets a new speaker: captures go on rising. */
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

void hear_tell_all(struct call *c)
{
	for (size_t i = 0; i < c->n_people; i++) {
		const struct person *p = &c->people[i];

		if (p->present)
			tell_member(c, p->user, true);
	}
	for (size_t i = 0; i < c->n_people; i++) {
		const struct person *p = &c->people[i];

		for (unsigned n = 0; n < p->n_listens; n++) {
			struct media_msg msg = {.type = MEDIA_LISTENING};

			msg.listening.listen = p->listens[n].id;
			msg.listening.user = p->user;
			msg.listening.rate = p->listens[n].rate;
			call_out(c, &msg, 0);
		}
	}
}

void hear_free(struct call *c)
{
	/* Slots are the line's. */
	free(c->people);
}
