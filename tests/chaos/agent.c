#include "tests/chaos/agent.h"

#include "control/media/media.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/chaos/ear.h"
#include "tests/chaos/music.h"
#include "tests/chaos/tone.h"

#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum {
	RATE = 24000,
	UTTERANCE = RATE / 3,
	TICK_MS = 20,
	LATE_MS = 100,	    /* it was frozen, or the machine had no time */
	COME_BACK_MS = 120, /* after it lost its place */
	ASK_AGAIN_MS = 700,
	SILENCE_MS = 300,
};

const uint64_t chaos_user[CHAOS_PEOPLE] = {900, 501, 502};

struct agent {
	struct agent_conf conf;
	struct agent_state *st;
	struct env *env;
	struct http *http;
	struct media *media;
	struct media_call *call;
	struct media_playback *say;
	struct chaos_music *music; /* NULL: none */
	struct ear hearing[CHAOS_PEOPLE];
	struct tmr *tick;
	uint64_t said, channel; /* channel: of the newest lease */
	uint64_t ask_at, speak_at, open_at;
	uint64_t ticked_at;
	bool asking, said_over;
};

/* ---- leases ---- */

static void joined(const struct http_resp *resp, void *arg)
{
	struct agent *a = arg;
	json_t *o = resp->err || resp->status != 200
			    ? NULL
			    : json_loadb(resp->body.p, resp->body.n, 0, NULL);
	const char *session = json_string_value(json_object_get(o, "session_id"));
	const char *token = json_string_value(json_object_get(o, "token"));
	const char *endpoint = json_string_value(json_object_get(o, "endpoint"));
	const char *channel = json_string_value(json_object_get(o, "channel_id"));

	a->asking = false;
	if (!a->call)
		goto out;
	if (session && token && endpoint && channel && atomic_load(&a->st->present)) {
		a->channel = strtoull(channel, NULL, 10);
		if (media_call_credentials(a->call, session, token, endpoint, a->channel) == 0) {
			atomic_fetch_add(&a->st->leases, 1);
			goto out;
		}
	}
	a->ask_at = env_now(a->env) + ASK_AGAIN_MS * NS_PER_MS;
out:
	json_decref(o);
}

static void post(struct agent *a, const char *verb, const char *body, http_resp_h *h)
{
	static const char *const headers[] = {"Content-Type: application/json", NULL};
	char url[256];
	struct http_call req = {
		.method = "POST", .url = url, .headers = headers, .body = body, .timeout_ms = 5000};

	snprintf(url, sizeof url, "%s/users/%" PRIu64 "/%s", a->conf.api, chaos_user[a->conf.who],
		 verb);
	req.body_len = strlen(body);
	if (http_request(NULL, a->http, &req, h, a) && h)
		a->asking = false;
}

static void ask(struct agent *a)
{
	char body[128];

	if (a->asking || !a->call)
		return;
	if (atomic_load(&a->st->plant) == PLANT_NO_CREDENTIALS && atomic_load(&a->st->leases))
		return;
	a->asking = true;
	a->ask_at = env_now(a->env) + 5 * ASK_AGAIN_MS * NS_PER_MS;
	snprintf(body, sizeof body, "{\"channel_id\":\"%llu\"}",
		 (unsigned long long)atomic_load(&a->st->channel));
	post(a, "join", body, joined);
}

static void run_errand(struct agent *a)
{
	switch (atomic_exchange(&a->st->errand, ERRAND_NONE)) {
	case ERRAND_NEW_SERVER:
		a->asking = true;
		post(a, "new-server", "{}", joined);
		break;
	case ERRAND_NO_SERVER:
		post(a, "no-server", "{}", NULL);
		media_call_credentials(a->call, "", "", "", a->channel);
		break;
	default:
		break;
	}
}

static void wants(struct media_call *call, void *arg)
{
	(void)call;
	ask(arg);
}

/* ---- speaking ---- */

static void say_event(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
		      unsigned reason, uint64_t at, void *arg)
{
	struct agent *a = arg;

	(void)pb, (void)samples, (void)at;
	if (ev == MEDIA_PB_DRAINED)
		atomic_fetch_add(&a->st->drained, 1);
	else if (ev == MEDIA_PB_STOPPED)
		atomic_fetch_add(&a->st->stopped, 1);
	else
		return;
	if (ev == MEDIA_PB_STOPPED && reason == MEDIA_REASON_NONE)
		atomic_fetch_add(&a->st->unexplained, 1);
	a->said_over = true;
	a->speak_at = env_now(a->env) + (ev == MEDIA_PB_DRAINED ? 0 : 60) * NS_PER_MS;
}

/* As much as nobody notices who listens for tones alone. */
static void add_noise(int16_t *pcm, size_t n)
{
	static uint32_t state = 1;

	for (size_t i = 0; i < n; i++) {
		state = state * 1664525 + 1013904223;
		pcm[i] = (int16_t)(pcm[i] + (int)(state >> 20) - 2048);
	}
}

