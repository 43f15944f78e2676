/* Reports of a mediad: the comparison after HELLO, messages of its calls, and its loss (law 4). */
#include "control/media/call.h"

#include <stdio.h>
#include <stdlib.h>

#include "control/media/music.h"
#include "ipc/env.h"
#include "ipc/http_guard.h"
#include "ipc/log.h"
#include "proto/base/address_list.h"

enum { FIRST_STRAYS = 64, MOST_STRAYS = 65536 };

static struct media_call *find_call(struct media *m, const struct media_link *l, uint32_t id)
{
	for (struct media_call *c = m->calls; c; c = c->next)
		if (c->link == l && c->id == id && (c->open || c->reported))
			return c;
	return NULL;
}

static void store_call_state(struct media_call *call, const struct media_call_state *s)
{
	call->last = *s;
	snprintf(call->mode, sizeof call->mode, "%.*s", (int)s->mode.n, (const char *)s->mode.p);
	call->last.mode = slice_str(call->mode);
	call->has_last = true;
}

static void store_call_secure(struct media_call *call, const struct media_call_secure *s)
{
	call->secure = *s;
	snprintf(call->privacy_code, sizeof call->privacy_code, "%.*s", (int)s->privacy_code.n,
		 (const char *)s->privacy_code.p);
	call->secure.privacy_code = slice_str(call->privacy_code);
	call->has_secure = true;
}

/* The handler may free the call, so the question for credentials is decided before and asked after
 * a look. */
static void report_call_state(struct media_call *call)
{
	struct media *m = call->media;
	struct media_msg msg = {.type = MEDIA_CALL_STATE, .call_state = call->last};

	call->tell = false;
	if (call->h)
		call->h(call, &msg, call->arg);
	for (struct media_call *c = m->calls; c; c = c->next)
		if (c == call) {
			if (c->has_last && c->last.wants_credentials && m->wantsh)
				m->wantsh(c, m->arg);
			return;
		}
}

static void close_stray(const struct stray *s)
{
	struct media_msg msg = {.type = MEDIA_CALL_CLOSE,
				.call_close = {.call = s->call, .gen = s->gen}};

	log_info("call_stray", "call=%u", s->call);
	media_link_send(s->link, &msg);
}

/* A stray that cannot be noted is closed at once: it would go on in its channel until the next
 * HELLO. */
static void note_stray(struct media *m, struct media_link *l, const struct media_call_state *s)
{
	const struct stray stray = {.link = l, .call = s->call, .gen = s->gen};
	size_t cap = m->cap_strays ? 2 * m->cap_strays : FIRST_STRAYS;
	struct stray *more = NULL;

	if (m->n_strays < m->cap_strays) {
		m->strays[m->n_strays++] = stray;
		return;
	}
	if (m->n_strays < MOST_STRAYS)
		more = realloc(m->strays, cap * sizeof *more);
	if (!more) {
		close_stray(&stray);
		return;
	}
	m->strays = more;
	m->cap_strays = cap;
	m->strays[m->n_strays++] = stray;
}

/* While syncing: a call that the mediad holds. */
static void adopt_reported_call(struct media *m, struct media_link *l,
				const struct media_call_state *s)
{
	struct media_call *c = m->calls;

	if (s->call >= m->next_call)
		m->next_call = s->call + 1;
	/* The control before us has left it, and it is on its way out. */
	if (s->phase == MEDIA_PHASE_CLOSED)
		return;
	while (c && (c->want.guild != s->guild || c->open || (c->link && c->link != l)))
		c = c->next;
	if (!c || c->reported) {
		note_stray(m, l, s);
		return;
	}
	c->link = l;
	c->id = s->call;
	c->gen = s->gen;
	c->reported = true;
	c->tell = true;
	log_info("call_found", "guild=%llu path=%s call=%u", (unsigned long long)s->guild,
		 media_link_path(l), s->call);
	store_call_state(c, s);
	for (struct listen *x = c->listens; x; x = x->next)
		x->told = false;
}

/* Only one of the form that is wanted now is kept: its mediad ends captures by it. */
static void adopt_reported_listen(struct media *m, struct media_link *l,
				  const struct media_listening *x)
{
	struct media_call *c = find_call(m, l, x->call);

	if (x->listen >= m->next_listen)
		m->next_listen = x->listen + 1;
	for (struct listen *w = c ? c->listens : NULL; w; w = w->next)
		if (w->user == x->user && w->rate == x->rate && !w->told &&
		    (!x->silence_ms || w->silence_ms == x->silence_ms)) {
			w->id = x->listen;
			w->told = true;
			return;
		}
	if (c)
		media_call_send_unlisten(c, x->listen);
}

