/* Speech over the bot, and its effect on the playback. */
#include "tests/test.h"

#include "control/room/answer/barge_in.h"
#include "control/room/floor/phrase.h"
#include "control/room/inside.h"
#include "proto/base/time.h"
#include "tests/unit/control/room/world.h"

/* All that a voice needs to stop the bot. */
static struct room_gate_input open_gate(const struct settings *s)
{
	return (struct room_gate_input){.heard_ms = s->echo_guard_ms,
					.allowed = true,
					.age_ms = 1000,
					.voice_ms = s->barge_in_ms,
					.promoted = true,
					.active = 900,
					.peak = 6000};
}

/* Each row shuts the gate by one more thing, from the last question to the first: the first that is
 * asked answers. */
TEST(rule_069_072_the_gate_asks_in_this_order)
{
	struct settings *s = NULL;
	struct room_gate_input in;

	CHECK_INT(settings_alloc(&s), 0);
	in = open_gate(s);
	CHECK_INT(room_gate(s, &in), ROOM_GATE_ALLOWED);
	in.active = s->noise_active;
	CHECK_INT(room_gate(s, &in), ROOM_GATE_ALLOWED);
	in.peak = s->noise_peak;
	CHECK_INT(room_gate(s, &in), ROOM_GATE_CAPTURE_SIGNAL_NOT_ASSERTIVE);
	in.voice_ms = 699;
	CHECK_INT(room_gate(s, &in), ROOM_GATE_INSUFFICIENT_CAPTURE_BYTES);
	in.read_out = true;
	in.age_ms = 500;
	CHECK_INT(room_gate(s, &in), ROOM_GATE_INSUFFICIENT_CAPTURE_BYTES);
	in.age_ms = 499;
	CHECK_INT(room_gate(s, &in), ROOM_GATE_CAPTURE_TOO_YOUNG_FOR_BUFFERED_PLAYBACK);
	in.allowed = false;
	CHECK_INT(room_gate(s, &in), ROOM_GATE_INTERRUPTION_POLICY_DENIED);
	in.finalizing = true;
	CHECK_INT(room_gate(s, &in), ROOM_GATE_SPEAKING_END_FINALIZE_PENDING);
	in.immune_ms = 1;
	CHECK_INT(room_gate(s, &in), ROOM_GATE_OUTPUT_LEASE_SPEECH_IMMUNITY);
	in.heard_ms = 1499;
	CHECK_INT(room_gate(s, &in), ROOM_GATE_ECHO_GUARD_ACTIVE);
	settings_free(s);
}

/* What is read out is stopped by no utterance that has only begun. */
TEST(rule_069_a_young_utterance_does_not_stop_what_is_read_out)
{
	static const char text[] = "[[TO: SPEAKER]] There was a king who had a castle by the sea.";
	static const uint8_t pcm[48 * 8000];
	struct world w;

	world_begin(&w, "reply_path=brain promote_ms=100 barge_in_ms=200 interim_ms=0", 1);
	world_says(&w, 1, "parley tell me a story");
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_TEXT,
					   .turn = w.asked,
					   .text = {(const uint8_t *)text, sizeof text - 1}});
	world_step(&w, (struct room_event){.type = ROOM_BRAIN_DONE, .turn = w.asked});
	world_step(&w, (struct room_event){.type = ROOM_SPEECH_AUDIO,
					   .turn = w.asked,
					   .chunk = 1,
					   .pcm = {pcm, sizeof pcm}});
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_STARTED, .turn = w.asked, .at = w.ms * NS_PER_MS});
	world_until(&w, w.ms + 2000);
	world_sound(&w, 1, 500, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 0);
	CHECK_INT(w.did[ROOM_DO_SAY_GAIN], 1); /* but it is softer */
	world_sound(&w, 1, 20, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_end(&w);
}

static void step(struct world *w, enum room_event_type type, uint32_t chunk, const char *text)
{
	static const uint8_t pcm[48 * 1000];

	world_step(w, (struct room_event){.type = type,
					  .turn = w->asked,
					  .chunk = chunk,
					  .at = w->ms * NS_PER_MS,
					  .samples = 24000,
					  .text = {(const uint8_t *)text, strlen(text)},
					  .pcm = {pcm, sizeof pcm}});
}

