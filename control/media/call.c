/* Desired state of one call: the owner sets it, and it is sent now and again after each resync (law
 * 4). */
#include "control/media/call.h"

#include <errno.h>
#include <stdlib.h>

#include "ipc/env.h"

int media_call_send(struct media_call *call, struct media_msg *msg)
{
	if (!call->link)
		return ENOTCONN;
	msg->call_close.call = call->id; /* every message begins with call and generation */
	msg->call_close.gen = call->gen;
	return media_link_send(call->link, msg);
}

/* The consent of users without one of their own. */
static bool default_consent(const struct media_call *call)
{
	return call->want.consent && !call->lost_refusal;
}

/* The mediad that is connected has the call: it is synced, or has reported the call already. */
static bool is_held(const struct media_call *call)
{
	return call->open || call->reported;
}

static void send_set(struct media_call *call)
{
	struct media_msg msg = {.type = MEDIA_CALL_SET,
				.call_set = {.channel = call->want.channel,
					     .bitrate = call->want.bitrate,
					     .complexity = call->want.complexity,
					     .mute = call->want.mute,
					     .deaf = call->want.deaf,
					     .stage = call->want.stage,
					     .e2ee = call->want.e2ee,
					     .consent = default_consent(call) ? MEDIA_CONSENT_YES
									      : MEDIA_CONSENT_NO}};

	media_call_send(call, &msg);
}

static void send_open(struct media_call *call)
{
	struct media_msg msg = {
		.type = MEDIA_CALL_OPEN,
		.call_open = {.guild = call->want.guild,
			      .channel = call->want.channel,
			      .user = call->want.user ? call->want.user : call->media->hello.user,
			      .bitrate = call->want.bitrate,
			      .mute = call->want.mute,
			      .deaf = call->want.deaf,
			      .stage = call->want.stage,
			      .consent = default_consent(call),
			      .retired = call->want.retired,
			      .complexity = call->want.complexity,
			      .e2ee = call->want.e2ee,
			      .stream = call->want.stream}};

	media_call_send(call, &msg);
}

static void send_consent(struct media_call *call, const struct consent *c)
{
	struct media_msg msg = {.type = MEDIA_CONSENT, .consent = {.user = c->user, .yes = c->yes}};

	media_call_send(call, &msg);
}

/* Its number is chosen here, where the mediad has reported the numbers in use. */
static void send_listen(struct media_call *call, struct listen *l)
{
	struct media_msg msg = {.type = MEDIA_LISTEN,
				.listen = {.listen = call->media->next_listen++,
					   .user = l->user,
					   .rate = l->rate,
					   .silence_ms = l->silence_ms}};

	l->id = msg.listen.listen;
	l->told = media_call_send(call, &msg) == 0;
}

void media_call_send_listens(struct media_call *call)
{
	for (struct listen *l = call->open ? call->listens : NULL; l; l = l->next)
		if (!l->told)
			send_listen(call, l);
}

void media_call_send_unlisten(struct media_call *call, uint32_t id)
{
	struct media_msg msg = {.type = MEDIA_UNLISTEN, .unlisten = {.listen = id}};

	media_call_send(call, &msg);
}

int media_call_open(struct media_call **out, struct media *m, const struct media_want *want,
		    media_call_h *h, void *arg)
{
	struct media_call *c;

	if (!out || !m || !want || !want->guild)
		return EINVAL;
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->media = m;
	c->want = *want;
	c->h = h;
	c->arg = arg;
	c->next = m->calls;
	m->calls = c;
	media_place_call(c);
	*out = c;
	return 0;
}

