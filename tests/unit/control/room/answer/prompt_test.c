#include "tests/test.h"

#include "control/room/answer/prompt.h"
#include "control/prompts/prompts.def"
#include "control/room/answer/soundboard.h"
#include "control/room/inside.h"
#include "proto/base/time.h"
#include "tests/unit/control/room/world.h"

static struct slice str_of(const char *text)
{
	return (struct slice){(const uint8_t *)text, strlen(text)};
}

static struct room_effects fx;
static struct settings *set;
static struct room *room;

static const char *step(struct room_event ev, uint64_t ms)
{
	if (ev.type == ROOM_INSTRUCTED && !ev.chunk)
		ev.chunk = room->instructions.number;
	room_step(room, &ev, ms * NS_PER_MS, &fx);
	for (size_t i = 0; i < fx.n; i++)
		if (fx.v[i].type == ROOM_DO_INSTRUCT)
			return fx.v[i].text;
	return NULL;
}

static const char *member(uint64_t user, const char *name, uint64_t ms)
{
	return step((struct room_event){.type = ROOM_MEMBER,
					.user = user,
					.yes = *name != '\0',
					.text = str_of(name)},
		    ms);
}

static const char *timer(uint64_t ms)
{
	return step((struct room_event){.type = ROOM_TIMER}, ms);
}

static void begin(void)
{
	settings_alloc(&set);
	settings_set(set, "guest", "off");
	settings_set(set, "instructions", "Be brief.");
	room_alloc(&room, set, "Parley");
}

static void over(void)
{
	room = room_free(room);
	set = settings_free(set);
}

static void add_line(struct room_history *h, uint64_t at, uint32_t turn, bool bot, bool cut,
		     const char *name, const char *text)
{
	room_history_add(h, &(struct room_history_words){.at = at,
							 .user = strcmp(name, "Bob") == 0 ? 2 : 1,
							 .turn = turn,
							 .bot = bot,
							 .cut = cut,
							 .name = name,
							 .text = text});
}

TEST(rule_005_refreshes_become_the_one_in_flight_and_the_latest)
{
	begin();
	CHECK_STR(member(1, "Alice", 1000),
		  "Be brief.\nYour name is Parley.\npeople in the room: Alice");
	/* In flight: what changes meanwhile is told once, when it has arrived. */
	CHECK(!member(2, "Bob", 1010));
	CHECK(!member(3, "Carol", 1400));
	CHECK(!timer(2000));
	CHECK_STR(step((struct room_event){.type = ROOM_INSTRUCTED}, 2100),
		  "Be brief.\nYour name is Parley.\npeople in the room: Alice, Bob, Carol");
	CHECK(!step((struct room_event){.type = ROOM_INSTRUCTED}, 2200));
	CHECK(!timer(5000));
	over();
}

TEST(rule_005_only_the_newest_text_counts_as_known)
{
	begin();
	member(1, "Alice", 1000);
	step((struct room_event){.type = ROOM_INSTRUCTED, .chunk = 7}, 1100);
	CHECK(room_answer_uninstructed(&room->context));
	step((struct room_event){.type = ROOM_INSTRUCTED, .chunk = 1}, 1200);
	CHECK(!room_answer_uninstructed(&room->context));
	over();
}

TEST(rule_005_changes_close_together_are_told_together)
{
	begin();
	member(1, "Alice", 1000);
	step((struct room_event){.type = ROOM_INSTRUCTED}, 1000);
	CHECK(!member(2, "Bob", 2000));
	CHECK_INT(room_deadline(room) / NS_PER_MS, 2220);
	CHECK(!member(3, "Carol", 2100));
	CHECK(!timer(2219));
	CHECK_STR(timer(2220),
		  "Be brief.\nYour name is Parley.\npeople in the room: Alice, Bob, Carol");
	over();
}

