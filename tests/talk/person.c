#include "tests/talk/person.h"

#include "control/media/media.h"
#include "control/report/secure.h"
#include "ipc/http.h"
#include "proto/discord.h"
#include "proto/media.h"
#include "tests/talk/squelch.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SAYS = 4, /* playbacks at a time; older ones drain while the next begins */
	FADE_MS = 20,
	SILENCE_MS = 500,
	BITRATE = 64000,
	NAME_SIZE = 80,
};

struct other {
	uint64_t user;
	bool speaking;
};

struct person {
	struct person_conf conf;
	char name[NAME_SIZE];
	enum person_phase phase;
	char trouble[200];
	uint64_t user;
	bool muted;
	struct http_req *req; /* the pending request to guildd */
	struct media *media;
	struct media_call *call;
	struct media_playback *says[SAYS];
	struct media_playback *say; /* the playback that gets the audio, one of the above */
	struct squelch squelch;
	int16_t frame[SQUELCH_FRAME_MAX];
	size_t filled; /* bytes of it */
	struct other others[PERSON_OTHERS];
	unsigned n_others;
	char code[48];
};

static void changed(struct person *p)
{
	p->conf.changedh(p->conf.arg);
}

static void fail(struct person *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void fail(struct person *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->trouble, sizeof p->trouble, fmt, ap);
	va_end(ap);
	p->phase = PERSON_FAILED;
	changed(p);
}

/* ---- requests to guildd ---- */

/* POST api/path with this body (stolen). */
static int post(struct person *p, const char *path, json_t *body, struct http_req **req,
		http_resp_h *h, void *arg)
{
	static const char *const headers[] = {"Content-Type: application/json", NULL};
	char url[256], *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	struct http_call call = {.method = "POST", .url = url, .headers = headers, .body = text};
	int err = ENOMEM;

	snprintf(url, sizeof url, "%s%s", p->conf.api, path);
	call.body_len = text ? strlen(text) : 0;
	if (text)
		err = http_request(req, p->conf.http, &call, h, arg);
	free(text);
	json_decref(body);
	return err;
}

static void ask(struct person *p, const char *path, json_t *body, http_resp_h *h)
{
	int err;

	if (p->req)
		http_req_cancel(p->req);
	p->req = NULL;
	err = post(p, path, body, &p->req, h, p);
	if (err)
		fail(p, "The local room cannot be asked: %s.", strerror(err));
}

static void unheeded(const struct http_resp *resp, void *arg)
{
	(void)resp;
	(void)arg;
}

/* Sends a request whose result does not matter; it may outlive the person. */
static void tell(struct person *p, const char *path, json_t *body)
{
	post(p, path, body, NULL, unheeded, NULL);
}

static json_t *id_json(uint64_t id)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, id);
	return json_string(text);
}

/* The response as JSON; NULL, after failing the join, on an error. */
static json_t *answer(struct person *p, const struct http_resp *resp)
{
	json_t *o = resp->err || resp->status != 200
			    ? NULL
			    : json_loadb(resp->body.p, resp->body.n, 0, NULL);

	p->req = NULL;
	if (!o)
		fail(p, "The local room did not let you in (HTTP %d %s).", resp->status,
		     resp->errtext);
	return o;
}

/* The credentials that an application would get from the main gateway. */
static void joined(const struct http_resp *resp, void *arg)
{
	struct person *p = arg;
	json_t *o = answer(p, resp);
	const char *session = json_string_value(json_object_get(o, "session_id"));
	const char *token = json_string_value(json_object_get(o, "token"));
	const char *endpoint = json_string_value(json_object_get(o, "endpoint"));

	/* A mediad that restarts asks again by itself. */
	if (o && (!session || !token || !endpoint))
		fail(p, "The local room's answer made no sense.");
	else if (o)
		media_call_credentials(p->call, session, token, endpoint, p->conf.channel);
	json_decref(o);
}

static void wants(struct media_call *call, void *arg)
{
	struct person *p = arg;
	char path[64];

	(void)call;
	snprintf(path, sizeof path, "/users/%" PRIu64 "/join", p->user);
	ask(p, path,
	    json_pack("{s:o,s:o,s:b}", "guild_id", id_json(p->conf.guild), "channel_id",
		      id_json(p->conf.channel), "self_mute", p->muted),
	    joined);
}

/* ---- the other members ---- */