/* While a sound plays between two pieces of speech the bot has no voice that could be lowered. */
TEST(what_does_not_play_is_not_lowered)
{
	struct world w;

	world_begin(&w, "reply_path=brain echo_guard_ms=0 interim_ms=0", 1);
	world_says(&w, 1, "parley tell me a story");
	step(&w, ROOM_BRAIN_TEXT, 0,
	     "[[TO: SPEAKER]] Listen now. [[SOUNDBOARD: gong]] That was it.");
	step(&w, ROOM_BRAIN_DONE, 0, "");
	step(&w, ROOM_SPEECH_AUDIO, 1, "");
	step(&w, ROOM_SPEECH_DONE, 1, "");
	step(&w, ROOM_SAY_STARTED, 0, "");
	world_until(&w, w.ms + 1000);
	step(&w, ROOM_SAY_DRAINED, 0, "");
	CHECK_INT(w.did[ROOM_DO_SOUNDBOARD], 1);
	world_sound(&w, 1, 300, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_GAIN], 0);
	step(&w, ROOM_SOUND_DONE, 2, "");
	step(&w, ROOM_SPEECH_AUDIO, 3, "");
	CHECK_INT(w.did[ROOM_DO_SAY_OPEN], 2);
	CHECK_INT(w.did[ROOM_DO_SAY_GAIN], 1); /* they still speak */
	CHECK_INT(w.last[ROOM_DO_SAY_GAIN].gain, w.settings->duck_gain);
	world_end(&w);
}

TEST(rule_076_music_alone_is_not_interrupted)
{
	struct world w;

	world_begin(&w, "", 2);
	world_step(&w,
		   (struct room_event){.type = ROOM_MUSIC,
				       .yes = true,
				       .text = {(const uint8_t *)"playing", sizeof "playing" - 1}});
	world_forget(&w);
	world_sound(&w, 1, 2000, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP] + w.did[ROOM_DO_SAY_PAUSE] + w.did[ROOM_DO_MUSIC], 0);
	world_end(&w);
}

TEST(rule_073_074_who_may_by_the_policy)
{
	const uint32_t speaker = SETTINGS_INTERRUPT_SPEAKER;
	struct room_interruption_policy p = {0};

	CHECK(!room_interruption_allowed(&p, 1, true)); /* none was decided */
	p = room_interruption_policy(SETTINGS_INTERRUPT_NONE, ROOM_TARGET_SPEAKER, 0, 1);
	CHECK(!room_interruption_allowed(&p, 1, false) && !room_interruption_allowed(&p, 1, true));
	p = room_interruption_policy(SETTINGS_INTERRUPT_ANYONE, ROOM_TARGET_ALL, 0, 1);
	CHECK(room_interruption_allowed(&p, 2, false));
	p = room_interruption_policy(speaker, ROOM_TARGET_UNTOLD, 0, 1);
	CHECK(room_interruption_allowed(&p, 1, false) && !room_interruption_allowed(&p, 2, false));
	CHECK(room_interruption_allowed(&p, 2, true)); /* by the name */
	p = room_interruption_policy(speaker, ROOM_TARGET_SPEAKER, 0, 1);
	CHECK(room_interruption_allowed(&p, 1, false) && !room_interruption_allowed(&p, 2, false));
	p = room_interruption_policy(speaker, ROOM_TARGET_USER, 3, 1);
	CHECK(room_interruption_allowed(&p, 3, false) && !room_interruption_allowed(&p, 1, false));
	for (enum room_target t = ROOM_TARGET_MISSING; t <= ROOM_TARGET_UNRESOLVED; t++) {
		if (t != ROOM_TARGET_MISSING && t != ROOM_TARGET_ALL && t != ROOM_TARGET_UNRESOLVED)
			continue;
		p = room_interruption_policy(speaker, t, 0, 1);
		CHECK(!room_interruption_allowed(&p, 1, false) &&
		      !room_interruption_allowed(&p, 2, false));
		CHECK(room_interruption_allowed(&p, 2, true));
	}
	p = room_interruption_policy_own(ROOM_SCOPE_NONE, 1);
	CHECK(!room_interruption_allowed(&p, 1, true));
}

