#include "control/report/turns.h"

#include <sys/stat.h>

#include "control/events/events.h"
#include "control/room/room.h"
#include "control/settings/settings.h"
#include "tests/unit/ipc/loop.h"

static const struct room_turn turn = {
	.id = 3,
	.reason = ROOM_REASON_ANSWERED,
	.user = 501,
	.name = "alice",
	.transcript = "what \"time\" is it",
	.answer = "ten past four",
	.end_of_speech_at = 2000000000,
	.first_audio_at = 3550000000,
	.decisions = 1,
	.decision = {{ROOM_RULE_DIRECT_ADDRESS, true, 1, 1}},
};

static char text[8192];
static json_t *told[16];
static unsigned n_told;
static uint64_t refuses; /* this user's words may not be told */
static uint64_t forgets; /* nor may this one's be kept */

static const char *contents(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	return text;
}

static void keep(const struct bus_event *ev, void *arg)
{
	(void)arg;
	if (n_told < 16)
		told[n_told++] = bus_event_json(ev, true);
}

static void forget_told(void)
{
	while (n_told)
		json_decref(told[--n_told]);
}

static bool consents(uint64_t user, void *arg)
{
	(void)arg;
	return user != refuses;
}

static bool remembers(uint64_t user, void *arg)
{
	(void)arg;
	return user != forgets;
}

static const char *told_text(unsigned i, const char *key)
{
	return json_string_value(json_object_get(told[i], key));
}

struct scene {
	struct loop l;
	struct bus *bus;
	struct turns *turns;
};

static struct settings *common; /* of the next scene; NULL: none */

static int open_scene(struct scene *s)
{
	struct turns_conf conf = {.guild = 1,
				  .channel = 2,
				  .settings = common,
				  .consentsh = consents,
				  .remembersh = remembers};
	int err = loop_open(&s->l, NULL);

	refuses = forgets = 0;
	if (!err)
		err = bus_alloc(&s->bus);
	if (!err)
		err = bus_subscribe(s->bus, BUS_ALL, keep, NULL);
	conf.env = s->l.env;
	conf.bus = s->bus;
	return err ? err : turns_alloc(&s->turns, &conf);
}

static void close_scene(struct scene *s)
{
	turns_free(s->turns, "shutdown");
	bus_free(s->bus);
	loop_close(&s->l);
	forget_told();
}

TEST(a_turn_is_told_with_its_reason_and_why)
{
	struct scene s;
	json_t *why;

	CHECK_INT(open_scene(&s), 0);
	turns_tell(s.turns, &turn, TURNS_ENDED);
	CHECK_INT(n_told, 2);
	CHECK_STR(told_text(0, "event"), "session_started");
	CHECK_STR(told_text(1, "stage"), "ended");
	CHECK_STR(told_text(1, "channel"), "2");
	CHECK_STR(told_text(1, "reason"), "answered");
	CHECK_STR(told_text(1, "heard"), "what \"time\" is it");
	CHECK_INT(json_integer_value(json_object_get(told[1], "first_audio_ms")), 1550);
	why = json_array_get(json_object_get(told[1], "why"), 0);
	CHECK_STR(json_string_value(json_object_get(why, "rule")), "direct_address");
	CHECK(json_is_true(json_object_get(why, "yes")));
	close_scene(&s);
}

/* Nobody said the prompt of a turn of the bot's own; of a question in writing its writer's words
 * are told. */
TEST(prompts_are_not_told_as_words_of_people)
{
	struct room_turn own = turn;
	struct scene s;

	own.prompted = true;
	snprintf(own.transcript, sizeof own.transcript, "(Alice wrote to you: why? Answer it.)");
	CHECK_INT(open_scene(&s), 0);
	turns_tell(s.turns, &own, TURNS_ENDED);
	CHECK_STR(told_text(1, "heard"), "");
	own.quoted_at = 21;
	own.quoted_n = 4;
	turns_tell(s.turns, &own, TURNS_ENDED);
	CHECK_STR(told_text(2, "heard"), "why?");
	close_scene(&s);
}

TEST(words_without_consent_are_not_told)
{
	struct room_event transcript = {.type = ROOM_TRANSCRIPT,
					.user = 501,
					.utterance = 9,
					.text = {(const uint8_t *)"secret", 6}};
	struct scene s;

	CHECK_INT(open_scene(&s), 0);
	refuses = 501;
	turns_tell(s.turns, &turn, TURNS_ENDED);
	turns_event(s.turns, &transcript);
	refuses = 0;
	turns_event(s.turns, &transcript);
	CHECK_INT(n_told, 4);
	CHECK_STR(told_text(1, "heard"), "");
	CHECK_STR(told_text(1, "said"), "");
	CHECK_STR(told_text(2, "text"), "");
	CHECK_STR(told_text(3, "text"), "secret");
	close_scene(&s);
}

