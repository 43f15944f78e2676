/* The bot's own words that come back through a member's microphone. The numbers are those of the
 * statements. */
#include "tests/test.h"

#include "control/room/floor/address.h"
#include "control/room/hearing/echo_filter.h"
#include "proto/media.h"
#include "tests/unit/control/room/scene.h"

enum { ALICE = 1, BOB, QUIET = 2500 /* amplitude of an echo */ };

static const char king[] = "once upon a time there was a king who lived in a castle by the sea";

/* What is left of the text. */
static enum room_echo removed(const char *text, const char *played, bool known, char *left)
{
	struct room_names names = {0};
	struct room_echo_input in = {.played = played, .names = &names, .known = known};

	room_names_add(&names, "Parley");
	snprintf(left, ROOM_CAPTURE_CHUNK_TEXT, "%s", text);
	return room_echo_remove(left, &in);
}

TEST(rule_162_words_of_the_bot_are_aligned_with_errors_of_speech_to_text)
{
	char left[ROOM_CAPTURE_CHUNK_TEXT];

	CHECK_INT(removed("There was a king who lived", king, false, left), ROOM_ECHO_ALL);
	CHECK_STR(left, "");
	/* One word is wrong, one is spelled otherwise, one is missing. */
	CHECK_INT(removed("there was a ring who lived in castles by the", king, false, left),
		  ROOM_ECHO_ALL);
	CHECK_INT(removed("es war einmal ein König", "Es war einmal ein König im Schloss", false,
			  left),
		  ROOM_ECHO_ALL);
	CHECK_INT(removed("昔々あるところに王様", "昔々あるところに王様がいました。", false, left),
		  ROOM_ECHO_ALL);
	/* Words of the same language, some of them the same. */
	CHECK_INT(removed("what was the name of the king", king, false, left), ROOM_ECHO_NONE);
	CHECK_STR(left, "what was the name of the king");
	CHECK_INT(removed("there is a shop in the town by the way", king, false, left),
		  ROOM_ECHO_NONE);
	CHECK_INT(removed("", king, false, left), ROOM_ECHO_NONE);
	CHECK_INT(removed("a king", "", true, left), ROOM_ECHO_NONE);
}

TEST(rule_162_a_few_words_count_where_the_microphone_is_known_to_return_them)
{
	char left[ROOM_CAPTURE_CHUNK_TEXT];

	CHECK_INT(removed("a king", king, false, left), ROOM_ECHO_NONE);
	CHECK_INT(removed("a king", king, true, left), ROOM_ECHO_ALL);
	CHECK_INT(removed("the queen", "there was a king", true, left), ROOM_ECHO_NONE);
	CHECK_INT(removed("parley, what was there?", king, true, left), ROOM_ECHO_NONE);
	CHECK_STR(left, "parley, what was there?");
}

TEST(rule_162_words_beside_the_echo_stay)
{
	char left[ROOM_CAPTURE_CHUNK_TEXT];

	CHECK_INT(removed("there was a king who lived, no, the queen please", king, false, left),
		  ROOM_ECHO_PART);
	CHECK_STR(left, "no, the queen please");
	CHECK_INT(removed("Too long. There was a king who lived in", king, false, left),
		  ROOM_ECHO_PART);
	CHECK_STR(left, "Too long.");
	CHECK_INT(removed("there was a king who stop", king, false, left), ROOM_ECHO_PART);
	CHECK_STR(left, "stop");
	CHECK_INT(removed("there was a king parley", king, false, left), ROOM_ECHO_PART);
	CHECK_STR(left, "parley");
	CHECK_INT(removed("there was a king who lived yeah I'm listening in a castle by the sea",
			  king, false, left),
		  ROOM_ECHO_PART);
	CHECK_STR(left, "yeah I'm listening");
	/* Two words at the end of an echo with errors are two more, and so are slight ones. */
	CHECK_INT(removed("there was a king who lived and to", king, false, left), ROOM_ECHO_ALL);
	CHECK_INT(removed("there was a ring who lived flower basket", king, false, left),
		  ROOM_ECHO_ALL);
	CHECK_STR(left, "");
}

TEST(rule_162_a_voice_that_outlasts_the_bots_repeats_it)
{
	struct room_names names = {0};
	struct room_echo_input in = {.played = king, .names = &names, .outlasts = true};
	char text[ROOM_CAPTURE_CHUNK_TEXT] = "in a castle by the sea";

	CHECK_INT(room_echo_remove(text, &in), ROOM_ECHO_NONE);
	CHECK_STR(text, "in a castle by the sea");
}

/* The bot has told Alice of this for so long, in 5 s. */
static struct scene *tell_for(const char *sets, const char *answer, unsigned ms)
{
	struct scene *s = scene_open(sets);

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_say(s, ALICE, "parley tell me a story");
	scene_answer(s, answer, 5000);
	scene_wait(s, ms);
	scene_mark(s);
	return s;
}

static struct scene *king_for(const char *sets, unsigned ms)
{
	return tell_for(sets, king, ms);
}