static enum room_phrase phrase_of(const char *text)
{
	return room_phrase_of(&(struct room_saying){.text = text, .language = ROOM_LANGUAGE_EN});
}

static bool is_nonverbal(const char *text)
{
	return room_phrase_is_nonverbal(
		&(struct room_saying){.text = text, .language = ROOM_LANGUAGE_EN});
}

static bool is_slight(const char *text)
{
	return room_phrase_is_slight(
		&(struct room_saying){.text = text, .language = ROOM_LANGUAGE_EN});
}

static bool is_idle(const char *text)
{
	return room_phrase_idle(&(struct room_saying){.text = text, .language = ROOM_LANGUAGE_EN});
}

TEST(rule_080_what_words_over_the_bot_are)
{
	static const struct {
		const char *text;
		enum room_phrase is;
	} rows[] = {{"", ROOM_PHRASE_NOTHING},
		    {"...", ROOM_PHRASE_NOTHING},
		    {"Mhm.", ROOM_PHRASE_BACKCHANNEL},
		    {"haha lol", ROOM_PHRASE_BACKCHANNEL},
		    {"yeah that makes sense", ROOM_PHRASE_BACKCHANNEL},
		    {"Wow, that's crazy.", ROOM_PHRASE_BACKCHANNEL},
		    {"yeah yeah xylophone", ROOM_PHRASE_BACKCHANNEL}, /* one word misheard */
		    {"pffft", ROOM_PHRASE_BACKCHANNEL},
		    {"why?", ROOM_PHRASE_WORDS},
		    {"no that was yesterday", ROOM_PHRASE_WORDS},
		    {"of all things", ROOM_PHRASE_FEW},
		    {"the small one please thank you", ROOM_PHRASE_WORDS},
		    {"i did not know that", ROOM_PHRASE_BACKCHANNEL},
		    {"what a story", ROOM_PHRASE_BACKCHANNEL},
		    {"oh and how much", ROOM_PHRASE_WORDS},
		    {"okay but can you", ROOM_PHRASE_WORDS},
		    {"i wanted", ROOM_PHRASE_WORDS},
		    {"what about tomorrow", ROOM_PHRASE_WORDS},
		    {"Stop!", ROOM_PHRASE_STOP},
		    {"ok please stop it now", ROOM_PHRASE_STOP},
		    {"shut up", ROOM_PHRASE_STOP},
		    {"never mind", ROOM_PHRASE_STOP},
		    {"enough", ROOM_PHRASE_STOP},
		    {"stop telling me about horses", ROOM_PHRASE_WORDS},
		    {"hey let me talk for a second", ROOM_PHRASE_TAKEOVER},
		    {"please be quiet for a moment", ROOM_PHRASE_TAKEOVER},
		    {"wait", ROOM_PHRASE_WORDS},
		    {"hold on", ROOM_PHRASE_WORDS}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (phrase_of(rows[i].text) != rows[i].is)
			test_fail(__FILE__, __LINE__, "\"%s\" is %d, want %d", rows[i].text,
				  phrase_of(rows[i].text), rows[i].is);
}

TEST(rule_080_slight_words_do_not_cut_by_being_over)
{
	static const char *const slight[] = {"hec", "tet",	   "urgh",  "phuw",
					     "hup", "gnack gnack", "swoet", "alrighty or so"};
	static const char *const counts[] = {"berlin", "the small one", "two",		"wait",
					     "why?",   "in euros",	"seven dwarfs", ""};

	for (size_t i = 0; i < sizeof slight / sizeof slight[0]; i++)
		if (!is_slight(slight[i]) && phrase_of(slight[i]) != ROOM_PHRASE_BACKCHANNEL)
			test_fail(__FILE__, __LINE__, "\"%s\" cuts", slight[i]);
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		if (is_slight(counts[i]))
			test_fail(__FILE__, __LINE__, "\"%s\" is slight", counts[i]);
	CHECK(is_slight("hec") && is_slight("gnack gnack") && is_slight("swoet"));
}

/* An interim transcript may end within a word. */
TEST(rule_080_a_piece_of_a_word_may_complete_a_backchannel)
{
	struct room_saying s = {.text = "no kidd", .language = ROOM_LANGUAGE_EN, .interim = true};

	CHECK_INT(room_phrase_of(&s), ROOM_PHRASE_FEW);
	s.text = "no that was";
	CHECK_INT(room_phrase_of(&s), ROOM_PHRASE_WORDS);
	s.text = "no kidd";
	s.interim = false;
	CHECK_INT(room_phrase_of(&s), ROOM_PHRASE_WORDS);
}

TEST(rule_080_backchannels_without_their_contractions)
{
	static const char *const rows[] = {"that is pretty cool", "i am not surprised",
					   "i did not know that", "that is useful"};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		CHECK_INT(phrase_of(rows[i]), ROOM_PHRASE_BACKCHANNEL);
	CHECK_INT(phrase_of("that is wrong"), ROOM_PHRASE_WORDS);
	CHECK_INT(phrase_of("i do not want that"), ROOM_PHRASE_WORDS);
}

TEST(rule_023_sounds_and_words_that_ask_for_nothing)
{
	static const char *const sounds[] = {"mhm",	 "Pff.",       "hm hm",	     "brr",
					     "la-la-la", "dum di dum", "doo bee doo"};
	static const char *const idle[] = {"quite so", "Wow!", "oh nice", "yeah yeah",
					   "yeah that makes sense"};
	static const char *const neither[] = {
		"",    "...",  "hm?",	 "no no no", "stop stop stop", "1 2 1", "so do i", "again",
		"why", "more", "twenty", "what",     "seven of them",  "no",	"hut",	   "stop"};

	for (size_t i = 0; i < sizeof sounds / sizeof sounds[0]; i++)
		if (!is_nonverbal(sounds[i]) || !is_idle(sounds[i]))
			test_fail(__FILE__, __LINE__, "\"%s\" is a sound", sounds[i]);
	for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
		if (is_nonverbal(idle[i]) || !is_idle(idle[i]))
			test_fail(__FILE__, __LINE__, "\"%s\" asks for nothing", idle[i]);
	for (size_t i = 0; i < sizeof neither / sizeof neither[0]; i++)
		if (is_nonverbal(neither[i]) || is_idle(neither[i]))
			test_fail(__FILE__, __LINE__, "\"%s\" is something", neither[i]);
}

TEST(who_asks_waits_for_an_answer)
{
	static const char *const asks[] = {"It is late. Shall I go on?",
					   "Well, here we are: pick a number.", "Tell me more",
					   "Good. I need your name"};
	static const char *const tells[] = {"", "...", "It was a king. He had a horse.",
					    "What a day.", "Fine"};

	for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++)
		if (!room_phrase_asks(asks[i]))
			test_fail(__FILE__, __LINE__, "\"%s\" asks", asks[i]);
	for (size_t i = 0; i < sizeof tells / sizeof tells[0]; i++)
		if (room_phrase_asks(tells[i]))
			test_fail(__FILE__, __LINE__, "\"%s\" does not", tells[i]);
}

