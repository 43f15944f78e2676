/* `control --why`: what a scene decided, written as control writes it, and told to a person. One
 * changed setting changes the rule that is named. */
#include "control/why.h"

#include "tests/test.h"
#include "tests/unit/ipc/loop.h"

#include "control/room/base/turn.h"
#include "control/room/room.h"
#include "control/settings/settings.h"
#include "control/events/events.h"
#include "control/report/turns.h"
#include "control/store/db.h"
#include "control/store/rows.h"
#include "proto/base/time.h"
#include "tests/room/stage.h"

static struct turns *turns;
static json_t *last; /* line of the turn that ended last */

static void stepped(const struct room_event *ev, uint64_t now, const struct room_effects *fx,
		    void *arg)
{
	(void)ev, (void)now, (void)arg;
	for (size_t i = 0; i < fx->n; i++)
		turns_effect(turns, &fx->v[i]);
}

static void keep(const struct bus_event *ev, void *arg)
{
	(void)arg;
	json_decref(last);
	last = bus_event_json(ev, true);
}

/* A person of two says "charlie what time is it". The text of --why. */
static char *scene(const char *aliases)
{
	struct settings *s = NULL;
	struct stage *stage = NULL;
	struct stage_conf conf = {.name = "Parley", .steppedh = stepped};
	struct turns_conf tc = {.guild = 1};
	char *text = NULL;
	struct bus *bus = NULL;
	struct loop l;

	if (loop_open(&l, NULL) || bus_alloc(&bus) ||
	    bus_subscribe(bus, BUS_MASK(EVENT_TURN), keep, NULL))
		return NULL;
	tc.env = l.env;
	tc.bus = bus;
	if (turns_alloc(&turns, &tc))
		return NULL;
	if (settings_alloc(&s) || settings_set(s, "guest", "off") ||
	    (*aliases && settings_set(s, "aliases", aliases)))
		return NULL;
	conf.settings = s;
	if (stage_alloc(&stage, &conf))
		return NULL;
	stage_join(stage, "bob", false);
	stage_brain_answers(stage, "ten past four", 1000, 400);
	stage_says(stage, stage_join(stage, "alice", false), "charlie what time is it", 1500,
		   STAGE_LOUD);
	stage_run(stage, STAGE_START + 20000 * NS_PER_MS);
	stage_free(stage);
	settings_free(s);
	turns = turns_free(turns, "shutdown");
	bus_free(bus);
	loop_close(&l);
	if (!last || why_text(&text, last))
		text = NULL;
	json_decref(last);
	last = NULL;
	return text;
}

TEST(one_changed_setting_changes_the_named_rule)
{
	char *before = scene(""), *after = scene("charlie");

	CHECK(before && after);
	CHECK(strstr(before, "turn 1 of alice, "));
	CHECK(strstr(before, " UTC: not_addressed ("));
	CHECK(strstr(before, "the bot was not addressed by name\n"));
	CHECK(strstr(after, " UTC: answered ("));
	CHECK(strstr(after, "the bot was addressed by name: admitted\n"));
	free(before);
	free(after);
}

/* A filter whose sentence is the good case is told by what it found, and by what followed. */
TEST(a_decision_is_told_by_what_it_found_and_what_followed)
{
	CHECK_STR(room_decision_text(ROOM_RULE_LOW_CONFIDENCE, false),
		  "speech-to-text has little confidence in the transcript");
	CHECK_STR(room_decision_then(ROOM_RULE_LOW_CONFIDENCE, false), "dropped");
	CHECK_STR(room_decision_then(ROOM_RULE_LOW_CONFIDENCE, true), "");
	CHECK_STR(room_decision_text(ROOM_RULE_CONTROL_TOKENS, true),
		  room_rule_text(ROOM_RULE_CONTROL_TOKENS));
	CHECK_STR(room_decision_then(ROOM_RULE_CONTROL_TOKENS, true), "dropped");
	/* A rule that only tells. */
	CHECK_STR(room_decision_text(ROOM_RULE_ENDPOINTING, false),
		  room_rule_text(ROOM_RULE_ENDPOINTING));
	CHECK_STR(room_decision_then(ROOM_RULE_ENDPOINTING, true), "");
	CHECK_STR(room_decision_then(ROOM_RULE_COUNT, true), "");
	CHECK_STR(room_decision_text(ROOM_RULE_COUNT, true), "?");
}

