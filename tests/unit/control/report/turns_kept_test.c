/* Whose words are kept: of people who may be remembered, and were when they said them, and answers
 * that quote nobody else. */
#include "tests/unit/control/report/turns_scene.h"

TEST(a_turn_of_several_speakers_is_kept_only_if_all_are_remembered)
{
	static struct room_turn mixed;
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	mixed = turns_scene_turn;
	mixed.segments = 2;
	mixed.segment[0].user = 501;
	mixed.segment[1].user = 502;
	CHECK(turns_scene_keeps(&s, &mixed));
	s.forgets = 502;
	CHECK(!turns_scene_keeps(&s, &mixed));
	CHECK(turns_scene_keeps(&s, &turns_scene_turn));
	s.forgets = 501;
	CHECK(!turns_scene_keeps(&s, &mixed));
	turns_scene_close(&s);
}

TEST(an_answer_is_not_kept_whose_model_was_told_words_of_somebody_not_remembered)
{
	const struct room_message history[] = {
		{.user = 501, .speaker = "alice", .text = "what did bob say"},
		{.bot = true, .speaker = "", .text = "he is not here"},
		{.user = 0, .speaker = "bob", .text = "my code is nine"}}; /* he has left */
	struct room_effect ask = {.type = ROOM_DO_ASK, .turn = 3, .history = history};
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	turns_scene_come(&s, 502, "bob");
	ask.history_n = 3;
	turns_effect(s.turns, &ask);
	CHECK(turns_all_kept(s.turns));
	CHECK(turns_scene_keeps(&s, &turns_scene_turn));
	s.forgets = 502;
	CHECK(!turns_all_kept(s.turns));
	ask.history_n = 2;
	turns_effect(s.turns, &ask);
	CHECK(turns_scene_keeps(&s, &turns_scene_turn));
	ask.history_n = 3;
	turns_effect(s.turns, &ask);
	CHECK(!turns_scene_keeps(&s, &turns_scene_turn));
	turns_scene_close(&s);
}

/* Nobody asked for it. To the scene the user 0 is somebody who has not answered. */
TEST(what_the_bot_says_by_itself_is_kept_only_where_people_are_remembered_without_an_answer)
{
	struct room_turn own = turns_scene_turn;
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	own.user = 0;
	own.prompted = true;
	s.refuses = s.forgets = 900;
	CHECK(turns_scene_keeps(&s, &own));
	s.forgets = 0;
	CHECK(!turns_scene_keeps(&s, &own));
	CHECK(turns_scene_keeps(&s, &turns_scene_turn));
	turns_scene_close(&s);
}

static void hear(struct scene *s, uint64_t user, uint32_t utterance, const char *words)
{
	const struct room_event end = {.type = ROOM_TRANSCRIPT,
				       .user = user,
				       .utterance = utterance,
				       .text = {(const uint8_t *)words, strlen(words)}};

	turns_event(s->turns, &end);
}

static bool is_kept(struct scene *s, const struct room_turn *t)
{
	turns_scene_forget(s);
	turns_tell(s->turns, t, TURNS_ENDED);
	return turns_may_keep(s->turns, t);
}

/* Asked with this history, as turn `id` of bob's. */
static bool is_kept_with(struct scene *s, const struct room_message *history, size_t n, uint32_t id)
{
	const struct room_effect ask = {
		.type = ROOM_DO_ASK, .turn = id, .history = history, .history_n = n};
	struct room_turn asked = turns_scene_turn;

	asked.id = id;
	asked.user = 502;
	turns_effect(s->turns, &ask);
	return is_kept(s, &asked);
}