TEST(rule_071_a_voice_right_after_the_begin_waits_for_the_guard)
{
	struct world w;

	world_begin(&w, "", 1);
	world_answering(&w, 8000);
	world_sound(&w, 1, 1480, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP] + w.did[ROOM_DO_SAY_PAUSE] + w.did[ROOM_DO_SAY_GAIN], 0);
	world_sound(&w, 1, 20, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_end(&w);
}

TEST(rule_070_072_075_softer_then_a_pause_then_a_cut)
{
	struct world w;
	uint32_t turn;

	world_begin(&w, "pause_ms=500 barge_in_credit_ms=0 duck_ms=120", 1);
	turn = world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	world_sound(&w, 1, 100, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_GAIN], 0);
	world_sound(&w, 1, 20, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_GAIN], 1);
	CHECK_INT(w.last[ROOM_DO_SAY_GAIN].gain, w.settings->duck_gain);
	CHECK_INT(w.last[ROOM_DO_SAY_GAIN].turn, turn);
	/* It counts as speech from its 21st frame on. */
	world_sound(&w, 1, 760, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_PAUSE], 0);
	world_sound(&w, 1, 20, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_PAUSE], 1);
	world_sound(&w, 1, 180, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 0);
	world_sound(&w, 1, 20, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_sound(&w, 1, 800, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1); /* once */
	world_end(&w);
}