TEST(rule_005_an_equal_text_is_not_sent)
{
	begin();
	member(1, "Alice", 1000);
	step((struct room_event){.type = ROOM_INSTRUCTED}, 1000);
	member(2, "Bob", 2000);
	member(2, "", 2050);
	CHECK(!timer(2300));
	CHECK(!room_answer_uninstructed(&room->context));
	CHECK_INT(room_deadline(room), UINT64_MAX);
	/* The first is sent though nothing changed since nothing. */
	over();
}

TEST(a_refresh_that_nobody_confirms_does_not_hold_the_next_for_ever)
{
	begin();
	member(1, "Alice", 1000);
	member(2, "Bob", 1500);
	CHECK(!timer(5999));
	CHECK_INT(room_deadline(room) / NS_PER_MS, 6000);
	CHECK(timer(6000));
	over();
}

/* A turn of Alice's, admitted at once. */
static const struct room_effect *ask(uint64_t ms)
{
	uint8_t pcm[960];
	uint32_t utterance = 0;

	for (unsigned i = 0; i < 480; i++) {
		pcm[2 * i] = i / 8 % 2 ? 0x70 : 0x90;
		pcm[2 * i + 1] = i / 8 % 2 ? 0x17 : 0xe8;
	}
	for (unsigned i = 0; i < 30; i++, ms += 20)
		step((struct room_event){.type = ROOM_HEARD,
					 .user = 1,
					 .at = ms * NS_PER_MS,
					 .pcm = {pcm, sizeof pcm}},
		     ms);
	step((struct room_event){.type = ROOM_HEARD_END, .user = 1, .at = ms * NS_PER_MS}, ms);
	for (size_t i = 0; i < fx.n; i++)
		if (fx.v[i].type == ROOM_DO_ASR_COMMIT)
			utterance = fx.v[i].utterance;
	step((struct room_event){.type = ROOM_TRANSCRIPT,
				 .user = 1,
				 .utterance = utterance,
				 .text = str_of("parley and now")},
	     ms);
	for (size_t i = 0; i < fx.n; i++)
		if (fx.v[i].type == ROOM_DO_ASK)
			return &fx.v[i];
	return NULL;
}

TEST(rule_037_a_bridge_waits_until_the_brain_knows_the_room)
{
	bool asked = false;

	begin();
	settings_set(set, "reply_path", "bridge");
	step((struct room_event){.type = ROOM_CALL, .yes = true}, 900);
	member(1, "Alice", 1000);
	CHECK(!ask(1000)); /* the instructions are on their way */
	step((struct room_event){.type = ROOM_INSTRUCTED}, 1700);
	for (size_t i = 0; i < fx.n; i++)
		asked = asked || fx.v[i].type == ROOM_DO_ASK;
	CHECK(asked);
	over();
	/* The native path does not wait. */
	begin();
	step((struct room_event){.type = ROOM_CALL, .yes = true}, 900);
	member(1, "Alice", 1000);
	CHECK(ask(1000));
	over();
}

static struct room_history history;

TEST(the_conversation_stands_in_the_order_of_its_sound)
{
	char text[16];

	history = (struct room_history){0};
	add_line(&history, 30, 3, false, false, "Bob", "third");
	add_line(&history, 10, 1, false, false, "Alice", "first");
	add_line(&history, 20, 1, true, true, "Parley", "second");
	add_line(&history, 40, 4, true, false, "Parley", "");
	CHECK_INT(history.n, 3);
	CHECK_STR(room_history_at(&history, 0)->text, "first");
	CHECK_STR(room_history_at(&history, 1)->text, "second");
	CHECK_STR(room_history_at(&history, 2)->text, "third");
	for (unsigned i = 0; i < 2 * ROOM_HISTORY_LINES; i++) {
		snprintf(text, sizeof text, "%u", i);
		add_line(&history, 100 + i, i, false, false, "Bob", text);
	}
	CHECK_INT(history.n, ROOM_HISTORY_LINES);
	CHECK_STR(room_history_at(&history, 0)->text, "220");
	CHECK_STR(room_history_at(&history, ROOM_HISTORY_LINES - 1)->text, "439");
	add_line(&history, 5, 9, false, false, "Bob", "too old");
	CHECK_STR(room_history_at(&history, 0)->text, "220");
}

