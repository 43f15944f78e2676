#include "tests/test.h"

#include "control/room/room.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

enum { ALICE = 1, BOB };

/* A room in which the bot is asked something at 1 s; its answer is up to the test. */
static struct room_effects fx;
static struct settings *set;
static struct room *room;
static uint64_t now;
static uint32_t turn;
static char trace[8192]; /* the requests of this step, a line each */

static struct slice str_of(const char *text)
{
	return (struct slice){(const uint8_t *)text, strlen(text)};
}

static void note(const struct room_effect *e)
{
	size_t n = strlen(trace);
	char *to = trace + n;
	size_t size = sizeof trace - n;

	switch (e->type) {
	case ROOM_DO_SPEAK:
		snprintf(to, size, "speak %u %s\n", e->chunk, e->text);
		break;
	case ROOM_DO_SOUNDBOARD:
		snprintf(to, size, "sound %u %s\n", e->chunk, e->text);
		break;
	case ROOM_DO_NOTE:
		snprintf(to, size, "note %s\n", e->text);
		break;
	case ROOM_DO_SAY_OPEN:
		snprintf(to, size, "open\n");
		break;
	case ROOM_DO_SAY_PCM:
		snprintf(to, size, "pcm %zu\n", e->pcm.n / 48);
		break;
	case ROOM_DO_SAY_END:
		snprintf(to, size, "end\n");
		break;
	case ROOM_DO_SAY_STOP:
		snprintf(to, size, "stop\n");
		break;
	case ROOM_DO_SPEAK_CANCEL:
		snprintf(to, size, "unspeak\n");
		break;
	case ROOM_DO_BRAIN_CANCEL:
		snprintf(to, size, "cancel\n");
		break;
	case ROOM_DO_BRAIN_TRUNCATE:
		snprintf(to, size, "truncate %u \"%s\"\n", e->ms, e->text);
		break;
	case ROOM_DO_ADDRESSEE:
		snprintf(to, size, "whom\n");
		break;
	case ROOM_DO_RECORD:
		snprintf(to, size, "%s \"%s\"%s\n", room_reason_name(e->record->reason),
			 e->record->answer, e->record->answer_cut ? " cut" : "");
		break;
	default:
		break;
	}
}

static const char *step(struct room_event ev)
{
	trace[0] = '\0';
	room_step(room, &ev, now * NS_PER_MS, &fx);
	for (size_t i = 0; i < fx.n; i++)
		note(&fx.v[i]);
	return trace;
}

static uint32_t asked(void)
{
	for (size_t i = 0; i < fx.n; i++)
		if (fx.v[i].type == ROOM_DO_ASK)
			return fx.v[i].turn;
	return 0;
}

static void member(uint64_t user, const char *name)
{
	step((struct room_event){
		.type = ROOM_MEMBER, .user = user, .yes = true, .text = str_of(name)});
}

static void speak(uint64_t user, unsigned ms)
{
	uint8_t pcm[960];

	for (unsigned i = 0; i < 480; i++) {
		int v = i / 8 % 2 ? 6000 : -6000;

		pcm[2 * i] = (uint8_t)(v & 0xff);
		pcm[2 * i + 1] = (uint8_t)(v >> 8 & 0xff);
	}
	for (unsigned i = 0; i < ms / 20; i++, now += 20)
		step((struct room_event){.type = ROOM_HEARD,
					 .user = user,
					 .at = now * NS_PER_MS,
					 .pcm = {pcm, sizeof pcm}});
}

/* With the settings of the test, where it has made some. */
static void begin(const char *path)
{
	uint32_t utterance = 0;

	if (!set)
		settings_alloc(&set);
	settings_set(set, "guest", "off");
	settings_set(set, "reply_path", path);
	room_alloc(&room, set, "Parley");
	now = 1000;
	step((struct room_event){.type = ROOM_CALL, .yes = true});
	member(ALICE, "Alice");
	member(BOB, "Bob");
	speak(ALICE, 600);
	step((struct room_event){
		.type = ROOM_HEARD_END, .user = ALICE, .at = (now - 20) * NS_PER_MS});
	for (size_t i = 0; i < fx.n; i++)
		if (fx.v[i].type == ROOM_DO_ASR_COMMIT)
			utterance = fx.v[i].utterance;
	step((struct room_event){.type = ROOM_TRANSCRIPT,
				 .user = ALICE,
				 .utterance = utterance,
				 .text = str_of("parley tell me something")});
	turn = asked();
	if (!turn)
		test_fail(__FILE__, __LINE__, "the brain was not asked");
}