static json_t *find(const char *dir, struct why_query q)
{
	json_t *list = NULL;

	q.state_dir = dir;
	return why_find(&list, &q) ? NULL : list;
}

static void add_turn(struct db *db, uint64_t guild, uint64_t user, uint32_t turn, uint64_t at_ms)
{
	struct bus_event ev = {.type = EVENT_TURN, .at_ms = at_ms, .guild = guild, .user = user};

	ev.turn = (struct event_turn){
		.session = 5,
		.turn = turn,
		.name = "alice",
		.reason = "not_addressed",
		.first_audio_ms = -1,
		.lasted_ms = 900,
		.segments = "[{\"user\":\"7\",\"name\":\"alice\",\"utterance\":9,\"text\":\"hi\"}]",
		.why = "[{\"rule\":\"direct_address\",\"yes\":false,\"value\":0,\"limit\":1},"
		       "{\"rule\":\"alone_with_speaker\",\"yes\":true,\"value\":1,\"limit\":1},"
		       "{\"rule\":\"bot_turn_open\",\"yes\":true,\"value\":2,\"limit\":0}]"};
	rows_add(db, &ev, true);
}

static void add_merged(struct db *db, uint32_t turn, uint64_t at_ms, const char *why)
{
	struct bus_event ev = {.type = EVENT_TURN, .at_ms = at_ms, .guild = 1, .user = 7};

	ev.turn = (struct event_turn){.session = 5,
				      .turn = turn,
				      .name = "alice",
				      .reason = "merged",
				      .first_audio_ms = -1,
				      .lasted_ms = 900,
				      .segments = "[]",
				      .why = why};
	rows_add(db, &ev, true);
}

static void add_speech(struct db *db, uint64_t user, uint64_t at_ms)
{
	struct bus_event ev = {
		.type = EVENT_SPEECH_DROPPED, .at_ms = at_ms, .guild = 1, .user = user};

	ev.speech = (struct event_speech){.session = 5,
					  .name = "bob",
					  .started_ms = at_ms,
					  .ended_ms = at_ms + 320,
					  .reason = "not_promoted"};
	rows_add(db, &ev, true);
}

/* One that no turn of the speaker covers. */
static void add_transcript(struct db *db, uint64_t at_ms)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE, .at_ms = at_ms, .guild = 1, .user = 7};

	ev.utterance = (struct event_utterance){.session = 5,
						.name = "alice",
						.text = "unheard words",
						.started_ms = at_ms,
						.ended_ms = at_ms + 100};
	rows_add(db, &ev, true);
}

TEST(turns_are_found_by_number_guild_user_and_time)
{
	struct db *db = NULL;
	char dir[32], *text = NULL;
	json_t *list;

	CHECK(folder_make(dir));
	CHECK(!find(dir, (struct why_query){.one = true}));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK(!find(dir, (struct why_query){.one = true}));
	add_turn(db, 1, 7, 3, 1000000);
	add_turn(db, 1, 8, 4, 2000000);
	add_turn(db, 2, 7, 3, 3000000);
	add_speech(db, 9, 2500000);
	add_transcript(db, 2600000);
	add_transcript(db, 999500); /* of the first turn */
	list = find(dir, (struct why_query){.one = true});
	CHECK_INT(json_array_size(list), 1);
	CHECK_INT(json_integer_value(json_object_get(json_array_get(list, 0), "at")), 3000000);
	CHECK_INT(why_text(&text, json_array_get(list, 0)), 0);
	CHECK(strstr(text, "turn 3 of alice, 1970-01-01 00:50:00 UTC: not_addressed ("));
	CHECK(strstr(text, "  heard: hi\n"));
	CHECK(strstr(
		text,
		"direct_address         0, limit 1                   the bot was not addressed by "
		"name\n"));
	CHECK(strstr(text, " 1 person, limit 1 ") && strstr(text, " turn 2 "));
	free(text);
	json_decref(list);
	list = find(dir, (struct why_query){.one = true, .turn = 3, .guild = 1});
	CHECK_INT(json_integer_value(json_object_get(json_array_get(list, 0), "at")), 1000000);
	json_decref(list);
	CHECK(!find(dir, (struct why_query){.one = true, .turn = 5}));
	list = find(dir, (struct why_query){.guild = 1});
	CHECK_INT(json_array_size(list), 4); /* two turns, speech, a transcript; the oldest first */
	CHECK_INT(json_integer_value(json_object_get(json_array_get(list, 0), "at")), 1000000);
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 2), "speech")),
		  "not_promoted");
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 3), "heard")),
		  "unheard words");
	json_decref(list);
	list = find(dir, (struct why_query){.user = 7, .since_ms = 2000000});
	CHECK_INT(json_array_size(list), 2); /* the turn in the other guild, the transcript */
	json_decref(list);
	list = find(dir, (struct why_query){.user = 9});
	CHECK_INT(json_array_size(list), 1);
	json_decref(list);
	db_close(db);
	folder_remove(dir);
}

