#include "control/golive/golive.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/discord/gateway.h"
#include "control/discord/guilds.h"
#include "control/golive/show.h"
#include "control/golive/streams.h"
#include "control/media/media.h"
#include "control/settings/settings.h"
#include "control/vision/vision.h"
#include "ipc/env.h"
#include "ipc/json_wipe.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/discord.h"
#include "proto/media.h"

enum { TICK_MS = 250, QUALITY = 100 };

/* A stream that is watched. Key frames come in parts. */
struct watched {
	struct golive *golive;
	uint32_t stream; /* 0: a free place */
	uint32_t share;	 /* of control/vision */
	uint64_t guild, channel, user;
	struct media_call *call; /* NULL before the first lease */
	uint64_t server;	 /* of the call */
	bool over;		 /* it ends at the next tick */
	const char *why;	 /* a clause; NULL: nothing failed */
	bool told;		 /* the room has read why */
	bool told_clear;	 /* the room was told that it is not encrypted */
	uint64_t asked_at;	 /* for a key frame */
	uint8_t *frame;		 /* the parts that came */
	size_t n, size;
	uint32_t number;
};

struct golive {
	struct golive_conf conf;
	struct gateway *gateway;
	struct streams *streams;
	struct show *show;
	struct tmr *tmr;
	bool refused;
	char url[256];
	struct watched v[STREAMS_MAX];
};

#define ID(x) ((unsigned long long)(x))

/* ---- key frames ---- */

static void forget_frame(struct watched *w)
{
	json_wipe_block(w->frame);
	free(w->frame);
	w->frame = NULL;
	w->n = w->size = 0;
}

static enum frame_codec codec_of(unsigned codec)
{
	return codec == MEDIA_VIDEO_H264  ? FRAME_H264
	       : codec == MEDIA_VIDEO_VP8 ? FRAME_VP8
	       : codec == MEDIA_VIDEO_AV1 ? FRAME_AV1
					  : FRAME_NONE;
}

static void show_frame(struct watched *w, unsigned codec)
{
	enum frame_codec known = codec_of(codec);
	enum share_refusal refusal =
		known ? vision_stream_frame(w->golive->conf.vision, w->share, known,
					    (struct slice){w->frame, w->n})
		      : SHARE_BAD_TYPE;

	log_debug("golive_frame", "user=%llu codec=%u bytes=%zu refusal=%s", ID(w->user), codec,
		  w->n, share_refusal_code(refusal));
	forget_frame(w);
}

/* Parts come in order, and those of a frame follow each other; what does not is dropped. */
static void take_part(struct watched *w, const struct media_video_frame *m)
{
	if (m->user != w->user || !m->key)
		return;
	if (!m->offset) {
		forget_frame(w);
		if (!m->size || m->size > FRAME_BYTES_MAX ||
		    vision_stream_state(w->golive->conf.vision, w->share) != VISION_STREAM_WANTS)
			return;
		w->frame = malloc(m->size);
		if (!w->frame)
			return;
		w->size = m->size;
		w->number = m->frame;
	}
	if (!w->frame || m->frame != w->number || m->offset != w->n || m->data.n > w->size - w->n) {
		forget_frame(w);
		return;
	}
	memcpy(w->frame + w->n, m->data.p, m->data.n);
	w->n += m->data.n;
	if (w->n == w->size)
		show_frame(w, m->codec);
}

/* ---- one stream ---- */

static struct watched *find_watched(struct golive *g, uint32_t stream)
{
	for (unsigned i = 0; i < STREAMS_MAX; i++)
		if (stream && g->v[i].stream == stream)
			return &g->v[i];
	return NULL;
}

static void end_watched(struct watched *w, const char *why)
{
	struct golive *g = w->golive;

	log_info("golive_ended", "guild=%llu user=%llu why=\"%s\"", ID(w->guild), ID(w->user), why);
	streams_close(g->streams, w->stream, env_now(g->conf.env));
	vision_stream_end(g->conf.vision, w->share, why, w->why, w->told);
	media_call_free(w->call);
	forget_frame(w);
	*w = (struct watched){0};
}

