/* The room while music plays: who is heard, what pauses and goes on. The numbers are those of the
 * regression statements. */
#include "tests/test.h"

#include "control/room/floor/address.h"
#include "control/room/floor/choice.h"
#include "control/room/floor/music.h"
#include "control/room/floor/phrase.h"
#include "tests/unit/control/room/scene.h"

enum { ALICE = 1, BOB };

static void music(struct scene *s, const char *phase, uint32_t turn)
{
	scene_event(s, (struct room_event){.type = ROOM_MUSIC,
					   .text = {(const uint8_t *)phase, strlen(phase)},
					   .yes = strcmp(phase, "failed") != 0,
					   .turn = turn});
}

static struct scene *playing(const char *sets)
{
	struct scene *s = scene_open(sets);

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	music(s, "playing", 0);
	scene_mark(s);
	return s;
}

/* The last thing that was asked of the music. */
static const char *ordered(const struct scene *s)
{
	const struct scene_did *d = scene_last(s, ROOM_DO_MUSIC);

	return d ? d->text : "";
}

static enum room_music_control control(const char *words)
{
	struct room_names names = {0};
	struct room_saying said = {.text = words, .names = &names, .language = ROOM_LANGUAGE_EN};

	room_names_add(&names, "Parley");
	return room_music_control(&said);
}