static void over(void)
{
	room = room_free(room);
	set = settings_free(set);
}

static const char *fact(enum room_event_type type, uint32_t chunk)
{
	return step((struct room_event){.type = type, .turn = turn, .chunk = chunk});
}

static const char *text(const char *words)
{
	return step(
		(struct room_event){.type = ROOM_BRAIN_TEXT, .turn = turn, .text = str_of(words)});
}

static const char *audio(enum room_event_type type, uint32_t chunk, unsigned ms)
{
	static uint8_t pcm[48 * 20000];

	return step((struct room_event){
		.type = type, .turn = turn, .chunk = chunk, .pcm = {pcm, 48u * ms}});
}

static const char *playback(enum room_event_type type, unsigned ms)
{
	return step((struct room_event){
		.type = type, .turn = turn, .at = now * NS_PER_MS, .samples = 24ull * ms});
}

#define GAVE(call, want) CHECK_STR(call, want)

TEST(rule_087_the_brains_words_are_spoken_in_pieces)
{
	begin("brain");
	GAVE(text("It is ten past four in the "), "");
	GAVE(text("afternoon. The sun is out. And"),
	     "speak 1 It is ten past four in the afternoon. The sun is out.\n");
	GAVE(text(" it is warm. "), "");
	GAVE(audio(ROOM_SPEECH_AUDIO, 1, 1000), "pcm 1000\nopen\n");
	GAVE(audio(ROOM_SPEECH_AUDIO, 1, 500), "pcm 500\n");
	GAVE(playback(ROOM_SAY_STARTED, 0), "");
	GAVE(fact(ROOM_SPEECH_DONE, 1), "");
	GAVE(text("You should go out. Bye."), "speak 2 And it is warm. You should go out.\n");
	GAVE(fact(ROOM_BRAIN_DONE, 0), "");
	GAVE(audio(ROOM_SPEECH_AUDIO, 2, 1000), "pcm 1000\n");
	GAVE(fact(ROOM_SPEECH_DONE, 2), "speak 3 Bye.\n");
	/* Facts of what is over are late and say nothing. */
	GAVE(audio(ROOM_SPEECH_AUDIO, 2, 100), "");
	GAVE(fact(ROOM_SPEECH_DONE, 2), "");
	GAVE(audio(ROOM_SPEECH_AUDIO, 3, 300), "pcm 300\n");
	GAVE(fact(ROOM_SPEECH_DONE, 3), "end\n");
	GAVE(playback(ROOM_SAY_DRAINED, 2800),
	     "answered \"It is ten past four in the afternoon. The sun is out. And it is warm. You "
	     "should go out. Bye.\"\n");
	over();
}

TEST(rule_088_a_sound_between_two_sentences_is_heard_between_them)
{
	begin("brain");
	GAVE(text("Listen. [[SOUNDBOARD: horn]] That was it."), "speak 1 Listen.\n");
	GAVE(fact(ROOM_BRAIN_DONE, 0), "");
	GAVE(audio(ROOM_SPEECH_AUDIO, 1, 800), "pcm 800\nopen\n");
	GAVE(fact(ROOM_SPEECH_DONE, 1), "end\n");
	GAVE(playback(ROOM_SAY_STARTED, 0), "");
	GAVE(playback(ROOM_SAY_DRAINED, 800), "sound 2 horn\n");
	GAVE(fact(ROOM_SOUND_DONE, 2), "speak 3 That was it.\n");
	GAVE(audio(ROOM_SPEECH_AUDIO, 3, 700), "pcm 700\nopen\n");
	GAVE(fact(ROOM_SPEECH_DONE, 3), "end\n");
	GAVE(playback(ROOM_SAY_DRAINED, 700), "answered \"Listen. That was it.\"\n");
	over();
}

TEST(rule_088_a_sound_that_never_ends_does_not_stop_the_answer)
{
	begin("brain");
	GAVE(text("[[SOUNDBOARD: horn]] That was it."), "sound 1 horn\n");
	GAVE(fact(ROOM_BRAIN_DONE, 0), "");
	CHECK(room_deadline(room) <= (now + set->sound_wait_ms) * NS_PER_MS);
	now += set->sound_wait_ms;
	GAVE(step((struct room_event){.type = ROOM_TIMER}), "speak 2 That was it.\n");
	over();
}

