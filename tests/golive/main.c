/* Two people of guildd and a mediad for each: one publishes a film as a stream (Go Live), the other
 * watches it. Every frame that the viewer gets must be one of the film, byte for byte.
 *
 *   golive GATEWAY CA GUILD CHANNEL CODEC FILM OWNER VIEWER OWNER-SOCKET VIEWER-SOCKET [every]
 * [FRAMES [sound]] [into FILE]
 *
 * FILM "-": any frames of VP8, of somebody else. OWNER and VIEWER are tokens of people. With FILM's
 * owner elsewhere, OWNER is "user:" and the id of who streams, and OWNER-SOCKET is not used: the
 * viewer asks for the stream until it is there. Ends when the viewer has got FRAMES (3) key frames,
 * with `every` FRAMES of all frames, and 1 after 30 s. With `sound` a tone must begin with each
 * first frame of the film (tests/film_file), at most SYNC_MS apart. `into` FILE: writes the frames
 * as IVF whose times are ms of arrival, and prints those of tones, for `film_file look`. Prints
 * what each mediad reported. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/peer.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "tests/golive/film.h"

enum { FPS = 30, END_S = 30, LEAVE_MS = 300 };
enum {
	LISTEN = 1,
	RATE = 24000,
	SILENCE_MS = 5000,
	LOUD = 2000,
	REST_MS = 200,
	SYNC_MS = 300,
	BEGINS = 32
};

struct golive;

/* One of the two: a client of the main gateway, and the control of a mediad. */
struct person {
	struct golive *g;
	const char *token, *socket;
	bool owner;
	struct ws *ws;
	struct peer *peer;
	uint64_t user;
	char session[128], stream[128], lease[300], endpoint[300];
	uint64_t server;
	uint32_t gen;
	bool up, asked;
};

struct golive {
	struct env *env;
	struct ws_ctx *ws;
	struct tmr *frame, *deadline;
	bool watches_only;
	uint32_t call; /* another one in each run: the last one may still be leaving */
	bool ended;
	const char *gateway;
	uint64_t guild, channel;
	enum media_video_codec codec;
	struct film film;
	struct person owner, viewer;
	bool every;
	unsigned wanted; /* frames */
	bool sound;
	size_t next; /* of the film */
	uint32_t sent;
	bool publishing, wants_key;
	uint8_t part[MEDIA_VIDEO_FRAME_MAX];
	size_t n_part;
	unsigned got, keys, wrong, mixed;
	/* When a round of the film began to be seen, and a tone to be heard, by the viewer's
	 * mediad. */
	uint64_t seen[BEGINS], heard[BEGINS], loud_at;
	unsigned n_seen, n_heard, n_loud;
	FILE *into;
	uint32_t gap;
	struct media_video_state state;
	int status;
};

static const char *text_of(const json_t *o, const char *field)
{
	const char *s = json_string_value(json_object_get(o, field));

	return s ? s : "";
}

static void tell_mediad(struct person *p, struct media_msg *msg);

/* Both leave; then the loop ends. */
static void finish(struct golive *g, int status)
{
	struct media_msg close = {.type = MEDIA_CALL_CLOSE};

	if (g->ended)
		return;
	g->ended = true;
	g->status = status;
	tmr_stop(g->frame);
	tell_mediad(&g->owner, &close);
	tell_mediad(&g->viewer, &close);
	tmr_start(g->deadline, LEAVE_MS * NS_PER_MS);
}

/* ---- the mediad of a person ---- */

static void tell_mediad(struct person *p, struct media_msg *msg)
{
	static uint8_t buf[MEDIA_MAX_FRAME];
	size_t len;

	if (!p->peer)
		return;
	msg->call_set.call = p->g->call;
	msg->call_set.gen = p->gen;
	if (!media_pack(msg, MEDIA_MINOR, buf, sizeof buf, &len))
		peer_send(p->peer,
			  media_lane_of(msg->type) == MEDIA_LANE_AUDIO ? PEER_AUDIO : PEER_COMMAND,
			  buf, len);
}

