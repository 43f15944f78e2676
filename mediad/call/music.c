/* Music of a call: opens tracks at the decoders, lends their lanes, and tells control what became
 * of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "mediad/call/call_internal.h"
#include "mediad/music/track_ring.h"
#include "proto/base/time.h"

enum {
	SEEK_FADE =
		480, /* frames over which a seek crosses, or music begins in its middle: 10 ms */
	/* A decoder that dies sooner is not replaced: the source may be the reason. Frames. */
	CONTINUES_AFTER = 48000,
	DEATHS_MAX = 8,	     /* nor is one of a source that goes on killing them */
	LIVE_BUFFER = 48000, /* frames of a source without length, before it sounds */
	CUT_FADE_MS = 40,    /* of music that began before control replaced it */
};

void music_set_phase(struct call *c, struct music_track *t, enum media_music_phase phase)
{
	if (phase == MEDIA_MUSIC_PHASE_PAUSED)
		t->paused_at = env_now(c->conf.env);
	t->phase = phase;
	music_send_state(c, t);
}

/* ---- the tracks ---- */

/* After a seek this is the track that was opened last. */
static struct music_track *find_music(struct call *c, uint32_t music)
{
	for (unsigned i = 0; music && i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i] && c->tracks[i]->music == music)
			return c->tracks[i];
	return NULL;
}

bool call_music_is_there(struct call *c, uint32_t music)
{
	return find_music(c, music) != NULL;
}

bool call_music_opens(struct call *c, uint32_t music)
{
	const struct music_track *t = find_music(c, music);

	return t && !t->lane && !t->rests;
}

struct music_track *music_find_lane(struct call *c, uint32_t lane)
{
	for (unsigned i = 0; lane && i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i] && c->tracks[i]->lane == lane)
			return c->tracks[i];
	return NULL;
}

static struct music_track *find_decoded(struct call *c, uint64_t decoded)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i] && c->tracks[i]->decoded == decoded)
			return c->tracks[i];
	return NULL;
}

static void remove_track(struct call *c, struct music_track *t)
{
	decoders_close(c->conf.decoders, t->decoded);
	call_forget_owed_music(c, t->lane);
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++) {
		if (c->tracks[i] && c->tracks[i]->replaces == t)
			c->tracks[i]->replaces = NULL;
		if (c->tracks[i] == t)
			c->tracks[i] = NULL;
	}
	/* Cookies of a page may be among its headers. */
	explicit_bzero(&t->source, sizeof t->source);
	free(t);
}

/* The music that plays or will play next is over: what was prepared is the present music now. A
 * MUSIC_NEXT that comes before the lane has started prepares what follows it, and must not replace
 * it. */
static void promote_follower(struct call *c)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i] && !c->tracks[i]->follows &&
		    c->tracks[i]->why == MEDIA_REASON_NONE)
			return;
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i])
			c->tracks[i]->follows = false;
}

static void lend_waiting(struct call *c);

static void wake_tracks(struct call *c);

static bool has_lost_its_decoder(const struct music_track *t)
{
	return t->failure == DECODER_REASON_CRASHED || t->failure == DECODER_REASON_LOST;
}

/* What should go on behind this track has not been opened in time: after the death of a decoder it
 * begins as late as it is opened, and not at all if something else was wrong. */
static void part_continuation(struct call *c, struct music_track *t)
{
	bool begins_late = t->why == MEDIA_REASON_SOURCE_FAILED && has_lost_its_decoder(t);

	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++) {
		struct music_track *o = c->tracks[i];

		if (!o || !o->continues || o->replaces != t || o->lane)
			continue;
		o->replaces = NULL;
		o->continues = false;
		if (begins_late) {
			music_send_state(c, o);
			continue;
		}
		o->failure = t->failure;
		music_finish_track(c, o, MEDIA_REASON_SOURCE_FAILED);
	}
}

static void continue_track(struct call *c, struct music_track *t);

