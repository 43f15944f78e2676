#include "tests/sound/call.h"

#include "control/media/media.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/sound/background.h"
#include "tests/sound/items.h"
#include "tests/sound/mic.h"
#include "tests/sound/talk.h"
#include "tests/join.h"

#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BOT = 900,
	PERSON = 601, /* the first of the people */
	PEOPLE = 3,   /* the asker, another, and one who listens to the bot */
	LISTENER = 2,
	ROOMS = 16,
	JOIN_MS = 30000,
	SETTLE_MS = 1500,
	NOISE_MS = 8000,  /* of noise before the first question */
	STAGGER_MS = 317, /* the rooms do not speak in step */
	LOOP_S = 20,
	ECHO_DB = -20,
	FAN_DBFS = -40,
	MUSIC_DBFS = -42,
};

struct person {
	struct room *room;
	struct media_call *call;
	struct mic *mic;
	bool up, bot_here;
};

struct room {
	uint64_t guild, channel, text;
	struct person person[PEOPLE];
	struct talk *talk;
	int16_t *background[2];
};

static struct {
	const struct call_conf *conf;
	struct env *env;
	struct tmr *tmr, *tick;
	struct http *http;
	struct media *media[PEOPLE];
	struct item *items;
	size_t n;
	struct room room[ROOMS];
	unsigned rooms;
	bool replied;
	json_t *reply;
	FILE *played;
	uint64_t t0;
} w;

__attribute__((format(printf, 1, 2))) static _Noreturn void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "sound: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(1);
}

/* ---- the loop, and guildd's control API ---- */

static void on_tmr(void *arg)
{
	(void)arg;
	env_stop(w.env);
}

static void run(unsigned ms)
{
	tmr_start(w.tmr, ms * NS_PER_MS);
	env_run(w.env);
}

static void on_reply(const struct http_resp *resp, void *arg)
{
	(void)arg;
	if (resp->err || resp->status / 100 != 2)
		die("guildd: HTTP %d %s", resp->status, resp->errtext);
	w.reply = json_loadb(resp->body.p, resp->body.n, JSON_DECODE_ANY, NULL);
	w.replied = true;
}

static const char *const json_headers[] = {"Content-Type: application/json", NULL};

/* Returns the id of what was made. */
__attribute__((format(printf, 2, 3))) static uint64_t post(const char *path, const char *fmt, ...)
{
	char url[256], body[512];
	struct http_call call = {
		.method = "POST", .url = url, .headers = json_headers, .body = body};
	const char *id;
	uint64_t n;
	va_list ap;

	snprintf(url, sizeof url, "%s%s", w.conf->api, path);
	va_start(ap, fmt);
	vsnprintf(body, sizeof body, fmt, ap);
	va_end(ap);
	call.body_len = strlen(body);
	w.replied = false;
	if (http_request(NULL, w.http, &call, on_reply, NULL))
		die("no request");
	for (unsigned ms = 0; !w.replied; ms += 10) {
		if (ms > JOIN_MS)
			die("guildd does not answer %s", path);
		run(10);
	}
	id = json_string_value(json_object_get(w.reply, "id"));
	n = id ? strtoull(id, NULL, 10) : 0;
	json_decref(w.reply);
	return n;
}

/* ---- calls ---- */

static void on_call(struct media_call *call, const struct media_msg *m, void *arg)
{
	struct person *p = arg;
	bool listens = p == &p->room->person[LISTENER];

	switch (m->type) {
	case MEDIA_CALL_STATE:
		if (m->call_state.phase == MEDIA_PHASE_FAILED)
			die("a call failed: %s", media_reason_text(m->call_state.reason));
		if (m->call_state.phase == MEDIA_PHASE_UP && !p->up && listens)
			media_call_listen(call, BOT, MIC_LOW, 1000);
		p->up = m->call_state.phase == MEDIA_PHASE_UP;
		break;
	case MEDIA_MEMBER:
		if (m->member.user == BOT)
			p->bot_here = m->member.present;
		break;
	case MEDIA_HEARD:
		if (m->heard.user == BOT && p->room->talk)
			talk_hears(p->room->talk, &m->heard);
		break;
	case MEDIA_HEARD_END:
		if (p->room->talk)
			talk_capture_ends(p->room->talk);
		break;
	default:
		break;
	}
}

static void on_lease(const struct http_resp *resp, void *arg)
{
	struct person *p = arg;

	if (join_take_lease(p->call, resp, p->room->channel))
		die("guildd lets nobody join: HTTP %d", resp->status);
}

/* arg: the media link of one person in all rooms. */
static void on_wants(struct media_call *call, void *arg)
{
	unsigned who = (unsigned)((struct media **)arg - w.media);
	unsigned i = 0;

	while (i < w.rooms && w.room[i].guild != media_call_guild(call))
		i++;
	if (i == w.rooms)
		die("a call of no room");
	if (join_request(w.http, w.conf->api, PERSON + who, w.room[i].guild, w.room[i].channel,
			 on_lease, &w.room[i].person[who]))
		die("no request");
}