static uint32_t bitrate_of(const struct film *f)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < f->n; i++)
		bits += 8 * f->frames[i].n;
	return f->n ? (uint32_t)(bits * FPS / f->n) : 0;
}

static void publish_or_watch(struct person *p)
{
	struct media_msg msg = {.type = MEDIA_VIDEO_WATCH};

	if (p->owner) {
		msg.type = MEDIA_VIDEO_PUBLISH;
		msg.video_publish.codec = (uint8_t)p->g->codec;
		msg.video_publish.width = 320;
		msg.video_publish.height = 240;
		msg.video_publish.fps = FPS;
		msg.video_publish.bitrate = bitrate_of(&p->g->film);
	} else {
		msg.video_watch.user = p->g->owner.user;
		msg.video_watch.quality = 100;
		msg.video_watch.every = p->g->every;
	}
	tell_mediad(p, &msg);
}

static void listen_to_owner(struct person *p)
{
	struct media_msg msg = {.type = MEDIA_LISTEN};

	msg.listen.listen = LISTEN;
	msg.listen.user = p->g->owner.user;
	msg.listen.rate = RATE;
	msg.listen.silence_ms = SILENCE_MS;
	tell_mediad(p, &msg);
}

/* Both halves of a lease have come. */
static void join_stream(struct person *p)
{
	struct media_msg msg = {.type = MEDIA_CALL_OPEN};

	if (!p->server || !p->lease[0])
		return;
	if (!p->gen) {
		msg.call_open.guild = p->server;
		msg.call_open.channel = p->server - 1;
		msg.call_open.user = p->user;
		msg.call_open.bitrate = 64000;
		msg.call_open.consent = true;
		msg.call_open.stream = true;
		tell_mediad(p, &msg);
		publish_or_watch(p);
	}
	p->gen++;
	msg = (struct media_msg){.type = MEDIA_CALL_CREDENTIALS};
	msg.call_credentials.session = slice_str(p->session);
	msg.call_credentials.token = slice_str(p->lease);
	msg.call_credentials.endpoint = slice_str(p->endpoint);
	msg.call_credentials.channel = p->server - 1;
	tell_mediad(p, &msg);
	p->lease[0] = '\0';
}

/* A tone begins where it was quiet before. */
static void on_heard(struct golive *g, const struct media_heard *m)
{
	unsigned long sum = 0;

	for (size_t i = 0; i + 1 < m->pcm.n; i += 2)
		sum += (unsigned long)abs((int16_t)(m->pcm.p[i] | m->pcm.p[i + 1] << 8));
	if (m->pcm.n < 2 || sum / (m->pcm.n / 2) < LOUD)
		return;
	if (m->at - g->loud_at > REST_MS * NS_PER_MS && g->n_heard < BEGINS)
		g->heard[g->n_heard++] = m->at;
	g->loud_at = m->at;
	g->n_loud++;
}

/* How far the picture is from its sound at the most: each tone belongs to the first frame that is
 * nearest. In ms; the first of either may have begun before the viewer was there. */
static unsigned find_offset(const struct golive *g)
{
	uint64_t most = 0;

	for (unsigned i = 1; i < g->n_heard; i++) {
		uint64_t least = UINT64_MAX;

		for (unsigned k = 0; k < g->n_seen; k++) {
			uint64_t apart = g->heard[i] > g->seen[k] ? g->heard[i] - g->seen[k]
								  : g->seen[k] - g->heard[i];

			least = apart < least ? apart : least;
		}
		most = least > most ? least : most;
	}
	return most > UINT32_MAX * NS_PER_MS ? UINT32_MAX : (unsigned)(most / NS_PER_MS);
}

static bool is_in_time(const struct golive *g)
{
	return !g->sound || g->into || (g->n_heard > 1 && find_offset(g) <= SYNC_MS);
}