TEST(a_merged_turn_names_the_one_that_has_its_words)
{
	static const char *const why[] = {
		"[{\"rule\":\"bot_turn_open\",\"yes\":true,\"value\":2,\"limit\":0},"
		"{\"rule\":\"speculative_start\",\"yes\":true,\"value\":6,\"limit\":0},"
		"{\"rule\":\"fits\",\"yes\":false,\"value\":3,\"limit\":0}]",
		"[{\"rule\":\"coalesced\",\"yes\":true,\"value\":6,\"limit\":0},"
		"{\"rule\":\"same_speaker_goes_on\",\"yes\":true,\"value\":8,\"limit\":0},"
		"{\"rule\":\"bot_turn_open\",\"yes\":true,\"value\":7,\"limit\":0}]"};
	struct db *db = NULL;
	char dir[32];

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	for (unsigned i = 0; i < 2; i++) {
		char *text = NULL;
		json_t *list;

		add_merged(db, 11 + i, 1000000, why[i]);
		list = find(dir, (struct why_query){.one = true, .turn = 11 + i});
		CHECK_INT(why_text(&text, json_array_get(list, 0)), 0);
		CHECK(strstr(text, "\n  its words are in turn 6\n"));
		free(text);
		json_decref(list);
	}
	db_close(db);
	folder_remove(dir);
}

static void add_written(struct db *db, uint64_t guild, uint64_t user, uint64_t message,
			uint64_t at_ms)
{
	struct bus_event ev = {
		.type = EVENT_TEXT_MESSAGE, .at_ms = at_ms, .guild = guild, .user = user};

	ev.text = (struct event_text){.channel = 20 + guild,
				      .message = message,
				      .signal = "direct",
				      .attention = "direct_address",
				      .rule = "force_respond",
				      .reply = 3,
				      .reason = "sent_reply",
				      .reaction = "",
				      .lasted_ms = 2140,
				      .llm1_ms = 1800,
				      .followup_ms = -1};
	rows_add(db, &ev, true);
}

static const char *message_of(const json_t *list, size_t i)
{
	return json_string_value(
		json_object_get(json_object_get(json_array_get(list, i), "written"), "message"));
}

TEST(written_messages_are_found_by_id_channel_user_and_time)
{
	const uint64_t first = UINT64_C(1442000000000000001), second = first + 1;
	struct db *db = NULL;
	json_t *list;
	char dir[32];

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	add_written(db, 1, 7, first, 1000000);
	add_turn(db, 1, 8, 4, 2000000);
	add_written(db, 2, 7, second, 3000000);
	list = find(dir, (struct why_query){.one = true});
	CHECK_INT(json_array_size(list), 1);
	CHECK_STR(message_of(list, 0), "1442000000000000002");
	json_decref(list);
	list = find(dir, (struct why_query){.one = true, .message = first});
	CHECK_STR(message_of(list, 0), "1442000000000000001");
	json_decref(list);
	CHECK(!find(dir, (struct why_query){.one = true, .message = first + 5}));
	list = find(dir, (struct why_query){.one = true, .channel = 21});
	CHECK_STR(message_of(list, 0), "1442000000000000001");
	json_decref(list);
	list = find(dir, (struct why_query){.guild = 1});
	CHECK_INT(json_array_size(list), 2); /* with the turn; the oldest first */
	CHECK_STR(message_of(list, 0), "1442000000000000001");
	json_decref(list);
	list = find(dir, (struct why_query){.user = 7, .since_ms = 2000000});
	CHECK_INT(json_array_size(list), 1);
	CHECK_STR(message_of(list, 0), "1442000000000000002");
	json_decref(list);
	list = find(dir, (struct why_query){.one = true, .turn = 4});
	CHECK_INT(json_array_size(list), 1);
	CHECK(!json_object_get(json_array_get(list, 0), "written"));
	json_decref(list);
	db_close(db);
	folder_remove(dir);
}