/* A fault is about the whole mediad, so the handlers of all its calls hear it. None of them frees a
 * call because of it. */
static void report_fault(struct media *m, const struct media_link *l, const struct media_msg *msg)
{
	for (struct media_call *c = m->calls; c; c = c->next)
		if (c->link == l && c->open && c->h)
			c->h(c, msg, c->arg);
}

/* mediad had no memory for this listen: it is sent again. */
static void note_refused_listen(struct media_call *c, const struct media_heard_end *m)
{
	if (m->reason != MEDIA_REASON_BAD_REQUEST)
		return;
	for (struct listen *l = c->listens; l; l = l->next)
		if (l->id == m->listen) {
			l->told = false;
			media_wake(c->media, MEDIA_RELISTEN_MS);
		}
}

/* False for audio that was under way when its listen ended or its user refused. */
static bool is_wanted_audio(const struct media_call *c, const struct media_heard *m)
{
	const struct listen *l = c->listens;

	while (l && l->id != m->listen)
		l = l->next;
	return l && l->user == m->user && media_call_consents(c, m->user);
}

static bool is_playback_message(unsigned type)
{
	return type >= MEDIA_SAY_OPEN && type <= MEDIA_SAY_STATE;
}

/* Or of a film. */
static bool is_music_message(unsigned type)
{
	return (type >= MEDIA_MUSIC_PLAY && type <= MEDIA_MUSIC_ANALYSIS) ||
	       type == MEDIA_VIDEO_FILM;
}

/* Listens and music outlive a lease like a playback: their ids say whether they are over. Members,
 * and whether they speak, are not repeated when a lease is replaced. A refusal repeats the
 * generation of CALL_OPEN, while the lease has begun the next one. */
static bool outlives_lease(const struct media_msg *msg)
{
	return is_music_message(msg->type) || msg->type == MEDIA_HEARD ||
	       msg->type == MEDIA_HEARD_END || msg->type == MEDIA_SPEAKING ||
	       msg->type == MEDIA_MEMBER ||
	       (msg->type == MEDIA_CALL_STATE && media_refuses_call(&msg->call_state));
}

static bool is_late(const struct media_call *c, const struct media_msg *msg)
{
	return msg->call_close.gen < c->gen && !outlives_lease(msg);
}

void media_on_message(struct media_link *l, const struct media_msg *msg, void *arg)
{
	struct media *m = arg;
	struct media_call *c;

	if (msg->type == MEDIA_FAULT) {
		report_fault(m, l, msg);
		return;
	}
	if (msg->type == MEDIA_CALL_STATE && media_link_state(l) == LINK_HELLO) {
		adopt_reported_call(m, l, &msg->call_state);
		return;
	}
	if (msg->type == MEDIA_LISTENING) {
		adopt_reported_listen(m, l, &msg->listening);
		return;
	}
	c = find_call(m, l, msg->call_close.call);
	if (!c)
		return;
	/* A playback outlives a lease, so only its id says whether it is over. */
	if (is_playback_message(msg->type)) {
		struct media_playback *pb = media_playback_find(c, msg->say_end.playback);

		if (pb)
			media_playback_message(pb, msg);
		else if (media_link_state(l) == LINK_HELLO)
			media_playback_inherit(c, msg);
		return;
	}
	if (is_late(c, msg) || (msg->type == MEDIA_HEARD && !is_wanted_audio(c, &msg->heard)))
		return;
	if (msg->type == MEDIA_VIDEO_FILM && !media_call_take_film(c, &msg->video_film))
		return;
	if (msg->type == MEDIA_CALL_STATE) {
		store_call_state(c, &msg->call_state);
		if (media_call_is_refused(c)) {
			media_call_note_refusal(c);
			if (media_try_next(c))
				return;
		}
		report_call_state(c);
		return;
	}
	if (msg->type == MEDIA_HEARD_END)
		note_refused_listen(c, &msg->heard_end);
	if (msg->type == MEDIA_CALL_SECURE)
		store_call_secure(c, &msg->call_secure);
	if (c->h)
		c->h(c, msg, c->arg);
}

/* Calls that this mediad reported and nobody wants. */
static void close_strays(struct media *m, struct media_link *l)
{
	for (size_t i = 0; i < m->n_strays;) {
		if (m->strays[i].link != l) {
			i++;
			continue;
		}
		close_stray(&m->strays[i]);
		m->strays[i] = m->strays[--m->n_strays];
	}
}

