#include "tests/chaos/ear.h"

/* Music is ducked to a seventh of its amplitude of 6000 under speech. */
enum { MUSIC_AUDIBLE = 300 };

enum {
	SETTLED_MS = 100, /* a track is known after so much of it */
	MISSED_MS = 3000, /* after a silence as long nobody knows what is to follow */
	NOISE_PERCENT = 3,
	TRACK_MS = TONE_STEPS * TONE_STEP_MS,
	EDGE_MS = 60,	   /* a frame at the edge of a step may count for either */
	BACK_MS = 60,	   /* music may go back by 40 ms when its mediad was killed */
	UNTIMED_MS = 5000, /* between captures: what comes in a burst after freezes hides as much */
	RTP_PER_MS = 48,
};

/* How long each fault must last: codecs smear a joint, and loss a frame after the gap. */
static const unsigned bearable_ms[EAR_FAULTS_N] = {[EAR_DOUBLED] = 160,
						   [EAR_STRANGER] = 100,
						   [EAR_NOISE] = 400,
						   [EAR_SKIPPED] = 100,
						   [EAR_REPEATED] = 100};

const char *ear_fault_text(enum ear_fault fault)
{
	static const char *const texts[] = {"",
#define V(NAME, what) what,
					    EAR_FAULTS(V)
#undef V
	};

	return texts[fault];
}

/* The last of the tracks that sound, and which of its tones. */
struct heard_track {
	unsigned track, step;
};

/* Returns how many of the person's tracks sound. */
static unsigned count_tracks(const struct ear_frame *f, enum chaos_who who,
			     struct heard_track *last)
{
	unsigned count = 0, step;

	for (unsigned t = 0; t < TONE_TRACKS; t++) {
		if (tone_of_track(f->pcm, f->n, f->rate, who, t, &step) < MUSIC_AUDIBLE)
			continue;
		*last = (struct heard_track){t, step};
		count++;
	}
	return count;
}

static bool hears_stranger(const struct ear_frame *f, enum chaos_who who)
{
	struct heard_track last;

	for (unsigned w = 0; w < CHAOS_PEOPLE; w++)
		if (w != who && count_tracks(f, (enum chaos_who)w, &last))
			return true;
	return false;
}

/* Returns the fault when it has lasted for longer than it may, once. */
static enum ear_fault note_fault(struct ear *e, enum ear_fault fault, bool there, unsigned ms)
{
	e->run[fault] = there ? e->run[fault] + ms : 0;
	if (!there)
		e->told &= ~(1u << fault);
	if (e->run[fault] <= bearable_ms[fault] || e->told & 1u << fault)
		return EAR_NO_FAULT;
	e->told |= 1u << fault;
	return fault;
}

/* ---- where the music is ---- */

/* Moves the bounds on to this frame. In between the music may have stood still. Returns false if
 * too much was missed. */
static bool pass_time(struct ear *e, const struct ear_frame *f)
{
	uint32_t by_rtp = (f->rtp - e->rtp) / RTP_PER_MS;
	bool same = f->capture == e->capture;
	uint64_t passed = same ? by_rtp : f->now_ms - e->heard_at;

	if (passed > MISSED_MS)
		return false;
	e->earliest += e->frame_ms;
	e->earliest -= same ? 0 : BACK_MS;
	e->latest += (int64_t)passed + (same ? 0 : UNTIMED_MS);
	return true;
}

/* Returns where the step begins, in the round that is nearest to the bounds. */
static int64_t nearest_begin(const struct ear *e, struct heard_track h)
{
	const int64_t round = (int64_t)TONE_TRACKS * TRACK_MS;
	int64_t at = (int64_t)h.track * TRACK_MS + (int64_t)h.step * TONE_STEP_MS;
	int64_t near = (e->earliest + e->latest - TONE_STEP_MS) / 2;

	while (at + round / 2 < near)
		at += round;
	return at;
}

static void place_music(struct ear *e, struct heard_track h)
{
	int64_t at = nearest_begin(e, h);

	e->placed = true;
	e->earliest = at - EDGE_MS;
	e->latest = at + TONE_STEP_MS + EDGE_MS;
}

static enum ear_fault judge_place(struct ear *e, struct heard_track h, unsigned ms)
{
	int64_t from = nearest_begin(e, h) - EDGE_MS, to = from + TONE_STEP_MS + 2 * EDGE_MS;
	bool ahead = from > e->latest, behind = to < e->earliest;
	enum ear_fault skipped = note_fault(e, EAR_SKIPPED, ahead, ms);
	enum ear_fault repeated = note_fault(e, EAR_REPEATED, behind, ms);

	if (skipped || repeated) {
		place_music(e, h);
		return skipped ? skipped : repeated;
	}
	if (ahead || behind)
		return EAR_NO_FAULT;
	if (from > e->earliest)
		e->earliest = from;
	if (to < e->latest)
		e->latest = to;
	return EAR_NO_FAULT;
}

static enum ear_fault follow_place(struct ear *e, struct heard_track h, const struct ear_frame *f,
				   unsigned ms)
{
	enum ear_fault fault = EAR_NO_FAULT;

	if (e->placed && pass_time(e, f))
		fault = judge_place(e, h, ms);
	else
		place_music(e, h);
	e->capture = f->capture;
	e->rtp = f->rtp;
	e->frame_ms = ms;
	return fault;
}

/* One track sounds alone. */
static enum ear_fault follow_track(struct ear *e, unsigned track, unsigned ms, uint64_t now_ms)
{
	bool missed = now_ms - e->heard_at > MISSED_MS, follows;

	e->held = e->candidate == track ? e->held + ms : ms;
	e->candidate = track;
	e->heard_at = now_ms;
	if (missed)
		e->knows = false;
	if (e->held < SETTLED_MS || (e->knows && e->track == track))
		return EAR_NO_FAULT;
	follows = !e->knows || track == (e->track + 1) % TONE_TRACKS;
	e->knows = true;
	e->track = track;
	return follows ? EAR_NO_FAULT : EAR_DISORDER;
}

static enum ear_fault follow_music(struct ear *e, struct heard_track h, const struct ear_frame *f,
				   unsigned ms)
{
	enum ear_fault place = follow_place(e, h, f, ms),
		       order = follow_track(e, h.track, ms, f->now_ms);

	return order ? order : place;
}

enum ear_fault ear_hear(struct ear *e, enum chaos_who who, const struct ear_frame *f, bool *music)
{
	unsigned ms = (unsigned)(f->n * 1000 / f->rate);
	struct heard_track last = {0};
	unsigned count = count_tracks(f, who, &last);
	double foreign = tone_foreign(f->pcm, f->n, f->rate, who) * 100;
	enum ear_fault faults[] = {
		count == 1 ? follow_music(e, last, f, ms) : EAR_NO_FAULT,
		note_fault(e, EAR_DOUBLED, count > 1, ms),
		note_fault(e, EAR_STRANGER, hears_stranger(f, who), ms),
		/* A silence neither ends noise nor is any. */
		foreign < 0 ? EAR_NO_FAULT : note_fault(e, EAR_NOISE, foreign > NOISE_PERCENT, ms),
	};
	unsigned i = 0;

	*music = count > 0;
	while (i < sizeof faults / sizeof faults[0] - 1 && !faults[i])
		i++;
	return faults[i];
}
