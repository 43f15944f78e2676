/* Has somebody finished, or do they only pause? */
#include "tests/test.h"

#include <stdio.h>

#include "control/room/floor/address.h"
#include "control/room/turn/eot.h"
#include "control/settings/settings.h"
#include "tests/unit/control/room/world.h"

static enum room_eot_words words(const char *text)
{
	struct room_names names = {0};

	room_names_add(&names, "Parley");
	return room_eot_words(text, &names);
}

TEST(what_was_said_so_far_tells_whether_more_comes)
{
	static const struct {
		const char *text;
		enum room_eot_words words;
	} rows[] = {
		{"", ROOM_EOT_OPEN},
		{"parley", ROOM_EOT_OPEN},
		{"hey, Parley...", ROOM_EOT_OPEN},
		{"parley what is the", ROOM_EOT_OPEN},
		{"Parley, what is", ROOM_EOT_OPEN},
		{"well, I was thinking, um", ROOM_EOT_OPEN},
		{"tell me about the weather and", ROOM_EOT_OPEN},
		{"if you look at it,", ROOM_EOT_OPEN},
		{"we went to", ROOM_EOT_OPEN},
		{"what time is it", ROOM_EOT_WHOLE},
		{"Parley, what time is it?", ROOM_EOT_WHOLE},
		{"tell me a joke", ROOM_EOT_WHOLE},
		{"who are you", ROOM_EOT_WHOLE},
		{"really?", ROOM_EOT_WHOLE},
		{"some music would be nice now", ROOM_EOT_WHOLE},
		{"what is it like", ROOM_EOT_MAYBE},
		{"what can you do", ROOM_EOT_MAYBE},
		{"the match was great", ROOM_EOT_MAYBE},
		{"what time", ROOM_EOT_MAYBE},
		{"wie sp\xc3\xa4t ist es?", ROOM_EOT_WHOLE},
		{"wie sp\xc3\xa4t ist es", ROOM_EOT_WHOLE},
		{"antidisestablishmentarianism", ROOM_EOT_MAYBE},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (words(rows[i].text) != rows[i].words)
			printf("\"%s\"\n", rows[i].text);
		CHECK_INT(words(rows[i].text), rows[i].words);
	}
}

TEST(a_chance_rises_with_the_pause_and_falls_with_a_loud_end)
{
	CHECK_INT(room_eot_probability(ROOM_EOT_WHOLE, 0, 0), 520);
	CHECK_INT(room_eot_probability(ROOM_EOT_WHOLE, 0, 200), 600);
	CHECK_INT(room_eot_probability(ROOM_EOT_MAYBE, 0, 400), 600);
	CHECK_INT(room_eot_probability(ROOM_EOT_OPEN, 0, 1250), 600);
	CHECK_INT(room_eot_probability(ROOM_EOT_OPEN, 0, 100000), 1000);
	CHECK_INT(room_eot_loudness_shift(0, 1000), 0);
	CHECK_INT(room_eot_loudness_shift(750, 1000), 60);
	CHECK_INT(room_eot_loudness_shift(751, 1000), 0);
	CHECK_INT(room_eot_loudness_shift(1000, 1000), -60);
	for (int fall = -60; fall <= 60; fall += 60)
		for (unsigned w = ROOM_EOT_OPEN; w <= ROOM_EOT_WHOLE; w++)
			for (uint32_t share = 0; share <= 1000; share += 50) {
				uint64_t ms = room_eot_delay((enum room_eot_words)w, fall, share);

				CHECK(room_eot_probability((enum room_eot_words)w, fall, ms) >=
				      share);
				CHECK(!ms || room_eot_probability((enum room_eot_words)w, fall,
								  ms - 1) < share);
			}
}

/* ---- in the room: 1 s of speech, then nothing; its end is told 700 ms later ---- */

TEST(rule_146_a_pause_is_a_piece_and_its_words_begin_the_answer)
{
	struct world w;
	uint64_t voice;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 1000, 6000);
	voice = w.ms;
	world_until(&w, voice + 199);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 0);
	world_until(&w, voice + 200);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	world_until(&w, voice + 300);
	world_words(&w, 1, "what time is it");
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	world_until(&w, voice + 350); /* it ended as loud as it was */
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK_STR(w.ask, "[Alice]: what time is it");
	world_brain_audio(&w, w.asked, 500);
	CHECK_INT(w.did[ROOM_DO_SAY_OPEN], 0);
	world_until(&w, voice + 700);
	world_sound_end(&w, 1);
	/* The words were there: nothing is awaited, nothing sent again. */
	CHECK_INT(w.did[ROOM_DO_SAY_OPEN], 1);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	CHECK_INT(w.did[ROOM_DO_ASR_CANCEL], 0);
	CHECK_INT(w.did[ROOM_DO_ADMIT],
		  2); /* the words, and the turn under whose number it goes on */
	CHECK_INT(w.ended, ROOM_REASON_MERGED);
	world_end(&w);
}

