#include "tests/chaos/ear.h"
#include "tests/chaos/timeline.h"
#include "tests/test.h"

#include <string.h>

enum { RATE = 24000, N = RATE / 50 };

/* What somebody hears of the bot. */
struct listening {
	struct ear ear;
	uint64_t now;
	unsigned music_ms, faults[EAR_FAULTS_N];
};

static void add(int16_t *to, const int16_t *pcm, double gain)
{
	for (unsigned i = 0; i < N; i++)
		to[i] = (int16_t)(to[i] + gain * pcm[i]);
}

/* Hears so many frames in which bits of `tracks` of a person sound, ducked under speech or not. */
static void hear(struct listening *l, enum chaos_who who, unsigned tracks, bool speech,
		 unsigned frames)
{
	int16_t pcm[N], one[N];
	bool music;

	while (frames--) {
		memset(pcm, 0, sizeof pcm);
		for (unsigned t = 0; t < TONE_TRACKS; t++) {
			if (!(tracks & 1u << t))
				continue;
			tone_make_track(one, N, RATE, who, t);
			add(pcm, one, speech ? 0.15 : 1);
		}
		tone_make(one, N, RATE, CHAOS_BOT, 0);
		add(pcm, one, speech);
		l->now += 20;
		l->faults[ear_hear(&l->ear, CHAOS_BOT, pcm, N, RATE, l->now, &music)]++;
		l->music_ms += music ? 20 : 0;
	}
}

static bool is_well(const struct listening *l)
{
	for (unsigned f = 1; f < EAR_FAULTS_N; f++)
		if (l->faults[f])
			return false;
	return true;
}

TEST(chaos_music_is_heard_under_speech_and_alone)
{
	struct listening l = {0};

	for (unsigned t = 0; t < 2 * TONE_TRACKS; t++) {
		hear(&l, CHAOS_BOT, 1u << t % TONE_TRACKS, true, 30);
		hear(&l, CHAOS_BOT, 1u << t % TONE_TRACKS, false, 30);
		hear(&l, CHAOS_BOT, 1u << t % TONE_TRACKS | 1u << (t + 1) % TONE_TRACKS, true, 2);
	}
	CHECK_INT(l.music_ms, 2 * TONE_TRACKS * 62 * 20);
	CHECK(is_well(&l));
	/* Speech alone, and nothing. */
	l.music_ms = 0;
	hear(&l, CHAOS_BOT, 0, true, 20);
	hear(&l, CHAOS_BOT, 0, false, 20);
	CHECK_INT(l.music_ms, 0);
	CHECK(is_well(&l));
}

TEST(chaos_wrong_music_is_noticed_once)
{
	struct listening doubled = {0}, stranger = {0}, disorder = {0}, late = {0};

	hear(&doubled, CHAOS_BOT, 1, true, 20);
	hear(&doubled, CHAOS_BOT, 3, true, 100);
	CHECK_INT(doubled.faults[EAR_DOUBLED], 1);
	hear(&stranger, CHAOS_ALICE, 1, true, 100);
	CHECK_INT(stranger.faults[EAR_STRANGER], 1);
	hear(&disorder, CHAOS_BOT, 1, true, 20);
	hear(&disorder, CHAOS_BOT, 4, false, 20);
	CHECK_INT(disorder.faults[EAR_DISORDER], 1);
	/* Whoever was away does not know what is to follow. */
	hear(&late, CHAOS_BOT, 1, true, 20);
	hear(&late, CHAOS_BOT, 0, true, 200);
	hear(&late, CHAOS_BOT, 4, true, 20);
	CHECK(is_well(&late));
}

TEST(chaos_noise_is_noticed)
{
	struct listening l = {0};
	int16_t pcm[N];
	bool music;

	for (unsigned i = 0; i < N; i++)
		pcm[i] = (int16_t)((i * 7919u * 104729u >> 7) % 12000) - 6000;
	for (unsigned i = 0; i < 50; i++)
		l.faults[ear_hear(&l.ear, CHAOS_BOT, pcm, N, RATE, 20 * i, &music)]++;
	CHECK(l.faults[EAR_GARBAGE] == 1 || l.faults[EAR_DOUBLED] == 1 ||
	      l.faults[EAR_STRANGER] == 1);
	CHECK(tone_foreign(pcm, N, RATE, CHAOS_BOT) > 0.8);
}

enum { LENGTH = 4000 };

/* Notes a position on the way through all tracks. */
static enum timeline_fault note(struct timeline *t, uint64_t at, uint64_t now)
{
	return timeline_note(t, TONE_TRACKS, LENGTH, (unsigned)(at / LENGTH % TONE_TRACKS),
			     at % LENGTH, now);
}

TEST(chaos_a_timeline_goes_on_and_stands_still)
{
	struct timeline t = {0};
	uint64_t now = 77000, at = 0;

	for (; at < 3 * TONE_TRACKS * LENGTH; at += 20, now += 20)
		CHECK_INT(note(&t, at, now), TIMELINE_NO_FAULT);
	CHECK_INT(t.at_ms, at - 20);
	/* It stood still, reports come in a heap, and it begins again a packet before. */
	now += 5000;
	CHECK_INT(note(&t, at - 40, now), TIMELINE_NO_FAULT);
	for (unsigned i = 0; i < 100; i++, at += 20)
		CHECK_INT(note(&t, at, now), TIMELINE_NO_FAULT);
}

TEST(chaos_a_timeline_that_jumps_is_noticed)
{
	struct timeline t = {0}, u;

	CHECK_INT(note(&t, 1000, 50000), TIMELINE_NO_FAULT);
	u = t;
	CHECK_INT(note(&u, 900, 50000), TIMELINE_BACK);
	u = t;
	CHECK_INT(note(&u, 2000, 50020), TIMELINE_AHEAD);
	CHECK_INT(note(&u, 2020, 50040), TIMELINE_NO_FAULT); /* it is told once */
	u = t;
	CHECK_INT(note(&u, 2 * LENGTH, 50020), TIMELINE_OTHER_TRACK);
	/* The end of a track is missing. */
	u = t;
	CHECK_INT(note(&u, LENGTH, 50020), TIMELINE_AHEAD);
	/* After an outage it may not catch up. */
	u = t;
	timeline_begin(&u);
	CHECK_INT(note(&u, 1000, 58000), TIMELINE_NO_FAULT);
	CHECK_INT(note(&u, 1020, 58020), TIMELINE_NO_FAULT);
	CHECK_INT(note(&u, 2020, 58040), TIMELINE_AHEAD);
	/* Nor begin elsewhere. */
	u = t;
	timeline_begin(&u);
	CHECK_INT(note(&u, 1000, 58000), TIMELINE_NO_FAULT);
	CHECK_INT(note(&u, 2000, 59000), TIMELINE_AHEAD);
}