static struct other *find(struct person *p, uint64_t user)
{
	for (unsigned i = 0; i < p->n_others; i++)
		if (p->others[i].user == user)
			return &p->others[i];
	return NULL;
}

static void on_member(struct person *p, uint64_t user, bool present)
{
	struct other *o = find(p, user);

	if (user == p->user || (o != NULL) == present)
		return;
	if (o)
		*o = p->others[--p->n_others];
	else if (p->n_others < PERSON_OTHERS)
		p->others[p->n_others++] = (struct other){.user = user};
	else
		return;
	media_call_listen(p->call, user, present ? PERSON_RATE : 0, SILENCE_MS);
	changed(p);
}

static void on_state(struct person *p, const struct media_call_state *s)
{
	enum person_phase was = p->phase;

	if (s->phase == MEDIA_PHASE_FAILED) {
		fail(p, "You could not join: %s.", media_reason_text(s->reason));
		return;
	}
	p->phase = s->phase == MEDIA_PHASE_UP || s->phase == MEDIA_PHASE_RESUMING ? PERSON_UP
										  : PERSON_JOINING;
	if (s->phase == MEDIA_PHASE_UNKNOWN)
		p->n_others = 0; /* mediad is gone; the next one reports the members again */
	if (p->phase != PERSON_UP)
		squelch_shut(&p->squelch);
	if (p->phase != was)
		changed(p);
}

static void on_secure(struct person *p, const struct media_call_secure *m)
{
	char code[sizeof p->code];

	secure_code(m, code, sizeof code);
	if (strcmp(code, p->code) == 0)
		return;
	memcpy(p->code, code, sizeof code);
	changed(p);
}

static void call_event(struct media_call *call, const struct media_msg *m, void *arg)
{
	struct person *p = arg;
	struct other *o;

	(void)call;
	switch (m->type) {
	case MEDIA_CALL_STATE:
		on_state(p, &m->call_state);
		break;
	case MEDIA_MEMBER:
		on_member(p, m->member.user, m->member.present);
		break;
	case MEDIA_CALL_SECURE:
		on_secure(p, &m->call_secure);
		break;
	case MEDIA_SPEAKING:
		o = find(p, m->speaking.user);
		if (o && o->speaking != m->speaking.on) {
			o->speaking = m->speaking.on;
			changed(p);
		}
		break;
	case MEDIA_HEARD:
		p->conf.heardh(m->heard.user, m->heard.pcm.p, m->heard.pcm.n, p->conf.arg);
		break;
	default:
		break;
	}
}

/* ---- joining ---- */

static void enter(struct person *p)
{
	struct media_conf mc = {.spawn = p->conf.mediad,
				.ca_file = p->conf.ca_file,
				.run_dir = p->conf.run_dir,
				.user = p->user,
				.epoch = 1,
				.members = true,
				.wantsh = wants,
				.arg = p};
	struct media_want want = {.guild = p->conf.guild,
				  .channel = p->conf.channel,
				  .bitrate = BITRATE,
				  .e2ee = MEDIA_E2EE_PREFER,
				  .consent = true};
	int err = media_alloc(&p->media, p->conf.env, &mc);

	if (!err)
		err = media_call_open(&p->call, p->media, &want, call_event, p);
	if (err)
		fail(p, "Your mediad could not be started: %s.", strerror(err));
}

static void made_member(const struct http_resp *resp, void *arg)
{
	struct person *p = arg;
	json_t *o = answer(p, resp);

	if (o)
		enter(p);
	json_decref(o);
}

static void made_user(const struct http_resp *resp, void *arg)
{
	struct person *p = arg;
	json_t *o = answer(p, resp);
	const char *id = json_string_value(json_object_get(o, "id"));
	char path[64];

	if (o && !discord_snowflake(id, &p->user)) {
		fail(p, "The local room's answer made no sense.");
	} else if (o) {
		snprintf(path, sizeof path, "/guilds/%" PRIu64 "/members", p->conf.guild);
		ask(p, path, json_pack("{s:o}", "user_id", id_json(p->user)), made_member);
	}
	json_decref(o);
}

int person_alloc(struct person **out, const struct person_conf *conf)
{
	struct person *p;

	if (!out || !conf || !conf->env || !conf->http || !conf->changedh || !conf->heardh)
		return EINVAL;
	p = calloc(1, sizeof *p);
	if (!p)
		return ENOMEM;
	p->conf = *conf;
	snprintf(p->name, sizeof p->name, "%s", conf->name);
	if (squelch_init(&p->squelch, conf->rate)) {
		free(p);
		return EINVAL;
	}
	*out = p;
	ask(p, "/users", json_pack("{s:s}", "name", p->name), made_user);
	return 0;
}