static bool is_of_film(const struct golive *g, const uint8_t *p, size_t n, bool key)
{
	static const uint8_t vp8_key[] = {0x9d, 0x01, 0x2a}; /* RFC 6386, section 9.1 */

	if (!g->film.n)
		return n >= 10 && (!key || memcmp(p + 3, vp8_key, sizeof vp8_key) == 0);
	for (size_t i = 0; i < g->film.n; i++) {
		const struct film_frame *f = &g->film.frames[i];

		if (f->n == n && f->key == key && memcmp(f->bytes, p, n) == 0)
			return true;
	}
	return false;
}

static void write_le(FILE *f, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		putc((int)(v >> 8 * i & 0xff), f);
}

static void write_ivf(const struct golive *g, uint64_t at)
{
	if (!ftell(g->into)) {
		fputs("DKIF", g->into);
		write_le(g->into, 32 << 16, 4);
		fputs("VP80", g->into);
		write_le(g->into, 0, 4);
		write_le(g->into, 1000, 4);
		write_le(g->into, 1, 4);
		write_le(g->into, 0, 8);
	}
	write_le(g->into, g->n_part, 4);
	write_le(g->into, at / NS_PER_MS, 8);
	fwrite(g->part, 1, g->n_part, g->into);
}

static void on_frame(struct golive *g, const struct media_video_frame *m)
{
	if (!m->offset)
		g->n_part = 0;
	if (m->offset != g->n_part || m->data.n > sizeof g->part - g->n_part) {
		g->mixed++;
		return;
	}
	memcpy(g->part + g->n_part, m->data.p, m->data.n);
	g->n_part += m->data.n;
	if (g->n_part < m->size)
		return;
	if (g->ended)
		return;
	if (g->into)
		write_ivf(g, m->at);
	g->got++;
	g->keys += m->key;
	g->gap += m->gap;
	g->wrong += m->codec != g->codec || !is_of_film(g, g->part, g->n_part, m->key);
	if (g->film.n && g->film.frames[0].n == g->n_part && g->n_seen < BEGINS &&
	    memcmp(g->film.frames[0].bytes, g->part, g->n_part) == 0)
		g->seen[g->n_seen++] = m->at;
	if ((g->every ? g->got : g->keys) >= g->wanted)
		finish(g, g->wrong || g->mixed || !is_in_time(g) ? 1 : 0);
}

static void send_main(struct person *p, int op, json_t *d)
{
	json_t *o = json_pack("{s:i, s:o}", "op", op, "d", d);
	char *text = json_dumps(o, JSON_COMPACT);

	if (text)
		ws_send(p->ws, true, text, strlen(text));
	free(text);
	json_decref(o);
}

/* Of somebody whom another program streams for: asked for again until it is there. */
static void ask_stream(struct golive *g)
{
	char key[128];

	snprintf(key, sizeof key, "guild:%" PRIu64 ":%" PRIu64 ":%" PRIu64, g->guild, g->channel,
		 g->owner.user);
	if (!g->viewer.server)
		send_main(&g->viewer, 20, json_pack("{s:s}", "stream_key", key));
	tmr_start(g->frame, NS_PER_S / 2);
}

/* The stream is there once its owner's session is up. */
static void watch_stream(struct golive *g)
{
	struct person *v = &g->viewer;

	if (v->session[0] && g->watches_only && !v->asked) {
		v->asked = true;
		ask_stream(g);
	}
	if (v->asked || !g->owner.up || !v->session[0])
		return;
	v->asked = true;
	send_main(v, 20, json_pack("{s:s}", "stream_key", g->owner.stream));
}