void music_finish_track(struct call *c, struct music_track *t, enum media_reason why)
{
	struct music_track *stays = NULL;

	/* A seek that fails leaves the music where it plays. */
	if (t->replaces && t->phase == MEDIA_MUSIC_PHASE_OPENING &&
	    (why == MEDIA_REASON_SOURCE_FAILED || why == MEDIA_REASON_BAD_REQUEST)) {
		if (t->continues && music_is_fault_of_machine(t->failure))
			t->replaces->failure = t->failure;
		t->replaces->music = t->music;
		t->replaces->unsought = t->continues ? DECODER_REASON_UNKNOWN : t->failure;
		music_send_state(c, t->replaces);
		t->replaces->unsought = DECODER_REASON_UNKNOWN;
		t->music = 0;
		stays = t->continues ? NULL : t->replaces;
	}
	t->why = why;
	music_set_phase(c, t,
			why == MEDIA_REASON_SOURCE_FAILED ? MEDIA_MUSIC_PHASE_FAILED
							  : MEDIA_MUSIC_PHASE_ENDED);
	if (t->music)
		music_remember_end(c, t, music_position(t));
	part_continuation(c, t);
	remove_track(c, t);
	if (stays && has_lost_its_decoder(stays))
		continue_track(c, stays);
	promote_follower(c);
	wake_tracks(c);
	lend_waiting(c);
}

static void control_lane(struct call *c, const struct music_track *t, enum sender_command what,
			 uint32_t target, uint16_t fade_ms)
{
	struct cmd cmd = {.type = CMD_MUSIC_CONTROL};

	cmd.music.id = t->lane;
	cmd.music.what = what;
	cmd.music.target = target;
	cmd.music.fade_ms = fade_ms;
	if (t->lane)
		call_command(c, &cmd);
}

/* Stops a track. Its end is told once the lane has returned. The first reason counts. */
static void stop_track(struct call *c, struct music_track *t, enum media_reason why,
		       uint16_t fade_ms)
{
	if (t->why == MEDIA_REASON_NONE)
		t->why = why;
	if (t->lane)
		control_lane(c, t, SENDER_STOP, 0, fade_ms);
	else
		music_finish_track(c, t, t->why);
}

/* Stops all that play before t in its place. */
static void stop_replaced(struct call *c, const struct music_track *t, uint16_t fade_ms)
{
	for (struct music_track *o = t->replaces, *before; o; o = before) {
		before = o->replaces;
		stop_track(c, o, MEDIA_REASON_STOPPED, fade_ms);
	}
}

/* ---- the decoders ---- */

static int read_ring(void *ring, int16_t *pcm, size_t frames, size_t *got)
{
	return track_ring_read(ring, pcm, frames, got);
}

static bool ring_has_ended(void *ring)
{
	return track_ring_ended(ring);
}

/* True if the sound does not begin where somebody let it begin. */
static bool begins_in_middle(const struct music_track *t)
{
	return !t->continues && (t->start || !t->opened.duration);
}

static int alloc_lane(struct call *c, struct music_track *t, struct music_lane **out)
{
	struct music_lane_conf conf = {.id = c->next_music_lane + 1, .gain = music_track_gain(t)};

	if (begins_in_middle(t))
		conf.fade_in = SEEK_FADE;
	if (!t->opened.duration)
		track_ring_buffer(decoders_ring(c->conf.decoders, t->decoded), LIVE_BUFFER);
	if (!t->opened.guessed && t->opened.duration > t->start)
		conf.length = t->opened.duration - t->start;
	conf.source.read = read_ring;
	conf.source.ended = ring_has_ended;
	conf.source.arg = decoders_ring(c->conf.decoders, t->decoded);
	return music_lane_alloc(out, &conf);
}

static void lend_lane(struct call *c, struct music_track *t)
{
	struct cmd cmd = {.type = CMD_MUSIC_ADD};
	const struct music_track *album = music_find_album(c, t);

	if (album)
		music_keep_album_gain(t, album);
	if (alloc_lane(c, t, &cmd.music.lane)) {
		music_finish_track(c, t, MEDIA_REASON_BAD_REQUEST);
		return;
	}
	t->lane = ++c->next_music_lane;
	cmd.music.paused = t->paused;
	cmd.music.joint.crossfade = album ? 0 : t->crossfade;
	if (t->replaces) {
		cmd.music.joint.at_once = !t->continues;
		cmd.music.joint.after = t->replaces->lane;
	}
	if (!call_command(c, &cmd)) {
		t->lane = 0;
		music_finish_track(c, t, MEDIA_REASON_BAD_REQUEST);
		return;
	}
	/* A lane that is paused gives nothing to cross over from. */
	if (t->paused && !t->continues)
		stop_replaced(c, t, 0);
	music_set_phase(c, t, t->paused ? MEDIA_MUSIC_PHASE_PAUSED : MEDIA_MUSIC_PHASE_READY);
}

