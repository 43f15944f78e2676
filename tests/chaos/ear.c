#include "tests/chaos/ear.h"

/* Music is ducked to a seventh of its amplitude of 6000 under speech. */
enum { MUSIC_AUDIBLE = 300 };

enum {
	SETTLED_MS = 100, /* a track is known after so much of it */
	MISSED_MS = 3000, /* after a silence as long nobody knows what is to follow */
	GARBAGE_PERCENT = 40,
};

/* How long each fault must last: codecs smear a joint, and loss a frame after the gap. */
static const unsigned bearable_ms[EAR_FAULTS_N] = {
	[EAR_DOUBLED] = 160, [EAR_STRANGER] = 100, [EAR_GARBAGE] = 400};

const char *ear_fault_text(enum ear_fault fault)
{
	static const char *const texts[] = {"",
#define V(NAME, what) what,
					    EAR_FAULTS(V)
#undef V
	};

	return texts[fault];
}

/* Returns how many of the person's tracks sound, and sets *track to the last of them. */
static unsigned count_tracks(const int16_t *pcm, size_t n, uint32_t rate, enum chaos_who who,
			     unsigned *track)
{
	unsigned count = 0;

	for (unsigned t = 0; t < TONE_TRACKS; t++) {
		if (tone_of_track(pcm, n, rate, who, t) < MUSIC_AUDIBLE)
			continue;
		*track = t;
		count++;
	}
	return count;
}

static bool hears_stranger(const int16_t *pcm, size_t n, uint32_t rate, enum chaos_who who)
{
	unsigned track;

	for (unsigned w = 0; w < CHAOS_PEOPLE; w++)
		if (w != who && count_tracks(pcm, n, rate, (enum chaos_who)w, &track))
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

enum ear_fault ear_hear(struct ear *e, enum chaos_who who, const int16_t *pcm, size_t n,
			uint32_t rate, uint64_t now_ms, bool *music)
{
	unsigned ms = (unsigned)(n * 1000 / rate), track = 0,
		 count = count_tracks(pcm, n, rate, who, &track);
	enum ear_fault fault = count == 1 ? follow_track(e, track, ms, now_ms) : EAR_NO_FAULT,
		       other;

	*music = count > 0;
	other = note_fault(e, EAR_DOUBLED, count > 1, ms);
	fault = fault ? fault : other;
	other = note_fault(e, EAR_STRANGER, hears_stranger(pcm, n, rate, who), ms);
	fault = fault ? fault : other;
	other = note_fault(e, EAR_GARBAGE, tone_foreign(pcm, n, rate, who) * 100 > GARBAGE_PERCENT,
			   ms);
	return fault ? fault : other;
}
