#include "mediad/call/film.h"

#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "mediad/call/call_internal.h"
#include "mediad/engine/video_feed.h"
#include "mediad/engine/video_sender.h"
#include "mediad/video/codec.h"
#include "mediad/video/film_clock.h"
#include "proto/base/time.h"

enum {
	TELL_MS = 1000,
	GAP_MS = 10000, /* between two frames, at most: the rest of a longer one is left out */
	LATE_MS = 1000, /* without sound, what is later begins the clock anew */
	LOOK_MS = 100,	/* whether the last frame has left, and whether its sound has ended */
	SOUND_MS = 20,	/* whether its sound is open */
	END_MS = 500,	/* after it, in which viewers ask for packets that they miss */
	DEATHS_MAX = 8, /* of the decoder program, after which the film fails */
	SAMPLES_MS = 48,
	GAIN = 1000,
	SOUND_BITRATE = 128000,
};

struct film {
	struct call *c;
	uint32_t id;
	uint64_t track;
	struct video_feed *feed; /* NULL before it is open */
	struct tmr *tmr;
	struct decoder_opened opened;
	enum media_music_phase phase;
	enum decoder_reason failure;
	bool paused, sounds; /* sounds: it has sound, as music with its id */
	bool sound_runs;
	enum media_music_kind sound_kind; /* 0: none is to be opened */
	struct decoder_source source;
	uint64_t start_us;
	unsigned deaths;
	bool live;  /* the visualizer: what is not shown now is shown never */
	bool waits; /* of one: for a key frame, because some were left out */
	struct {
		uint8_t *bytes; /* NULL: none came yet */
		size_t n;
		uint64_t at_us;
		bool key;
	} next;
	struct film_clock clock;
	uint64_t position_us, told_at;
	bool over, left; /* no frame follows; the last one has left */
};

/* ---- what control is told ---- */

static void send_film(const struct film *f, enum media_reason why)
{
	struct media_msg msg = {.type = MEDIA_VIDEO_FILM};
	struct media_video_film *m = &msg.video_film;
	bool failed = f->phase == MEDIA_MUSIC_PHASE_FAILED;

	m->film = f->id;
	m->phase = (uint8_t)f->phase;
	m->reason = (uint16_t)why;
	m->codec = f->opened.video.codec;
	m->width = f->opened.video.width;
	m->height = f->opened.video.height;
	m->fps = f->opened.video.fps;
	m->position_ms = f->position_us / US_PER_MS;
	m->duration_ms = f->opened.duration / SAMPLES_MS;
	m->failure = slice_str(failed ? decoder_reason_name(f->failure) : "");
	m->text = slice_str(failed ? decoder_reason_text(f->failure) : "");
	m->title = slice_str(f->opened.title);
	call_send(f->c, &msg, 0);
}

void film_send_state(const struct film *f)
{
	if (f)
		send_film(f, MEDIA_REASON_NONE);
}

static void set_phase(struct film *f, enum media_music_phase phase)
{
	if (f->phase == phase)
		return;
	f->phase = phase;
	send_film(f, MEDIA_REASON_NONE);
}

/* Frees it. */
static void finish(struct film *f, enum media_music_phase phase, enum media_reason why)
{
	struct call *c = f->c;

	f->phase = phase;
	log_info("film_over", "call=%u film=%u reason=%s", c->id, f->id,
		 why == MEDIA_REASON_SOURCE_FAILED ? decoder_reason_name(f->failure)
						   : media_reason_name(why));
	send_film(f, why);
	call_video_film_over(c);
	film_free(f);
}

static void fail(struct film *f, enum decoder_reason failure)
{
	f->failure = failure;
	finish(f, MEDIA_MUSIC_PHASE_FAILED, MEDIA_REASON_SOURCE_FAILED);
}

/* ---- the clock ---- */

static void forget_next(struct film *f)
{
	if (f->next.bytes)
		explicit_bzero(f->next.bytes, f->next.n);
	free(f->next.bytes);
	f->next.bytes = NULL;
}

static uint64_t sound_us(const struct film *f)
{
	return f->opened.video.sound_ms * US_PER_MS;
}

/* Its sound may begin later than its picture. Returns when, in ns; 0: it has none that waits. */
static uint64_t run_sound(struct film *f, uint64_t now)
{
	if (!f->sounds || f->sound_runs)
		return 0;
	if (film_clock_at(&f->clock, now) < sound_us(f))
		return film_clock_due(&f->clock, sound_us(f));
	f->sound_runs = true;
	call_music_pause(f->c, f->id, false, 0);
	return 0;
}