/* Ends the turn; true if its words may be kept. */
static bool keeps(struct scene *s, const struct room_turn *t)
{
	turns_tell(s->turns, t, TURNS_ENDED);
	return !json_is_true(json_object_get(told[n_told - 1], "transient"));
}

TEST(a_turn_of_several_speakers_is_kept_only_if_all_are_remembered)
{
	static struct room_turn mixed;
	struct scene s;

	CHECK_INT(open_scene(&s), 0);
	mixed = turn;
	mixed.segments = 2;
	mixed.segment[0].user = 501;
	mixed.segment[1].user = 502;
	CHECK(keeps(&s, &mixed));
	forgets = 502;
	CHECK(!keeps(&s, &mixed));
	CHECK(keeps(&s, &turn));
	forgets = 501;
	CHECK(!keeps(&s, &mixed));
	close_scene(&s);
}

TEST(an_answer_is_not_kept_whose_model_was_told_words_of_somebody_not_remembered)
{
	const struct room_message history[] = {
		{.user = 501, .speaker = "alice", .text = "what did bob say"},
		{.bot = true, .speaker = "", .text = "he is not here"},
		{.user = 0, .speaker = "bob", .text = "my code is nine"}}; /* he has left */
	struct room_event bob = {
		.type = ROOM_MEMBER, .user = 502, .yes = true, .text = {(const uint8_t *)"bob", 3}};
	struct room_effect ask = {.type = ROOM_DO_ASK, .turn = 3, .history = history};
	struct scene s;

	CHECK_INT(open_scene(&s), 0);
	turns_event(s.turns, &bob);
	ask.history_n = 3;
	turns_effect(s.turns, &ask);
	CHECK(turns_all_kept(s.turns));
	CHECK(keeps(&s, &turn));
	forgets = 502;
	CHECK(!turns_all_kept(s.turns));
	ask.history_n = 2;
	turns_effect(s.turns, &ask);
	CHECK(keeps(&s, &turn));
	ask.history_n = 3;
	turns_effect(s.turns, &ask);
	CHECK(!keeps(&s, &turn));
	close_scene(&s);
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
	forget_told();
	turns_tell(s->turns, t, TURNS_ENDED);
	return turns_may_keep(s->turns, t);
}

/* Asked with this history, as turn `id` of bob's. */
static bool is_kept_with(struct scene *s, const struct room_message *history, size_t n, uint32_t id)
{
	const struct room_effect ask = {
		.type = ROOM_DO_ASK, .turn = id, .history = history, .history_n = n};
	struct room_turn asked = turn;

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
	struct room_turn first = turn, next = turn;
	struct scene s;

	CHECK_INT(open_scene(&s), 0);
	forgets = 501;
	turns_event(s.turns, &(struct room_event){.type = ROOM_MEMBER,
						  .user = 501,
						  .yes = true,
						  .text = {(const uint8_t *)"alice", 5}});
	hear(&s, 501, 7, "my PIN is 4711");
	first.segments = 1;
	first.segment[0] = (struct room_segment){.user = 501, .utterance = 7};
	/* She agrees while the bot answers. */
	forgets = 0;
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
	close_scene(&s);
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

	CHECK_INT(open_scene(&s), 0);
	type(&s, 503, 60);
	CHECK(turns_all_kept(s.turns));
	forgets = 501;
	type(&s, 501, 70);
	type(&s, 501, 71);
	/* She agrees. */
	forgets = 0;
	type(&s, 501, 90);
	CHECK(!turns_all_kept(s.turns));
	CHECK(!turns_keeps_line(s.turns, &typed[0]));
	CHECK(!turns_keeps_line(s.turns, &typed[1]));
	CHECK(turns_keeps_line(s.turns, &typed[2]));
	CHECK(turns_keeps_line(s.turns, &typed[3]));
	CHECK(!is_kept_with(&s, typed, 4, 5));
	CHECK(is_kept_with(&s, typed + 2, 2, 6));
	close_scene(&s);
}

TEST(messages_of_people_beyond_the_list_of_those_who_typed_are_not_kept)
{
	struct room_message typed = {
		.user = 600, .message = 10, .speaker = "x", .text = "it rains"};
	struct scene s;

	CHECK_INT(open_scene(&s), 0);
	for (uint64_t i = 0; i < 65; i++) {
		forgets = 600 + i;
		type(&s, 600 + i, 10 + i);
	}
	forgets = 0;
	CHECK(!turns_keeps_line(s.turns, &typed));
	typed.message = 11;
	CHECK(turns_keeps_line(s.turns, &typed));
	close_scene(&s);
}