/* What is prepared to go on with the album of this track has not been heard yet. */
static void pass_album_gain(struct call *c, const struct music_track *t)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++) {
		struct music_track *o = c->tracks[i];

		if (!o || !o->lane || music_find_album(c, o) != t)
			continue;
		music_keep_album_gain(o, t);
		control_lane(c, o, SENDER_GLIDE, music_track_gain(o), 0);
	}
}

static void on_levels(struct call *c, struct music_track *t, const struct decoder_levels *levels)
{
	const uint32_t before = music_track_gain(t);
	const uint16_t fall_ms_per_db = music_take_levels(t, levels);

	if (music_track_gain(t) == before)
		return;
	control_lane(c, t, SENDER_GLIDE, music_track_gain(t), fall_ms_per_db);
	pass_album_gain(c, t);
}

/* True while a track that is to play before this one is being opened: a lane that is lent first
 * plays first. */
static bool waits_for_another(const struct call *c, const struct music_track *t)
{
	for (unsigned i = 0; t->follows && i < MUSIC_MIXER_LANES; i++) {
		const struct music_track *o = c->tracks[i];

		if (o && o != t && !o->lane && !o->follows)
			return true;
	}
	return false;
}

static void lend_or_wait(struct call *c, struct music_track *t)
{
	t->waits = waits_for_another(c, t);
	if (!t->waits)
		lend_lane(c, t);
	else
		music_set_phase(c, t,
				t->paused ? MEDIA_MUSIC_PHASE_PAUSED : MEDIA_MUSIC_PHASE_READY);
}

/* A track has got its lane, or ended without one. */
static void lend_waiting(struct call *c)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i] && c->tracks[i]->waits && !waits_for_another(c, c->tracks[i])) {
			c->tracks[i]->waits = false;
			lend_lane(c, c->tracks[i]);
		}
}

/* A seek, and music that has rested, begins with the levels that are known by then, so that the
 * gain stays. */
static void on_opened(struct call *c, struct music_track *t, const struct decoder_opened *opened)
{
	const struct decoder_levels known = t->opened.levels;

	t->opened = *opened;
	if ((t->replaces || t->known) && known.loudness != DECODER_NO_LEVEL)
		t->opened.levels = known;
	t->start = opened->start;
	if (!t->replaces && !t->known)
		music_send_tags(c, t);
	lend_or_wait(c, t);
	lend_waiting(c);
}

/* Returns a new track, or NULL when there is no place or no memory. */
static struct music_track *add_track(struct call *c, uint32_t music)
{
	unsigned i = 0;

	while (i < MUSIC_MIXER_LANES && c->tracks[i])
		i++;
	if (i == MUSIC_MIXER_LANES)
		return NULL;
	c->tracks[i] = calloc(1, sizeof *c->tracks[i]);
	if (!c->tracks[i])
		return NULL;
	c->tracks[i]->music = music;
	c->tracks[i]->claimed = true;
	c->tracks[i]->phase = MEDIA_MUSIC_PHASE_OPENING;
	return c->tracks[i];
}

/* What another opening of the same source has in common with this one. */
static void copy_track(struct music_track *to, const struct music_track *t)
{
	to->source = t->source;
	to->opened = t->opened;
	to->gain = t->gain;
	to->target = t->target;
	to->of_album = t->of_album;
	to->album_gain = t->album_gain;
	to->paused = t->paused;
	to->follows = t->follows;
}

static void open_track(struct call *c, struct music_track *t);

static void stop_tracks(struct call *c, bool all, uint16_t fade_ms);

/* The decoder has died: another one goes on behind the last frame that it wrote. */
static void continue_track(struct call *c, struct music_track *t)
{
	const struct track_ring *ring = decoders_ring(c->conf.decoders, t->decoded);
	/* By the decoder's word, which may be any. */
	uint64_t written =
		(uint64_t)env_answer(c->conf.env, ring ? (int64_t)track_ring_written(ring) : 0);
	struct music_track *next = NULL;

	if (t->music && t->lane && t->opened.seekable && t->why == MEDIA_REASON_NONE &&
	    (written >= CONTINUES_AFTER || t->failure == DECODER_REASON_LOST) &&
	    written <= DECODER_FRAMES_MAX && t->deaths < DEATHS_MAX)
		next = add_track(c, t->music);
	if (!next)
		return;
	/* Its last samples may have played before the other decoder has opened it, and what follows
	 * would begin: control prepares it again, and it waits. */
	if (!t->follows)
		stop_tracks(c, false, 0);
	copy_track(next, t);
	next->claimed = t->claimed;
	next->start = t->start + written;
	next->replaces = t;
	next->continues = true;
	next->deaths = t->deaths + 1;
	t->music = 0;
	open_track(c, next);
}