TEST(rule_101_a_command_is_a_whole_utterance)
{
	static const struct {
		const char *words;
		enum room_music_control control;
	} rows[] = {{"stop", ROOM_MUSIC_STOP},
		    {"Parley, go on.", ROOM_MUSIC_RESUME},
		    {"continue the music please", ROOM_MUSIC_RESUME},
		    {"play", ROOM_MUSIC_RESUME},
		    {"play some jazz", ROOM_MUSIC_NO_CONTROL},
		    {"Pause the music, please.", ROOM_MUSIC_PAUSE},
		    {"skip this song", ROOM_MUSIC_SKIP},
		    {"resume", ROOM_MUSIC_RESUME},
		    {"Parley, next song please", ROOM_MUSIC_SKIP},
		    {"Parley, stopp bitte die Musik", ROOM_MUSIC_NO_CONTROL},
		    {"ok, skip it, thanks", ROOM_MUSIC_SKIP},
		    {"weiter so", ROOM_MUSIC_NO_CONTROL},
		    {"Parley, bitte stopp die Musik", ROOM_MUSIC_STOP},
		    {"pause bitte", ROOM_MUSIC_PAUSE},
		    {"siguiente, por favor", ROOM_MUSIC_SKIP},
		    {"пауза", ROOM_MUSIC_PAUSE},
		    {"下一首", ROOM_MUSIC_SKIP},
		    {"don't stop the music", ROOM_MUSIC_NO_CONTROL},
		    {"no, stop", ROOM_MUSIC_NO_CONTROL},
		    {"stop?", ROOM_MUSIC_NO_CONTROL},
		    {"stop and pause", ROOM_MUSIC_NO_CONTROL},
		    {"the music", ROOM_MUSIC_NO_CONTROL},
		    {"das ist weiter so", ROOM_MUSIC_NO_CONTROL},
		    {"¿para qué?", ROOM_MUSIC_NO_CONTROL},
		    {"para eso es", ROOM_MUSIC_NO_CONTROL},
		    {"quiero la siguiente canción de otra lista", ROOM_MUSIC_NO_CONTROL},
		    {"", ROOM_MUSIC_NO_CONTROL}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (control(rows[i].words) != rows[i].control)
			test_fail(__FILE__, __LINE__, "%s", rows[i].words);
}

TEST(rule_101_requests_command_and_times_do_not)
{
	static const struct {
		const char *language, *words;
		enum room_music_control control;
	} rows[] = {
		{"de", "mach mal die Musik aus", ROOM_MUSIC_STOP},
		{"de", "stell die Musik ab", ROOM_MUSIC_STOP},
		{"de", "spiel das nächste Lied", ROOM_MUSIC_SKIP},
		{"en", "can you pause it", ROOM_MUSIC_PAUSE},
		{"en", "could you skip this one", ROOM_MUSIC_SKIP},
		{"en", "turn it off", ROOM_MUSIC_STOP},
		{"en", "turn it up please", ROOM_MUSIC_LOUDER},
		{"en", "could you turn the music down a bit", ROOM_MUSIC_NO_CONTROL},
		{"en", "turn it down", ROOM_MUSIC_QUIETER},
		{"en", "it was louder", ROOM_MUSIC_NO_CONTROL},
		{"en", "louder and stop", ROOM_MUSIC_NO_CONTROL},
		{"en", "louder?", ROOM_MUSIC_NO_CONTROL},
		{"de", "mach die Musik bitte leiser", ROOM_MUSIC_NO_CONTROL},
		{"de", "Mach mal lauter!", ROOM_MUSIC_LOUDER},
		{"de", "ein bisschen leiser bitte", ROOM_MUSIC_QUIETER},
		{"es", "Sube el volumen, por favor", ROOM_MUSIC_LOUDER},
		{"fr", "moins fort", ROOM_MUSIC_QUIETER},
		{"it", "un po' più piano", ROOM_MUSIC_QUIETER},
		{"nl", "zet de muziek harder", ROOM_MUSIC_LOUDER},
		{"pl", "ciszej", ROOM_MUSIC_QUIETER},
		{"pt", "mais alto", ROOM_MUSIC_LOUDER},
		{"ru", "Сделай потише", ROOM_MUSIC_QUIETER},
		{"ja", "音量を上げて", ROOM_MUSIC_LOUDER},
		{"ko", "소리 줄여 줘", ROOM_MUSIC_QUIETER},
		{"zh", "大聲一點", ROOM_MUSIC_LOUDER},
		{"en", "music off", ROOM_MUSIC_STOP},
		{"fr", "stoppe la musique", ROOM_MUSIC_STOP},
		{"it", "togli la musica", ROOM_MUSIC_STOP},
		{"pt", "pula essa", ROOM_MUSIC_SKIP},
		{"zh", "把音乐关了", ROOM_MUSIC_STOP},
		{"zh", "切歌", ROOM_MUSIC_SKIP},
		{"ja", "次いって", ROOM_MUSIC_SKIP},
		{"es", "para mañana", ROOM_MUSIC_NO_CONTROL},
		{"es", "para hoy", ROOM_MUSIC_NO_CONTROL},
		{"pt", "para amanhã", ROOM_MUSIC_NO_CONTROL},
		{"en", "stop tomorrow", ROOM_MUSIC_NO_CONTROL},
		{"en", "stop now please", ROOM_MUSIC_STOP},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct room_saying said = {.text = rows[i].words,
					   .told = room_language_by_code(rows[i].language)};

		if (room_music_control(&said) != rows[i].control)
			test_fail(__FILE__, __LINE__, "%s", rows[i].words);
	}
}

/* Alice asked for the music, which plays since. */
static struct scene *asked_for(const char *sets)
{
	struct scene *s = scene_open(sets);
	uint32_t wish;

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_say(s, ALICE, "parley play some jazz");
	wish = scene_asked(s);
	scene_answer(s, "here you are", 600);
	music(s, "playing", wish);
	scene_event(s, (struct room_event){.type = ROOM_SAY_STOPPED, .turn = wish});
	scene_wait(s, 60000);
	scene_mark(s);
	return s;
}

TEST(rule_101_a_command_of_the_asker_is_done_at_once)
{
	struct scene *s = asked_for("");

	scene_say(s, ALICE, "pause the music");
	CHECK_STR(ordered(s), "pause");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	CHECK_INT(scene_ended(s, ROOM_REASON_MUSIC_CONTROL), 1);
	/* Resume is only a request: music plays once the player says so. */
	scene_say(s, ALICE, "resume");
	CHECK_STR(ordered(s), "resume");
	scene_mark(s);
	scene_say(s, ALICE, "resume");
	CHECK_STR(ordered(s), "resume");
	music(s, "playing", 0);
	scene_mark(s);
	scene_say(s, ALICE, "resume");
	CHECK_STR(ordered(s), "");
	scene_say(s, ALICE, "stop the music");
	CHECK_STR(ordered(s), "stop");
	scene_close(s);
}

TEST(rule_101_fragments_of_others_command_nothing)
{
	struct scene *s = asked_for("");

	scene_say(s, BOB, "stop");
	scene_say(s, BOB, "next");
	CHECK_STR(ordered(s), "");
	CHECK_INT(scene_ended(s, ROOM_REASON_MUSIC_CONTROL), 0);
	scene_say(s, ALICE, "skip?");
	CHECK_STR(ordered(s), "");
	/* By name, and alone with the bot. */
	scene_say(s, BOB, "parley, next song");
	CHECK_STR(ordered(s), "skip");
	scene_mark(s);
	scene_leave(s, ALICE);
	scene_say(s, BOB, "pause");
	CHECK_STR(ordered(s), "pause");
	scene_close(s);
}

TEST(rule_101_in_the_latch_no_name_is_needed)
{
	struct scene *s = playing("music_wake_pause no");

	scene_say(s, ALICE, "parley who sings this song");
	scene_answer(s, "a band", 600);
	scene_drained(s);
	scene_mark(s);
	scene_say(s, BOB, "next song");
	CHECK_STR(ordered(s), "skip");
	scene_close(s);
}

TEST(rule_102_who_is_heard_while_music_plays)
{
	struct scene *s = playing("music_wake_pause no");

	scene_say(s, BOB, "did you see the match yesterday");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_AWAKE), 1);
	scene_say(s, ALICE, "parley who sings this song");
	CHECK_STR(scene_admitted(s), "command_only_direct_address");
	scene_answer(s, "a band", 600);
	scene_drained(s);
	/* The latch is open, for everybody. */
	scene_say(s, BOB, "and who wrote it then");
	CHECK_STR(scene_admitted(s), "wake_latch_open");
	scene_answer(s, "a poet", 600);
	scene_drained(s);
	scene_wait(s, 31000);
	scene_mark(s);
	scene_say(s, ALICE, "i like it very much");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_AWAKE), 1);
	scene_close(s);
}