TEST(speech_waits_while_much_of_it_is_not_heard_yet)
{
	uint64_t at;

	begin("brain");
	text("The first of it is this one here. And it goes on. The second of it is that. And so "
	     "on. Third. ");
	audio(ROOM_SPEECH_AUDIO, 1, 5000);
	playback(ROOM_SAY_STARTED, 0);
	GAVE(fact(ROOM_SPEECH_DONE, 1), "");
	at = room_deadline(room) / NS_PER_MS;
	CHECK_INT(at - now, 5000 - set->speech_resume_ms + 1);
	now += 3000;
	GAVE(step((struct room_event){.type = ROOM_TIMER}), "");
	now = at;
	GAVE(step((struct room_event){.type = ROOM_TIMER}),
	     "speak 2 The second of it is that. And so on.\n");
	over();
}

TEST(rule_089_what_waits_at_the_end_becomes_one_line)
{
	begin("brain");
	text("One is this one here, you know. Two is that one. Three is there. Four is here. ");
	text("Five is that one. Six is this one. Seven.");
	GAVE(fact(ROOM_BRAIN_DONE, 0), "");
	audio(ROOM_SPEECH_AUDIO, 1, 1000);
	GAVE(fact(ROOM_SPEECH_DONE, 1),
	     "speak 2 Three is there. Four is here. Five is that one. Six is this one. Seven.\n");
	over();
}

TEST(rule_090_the_beginning_is_obeyed_and_not_spoken)
{
	char why[4096];

	begin("brain");
	GAVE(text("[[to: b"), "");
	GAVE(text("ob]] [[LEASE: ATOMIC]] [[NOTE: he likes tea]] Sure thing, Bob, I will. I do."),
	     "note he likes tea\n");
	GAVE(fact(ROOM_BRAIN_DONE, 0), "speak 1 Sure thing, Bob, I will. I do.\n");
	CHECK_INT(room_active(room)->policy.user, BOB);
	CHECK_INT(room_active(room)->policy.scope, ROOM_SCOPE_SPEAKER);
	CHECK_INT(room_active(room)->lease.mode, ROOM_OUTPUT_LEASE_ATOMIC);
	CHECK_INT(room_why(room, turn, why, sizeof why), 0);
	CHECK(strstr(why, "addressee"));
	over();
	/* A page that it read may not hold the floor. */
	begin("brain");
	step((struct room_event){
		.type = ROOM_BRAIN_TEXT,
		.turn = turn,
		.tainted = true,
		.text = str_of("[[TO: SPEAKER]] [[LEASE: ATOMIC]] Site one says no.")});
	CHECK_INT(room_active(room)->policy.scope, ROOM_SCOPE_SPEAKER);
	CHECK_INT(room_active(room)->lease.mode, ROOM_OUTPUT_LEASE_NONE);
	over();
	/* Nobody named: nobody is guessed. */
	begin("brain");
	text("Sure thing.");
	CHECK_INT(room_active(room)->policy.why, ROOM_POLICY_TARGET_MISSING);
	CHECK_INT(room_active(room)->policy.user,
		  room_active(room)->user); /* who asked may stop it */
	over();
	begin("brain");
	settings_set(set, "untargeted_interrupt", "none");
	text("Sure thing.");
	CHECK_INT(room_active(room)->policy.why, ROOM_POLICY_TARGET_MISSING);
	CHECK_INT(room_active(room)->policy.user, 0);
	over();
	begin("brain");
	text("[[TO: Carol]] Sure thing.");
	CHECK_INT(room_active(room)->policy.why, ROOM_POLICY_TARGET_UNRESOLVED);
	over();
}

TEST(rule_090_a_voice_models_directives_are_not_shown_and_obeyed)
{
	begin("native");
	GAVE(text("[[TO: ALL]] Hello "), "");
	GAVE(text("all. [[SOUNDBOARD: horn]][[NOTE: three of them]][[DANCE]]Bye."),
	     "note three of them\n");
	CHECK_INT(room_active(room)->policy.why, ROOM_POLICY_TARGET_ALL);
	GAVE(audio(ROOM_BRAIN_AUDIO, 0, 1000), "pcm 1000\nopen\n");
	GAVE(fact(ROOM_BRAIN_DONE, 0), "end\n");
	GAVE(playback(ROOM_SAY_DRAINED, 1000), "sound 1 horn\nanswered \"Hello all. Bye.\"\n");
	over();
}

