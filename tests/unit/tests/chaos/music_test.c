#include "tests/chaos/ear.h"
#include "tests/chaos/timeline.h"
#include "tests/test.h"

#include <string.h>

enum { RATE = 24000, N = RATE / 50 };

/* What somebody hears of the bot. */
struct listening {
	struct ear ear;
	uint64_t now;
	unsigned at; /* ms of its track at which the music is */
	uint32_t rtp, capture;
	unsigned music_ms, faults[EAR_FAULTS_N];
};

static void add(int16_t *to, const int16_t *pcm, double gain)
{
	for (unsigned i = 0; i < N; i++)
		to[i] = (int16_t)(to[i] + gain * pcm[i]);
}

static void hear_frame(struct listening *l, const int16_t pcm[N])
{
	struct ear_frame f = {pcm, N, RATE, l->capture, l->rtp, l->now};
	bool music;

	l->faults[ear_hear(&l->ear, CHAOS_BOT, &f, &music)]++;
	l->music_ms += music ? 20 : 0;
}

/* So much time passes in which nothing is heard. */
static void miss(struct listening *l, unsigned ms)
{
	l->now += ms;
	l->rtp += ms * 48;
}

/* Hears so many frames in which bits of `tracks` of a person sound, ducked under speech or not. */
static void hear(struct listening *l, enum chaos_who who, unsigned tracks, bool speech,
		 unsigned frames)
{
	int16_t pcm[N], one[N];

	while (frames--) {
		memset(pcm, 0, sizeof pcm);
		for (unsigned t = 0; t < TONE_TRACKS; t++) {
			if (!(tracks & 1u << t))
				continue;
			tone_make_track(one, N, RATE, who, t, (uint64_t)l->at * RATE / 1000);
			add(pcm, one, speech ? 0.15 : 1);
		}
		tone_make(one, N, RATE, CHAOS_BOT, 0);
		add(pcm, one, speech);
		miss(l, 20);
		l->at += 20;
		hear_frame(l, pcm);
	}
}

static bool is_well(const struct listening *l)
{
	for (unsigned f = 1; f < EAR_FAULTS_N; f++)
		if (l->faults[f])
			return false;
	return true;
}

enum { TRACK_MS = TONE_STEPS * TONE_STEP_MS, TRACK_FRAMES = TRACK_MS / 20 };

TEST(chaos_music_is_heard_under_speech_and_alone)
{
	struct listening l = {0};

	for (unsigned t = 0; t < 2 * TONE_TRACKS; t++) {
		l.at = 0;
		hear(&l, CHAOS_BOT, 1u << t % TONE_TRACKS, true, TRACK_FRAMES / 2);
		hear(&l, CHAOS_BOT, 1u << t % TONE_TRACKS, false, TRACK_FRAMES / 2);
	}
	CHECK_INT(l.music_ms, 2 * TONE_TRACKS * TRACK_MS);
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

/* What is left out or comes again, in ms, after `silence` in which it may have gone on. */
static void jump(struct listening *l, int ms, unsigned silence)
{
	*l = (struct listening){.at = 700};
	hear(l, CHAOS_BOT, 1, true, 65);
	miss(l, silence);
	l->at = (unsigned)((int)l->at + ms);
	hear(l, CHAOS_BOT, 1, true, 60);
}

TEST(chaos_music_that_jumps_within_a_track_is_noticed_once)
{
	struct listening l;

	for (int ms = 300; ms <= 750; ms += 50) {
		jump(&l, ms, 0);
		CHECK_INT(l.faults[EAR_SKIPPED], 1);
		CHECK_INT(l.faults[EAR_REPEATED], 0);
		jump(&l, -ms, 0);
		CHECK_INT(l.faults[EAR_SKIPPED], 0);
		CHECK_INT(l.faults[EAR_REPEATED], 1);
		/* A silence excuses no repetition, and no more than its own length. */
		jump(&l, -ms, 500);
		CHECK_INT(l.faults[EAR_REPEATED], 1);
		jump(&l, 500 + ms, 500);
		CHECK_INT(l.faults[EAR_SKIPPED], 1);
	}
}

TEST(chaos_music_may_go_on_or_stand_still_in_a_silence)
{
	struct listening l;

	for (int ms = -40; ms <= 800; ms += 20) {
		jump(&l, ms, 800);
		CHECK(is_well(&l));
	}
	/* In another capture time is not that of the one before. */
	l = (struct listening){0};
	hear(&l, CHAOS_BOT, 1, true, 100);
	l.capture++;
	l.rtp += 77777777;
	hear(&l, CHAOS_BOT, 1, true, 100);
	CHECK(is_well(&l));
	l.capture++;
	l.at = 1000;
	hear(&l, CHAOS_BOT, 1, true, 100);
	CHECK_INT(l.faults[EAR_REPEATED], 1);
}

/* A noise of this amplitude, alone or under speech. */
static void hear_noise_for(struct listening *l, unsigned amplitude, bool speech, unsigned frames)
{
	uint32_t state = 1;
	int16_t pcm[N], voice[N];

	for (unsigned i = 0; i < frames; i++) {
		for (unsigned k = 0; k < N; k++) {
			state = state * 1664525 + 1013904223;
			pcm[k] = (int16_t)((int)((state >> 16) % (2 * amplitude)) - (int)amplitude);
		}
		tone_make(voice, N, RATE, CHAOS_BOT, 0);
		add(pcm, voice, speech);
		miss(l, 20);
		hear_frame(l, pcm);
	}
}

static void hear_noise(struct listening *l, unsigned amplitude, bool speech)
{
	hear_noise_for(l, amplitude, speech, 50);
}

TEST(chaos_noise_is_noticed_once)
{
	struct listening alone = {0}, under = {0}, faint = {0}, halting = {0};

	hear_noise(&alone, 6000, false);
	CHECK_INT(alone.faults[EAR_NOISE], 1);
	hear_noise(&under, 2000, true);
	CHECK_INT(under.faults[EAR_NOISE], 1);
	hear_noise(&faint, 500, true);
	CHECK(is_well(&faint));
	/* Utterances are short. */
	for (unsigned i = 0; i < 3; i++) {
		hear_noise_for(&halting, 2000, true, 8);
		hear(&halting, CHAOS_BOT, 0, false, 1);
	}
	CHECK_INT(halting.faults[EAR_NOISE], 1);
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