TEST(rule_075_148_a_blip_and_it_goes_on_as_if_nothing_had_been)
{
	struct world w;

	world_begin(&w, "pause_ms=500 barge_in_credit_ms=0", 1);
	world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	world_sound(&w, 1, 960, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_PAUSE], 1);
	world_until(&w, w.ms + 500);
	CHECK_INT(w.did[ROOM_DO_SAY_RESUME], 0);
	world_until(&w, w.ms + 100);
	CHECK_INT(w.did[ROOM_DO_SAY_RESUME], 1);
	CHECK_INT(w.did[ROOM_DO_SAY_GAIN], 2);
	CHECK_INT(w.last[ROOM_DO_SAY_GAIN].gain, 1000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 0);
	world_end(&w);
}

TEST(rule_148_words_in_time_stop_it)
{
	struct world w;

	world_begin(&w, "pause_ms=120 barge_in_credit_ms=0", 1);
	world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	world_sound(&w, 1, 120, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_PAUSE], 0); /* it does not count as speech yet */
	world_sound(&w, 1, 400, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_PAUSE], 1);
	world_until(&w, w.ms + 550);
	CHECK_INT(w.did[ROOM_DO_SAY_RESUME], 0);
	world_partial(&w, 1, "what about the horse");
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_end(&w);
}

TEST(rule_080_an_mhm_is_talked_through)
{
	struct world w;

	world_begin(&w, "", 1);
	world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	world_sound(&w, 1, 300, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_GAIN], 1);
	world_partial(&w, 1, "mhm");
	CHECK_INT(w.did[ROOM_DO_SAY_GAIN], 2); /* as loud as before, at once */
	world_sound(&w, 1, 600, 6000);	       /* a long one */
	world_partial(&w, 1, "mhm yeah exactly");
	world_sound(&w, 1, 600, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_PAUSE] + w.did[ROOM_DO_SAY_STOP], 0);
	/* What was said long ago is no excuse for ever. */
	world_sound(&w, 1, 300, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_end(&w);
}

TEST(rule_080_taking_over_in_so_many_words)
{
	struct world w;

	world_begin(&w, "", 2);
	world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	/* Bob was not spoken to, and may by calling alone. */
	world_sound(&w, 2, 1500, 6000);
	world_partial(&w, 2, "did you see the match");
	CHECK_INT(w.did[ROOM_DO_SAY_STOP] + w.did[ROOM_DO_SAY_GAIN], 0);
	/* Only his whole sentence tells whom he wants to be quiet. */
	world_partial(&w, 2, "did you see stop talking");
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 0);
	world_sound_end(&w, 2);
	world_words(&w, 2, "did you see stop talking");
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_end(&w);
}

TEST(a_name_at_the_end_of_an_interim_transcript_waits)
{
	static const char said[] = "typical, Parley always has bad news";
	struct world w;

	for (unsigned stop = 0; stop < 2; stop++) {
		world_begin(&w, "pause_ms=5000", 2);
		world_answering(&w, 8000);
		world_until(&w, w.ms + 2000);
		world_sound(&w, 1, 500, 6000);
		world_partial(&w, 1, stop ? "stop, Parley" : "typical, Parley");
		CHECK_INT(w.did[ROOM_DO_SAY_STOP], stop);
		world_sound(&w, 1, 700, 6000);
		world_partial(&w, 1, said);
		world_sound(&w, 1, 500, 6000);
		world_sound_end(&w, 1);
		world_words(&w, 1, said);
		CHECK_INT(w.did[ROOM_DO_SAY_STOP], stop);
		world_end(&w);
	}
}

TEST(words_about_the_bot_are_talked_through)
{
	static const char *const said[] = {"I asked Parley about it yesterday",
					   "this Parley thing is great",
					   "parle-moi plutôt de Londres"};
	struct world w;

	for (unsigned i = 0; i < 3; i++) {
		world_begin(&w, "", 2);
		world_answering(&w, 8000);
		world_until(&w, w.ms + 2000);
		world_sound(&w, 1, 500, 6000);
		world_partial(&w, 1, said[i]);
		world_sound(&w, 1, 300, 6000);
		world_sound_end(&w, 1);
		world_words(&w, 1, said[i]);
		CHECK_INT(w.did[ROOM_DO_SAY_STOP], i == 2);
		world_end(&w);
	}
}