/* 32 characters in 3200 ms: each takes 100 ms. */
static void speak_with_sounds(void)
{
	begin("native");
	GAVE(text("[[TO: ALL]][[SOUNDBOARD: gong]]One two three. [[SOUNDBOARD: horn]]Four five. "
		  "[[SOUNDBOARD: drum]]Six seven."),
	     "sound 1 gong\n");
	GAVE(audio(ROOM_BRAIN_AUDIO, 0, 3600), "pcm 3600\nopen\n");
	GAVE(fact(ROOM_BRAIN_DONE, 0), "end\n");
	GAVE(playback(ROOM_SAY_STARTED, 0), "");
}

/* Until the room does something. */
static const char *timer(void)
{
	trace[0] = '\0';
	for (unsigned i = 0; i < 9 && !*trace; i++) {
		now = (room_deadline(room) + NS_PER_MS - 1) / NS_PER_MS;
		step((struct room_event){.type = ROOM_TIMER});
	}
	return trace;
}

TEST(a_sound_of_a_voice_model_begins_when_the_words_before_it_were_played)
{
	uint64_t from;

	speak_with_sounds();
	from = now;
	GAVE(timer(), "sound 2 horn\n");
	CHECK_INT(now - from, 1400);
	GAVE(timer(), "sound 3 drum\n");
	CHECK_INT(now - from, 2500);
	GAVE(playback(ROOM_SAY_DRAINED, 3600),
	     "answered \"One two three. Four five. Six seven.\"\n");
	over();
}

TEST(an_answer_that_is_cut_plays_no_sound_after_it)
{
	speak_with_sounds();
	now += 1000;
	GAVE(playback(ROOM_SAY_STOPPED, 1000), "truncate 1000 \"One two\"\n"
					       "playback_failed \"One two\" cut\n");
	now += 5000;
	GAVE(step((struct room_event){.type = ROOM_TIMER}), "");
	over();
	/* Nor does a written one. */
	begin("brain");
	GAVE(text("Listen. [[SOUNDBOARD: horn]] That was it."), "speak 1 Listen.\n");
	fact(ROOM_BRAIN_DONE, 0);
	audio(ROOM_SPEECH_AUDIO, 1, 800);
	fact(ROOM_SPEECH_DONE, 1);
	playback(ROOM_SAY_STARTED, 0);
	step((struct room_event){.type = ROOM_SAY_STOPPED, .turn = turn, .samples = 400});
	CHECK(!strstr(trace, "sound"));
	now += 5000;
	GAVE(step((struct room_event){.type = ROOM_TIMER}), "");
	over();
}

TEST(sounds_are_left_out_by_the_settings)
{
	static const char *const paths[] = {"brain", "native"};

	for (unsigned i = 0; i < 2; i++) {
		begin(paths[i]);
		settings_set(set, "soundboard", "off");
		text("[[SOUNDBOARD: horn]]");
		CHECK(!strstr(trace, "sound"));
		fact(ROOM_BRAIN_DONE, 0);
		CHECK(!strstr(trace, "sound"));
		over();
		begin(paths[i]);
		settings_set(set, "sounds_an_answer", "1");
		text("[[SOUNDBOARD: horn]][[SOUNDBOARD: gong]]");
		CHECK_STR(trace, "sound 1 horn\n");
		CHECK_INT(room_active(room)->id, turn);
		over();
	}
}

/* A note that comes with the moment in which the question is put again. */
TEST(what_an_effect_points_to_outlives_the_answer_it_was_of)
{
	begin("native");
	now += set->silent_ms + 100;
	text("[[NOTE: likes tea]] ");
	if (!strstr(trace, "note likes tea\n"))
		test_fail(__FILE__, __LINE__, "%s", trace);
	over();
}

TEST(rule_091_skip_is_silence_and_leaves_no_words)
{
	begin("brain");
	GAVE(text("[SKI"), "");
	GAVE(text("P]"), "");
	GAVE(fact(ROOM_BRAIN_DONE, 0), "no_answer \"\"\n");
	over();
	begin("native");
	GAVE(text("[SKIP]"), "");
	GAVE(audio(ROOM_BRAIN_AUDIO, 0, 400), "pcm 400\n"); /* kept, not heard */
	GAVE(fact(ROOM_BRAIN_DONE, 0), "stop\ntruncate 0 \"\"\nno_answer \"\"\n");
	over();
}