struct media_call *media_call_free(struct media_call *call)
{
	if (!call)
		return NULL;
	if (call->link && is_held(call)) {
		struct media_msg msg = {.type = MEDIA_CALL_CLOSE};

		media_call_send(call, &msg);
		media_link_note_full(call->link, 0);
	}
	media_playbacks_detach(call);
	for (struct media_call **at = &call->media->calls; *at; at = &(*at)->next)
		if (*at == call) {
			*at = call->next;
			break;
		}
	for (struct listen *l = call->listens, *next; l; l = next) {
		next = l->next;
		free(l);
	}
	for (struct consent *c = call->consents, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	media_call_forget_film(call);
	media_watch_calls(call->media);
	free(call);
	return NULL;
}

void media_call_set_handler(struct media_call *call, media_call_h *h, void *arg)
{
	call->h = h;
	call->arg = arg;
}

int media_call_set(struct media_call *call, const struct media_want *want)
{
	if (want->guild != call->want.guild)
		return EINVAL;
	call->want = *want;
	if (call->open)
		send_set(call);
	return 0;
}

const struct media_want *media_call_want(const struct media_call *call)
{
	return &call->want;
}

bool media_refuses_call(const struct media_call_state *s)
{
	return s->phase == MEDIA_PHASE_FAILED && !s->guild;
}

bool media_call_is_refused(const struct media_call *call)
{
	return call->link && call->has_last && media_refuses_call(&call->last);
}

void media_call_note_refusal(struct media_call *call)
{
	call->open = call->reported = false;
	media_playbacks_lost(call, env_now(call->media->env));
}

/* True if the newest state of this lease is that the call has failed. */
static bool has_failed(const struct media_call *call)
{
	return call->has_last && call->last.gen == call->gen &&
	       call->last.phase == MEDIA_PHASE_FAILED;
}

int media_call_credentials(struct media_call *call, const char *session, const char *token,
			   const char *endpoint, uint64_t channel)
{
	struct media_msg msg = {.type = MEDIA_CALL_CREDENTIALS,
				.call_credentials = {.session = slice_str(session),
						     .token = slice_str(token),
						     .endpoint = slice_str(endpoint),
						     .channel = channel}};
	int err;

	if (media_call_is_refused(call))
		media_place_call(call);
	if (!call->open)
		return ENOTCONN;
	if (call->has_last && call->last.gen > call->gen)
		call->gen = call->last.gen;
	msg.call_credentials.after_failure = has_failed(call);
	call->gen++;
	err = media_call_send(call, &msg);
	if (err)
		call->gen--;
	return err;
}

const struct media_call_state *media_call_last(const struct media_call *call)
{
	return call->has_last ? &call->last : NULL;
}

const struct media_call_secure *media_call_secured(const struct media_call *call)
{
	return call->has_secure ? &call->secure : NULL;
}

bool media_call_lacks_real_time(const struct media_call *call)
{
	return call->open && media_link_lacks_real_time(call->link);
}

const struct media_music_means *media_call_music_means(const struct media_call *call)
{
	return call->link ? media_link_music_means(call->link) : NULL;
}

int media_call_verify(struct media_call *call, uint64_t user)
{
	struct media_msg msg = {.type = MEDIA_VERIFY, .verify = {.user = user}};

	return call->open ? media_call_send(call, &msg) : ENOTCONN;
}

uint64_t media_call_guild(const struct media_call *call)
{
	return call->want.guild;
}

static struct owed_listen *find_owed(struct media_call *call, uint64_t user)
{
	for (unsigned i = 0; i < MEDIA_LISTENS_OWED; i++)
		if (call->owed[i].user == user)
			return &call->owed[i];
	return NULL;
}

static void owe_listen(struct media_call *call, uint64_t user, uint32_t rate, uint16_t silence_ms)
{
	struct owed_listen *o = find_owed(call, 0);

	if (!o)
		return;
	*o = (struct owed_listen){.user = user, .rate = rate, .silence_ms = silence_ms};
	media_wake(call->media, MEDIA_RELISTEN_MS);
}

static void forget_owed(struct media_call *call, uint64_t user)
{
	struct owed_listen *o = user ? find_owed(call, user) : NULL;

	if (o)
		*o = (struct owed_listen){0};
}

void media_call_listen_again(struct media_call *call)
{
	for (unsigned i = 0; i < MEDIA_LISTENS_OWED; i++) {
		struct owed_listen o = call->owed[i];

		if (o.user && media_call_listen(call, o.user, o.rate, o.silence_ms))
			return;
	}
}

/* mediad gets it under a new number, because the old one stands for the old form. */
static void change_listen(struct media_call *call, struct listen *l, uint32_t rate,
			  uint16_t silence_ms)
{
	if (is_held(call) && l->told)
		media_call_send_unlisten(call, l->id);
	l->id = 0;
	l->rate = rate;
	l->silence_ms = silence_ms;
	l->told = false;
	if (call->open)
		send_listen(call, l);
}

static void end_listen(struct media_call *call, struct listen **at)
{
	struct listen *l = *at;

	if (is_held(call) && l->told)
		media_call_send_unlisten(call, l->id);
	*at = l->next;
	free(l);
}

int media_call_listen(struct media_call *call, uint64_t user, uint32_t rate, uint16_t silence_ms)
{
	struct listen **at = &call->listens, *l;

	forget_owed(call, user);
	while (*at && (*at)->user != user)
		at = &(*at)->next;
	l = *at;
	if (l && !rate)
		end_listen(call, at);
	else if (l && (l->rate != rate || l->silence_ms != silence_ms))
		change_listen(call, l, rate, silence_ms);
	if (l || !rate)
		return 0;
	l = calloc(1, sizeof *l);
	if (!l) {
		owe_listen(call, user, rate, silence_ms);
		return ENOMEM;
	}
	*l = (struct listen){
		.next = call->listens, .user = user, .rate = rate, .silence_ms = silence_ms};
	call->listens = l;
	if (call->open)
		send_listen(call, l);
	return 0;
}

/* A refusal that cannot be kept counts for everybody without a consent of their own, whatever the
 * owner wants later: nobody knows any more whose it was. */
static void refuse_all(struct media_call *call)
{
	call->lost_refusal = true;
	if (call->open)
		send_set(call);
}

int media_call_consent(struct media_call *call, uint64_t user, bool yes)
{
	struct consent *c = call->consents;

	while (c && c->user != user)
		c = c->next;
	if (!c) {
		c = call->n_consents < MEDIA_CONSENTS_MAX ? calloc(1, sizeof *c) : NULL;
		if (!c && !yes)
			refuse_all(call);
		if (!c)
			return ENOMEM;
		c->user = user;
		c->next = call->consents;
		call->consents = c;
		call->n_consents++;
	} else if (c->yes == yes) {
		return 0;
	}
	c->yes = yes;
	if (call->open)
		send_consent(call, c);
	return 0;
}

bool media_call_listens(const struct media_call *call, uint64_t user)
{
	for (const struct listen *l = call->listens; l; l = l->next)
		if (l->user == user)
			return true;
	return false;
}

bool media_call_consents(const struct media_call *call, uint64_t user)
{
	for (const struct consent *c = call->consents; c; c = c->next)
		if (c->user == user)
			return c->yes;
	return default_consent(call);
}

/* Somebody looks at the music of this call, or a film shows it. */
static bool is_watched(const struct media_call *call)
{
	bool on = call->watches_music;

	for (const struct media_call *c = call->media->calls; c; c = c->next)
		on = on || (c->film.path && c->film.kind == MEDIA_MUSIC_VISUALIZER &&
			    c->film.music == call->want.guild);
	return on;
}

static void send_watch(struct media_call *call)
{
	struct media_msg msg = {.type = MEDIA_MUSIC_WATCH, .music_watch = {.on = is_watched(call)}};

	if (!call->open || msg.music_watch.on == call->watch_told)
		return;
	call->watch_told = msg.music_watch.on;
	media_call_send(call, &msg);
}

void media_watch_calls(struct media *m)
{
	for (struct media_call *c = m->calls; c; c = c->next)
		send_watch(c);
}

void media_call_watch_music(struct media_call *call, bool on)
{
	call->watches_music = on;
	send_watch(call);
}

/* Makes the call known to its mediad: anew, or as it was told. */
void media_call_bring_up(struct media_call *call)
{
	call->lost_at = 0;
	if (!call->reported) {
		call->id = call->media->next_call++;
		call->gen = 0;
		call->has_last = call->has_secure = false;
		for (struct listen *l = call->listens; l; l = l->next)
			l->told = false;
		send_open(call);
	}
	call->open = true;
	for (struct consent *c = call->consents; c; c = c->next)
		send_consent(call, c);
	/* After them: CALL_SET makes mediad forget those of the control before us. */
	if (call->reported)
		send_set(call);
	media_call_send_listens(call);
	media_call_send_video(call);
	call->watch_told = false;
	send_watch(call);
}