TEST(rule_074_the_name_stops_it_for_anyone)
{
	struct world w;

	for (unsigned none = 0; none < 2; none++) {
		world_begin(&w, none ? "interruptions=none" : "", 2);
		world_answering(&w, 8000);
		world_until(&w, w.ms + 100); /* the echo guard is for voices without words */
		world_sound(&w, 2, 500, 6000);
		world_partial(&w, 2, "parley what about me");
		CHECK_INT(w.did[ROOM_DO_SAY_STOP], !none);
		world_end(&w);
	}
}

TEST(rule_077_nothing_is_suppressed_after_a_cut)
{
	struct world w;
	uint32_t first;

	world_begin(&w, "", 1);
	first = world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	world_sound(&w, 1, 1100, 6000);
	world_step(&w,
		   (struct room_event){.type = ROOM_SAY_STOPPED, .turn = first, .samples = 60000});
	CHECK_INT(w.ended, ROOM_REASON_INTERRUPTED);
	world_sound_end(&w, 1);
	world_until(&w, w.ms + 150);
	world_words(&w, 1, "no tell me another");
	CHECK(w.asked != first);
	world_brain_audio(&w, w.asked, 100);
	CHECK_INT(w.did[ROOM_DO_SAY_OPEN], 1); /* at once */
	world_end(&w);
}

TEST(rule_079_what_comes_late_of_a_cut_answer_is_nobodys)
{
	struct world w;
	uint32_t first;

	world_begin(&w, "", 1);
	first = world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	world_sound(&w, 1, 1100, 6000);
	world_step(&w,
		   (struct room_event){.type = ROOM_SAY_STOPPED, .turn = first, .samples = 60000});
	world_sound_end(&w, 1);
	world_forget(&w);
	world_brain_audio(&w, first, 200);
	CHECK_INT(w.did[ROOM_DO_SAY_PCM], 0);
	world_until(&w, w.ms + 150);
	world_words(&w, 1, "no tell me another");
	world_brain_audio(&w, first, 200);
	CHECK_INT(w.did[ROOM_DO_SAY_PCM], 0);
	world_brain_audio(&w, w.asked, 200);
	CHECK_INT(w.did[ROOM_DO_SAY_PCM], 10);
	world_end(&w);
}

TEST(rule_029_the_bot_begins_while_somebody_speaks)
{
	struct world w;

	world_begin(&w, "", 2);
	world_says(&w, 1, "parley tell me a story");
	world_sound(&w, 2, 1000, 6000); /* Bob talks on */
	CHECK(w.asked);
	world_brain_audio(&w, w.asked, 1000);
	CHECK_INT(w.did[ROOM_DO_SAY_OPEN], 1);
	world_end(&w);
}

TEST(who_only_says_stop_gets_no_answer)
{
	struct world w;
	uint32_t first;

	world_begin(&w, "", 1);
	first = world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	world_sound(&w, 1, 440, 6000);
	world_sound_end(&w, 1);
	world_until(&w, w.ms + 300);
	world_words(&w, 1, "Stop.");
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	CHECK_INT(w.ended, ROOM_REASON_STOP_REQUEST);
	world_step(&w,
		   (struct room_event){.type = ROOM_SAY_STOPPED, .turn = first, .samples = 60000});
	CHECK_INT(w.asked, first);
	world_end(&w);
}

TEST(words_after_a_request_to_stop_are_answered)
{
	struct world w;
	uint32_t first;

	world_begin(&w, "", 1);
	first = world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	world_sound(&w, 1, 1400, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_step(&w,
		   (struct room_event){.type = ROOM_SAY_STOPPED, .turn = first, .samples = 60000});
	world_until(&w, w.ms + 200); /* a pause, and a chunk */
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 1);
	world_words(&w, 1, "Stop.");
	world_sound(&w, 1, 800, 6000);
	world_sound_end(&w, 1);
	world_words(&w, 1, "Tell me a joke instead.");
	world_until(&w, w.ms + 1000);
	CHECK_INT(room_count(w.room, ROOM_REASON_STOP_REQUEST), 0);
	CHECK_INT(w.did[ROOM_DO_ASK], 1);
	CHECK(strstr(w.ask, "[Alice]: Stop. Tell me a joke instead."));
	world_end(&w);
}