static void speak(struct agent *a)
{
	unsigned plant = atomic_load(&a->st->plant);
	static int16_t pcm[UTTERANCE];

	if (a->said_over) {
		a->say = media_playback_free(a->say);
		a->said_over = false;
	}
	if (a->say || !a->call || plant == PLANT_SILENT || env_now(a->env) < a->speak_at)
		return;
	tone_make(pcm, UTTERANCE, RATE,
		  plant == PLANT_OTHER_VOICE ? (a->conf.who + 1) % CHAOS_PEOPLE : a->conf.who,
		  a->said);
	if (plant == PLANT_NOISE)
		add_noise(pcm, UTTERANCE);
	if (media_playback_open(&a->say, a->call, RATE, say_event, a)) {
		a->speak_at = env_now(a->env) + 60 * NS_PER_MS;
		return;
	}
	a->said += UTTERANCE;
	media_playback_write(a->say, pcm, UTTERANCE);
	if (plant != PLANT_NO_END)
		media_playback_end(a->say);
}

/* ---- hearing ---- */

static enum chaos_who person_of(uint64_t user)
{
	unsigned w = 0;

	while (w < CHAOS_PEOPLE && chaos_user[w] != user)
		w++;
	return (enum chaos_who)w;
}

static void judge_sound(struct agent *a, enum chaos_who who, const struct media_heard *h,
			const int16_t *pcm, size_t n)
{
	struct ear_frame f = {.pcm = pcm,
			      .n = n,
			      .rate = RATE,
			      .capture = h->capture,
			      .rtp = h->rtp,
			      .now_ms = env_now(a->env) / NS_PER_MS};
	enum ear_fault fault;
	bool music;

	fault = ear_hear(&a->hearing[who], who, &f, &music);
	if (music)
		atomic_fetch_add(&a->st->music_ms[who], (unsigned)(n * 1000 / RATE));
	if (!fault)
		return;
	atomic_fetch_add(&a->st->sound_wrong, 1);
	log_warn("sound_wrong", "of=%s what=\"%s\"", chaos_who_name(who), ear_fault_text(fault));
}

static void heard(struct agent *a, const struct media_heard *f)
{
	static int16_t pcm[MEDIA_PCM_MAX / 2];
	size_t n = f->pcm.n / 2;
	bool loud;
	enum chaos_who whose;

	/* What is made up for a gap is no proof of anything. */
	if (f->flags & 1)
		return;
	memcpy(pcm, f->pcm.p, n * 2);
	if (person_of(f->user) < CHAOS_PEOPLE)
		judge_sound(a, person_of(f->user), f, pcm, n);
	whose = tone_whose(pcm, n, RATE, &loud);
	if (!loud || whose == CHAOS_ALL)
		return;
	if (chaos_user[whose] == f->user)
		atomic_fetch_add(&a->st->heard_ms[whose], (unsigned)(n * 1000 / RATE));
	else
		atomic_fetch_add(&a->st->wrong, 1);
}

static bool needs_reason(unsigned phase)
{
	return phase == MEDIA_PHASE_RESUMING || phase == MEDIA_PHASE_COOLING ||
	       phase == MEDIA_PHASE_FAILED || phase == MEDIA_PHASE_CLOSED;
}

static void on_state(struct agent *a, const struct media_call_state *s)
{
	unsigned was = atomic_exchange(&a->st->phase, s->phase);

	atomic_store(&a->st->reason, s->reason);
	if (!a->channel) /* of the agent before us */
		a->channel = s->channel;
	if (needs_reason(s->phase) && s->reason == MEDIA_REASON_NONE)
		atomic_fetch_add(&a->st->unexplained, 1);
	if (s->phase == MEDIA_PHASE_UP && was != MEDIA_PHASE_UP)
		atomic_fetch_add(&a->st->ups, 1);
	if (s->phase == MEDIA_PHASE_FAILED) {
		atomic_fetch_add(&a->st->failed, 1);
		atomic_store(&a->st->failed_reason, s->reason);
	}
	if (s->phase == MEDIA_PHASE_FAILED ||
	    (s->phase == MEDIA_PHASE_WAITING && !s->wants_credentials))
		a->open_at = env_now(a->env) + COME_BACK_MS * NS_PER_MS;
}

static void on_secure(struct agent *a, const struct media_call_secure *s)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < s->privacy_code.n; i++)
		sum = (sum ^ s->privacy_code.p[i]) * UINT64_C(0x100000001b3);
	atomic_store(&a->st->version, s->version);
	atomic_store(&a->st->members, s->members);
	atomic_store(&a->st->ready, s->ready);
	atomic_store(&a->st->pending, s->pending);
	atomic_store(&a->st->epoch, s->epoch);
	atomic_store(&a->st->code, sum);
}