static void arm_timer(struct golive *g)
{
	if (show_runs(g->show))
		tmr_start(g->tmr, TICK_MS * NS_PER_MS);
	for (unsigned i = 0; i < STREAMS_MAX; i++)
		if (g->v[i].stream) {
			tmr_start(g->tmr, TICK_MS * NS_PER_MS);
			return;
		}
}

static void on_media(struct media_call *call, const struct media_msg *msg, void *arg)
{
	struct watched *w = arg;

	const struct golive *g = w->golive;

	(void)call;
	if (msg->type == MEDIA_CALL_STATE)
		streams_media(g->streams, w->stream, msg->call_state.phase, msg->call_state.reason,
			      msg->call_state.wants_credentials, env_now(g->conf.env));
	else if (msg->type == MEDIA_CALL_SECURE)
		golive_room_secure(&g->conf.room, w->guild, &msg->call_secure, &w->told_clear);
	else if (msg->type == MEDIA_VIDEO_FRAME)
		take_part(w, &msg->video_frame);
}

/* The session of a stream that began anew is another one. Nobody else who sends in it is decrypted.
 */
static int open_call(struct golive *g, struct watched *w, const struct streams_act *act)
{
	const struct media_want want = {.guild = act->server,
					.channel = act->channel,
					.user = streams_account(g->streams),
					.bitrate = 64000,
					.mute = true,
					.stream = true};
	struct media_want allowed;
	int err;

	if (w->call && w->server == act->server)
		return 0;
	w->call = media_call_free(w->call);
	allowed = golive_room_want(&g->conf.room, w->guild, w->channel, &want);
	err = media_call_open(&w->call, g->conf.media, &allowed, on_media, w);
	if (!err)
		err = media_call_consent(w->call, w->user, true);
	if (err)
		return err;
	w->server = act->server;
	media_call_watch(w->call, w->user, QUALITY);
	return 0;
}

static void take_lease(struct golive *g, const struct streams_act *act)
{
	struct watched *w = find_watched(g, act->stream);
	int err = w ? open_call(g, w, act) : ENOENT;

	if (!err)
		err = media_call_credentials(w->call, act->session, act->token, act->endpoint,
					     act->channel);
	log_info("golive_lease", "stream=%u endpoint=%s err=%d", act->stream, act->endpoint, err);
	if (w && err) {
		w->over = true;
		w->why = "mediad is not there";
	}
}

/* ---- what is said to Discord ---- */

static void send_op(struct golive *g, int op, json_t *d)
{
	int err = !d ? ENOMEM : !g->gateway ? ENOTCONN : gateway_send(g->gateway, op, d);

	json_decref(d);
	log_info("golive_send", "op=%d err=%d", op, err);
}

static void send_voice(struct golive *g, const struct streams_act *act)
{
	char guild[24], channel[24];

	snprintf(guild, sizeof guild, "%llu", ID(act->guild));
	snprintf(channel, sizeof channel, "%llu", ID(act->channel));
	send_op(g, DISCORD_OP_VOICE_STATE_UPDATE,
		json_pack("{s:s,s:s?,s:b,s:b,s:b}", "guild_id", guild, "channel_id",
			  act->channel ? channel : NULL, "self_mute", 1, "self_deaf", 1,
			  "self_video", 0));
}

/* Our own stream. Its clients say next that it goes on. */
static void send_show(struct golive *g, const struct streams_act *act)
{
	char guild[24], channel[24];

	snprintf(guild, sizeof guild, "%llu", ID(act->guild));
	snprintf(channel, sizeof channel, "%llu", ID(act->channel));
	send_op(g, DISCORD_OP_STREAM_CREATE,
		json_pack("{s:s,s:s,s:s,s:n}", "type", "guild", "guild_id", guild, "channel_id",
			  channel, "preferred_region"));
	send_op(g, DISCORD_OP_STREAM_SET_PAUSED,
		json_pack("{s:s,s:b}", "stream_key", act->key, "paused", 0));
}

