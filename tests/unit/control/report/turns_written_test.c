/* Questions in writing that the voice answers (ROOM_WRITTEN): whose words they are, and whether
 * they may be kept. */
#include "tests/unit/control/report/turns_scene.h"

#include "proto/media.h"

enum { ALICE = 501, BOB = 502 };

static bool open_scene(struct scene *s, const char *reply_path)
{
	/* A summary would hold what leaves the history. */
	if (turns_scene_open_with(s, reply_path, "false"))
		return false;
	s->forgets = BOB;
	turns_scene_come(s, BOB, "Bob");
	return true;
}

/* Bob writes a question. Returns when, ns. */
static uint64_t write_question(struct scene *s)
{
	turns_event(s->turns, &(struct room_event){.type = ROOM_WRITTEN,
						   .user = BOB,
						   .text = slice_str("how far is Main Street")});
	return env_now(s->l.env);
}

/* ... and agrees that his words are kept. */
static void agree(struct scene *s)
{
	uint64_t before = env_now(s->l.env);

	while (env_now(s->l.env) == before)
		;
	s->forgets = 0;
	turns_consent(s->turns, BOB);
	before = env_now(s->l.env);
	while (env_now(s->l.env) == before)
		;
}

/* The voice has answered Bob's question of this time. */
static bool keeps_answer(struct scene *s, uint32_t id, uint64_t since)
{
	struct room_turn t = {.id = id,
			      .reason = ROOM_REASON_ANSWERED,
			      .prompted = true,
			      .segments = 1,
			      .transcript = "(Bob: how far is Main Street)",
			      .quoted_at = 6,
			      .quoted_n = 22,
			      .quoted_user = BOB,
			      .quoted_since = since};

	return turns_scene_keeps(s, &t);
}

/* Alice asks something after an answer of the bot. */
static bool keeps_next(struct scene *s, uint32_t id, uint32_t answer)
{
	const struct room_message history = {
		.bot = true, .turn = answer, .speaker = "Parley", .text = "two miles"};
	struct room_turn t = {.id = id, .reason = ROOM_REASON_ANSWERED, .user = ALICE};

	turns_effect(s->turns, &(struct room_effect){.type = ROOM_DO_ASK,
						     .turn = id,
						     .history = &history,
						     .history_n = answer != 0});
	return turns_scene_keeps(s, &t);
}

TEST(an_answer_that_may_repeat_what_somebody_not_remembered_wrote_is_not_kept)
{
	struct scene s;

	CHECK(open_scene(&s, "brain"));
	CHECK(keeps_next(&s, 6, 5));
	CHECK(!keeps_answer(&s, 7, write_question(&s)));
	CHECK(!keeps_next(&s, 8, 7));
	/* A text model is told the lines of the question alone. */
	CHECK(keeps_next(&s, 9, 0));
	turns_scene_close(&s);
}

TEST(a_voice_knows_what_somebody_not_remembered_wrote)
{
	struct scene s;
	uint64_t at;

	CHECK(open_scene(&s, "native"));
	CHECK(keeps_next(&s, 6, 0));
	at = write_question(&s);
	CHECK(!keeps_next(&s, 7, 0));
	turns_renewed(s.turns);
	CHECK(keeps_next(&s, 8, 0));
	CHECK(!keeps_answer(&s, 9, at));
	CHECK(!keeps_next(&s, 10, 0));
	turns_scene_close(&s);
}

TEST(a_question_that_was_written_before_its_writer_agreed_is_not_kept)
{
	struct scene s;
	uint64_t at;

	CHECK(open_scene(&s, "brain"));
	CHECK(!turns_all_kept(s.turns));
	at = write_question(&s);
	agree(&s);
	CHECK(!keeps_answer(&s, 7, at));
	CHECK(!keeps_next(&s, 8, 7));
	/* What models were told is not kept either, as they may repeat it. */
	CHECK(!turns_all_kept(s.turns));
	CHECK(keeps_answer(&s, 9, write_question(&s)));
	CHECK(keeps_next(&s, 10, 9));
	turns_scene_close(&s);
}

/* The same of an answer to /consent that is the default of the server. */
TEST(a_question_that_was_written_before_the_default_allowed_it_is_not_kept)
{
	struct scene s;
	uint64_t at, before;

	CHECK(open_scene(&s, "brain"));
	at = write_question(&s);
	before = env_now(s.l.env);
	while (env_now(s.l.env) == before)
		;
	s.forgets = 0;
	CHECK_INT(turns_withdrawn(s.turns), 0);
	CHECK(!keeps_answer(&s, 7, at));
	turns_scene_close(&s);
}

/* Those who come later take the place of a writer who has left. */
TEST(when_a_writer_agreed_is_known_though_their_place_is_lost)
{
	struct scene s;
	uint64_t at;

	CHECK(open_scene(&s, "brain"));
	at = write_question(&s);
	agree(&s);
	turns_scene_leave(&s, BOB);
	for (uint64_t i = 0; i < ROOM_SPEAKERS; i++)
		turns_scene_come(&s, 1000 + i, "X");
	CHECK_STR(turns_name(s.turns, BOB), "");
	CHECK(!keeps_answer(&s, 7, at));
	CHECK(keeps_answer(&s, 8, write_question(&s)));
	turns_scene_leave(&s, 1000);
	turns_scene_come(&s, BOB, "Bob");
	CHECK_STR(turns_name(s.turns, BOB), "Bob");
	CHECK(!keeps_answer(&s, 9, at));
	turns_scene_close(&s);
}

TEST(who_has_no_place_may_have_agreed_after_they_wrote)
{
	struct scene s;
	uint64_t at;

	CHECK(open_scene(&s, "brain"));
	turns_scene_leave(&s, BOB);
	for (uint64_t i = 0; i < ROOM_SPEAKERS; i++)
		turns_scene_come(&s, 1000 + i, "X");
	at = write_question(&s);
	agree(&s);
	CHECK(!keeps_answer(&s, 7, at));
	turns_scene_close(&s);
}
