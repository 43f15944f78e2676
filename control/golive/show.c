#include "control/golive/show.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/discord/guilds.h"
#include "control/golive/room.h"
#include "control/golive/streams.h"
#include "control/media/media.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/http_guard.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

#define ID(x)	    ((unsigned long long)(x))
#define FILE_SCHEME "file:"

enum { TEXT_SIZE = 129, TITLE_SIZE = 257, BITRATE = 64000 };
enum { IDLE_S = 300 }; /* without a viewer */

/* The last one, which is over. */
struct past {
	struct vision_show what;
	char title[TITLE_SIZE], why[TEXT_SIZE];
	uint64_t at; /* ns; 0: there was none */
};

struct show {
	struct show_conf conf;
	struct media_call *call; /* NULL: nothing is shown */
	uint64_t guild, channel;
	uint64_t user;	 /* who asked for it */
	uint32_t stream; /* of streams.h; 0: the film is not open yet */
	char *path;	 /* of the film, owned */
	uint8_t kind;
	unsigned root;	     /* of a file: the folder in which it is looked for */
	bool sound;	     /* with its sound */
	unsigned visualizer; /* as vision_film */
	bool open;	     /* the film, in the mediad that there is now */
	bool asked;	     /* that mediad has asked for a lease meanwhile */
	bool begun;	     /* the stream was up */
	bool over;	     /* it ends at the next tick */
	enum vision_show_over how;
	bool told_clear; /* the room was told that it is not encrypted */
	char why[TEXT_SIZE];
	char title[TITLE_SIZE];
	uint64_t duration_ms, position_ms;
	uint64_t position_at; /* ns: when mediad told it */
	uint64_t idle_at;     /* ns: since then it stands; 0: it plays */
	uint64_t asked_ms;    /* since 1970 */
	uint64_t over_ms;     /* since 1970 */
	int viewers;	      /* -1: not known */
	vision_film_h *h;     /* NULL: it was told */
	void *arg;
	/* Outlive what is shown: */
	struct past past;
	char refusal[TEXT_SIZE]; /* the last one */
};

/* ---- its end ---- */

static void tell(struct show *s, bool playing, const char *why)
{
	vision_film_h *h = s->h;

	s->h = NULL;
	if (h)
		h(&(struct vision_film_state){.playing = playing,
					      .why = why,
					      .title = s->title,
					      .duration_ms = s->duration_ms},
		  s->arg);
}

static void describe(const struct show *s, struct vision_show *out)
{
	uint64_t ns = s->idle_at || !s->position_at ? 0 : env_now(s->conf.env) - s->position_at;

	*out = (struct vision_show){.guild = s->guild,
				    .channel = s->channel,
				    .user = s->user,
				    .visualizer = s->visualizer,
				    .announced = s->stream,
				    .playing = s->stream && !s->idle_at,
				    .at_ms = s->position_ms + ns / NS_PER_MS,
				    .seconds = s->duration_ms / 1000,
				    .title = s->title,
				    .viewers = s->viewers,
				    .asked_ms = s->asked_ms};
}

static void report(struct show *s, enum vision_show_over how, const char *why)
{
	struct vision_show what;

	describe(s, &what);
	vision_show_changed(s->conf.vision, &what, how, why);
}

/* why: a clause for people. Nothing is freed here: handlers of the call run. */
static void end_later(struct show *s, enum vision_show_over how, const char *why)
{
	if (s->over)
		return;
	s->over = true;
	s->how = how;
	s->over_ms = env_wall_ms(s->conf.env);
	utf8_copy(s->why, sizeof s->why, why);
}

static void note_past(struct show *s, const char *why)
{
	struct past *p = &s->past;

	describe(s, &p->what);
	utf8_copy(p->title, sizeof p->title, s->title);
	utf8_copy(p->why, sizeof p->why, why);
	p->at = env_now(s->conf.env);
	p->what.over_ms = s->over ? s->over_ms : env_wall_ms(s->conf.env);
}