static void on_call_state(struct person *p, const struct media_call_state *m)
{
	printf("%s phase=%s reason=%s\n", p->owner ? "owner" : "viewer", media_phase_name(m->phase),
	       media_reason_name(m->reason));
	p->up = m->phase == MEDIA_PHASE_UP;
	if (m->phase == MEDIA_PHASE_FAILED && !p->g->ended)
		finish(p->g, 1);
	if (p->up && p->owner)
		watch_stream(p->g);
	else if (p->up && p->g->sound)
		listen_to_owner(p);
}

static int on_mediad(struct peer *peer, const uint8_t *body, size_t len, void *arg)
{
	struct person *p = arg;
	struct golive *g = p->g;
	struct media_msg m;
	int err = media_unpack(&m, MEDIA_SIDE_MEDIAD, body, len);

	(void)peer;
	if (err)
		return err == ENOSYS ? 0 : err;
	switch (m.type) {
	case MEDIA_CALL_STATE:
		on_call_state(p, &m.call_state);
		break;
	case MEDIA_VIDEO_SOURCE:
		printf("source on=%d codec=%s %ux%u fps=%u watched=%u\n", m.video_source.on,
		       media_video_codec_name(m.video_source.codec), m.video_source.width,
		       m.video_source.height, m.video_source.fps, m.video_source.watched);
		break;
	case MEDIA_VIDEO_STATE:
		g->state = m.video_state;
		g->wants_key = g->wants_key || m.video_state.wants_key;
		if (m.video_state.sending && m.video_state.wanted && !g->publishing) {
			g->publishing = true;
			tmr_start(g->frame, 0);
		}
		break;
	case MEDIA_VIDEO_FRAME:
		on_frame(g, &m.video_frame);
		break;
	case MEDIA_HEARD:
		on_heard(g, &m.heard);
		break;
	default:
		break;
	}
	return 0;
}

static void on_mediad_lost(struct peer *peer, int err, void *arg)
{
	struct person *p = arg;

	(void)peer;
	printf("%s lost its mediad: %s\n", p->owner ? "owner" : "viewer", strerror(err));
	finish(p->g, 1);
}

/* ---- the film ---- */

/* The next frame; the next key frame if one is wanted. */
static void on_frame_due(void *arg)
{
	struct golive *g = arg;
	const struct film_frame *f;

	if (g->watches_only) {
		ask_stream(g);
		return;
	}
	if (!g->film.n)
		return;
	tmr_start(g->frame, NS_PER_S / FPS);
	for (size_t i = 0; g->wants_key && i < g->film.n; i++) {
		if (g->film.frames[g->next].key)
			break;
		g->next = (g->next + 1) % g->film.n;
	}
	g->wants_key = false;
	f = &g->film.frames[g->next];
	g->next = (g->next + 1) % g->film.n;
	for (size_t at = 0; at < f->n; at += MEDIA_VIDEO_PART) {
		struct media_msg msg = {.type = MEDIA_VIDEO_DATA};
		size_t left = f->n - at;

		msg.video_data.frame = g->sent;
		msg.video_data.rtp = g->sent * (90000 / FPS);
		msg.video_data.key = f->key;
		msg.video_data.size = (uint32_t)f->n;
		msg.video_data.offset = (uint32_t)at;
		msg.video_data.data = (struct slice){
			f->bytes + at, left < MEDIA_VIDEO_PART ? left : MEDIA_VIDEO_PART};
		tell_mediad(&g->owner, &msg);
	}
	g->sent++;
}

/* ---- the main gateway ---- */

static void join_channel(struct person *p)
{
	char guild[24], channel[24];

	snprintf(guild, sizeof guild, "%" PRIu64, p->g->guild);
	snprintf(channel, sizeof channel, "%" PRIu64, p->g->channel);
	send_main(p, 4,
		  json_pack("{s:s, s:s, s:b, s:b}", "guild_id", guild, "channel_id", channel,
			    "self_mute", 0, "self_deaf", 0));
}