static void on_act(const struct streams_act *act, void *arg)
{
	struct golive *g = arg;
	struct watched *w = find_watched(g, act->stream);

	show_take_act(g->show, act);
	switch (act->type) {
	case STREAMS_ACT_VOICE:
		send_voice(g, act);
		break;
	case STREAMS_ACT_WATCH:
		send_op(g, DISCORD_OP_STREAM_WATCH, json_pack("{s:s}", "stream_key", act->key));
		break;
	case STREAMS_ACT_END:
		send_op(g, DISCORD_OP_STREAM_DELETE, json_pack("{s:s}", "stream_key", act->key));
		break;
	case STREAMS_ACT_LEASE:
		if (w)
			take_lease(g, act);
		break;
	case STREAMS_ACT_PAUSED:
		if (w)
			vision_stream_paused(g->conf.vision, w->share, act->paused);
		break;
	case STREAMS_ACT_ENDED:
		log_info("golive_over", "stream=%u why=\"%s\" reason=%s", act->stream, act->why,
			 media_reason_name(act->media_reason));
		if (w) {
			w->over = true;
			w->why = streams_explain(act->why);
			w->told = act->media_reason;
		}
		if (w && act->media_reason)
			g->conf.room.tellh(w->guild, act->media_reason, g->conf.room.arg);
		break;
	case STREAMS_ACT_SHOW:
		send_show(g, act);
		break;
	}
}

/* ---- for control/vision ---- */

struct finding {
	const struct golive *golive;
	uint64_t guild;
	vision_streamer_h *h;
	void *arg;
};

static void find_streamer(uint64_t user, const char *name, bool is_bot, void *arg)
{
	const struct finding *f = arg;
	struct guild_voice v;

	(void)name, (void)is_bot;
	if (guilds_voice(f->golive->conf.guilds, f->guild, user, &v) && v.stream)
		f->h(user, f->arg);
}

static void each_streamer(uint64_t guild, uint64_t channel, vision_streamer_h *h, void *h_arg,
			  void *arg)
{
	struct golive *g = arg;
	struct finding f = {g, guild, h, h_arg};

	if (golive_ready(g))
		guilds_each(g->conf.guilds, guild, channel, find_streamer, &f);
}

static struct watched *find_place(struct golive *g)
{
	for (unsigned i = 0; i < STREAMS_MAX; i++)
		if (!g->v[i].stream)
			return &g->v[i];
	return NULL;
}

static const char *watch_streamer(uint64_t guild, uint64_t channel, uint64_t user, void *arg)
{
	struct golive *g = arg;
	struct watched *w = find_place(g);
	struct guild_voice v;
	uint32_t share, stream;
	int err;

	if (!golive_ready(g))
		return "the account is not connected";
	if (!guilds_voice(g->conf.guilds, guild, user, &v) || !v.stream || v.channel != channel)
		return "nobody streams that any more";
	if (!w)
		return "as many streams as can be are watched already";
	if (vision_stream_begin(g->conf.vision, guild, channel, user, &share))
		return "there is no room for another screen";
	*w = (struct watched){
		.golive = g, .guild = guild, .channel = channel, .user = user, .share = share};
	err = streams_open(g->streams, guild, channel, user, env_now(g->conf.env), &stream);
	log_info("golive_watch", "guild=%llu user=%llu err=%d", ID(guild), ID(user), err);
	if (err) {
		*w = (struct watched){0};
		if (err == EALREADY)
			return NULL;
		vision_stream_end(g->conf.vision, share, "stopped", NULL, false);
		if (err == EAGAIN)
			return streams_explain("rate_limited");
		return err == EBUSY ? "the account watches or shows something in another channel"
				    : "the account is not connected";
	}
	w->stream = stream;
	arm_timer(g);
	return NULL;
}