/* What is over, or never began, is forgotten but for what the dashboard tells of it. */
static void clear(struct show *s)
{
	struct show fresh = {.conf = s->conf, .past = s->past};

	memcpy(fresh.refusal, s->refusal, sizeof fresh.refusal);
	*s = fresh;
}

static void end_now(struct show *s, enum vision_show_over how, const char *why)
{
	log_info("golive_show_ended", "guild=%llu why=\"%s\"", ID(s->guild), why);
	tell(s, false, why);
	if (s->begun)
		report(s, how, why);
	note_past(s, why);
	if (s->stream)
		streams_close(s->conf.streams, s->stream, env_now(s->conf.env));
	media_call_free(s->call);
	free(s->path);
	clear(s);
}

/* ---- mediad ---- */

static struct media_film film_of(const struct show *s)
{
	return (struct media_film){.kind = s->kind,
				   .root = (uint8_t)s->root,
				   .path = s->path,
				   .sound = s->sound,
				   .visualizer = (uint8_t)(s->visualizer - 1),
				   .music = s->guild};
}

static int open_film(struct show *s)
{
	const struct media_film film = film_of(s);

	return media_call_play(s->call, &film);
}

/* The film is open: now the stream is announced. */
static void announce(struct show *s)
{
	int err = s->stream ? 0
			    : streams_open(s->conf.streams, s->guild, s->channel,
					   streams_account(s->conf.streams), env_now(s->conf.env),
					   &s->stream);

	if (err == EAGAIN)
		end_later(s, VISION_SHOW_LOST, streams_explain("rate_limited"));
	else if (err == EBUSY)
		end_later(s, VISION_SHOW_LOST, "the account watches in another channel");
	else if (err)
		end_later(s, VISION_SHOW_LOST, "the account is not connected");
}

static bool is_elsewhere(const struct show *s, const struct media_video_film *m)
{
	return s->kind == MEDIA_MUSIC_FILE && m->failure.n == strlen("not_found") &&
	       memcmp(m->failure.p, "not_found", m->failure.n) == 0 &&
	       s->root + 1 < s->conf.n_folders;
}

static void fail(struct show *s, const struct media_video_film *m)
{
	char text[TEXT_SIZE];

	if (!s->stream && is_elsewhere(s, m)) {
		s->root++;
		if (!open_film(s))
			return;
	}
	snprintf(text, sizeof text, "%.*s", (int)m->text.n, (const char *)m->text.p);
	end_later(s, VISION_SHOW_FAILED, text);
}

/* A session tells Discord at its beginning which codec it will send, which mediad knows once the
 * film is open: one that began before would show nothing to anybody. */
static void note_open(struct show *s, enum media_music_phase phase)
{
	s->open = phase != MEDIA_MUSIC_PHASE_OPENING && phase != MEDIA_MUSIC_PHASE_FAILED;
	if (!s->open || !s->asked)
		return;
	s->asked = false;
	if (s->stream)
		streams_media(s->conf.streams, s->stream, MEDIA_PHASE_WAITING, MEDIA_REASON_NONE,
			      true, env_now(s->conf.env));
}

static void copy_title(struct show *s, const char *text, size_t n)
{
	utf8_copy_or_latin1(s->title, sizeof s->title, text, n);
	utf8_plain(s->title);
}

static void take_film(struct show *s, const struct media_video_film *m)
{
	log_info("golive_film", "film=%u phase=%s codec=%s size=%ux%u at_ms=%llu", m->film,
		 media_music_phase_name(m->phase), media_video_codec_name(m->codec), m->width,
		 m->height, ID(m->position_ms));
	s->position_ms = m->position_ms;
	s->position_at = env_now(s->conf.env);
	s->idle_at = m->phase == MEDIA_MUSIC_PHASE_PLAYING ? 0
		     : s->idle_at			   ? s->idle_at
							   : env_now(s->conf.env);
	note_open(s, (enum media_music_phase)m->phase);
	if (m->phase == MEDIA_MUSIC_PHASE_READY) {
		if (m->title.n)
			copy_title(s, (const char *)m->title.p, m->title.n);
		s->duration_ms = m->duration_ms;
		announce(s);
	} else if (m->phase == MEDIA_MUSIC_PHASE_FAILED) {
		fail(s, m);
	} else if (m->phase == MEDIA_MUSIC_PHASE_ENDED) {
		end_later(s, VISION_SHOW_ASKED, "it is over");
	}
}