TEST(rule_102_paused_for_one_speaker_it_hears_that_one)
{
	struct scene *s = playing("");

	scene_say(s, ALICE, "parley who sings this song");
	CHECK_STR(ordered(s), "pause");
	scene_answer(s, "a band", 600);
	scene_say(s, BOB, "they are from iceland you know");
	scene_drained(s);
	scene_say(s, ALICE, "and who wrote it then");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_AWAKE), 1);
	CHECK_STR(scene_admitted(s), "wake_latch_open");
	scene_close(s);
}

TEST(rule_036_what_began_in_the_latch_counts_however_late)
{
	struct scene *s = playing("music_wake_pause no music_latch_s 2");

	scene_say(s, ALICE, "parley who sings this song");
	scene_answer(s, "a band", 600);
	scene_drained(s);
	scene_wait(s, 1000);
	scene_speak(s, BOB, 1600); /* promoted inside, over outside of it */
	scene_stop(s, BOB);
	scene_wait(s, 500);
	scene_words(s, BOB, "and who wrote it then");
	CHECK_STR(scene_admitted(s), "wake_latch_open");
	scene_close(s);
	/* Also when it is merged into a turn that waits. */
	s = playing("music_wake_pause no");
	scene_say(s, ALICE, "parley who sings this song");
	scene_answer(s, "a band", 6000);
	scene_mark(s);
	scene_say(s, BOB, "and who wrote it");
	scene_say(s, BOB, "and when was it then");
	scene_drained(s);
	CHECK(room_active(s->room));
	CHECK(room_active(s->room)->latched);
	CHECK_INT(room_active(s->room)->segments, 2);
	scene_close(s);
}