/* So long after the answer's first sound the user's microphone has sound for 1200 ms, in which
 * these words are found. */
static void heard_over(struct scene *s, uint64_t user, const char *words)
{
	scene_speak(s, user, 1200);
	scene_stop(s, user);
	scene_wait(s, 60);
	scene_words(s, user, words);
}

TEST(rule_162_the_bot_does_not_answer_its_own_words)
{
	struct scene *s = king_for("interruptions none", 1500);

	heard_over(s, ALICE, "there was a king who lived");
	CHECK_INT(scene_ended(s, ROOM_REASON_ECHO), 1);
	CHECK(scene_decided(s, scene_last(s, ROOM_DO_RECORD)->turn, "echo", false));
	scene_wait(s, 1500);
	scene_drained(s);
	scene_wait(s, 3000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_close(s);
	/* Words that were played long before, or will be, are a member's. */
	s = king_for("interruptions none", 3500);
	heard_over(s, ALICE, "once upon a time there");
	CHECK_INT(scene_ended(s, ROOM_REASON_ECHO), 0);
	scene_close(s);
	s = king_for("interruptions none", 200);
	heard_over(s, ALICE, "in a castle by the sea");
	CHECK_INT(scene_ended(s, ROOM_REASON_ECHO), 0);
	scene_close(s);
}

TEST(rule_162_words_beside_the_echo_are_answered)
{
	struct scene *s = king_for("interruptions none", 1500);

	heard_over(s, ALICE, "there was a king who tell me about the queen instead");
	scene_wait(s, 2000);
	scene_drained(s);
	scene_wait(s, 3000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	CHECK_STR(scene_last(s, ROOM_DO_ASK)->text, "[Alice]: tell me about the queen instead");
	scene_close(s);
}

TEST(rule_162_words_that_are_repeated_in_the_silence_are_answered)
{
	struct scene *s = king_for("interruptions none", 5000);

	scene_drained(s);
	scene_wait(s, 100);
	heard_over(s, ALICE, "in a castle by the sea");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
	/* The same by somebody whose microphone returned the bot's voice before. */
	s = king_for("interruptions none", 1500);
	heard_over(s, ALICE, "there was a king who lived");
	CHECK_INT(scene_ended(s, ROOM_REASON_ECHO), 1);
	scene_wait(s, 3000);
	scene_drained(s);
	scene_wait(s, 100);
	heard_over(s, ALICE, "in a castle by the sea");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
	/* They began over the last word, and went on after it. */
	s = king_for("interruptions none", 4800);
	scene_speak(s, ALICE, 200);
	scene_drained(s);
	heard_over(s, ALICE, "in a castle by the sea");
	CHECK_INT(scene_ended(s, ROOM_REASON_ECHO), 0);
	scene_wait(s, 1000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(rule_162_an_echo_that_ends_with_the_answer_is_none_the_less_one)
{
	struct scene *s = king_for("interruptions none", 3600);

	scene_speak(s, ALICE, 1400);
	scene_drained(s);
	scene_speak(s, ALICE, 300); /* the loudspeaker is late */
	scene_stop(s, ALICE);
	scene_wait(s, 60);
	scene_words(s, ALICE, "lived in a castle by the sea");
	CHECK_INT(scene_ended(s, ROOM_REASON_ECHO), 1);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_close(s);
}

TEST(rule_162_the_last_word_of_an_echo_may_be_a_chunk_of_its_own)
{
	struct scene *s = king_for("interruptions none capture_max_ms 2000", 3200);

	scene_speak(s, ALICE, 1800);
	scene_drained(s);
	scene_speak(s, ALICE, 200);
	scene_words(s, ALICE, "lived in a castle by the");
	scene_speak(s, ALICE, 300);
	scene_stop(s, ALICE);
	scene_wait(s, 60);
	scene_words(s, ALICE, "sea");
	CHECK_INT(scene_ended(s, ROOM_REASON_ECHO), 1);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_close(s);
}

/* Alice's microphone has returned the bot's voice, for too short a time to stop it. */
static void return_voice(struct scene *s)
{
	s->amp = QUIET;
	scene_speak(s, ALICE, 600);
	scene_stop(s, ALICE);
	scene_wait(s, 60);
	scene_words(s, ALICE, "there was a king who");
	scene_wait(s, 400);
	CHECK_INT(scene_ended(s, ROOM_REASON_ECHO), 1);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
}

/* Alice repeats the bot's words in her own voice; the next words are one of the bot's. */
static struct scene *repeat_words(void)
{
	struct scene *s = king_for("interruptions speaker", 1500);

	scene_speak(s, ALICE, 600);
	scene_stop(s, ALICE);
	scene_wait(s, 60);
	scene_words(s, ALICE, "there was a king who");
	scene_wait(s, 400);
	return s;
}

TEST(rule_162_words_alone_do_not_make_a_microphone_one_that_returns_the_bot)
{
	struct scene *s = repeat_words();

	heard_over(s, ALICE, "castle");
	CHECK_INT(scene_ended(s, ROOM_REASON_ECHO), 1);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	scene_close(s);
}

TEST(rule_162_loud_words_are_the_members_where_the_microphone_returns_the_bot)
{
	struct scene *s = king_for("interruptions speaker", 1500);

	return_voice(s);
	s->amp = 0;
	heard_over(s, ALICE, "castle");
	CHECK_INT(scene_ended(s, ROOM_REASON_ECHO), 1);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	scene_close(s);
}

/* A member who has said nothing yet: their microphone opens with the answer. */
TEST(rule_162_sound_that_begins_with_the_answer_is_the_bots)
{
	struct scene *s = king_for("interruptions speaker", 200);

	scene_speak(s, BOB, 1000);
	scene_stop(s, BOB);
	scene_wait(s, 60);
	scene_words(s, BOB, "once upon a time there");
	scene_wait(s, 400);
	heard_over(s, BOB, "castle");
	CHECK_INT(scene_ended(s, ROOM_REASON_ECHO), 2);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	scene_close(s);
}

TEST(rule_152_162_a_stop_request_is_judged_before_the_filter)
{
	static const char inn[] = "and the king said okay please stop it now";
	char left[ROOM_CAPTURE_CHUNK_TEXT];
	struct scene *s = tell_for("interruptions speaker", inn, 3000);

	heard_over(s, ALICE, "okay please stop it now");
	CHECK_INT(scene_ended(s, ROOM_REASON_ECHO), 0);
	scene_close(s);
	CHECK_INT(removed("okay, please stop it now", inn, false, left), ROOM_ECHO_NONE);
	CHECK_STR(left, "okay, please stop it now");
	/* The sound of a proven echo, in a word that the bot says. */
	CHECK_INT(removed("stop it", inn, true, left), ROOM_ECHO_ALL);
	CHECK_INT(removed("stop", king, true, left), ROOM_ECHO_NONE);
}

TEST(rule_162_a_question_in_the_bots_words_is_the_members)
{
	struct scene *s = king_for("interruptions none", 1500);

	heard_over(s, ALICE, "there was a king who lived?");
	CHECK_INT(scene_ended(s, ROOM_REASON_ECHO), 0);
	scene_close(s);
}

/* With the words so far, or without. */
static unsigned stopped_by(bool interim)
{
	struct scene *s = king_for("interim_ms 300", 1600);
	unsigned stops;

	scene_speak(s, ALICE, 500);
	if (interim)
		scene_event(s, (struct room_event){.type = ROOM_PARTIAL,
						   .user = ALICE,
						   .utterance = 2,
						   .text = slice_str("there was a king")});
	scene_speak(s, ALICE, 620);
	stops = scene_count(s, ROOM_DO_SAY_STOP);
	scene_close(s);
	return stops;
}

TEST(rule_162_interim_words_of_the_bot_hold_back_the_voice_that_returns_them)
{
	CHECK_INT(stopped_by(true), 0);
	CHECK_INT(stopped_by(false), 1);
}

static unsigned ducked_by(bool known, unsigned amp)
{
	struct scene *s = king_for("interruptions speaker", 1500);
	unsigned ducks;

	if (known)
		return_voice(s);
	scene_mark(s);
	s->amp = amp;
	scene_speak(s, ALICE, 500);
	ducks = scene_count(s, ROOM_DO_SAY_GAIN) + scene_count(s, ROOM_DO_SAY_PAUSE);
	scene_close(s);
	return ducks;
}

TEST(rule_162_the_voice_of_an_echo_does_not_duck_the_bot)
{
	CHECK(ducked_by(false, QUIET) > 0);
	CHECK_INT(ducked_by(true, QUIET), 0);
	/* The member's own voice is louder. */
	CHECK(ducked_by(true, 20000) > 0);
}

TEST(rule_162_the_words_of_a_member_whose_microphone_returns_the_bot_stop_it)
{
	struct scene *s = king_for("interruptions speaker", 1500);

	return_voice(s);
	scene_speak(s, ALICE, 1600);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	scene_stop(s, ALICE);
	scene_wait(s, 60);
	scene_words(s, ALICE, "what about the queen");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	CHECK(scene_decided(s, scene_last(s, ROOM_DO_SAY_STOP)->turn, "gate_echo", false));
	scene_close(s);
}

/* A transcript that was final is revised: the room's question must not get the bot's own words. */
TEST(rule_162_a_late_revision_passes_the_echo_filter)
{
	struct scene *s = king_for("interruptions none", 1500);
	const struct scene_did *asked;

	heard_over(s, ALICE, "Parley what about the queen");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_words(s, ALICE, "there was a king who lived Parley what about the green queen");
	scene_wait(s, 1500);
	scene_drained(s);
	scene_wait(s, 3000);
	asked = scene_last(s, ROOM_DO_ASK);
	CHECK(asked && strstr(asked->text, "what about the green queen"));
	CHECK(asked && !strstr(asked->text, "king who lived"));
	scene_close(s);
}