static void take_state(struct show *s, const struct media_call_state *m)
{
	/* It begins when somebody watches: before that there is no key to send with. */
	if (m->phase == MEDIA_PHASE_UP) {
		tell(s, true, "");
		if (!s->begun)
			report(s, VISION_SHOW_BEGUN, "");
		s->begun = true;
	}
	/* Another mediad tells anew how many are there. */
	if (m->reason == MEDIA_REASON_MEDIA_LOST)
		s->viewers = -1;
	s->open = s->open && m->reason != MEDIA_REASON_MEDIA_LOST;
	s->asked = m->wants_credentials && !s->open && m->phase != MEDIA_PHASE_FAILED;
	if (s->asked)
		return;
	if (s->stream)
		streams_media(s->conf.streams, s->stream, m->phase, m->reason, m->wants_credentials,
			      env_now(s->conf.env));
	else if (m->phase == MEDIA_PHASE_FAILED)
		end_later(s, VISION_SHOW_LOST, "mediad has no room for it");
}

/* Each viewer is in the group of the call's encryption, as the account is. */
static void take_secure(struct show *s, const struct media_call_secure *m)
{
	s->viewers = !m->known || !m->version ? -1 : m->members ? (int)m->members - 1 : 0;
	golive_room_secure(s->conf.room, s->guild, m, &s->told_clear);
}

static void on_media(struct media_call *call, const struct media_msg *msg, void *arg)
{
	struct show *s = arg;

	if (call != s->call)
		return;
	if (msg->type == MEDIA_CALL_STATE)
		take_state(s, &msg->call_state);
	else if (msg->type == MEDIA_CALL_SECURE)
		take_secure(s, &msg->call_secure);
	else if (msg->type == MEDIA_VIDEO_FILM)
		take_film(s, &msg->video_film);
}

/* ---- the stream ---- */

static void take_lease(struct show *s, const struct streams_act *act)
{
	int err;

	media_call_set_server(s->call, act->server, act->channel);
	err = media_call_credentials(s->call, act->session, act->token, act->endpoint,
				     act->channel);
	log_info("golive_show_lease", "endpoint=%s err=%d", act->endpoint, err);
	if (err)
		end_later(s, VISION_SHOW_LOST, "mediad is not there");
}

void show_take_act(struct show *s, const struct streams_act *act)
{
	if (!s->stream || act->stream != s->stream)
		return;
	if (act->type == STREAMS_ACT_LEASE) {
		take_lease(s, act);
	} else if (act->type == STREAMS_ACT_PAUSED) {
		media_call_pause_film(s->call, act->paused);
	} else if (act->type == STREAMS_ACT_ENDED) {
		s->stream = 0; /* it is forgotten there */
		end_later(s, act->media_reason ? VISION_SHOW_TOLD : VISION_SHOW_LOST,
			  streams_explain(act->why));
		if (act->media_reason)
			s->conf.room->tellh(s->guild, act->media_reason, s->conf.room->arg);
	}
}

/* ---- time ---- */

/* The account shows it only where the bot is. */
static void find_end(struct show *s)
{
	struct guild_voice v;

	if (!guilds_voice(s->conf.guilds, s->guild, guilds_self(s->conf.guilds), &v) ||
	    v.channel != s->channel)
		end_later(s, VISION_SHOW_ASKED, "the bot has left the voice channel");
	else if (s->idle_at && env_now(s->conf.env) - s->idle_at > IDLE_S * NS_PER_S)
		end_later(s, VISION_SHOW_UNWATCHED, "nobody watched it for five minutes");
}