/* The process that forks the decoders was started again before this track had its lane. That says
 * nothing against its source. */
static bool open_again(struct call *c, struct music_track *t)
{
	if (t->failure != DECODER_REASON_LOST || t->lane || t->deaths == DEATHS_MAX)
		return false;
	decoders_close(c->conf.decoders, t->decoded);
	t->waits = false;
	t->deaths++;
	t->phase = MEDIA_MUSIC_PHASE_OPENING;
	open_track(c, t);
	return true;
}

static void on_decoder_event(const struct decoder_msg *msg, void *arg)
{
	struct call *c = arg;
	struct music_track *t = find_decoded(c, msg->track);

	if (!t)
		return;
	if (msg->type == DECODER_OPENED && !t->lane && !t->waits) {
		on_opened(c, t, &msg->opened);
	} else if (msg->type == DECODER_TITLE) {
		music_take_title(c, t, msg->title);
	} else if (msg->type == DECODER_LEVELS) {
		on_levels(c, t, &msg->levels);
	} else if (msg->type == DECODER_ANALYSIS) {
		music_send_analysis(c, t, msg);
	} else if (msg->type == DECODER_ENDED) {
		t->failure = msg->reason;
		if (msg->reason != DECODER_REASON_END)
			log_info("music_failed", "call=%u music=%u reason=%s", c->id, t->music,
				 decoder_reason_name(msg->reason));
		if (open_again(c, t))
			return;
		/* With a lane, or one to come, it plays what is in the ring. */
		if (!t->lane && !t->waits)
			music_finish_track(c, t, MEDIA_REASON_SOURCE_FAILED);
		else if (has_lost_its_decoder(t))
			continue_track(c, t);
	}
}

/* A decoder that is ahead of music that rests would wait as long as that. */
static bool waits_for_rest(const struct call *c, const struct music_track *t)
{
	for (unsigned i = 0; t->follows && i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i] && c->tracks[i]->rests && !c->tracks[i]->follows)
			return true;
	return false;
}

static void open_track(struct call *c, struct music_track *t)
{
	unsigned wants = (t->target ? DECODER_MEASURES : 0) | (t->follows ? DECODER_IS_AHEAD : 0);

	t->rests = waits_for_rest(c, t);
	if (t->rests || t->stranded) {
		music_send_state(c, t);
		return;
	}
	t->failure = decoders_open(c->conf.decoders, &t->source, t->start, wants, on_decoder_event,
				   c, &t->decoded);
	if (t->failure != DECODER_REASON_UNKNOWN) {
		music_finish_track(c, t, MEDIA_REASON_SOURCE_FAILED);
		return;
	}
	music_watch_track(c, t);
	music_send_state(c, t);
}

/* ---- music that rests ---- */

/* Opens what rests and is wanted now: the music that sounds next, and then what follows it. */
static void wake_tracks(struct call *c)
{
	for (int follows = 0; follows < 2; follows++)
		for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++) {
			struct music_track *t = c->tracks[i];

			if (!t || !t->rests || t->follows != follows || waits_for_rest(c, t) ||
			    (t->paused && t->phase == MEDIA_MUSIC_PHASE_PAUSED))
				continue;
			t->phase = MEDIA_MUSIC_PHASE_OPENING;
			open_track(c, t);
		}
}

void music_rest(struct call *c, struct music_track *t)
{
	struct music_track *rest = add_track(c, t->music);

	if (!rest)
		return;
	copy_track(rest, t);
	rest->claimed = t->claimed;
	rest->start = music_position(t);
	rest->phase = MEDIA_MUSIC_PHASE_PAUSED;
	rest->rests = rest->known = true;
	t->music = 0;
	stop_tracks(c, false, 0);
	stop_track(c, t, MEDIA_REASON_STOPPED, 0);
}

/* ---- commands ---- */

/* Lends the mixer before the first lane. */
static bool lend_mixer(struct call *c)
{
	struct cmd cmd = {.type = CMD_MUSIC_LEND};

	if (c->music_lent)
		return true;
	if (music_mixer_alloc(&cmd.music.mixer))
		return false;
	c->music_lent = call_command(c, &cmd);
	return c->music_lent;
}