static void begin_stream(struct person *p)
{
	char guild[24], channel[24];

	p->asked = true;
	snprintf(guild, sizeof guild, "%" PRIu64, p->g->guild);
	snprintf(channel, sizeof channel, "%" PRIu64, p->g->channel);
	send_main(p, 18,
		  json_pack("{s:s, s:s, s:s, s:n}", "type", "guild", "guild_id", guild,
			    "channel_id", channel, "preferred_region"));
}

static void on_dispatch(struct person *p, const char *t, const json_t *d)
{
	if (strcmp(t, "READY") == 0) {
		p->user = strtoull(text_of(json_object_get(d, "user"), "id"), NULL, 10);
		join_channel(p);
	} else if (strcmp(t, "VOICE_STATE_UPDATE") == 0 &&
		   strtoull(text_of(d, "user_id"), NULL, 10) == p->user) {
		snprintf(p->session, sizeof p->session, "%s", text_of(d, "session_id"));
		if (p->owner && !p->asked)
			begin_stream(p);
		else if (!p->owner)
			watch_stream(p->g);
	} else if (strcmp(t, "STREAM_CREATE") == 0) {
		snprintf(p->stream, sizeof p->stream, "%s", text_of(d, "stream_key"));
		p->server = strtoull(text_of(d, "rtc_server_id"), NULL, 10);
		join_stream(p);
	} else if (strcmp(t, "STREAM_SERVER_UPDATE") == 0) {
		snprintf(p->lease, sizeof p->lease, "%s", text_of(d, "token"));
		snprintf(p->endpoint, sizeof p->endpoint, "%s", text_of(d, "endpoint"));
		join_stream(p);
	}
}

static void on_main(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		    void *arg)
{
	struct person *p = arg;
	json_t *o;

	(void)ws;
	if (ev == WS_CLOSED) {
		printf("%s: the main gateway closed with %u\n", p->owner ? "owner" : "viewer",
		       code);
		finish(p->g, 1);
	}
	if (ev == WS_OPEN)
		send_main(p, 2,
			  json_pack("{s:s, s:i, s:{s:s, s:s, s:s}}", "token", p->token, "intents",
				    129, "properties", "os", "linux", "browser", "x", "device",
				    "x"));
	if (ev != WS_TEXT)
		return;
	o = json_loadb((const char *)data, len, 0, NULL);
	on_dispatch(p, text_of(o, "t"), json_object_get(o, "d"));
	json_decref(o);
}

/* ---- the program ---- */

static int person_start(struct person *p, struct golive *g)
{
	struct peer_conf conf = {.max_frame = MEDIA_MAX_FRAME,
				 .audio_cap = 4 << 20,
				 .msgh = on_mediad,
				 .losth = on_mediad_lost,
				 .arg = p};
	struct media_msg hello = {.type = MEDIA_HELLO};
	static uint8_t buf[512];
	char url[256];
	struct ws_dial dial = {.url = url};
	size_t len;
	int err;

	p->g = g;
	snprintf(url, sizeof url, "%s/?v=10&encoding=json", g->gateway);
	err = peer_connect(&p->peer, g->env, p->socket, &conf);
	hello.hello.major = MEDIA_MAJOR;
	hello.hello.minor = MEDIA_MINOR;
	hello.hello.build = slice_str("golive");
	hello.hello.epoch = 1;
	hello.hello.user = 1;
	if (!err)
		err = media_pack(&hello, MEDIA_MINOR, buf, sizeof buf, &len);
	if (!err)
		err = peer_send(p->peer, PEER_COMMAND, buf, len);
	return err ? err : ws_connect(&p->ws, g->ws, &dial, on_main, p);
}

static void on_deadline(void *arg)
{
	struct golive *g = arg;

	if (g->ended)
		env_stop(g->env);
	else
		finish(g, 1);
}