/* An answer to /consent is about what is said from then on. */
TEST(words_from_before_their_speaker_agreed_are_not_kept)
{
	const struct room_message before[] = {
		{.user = 501, .turn = 3, .speaker = "alice", .text = "my PIN is 4711"},
		{.bot = true, .turn = 3, .speaker = "", .text = "your PIN is 4711"},
		{.user = 501, .turn = 4, .speaker = "alice", .text = "it rains"}};
	struct room_turn first = turns_scene_turn, next = turns_scene_turn;
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	s.forgets = 501;
	turns_scene_come(&s, 501, "alice");
	hear(&s, 501, 7, "my PIN is 4711");
	first.segments = 1;
	first.segment[0] = (struct room_segment){.user = 501, .utterance = 7};
	/* She agrees while the bot answers. */
	s.forgets = 0;
	CHECK(!is_kept(&s, &first));
	CHECK(!turns_all_kept(s.turns));
	CHECK(!is_kept_with(&s, before, 1, 5));
	CHECK(!is_kept_with(&s, before + 1, 1, 6));
	/* Nor an answer that may repeat that one. */
	CHECK(!is_kept_with(
		&s,
		&(struct room_message){.bot = true, .turn = 6, .speaker = "", .text = "it is 4711"},
		1, 7));
	hear(&s, 501, 8, "it rains");
	next.id = 8;
	next.segments = 1;
	next.segment[0] = (struct room_segment){.user = 501, .utterance = 8};
	CHECK(is_kept(&s, &next));
	CHECK(is_kept_with(&s, before + 2, 1, 9));
	turns_scene_close(&s);
}

static void begin_to_speak(struct scene *s, uint64_t user, uint32_t utterance)
{
	turns_effect(s->turns, &(struct room_effect){.type = ROOM_DO_ASR_START,
						     .user = user,
						     .utterance = utterance});
}

/* True if the transcript that comes now is kept. */
static bool keeps_transcript(struct scene *s, uint64_t user, uint32_t utterance)
{
	turns_scene_forget(s);
	hear(s, user, utterance, "my PIN is 4711");
	return json_is_true(json_object_get(s->told[0], "consent")) &&
	       !json_is_true(json_object_get(s->told[0], "transient"));
}

/* She says it, agrees, and the transcript comes then: of a file, or of a second provider. */
TEST(words_are_not_kept_whose_transcript_comes_after_their_speaker_agreed)
{
	struct room_turn first = turns_scene_turn;
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	first.segments = 1;
	first.segment[0] = (struct room_segment){.user = 501, .utterance = 7};
	s.forgets = 501;
	begin_to_speak(&s, 501, 7);
	s.forgets = 0;
	turns_consent(s.turns, 501);
	begin_to_speak(&s, 501, 8);
	CHECK(!is_kept(&s, &first));
	CHECK(!keeps_transcript(&s, 501, 7));
	CHECK(!is_kept(&s, &first));
	CHECK(keeps_transcript(&s, 501, 8));
	turns_scene_close(&s);
}

/* She is remembered at the beginning and at the end alone. */
TEST(words_are_not_kept_that_were_said_while_their_speaker_was_not_remembered)
{
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	begin_to_speak(&s, 501, 7);
	s.forgets = 501;
	turns_consent(s.turns, 501);
	s.forgets = 0;
	turns_consent(s.turns, 501);
	CHECK(!keeps_transcript(&s, 501, 7));
	begin_to_speak(&s, 501, 8);
	s.forgets = 501;
	CHECK_INT(turns_withdrawn(s.turns), 0); /* she has no place in the channel */
	s.forgets = 0;
	CHECK(!keeps_transcript(&s, 501, 8));
	turns_scene_close(&s);
}

/* A turn held sound that was cancelled: no transcript of it comes. */
TEST(words_of_a_cancelled_utterance_are_kept_only_if_its_speaker_was_remembered)
{
	struct room_effect cancel = {.type = ROOM_DO_ASR_CANCEL, .user = 501, .utterance = 7};
	struct room_turn held = turns_scene_turn;
	struct room_effect record = {.type = ROOM_DO_RECORD, .record = &held};
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	held.chunks = 1;
	held.chunk[0].utterance = 7;
	held.segments = 1;
	held.segment[0] = (struct room_segment){.user = 501, .utterance = 7};
	s.forgets = 501;
	begin_to_speak(&s, 501, 7);
	turns_effect(s.turns, &cancel);
	s.forgets = 0;
	turns_effect(s.turns, &record);
	CHECK(!turns_may_keep(s.turns, &held));
	turns_scene_close(&s);
}

TEST(utterances_beyond_the_list_of_those_that_are_followed_are_kept_as_when_they_were_said)
{
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	s.forgets = 501;
	begin_to_speak(&s, 501, 7);
	s.forgets = 0;
	for (uint32_t i = 0; i < 128; i++)
		begin_to_speak(&s, 502, 8 + i);
	CHECK(!keeps_transcript(&s, 501, 7));
	CHECK(keeps_transcript(&s, 502, 100));
	turns_scene_close(&s);
}

