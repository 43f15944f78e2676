#include "tests/caller/caller.h"
#include "tests/join.h"

#include "control/media/media.h"
#include "control/report/secure.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	RATE = 24000,
	KEEP_S = 120,	 /* of each side */
	JOIN_MS = 20000, /* for our own call and the bot's */
	SETTLE_MS =
		500, /* between the bot being there and the first word: it has to hear of us, too */
	RTP_PER_SAMPLE = 2, /* 48 kHz clock */
};

struct caller {
	struct env *env;
	struct caller_conf conf;
	struct http *http;
	struct media *media;
	struct media_call *call;
	struct media_playback *say;
	struct media_playback *more; /* the line that is being said, or was last */
	unsigned next_line;
	struct tmr *tmr, *line_tmr;
	caller_done_h *h;
	void *arg;
	uint64_t t0, spoke_at, ended_at, bot_at;
	bool up, bot_here, speaking, spoke, answered, done;
	int16_t *left, *right;
	size_t n_left, n_right;
	uint32_t capture, first_rtp;
	size_t first_at; /* where in `right` the running capture begins */
	bool in_capture;
	char code[48]; /* the privacy code that was printed last */
};

const char *caller_end_text(enum caller_end end)
{
	static const char *const text[] = {
#define X(NAME, t) t,
		CALLER_ENDS(X)
#undef X
	};

	return text[end];
}