TEST(words_that_ask_for_more_begin_nothing)
{
	struct world w;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 1000, 6000);
	world_until(&w, w.ms + 200);
	world_words(&w, 1, "what is the");
	world_until(&w, w.ms + 480);
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	world_sound(&w, 1, 600, 6000);
	world_until(&w, w.ms + 250);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 2);
	CHECK_INT(w.did[ROOM_DO_ASK], 0); /* all words are awaited */
	world_words(&w, 1, "time now");
	world_until(&w, w.ms + 150);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK_STR(w.ask, "[Alice]: what is the time now");
	world_end(&w);
}

TEST(words_told_while_somebody_speaks_need_no_piece)
{
	struct world w;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 1000, 6000);
	world_partial(&w, 1, "what time is it");
	world_until(&w, w.ms + 349);
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	world_until(&w, w.ms + 1);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 0);
	world_end(&w);
}

TEST(a_pause_brings_nothing_where_nothing_may_be_begun)
{
	static const char *const settings[] = {"speculative=off", "asr_sessions=shared",
					       "asr_sessions=file"};
	struct world w;

	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
		world_begin(&w, settings[i], 1);
		world_sound(&w, 1, 1000, 6000);
		world_until(&w, w.ms + 600);
		CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 0);
		world_end(&w);
	}
	/* Not for the bot: the words are known, and nobody is asked; nor later in the same pause.
	 */
	world_begin(&w, "", 2);
	world_sound(&w, 1, 1000, 6000);
	world_until(&w, w.ms + 200);
	world_words(&w, 1, "what time is it");
	world_until(&w, w.ms + 480);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	CHECK_INT(w.did[ROOM_DO_ASK], 0);
	world_end(&w);
}

/* What follows a piece may be the hiss of a microphone: it is no words to wait for. */
TEST(noise_behind_a_piece_is_dropped_and_the_turn_is_whole)
{
	struct world w;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 1000, 6000);
	world_until(&w, w.ms + 200);
	world_words(&w, 1, "what time is it");
	world_sound(&w, 1, 400, 200);
	world_sound_end(&w, 1);
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	CHECK_INT(w.did[ROOM_DO_ASR_CANCEL], 1);
	CHECK_INT(w.ended, ROOM_REASON_MERGED);
	CHECK_STR(w.ask, "[Alice]: what time is it");
	world_end(&w);
}

/* ---- an early answer, and what else happens to its words before the speaker is done ---- */

/* *voice: the end of the speaker's voice. */
static void begin_early(struct world *w, uint64_t *voice)
{
	world_begin(w, "", 2);
	world_sound(w, 1, 1000, 6000);
	*voice = w->ms;
	world_until(w, *voice + 300);
	world_words(w, 1, "Parley, what time is it?");
	world_until(w, *voice + 400);
	CHECK_INT(w->did[ROOM_DO_ASK], 1);
}

/* A revised transcript rolls the early answer back; the question is asked as revised, once. */
TEST(rule_149_revised_words_take_an_early_answer_back)
{
	struct world w;
	uint32_t early;
	uint64_t voice;

	begin_early(&w, &voice);
	early = w.asked;
	world_words(&w, 1, "Parley, what time is it in Rome?");
	CHECK_INT(room_count(w.room, ROOM_REASON_EOT_REVOKED), 1);
	world_until(&w, voice + 500);
	world_sound_end(&w, 1);
	world_until(&w, w.ms + 5000);
	CHECK_INT(w.did[ROOM_DO_ASK], 2);
	CHECK(w.asked != early);
	CHECK_STR(w.ask, "[Alice]: Parley, what time is it in Rome?");
	CHECK_INT(room_count(w.room, ROOM_REASON_SUPERSEDED), 0);
	CHECK_INT(room_count(w.room, ROOM_REASON_EOT_REVOKED), 1);
	CHECK_INT(room_count(w.room, ROOM_REASON_MERGED), 1); /* into the second early answer */
	world_end(&w);
}

/* The flushed words of a member who leaves are answered, whether the answer began early or not. */
TEST(rule_042_an_early_answer_to_somebody_who_leaves_is_kept)
{
	struct world w;
	uint64_t voice;

	begin_early(&w, &voice);
	world_step(&w, (struct room_event){.type = ROOM_MEMBER, .user = 1});
	world_until(&w, w.ms + 2000);
	CHECK_INT(room_count(w.room, ROOM_REASON_LEFT), 0);
	CHECK_INT(room_count(w.room, ROOM_REASON_MERGED), 1);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK(room_active(w.room) != NULL);
	world_end(&w);
}

/* An interim transcript of the chunk before says nothing of the words since. */
TEST(an_interim_transcript_of_an_earlier_chunk_takes_nothing_back)
{
	struct world w;
	uint32_t first;

	world_begin(&w, "", 1);
	world_sound(&w, 1, 800, 6000);
	first = w.utterance[1];
	world_until(&w, w.ms + 200);
	world_words(&w, 1, "Parley");
	world_sound(&w, 1, 800, 6000);
	world_partial(&w, 1, "what time is it");
	world_until(&w, w.ms + 400);
	CHECK_STR(w.ask, "[Alice]: Parley what time is it");
	world_step(&w, (struct room_event){.type = ROOM_PARTIAL,
					   .user = 1,
					   .utterance = first,
					   .text = {(const uint8_t *)"Parley", 6}});
	CHECK_INT(room_count(w.room, ROOM_REASON_EOT_REVOKED), 0);
	world_end(&w);
}