static void set(const char *name, const char *value)
{
	CHECK_INT(settings_set(common, name, value), 0);
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
	struct room_turn first = turn;

	forgets = 501;
	hear(s, 501, 7, "my PIN is 4711");
	first.segments = 1;
	first.segment[0] = (struct room_segment){.user = 501, .utterance = 7};
	CHECK(!is_kept(s, &first));
}

TEST(answers_of_a_voice_that_was_told_words_that_may_not_be_kept_are_not_kept)
{
	struct scene s;

	CHECK_INT(settings_alloc(&common), 0);
	set("reply_path", "native");
	CHECK_INT(open_scene(&s), 0);
	forgets = 501;
	CHECK(is_kept_later(&s, 4));
	hear_alice(&s);
	CHECK(!is_kept_later(&s, 5));
	turns_renewed(s.turns);
	CHECK(is_kept_later(&s, 6));
	/* She writes in the chat of the voice channel. */
	turns_event(s.turns, &(struct room_event){.type = ROOM_TYPED, .user = 501});
	CHECK(!is_kept_later(&s, 7));
	close_scene(&s);
	common = settings_free(common);
}

TEST(answers_from_a_summary_of_words_that_may_not_be_kept_are_not_kept)
{
	struct scene s;

	CHECK_INT(settings_alloc(&common), 0);
	set("reply_path", "brain");
	set("compact_context", "true");
	CHECK_INT(open_scene(&s), 0);
	hear_alice(&s);
	CHECK(!is_kept_later(&s, 5));
	turns_renewed(s.turns);
	CHECK(!is_kept_later(&s, 6));
	close_scene(&s);
	/* Without one a text model is told the lines of the question alone. */
	set("compact_context", "false");
	CHECK_INT(open_scene(&s), 0);
	hear_alice(&s);
	CHECK(is_kept_later(&s, 5));
	close_scene(&s);
	common = settings_free(common);
}

TEST(an_answer_about_the_screen_of_somebody_not_remembered_is_not_kept)
{
	struct room_turn asked = turn;
	struct scene s;

	CHECK_INT(open_scene(&s), 0);
	asked.user = 502;
	forgets = 501;
	CHECK(is_kept(&s, &asked));
	turns_shown(s.turns, asked.id, 502);
	CHECK(is_kept(&s, &asked));
	turns_shown(s.turns, asked.id, 501);
	CHECK(!is_kept(&s, &asked));
	close_scene(&s);
}

TEST(an_answer_that_may_quote_private_facts_is_not_kept)
{
	static struct room_turn private;
	struct scene s;

	CHECK_INT(open_scene(&s), 0);
	private = turn;
	private.told_private = true;
	CHECK(!keeps(&s, &private));
	close_scene(&s);
}

TEST(an_utterance_is_told_with_its_speaker)
{
	struct room_event member = {.type = ROOM_MEMBER,
				    .user = 501,
				    .yes = true,
				    .text = {(const uint8_t *)"alice", 5}},
			  transcript = {.type = ROOM_TRANSCRIPT,
					.user = 501,
					.utterance = 9,
					.text = {(const uint8_t *)"hello there", 11}};
	struct room_effect start = {.type = ROOM_DO_ASR_START, .user = 501, .utterance = 9},
			   commit = {.type = ROOM_DO_ASR_COMMIT, .user = 501, .utterance = 9};
	struct scene s;

	CHECK_INT(open_scene(&s), 0);
	turns_event(s.turns, &member);
	forget_told();
	turns_effect(s.turns, &start);
	turns_effect(s.turns, &commit);
	turns_event(s.turns, &transcript);
	CHECK_INT(n_told, 1);
	CHECK_STR(told_text(0, "event"), "utterance");
	CHECK_STR(told_text(0, "name"), "alice");
	CHECK_STR(told_text(0, "text"), "hello there");
	CHECK_STR(told_text(0, "source"), "realtime-transcription");
	CHECK_STR(told_text(0, "language"), "");
	transcript.language = (struct slice){(const uint8_t *)"de", 2};
	turns_event(s.turns, &transcript);
	CHECK_STR(told_text(1, "language"), "de");
	close_scene(&s);
}

TEST(coming_and_going_of_people_who_may_be_remembered_is_told)
{
	struct room_event alice = {.type = ROOM_MEMBER,
				   .user = 501,
				   .yes = true,
				   .text = {(const uint8_t *)"alice", 5}},
			  other = alice;
	struct scene s;

	CHECK_INT(open_scene(&s), 0);
	forget_told();
	refuses = other.user = 502;
	turns_event(s.turns, &alice);
	turns_event(s.turns, &alice); /* a new name */
	turns_event(s.turns, &other);
	other.user = 503;
	other.is_bot = true;
	turns_event(s.turns, &other);
	alice.yes = false;
	turns_event(s.turns, &alice);
	CHECK_INT(n_told, 2);
	CHECK_STR(told_text(0, "event"), "member");
	CHECK_STR(told_text(0, "user"), "501");
	CHECK_STR(told_text(0, "name"), "alice");
	CHECK(json_is_true(json_object_get(told[0], "there")));
	CHECK(json_is_false(json_object_get(told[1], "there")));
	close_scene(&s);
}

