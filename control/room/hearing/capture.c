#include "control/room/hearing/capture.h"

#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/media.h"

enum {
	SHORT_MS = 260,
	MIDDLE_MS = 900,
	END_FLOOR_MS = 100,
	CONFIRMED_MS = 120,
	PROVISIONAL_MS = 2000,
	OWN_LEVEL_MS = 600,
	RISEN_FRAMES = 2 /* a single loud frame is an outlier of the background */
};

static void begin_capture(struct room_capture *c, struct room_capture_out *out, uint64_t now)
{
	*c = (struct room_capture){.phase = ROOM_CAPTURE_PROVISIONAL,
				   .started_at = now,
				   .input_at = now,
				   .active_at = now,
				   .noise = c->noise,
				   .background = c->background,
				   .own_rms = c->own_rms,
				   .done_packet_at = c->done_packet_at};
	out->start = true;
}

bool room_capture_lacks_voice(const struct room_capture *c, const struct settings *s)
{
	return !c->vad && room_signal_ms(&c->voiced) < s->noise_voice_ms;
}

static bool is_noise(const struct room_capture *c, const struct settings *s)
{
	return room_capture_lacks_voice(c, s) ||
	       (room_signal_rms(&c->signal) <= s->noise_rms && c->signal.peak <= s->noise_peak &&
		room_signal_active(&c->signal) <= s->noise_active);
}

/* "No" is over before a capture is promoted, and speech all the same. */
static bool is_short_speech(const struct room_capture *c, const struct settings *s)
{
	return s->short_speech_ms && room_signal_ms(&c->voiced) >= s->short_speech_ms &&
	       room_signal_active(&c->voiced) >= s->vad_active && !is_noise(c, s);
}

/* Shorter speech is often a backchannel, which is softer. */
static void learn_own_level(struct room_capture *c)
{
	uint32_t rms = room_signal_rms(&c->voiced);

	if (room_signal_ms(&c->voiced) >= OWN_LEVEL_MS)
		c->own_rms = c->own_rms ? (3 * c->own_rms + rms) / 4 : rms;
}

static enum room_capture_end end_capture(struct room_capture *c, const struct settings *s,
					 bool *promote)
{
	enum room_capture_end end = ROOM_CAPTURE_SPEECH;

	*promote = c->phase == ROOM_CAPTURE_PROVISIONAL && is_short_speech(c, s);
	if (c->phase == ROOM_CAPTURE_PROVISIONAL && !*promote)
		end = ROOM_CAPTURE_DISCARDED;
	else if (c->restart)
		end = ROOM_CAPTURE_CONSUMED;
	else if (is_noise(c, s))
		end = ROOM_CAPTURE_NOISE;
	else
		learn_own_level(c);
	if (end == ROOM_CAPTURE_DISCARDED || end == ROOM_CAPTURE_NOISE)
		room_noise_floor_update(&c->noise, s, room_signal_rms(&c->signal), false,
					c->input_at);
	if (c->packet_at > c->done_packet_at)
		c->done_packet_at = c->packet_at;
	*c = (struct room_capture){.utterance = c->utterance,
				   .started_at = c->started_at,
				   .input_at = c->input_at,
				   .own_rms = c->own_rms,
				   .noise = c->noise,
				   .background = c->background,
				   .signal = c->signal,
				   .voiced = c->voiced,
				   .voice_at = c->voice_at,
				   .packet_at = c->packet_at,
				   .done_packet_at = c->done_packet_at};
	return end;
}

/* Under load a capture ends sooner, so that answers in a lively room are not late. */
static uint64_t endpointing_delay(const struct room_capture *c, const struct settings *s,
				  unsigned load)
{
	uint64_t heard = c->before_ms + (c->restart ? 0 : room_signal_ms(&c->signal));
	uint64_t wait = s->end_long_ms;

	if (heard < SHORT_MS)
		wait = s->end_short_ms;
	else if (heard < MIDDLE_MS)
		wait = s->end_middle_ms;
	if (load >= 5)
		wait = wait / 2;
	else if (load >= 3)
		wait = wait * 7 / 10;
	return (wait < END_FLOOR_MS ? END_FLOOR_MS : wait) * NS_PER_MS;
}

/* The delay begins when the end of speaking was due to be reported; mediad reports it up to one
 * frame later. */
static uint64_t compute_end(const struct room_capture *c, const struct settings *s, uint64_t at,
			    unsigned load, uint64_t now)
{
	uint64_t due = at + MEDIA_SPEAKING_OFF_MS * NS_PER_MS;
	uint64_t over = (at && due < now ? due : now) + endpointing_delay(c, s, load);

	return over < now ? now : over;
}