TEST(rule_020_an_answer_given_up_is_not_played_and_leaves_no_words)
{
	begin("brain");
	GAVE(text("This is the first of it, and it is long. The second. Third."),
	     "speak 1 This is the first of it, and it is long. The second.\n");
	step((struct room_event){.type = ROOM_SHUTDOWN});
	CHECK_STR(trace, "cancel\nunspeak\nshutdown \"\" cut\n");
	CHECK(!strstr(trace, "open"));
	over();
	begin("native");
	text("This is the first of it.");
	GAVE(fact(ROOM_BRAIN_FAILED, 0), "brain_failed \"\" cut\n");
	/* What comes late says nothing. */
	GAVE(text("More."), "");
	GAVE(audio(ROOM_BRAIN_AUDIO, 0, 100), "");
	over();
}

TEST(speech_that_fails_ends_the_answer_by_its_name)
{
	begin("brain");
	text("This is the first of it, and it is long. The second. Third.");
	GAVE(fact(ROOM_SPEECH_FAILED, 1), "cancel\nspeech_failed \"\" cut\n");
	over();
	/* What was heard before stays. */
	begin("brain");
	text("This is the first of it, and it is long. The second. The third one. And more of "
	     "it. ");
	audio(ROOM_SPEECH_AUDIO, 1, 1000);
	GAVE(fact(ROOM_SPEECH_DONE, 1), "speak 2 The third one. And more of it.\n");
	GAVE(fact(ROOM_SPEECH_FAILED, 2), "cancel\nend\n");
	GAVE(playback(ROOM_SAY_DRAINED, 1000),
	     "speech_failed \"This is the first of it, and it is long. The second.\" cut\n");
	over();
}

TEST(an_answer_that_was_cut_keeps_the_words_that_were_heard)
{
	begin("brain");
	text("One two three four five six seven. And eight. Nine ten eleven twelve. Thirteen. ");
	audio(ROOM_SPEECH_AUDIO, 1, 4500); /* 45 bytes */
	fact(ROOM_SPEECH_DONE, 1);
	playback(ROOM_SAY_STARTED, 0);
	GAVE(playback(ROOM_SAY_STOPPED, 1900),
	     "cancel\nplayback_failed \"One two three four\" cut\n");
	over();
	/* By the voice's own word times, where it gives them. */
	begin("brain");
	text("One two three four five six seven. And eight. ");
	step((struct room_event){.type = ROOM_SPEECH_WORD,
				 .turn = turn,
				 .chunk = 1,
				 .text = str_of("One"),
				 .samples = 24 * 1500});
	step((struct room_event){.type = ROOM_SPEECH_WORD,
				 .turn = turn,
				 .chunk = 1,
				 .text = str_of("two"),
				 .samples = 24 * 2000});
	audio(ROOM_SPEECH_AUDIO, 1, 4500);
	GAVE(playback(ROOM_SAY_STOPPED, 1900), "cancel\nunspeak\nplayback_failed \"One\" cut\n");
	over();
	begin("native");
	text("One two three four five six seven.");
	audio(ROOM_BRAIN_AUDIO, 0, 3500);
	step((struct room_event){.type = ROOM_SPEECH_WORD,
				 .turn = turn,
				 .text = str_of("One"),
				 .samples = 24 * 1500});
	step((struct room_event){.type = ROOM_SPEECH_WORD,
				 .turn = turn,
				 .text = str_of("two"),
				 .samples = 24 * 2000});
	GAVE(playback(ROOM_SAY_STOPPED, 1900),
	     "cancel\ntruncate 1900 \"One\"\nplayback_failed \"One\" cut\n");
	over();
	/* Nobody in the call had a key to share. */
	begin("brain");
	text("One two three four five six seven. And eight. ");
	audio(ROOM_SPEECH_AUDIO, 1, 4500);
	GAVE(step((struct room_event){
		     .type = ROOM_SAY_STOPPED, .turn = turn, .at = now * NS_PER_MS, .yes = true}),
	     "cancel\nunspeak\nno_key \"\" cut\n");
	over();
	/* A voice session that only writes is told the words. */
	settings_alloc(&set);
	settings_set(set, "answer_audio", "speech");
	begin("native");
	text("One two three four five six seven. And eight. ");
	audio(ROOM_SPEECH_AUDIO, 1, 4500);
	fact(ROOM_SPEECH_DONE, 1);
	playback(ROOM_SAY_STARTED, 0);
	GAVE(playback(ROOM_SAY_STOPPED, 1900), "cancel\ntruncate 1900 \"One two three four\"\n"
					       "playback_failed \"One two three four\" cut\n");
	over();
	/* The second playback of an answer counts on from the first. */
	begin("brain");
	text("Listen now. [[SOUNDBOARD: horn]] That was it.");
	fact(ROOM_BRAIN_DONE, 0);
	audio(ROOM_SPEECH_AUDIO, 1, 1100);
	fact(ROOM_SPEECH_DONE, 1);
	playback(ROOM_SAY_DRAINED, 1100);
	fact(ROOM_SOUND_DONE, 2);
	audio(ROOM_SPEECH_AUDIO, 3, 1200);
	fact(ROOM_SPEECH_DONE, 3);
	GAVE(playback(ROOM_SAY_STOPPED, 850), "playback_failed \"Listen now. That was\" cut\n");
	over();
}