static void come(struct scene *s, uint64_t user)
{
	char name[24];

	snprintf(name, sizeof name, "person%u", (unsigned)user);
	turns_scene_come(s, user, name);
}

/* Alice and a bot are there from the first minute on. */
TEST(who_stays_in_the_channel_is_known_however_many_come_and_go)
{
	struct room_event bot = {.type = ROOM_MEMBER,
				 .user = 502,
				 .is_bot = true,
				 .yes = true,
				 .text = {(const uint8_t *)"bot", 3}};
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	come(&s, 501);
	turns_event(s.turns, &bot);
	for (uint64_t user = 600; user < 700; user++) {
		come(&s, user);
		turns_scene_leave(&s, user);
		CHECK(*turns_name(s.turns, user));
		CHECK(user < 601 || *turns_name(s.turns, user - 1));
	}
	turns_scene_forget(&s);
	CHECK_STR(turns_name(s.turns, 501), "person501");
	CHECK_STR(turns_name(s.turns, 502), "bot");
	CHECK_STR(turns_name(s.turns, 600), "");
	CHECK(turns_all_kept(s.turns));
	s.forgets = 501;
	CHECK_INT(turns_withdrawn(s.turns), 501);
	turns_consent(s.turns, 501);
	CHECK_STR(turns_scene_told(&s, 0, "event"), "member");
	turns_scene_close(&s);
}

/* The last one to leave is the last one whose name is lost, whenever they came. */
TEST(who_left_first_loses_the_place_first)
{
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	for (uint64_t user = 600; user < 664; user++)
		come(&s, user);
	for (uint64_t user = 663; user >= 600; user--)
		turns_scene_leave(&s, user);
	come(&s, 700);
	CHECK_STR(turns_name(s.turns, 663), "");
	CHECK_STR(turns_name(s.turns, 600), "person600");
	turns_scene_close(&s);
}

TEST(words_that_may_not_be_kept_are_remembered_of_people_who_lost_their_place)
{
	const struct room_message early = {
		.user = 600, .turn = 3, .speaker = "person600", .text = "my PIN is 4711"};
	struct room_message late = early;
	struct room_turn first = turns_scene_turn;
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	come(&s, 600);
	s.forgets = 600;
	hear(&s, 600, 7, "my PIN is 4711");
	s.forgets = 0;
	first.segments = 1;
	first.segment[0] = (struct room_segment){.user = 600, .utterance = 7};
	CHECK(!is_kept(&s, &first));
	turns_scene_leave(&s, 600);
	for (uint64_t user = 601; user < 665; user++)
		come(&s, user);
	CHECK_STR(turns_name(s.turns, 600), "");
	CHECK(!turns_all_kept(s.turns));
	CHECK(!turns_keeps_line(s.turns, &early));
	late.turn = 4;
	CHECK(turns_keeps_line(s.turns, &late));
	turns_scene_leave(&s, 664);
	come(&s, 600);
	CHECK(!turns_keeps_line(s.turns, &early));
	turns_scene_close(&s);
}

/* The room hears nobody beyond them. */
TEST(nobody_who_is_there_loses_the_place)
{
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	for (uint64_t user = 600; user < 664; user++)
		come(&s, user);
	come(&s, 664);
	CHECK_STR(turns_name(s.turns, 600), "person600");
	CHECK_STR(turns_name(s.turns, 664), "");
	CHECK(turns_all_kept(s.turns));
	s.forgets = 665;
	come(&s, 665);
	s.forgets = 0;
	CHECK(!turns_all_kept(s.turns));
	turns_scene_close(&s);
}

static void type(struct scene *s, uint64_t user, uint64_t message)
{
	turns_event(s->turns,
		    &(struct room_event){.type = ROOM_TYPED, .user = user, .message = message});
}