static void refuse_music(struct call *c, uint32_t music)
{
	struct music_track t = {
		.music = music, .phase = MEDIA_MUSIC_PHASE_FAILED, .why = MEDIA_REASON_BAD_REQUEST};

	music_send_state(c, &t);
}

/* An id that belonged to another control is free again; that music plays on untold, until it is
 * replaced, and its end is forgotten. Returns false when the id is in use. */
static bool take_id(struct call *c, uint32_t music)
{
	struct music_track *old = find_music(c, music);

	if (old && !old->claimed) {
		old->music = 0;
		stop_track(c, old, MEDIA_REASON_ORPHANED, 0);
		old = NULL;
	}
	if (!old)
		music_forget_end(c, music);
	return !old;
}

/* Stops every track, or those that were prepared to follow. */
static void stop_tracks(struct call *c, bool all, uint16_t fade_ms)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i] && (all || c->tracks[i]->follows))
			stop_track(c, c->tracks[i], MEDIA_REASON_STOPPED, fade_ms);
}

static void set_mixer(struct call *c, const struct duck_conf *duck, uint32_t bitrate)
{
	struct cmd cmd = {.type = CMD_MUSIC_SET};

	cmd.music.duck = *duck;
	cmd.music.bitrate = bitrate;
	call_command(c, &cmd);
}

/* Makes the track of a PLAY or NEXT. Returns NULL and says so when it cannot be made. */
static struct music_track *make_track(struct call *c, uint32_t music, uint8_t kind, uint8_t root,
				      struct slice path, struct slice headers)
{
	struct music_track *t = music && !c->leaving && lend_mixer(c) ? add_track(c, music) : NULL;

	if (t && decoder_source_set(&t->source, kind, root, path, headers))
		return t;
	if (t)
		remove_track(c, t);
	refuse_music(c, music);
	return NULL;
}

void call_music_play(struct call *c, const struct media_music_play *m)
{
	struct music_track *t;

	if (!take_id(c, m->music))
		return;
	stop_tracks(c, true, m->fade_ms);
	t = make_track(c, m->music, m->kind, m->root, m->path, m->headers);
	if (!t)
		return;
	set_mixer(c,
		  &(struct duck_conf){.depth = m->duck,
				      .attack_ms = m->duck_attack_ms,
				      .hold_ms = m->duck_hold_ms,
				      .release_ms = m->duck_release_ms},
		  m->bitrate);
	t->start = m->start;
	t->gain = music_gain_of(m->gain, m->fine_gain);
	t->target = m->loudness;
	t->paused = m->paused;
	open_track(c, t);
}

/* True if the music is over, or crosses over into what follows it. */
static bool has_passed(struct call *c, uint32_t music)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++) {
		const struct music_track *t = c->tracks[i];

		if (t && t->music && t->music != music && t->played && !t->follows &&
		    t->why == MEDIA_REASON_NONE)
			return true;
	}
	return !find_music(c, music);
}

/* Control skipped to music that had been taken back, for a seek or another decoder, before it heard
 * of that. What is to follow must not play in its place: as soon as control hears of it, it orders
 * both anew, or it skips that as well. */
static bool is_taken_back(struct call *c, uint32_t music)
{
	const struct music_track *t = find_music(c, music);

	return t ? t->why == MEDIA_REASON_STOPPED : music_was_stopped(c, music);
}

void call_music_next(struct call *c, const struct media_music_next *m)
{
	uint16_t cross_ms =
		m->crossfade_ms < MUSIC_CROSSFADE_MAX_MS ? m->crossfade_ms : MUSIC_CROSSFADE_MAX_MS;
	struct music_track *t;

	/* Control did not know yet that it is over. */
	bool over = m->after && has_passed(c, m->after);
	uint32_t stranded = m->after && is_taken_back(c, m->after) ? m->after : 0;

	if (m->kind != MEDIA_MUSIC_NONE && !take_id(c, m->music))
		return;
	stop_tracks(c, over, over ? CUT_FADE_MS : 0);
	if (m->kind == MEDIA_MUSIC_NONE)
		return;
	t = make_track(c, m->music, m->kind, m->root, m->path, m->headers);
	if (!t)
		return;
	t->start = m->start;
	t->gain = music_gain_of(m->gain, m->fine_gain);
	t->target = m->loudness;
	t->paused = m->paused;
	t->follows = !over;
	t->stranded = stranded;
	t->crossfade = cross_ms * (uint32_t)PLAYOUT_PER_MS;
	open_track(c, t);
}