TEST(rule_084_interrupted_with_the_latch_closed)
{
	struct scene *s = playing("music_latch_s 0 music_wake_pause no");

	scene_say(s, ALICE, "parley who sings this song");
	scene_answer(s, "a band of five people", 4000);
	scene_wait(s, 1600);
	scene_speak(s, ALICE, 1200);
	scene_event(s, (struct room_event){
			       .type = ROOM_SAY_STOPPED, .turn = scene_asked(s), .samples = 24000});
	scene_stop(s, ALICE);
	scene_words(s, ALICE, "<|nothing|>");
	scene_mark(s);
	scene_say(s, BOB, "and who wrote it then");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_AWAKE), 1);
	scene_say(s, ALICE, "and who wrote it then");
	CHECK_STR(scene_admitted(s), "interrupted_reply_followup");
	scene_close(s);
}

static void offer(struct scene *s, uint64_t user, const char *text)
{
	scene_event(s, (struct room_event){.type = ROOM_CHOICE,
					   .user = user,
					   .yes = true,
					   .text = {(const uint8_t *)text, strlen(text)}});
}

TEST(rule_103_a_choice_is_made_by_whom_it_was_offered)
{
	struct scene *s = scene_open("");

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	offer(s, ALICE, "queue_next\nblue monday\nmonday monday\nmanic monday");
	scene_mark(s);
	scene_say(s, BOB, "the second one");
	CHECK_INT(scene_count(s, ROOM_DO_CHOOSE), 0);
	CHECK_STR(s->did[s->n - 1].text, "");
	scene_say(s, ALICE, "the second one please");
	CHECK_INT(scene_count(s, ROOM_DO_CHOOSE), 1);
	CHECK_STR(scene_find(s, ROOM_DO_CHOOSE)->text, "monday monday");
	CHECK_INT(scene_ended(s, ROOM_REASON_CHOSEN), 1);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	/* Made once. */
	scene_say(s, ALICE, "the second one please");
	CHECK_INT(scene_count(s, ROOM_DO_CHOOSE), 1);
	/* Taken back. */
	offer(s, ALICE, "play\none\ntwo");
	scene_mark(s);
	scene_say(s, ALICE, "never mind");
	CHECK_STR(scene_find(s, ROOM_DO_CHOOSE)->text, "");
	CHECK_INT(scene_ended(s, ROOM_REASON_CANCELLED), 1);
	/* What is no choice goes to the brain; after ten minutes it is over. */
	offer(s, ALICE, "play\nblue\ngreen");
	scene_mark(s);
	scene_say(s, ALICE, "which one is the more cheerful");
	CHECK_STR(scene_admitted(s), "pending_command_followup");
	scene_close(s);
}

TEST(rule_103_words_to_somebody_else_choose_nothing)
{
	static const char *const asides[] = {"Bob, did you lock the car",
					     "Bob, you can have the blue cup"};

	for (size_t i = 0; i < sizeof asides / sizeof asides[0]; i++) {
		struct scene *s = scene_open("");

		scene_join(s, ALICE, "Alice");
		scene_join(s, BOB, "Bob");
		offer(s, ALICE, "play\nblue\ngreen");
		scene_mark(s);
		scene_say(s, ALICE, asides[i]);
		CHECK_INT(scene_count(s, ROOM_DO_CHOOSE), 0);
		CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
		scene_say(s, ALICE, "the blue one");
		CHECK_INT(scene_count(s, ROOM_DO_CHOOSE), 1);
		scene_close(s);
	}
}

TEST(rule_103_numbers_ordinals_and_names)
{
	static const struct {
		const char *words;
		int which;
	} rows[] = {
		{"two", 1},	  {"number 3", 2},    {"the first one", 0},	{"the last one", 2},
		{"manic", 2},	  {"blue monday", 0}, {"monday", -1},		{"four", -1},
		{"not that", -1}, {"", -1},	      {"um, play the third", 2}};
	static const char text[] = "queue_next\nblue monday\nmonday monday\nmanic monday";
	struct room_choice c = {0};

	room_choice_offer(&c, ALICE, text, sizeof text - 1, 5);
	CHECK_INT(c.n, 3);
	CHECK_STR(c.kind, "queue_next"); /* an order for later stays one for later */
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		CHECK_INT(room_choice_match(&c, rows[i].words), rows[i].which);
	CHECK(room_choice_open(&c, 600000000000ull));
	CHECK(!room_choice_open(&c, 600000000006ull));
	room_choice_offer(&c, ALICE, "a\nb\nc\nd\ne\nf\ng\nh", 15, 5);
	CHECK_INT(c.n, ROOM_OPTIONS);
}