static void forget_strays(struct media *m, const struct media_link *l)
{
	for (size_t i = 0; i < m->n_strays;) {
		if (m->strays[i].link == l)
			m->strays[i] = m->strays[--m->n_strays];
		else
			i++;
	}
}

/* Reports the pending states of link's calls. Those of a mediad that is still reporting its calls
 * wait. A handler may change the list, so each report starts over. */
static void report_pending_states(struct media *m, const struct media_link *link)
{
	struct media_call *c = m->calls;

	while (c) {
		if (c->tell && c->link == link) {
			report_call_state(c);
			c = m->calls;
		} else {
			c = c->next;
		}
	}
}

static bool lacks_address(const struct media *m, const struct media_music_means *d)
{
	const char *rest = m->addresses, *entry;
	struct address_entry e;
	size_t n;

	while (d->guard && (entry = address_list_next(&rest, &n)))
		if (address_entry_read(&e, entry, n) && !http_guard_connects(d->guard, &e))
			return true;
	return false;
}

static enum media_music_lack find_lack(const struct media *m, const struct media_music_means *d)
{
	if (!d->running && (m->n_folders || m->music_web || m->music_downloader))
		return MEDIA_MUSIC_LACKS_DECODERS;
	if (d->n < m->n_folders)
		return MEDIA_MUSIC_LACKS_FOLDER;
	return m->music_web && lacks_address(m, d) ? MEDIA_MUSIC_LACKS_ADDRESS
						   : MEDIA_MUSIC_LACKS_NOTHING;
}

/* Its music would be refused, or be another one. */
static void warn_of_music(const struct media *m, const struct media_link *l)
{
	const struct media_music_means *d = media_link_music_means(l);
	enum media_music_lack lack = d ? find_lack(m, d) : MEDIA_MUSIC_LACKS_NOTHING;

	if (lack)
		log_warn("mediad_without_music",
			 "path=%s lacks=%s running=%d music_roots=%u music_folders=%u hint=\"%s\"",
			 media_link_path(l), media_music_lack_name(lack), d->running, d->n,
			 m->n_folders, media_find_hint(m, l, lack));
}

void media_on_synced(struct media_link *l, void *arg)
{
	struct media *m = arg;
	struct media_call *c, *next;

	media_tell_log(m, l);
	warn_of_music(m, l);
	close_strays(m, l);
	for (c = m->calls; c; c = c->next)
		if (!c->open && c->link == l)
			media_call_bring_up(c);
	media_place_calls(m);
	m->n_synced++;
	log_info("mediad_synced", "path=%s synced=%u of=%u", media_link_path(l), m->n_synced,
		 m->n_links);
	for (c = m->calls; c; c = next) {
		next = c->next;
		if (c->link == l && c->open && c->playbacks)
			media_playbacks_synced(c);
	}
	report_pending_states(m, l);
	if (m->n_synced == 1 && m->linkh)
		m->linkh(true, m->arg);
}

/* Also when the mediad was lost before it was synced: its report of the call counts no more. */
static void mark_call_lost(struct media_call *c, uint64_t now)
{
	if (!c->open && !c->reported && !media_call_is_refused(c))
		return;
	c->open = c->reported = false;
	if (!c->lost_at)
		c->lost_at = now;
	c->last.phase = MEDIA_PHASE_UNKNOWN;
	c->last.reason = MEDIA_REASON_MEDIA_LOST;
	c->last.wants_credentials = false;
	c->has_secure = false;
	c->has_last = c->tell = true;
	media_playbacks_lost(c, now);
}

static unsigned count_synced(const struct media *m)
{
	unsigned n = 0;

	for (unsigned i = 0; i < m->n_links; i++)
		n += media_link_state(m->links[i]) == LINK_SYNCED;
	return n;
}

void media_on_lost(struct media_link *l, void *arg)
{
	struct media *m = arg;
	uint64_t now = env_now(m->env);
	bool was_synced;

	forget_strays(m, l);
	for (struct media_call *c = m->calls; c; c = c->next)
		if (c->link == l)
			mark_call_lost(c, now);
	report_pending_states(m, l);
	was_synced = count_synced(m) < m->n_synced;
	m->n_synced = count_synced(m);
	if (was_synced && m->n_synced == 0 && m->linkh)
		m->linkh(false, m->arg);
	if (m->calls)
		media_wake(m, m->n_links > 1 ? MEDIA_MOVE_MS : MEDIA_RESUME_MS);
}