TEST(a_member_who_withdraws_consent_is_told_as_gone)
{
	struct room_event alice = {.type = ROOM_MEMBER,
				   .user = 501,
				   .yes = true,
				   .text = {(const uint8_t *)"alice", 5}};
	struct scene s;

	CHECK_INT(open_scene(&s), 0);
	forget_told();
	refuses = 0;
	turns_event(s.turns, &alice);
	refuses = 501;
	turns_consent(s.turns, 501);
	turns_consent(s.turns, 502); /* nobody here */
	CHECK_INT(n_told, 2);
	CHECK(json_is_false(json_object_get(told[1], "there")));
	alice.yes = false;
	turns_event(s.turns, &alice);
	CHECK_INT(n_told, 2);
	close_scene(&s);
}

TEST(sound_that_never_became_a_turn_is_told_unless_a_turn_held_it)
{
	struct room_effect start = {.type = ROOM_DO_ASR_START, .user = 501, .utterance = 4},
			   cancel = {.type = ROOM_DO_ASR_CANCEL, .user = 501, .utterance = 4};
	struct room_turn held = turn;
	struct room_effect record = {.type = ROOM_DO_RECORD, .record = &held};
	struct scene s;

	held.chunks = 1;
	held.chunk[0].utterance = 5;
	CHECK_INT(open_scene(&s), 0);
	turns_effect(s.turns, &start);
	turns_effect(s.turns, &cancel);
	start.utterance = cancel.utterance = 5;
	turns_effect(s.turns, &start);
	turns_effect(s.turns, &cancel);
	turns_effect(s.turns, &record);
	s.turns = turns_free(s.turns, "shutdown");
	CHECK_INT(n_told, 4); /* session, turn, dropped, session over */
	CHECK_STR(told_text(2, "event"), "speech_dropped");
	CHECK_INT(json_integer_value(json_object_get(told[2], "utterance")), 4);
	CHECK_STR(told_text(3, "event"), "session_over");
	CHECK_STR(told_text(3, "why"), "shutdown");
	close_scene(&s);
}

TEST(a_session_of_speech_to_text_is_told_when_it_opens_and_why_it_closes)
{
	struct room_effect start = {.type = ROOM_DO_ASR_START,
				    .user = 501,
				    .utterance = 4,
				    .opens = true},
			   close = {.type = ROOM_DO_ASR_CLOSE, .user = 501, .text = "idle_ttl"};
	struct scene s;

	CHECK_INT(open_scene(&s), 0);
	turns_effect(s.turns, &start);
	start.opens = false;
	start.utterance = 5;
	turns_effect(s.turns, &start);
	turns_effect(s.turns, &close);
	CHECK_INT(n_told, 3); /* session, opened, closed */
	CHECK_STR(told_text(1, "event"), "asr_session");
	CHECK_STR(told_text(1, "state"), "opened");
	CHECK_STR(told_text(2, "state"), "closed");
	CHECK_STR(told_text(2, "why"), "idle_ttl");
	close_scene(&s);
}

static struct bus_event event_of(const char *stage)
{
	struct bus_event ev = {.type = EVENT_TURN, .guild = 1, .user = 501};

	ev.turn = (struct event_turn){.turn = 3, .stage = stage, .heard = "secret"};
	return ev;
}

TEST(turns_are_lines_of_a_file_that_only_its_owner_reads)
{
	struct bus_event admitted = event_of("admitted"), speaking = event_of("speaking"),
			 ended = event_of("ended");
	char dir[32], path[64], old[80];
	struct stat st;

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/turns", dir);
	snprintf(old, sizeof old, "%s.old", path);
	turns_append(path, &admitted, true);
	turns_append(path, &ended, false);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK(strstr(contents(path), "\"stage\":\"admitted\""));
	CHECK(strstr(text, "}\n{"));
	CHECK(strstr(text, "\"stage\":\"ended\"") && text[strlen(text) - 1] == '\n');
	CHECK(strstr(text, "secret") && !strstr(strstr(text, "}\n{"), "secret"));
	/* One that has grown is put aside. */
	CHECK_INT(truncate(path, 4 << 20), 0);
	turns_append(path, &speaking, true);
	CHECK(strncmp(contents(path), "{\"event\":", 9) == 0);
	CHECK(stat(old, &st) == 0 && st.st_size == 4 << 20);
	/* Somebody else's link is not written through. */
	unlink(path);
	CHECK_INT(symlink(old, path), 0);
	turns_append(path, &ended, true);
	CHECK(stat(old, &st) == 0 && st.st_size == 4 << 20);
	folder_remove(dir);
}