/* ---- what each microphone is like ---- */

static double between(uint64_t *random, double from, double to)
{
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return from + (to - from) * (double)(*random >> 33) / 2147483648.0;
}

/* In each room one of three has the fan, one the music and one the echo, by turns. */
static void noise_choose(struct mic_conf mc[PEOPLE], struct room *r, unsigned i)
{
	size_t n = (size_t)LOOP_S * MIC_RATE;
	struct mic_conf *fan = &mc[i % PEOPLE], *music = &mc[(i + 1) % PEOPLE];

	r->background[0] = background_make(BACKGROUND_FAN, n, FAN_DBFS, w.conf->seed + i);
	r->background[1] = background_make(BACKGROUND_MUSIC, n, MUSIC_DBFS, w.conf->seed + 99 + i);
	fan->background = r->background[0];
	music->background = r->background[1];
	fan->background_n = music->background_n = n;
	mc[(i + 2) % PEOPLE].echo = pow(10, ECHO_DB / 20.0);
}

/* The asker's microphone is open at -35 to -20 dBFS; the voice is 8 to 15 dB louder. */
static void open_mic_choose(struct mic_conf *mc, struct room *r, unsigned i)
{
	static const enum background kinds[] = {BACKGROUND_HISS, BACKGROUND_FAN, BACKGROUND_MUSIC};
	uint64_t random = w.conf->seed * 77 + i;
	double level = between(&random, -35, -20);
	double over = between(&random, 8, 15);

	mc->background_n = (size_t)LOOP_S * MIC_RATE;
	r->background[0] = background_make(kinds[i % 3], mc->background_n, level, random);
	mc->background = r->background[0];
	mc->gain = pow(10, (level + over + 23) / 20);
	printf("room %u: %s at %.1f dBFS, voice %.1f dB louder\n", i,
	       (const char *[]){"hiss", "fan", "music"}[i % 3], level, over);
}

static int file_open(unsigned room, const char *what)
{
	char path[1024];
	int fd;

	snprintf(path, sizeof path, "%s/room-%u-%s.pcm", w.conf->folder, room, what);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	if (fd < 0)
		die("cannot write %s", path);
	return fd;
}

static void room_begin(struct room *r, unsigned i)
{
	static const char *const names[PEOPLE] = {"asker", "other", "listener"};
	struct mic_conf mc[PEOPLE];
	struct talk_conf tc = {.room = i,
			       .items = w.items,
			       .n = w.n,
			       .played = w.played,
			       .t0 = w.t0,
			       .first = w.t0 + i * STAGGER_MS * NS_PER_MS};
	uint64_t random = w.conf->seed + i * 1000;

	for (unsigned k = 0; k < PEOPLE; k++)
		mc[k] = (struct mic_conf){.gain = 1, .record = file_open(i, names[k]), .t0 = w.t0};
	if (w.conf->noise) {
		noise_choose(mc, r, i);
		tc.first += NOISE_MS * NS_PER_MS;
	}
	if (w.conf->open_mic_s) {
		open_mic_choose(&mc[0], r, i);
		between(&random, 0, 1);
		tc.first += (uint64_t)(between(&random, 0.3, 0.97) * w.conf->open_mic_s * 1e9);
	}
	for (unsigned k = 0; k < PEOPLE; k++)
		if (mic_alloc(&r->person[k].mic, w.env, r->person[k].call, &mc[k]) ||
		    mic_start(r->person[k].mic))
			die("no microphone");
	tc.asker = r->person[0].mic;
	tc.other = r->person[1].mic;
	for (unsigned k = 0; k < PEOPLE; k++)
		if (mc[k].echo > 0)
			tc.echo = r->person[k].mic;
	tc.record = file_open(i, "bot");
	if (talk_alloc(&r->talk, w.env, &tc))
		die("no memory");
}

static void on_tick(void *arg)
{
	bool on = false;

	(void)arg;
	for (unsigned i = 0; i < w.rooms; i++) {
		for (unsigned k = 0; k < PEOPLE; k++)
			mic_tick(w.room[i].person[k].mic);
		on |= talk_tick(w.room[i].talk);
	}
	if (on)
		tmr_start(w.tick, MIC_FRAME_MS * NS_PER_MS);
	else
		env_stop(w.env);
}

/* ---- setting up ---- */