static void stop_clock(struct film *f)
{
	if (f->sound_runs)
		call_music_pause(f->c, f->id, true, 0);
	f->sound_runs = false;
	film_clock_stop(&f->clock, !f->live, env_now(f->c->conf.env));
	tmr_stop(f->tmr);
}

/* Nobody watches, or the film is paused. */
static void stand_still(struct film *f)
{
	stop_clock(f);
	if (f->phase == MEDIA_MUSIC_PHASE_PLAYING)
		set_phase(f, f->paused ? MEDIA_MUSIC_PHASE_PAUSED : MEDIA_MUSIC_PHASE_READY);
}

/* Leaves the next frame out. */
static void pass_over(struct film *f)
{
	f->waits = true;
	forget_next(f);
	video_feed_ask(f->feed);
}

static bool has_sound(const struct film *f)
{
	return f->sounds && call_music_is_there(f->c, f->id);
}

/* Its sound goes on in a gap between two pictures, as of slides, and while pictures are missing:
 * those that come late leave at once, until they are with it again. Without sound nobody waits for
 * the rest of a long gap, and late pictures are as good as others. */
static bool begins_anew(const struct film *f, uint64_t now)
{
	uint64_t due = film_clock_due(&f->clock, f->next.at_us);

	return (due > now + GAP_MS * NS_PER_MS || due + LATE_MS * NS_PER_MS < now) && !has_sound(f);
}

static void schedule_sound(struct film *f, uint64_t now)
{
	uint64_t at = f->clock.running ? run_sound(f, now) : 0;

	if (at)
		tmr_start_at(f->tmr, at);
}

static void tell_position(struct film *f, uint64_t position_us, uint64_t now)
{
	f->position_us = position_us;
	if (now - f->told_at < TELL_MS * NS_PER_MS)
		return;
	f->told_at = now;
	film_send_state(f);
}

static void schedule(struct film *f)
{
	uint64_t now = env_now(f->c->conf.env), wake, sound;

	if (f->live && f->next.bytes &&
	    (f->paused || !call_video_sends(f->c) || (f->waits && !f->next.key)))
		pass_over(f);
	if (f->paused || !call_video_sends(f->c)) {
		stand_still(f);
		return;
	}
	if (!f->next.bytes) {
		schedule_sound(f, now);
		return;
	}
	/* Both begin together. One that cannot be opened is gone then. */
	if (!f->clock.running && f->sounds && call_music_opens(f->c, f->id)) {
		tmr_start(f->tmr, SOUND_MS * NS_PER_MS);
		return;
	}
	if (!f->clock.running)
		film_clock_start(&f->clock, f->next.at_us, now);
	/* A place that was kept may be far from the next frame. */
	if (begins_anew(f, now))
		film_clock_start(&f->clock, f->next.at_us, now);
	f->waits = false;
	set_phase(f, MEDIA_MUSIC_PHASE_PLAYING);
	sound = run_sound(f, now);
	wake = film_clock_send_at(&f->clock, f->next.at_us);
	wake = sound && sound < wake ? sound : wake;
	tmr_start_at(f->tmr, wake < now + GAP_MS * NS_PER_MS ? wake : now + GAP_MS * NS_PER_MS);
}

static void send_next(struct film *f)
{
	uint64_t now = env_now(f->c->conf.env);
	uint64_t stamp_us = film_clock_sent(&f->clock, f->next.at_us, now);

	call_video_put(f->c, (struct slice){f->next.bytes, f->next.n},
		       (uint32_t)(stamp_us * (VIDEO_CLOCK / 1000) / US_PER_MS), f->next.key);
	tell_position(f, f->next.at_us, now);
	forget_next(f);
	video_feed_ask(f->feed);
	schedule(f);
}

/* What comes late must not overflow the pacer's queue: of what that drops nothing can be decoded up
 * to the next key frame. */
static bool has_room(const struct film *f)
{
	size_t queued = call_video_queued(f->c);

	return !queued || queued + f->next.n <= VIDEO_QUEUE / 2;
}

/* All pictures are shown, and the last one stands while the sound goes on, if it is still there. */
static bool stands(const struct film *f)
{
	return f->over && !f->left && !f->failure && f->sounds;
}

static void play_sound_alone(struct film *f)
{
	uint64_t now = env_now(f->c->conf.env), wake = now + LOOK_MS * NS_PER_MS, sound;

	if (f->paused || !call_video_sends(f->c)) {
		stand_still(f);
		return;
	}
	if (!f->clock.running)
		film_clock_start(&f->clock, f->position_us, now);
	set_phase(f, MEDIA_MUSIC_PHASE_PLAYING);
	sound = run_sound(f, now); /* it may begin behind them */
	tell_position(f, film_clock_at(&f->clock, now), now);
	tmr_start_at(f->tmr, sound && sound < wake ? sound : wake);
}