struct room_capture_out room_capture_on_speaking(struct room_capture *c, const struct settings *s,
						 bool on, uint64_t at, unsigned load, uint64_t now)
{
	struct room_capture_out out = {0};

	c->open_mic = false;
	if (on) {
		if (c->phase == ROOM_CAPTURE_NONE)
			begin_capture(c, &out, now);
		else if (at > c->off_at)
			c->over_at = 0;
		c->input_at = now;
	} else if (c->phase != ROOM_CAPTURE_NONE && !c->over_at) {
		c->off_at = at;
		c->over_at = compute_end(c, s, at, load, now);
	}
	return out;
}

/* The least loudness of a frame of speech. */
static uint32_t speech_threshold(const struct room_capture *c, const struct settings *s,
				 uint64_t now)
{
	uint32_t noise = room_noise_floor_threshold(&c->noise, s, now);
	uint32_t background = room_background_threshold(&c->background);

	return noise > background ? noise : background;
}

static bool is_loud_enough(const struct room_capture *c, const struct settings *s)
{
	uint32_t rms = room_signal_rms(&c->signal), active = room_signal_active(&c->signal);

	if (room_signal_ms(&c->signal) < s->promote_ms)
		return false;
	/* Against a background the audio as a whole tells little: its voiced part counts. */
	if (c->background.most && room_signal_ms(&c->voiced) < s->promote_ms / 2)
		return false;
	if (c->vad && c->signal.peak >= s->vad_peak && active >= s->vad_active)
		return true;
	return c->signal.peak >= s->promote_peak && rms >= s->promote_rms &&
	       active >= s->promote_active &&
	       rms >= room_noise_floor_threshold(&c->noise, s, c->input_at);
}

void room_capture_on_vad(struct room_capture *c, uint32_t utterance)
{
	if (c->phase != ROOM_CAPTURE_NONE && utterance && utterance == c->utterance)
		c->vad = true;
}

bool room_capture_confirmed(const struct room_capture *c, const struct settings *s)
{
	return c->phase == ROOM_CAPTURE_PROMOTED && room_signal_ms(&c->signal) >= CONFIRMED_MS &&
	       (room_signal_active(&c->signal) > s->noise_active || c->signal.peak > s->noise_peak);
}

static bool is_nearly_silent(const struct room_capture *c, const struct settings *s)
{
	return room_signal_ms(&c->signal) >= s->quiet_abort_ms &&
	       room_signal_active(&c->signal) <= s->quiet_active && c->signal.peak <= s->quiet_peak;
}

struct room_capture_out room_capture_split(struct room_capture *c)
{
	learn_own_level(c);
	c->before_ms += room_signal_ms(&c->signal);
	c->restart = true;
	return (struct room_capture_out){.end = ROOM_CAPTURE_CHUNK};
}

/* True if the frame may belong to speech: soft endings of words count, the background does not. */
static bool is_active_frame(const struct room_capture *c, const struct settings *s,
			    const struct room_signal *frame)
{
	return 2 * frame->peak >= s->promote_peak &&
	       2 * room_signal_active(frame) >= s->promote_active &&
	       (!c->background.most ||
		room_signal_rms(frame) >= room_background_threshold(&c->background));
}

/* Counts the frame as voiced if it is loud enough. */
static void count_voiced(struct room_capture *c, const struct settings *s,
			 const struct room_signal *frame, uint64_t at, uint64_t now)
{
	uint32_t rms;

	if (frame->peak < s->promote_peak || room_signal_active(frame) < s->promote_active)
		return;
	rms = room_signal_rms(frame);
	if (rms < speech_threshold(c, s, now))
		return;
	c->voice_at = at;
	room_signal_merge(&c->voiced, frame);
	c->tail_rms = c->tail_rms ? (3 * c->tail_rms + rms) / 4 : rms;
}

/* True if a capture can begin with this frame. */
static bool can_begin(struct room_capture *c, const struct settings *s,
		      const struct room_signal *frame, bool active, uint64_t at, uint64_t now)
{
	bool gap = now > c->input_at + s->capture_idle_ms * NS_PER_MS;

	if (at <= c->done_packet_at)
		return false;
	c->open_mic = c->open_mic && !gap;
	c->input_at = now;
	c->risen = active ? c->risen + 1 : 0;
	if (c->risen == 1)
		c->rise = *frame;
	return c->risen >= RISEN_FRAMES || !c->open_mic;
}