/* In the chat of the voice channel, where somebody may write who is not in it. */
TEST(words_that_were_typed_before_their_author_agreed_are_not_kept)
{
	const struct room_message typed[] = {
		{.user = 501, .message = 70, .speaker = "alice", .text = "my PIN is 4711"},
		{.user = 501, .message = 71, .speaker = "alice", .text = "and 4712"},
		{.user = 501, .message = 90, .speaker = "alice", .text = "it rains"},
		{.user = 503, .message = 60, .speaker = "carl", .text = "it snows"}};
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	type(&s, 503, 60);
	CHECK(turns_all_kept(s.turns));
	s.forgets = 501;
	type(&s, 501, 70);
	type(&s, 501, 71);
	/* She agrees. */
	s.forgets = 0;
	type(&s, 501, 90);
	CHECK(!turns_all_kept(s.turns));
	CHECK(!turns_keeps_line(s.turns, &typed[0]));
	CHECK(!turns_keeps_line(s.turns, &typed[1]));
	CHECK(turns_keeps_line(s.turns, &typed[2]));
	CHECK(turns_keeps_line(s.turns, &typed[3]));
	CHECK(!is_kept_with(&s, typed, 4, 5));
	CHECK(is_kept_with(&s, typed + 2, 2, 6));
	turns_scene_close(&s);
}

TEST(messages_of_people_beyond_the_list_of_those_who_typed_are_not_kept)
{
	struct room_message typed = {
		.user = 600, .message = 10, .speaker = "x", .text = "it rains"};
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	for (uint64_t i = 0; i < 65; i++) {
		s.forgets = 600 + i;
		type(&s, 600 + i, 10 + i);
	}
	s.forgets = 0;
	CHECK(!turns_keeps_line(s.turns, &typed));
	typed.message = 11;
	CHECK(turns_keeps_line(s.turns, &typed));
	turns_scene_close(&s);
}

/* Bob asks; nothing of alice stands in the history any more. */
static bool is_kept_later(struct scene *s, uint32_t id)
{
	static const struct room_message carl = {
		.user = 503, .turn = 20, .speaker = "carl", .text = "it rains"};

	return is_kept_with(s, &carl, 1, id);
}

static void hear_alice(struct scene *s)
{
	struct room_turn first = turns_scene_turn;

	s->forgets = 501;
	hear(s, 501, 7, "my PIN is 4711");
	first.segments = 1;
	first.segment[0] = (struct room_segment){.user = 501, .utterance = 7};
	CHECK(!is_kept(s, &first));
}

TEST(answers_of_a_voice_that_was_told_words_that_may_not_be_kept_are_not_kept)
{
	struct scene s;

	CHECK_INT(turns_scene_open_with(&s, "native", "true"), 0);
	s.forgets = 501;
	CHECK(is_kept_later(&s, 4));
	hear_alice(&s);
	CHECK(!is_kept_later(&s, 5));
	turns_renewed(s.turns);
	CHECK(is_kept_later(&s, 6));
	/* She writes in the chat of the voice channel. */
	turns_event(s.turns, &(struct room_event){.type = ROOM_TYPED, .user = 501});
	CHECK(!is_kept_later(&s, 7));
	turns_scene_close(&s);
}

TEST(answers_from_a_summary_of_words_that_may_not_be_kept_are_not_kept)
{
	struct scene s;

	CHECK_INT(turns_scene_open_with(&s, "brain", "true"), 0);
	hear_alice(&s);
	CHECK(!is_kept_later(&s, 5));
	turns_renewed(s.turns);
	CHECK(!is_kept_later(&s, 6));
	turns_scene_close(&s);
	/* Without one a text model is told the lines of the question alone. */
	CHECK_INT(turns_scene_open_with(&s, "brain", "false"), 0);
	hear_alice(&s);
	CHECK(is_kept_later(&s, 5));
	turns_scene_close(&s);
}

TEST(an_answer_about_the_screen_of_somebody_not_remembered_is_not_kept)
{
	struct room_turn asked = turns_scene_turn;
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	asked.user = 502;
	s.forgets = 501;
	CHECK(is_kept(&s, &asked));
	turns_shown(s.turns, asked.id, 502);
	CHECK(is_kept(&s, &asked));
	turns_shown(s.turns, asked.id, 501);
	CHECK(!is_kept(&s, &asked));
	turns_scene_close(&s);
}

TEST(an_answer_that_may_quote_private_facts_is_not_kept)
{
	static struct room_turn private;
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	private = turns_scene_turn;
	private.told_private = true;
	CHECK(!turns_scene_keeps(&s, &private));
	turns_scene_close(&s);
}