static void show(uint64_t user, bool yes, uint64_t ms)
{
	step((struct room_event){.type = ROOM_SCREEN_SHARE, .user = user, .yes = yes}, ms);
}

TEST(rule_111_who_shows_a_screen_is_told_to_the_brain)
{
	const struct room_effect *e;

	begin();
	settings_set(set, "reply_path", "brain");
	step((struct room_event){.type = ROOM_CALL, .yes = true}, 900);
	member(1, "Alice", 1000);
	show(1, true, 90000);
	show(1, true, 90100);
	e = ask(90200);
	CHECK(e && strstr(e->instructions + e->stable,
			  "people in the room: Alice\nroom moment: Alice began to show a screen"));
	CHECK(!strstr(strstr(e->instructions, "began to show") + 1, "began to show"));
	over();
	/* Hidden and shown again at once: both are told, and of somebody who is not there nothing.
	 */
	begin();
	settings_set(set, "reply_path", "brain");
	step((struct room_event){.type = ROOM_CALL, .yes = true}, 900);
	member(1, "Alice", 1000);
	show(1, true, 90000);
	show(1, false, 90500);
	show(1, true, 91000);
	show(2, true, 91000);
	e = ask(91100);
	CHECK(e && strstr(e->instructions, "\nroom moment: Alice began to show a screen"
					   "\nroom moment: Alice stopped showing the screen"
					   "\nroom moment: Alice began to show a screen"));
	over();
}

TEST(rule_111_a_video_of_ours_is_told_to_the_brain)
{
	struct room_event ev = {.type = ROOM_VIDEO_SHARE, .user = 1, .yes = true};
	const struct room_effect *e;

	begin();
	settings_set(set, "reply_path", "brain");
	step((struct room_event){.type = ROOM_CALL, .yes = true}, 900);
	member(1, "Alice", 1000);
	step(ev, 90000);
	ev.yes = false;
	step(ev, 90500);
	e = ask(91100);
	CHECK(e && strstr(e->instructions, "\nroom moment: Alice had you show a video"
					   "\nroom moment: Alice has no video shown by you"));
	over();
}

TEST(a_prompt_tells_the_newest_of_the_conversation_and_what_is_said_now)
{
	const struct room_effect *e;

	begin();
	settings_set(set, "reply_path", "brain");
	settings_set(set, "context_turns", "3");
	step((struct room_event){.type = ROOM_CALL, .yes = true}, 900);
	member(1, "Alice", 1000);
	add_line(&room->history, 1, 90, false, false, "Bob", "long ago");
	add_line(&room->history, 2, 91, false, false, "Bob", "tell me a tale");
	add_line(&room->history, 3, 91, true, true, "Parley", "once upon");
	add_line(&room->history, 4, 92, false, false, "Bob", "not that one");
	e = ask(1000);
	CHECK(e);
	CHECK_STR(e->instructions,
		  "Be brief.\nYour name is Parley." PROMPT_CONTRACT PROMPT_CONTRACT_END
		  "\npeople in the room: Alice\n"
		  "room moment: Parley (you) came in\nroom moment: Alice came in");
	/* What follows changes with the room. */
	CHECK_STR(e->instructions + e->stable,
		  "\npeople in the room: Alice\nroom moment: Parley (you) came in\n"
		  "room moment: Alice came in");
	CHECK_INT(e->history_n, 3);
	CHECK(!e->history[0].bot && e->history[1].bot);
	CHECK_STR(e->history[0].speaker, "Bob");
	CHECK_STR(e->history[0].text, "tell me a tale");
	CHECK_STR(e->history[1].text, "[interrupted] once upon");
	CHECK_STR(e->history[2].text, "not that one");
	/* What is said now stands in the question, and nowhere else. */
	CHECK_STR(e->text, "[Alice]: parley and now");
	over();
}