TEST(rule_104_music_goes_on_when_all_is_said)
{
	struct scene *s = playing("");

	scene_say(s, ALICE, "parley who sings this song");
	scene_answer(s, "a band", 2000);
	scene_mark(s);
	scene_wait(s, 1500);
	scene_speak(s, BOB, 600);
	scene_drained(s);
	CHECK_STR(ordered(s), ""); /* somebody speaks */
	scene_stop(s, BOB);
	CHECK_STR(ordered(s), ""); /* ... and has no words yet */
	scene_words(s, BOB, "what a day this is");
	CHECK_STR(ordered(s), "resume");
	CHECK_INT(scene_count(s, ROOM_DO_MUSIC), 1);
	scene_close(s);
}

/* The pause is taken back nevertheless: it would hold what plays later. */
TEST(rule_104_without_a_track_there_is_nothing_to_go_on_with)
{
	struct scene *s = playing("");

	scene_say(s, ALICE, "parley who sings this song");
	scene_event(
		s, (struct room_event){.type = ROOM_MUSIC, .text = {(const uint8_t *)"paused", 6}});
	scene_answer(s, "a band", 600);
	scene_mark(s);
	scene_drained(s);
	CHECK_STR(ordered(s), "resume");
	scene_wait(s, 5000);
	/* It is idle: nobody's latch, nobody swallowed for music. */
	scene_say(s, BOB, "did you see the match yesterday");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_AWAKE), 0);
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	scene_close(s);
}

/* A model, a button or a command may stop music that the room holds. */
TEST(rule_104_music_that_ends_under_an_answer_holds_no_later_music)
{
	struct scene *s = playing("");

	scene_say(s, ALICE, "parley who sings this song");
	CHECK_STR(ordered(s), "pause");
	music(s, "idle", 0);
	CHECK_STR(ordered(s), "resume");
	scene_mark(s);
	music(s, "playing", 0);
	scene_answer(s, "as you like", 600);
	scene_drained(s);
	CHECK_STR(ordered(s), "");
	scene_close(s);
}

/* A model, a button or a command may pause music that the room holds. Its end is no resumption, and
 * nobody owns what is said then. */
TEST(rule_104_music_that_was_paused_under_an_answer_stays_paused)
{
	struct scene *s = playing("");

	scene_say(s, ALICE, "parley who sings this song");
	music(s, "paused", 0);
	scene_answer(s, "a band", 600);
	scene_drained(s);
	CHECK_STR(ordered(s), "resume");
	music(s, "paused", 0); /* still */
	scene_wait(s, 60000);
	scene_mark(s);
	scene_say(s, ALICE, "did you see the match yesterday");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	scene_say(s, BOB, "i have seen it with my brother");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 2);
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_AWAKE), 0);
	scene_close(s);
}

TEST(rule_105_the_latch_is_renewed_when_the_answer_was_heard)
{
	struct scene *s = playing("music_wake_pause no music_latch_s 5");

	scene_say(s, ALICE, "parley who sings this song");
	scene_answer(s, "a band", 20000);
	scene_wait(s, 19000);
	scene_drained(s);
	scene_wait(s, 4000);
	scene_mark(s);
	scene_say(s, BOB, "and who wrote it then");
	CHECK_STR(scene_admitted(s), "wake_latch_open");
	scene_close(s);
}

/* A question that came to nothing opens nothing. */
TEST(rule_105_the_latch_is_not_renewed_without_an_answer)
{
	struct scene *s = playing("music_wake_pause no music_latch_s 5");

	scene_say(s, ALICE, "parley who sings this song");
	scene_wait(s, 6000);
	scene_event(s, (struct room_event){.type = ROOM_BRAIN_FAILED, .turn = scene_asked(s)});
	CHECK_INT(scene_ended(s, ROOM_REASON_BRAIN_FAILED), 1);
	scene_mark(s);
	scene_say(s, BOB, "and who wrote it then");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_AWAKE), 1);
	scene_close(s);
}