/* What was to go on behind a decoder that died, or at a place that is being opened, is not wanted
 * any more. Returns the track that sounds, or did before a pause: it takes the name. */
static struct music_track *drop_unheard(struct call *c, struct music_track *t)
{
	while (t->replaces && (t->continues ? !t->played : !t->lane)) {
		struct music_track *before = t->replaces;

		before->music = t->music;
		t->music = 0;
		t->replaces = NULL;
		t->continues = false;
		stop_track(c, t, MEDIA_REASON_STOPPED, 0);
		t = before;
	}
	return t;
}

void call_music_seek(struct call *c, const struct media_music_seek *m)
{
	struct music_track *old = find_music(c, m->music), *t;

	if (!old || old->why != MEDIA_REASON_NONE)
		return;
	old = drop_unheard(c, old);
	/* It has not been opened, or cannot be: the present state is the answer. */
	t = old->opened.seekable && !old->waits ? add_track(c, old->music) : NULL;
	if (!t) {
		music_send_state(c, old);
		return;
	}
	/* Until the new place is open the music may come to its end, and what follows would begin:
	 * control prepares it again, and it waits. */
	if (!old->follows)
		stop_tracks(c, false, 0);
	copy_track(t, old);
	t->start = m->position;
	t->crossfade = SEEK_FADE;
	t->replaces = old->lane ? old : NULL;
	old->music = 0;
	if (!old->lane) /* it was to play behind what has ended */
		stop_track(c, old, MEDIA_REASON_STOPPED, 0);
	open_track(c, t);
}

void call_music_pause(struct call *c, uint32_t music, bool pause, uint16_t fade_ms)
{
	struct music_track *t = find_music(c, music);

	if (!t || t->why != MEDIA_REASON_NONE)
		return;
	/* While a seek is being opened the music plays on before it. */
	for (; t; t = t->replaces) {
		t->paused = pause;
		control_lane(c, t, pause ? SENDER_PAUSE : SENDER_RESUME, 0, fade_ms);
		if (!pause && t->phase == MEDIA_MUSIC_PHASE_PAUSED && !t->rests)
			music_set_phase(c, t,
					t->played ? MEDIA_MUSIC_PHASE_PLAYING
						  : MEDIA_MUSIC_PHASE_READY);
	}
	wake_tracks(c);
}

static void open_stranded(struct call *c, uint32_t music)
{
	for (unsigned i = 0; music && i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i] && c->tracks[i]->stranded == music) {
			c->tracks[i]->stranded = 0;
			open_track(c, c->tracks[i]);
		}
}

void call_music_stop(struct call *c, uint32_t music, uint16_t fade_ms)
{
	struct music_track *t = find_music(c, music);

	open_stranded(c, music);
	if (!t)
		return;
	stop_replaced(c, t, fade_ms);
	stop_track(c, t, MEDIA_REASON_STOPPED, fade_ms);
	/* A MUSIC_NEXT that comes before it has faded out must not replace what goes on now. */
	promote_follower(c);
}

void call_music_gain(struct call *c, const struct media_music_gain *m)
{
	struct music_track *t = find_music(c, m->music);

	for (; t; t = t->replaces) {
		t->gain = music_gain_of(m->target, m->fine_target);
		control_lane(c, t, SENDER_GAIN, music_track_gain(t), m->fade_ms);
	}
}

void call_music_duck(struct call *c, const struct media_music_gain *m)
{
	const struct duck_conf duck = {.depth = m->duck,
				       .attack_ms = m->duck_attack_ms,
				       .hold_ms = m->duck_hold_ms,
				       .release_ms = m->duck_release_ms};

	if (m->duck != UINT16_MAX && c->music_lent)
		set_mixer(c, &duck, c->bitrate);
}

void call_music_claim(struct call *c, uint32_t music)
{
	struct music_track *t = find_music(c, music);

	for (; t; t = t->replaces)
		t->claimed = true;
	if (!find_music(c, music) && !music_repeat_end(c, music))
		refuse_music(c, music);
}

void music_unclaim_all(struct call *c)
{
	call_music_watch(c, false);
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i])
			c->tracks[i]->claimed = false;
}

void music_stop_unclaimed(struct call *c)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i] && !c->tracks[i]->claimed)
			stop_track(c, c->tracks[i], MEDIA_REASON_ORPHANED, 0);
}

void music_free(struct call *c)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i])
			remove_track(c, c->tracks[i]);
}