static void call_event(struct media_call *call, const struct media_msg *m, void *arg)
{
	struct agent *a = arg;

	if (a->music)
		chaos_music_take(a->music, call, m);
	switch (m->type) {
	case MEDIA_CALL_STATE:
		on_state(a, &m->call_state);
		break;
	case MEDIA_CALL_SECURE:
		on_secure(a, &m->call_secure);
		break;
	case MEDIA_HEARD:
		heard(a, &m->heard);
		break;
	case MEDIA_HEARD_END:
		if (m->heard_end.reason == MEDIA_REASON_NONE)
			atomic_fetch_add(&a->st->unexplained, 1);
		break;
	default:
		break;
	}
}

/* ---- being there ---- */

static void open_call(struct agent *a)
{
	struct media_want want = {.guild = UINT64_C(41771983423143937),
				  .channel = atomic_load(&a->st->channel),
				  .bitrate = 64000,
				  .consent = true};

	a->ask_at = a->open_at = 0;
	if (media_call_open(&a->call, a->media, &want, call_event, a))
		return;
	for (unsigned w = 0; w < CHAOS_PEOPLE; w++)
		if (w != a->conf.who)
			media_call_listen(a->call, chaos_user[w], RATE, SILENCE_MS);
}

static void close_call(struct agent *a)
{
	a->say = media_playback_free(a->say);
	a->said_over = false;
	if (a->music)
		chaos_music_leave(a->music);
	a->call = media_call_free(a->call);
	atomic_store(&a->st->phase, MEDIA_PHASE_CLOSED);
	atomic_store(&a->st->members, 0);
}

/* Lost its place, or failed for good: it starts over, as a client that still wants to be in the
 * call.
 */
static void come_back(struct agent *a, uint64_t now)
{
	const struct media_call_state *s = media_call_last(a->call);

	if (a->open_at && now >= a->open_at) {
		a->open_at = 0;
		if (s && s->phase == MEDIA_PHASE_FAILED) {
			close_call(a);
			open_call(a);
		} else if (s && s->phase == MEDIA_PHASE_WAITING) {
			ask(a);
		}
	}
	if (atomic_load(&a->st->plant) == PLANT_RESTLESS && s && s->phase == MEDIA_PHASE_UP &&
	    (!a->ask_at || a->ask_at > now + COME_BACK_MS * NS_PER_MS))
		a->ask_at = now + COME_BACK_MS * NS_PER_MS;
	/* A wish that got no answer is repeated. */
	if (a->ask_at && now >= a->ask_at && s &&
	    (s->wants_credentials || s->phase == MEDIA_PHASE_WAITING ||
	     atomic_load(&a->st->plant) == PLANT_RESTLESS))
		ask(a);
}

static void on_tick(void *arg)
{
	struct agent *a = arg;
	uint64_t now = env_now(a->env);
	bool there = atomic_load(&a->st->present);
	bool late = a->ticked_at && now - a->ticked_at > LATE_MS * NS_PER_MS;

	a->ticked_at = now;
	if (atomic_load(&a->st->quit)) {
		if (!a->call) {
			env_stop(a->env);
			return;
		}
		there = false;
	}
	if (there && !a->call) {
		open_call(a);
	} else if (!there && a->call) {
		/* First comes what mediad has told meanwhile: where the music is. */
		if (late)
			goto out;
		close_call(a);
		post(a, "leave", "{}", NULL);
	} else if (a->call) {
		const struct media_want *want = media_call_want(a->call);

		if (want->channel != atomic_load(&a->st->channel)) {
			struct media_want other = *want;

			other.channel = atomic_load(&a->st->channel);
			media_call_set(a->call, &other);
		}
		/* A move may bring it elsewhere, also where it is not wanted any more. */
		if (atomic_load(&a->st->phase) == MEDIA_PHASE_UP && a->channel != want->channel)
			ask(a);
		run_errand(a);
		come_back(a, now);
		speak(a);
	}
	if (a->music)
		chaos_music_tick(a->music, now);
out:
	tmr_start(a->tick, TICK_MS * NS_PER_MS);
}

int agent_run(const struct agent_conf *conf)
{
	const char *socks[] = {conf->socket, NULL};
	struct env_conf ec = {.loop = true};
	struct agent a = {.conf = *conf, .st = conf->state};
	struct media_conf mc = {.socks = socks,
				.user = chaos_user[conf->who],
				.epoch = conf->epoch,
				.wantsh = wants,
				.arg = &a};
	int err;

	log_init(chaos_who_name(conf->who), LOG_INFO_);
	signal(SIGPIPE, SIG_IGN);
	err = env_alloc(&a.env, &ec);
	if (!err)
		err = http_alloc(&a.http, a.env, NULL, "parley-chaos");
	if (!err)
		err = tmr_alloc(&a.tick, a.env, on_tick, &a);
	if (!err && conf->music)
		err = chaos_music_alloc(&a.music, conf->who, a.st);
	if (!err)
		err = media_alloc(&a.media, a.env, &mc);
	if (!err) {
		tmr_start(a.tick, NS_PER_MS);
		env_run(a.env);
	}
	media_playback_free(a.say);
	media_call_free(a.call);
	media_free(a.media);
	chaos_music_free(a.music);
	tmr_free(a.tick);
	http_free(a.http);
	env_free(a.env);
	return err ? 1 : 0;
}