static void add_message(struct db *db, uint64_t message, bool bot, const char *text)
{
	struct bus_event ev = {.type = EVENT_MESSAGE, .at_ms = 1000000, .guild = 1, .user = 7};

	ev.message = (struct event_message){.channel = 21,
					    .message = message,
					    .change = "written",
					    .name = "alice",
					    .text = text,
					    .bot = bot,
					    .to_bot = !bot,
					    .written_ms = 1000000};
	rows_add(db, &ev, true);
}

TEST(a_written_message_is_told_with_the_words_that_are_kept)
{
	const uint64_t message = UINT64_C(1442000000000000001);
	struct db *db = NULL;
	char dir[32], *text = NULL;
	json_t *list;

	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	add_written(db, 1, 7, message, 1000000);
	add_message(db, message, false, "what time\x1b[2J is it");
	add_message(db, 3, true, "ten past four");
	list = find(dir, (struct why_query){.channel = 21});
	CHECK_INT(why_written_text(&text, json_array_get(list, 0)), 0);
	CHECK(strncmp(text, "message 1442000000000000001 of user 7 (alice) in channel 21, ", 61) ==
	      0);
	CHECK(strstr(text, "\n  wrote:  what time"));
	CHECK(!strchr(text, 0x1b));
	CHECK(strstr(text, "\n  said:   ten past four\n"));
	free(text);
	json_decref(list);
	add_written(db, 1, 7, message + 9, 2000000); /* of which no words are kept */
	list = find(dir, (struct why_query){.one = true, .message = message + 9});
	CHECK_INT(why_written_text(&text, json_array_get(list, 0)), 0);
	CHECK(strncmp(text, "message 1442000000000000010 of user 7 in channel 21, ", 53) == 0);
	CHECK(!strstr(text, "wrote:"));
	free(text);
	json_decref(list);
	db_close(db);
	folder_remove(dir);
}

/* What why_run prints to this stream (1 or 2), and its exit status. */
static int run_why(const struct why_query *q, int stream, char *to, size_t size)
{
	int kept = dup(stream), status;
	FILE *f = tmpfile();
	size_t n = 0;

	fflush(NULL);
	dup2(fileno(f), stream);
	status = why_run(q);
	fflush(NULL);
	dup2(kept, stream);
	close(kept);
	rewind(f);
	n = fread(to, 1, size - 1, f);
	to[n] = '\0';
	fclose(f);
	return status;
}

TEST(why_tells_of_a_message_that_is_owed_and_of_what_is_not_kept)
{
	const uint64_t message = UINT64_C(1442000000000000001);
	struct why_query q = {.one = true, .message = message};
	struct sqlite3_stmt *owed;
	struct db *db = NULL;
	char dir[32], text[2048];

	CHECK(folder_make(dir));
	q.state_dir = dir;
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(run_why(&q, 2, text, sizeof text), 1);
	CHECK(strstr(text, "still waits") != NULL);
	CHECK(strstr(text, "text_blocked_channels") != NULL);
	CHECK(strstr(text, "/consent") != NULL);
	CHECK(strstr(text, "text_chat was off") != NULL);
	owed = db_use(db, DB_SAVE_TAKEN);
	db_bind_text(owed, 1, "[[1442000000000000001,1,21,7,\"waits\",0]]");
	db_bind_uint(owed, 2, 1000000);
	CHECK_INT(db_run(db, owed), 0);
	CHECK_INT(run_why(&q, 1, text, sizeof text), 0);
	CHECK(strncmp(text, "message 1442000000000000001 of user 7 in channel 21", 51) == 0);
	CHECK(strstr(text, "waits (it waits for its answer)") != NULL);
	q.guild = 2;
	CHECK_INT(run_why(&q, 2, text, sizeof text), 1);
	q.guild = 0;
	/* Once it has ended, its event alone tells. */
	add_written(db, 1, 7, message, 1000000);
	CHECK_INT(run_why(&q, 1, text, sizeof text), 0);
	CHECK(strstr(text, "sent_reply") != NULL);
	db_close(db);
	folder_remove(dir);
}