TEST(words_for_somebody_else_do_not_stop_it)
{
	struct world w;

	world_begin(&w, "", 2);
	world_answering(&w, 8000);
	world_until(&w, w.ms + 2000);
	world_sound(&w, 1, 400, 6000);
	world_partial(&w, 1, "Bob pass me the salt");
	world_sound(&w, 1, 600, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP] + w.did[ROOM_DO_SAY_PAUSE], 0);
	world_end(&w);
}

TEST(rule_078_a_lease_holds_the_floor)
{
	struct settings *s = NULL;
	struct room_output_lease l = {0};
	const uint64_t ms = NS_PER_MS;

	CHECK_INT(settings_alloc(&s), 0);
	CHECK(!room_output_lease_held(&l, s, 0, 5 * ms));
	CHECK(!room_output_lease_grant(&l, ROOM_OUTPUT_LEASE_ASSERTIVE, 4 * ms,
				       5 * ms)); /* the bot speaks */
	CHECK(room_output_lease_grant(&l, ROOM_OUTPUT_LEASE_ASSERTIVE, 0, 1000 * ms));
	CHECK(room_output_lease_held(&l, s, 0, 2199 * ms));
	CHECK(!room_output_lease_held(&l, s, 0, 2200 * ms));
	CHECK(!room_output_lease_held(&l, s, 1500 * ms, 1600 * ms)); /* its sound is there */
	CHECK_INT(room_output_lease_immune_ms(&l, s, 1500 * ms, 1500 * ms), 2000);
	CHECK_INT(room_output_lease_immune_ms(&l, s, 1500 * ms, 3499 * ms), 1);
	CHECK_INT(room_output_lease_immune_ms(&l, s, 1500 * ms, 3500 * ms), 0);
	l = (struct room_output_lease){0};
	CHECK(room_output_lease_grant(&l, ROOM_OUTPUT_LEASE_ATOMIC, 0, 1000 * ms));
	CHECK(room_output_lease_held(&l, s, 0, 3399 * ms));
	CHECK_INT(room_output_lease_immune_ms(&l, s, 4000 * ms, 4000 * ms), 4000);
	settings_free(s);
}

/* Alice speaks over a long answer of the bot's, and speech-to-text has no words before it is asked.
 */
static void talks_over(struct world *w, const char *settings, unsigned ms)
{
	world_begin(w, settings, 2);
	world_answering(w, 20000);
	world_until(w, w->ms + 2000);
	world_forget(w);
	world_sound(w, 1, ms, 6000);
}

TEST(words_so_far_are_asked_for_and_the_voice_waits_for_them)
{
	struct world w;

	talks_over(&w, "interim_ms=400", 400);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 0); /* it is not speech before 420 ms */
	world_sound(&w, 1, 40, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 1);
	CHECK_INT(w.last[ROOM_DO_ASR_INTERIM].user, 1);
	CHECK_INT(w.last[ROOM_DO_ASR_INTERIM].utterance, w.utterance[1]);
	world_sound(&w, 1, 500, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_GAIN], 1);
	CHECK_INT(w.did[ROOM_DO_SAY_PAUSE] + w.did[ROOM_DO_SAY_STOP], 0);
	world_partial(&w, 1, "what about the horse");
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_end(&w);
	/* They do not come: then the voice decides. */
	talks_over(&w, "interim_ms=400", 1000);
	CHECK_INT(w.did[ROOM_DO_SAY_PAUSE] + w.did[ROOM_DO_SAY_STOP], 0);
	world_sound(&w, 1, 100, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_end(&w);
	/* Nobody wants them. */
	talks_over(&w, "", 1100);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 0);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_end(&w);
}

/* A provider that sends them without a request is not asked; whether the next one does has to be
 * learned again. */