/* The last frames wait for the pacer, and then for viewers who miss some of their packets. */
static void end_film(struct film *f)
{
	if (call_video_queued(f->c)) {
		tmr_start(f->tmr, LOOK_MS * NS_PER_MS);
	} else if (stands(f) && has_sound(f)) {
		play_sound_alone(f);
	} else if (!f->left) {
		f->left = true;
		tmr_start(f->tmr, END_MS * NS_PER_MS);
	} else if (f->failure) {
		fail(f, f->failure);
	} else {
		finish(f, MEDIA_MUSIC_PHASE_ENDED, MEDIA_REASON_NONE);
	}
}

static void on_tmr(void *arg)
{
	struct film *f = arg;

	if (f->over)
		end_film(f);
	else if (f->paused || !call_video_sends(f->c) || !f->clock.running || !f->next.bytes ||
		 env_now(f->c->conf.env) < film_clock_send_at(&f->clock, f->next.at_us))
		schedule(f);
	else if (!has_room(f))
		tmr_start(f->tmr, FILM_STEP_US * NS_PER_US);
	else
		send_next(f);
}

void film_sound_played(struct film *f, uint32_t music, uint64_t sample, uint64_t at)
{
	if (f && music == f->id && f->sound_runs &&
	    film_clock_follow(&f->clock, sound_us(f) + sample * US_PER_MS / SAMPLES_MS, at) &&
	    !f->over)
		schedule(f);
}

void film_wake(struct film *f)
{
	if (!f || f->phase == MEDIA_MUSIC_PHASE_OPENING)
		return;
	if (stands(f)) /* its sound may have gone meanwhile */
		end_film(f);
	else if (!f->over)
		schedule(f);
}

/* ---- the source ---- */

/* Opens its sound where its first frame is, which is a key frame before the place that was asked
 * for, or at its beginning. A source without sound has none: that is no failure of the film. */
static void open_sound(struct film *f)
{
	uint64_t at_us = f->opened.seekable ? f->next.at_us : 0;
	uint64_t start_ms = at_us > sound_us(f) ? (at_us - sound_us(f)) / US_PER_MS : 0;
	const struct media_music_play music = {.music = f->id,
					       .kind = (uint8_t)f->sound_kind,
					       .root = f->source.root,
					       .path = slice_str(f->source.path),
					       .headers = slice_str(f->source.headers),
					       .start = start_ms * SAMPLES_MS,
					       .gain = GAIN,
					       .paused = true,
					       .duck = GAIN,
					       .bitrate = SOUND_BITRATE};

	f->sounds = true;
	f->sound_kind = MEDIA_MUSIC_NONE;
	call_music_play(f->c, &music);
	/* The first frame waits for its time. */
	if (f->next.at_us - at_us <= GAP_MS * US_PER_MS)
		film_clock_begin_at(&f->clock, at_us);
}

static void on_decoder(const struct decoder_msg *msg, void *arg);

static enum decoder_reason open_source(struct film *f, uint64_t at_us)
{
	return decoders_open(f->c->conf.decoders, &f->source, at_us / US_PER_MS * SAMPLES_MS,
			     DECODER_VIDEO, on_decoder, f, &f->track);
}

/* The decoder program was lost, and what it had read has been shown: another one goes on where the
 * clock is. */
static bool open_again(struct film *f)
{
	bool began = f->opened.video.codec != VIDEO_NONE;
	uint64_t at_us = f->clock.running ? film_clock_at(&f->clock, env_now(f->c->conf.env))
			 : f->clock.keeps ? f->clock.base_us
			 : began	  ? f->position_us
					  : f->start_us;
	enum decoder_reason reason;

	if (f->failure != DECODER_REASON_LOST || f->live || (began && !f->opened.seekable) ||
	    f->deaths == DEATHS_MAX)
		return false;
	f->deaths++;
	f->feed = video_feed_free(f->feed);
	decoders_close(f->c->conf.decoders, f->track);
	f->failure = DECODER_REASON_UNKNOWN;
	reason = open_source(f, at_us);
	if (reason)
		fail(f, reason);
	return true;
}