TEST(a_voice_session_knows_the_contract_if_its_words_are_read_out)
{
	begin();
	settings_set(set, "answer_audio", "speech");
	CHECK(strstr(member(1, "Alice", 1000), "Begin with [[TO: SPEAKER]]"));
	over();
	begin();
	CHECK(!strstr(member(1, "Alice", 1000), "[[TO"));
	over();
}

TEST(a_small_context_has_no_place_for_the_contract)
{
	const struct room_effect *e;

	begin();
	settings_set(set, "reply_path", "brain");
	settings_set(set, "context_bytes", "1000");
	step((struct room_event){.type = ROOM_CALL, .yes = true}, 900);
	member(1, "Alice", 1000);
	e = ask(1000);
	CHECK(e);
	CHECK(!strstr(e->instructions, "[[TO"));
	CHECK(strstr(e->instructions, "Be brief."));
	over();
}

TEST(a_summary_stands_between_people_and_moments)
{
	const struct room_effect *e;

	begin();
	settings_set(set, "reply_path", "brain");
	step((struct room_event){.type = ROOM_CALL, .yes = true}, 900);
	member(1, "Alice", 1000);
	snprintf(room->compaction.summary, sizeof room->compaction.summary, "They met.");
	e = ask(1000);
	CHECK(e);
	CHECK(strstr(e->instructions, "people in the room: Alice" PROMPT_SUMMARY_SECTION
				      "They met.\nroom moment: "));
	over();
}

TEST(words_that_are_withheld_are_told_to_no_model)
{
	const struct room_effect *e;

	begin();
	settings_set(set, "reply_path", "brain");
	step((struct room_event){.type = ROOM_CALL, .yes = true}, 900);
	member(1, "Alice", 1000);
	add_line(&room->history, 1, 90, false, false, "Bob", "a secret");
	add_line(&room->history, 2, 91, false, false, "Bob", "no secret");
	room_history_withhold(&room->history, 90);
	e = ask(1000);
	CHECK(e);
	CHECK_INT(e->history_n, 1);
	CHECK_STR(e->history[0].text, "no secret");
	over();
}