static const char *show(const struct vision_film *film, vision_film_h *h, void *h_arg, void *arg)
{
	struct golive *g = arg;
	bool web = !film->visualizer && strncmp(film->url, "file:", 5) != 0;
	const char *why = !golive_ready(g) ? "the account is not connected"
			  : web && !vision_settings(g->conf.vision, film->guild)->music_web
				  ? "nothing is played from the web here (music_web)"
				  : show_film(g->show, film, h, h_arg);

	arm_timer(g);
	return why;
}

static bool end_show(uint64_t guild, void *arg)
{
	struct golive *g = arg;

	return show_end(g->show, guild);
}

static bool shown_now(uint64_t guild, struct vision_show *out, void *arg)
{
	const struct golive *g = arg;

	return show_now(g->show, guild, out);
}

static void forget_show(const void *h_arg, void *arg)
{
	struct golive *g = arg;

	show_forget(g->show, h_arg);
}

/* ---- time ---- */

static const char *find_end(const struct golive *g, const struct watched *w)
{
	struct guild_voice v;

	if (w->over)
		return "stream_ended";
	if (!guilds_voice(g->conf.guilds, w->guild, w->user, &v) || !v.stream ||
	    v.channel != w->channel)
		return "stream_ended";
	/* Who is blocked, or does not consent any more, is not decrypted any more. */
	if (!vision_may_show(g->conf.vision, w->guild, w->channel, w->user))
		return "stopped";
	return vision_stream_state(g->conf.vision, w->share) == VISION_STREAM_GONE ? "stopped"
										   : NULL;
}

static void ask_key(const struct golive *g, struct watched *w, uint64_t now)
{
	if (!w->call || now - w->asked_at < vision_stream_spacing(g->conf.vision, w->share) ||
	    vision_stream_state(g->conf.vision, w->share) != VISION_STREAM_WANTS)
		return;
	if (!media_call_ask_key(w->call))
		w->asked_at = now;
}

static void keep_watched(const struct golive *g, struct watched *w, uint64_t now)
{
	if (w->call)
		golive_room_update(&g->conf.room, w->call, w->guild, w->channel);
	ask_key(g, w, now);
}

static void on_tmr(void *arg)
{
	struct golive *g = arg;
	uint64_t now = env_now(g->conf.env);

	if (g->refused && g->gateway)
		g->gateway = gateway_free(g->gateway);
	streams_tick(g->streams, now);
	show_tick(g->show);
	for (unsigned i = 0; i < STREAMS_MAX; i++) {
		const char *why = g->v[i].stream ? find_end(g, &g->v[i]) : NULL;

		if (why)
			end_watched(&g->v[i], why);
		else if (g->v[i].stream)
			keep_watched(g, &g->v[i], now);
	}
	arm_timer(g);
}

/* ---- the account's gateway ---- */

/* Its session would be a second one of the bot, and act on the bot's own call. The gateway goes at
 * the next tick: this is one of its handlers. */
static void refuse_bot(struct golive *g)
{
	g->refused = true;
	log_warn("golive_refused", "text=\"the token is a bot's\" hint=\"go_live_token_file needs "
				   "the token of a person's account; bots get no streams\"");
	tmr_start(g->tmr, 0);
}

static void on_event(const char *name, const json_t *d, void *arg)
{
	struct golive *g = arg;
	const json_t *user = json_object_get(d, "user");
	uint64_t now = env_now(g->conf.env), account = 0;
	bool ready = strcmp(name, "READY") == 0;

	if (g->refused ||
	    (ready && !discord_snowflake(json_string_value(json_object_get(user, "id")), &account)))
		return;
	if (ready && (account == guilds_self(g->conf.guilds) ||
		      json_is_true(json_object_get(user, "bot")))) {
		refuse_bot(g);
		return;
	}
	if (ready)
		guilds_hide(g->conf.guilds, account);
	if (ready || strcmp(name, "RESUMED") == 0) {
		log_info("golive_ready", "account=%llu", ID(account));
		streams_online(g->streams, account, ready, now);
	} else {
		streams_event(g->streams, name, d, now);
	}
}