void show_tick(struct show *s)
{
	char why[TEXT_SIZE];

	if (!s->call)
		return;
	if (!s->over)
		find_end(s);
	if (!s->over) {
		golive_room_update(s->conf.room, s->call, s->guild, s->channel);
		return;
	}
	utf8_copy(why, sizeof why, s->why);
	end_now(s, s->how, why);
}

bool show_runs(const struct show *s)
{
	return s->call != NULL;
}

/* ---- requests of tools ---- */

static bool set_source(struct show *s, const char *url)
{
	bool file;

	if (s->visualizer) {
		s->kind = MEDIA_MUSIC_VISUALIZER;
		s->path = strdup("");
		return s->path != NULL;
	}
	file = strncmp(url, FILE_SCHEME, strlen(FILE_SCHEME)) == 0;

	if (!file && strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return false;
	if (file && !s->conf.n_folders)
		return false;
	s->kind = file ? MEDIA_MUSIC_FILE : MEDIA_MUSIC_HTTP;
	s->path = strdup(file ? url + strlen(FILE_SCHEME) : url);
	return s->path != NULL;
}

static const char *find_cut(const char *text)
{
	static const char *const encoded[] = {"%3f", "%3F", "%3b", "%3B", "%23"};
	const char *end = text + strcspn(text, "?#;");

	for (size_t i = 0; i < sizeof encoded / sizeof *encoded; i++) {
		const char *at = strstr(text, encoded[i]);

		end = at && at < end ? at : end;
	}
	return end;
}

/* Encoded blanks and bytes of UTF-8 alone are letters of a name: anything else that is encoded may
 * end a part of the address, as "%2F" does. So may a backslash. */
static bool is_one_part(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *at = text + i;

		if (*at == '\\')
			return false;
		if (*at == '%' && (n - i < 3 || !isxdigit((unsigned char)at[2]) ||
				   (memcmp(at, "%20", 3) != 0 && !strchr("89abcdefABCDEF", at[1]))))
			return false;
	}
	return true;
}

static bool is_film_name(const char *text, size_t n)
{
	static const char *const ends[] = {".mp4", ".m4v", ".mov", ".mkv", ".webm"};

	if (!is_one_part(text, n))
		return false;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t k = strlen(ends[i]);

		if (n > k && strncasecmp(text + n - k, ends[i], k) == 0)
			return true;
	}
	return false;
}

/* Until it has told a title: the name of its file. Each part of an address may be a secret that
 * opens it: its last part is told only where it looks like a film's name, else its host is. */
static void name_file(struct show *s)
{
	bool web = s->kind == MEDIA_MUSIC_HTTP;
	const char *host = web ? strstr(s->path, "://") + 3 : s->path;
	const char *end = web ? find_cut(host) : s->path + strlen(s->path);
	const char *from = end;

	while (from > host && from[-1] != '/')
		from--;
	if (web && (from == host || !is_film_name(from, (size_t)(end - from)))) {
		from = host;
		end = host + strcspn(host, "/?#");
	}
	copy_title(s, from, (size_t)(end - from));
}

/* Until it has a server the call is known by the account's id, which no server has. */
static int open_call(struct show *s)
{
	uint64_t account = streams_account(s->conf.streams);
	const struct media_want want = {.guild = account,
					.channel = account,
					.user = account,
					.bitrate = BITRATE,
					.deaf = true,
					.stream = true};
	const struct media_want allowed =
		golive_room_want(s->conf.room, s->guild, s->channel, &want);

	return media_call_open(&s->call, s->conf.media, &allowed, on_media, s);
}

/* By the list of this half, as music is. A clause; NULL: it may be. */
static const char *judge_address(struct show *s)
{
	if (s->kind != MEDIA_MUSIC_HTTP ||
	    http_guard_allows(s->conf.settings->web_read_allowed, s->path, s->why, sizeof s->why))
		return NULL;
	return s->why;
}