struct person *person_free(struct person *p)
{
	char path[64];

	if (!p)
		return NULL;
	if (p->req)
		http_req_cancel(p->req);
	if (p->user) {
		snprintf(path, sizeof path, "/users/%" PRIu64 "/leave", p->user);
		tell(p, path, json_object());
	}
	for (unsigned i = 0; i < SAYS; i++)
		media_playback_free(p->says[i]);
	media_call_free(p->call);
	media_free(p->media);
	free(p);
	return NULL;
}

/* ---- speaking ---- */

static void say_event(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
		      unsigned reason, uint64_t at_ns, void *arg)
{
	struct person *p = arg;

	(void)samples;
	(void)reason;
	(void)at_ns;
	if (ev != MEDIA_PB_DRAINED && ev != MEDIA_PB_STOPPED)
		return;
	if (p->say == pb)
		p->say = NULL;
	for (unsigned i = 0; i < SAYS; i++)
		if (p->says[i] == pb)
			p->says[i] = media_playback_free(pb);
}

static void open_say(struct person *p)
{
	unsigned i = 0;

	while (i < SAYS && p->says[i])
		i++;
	if (i < SAYS && media_playback_open(&p->says[i], p->call, p->conf.rate, say_event, p) == 0)
		p->say = p->says[i];
}

/* A sentence that lost its playback continues in another; without a free place it is not sent. */
static void write_frame(struct person *p, const int16_t *pcm)
{
	if (!p->say)
		open_say(p);
	if (p->say)
		media_playback_write(p->say, pcm, p->squelch.frame);
}

static void end_say(struct person *p)
{
	struct media_playback *pb = p->say;

	p->say = NULL;
	if (pb)
		media_playback_end(pb);
}

static void one_frame(struct person *p)
{
	const int16_t *pcm;

	switch (squelch_frame(&p->squelch, p->frame)) {
	case SQUELCH_SHUT:
		break;
	case SQUELCH_OPENS:
		for (unsigned i = 0; (pcm = squelch_kept(&p->squelch, i)); i++)
			write_frame(p, pcm);
		changed(p);
		break;
	case SQUELCH_OPEN:
		write_frame(p, p->frame);
		break;
	case SQUELCH_CLOSES:
		end_say(p);
		changed(p);
		break;
	}
}

void person_speak(struct person *p, const uint8_t *pcm, size_t n)
{
	size_t whole = p->squelch.frame * sizeof *p->frame;

	if (p->muted || p->phase != PERSON_UP)
		return;
	n -= n % sizeof *p->frame;
	while (n) {
		size_t k = n < whole - p->filled ? n : whole - p->filled;

		memcpy((uint8_t *)p->frame + p->filled, pcm, k);
		p->filled += k;
		pcm += k;
		n -= k;
		if (p->filled == whole) {
			p->filled = 0;
			one_frame(p);
		}
	}
}

void person_mute(struct person *p, bool on)
{
	char path[64];

	if (p->muted == on)
		return;
	p->muted = on;
	squelch_shut(&p->squelch);
	p->filled = 0;
	p->say = NULL;
	for (unsigned i = 0; i < SAYS; i++)
		if (on && p->says[i])
			media_playback_stop(p->says[i], FADE_MS);
	if (p->user) {
		snprintf(path, sizeof path, "/users/%" PRIu64 "/voice", p->user);
		tell(p, path, json_pack("{s:b}", "self_mute", on));
	}
	changed(p);
}

/* ---- state ---- */

enum person_phase person_phase(const struct person *p)
{
	return p->phase;
}

const char *person_trouble(const struct person *p)
{
	return p->trouble;
}

uint64_t person_user(const struct person *p)
{
	return p->user;
}

const char *person_name(const struct person *p)
{
	return p->name;
}

bool person_muted(const struct person *p)
{
	return p->muted;
}

bool person_speaking(const struct person *p)
{
	return p->squelch.open;
}

const char *person_code(const struct person *p)
{
	return p->code;
}

bool person_other(const struct person *p, unsigned i, uint64_t *user, bool *speaking)
{
	if (i >= p->n_others)
		return false;
	*user = p->others[i].user;
	*speaking = p->others[i].speaking;
	return true;
}