/* The model may have music paused for a longer answer; it goes on by itself, or when the model
 * wants so. */
TEST(rule_104_music_goes_on_after_an_answer_that_paused_it)
{
	static const char pause[] = "pause", duck[] = "duck";
	struct scene *s = playing("music_wake_pause no");
	struct room_event ev = {.type = ROOM_HANDOFF};

	scene_say(s, ALICE, "parley who sings this song");
	ev.turn = scene_asked(s);
	ev.text = (struct slice){(const uint8_t *)pause, sizeof pause - 1};
	scene_event(s, ev);
	CHECK_STR(ordered(s), "pause");
	CHECK_INT(scene_last(s, ROOM_DO_MUSIC)->user, 0);
	music(s, "paused", 0);
	scene_answer(s, "a band", 1000);
	CHECK_STR(ordered(s), "pause");
	scene_drained(s);
	CHECK_STR(ordered(s), "resume");
	music(s, "playing", 0);
	scene_say(s, ALICE, "parley who wrote it");
	ev.turn = scene_asked(s);
	scene_event(s, ev);
	ev.text = (struct slice){(const uint8_t *)duck, sizeof duck - 1};
	scene_event(s, ev);
	CHECK_STR(ordered(s), "resume");
	CHECK(room_active(s->room));
	/* A turn that is over hands nothing off. */
	music(s, "playing", 0);
	scene_mark(s);
	ev.turn = 9999;
	ev.text = (struct slice){(const uint8_t *)pause, sizeof pause - 1};
	scene_event(s, ev);
	CHECK_INT(scene_count(s, ROOM_DO_MUSIC), 0);
	scene_close(s);
}

TEST(rule_101_a_command_names_its_speaker)
{
	struct scene *s = playing("");

	scene_say(s, BOB, "parley pause the music");
	CHECK_STR(ordered(s), "pause");
	CHECK_INT(scene_last(s, ROOM_DO_MUSIC)->user, BOB);
	music(s, "paused", 0);
	/* "Go on" is a command while music is paused, and else for the answerer. */
	scene_say(s, BOB, "Parley, go on.");
	CHECK_STR(ordered(s), "resume");
	CHECK_INT(scene_last(s, ROOM_DO_MUSIC)->user, BOB);
	music(s, "playing", 0);
	scene_mark(s);
	scene_say(s, BOB, "Parley, go on.");
	CHECK_INT(scene_ended(s, ROOM_REASON_MUSIC_CONTROL), 0);
	CHECK(scene_asked(s));
	scene_close(s);
}

TEST(a_model_is_told_what_plays_and_was_played)
{
	static const char tracks[] = "playing: local-1 \"Toto - Africa\"";
	struct scene *s = playing("");

	scene_event(s, (struct room_event){.type = ROOM_TRACKS,
					   .text = {(const uint8_t *)tracks, sizeof tracks - 1}});
	music(s, "idle", 0);
	scene_wait(s, 5000);
	CHECK(strstr(scene_last(s, ROOM_DO_INSTRUCT)->text, tracks));
	/* Its tools, too: the titles are of strangers. */
	scene_say(s, ALICE, "parley what is this");
	CHECK(scene_last(s, ROOM_DO_ASK) && scene_last(s, ROOM_DO_ASK)->titles);
	scene_close(s);
}

TEST(rule_107_music_that_begins_late_stops_only_what_is_older)
{
	struct scene *s = scene_open("");
	uint32_t wish;

	scene_join(s, ALICE, "Alice");
	scene_say(s, ALICE, "play some jazz please");
	wish = scene_asked(s);
	scene_answer(s, "here you are", 3000);
	music(s, "playing", wish);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	scene_event(s, (struct room_event){.type = ROOM_SAY_STOPPED, .turn = wish});
	CHECK_INT(scene_ended(s, ROOM_REASON_MUSIC_BEGAN), 1);
	music(s, "idle", 0);
	scene_say(s, ALICE, "parley what time is it");
	scene_answer(s, "ten", 3000);
	scene_mark(s);
	music(s, "playing", wish);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	CHECK(room_active(s->room));
	scene_close(s);
}