static void on_unit(const struct video_unit *unit, const uint8_t *bytes, bool broken, void *arg)
{
	struct film *f = arg;

	if (!unit) {
		if (broken)
			f->failure = DECODER_REASON_CRASHED;
		if (open_again(f))
			return;
		f->over = true;
		end_film(f);
		return;
	}
	forget_next(f);
	f->next.bytes = malloc(unit->n);
	if (!f->next.bytes) {
		fail(f, DECODER_REASON_LIMIT);
		return;
	}
	memcpy(f->next.bytes, bytes, unit->n);
	f->next.n = unit->n;
	f->next.at_us = unit->at_us;
	f->next.key = unit->key;
	if (f->sound_kind)
		open_sound(f);
	schedule(f);
}

static void open_film(struct film *f, const struct decoder_opened *opened)
{
	struct call *c = f->c;

	f->opened = *opened;
	if (!opened->video.codec ||
	    video_feed_alloc(&f->feed, c->conf.env, decoders_video(c->conf.decoders, f->track),
			     on_unit, f)) {
		fail(f, opened->video.codec ? DECODER_REASON_LIMIT : DECODER_REASON_NO_VIDEO);
		return;
	}
	call_video_show(c, &opened->video);
	if (f->phase == MEDIA_MUSIC_PHASE_OPENING)
		set_phase(f, f->paused ? MEDIA_MUSIC_PHASE_PAUSED : MEDIA_MUSIC_PHASE_READY);
	video_feed_ask(f->feed);
}

static void on_decoder(const struct decoder_msg *msg, void *arg)
{
	struct film *f = arg;

	if (msg->type == DECODER_OPENED && !f->feed) {
		open_film(f, &msg->opened);
	} else if (msg->type == DECODER_ENDED) {
		f->failure =
			msg->reason == DECODER_REASON_END ? DECODER_REASON_UNKNOWN : msg->reason;
		/* Otherwise it shows what is in the ring. */
		if (!f->feed && !open_again(f))
			fail(f, msg->reason);
	}
}

/* ---- commands ---- */

static bool set_source(struct decoder_source *out, const struct media_video_play *m)
{
	if (m->kind != MEDIA_MUSIC_VISUALIZER)
		return decoder_source_set(out, m->kind, m->root, m->path, m->headers);
	*out = (struct decoder_source){.kind = DECODER_FILE,
				       .visualizer = (uint8_t)(m->visualizer + 1)};
	return m->visualizer < UINT8_MAX;
}

void film_alloc(struct film **out, struct call *c, const struct media_video_play *m)
{
	struct film *f = calloc(1, sizeof *f);
	enum decoder_reason reason = DECODER_REASON_REFUSED_URL;

	*out = NULL;
	if (!f || tmr_alloc(&f->tmr, c->conf.env, on_tmr, f)) {
		log_warn("film_refused", "call=%u film=%u error=memory", c->id, m->film);
		free(f);
		return;
	}
	f->c = c;
	f->id = m->film;
	f->paused = m->paused;
	f->phase = MEDIA_MUSIC_PHASE_OPENING;
	*out = f;
	f->live = m->kind == MEDIA_MUSIC_VISUALIZER;
	f->start_us = m->start_ms * US_PER_MS;
	if (set_source(&f->source, m))
		reason = open_source(f, f->start_us);
	if (reason) {
		fail(f, reason);
		return;
	}
	if (f->live)
		decoders_follow(c->conf.decoders, f->track, m->music);
	if (m->sound && !f->live)
		f->sound_kind = (enum media_music_kind)m->kind;
	film_send_state(f);
}

struct film *film_free(struct film *f)
{
	if (!f)
		return NULL;
	if (f->sounds)
		call_music_stop(f->c, f->id, 0);
	explicit_bzero(&f->source, sizeof f->source);
	forget_next(f);
	video_feed_free(f->feed);
	decoders_close(f->c->conf.decoders, f->track);
	tmr_free(f->tmr);
	free(f);
	return NULL;
}

void film_stop(struct film *f)
{
	if (!f)
		return;
	f->phase = MEDIA_MUSIC_PHASE_ENDED;
	send_film(f, MEDIA_REASON_STOPPED);
}

void film_pause(struct film *f, const struct media_video_pause *m)
{
	if (!f || m->film != f->id || m->paused == f->paused)
		return;
	f->paused = m->paused;
	if (f->phase == MEDIA_MUSIC_PHASE_OPENING || (f->over && !stands(f)))
		return;
	if (f->paused) {
		stop_clock(f);
		set_phase(f, MEDIA_MUSIC_PHASE_PAUSED);
	} else {
		set_phase(f, MEDIA_MUSIC_PHASE_READY);
		film_wake(f);
	}
}