/* What mediad is known not to show is refused at once, and no stream is announced for it. */
static const char *judge_mediad(const struct show *s)
{
	static const char *const clauses[] = {
		[MEDIA_MUSIC_LACKS_DECODERS] =
			"the program that decodes it does not run. Whoever runs the bot can change "
			"that",
		[MEDIA_MUSIC_LACKS_FOLDER] =
			"the media daemon was started without the folder of such files. Whoever "
			"runs the bot can change that",
		[MEDIA_MUSIC_LACKS_ADDRESS] =
			"the media daemon was started without this address. Whoever runs the bot "
			"can change that",
	};
	const struct media_film film = film_of(s);
	enum media_music_lack lack = media_film_find_lack(s->call, &film, s->conf.n_folders);

	if (lack)
		log_warn("golive_film_refused", "guild=%llu lacks=%s hint=\"%s\"", ID(s->guild),
			 media_music_lack_name(lack), media_music_hint(s->call, lack));
	return clauses[lack];
}

/* NULL: its file is being opened; else a clause, why it is not. */
static const char *begin(struct show *s, const char *url)
{
	const char *why;

	if (!set_source(s, url))
		return "the address may not be read";
	why = judge_address(s);
	if (why)
		return why;
	if (open_call(s))
		return "there is no memory for it";
	why = judge_mediad(s);
	return why ? why : open_film(s) ? "there is no memory for it" : NULL;
}

/* Nothing was announced, so its asker alone is told. */
static void give_up(struct show *s, const char *why)
{
	utf8_copy(s->refusal, sizeof s->refusal, why);
	media_call_free(s->call);
	free(s->path);
	clear(s);
}

const char *show_film(struct show *s, const struct vision_film *film, vision_film_h *h, void *arg)
{
	const char *why;

	if (s->call)
		return "another video is being shown";
	s->guild = film->guild;
	s->channel = film->channel;
	s->user = film->user;
	s->sound = film->sound;
	s->visualizer = film->visualizer;
	why = begin(s, film->url);
	if (why) {
		give_up(s, why);
		return s->refusal;
	}
	s->asked_ms = env_wall_ms(s->conf.env);
	s->viewers = -1;
	name_file(s);
	log_info("golive_show", "guild=%llu channel=%llu user=%llu", ID(s->guild), ID(s->channel),
		 ID(film->user));
	s->h = h;
	s->arg = arg;
	return NULL;
}

void show_forget(struct show *s, const void *arg)
{
	if (s->arg == arg)
		s->h = NULL;
}

void show_forget_user(struct show *s, uint64_t user)
{
	if (s->user == user)
		s->user = 0;
	if (s->past.what.user == user)
		s->past.what.user = 0;
}

bool show_end(struct show *s, uint64_t guild)
{
	if (!s->call || s->over || (guild && s->guild != guild))
		return false;
	end_later(s, VISION_SHOW_ASKED, "somebody has stopped it");
	return true;
}

bool show_now(const struct show *s, uint64_t guild, struct vision_show *out)
{
	const struct past *p = &s->past;

	if (s->call && s->guild == guild) {
		describe(s, out);
		out->why = s->over ? s->why : NULL;
		out->over_ms = s->over_ms;
		return true;
	}
	if (!p->at || p->what.guild != guild ||
	    env_now(s->conf.env) - p->at > SHOW_TOLD_S * NS_PER_S)
		return false;
	*out = p->what;
	out->title = p->title;
	out->why = p->why;
	return true;
}

/* ---- life ---- */

int show_alloc(struct show **out, const struct show_conf *conf)
{
	struct show *s = calloc(1, sizeof *s);

	if (!s)
		return ENOMEM;
	s->conf = *conf;
	*out = s;
	return 0;
}

struct show *show_free(struct show *s)
{
	if (!s)
		return NULL;
	if (s->call)
		end_now(s, VISION_SHOW_ASKED, "the bot ends");
	free(s);
	return NULL;
}