static int start(struct golive *g, const char *ca)
{
	struct env_conf conf = {.loop = true};
	int err = env_alloc(&g->env, &conf);

	g->call = (uint32_t)getpid();
	if (!err)
		err = ws_ctx_alloc(&g->ws, g->env, ca);
	if (!err)
		err = tmr_alloc(&g->frame, g->env, on_frame_due, g);
	if (!err)
		err = tmr_alloc(&g->deadline, g->env, on_deadline, g);
	if (!err && !g->watches_only)
		err = person_start(&g->owner, g);
	if (!err)
		err = person_start(&g->viewer, g);
	if (!err)
		tmr_start(g->deadline, END_S * NS_PER_S);
	return err;
}

static void report(const struct golive *g)
{
	printf("got=%u keys=%u wrong=%u mixed=%u gap=%u sent=%u frames=%u dropped=%u again=%u "
	       "queued=%u\n",
	       g->got, g->keys, g->wrong, g->mixed, g->gap, g->sent, g->state.frames,
	       g->state.dropped, g->state.again, g->state.queued);
	for (unsigned i = 0; g->into && i < g->n_heard; i++)
		printf("tone %" PRIu64 "\n", g->heard[i] / NS_PER_MS);
	if (g->sound && !g->into)
		printf("rounds=%u tones=%u loud=%u apart_ms=%u\n", g->n_seen, g->n_heard, g->n_loud,
		       find_offset(g));
}

static void stop(struct golive *g)
{
	struct person *both[] = {&g->owner, &g->viewer};

	for (unsigned i = 0; i < 2; i++) {
		ws_free(both[i]->ws);
		peer_free(both[i]->peer);
	}
	tmr_free(g->frame);
	tmr_free(g->deadline);
	ws_ctx_free(g->ws);
	env_free(g->env);
	film_free(&g->film);
}

static enum media_video_codec codec_named(const char *name)
{
#define X(NAME, word, num, text)                                                                   \
	if (strcmp(name, #word) == 0)                                                              \
		return MEDIA_VIDEO_##NAME;
	MEDIA_VIDEO_CODECS(X)
#undef X
	return MEDIA_VIDEO_NONE;
}

int main(int argc, char **argv)
{
	static struct golive g = {.wanted = 3, .status = 1};
	int err;

	if (argc > 12 && strcmp(argv[argc - 2], "into") == 0) {
		g.into = fopen(argv[argc - 1], "wb");
		argc -= 2;
	}
	if (argc < 11) {
		fprintf(stderr,
			"usage: golive GATEWAY CA GUILD CHANNEL CODEC FILM OWNER VIEWER "
			"OWNER-SOCKET VIEWER-SOCKET [every] [FRAMES [sound]] [into FILE]\n");
		return 2;
	}
	g.gateway = argv[1];
	g.guild = strtoull(argv[3], NULL, 10);
	g.channel = strtoull(argv[4], NULL, 10);
	g.codec = codec_named(argv[5]);
	g.owner = (struct person){.token = argv[7], .socket = argv[9], .owner = true};
	g.watches_only = strncmp(argv[7], "user:", 5) == 0;
	if (g.watches_only)
		g.owner.user = strtoull(argv[7] + 5, NULL, 10);
	g.viewer = (struct person){.token = argv[8], .socket = argv[10]};
	g.every = argc > 11 && strcmp(argv[11], "every") == 0;
	if (argc > 11 + g.every)
		g.wanted = (unsigned)strtoul(argv[11 + g.every], NULL, 10);
	g.sound = argc > 12 + g.every && strcmp(argv[12 + g.every], "sound") == 0;
	err = g.codec == MEDIA_VIDEO_NONE ? EINVAL
	      : strcmp(argv[6], "-") == 0 ? 0
					  : film_read(&g.film, g.codec, argv[6]);
	if (!err)
		err = start(&g, argv[2]);
	if (err) {
		fprintf(stderr, "golive: %s\n", strerror(err));
	} else {
		env_run(g.env);
		report(&g);
	}
	stop(&g);
	if (g.into)
		fclose(g.into);
	return err ? 2 : g.status;
}