/* Begins a capture with this frame; in an open microphone the frame before it belongs to it, too.
 */
static void begin_with_audio(struct room_capture *c, const struct settings *s,
			     struct room_capture_out *out, uint64_t at, uint64_t now)
{
	struct room_signal rise = c->rise;

	out->preroll = c->open_mic;
	begin_capture(c, out, now);
	if (!out->preroll)
		return;
	room_signal_merge(&c->signal, &rise);
	count_voiced(c, s, &rise, at, now);
}

static void promote_or_discard(struct room_capture *c, const struct settings *s,
			       struct room_capture_out *out)
{
	if (is_loud_enough(c, s)) {
		c->phase = ROOM_CAPTURE_PROMOTED;
		out->promote = true;
	} else if (is_nearly_silent(c, s)) {
		out->end = end_capture(c, s, &out->promote);
		c->open_mic = true;
	}
}

struct room_capture_out room_capture_on_audio(struct room_capture *c, const struct settings *s,
					      struct slice pcm, uint64_t at, uint64_t now)
{
	struct room_capture_out out = {0};
	bool active;

	room_signal_add(&out.frame, pcm, s->active_sample);
	room_background_add(&c->background, s, &out.frame, c->phase == ROOM_CAPTURE_PROMOTED, now);
	active = is_active_frame(c, s, &out.frame);
	if (c->phase == ROOM_CAPTURE_NONE) {
		if (!can_begin(c, s, &out.frame, active, at, now))
			return out;
		begin_with_audio(c, s, &out, at, now);
	} else if (c->restart) {
		c->signal = c->voiced = (struct room_signal){0};
		c->tail_rms = 0;
		c->restart = false;
		out.start = true;
	}
	out.append = true;
	c->input_at = now;
	if (active)
		c->active_at = now + room_signal_ms(&out.frame) * NS_PER_MS;
	if (at > c->packet_at)
		c->packet_at = at;
	if (at > c->off_at)
		c->over_at = 0;
	room_signal_merge(&c->signal, &out.frame);
	count_voiced(c, s, &out.frame, at, now);
	if (c->phase == ROOM_CAPTURE_PROVISIONAL)
		promote_or_discard(c, s, &out);
	else if (room_signal_ms(&c->signal) >= s->capture_max_ms)
		out.end = room_capture_split(c).end;
	return out;
}

struct room_capture_out room_capture_finish(struct room_capture *c, const struct settings *s,
					    uint64_t at)
{
	struct room_capture_out out = {0};

	c->open_mic = false;
	if (c->phase == ROOM_CAPTURE_NONE)
		return out;
	if (at > c->packet_at)
		c->packet_at = at;
	/* Nothing is transcribed any more when the call is gone. */
	out.end = end_capture(c, s, &out.promote);
	if (out.promote && !at) {
		out.promote = false;
		out.end = ROOM_CAPTURE_DISCARDED;
	}
	return out;
}

/* When the capture of a microphone that goes on sending ends. */
static uint64_t compute_voiceless_end(const struct room_capture *c, const struct settings *s)
{
	uint64_t silence, bound;

	if (c->phase == ROOM_CAPTURE_PROMOTED)
		return c->active_at + s->end_long_ms * NS_PER_MS;
	silence = c->active_at + s->quiet_abort_ms * NS_PER_MS;
	bound = c->started_at + PROVISIONAL_MS * NS_PER_MS;
	return silence < bound ? silence : bound;
}

uint64_t room_capture_deadline(const struct room_capture *c, const struct settings *s)
{
	uint64_t first, voiceless;

	if (c->phase == ROOM_CAPTURE_NONE)
		return UINT64_MAX;
	first = c->input_at + s->capture_idle_ms * NS_PER_MS;
	if (c->over_at && c->over_at < first)
		first = c->over_at;
	voiceless = compute_voiceless_end(c, s);
	return voiceless < first ? voiceless : first;
}

struct room_capture_out room_capture_conclude(struct room_capture *c, const struct settings *s)
{
	struct room_capture_out out = {0};
	bool open_mic = !c->over_at;

	out.end = end_capture(c, s, &out.promote);
	c->open_mic = open_mic;
	return out;
}

struct room_capture_out room_capture_tick(struct room_capture *c, const struct settings *s,
					  uint64_t now)
{
	if (now < room_capture_deadline(c, s))
		return (struct room_capture_out){0};
	return room_capture_conclude(c, s);
}