static void line(const struct caller *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void line(const struct caller *c, const char *fmt, ...)
{
	va_list ap;

	printf("%7.2f  ", (double)(env_now(c->env) - c->t0) / 1e9);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

static void end(struct caller *c, enum caller_end why)
{
	if (c->done)
		return;
	c->done = true;
	tmr_stop(c->tmr);
	c->h(why, c->arg);
}

static void say_event(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
		      unsigned reason, uint64_t at_ns, void *arg)
{
	struct caller *c = arg;

	(void)pb;
	switch (ev) {
	case MEDIA_PB_STARTED:
		c->spoke_at = at_ns;
		line(c, "the caller begins to speak");
		break;
	case MEDIA_PB_DRAINED:
		c->spoke = true;
		c->ended_at = env_now(c->env);
		line(c, "the caller has spoken (%.2f s)", (double)samples / c->conf.rate);
		tmr_start(c->tmr, c->conf.answer_ms * NS_PER_MS);
		break;
	case MEDIA_PB_STOPPED:
		line(c, "the caller was cut off: %s", media_reason_text(reason));
		end(c, CALLER_NO_CALL);
		break;
	case MEDIA_PB_PAUSED:
		break;
	}
}

static void speak(struct caller *c)
{
	c->speaking = true;
	if (media_playback_open(&c->say, c->call, c->conf.rate, say_event, c) ||
	    media_playback_write(c->say, c->conf.pcm, c->conf.samples)) {
		end(c, CALLER_NO_CALL);
		return;
	}
	media_playback_end(c->say);
	tmr_start(c->tmr,
		  (uint64_t)c->conf.samples * NS_PER_S / c->conf.rate + JOIN_MS * NS_PER_MS);
}

/* A recording at 24 kHz in the left channel from sample `at` on: by straight lines, for it is only
 * to be looked at and listened to. */
static int fill_left(struct caller *c, const int16_t *pcm, size_t samples, size_t at)
{
	size_t n = (size_t)((uint64_t)samples * RATE / c->conf.rate);

	if (at > (size_t)KEEP_S * RATE || n > (size_t)KEEP_S * RATE - at)
		return EMSGSIZE;
	for (size_t i = 0; i < n; i++) {
		double pos = (double)i * c->conf.rate / RATE;
		size_t k = (size_t)pos;
		double a = pcm[k], b = k + 1 < samples ? pcm[k + 1] : a;

		c->left[at + i] = (int16_t)(a + (b - a) * (pos - (double)k));
	}
	if (at + n > c->n_left)
		c->n_left = at + n;
	return 0;
}

/* ---- what is said over the bot ---- */

static void line_begin(void *arg);

static void line_wait(struct caller *c)
{
	uint64_t due;

	if (c->next_line >= c->conf.lines)
		return;
	due = c->bot_at + c->conf.line[c->next_line].after_ms * NS_PER_MS;
	tmr_start_at(c->line_tmr, due);
}

static void line_event(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
		       unsigned reason, uint64_t at_ns, void *arg)
{
	struct caller *c = arg;

	(void)pb;
	if (ev == MEDIA_PB_STARTED) {
		const struct caller_line *l = &c->conf.line[c->next_line - 1];

		line(c, "the caller speaks over the bot");
		fill_left(c, l->pcm, l->samples, (size_t)((at_ns - c->spoke_at) * RATE / NS_PER_S));
	} else if (ev == MEDIA_PB_DRAINED)
		line(c, "the caller has spoken (%.2f s)", (double)samples / c->conf.rate);
	else if (ev == MEDIA_PB_STOPPED)
		line(c, "the caller was cut off: %s", media_reason_text(reason));
	if (ev != MEDIA_PB_DRAINED && ev != MEDIA_PB_STOPPED)
		return;
	line_wait(c);
	/* What counts is the answer to the last of them. */
	c->answered = false;
	c->ended_at = env_now(c->env);
	tmr_start(c->tmr, c->conf.answer_ms * NS_PER_MS);
}

static void line_begin(void *arg)
{
	struct caller *c = arg;
	const struct caller_line *l = &c->conf.line[c->next_line++];

	c->more = media_playback_free(c->more);
	if (media_playback_open(&c->more, c->call, c->conf.rate, line_event, c) ||
	    media_playback_write(c->more, l->pcm, l->samples)) {
		end(c, CALLER_NO_CALL);
		return;
	}
	media_playback_end(c->more);
	tmr_start(c->tmr, JOIN_MS * NS_PER_MS);
}

/* One timer, whose meaning follows from how far we are. */
static void timer(void *arg)
{
	struct caller *c = arg;

	if (!c->up)
		end(c, CALLER_NO_CALL);
	else if (!c->bot_here)
		end(c, CALLER_NO_BOT);
	else if (!c->speaking)
		speak(c);
	else if (!c->spoke)
		end(c, CALLER_NO_CALL);
	else
		end(c, c->answered ? CALLER_ANSWERED : CALLER_NO_ANSWER);
}

static void maybe_settle(struct caller *c)
{
	if (c->up && c->bot_here && !c->speaking)
		tmr_start(c->tmr, SETTLE_MS * NS_PER_MS);
}

/* Puts a frame where its arrival and RTP time say, so that pauses stay as long as they were. */
static void keep(struct caller *c, const struct media_heard *f)
{
	size_t at, n = f->pcm.n / 2;

	if (!c->spoke_at)
		return;
	if (!c->in_capture || f->capture != c->capture) {
		uint64_t since = f->at > c->spoke_at ? f->at - c->spoke_at : 0;

		c->in_capture = true;
		c->capture = f->capture;
		c->first_rtp = f->rtp;
		c->first_at = (size_t)(since * RATE / NS_PER_S);
		if (c->first_at < c->n_right)
			c->first_at = c->n_right;
	}
	at = c->first_at + (uint32_t)(f->rtp - c->first_rtp) / RTP_PER_SAMPLE;
	if (at >= (size_t)KEEP_S * RATE || n > (size_t)KEEP_S * RATE - at)
		return;
	memcpy(c->right + at, f->pcm.p, n * 2);
	if (at + n > c->n_right)
		c->n_right = at + n;
}

static void bot_speaks(struct caller *c, bool on)
{
	if (on && !c->bot_at) {
		c->bot_at = env_now(c->env);
		line_wait(c);
	}
	if (on && c->spoke && !c->answered) {
		c->answered = true;
		line(c, "the bot begins to speak, %.2f s after the caller's last word",
		     (double)(env_now(c->env) - c->ended_at) / 1e9);
	} else if (on) {
		line(c, "the bot speaks");
	} else {
		line(c, "the bot is silent");
	}
	if (c->spoke && c->answered && (on || c->next_line >= c->conf.lines)) {
		/* While it speaks nothing ends the wait but a very long answer. */
		tmr_start(c->tmr, (on ? 60000 : c->conf.quiet_ms) * NS_PER_MS);
	}
}

static void on_secure(struct caller *c, const struct media_call_secure *m)
{
	char code[sizeof c->code];

	secure_code(m, code, sizeof code);
	if (!code[0] || strcmp(code, c->code) == 0)
		return;
	memcpy(c->code, code, sizeof code);
	line(c,
	     "the call is end-to-end encrypted, %u members, epoch %llu; the caller's privacy code "
	     "is %s",
	     m->members, (unsigned long long)m->epoch, code);
}

static void call_event(struct media_call *call, const struct media_msg *m, void *arg)
{
	struct caller *c = arg;

	switch (m->type) {
	case MEDIA_CALL_STATE:
		if (m->call_state.phase == MEDIA_PHASE_UP && !c->up) {
			c->up = true;
			line(c, "the caller is in the channel (%.*s)", (int)m->call_state.mode.n,
			     (const char *)m->call_state.mode.p);
			media_call_listen(call, c->conf.bot, RATE, 1000);
			maybe_settle(c);
		} else if (m->call_state.phase == MEDIA_PHASE_FAILED) {
			line(c, "the caller cannot join: %s",
			     media_reason_text(m->call_state.reason));
			end(c, CALLER_NO_CALL);
		}
		break;
	case MEDIA_MEMBER:
		if (m->member.user == c->conf.bot && m->member.present && !c->bot_here) {
			c->bot_here = true;
			line(c, "the bot is in the channel");
			maybe_settle(c);
		}
		break;
	case MEDIA_CALL_SECURE:
		on_secure(c, &m->call_secure);
		break;
	case MEDIA_SPEAKING:
		if (m->speaking.user == c->conf.bot)
			bot_speaks(c, m->speaking.on);
		break;
	case MEDIA_HEARD:
		if (m->heard.user == c->conf.bot)
			keep(c, &m->heard);
		break;
	case MEDIA_HEARD_END:
		c->in_capture = false;
		break;
	default:
		break;
	}
}

/* guildd let our user in: what an application would get from the main gateway. */
static void joined(const struct http_resp *resp, void *arg)
{
	struct caller *c = arg;

	if (join_take_lease(c->call, resp, c->conf.channel)) {
		line(c, "guildd refused the caller (HTTP %d %s)", resp->status, resp->errtext);
		end(c, CALLER_NO_GUILD);
	}
}

static void wants(struct media_call *call, void *arg)
{
	struct caller *c = arg;

	(void)call;
	if (join_request(c->http, c->conf.api, c->conf.user, c->conf.guild, c->conf.channel, joined,
			 c))
		end(c, CALLER_NO_GUILD);
}

int caller_alloc(struct caller **out, struct env *env, const struct caller_conf *conf,
		 caller_done_h *h, void *arg)
{
	const char *socks[] = {conf->media_sock, NULL};
	struct media_conf mc = {.socks = socks,
				.spawn = conf->spawn,
				.ca_file = conf->ca_file,
				.run_dir = conf->run_dir,
				.user = conf->user,
				.epoch = 1,
				.members = true,
				.wantsh = wants};
	struct media_want want = {.guild = conf->guild,
				  .channel = conf->channel,
				  .bitrate = 64000,
				  .e2ee = MEDIA_E2EE_PREFER,
				  .consent = true};
	struct caller *c;
	int err;

	if (!out || !env || !conf->samples || !conf->rate)
		return EINVAL;
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->env = env;
	c->conf = *conf;
	c->h = h;
	c->arg = arg;
	c->t0 = env_now(env);
	mc.arg = c;
	c->left = calloc((size_t)KEEP_S * RATE, 2);
	c->right = calloc((size_t)KEEP_S * RATE, 2);
	err = c->left && c->right ? fill_left(c, conf->pcm, conf->samples, 0) : ENOMEM;
	if (!err)
		err = http_alloc(&c->http, env, NULL, "parley-caller");
	if (!err)
		err = tmr_alloc(&c->tmr, env, timer, c);
	if (!err)
		err = tmr_alloc(&c->line_tmr, env, line_begin, c);
	if (!err)
		err = media_alloc(&c->media, env, &mc);
	if (!err)
		err = media_call_open(&c->call, c->media, &want, call_event, c);
	if (err) {
		caller_free(c);
		return err;
	}
	tmr_start(c->tmr, JOIN_MS * NS_PER_MS);
	*out = c;
	return 0;
}

struct caller *caller_free(struct caller *c)
{
	if (c) {
		media_playback_free(c->say);
		media_playback_free(c->more);
		media_call_free(c->call);
		media_free(c->media);
		tmr_free(c->tmr);
		tmr_free(c->line_tmr);
		http_free(c->http);
		free(c->left);
		free(c->right);
		free(c);
	}
	return NULL;
}

const int16_t *caller_said(const struct caller *c, size_t *samples)
{
	*samples = c->n_left;
	return c->left;
}

const int16_t *caller_heard(const struct caller *c, size_t *samples)
{
	*samples = c->n_right;
	return c->right;
}