TEST(why_tells_how_a_written_message_was_taken)
{
	json_t *x =
		json_pack("{s:i,s:{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i}}", "at", 1000000,
			  "written", "message", "1442", "user", "501", "channel", "7", "signal",
			  "direct", "attention", "direct_address", "rule", "force_respond",
			  "reason", "sent_reply", "reply", 3, "lasted_ms", 2140, "llm1_ms", 1800);
	char *text = NULL;

	CHECK_INT(why_written_text(&text, x), 0);
	CHECK_STR(text,
		  "message 1442 of user 501 in channel 7, 1970-01-01 00:16:40 UTC: sent_reply "
		  "(answered by a reply)\n"
		  "  signal     direct (a mention of the bot, a reply to it, or a direct message)\n"
		  "  attention  direct_address (addressed)\n"
		  "  rule       force_respond (the signal forces an answer)\n"
		  "  answer 3 after 2140 ms: the model 1800 ms\n");
	free(text);
	/* One that was refused before it was judged. */
	json_object_set_new(json_object_get(x, "written"), "rule", json_string("none"));
	json_object_set_new(json_object_get(x, "written"), "reason", json_string("no_consent"));
	json_object_set_new(json_object_get(x, "written"), "reply", json_integer(0));
	CHECK_INT(why_written_text(&text, x), 0);
	CHECK_STR(text,
		  "message 1442 of user 501 in channel 7, 1970-01-01 00:16:40 UTC: no_consent "
		  "(its author does not want to be read)\n"
		  "  what helps another choice by /consent\n"
		  "  rule       none (it was refused before the rules of admission)\n");
	free(text);
	json_decref(x);
	CHECK_INT(why_written_text(&text, NULL), EBADMSG);
}

/* Names come from Discord, words from people and models: none of them moves the terminal's cursor
 * or writes a line of its own. */
TEST(a_name_or_word_is_one_plain_line_of_why)
{
	json_t *turn = json_pack("{s:i,s:s,s:s,s:s,s:s,s:s,s:[]}", "turn", 3, "name",
				 "al\033]0;x\007ice\n  said:  no", "stage", "ended", "reason",
				 "answered", "heard",
				 "a\xc2\x9b"
				 "2Jb",
				 "said", "c\r\033[1Ad", "why");
	char *text = NULL;

	CHECK_INT(why_text(&text, turn), 0);
	CHECK(!strchr(text, '\033') && !strchr(text, '\007') && !strchr(text, '\r'));
	CHECK(!strstr(text, "\xc2\x9b"));
	CHECK(!strstr(text, "\n  said:  no"));
	free(text);
	json_decref(turn);
}

/* A turn may hold what several people said. */
TEST(speech_of_a_turn_that_somebody_else_began_is_no_lost_speech)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE, .at_ms = 900, .guild = 1, .user = 7};
	struct db *db = NULL;
	json_t *list;
	char dir[32];

	ev.utterance = (struct event_utterance){.session = 5,
						.utterance = 9,
						.name = "alice",
						.text = "hi",
						.started_ms = 800,
						.ended_ms = 900};
	CHECK(folder_make(dir));
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &ev, true), 0);
	add_turn(db, 1, 8, 1, 1000);
	list = find(dir, (struct why_query){.guild = 1});
	CHECK_INT(json_array_size(list), 1);
	CHECK(!json_object_get(json_array_get(list, 0), "speech"));
	json_decref(list);
	db_close(db);
	folder_remove(dir);
}

TEST(the_command_line_of_why_is_read)
{
	struct why_query q = {0};

	CHECK(why_parse_turn(&q, "12") && q.turn == 12 && q.one);
	CHECK(why_parse_turn(&q, "last") && why_parse_turn(&q, ""));
	CHECK(why_parse_turn(&q, "1442000000000000001") && !q.turn &&
	      q.message == UINT64_C(1442000000000000001));
	CHECK(!why_parse_turn(&q, "0") && !why_parse_turn(&q, "x") &&
	      !why_parse_turn(&q, "99999999999"));
	CHECK(why_parse_since(&q, "2h", 10000000) && q.since_ms == 2800000);
	CHECK(why_parse_since(&q, "3d", 1000) && q.since_ms == 1);
	CHECK(!why_parse_since(&q, "2", 1) && !why_parse_since(&q, "h", 1) &&
	      !why_parse_since(&q, "2hh", 1) && !why_parse_since(&q, "2w", 1));
}

TEST(what_is_no_turn_is_refused)
{
	json_t *j = json_pack("{s:s}", "turn", "three");
	char *text = NULL;

	CHECK_INT(why_text(&text, j), EBADMSG);
	json_decref(j);
	CHECK_INT(why_text(&text, NULL), EBADMSG);
}