TEST(words_so_far_are_asked_for_again_in_another_session)
{
	struct world w;

	world_begin(&w, "interim_ms=400 asr_idle_ms=60000", 2);
	world_sound(&w, 1, 600, 6000);
	world_partial(&w, 1, "Parley, tell us");
	world_sound_end(&w, 1);
	CHECK(w.room->barge_in.requests.unrequested);
	world_words(&w, 1, "Parley, tell us");
	world_until(&w, w.ms + 120000);
	CHECK(w.did[ROOM_DO_ASR_CLOSE] >= 1);
	CHECK(!w.room->barge_in.requests.unrequested);
	world_end(&w);
}

TEST(words_so_far_are_asked_for_again_while_it_is_no_interruption)
{
	struct world w;

	talks_over(&w, "interim_ms=400 interim_max=3", 800);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 1);
	world_partial(&w, 1, "Bob pass me");
	world_sound(&w, 1, 200, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 1);
	world_sound(&w, 1, 40, 6000); /* 600 ms more than it looked at */
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 2);
	world_sound(&w, 1, 400, 6000);
	world_partial(&w, 1, "Bob pass me the salt and");
	world_sound(&w, 1, 300, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 3);
	world_partial(&w, 1, "Bob pass me the salt and the pepper");
	CHECK_INT(w.did[ROOM_DO_SAY_PAUSE] + w.did[ROOM_DO_SAY_STOP], 0);
	/* What it does not know of is not for others for ever. */
	world_sound(&w, 1, 920, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 3);
	CHECK_INT(w.did[ROOM_DO_SAY_PAUSE] + w.did[ROOM_DO_SAY_STOP], 0);
	world_sound(&w, 1, 100, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_end(&w);
}

TEST(who_goes_on_after_a_word_is_not_kept_waiting)
{
	struct world w;

	talks_over(&w, "interim_ms=400", 800);
	world_partial(&w, 1, "mhm");
	world_sound(&w, 1, 240, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 2);
	world_sound(&w, 1, 240, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_PAUSE] + w.did[ROOM_DO_SAY_STOP], 0);
	world_sound(&w, 1, 20, 6000); /* 1300 ms, and the second look's words did not come */
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	world_end(&w);
}

TEST(a_provider_that_is_slow_is_left_alone_for_a_minute)
{
	struct world w;

	talks_over(&w, "interim_ms=400 interruptions=none", 500);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 1);
	world_until(&w, w.ms + 100);
	world_sound_end(&w, 1);
	world_until(&w, w.ms + 1900);
	world_partial(&w, 1, "mhm");
	world_words(&w, 1, "mhm");
	world_sound(&w, 1, 600, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 1);
	world_sound_end(&w, 1);
	world_words(&w, 1, "mhm");
	world_until(&w, w.ms + 61000);
	world_answering(&w, 20000);
	world_until(&w, w.ms + 2000);
	world_sound(&w, 1, 600, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 1); /* since the answer began */
	world_end(&w);
}

TEST(a_provider_with_words_of_its_own_is_not_asked)
{
	struct world w;

	talks_over(&w, "interim_ms=400", 200);
	world_partial(&w, 1, "mhm");
	world_sound(&w, 1, 600, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 0);
	world_end(&w);
	talks_over(&w, "interim_ms=400 asr_sessions=file", 700);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 0);
	world_end(&w);
}

/* An interim transcript that never comes tells of that speaker's session alone, until it has a
 * transcript again. */
TEST(a_session_that_gives_no_words_so_far_silences_no_other)
{
	struct world w;

	talks_over(&w, "interim_ms=400 interruptions=none", 3000);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 1);
	world_sound_end(&w, 1);
	world_until(&w, w.ms + 500);
	world_sound(&w, 2, 600, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 2);
	CHECK_INT(w.last[ROOM_DO_ASR_INTERIM].user, 2);
	world_sound_end(&w, 2);
	world_until(&w, w.ms + 500);
	world_sound(&w, 1, 600, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 2); /* it was silent lately */
	world_sound_end(&w, 1);
	world_words(&w, 1, "mhm");
	world_until(&w, w.ms + 500);
	world_sound(&w, 1, 600, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_INTERIM], 3);
	world_end(&w);
}