TEST(a_prompt_keeps_its_limits)
{
	char big[ROOM_HISTORY_TEXT + 1];
	const struct room_effect *e;
	size_t size;

	memset(big, 'y', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	begin();
	settings_set(set, "reply_path", "brain");
	settings_set(set, "context_bytes", "4000");
	step((struct room_event){.type = ROOM_CALL, .yes = true}, 900);
	member(1, "Alice", 1000);
	for (unsigned i = 0; i < 10; i++)
		add_line(&room->history, i + 1, 90, false, false, "Bob", big);
	e = ask(1000);
	CHECK(e);
	size = strlen(e->instructions) + strlen(e->text);
	for (size_t i = 0; i < e->history_n; i++)
		size += strlen(e->history[i].speaker) + strlen(e->history[i].text);
	CHECK(size <= 4000);
	CHECK(size > 3600 - ROOM_HISTORY_TEXT);
	CHECK_STR(e->history[e->history_n - 1].text, big);
	CHECK_STR(e->text, "[Alice]: parley and now");
	over();
}

/* A better transcript that comes late, of a turn that is over, edits its line of the conversation.
 */
TEST(rule_059_a_late_revision_edits_its_line_of_the_conversation)
{
	const struct room_history *h;
	struct world w;
	uint32_t utterance;

	world_begin(&w, "", 2);
	world_says(&w, 2, "we saw a grey tit");
	utterance = w.utterance[2];
	CHECK_INT(w.ended, ROOM_REASON_NOT_ADDRESSED);
	world_says(&w, 2, "and a robin");
	w.utterance[2] = utterance;
	world_words(&w, 2, "We saw a great tit.");
	h = &w.room->history;
	CHECK_INT(h->n, 2);
	CHECK_STR(room_history_at(h, 0)->text, "We saw a great tit.");
	CHECK_STR(room_history_at(h, 1)->text, "and a robin");
	/* And again; an unknown one yields nothing. */
	world_words(&w, 2, "We saw two great tits.");
	w.utterance[2] = 999;
	world_words(&w, 2, "what?");
	CHECK_STR(room_history_at(h, 0)->text, "We saw two great tits.");
	CHECK_INT(h->n, 2);
	world_end(&w);
}

/* The words of one who is answered with somebody else's stand in two lines. */
TEST(rule_059_a_revision_finds_its_line_among_those_of_a_turn)
{
	struct room_history h = {0};

	add_line(&h, 1, 1, false, false, "Alice", "one two three");
	add_line(&h, 2, 2, false, false, "Bob", "one two three");
	add_line(&h, 3, 1, true, false, "Parley", "one two three");
	CHECK(room_history_revise(&h, 2, "two", "2"));
	CHECK_STR(room_history_at(&h, 0)->text, "one two three");
	CHECK_STR(room_history_at(&h, 1)->text, "one 2 three");
	CHECK_STR(room_history_at(&h, 2)->text, "one two three");
	CHECK(!room_history_revise(&h, 2, "four", "4"));
	CHECK(!room_history_revise(&h, 2, "", "4"));
}

static void sounds(const char *names)
{
	step((struct room_event){.type = ROOM_SOUNDS,
				 .text = {(const uint8_t *)names, strlen(names)}},
	     950);
}

static const struct room_effect *ask_brain(const char *names)
{
	begin();
	settings_set(set, "reply_path", "brain");
	step((struct room_event){.type = ROOM_CALL, .yes = true}, 900);
	member(1, "Alice", 1000);
	sounds(names);
	return ask(1000);
}

TEST(a_text_model_is_told_which_sounds_there_are)
{
	const struct room_effect *e = ask_brain("air horn\nquack\n");

	CHECK(e);
	CHECK(strstr(e->instructions, "no others: air horn, quack.\nUse no other marks."));
	/* It belongs to what seldom changes. */
	CHECK(strstr(e->instructions, "quack") < e->instructions + e->stable);
	over();
	e = ask_brain("");
	CHECK(e && !strstr(e->instructions, "SOUNDBOARD"));
	over();
	/* What a name could break is left out. */
	e = ask_brain("[[TO: ALL]]\na, b\n\nno\xff\nUse: this\nhonk");
	CHECK(e && strstr(e->instructions, "no others: honk.\n"));
	over();
}

TEST(a_text_model_is_told_when_to_play_a_sound)
{
	static const char *const rows[][2] = {{"off", NULL},
					      {"request", ", only when somebody asks to hear one."},
					      {"sometimes", ", rarely."},
					      {"often", ", wherever one fits."}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct room_effect *e;

		begin();
		settings_set(set, "reply_path", "brain");
		CHECK(settings_set(set, "soundboard", rows[i][0]) == 0);
		step((struct room_event){.type = ROOM_CALL, .yes = true}, 900);
		member(1, "Alice", 1000);
		sounds("honk");
		e = ask(1000);
		CHECK(e);
		CHECK_INT(strstr(e->instructions, "SOUNDBOARD") != NULL, rows[i][1] != NULL);
		CHECK(!rows[i][1] || strstr(e->instructions, rows[i][1]));
		over();
	}
}

TEST(the_list_of_sounds_has_its_limits)
{
	char names[8192] = "", *list;
	const struct room_effect *e;
	unsigned n = 0;

	for (unsigned i = 0; i < 60; i++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "s%u\n", i);
	e = ask_brain(names);
	list = e ? strstr(e->instructions, "no others: s0, s1") : NULL;
	CHECK(list);
	CHECK(strstr(list, "s39.\n") && !strstr(list, "s40"));
	over();
	names[0] = '\0';
	for (unsigned i = 0; i < 60; i++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%050u\n", i);
	e = ask_brain(names);
	list = e ? strstr(e->instructions, "no others: ") : NULL;
	CHECK(list);
	for (char *p = list; (p = strstr(p, "0000000000000000000000000")); p += 50)
		n++;
	CHECK_INT(n, (ROOM_SOUNDBOARD_MAX - 1) / 52);
	over();
}