static void room_make(struct room *r, unsigned i)
{
	char path[96];

	r->guild = post("/guilds", "{\"name\":\"room%u\",\"owner_id\":\"%d\"}", i, PERSON);
	snprintf(path, sizeof path, "/guilds/%" PRIu64 "/members", r->guild);
	post(path, "{\"user_id\":\"%d\"}", BOT);
	for (unsigned k = 0; k < PEOPLE; k++)
		post(path, "{\"user_id\":\"%u\"}", PERSON + k);
	snprintf(path, sizeof path, "/guilds/%" PRIu64 "/channels", r->guild);
	r->text = post(path, "{\"type\":\"text\",\"name\":\"text\"}");
	r->channel = post(path, "{\"type\":\"voice\",\"name\":\"voice\"}");
}

static void room_join(struct room *r)
{
	struct media_want want = {.guild = r->guild,
				  .channel = r->channel,
				  .bitrate = 64000,
				  .e2ee = MEDIA_E2EE_PREFER,
				  .consent = true};

	for (unsigned k = 0; k < PEOPLE; k++) {
		r->person[k].room = r;
		if (media_call_open(&r->person[k].call, w.media[k], &want, on_call, &r->person[k]))
			die("no call");
	}
	post("/interactions",
	     "{\"user_id\":\"%d\",\"channel_id\":\"%" PRIu64
	     "\",\"name\":\"join\",\"options\":[{\"name\":\"channel\",\"type\":7,"
	     "\"value\":\"%" PRIu64 "\"}]}",
	     PERSON, r->text, r->channel);
}

static bool all_here(void)
{
	for (unsigned i = 0; i < w.rooms; i++)
		for (unsigned k = 0; k < PEOPLE; k++)
			if (!w.room[i].person[k].up || !w.room[i].person[k].bot_here)
				return false;
	return true;
}

static void world_make(void)
{
	static const char *const names[PEOPLE] = {"Quirin", "Xanthe", "Zebedee"};

	for (unsigned k = 0; k < PEOPLE; k++) {
		struct media_conf mc = {.spawn = w.conf->mediad,
					.ca_file = w.conf->ca,
					.run_dir = w.conf->folder,
					.user = PERSON + k,
					.epoch = 1,
					.members = true,
					.wantsh = on_wants,
					.arg = &w.media[k]};

		post("/users", "{\"id\":\"%u\",\"name\":\"%s\"}", PERSON + k, names[k]);
		if (media_alloc(&w.media[k], w.env, &mc))
			die("no mediad");
	}
	for (unsigned i = 0; i < w.rooms; i++)
		room_make(&w.room[i], i);
	for (unsigned i = 0; i < w.rooms; i++)
		room_join(&w.room[i]);
	for (unsigned ms = 0; !all_here(); ms += 50) {
		if (ms > JOIN_MS)
			die("not everybody is in their call after %d s", JOIN_MS / 1000);
		run(50);
	}
	run(SETTLE_MS);
}

static void world_end(void)
{
	unsigned late = 0;

	for (unsigned i = 0; i < w.rooms; i++) {
		w.room[i].talk = talk_free(w.room[i].talk);
		for (unsigned k = 0; k < PEOPLE; k++) {
			late += mic_late(w.room[i].person[k].mic);
			mic_free(w.room[i].person[k].mic);
			media_call_free(w.room[i].person[k].call);
		}
		free(w.room[i].background[0]);
		free(w.room[i].background[1]);
	}
	for (unsigned k = 0; k < PEOPLE; k++)
		media_free(w.media[k]);
	if (late)
		printf("%u ticks of open microphones were late: the machine was busy\n", late);
}

int call_run(const struct call_conf *conf)
{
	struct env_conf ec = {.loop = true};
	char path[1024];

	w.conf = conf;
	log_init("sound", LOG_WARN_);
	snprintf(path, sizeof path, "%s/items.tsv", conf->folder);
	if (sodium_init() < 0 || items_read(&w.items, &w.n, path))
		die("%s cannot be read", path);
	for (size_t i = 0; i < w.n; i++)
		w.rooms = w.items[i].room >= w.rooms ? w.items[i].room + 1 : w.rooms;
	if (!w.rooms || w.rooms > ROOMS)
		die("%u rooms", w.rooms);
	snprintf(path, sizeof path, "%s/played.tsv", conf->folder);
	w.played = fopen(path, "w");
	if (!w.played || env_alloc(&w.env, &ec) || tmr_alloc(&w.tmr, w.env, on_tmr, NULL) ||
	    tmr_alloc(&w.tick, w.env, on_tick, NULL) ||
	    http_alloc(&w.http, w.env, NULL, "parley-sound"))
		die("cannot start");
	world_make();
	w.t0 = env_now(w.env);
	for (unsigned i = 0; i < w.rooms; i++)
		room_begin(&w.room[i], i);
	tmr_start(w.tick, 0);
	env_run(w.env);
	world_end();
	tmr_free(w.tick);
	tmr_free(w.tmr);
	http_free(w.http);
	env_free(w.env);
	free(w.items);
	return fclose(w.played) ? 1 : 0;
}