static void on_state(enum gateway_state s, unsigned code, const char *text, void *arg)
{
	struct golive *g = arg;

	if (s == GATEWAY_UP)
		return;
	streams_offline(g->streams);
	if (s != GATEWAY_FATAL)
		return;
	g->refused = true;
	log_warn("golive_refused",
		 "code=%u text=\"%s\" hint=\"no stream is watched until a restart; see "
		 "go_live_token_file\"",
		 code, text);
}

/* A session of a person is not kept for the next control: it would go on in a channel by itself. */
static void on_session(void *arg)
{
	(void)arg;
}

/* The bot's own gateway finds the address, which is the same. */
static void on_find(void *arg)
{
	struct golive *g = arg;

	gateway_start(g->gateway, g->url, NULL);
}

/* ---- life ---- */

/* As many as the setting names, with colons between them. */
static unsigned count_folders(const char *folders)
{
	unsigned n = *folders != 0;

	for (const char *p = folders; (p = strchr(p, ':')); p++)
		n++;
	return n;
}

static int make_show(struct golive *g)
{
	const struct show_conf conf = {.env = g->conf.env,
				       .media = g->conf.media,
				       .guilds = g->conf.guilds,
				       .streams = g->streams,
				       .vision = g->conf.vision,
				       .room = &g->conf.room,
				       .settings = g->conf.settings,
				       .n_folders = count_folders(g->conf.settings->music_folders)};

	return show_alloc(&g->show, &conf);
}

int golive_alloc(struct golive **out, const struct golive_conf *conf)
{
	struct golive *g;
	struct gateway_conf gateway = {.intents = DISCORD_INTENT_GUILDS |
						  DISCORD_INTENT_GUILD_VOICE_STATES,
				       .eventh = on_event,
				       .stateh = on_state,
				       .sessionh = on_session,
				       .findh = on_find};
	int err;

	if (!out || !conf || !conf->env || !conf->ws || !conf->settings || !conf->guilds ||
	    !conf->media || !conf->vision || !conf->room.e2eeh || !conf->room.tellh)
		return EINVAL;
	g = calloc(1, sizeof *g);
	if (!g)
		return ENOMEM;
	g->conf = *conf;
	gateway.env = conf->env;
	gateway.ws = conf->ws;
	gateway.token = conf->settings->go_live_token;
	gateway.arg = g;
	err = streams_alloc(&g->streams, on_act, g);
	if (!err)
		err = make_show(g);
	if (!err)
		err = tmr_alloc(&g->tmr, conf->env, on_tmr, g);
	if (!err)
		err = gateway_alloc(&g->gateway, &gateway);
	if (!err)
		err = vision_set_streams(conf->vision,
					 &(struct vision_streams){.eachh = each_streamer,
								  .watchh = watch_streamer,
								  .showh = show,
								  .endh = end_show,
								  .nowh = shown_now,
								  .forgeth = forget_show,
								  .arg = g},
					 "framed");
	if (err)
		golive_free(g);
	else
		*out = g;
	return err;
}

struct golive *golive_free(struct golive *g)
{
	if (!g)
		return NULL;
	for (unsigned i = 0; i < STREAMS_MAX; i++)
		if (g->v[i].stream)
			end_watched(&g->v[i], "shutdown");
	show_free(g->show);
	gateway_free(g->gateway);
	streams_free(g->streams);
	tmr_free(g->tmr);
	free(g);
	return NULL;
}

void golive_start(struct golive *g, const char *url)
{
	snprintf(g->url, sizeof g->url, "%s", url);
	if (g->gateway)
		gateway_start(g->gateway, url, NULL);
}

void golive_forget(struct golive *g, uint64_t user)
{
	if (g)
		show_forget_user(g->show, user);
}

bool golive_ready(const struct golive *g)
{
	return !g->refused && gateway_state(g->gateway) == GATEWAY_UP &&
	       streams_account(g->streams);
}