TEST(hostile_answers_stay_bounded)
{
	static const char *const units[] = {"x",   "[[",       "[[NOTE:a]]", "[[SOUNDBOARD:b]]",
					    "a. ", "\xff\xc3", "[[TO:ALL]]"};
	size_t n = 1 << 20;
	char *big = malloc(n);

	CHECK(big);
	for (unsigned path = 0; path < 2; path++)
		for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
			size_t len = strlen(units[u]);
			bool done = false;

			for (size_t i = 0; i < n; i++)
				big[i] = units[u][i % len];
			begin(path ? "native" : "brain");
			step((struct room_event){.type = ROOM_BRAIN_TEXT,
						 .turn = turn,
						 .text = {(const uint8_t *)big, n}});
			CHECK(fx.n < 64);
			memset(big, 0, n);
			step((struct room_event){.type = ROOM_BRAIN_TEXT,
						 .turn = turn,
						 .text = {(const uint8_t *)big, n}});
			fact(ROOM_BRAIN_DONE, 0);
			/* Nobody answers any more: it ends by itself. */
			for (unsigned i = 0; i < 200 && !done; i++) {
				done = room_active(room) == NULL;
				if (room_deadline(room) != UINT64_MAX)
					now = room_deadline(room) / NS_PER_MS + 1;
				step((struct room_event){.type = ROOM_TIMER});
			}
			CHECK(done);
			over();
		}
	free(big);
}

static const char *told(const char *whom)
{
	return step(
		(struct room_event){.type = ROOM_ADDRESSEE, .turn = turn, .text = str_of(whom)});
}

static const struct room_interruption_policy *policy(void)
{
	return &room_active(room)->policy;
}

TEST(a_voice_model_is_asked_whom_its_answer_is_for)
{
	begin("native");
	text("It is Bob's turn.");
	GAVE(audio(ROOM_BRAIN_AUDIO, 0, 1000), "pcm 1000\nopen\n");
	CHECK_INT(policy()->why, ROOM_POLICY_ASKED);
	CHECK_STR(fact(ROOM_BRAIN_DONE, 0), "whom\nend\n");
	CHECK(strstr(fx.v[0].text, "voice channel with: Alice, Bob."));
	CHECK(strstr(fx.v[0].text, "[Alice]: parley tell me something"));
	CHECK(strstr(fx.v[0].text, "answered:\nIt is Bob's turn."));
	/* Nothing that is no addressee changes anything. */
	told("I cannot help with that.");
	told("");
	told("UNKNOWN");
	told("Carol");
	CHECK_INT(policy()->user, ALICE);
	CHECK_INT(policy()->why, ROOM_POLICY_ASKED);
	told(" \"Bob\".\n");
	CHECK_INT(policy()->user, BOB);
	CHECK_INT(policy()->why, ROOM_POLICY_TARGET);
	told("SPEAKER");
	CHECK_INT(policy()->user, ALICE);
	told("ALL");
	CHECK_INT(policy()->why, ROOM_POLICY_TARGET_ALL);
	playback(ROOM_SAY_DRAINED, 1000);
	GAVE(told("Bob"), "");
	over();
}

TEST(nobody_asks_whom_an_answer_is_for_where_it_does_not_matter)
{
	static const char *const off[][2] = {{"ask_addressee", "off"}, {"interruptions", "anyone"}};

	for (unsigned i = 0; i < 4; i++) {
		begin("native");
		if (i < 2)
			settings_set(set, off[i][0], off[i][1]);
		if (i == 2)
			step((struct room_event){.type = ROOM_MEMBER, .user = BOB});
		text(i == 3 ? "[[TO: ALL]] Hello." : "Hello.");
		audio(ROOM_BRAIN_AUDIO, 0, 1000);
		GAVE(fact(ROOM_BRAIN_DONE, 0), "end\n");
		over();
	}
}
