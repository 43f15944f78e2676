/* Searching what was said (store_find_said). */
#include <sqlite3.h>

#include "control/memory/time_cue.h"
#include "tests/unit/control/memory/embed/embedder_file.h"
#include "tests/unit/control/store/store_scene.h"

static struct store_scene *const s = &store_scene;

static char found[256];

/* Each line as NAME/USER+ASKERS"QUOTED@TIME:TEXT, and the lines beside it in brackets. */
static void print_lines(json_t *lines)
{
	json_t *line, *near, *asker;
	size_t i, k, n;
	char askers[64];

	json_array_foreach(lines, i, line)
	{
		askers[0] = '\0';
		json_array_foreach(json_object_get(line, "askers"), k, asker)
		{
			n = strlen(askers);
			snprintf(askers + n, sizeof askers - n, "+%s", json_string_value(asker));
		}
		json_array_foreach(json_object_get(line, "quoted"), k, asker)
		{
			n = strlen(askers);
			snprintf(askers + n, sizeof askers - n, "\"%s", json_string_value(asker));
		}
		n = strlen(found);
		snprintf(found + n, sizeof found - n, "%s%s/%s%s@%lld:%s ",
			 json_is_true(json_object_get(line, "other_time")) ? "!" : "",
			 json_is_true(json_object_get(line, "bot"))
				 ? "bot"
				 : json_string_value(json_object_get(line, "name")),
			 json_string_value(json_object_get(line, "user")), askers,
			 json_integer_value(json_object_get(line, "at_ms")) -
				 (long long)store_scene_ms(0),
			 json_string_value(json_object_get(line, "text")));
		near = json_object_get(line, "near");
		if (json_array_size(near)) {
			strcat(found, "[");
			print_lines(near);
			strcat(found, "] ");
		}
	}
}

static void on_found(int err, const struct store_document *document, void *arg)
{
	json_t *lines = json_loads(document->document, 0, NULL);

	(void)arg;
	s->err = err;
	found[0] = '\0';
	print_lines(lines);
	json_decref(lines);
	env_stop(s->l.env);
}

static unsigned count_encoders(void)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *q = NULL;
	unsigned n = 99;

	if (sqlite3_open(s->path, &db) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, "SELECT count(*) FROM embedding_models", -1, &q, NULL) ==
		    SQLITE_OK &&
	    sqlite3_step(q) == SQLITE_ROW)
		n = (unsigned)sqlite3_column_int(q, 0);
	sqlite3_finalize(q);
	sqlite3_close(db);
	return n;
}

static const char *find_said(struct store_said what)
{
	struct time_window when;

	what.guild = 7;
	if (what.when) {
		when = (struct time_window){store_scene_ms(what.when->since_ms),
					    store_scene_ms(what.when->until_ms), what.when->loose};
		what.when = &when;
	}
	what.channel = 300;
	if (what.since_ms && what.since_ms != UINT64_MAX)
		what.since_ms = store_scene_ms(what.since_ms);
	if (what.until_ms)
		what.until_ms = store_scene_ms(what.until_ms);
	if (store_find_said(s->store, &what, on_found, NULL) || !loop_run(&s->l))
		return "not asked";
	return found;
}

static void say(uint64_t channel, uint64_t user, const char *name, const char *text, uint64_t ms)
{
	uint64_t at_ms = store_scene_ms(ms);

	bus_publish(s->bus, &(struct bus_event){.type = EVENT_UTTERANCE,
						.at_ms = at_ms,
						.guild = 7,
						.user = user,
						.utterance = {.session = 900,
							      .channel = channel,
							      .name = name,
							      .text = text,
							      .started_ms = at_ms}});
}

static void answer(uint64_t user, const char *text, uint64_t ms)
{
	bus_publish(s->bus,
		    &(struct bus_event){
			    .type = EVENT_TURN,
			    .at_ms = store_scene_ms(ms),
			    .guild = 7,
			    .user = user,
			    .turn = {.session = 900, .channel = 300, .turn = 1, .said = text}});
}

/* An answer of a later session; turn: what tells whom it may quote, and what was said. */
static void answer_why(uint64_t user, struct event_turn turn, uint64_t ms)
{
	turn.session = 950;
	turn.channel = 300;
	turn.turn = 1;
	turn.segments = "[]";
	bus_publish(s->bus, &(struct bus_event){.type = EVENT_TURN,
						.at_ms = store_scene_ms(ms),
						.guild = 7,
						.user = user,
						.turn = turn});
}

static void open_scene(void)
{
	store_scene_begin();
	store_scene_open(NULL);
}

static void close_scene(void)
{
	store_scene_close();
	store_scene_end();
}

TEST(lines_are_found_by_speaker_words_and_age)
{
	open_scene();
	say(300, 4, "Ana", "the bridge opens at nine", 1000000);
	say(300, 5, "Bob", "what about the Bridges", 2000000);
	say(300, 4, "Ana", "bring a lamp", 3000000);
	CHECK_STR(
		find_said((struct store_said){.name = "ana", .words = "", .most = 5}),
		"Ana/4@3000000:bring a lamp [Bob/5@2000000:what about the Bridges ] "
		"Ana/4@1000000:the bridge opens at nine [Bob/5@2000000:what about the Bridges ] ");
	CHECK(strncmp(find_said((struct store_said){
			      .name = "", .words = "did Bob say something of a bridge", .most = 1}),
		      "Bob/5@2000000:", 14) == 0);
	CHECK_STR(find_said((struct store_said){
			  .name = "ana", .words = "bridge", .since_ms = 1000001, .most = 5}),
		  "");
	CHECK_STR(find_said((struct store_said){
			  .name = "", .words = "bridge", .until_ms = 1000000, .most = 5}),
		  "");
	CHECK_STR(find_said((struct store_said){
			  .name = "ana", .words = "", .since_ms = UINT64_MAX, .most = 5}),
		  "");
	close_scene();
}

/* "Nothing was said of it then" and what was said of it at other times are two answers. */
TEST(lines_of_other_times_are_told_as_such_if_there_are_none_of_the_one_asked_about)
{
	const struct time_window then = {3000000, 4000000, false}, loose = {1, 2000000, true},
				 none = {5000000, 6000000, false}, before = {1, 2000000, false};

	open_scene();
	say(300, 4, "Ana", "the ferry leaves at nine", 1000000);
	say(300, 5, "Bob", "the ferry was late", 3000000);
	CHECK_STR(find_said((struct store_said){
			  .name = "", .words = "ferry", .most = 5, .when = &then}),
		  "Bob/5@3000000:the ferry was late ");
	CHECK(strncmp(find_said((struct store_said){
			      .name = "", .words = "ferry", .most = 5, .when = &none}),
		      "!", 1) == 0);
	CHECK(strstr(found, "!Bob/5@3000000") && strstr(found, "!Ana/4@1000000"));
	/* Nor does it reach behind what may be found at all. */
	CHECK_STR(find_said((struct store_said){.name = "",
						.words = "ferry",
						.most = 5,
						.since_ms = 3500000,
						.when = &before}),
		  "");
	CHECK(strncmp(find_said((struct store_said){
			      .name = "Ana", .words = "", .most = 5, .when = &none}),
		      "!Ana/4@1000000", 14) == 0);
	/* A loose time is worth something, and excludes nothing. */
	CHECK(strncmp(find_said((struct store_said){
			      .name = "", .words = "ferry", .most = 5, .when = &loose}),
		      "Ana/4@1000000", 13) == 0);
	CHECK(strstr(found, "Bob/5@3000000") && !strchr(found, '!'));
	close_scene();
}

/* An answer rarely has the words of its question. */
TEST(an_answer_is_found_by_its_question)
{
	open_scene();
	say(300, 5, "Bob", "when will the ferry leave", 1000000);
	say(300, 4, "Ana", "at half past six", 1002000);
	say(300, 5, "Bob", "thanks a lot", 9000000);
	CHECK_STR(find_said((struct store_said){.name = "", .words = "ferry time", .most = 2}),
		  "Bob/5@1000000:when will the ferry leave [Ana/4@1002000:at half past six ] "
		  "Ana/4@1002000:at half past six [Bob/5@1000000:when will the ferry leave "
		  "Bob/5@9000000:thanks a lot ] ");
	close_scene();
}

TEST(the_bots_words_stand_in_the_timeline)
{
	open_scene();
	say(300, 4, "Ana", "how old is the castle", 1000);
	answer(4, "Nine centuries", 2000);
	CHECK_STR(find_said((struct store_said){.name = "", .words = "centuries", .most = 1}),
		  "bot/4@2000:Nine centuries [Ana/4@1000:how old is the castle ] ");
	CHECK_STR(find_said((struct store_said){.name = "Ana", .words = "", .most = 5}),
		  "Ana/4@1000:how old is the castle [bot/4@2000:Nine centuries ] ");
	close_scene();
}

TEST(the_bots_lines_are_found_by_their_speaker)
{
	open_scene();
	say(300, 4, "Ana", "will you roll for the castle", 1000);
	answer(4, "I promise to roll for the castle", 2000);
	CHECK_STR(find_said((struct store_said){.name = "you", .words = "castle", .most = 5}), "");
	CHECK_STR(find_said((struct store_said){
			  .name = "you", .bot = true, .words = "castle", .most = 5}),
		  "bot/4@2000:I promise to roll for the castle "
		  "[Ana/4@1000:will you roll for the castle ] ");
	CHECK_STR(find_said((struct store_said){.name = "", .bot = true, .words = "", .most = 5}),
		  "bot/4@2000:I promise to roll for the castle "
		  "[Ana/4@1000:will you roll for the castle ] ");
	close_scene();
}

TEST(words_that_no_blanks_part_are_found)
{
	open_scene();
	say(300, 4, "Ana", "会議は明日の四時です", 1000);
	say(300, 5, "Min", "회의가 네 시로 바뀌었어요", 2000000);
	say(300, 6, "Li", "我们明天去北京开会", 4000000);
	CHECK_STR(
		find_said((struct store_said){.name = "", .words = "会議はいつですか", .most = 1}),
		"Ana/4@1000:会議は明日の四時です [Min/5@2000000:회의가 네 시로 바뀌었어요 ] ");
	CHECK(strncmp(find_said((struct store_said){.name = "", .words = "회의는 언제", .most = 1}),
		      "Min/", 4) == 0);
	CHECK(strncmp(find_said((struct store_said){.name = "", .words = "北京", .most = 1}), "Li/",
		      3) == 0);
	close_scene();
}

/* Whoever asks in this channel may not be allowed to see the other one. */
TEST(what_was_said_in_another_channel_is_not_found)
{
	open_scene();
	say(300, 4, "Ana", "here", 1000);
	say(301, 4, "Ana", "elsewhere", 2001);
	say(0, 4, "Ana", "nobody knows where", 3001);
	CHECK_STR(find_said((struct store_said){.name = "", .words = "", .most = 5}),
		  "Ana/4@1000:here ");
	close_scene();
}

/* Whoever may not be told of one of them may not be told of the answer. */
TEST(an_answer_to_several_names_each_of_them)
{
	static const char both[] =
		"[{\"user\":\"4\",\"name\":\"Ana\",\"utterance\":1,\"text\":\"a\"},"
		"{\"user\":\"5\",\"name\":\"Bob\",\"utterance\":2,\"text\":\"b\"}]";

	open_scene();
	bus_publish(s->bus, &(struct bus_event){.type = EVENT_TURN,
						.at_ms = store_scene_ms(2000),
						.guild = 7,
						.user = 4,
						.turn = {.session = 900,
							 .channel = 300,
							 .turn = 1,
							 .segments = both,
							 .said = "Bob hides the lamp"}});
	CHECK_STR(find_said((struct store_said){.name = "", .words = "lamp", .most = 1}),
		  "bot/4+4+5@2000:Bob hides the lamp ");
	close_scene();
}

/* The work of the vectors, which begins by noting the encoder, waits for another job. */
/* Nor whoever may not be told of people whose words its prompt quoted. */
TEST(an_answer_names_the_people_whom_it_may_quote)
{
	static const char why[] =
		"[{\"rule\":\"memory\",\"yes\":true,\"value\":2,\"limit\":40},"
		"{\"rule\":\"memory_line\",\"yes\":true,\"value\":1,\"limit\":0},"
		"{\"rule\":\"memory_line\",\"yes\":true,\"value\":77,\"limit\":0}]";

	open_scene();
	say(300, 6, "Eve", "my lantern is green", 1000);
	answer_why(4, (struct event_turn){.why = why, .said = "Eve has a green lamp"}, 900000);
	CHECK_STR(find_said((struct store_said){.name = "", .words = "lamp", .most = 1}),
		  "bot/4\"6@900000:Eve has a green lamp [Eve/6@1000:my lantern is green ] ");
	close_scene();
}

/* Nor of those of whom a tool told its model: their words stood in no prompt. */
TEST(a_spoken_answer_names_the_people_of_whom_a_tool_told)
{
	open_scene();
	answer_why(4,
		   (struct event_turn){
			   .why = "[]", .told = "[\"6\",\"77\"]", .said = "Eve has a green lamp"},
		   900000);
	CHECK_STR(find_said((struct store_said){.name = "", .words = "lamp", .most = 1}),
		  "bot/4\"6\"77@900000:Eve has a green lamp ");
	close_scene();
}

/* The setting for people who have not answered allowed it, and does not any more: no change of
 * theirs is noted. Whether they are remembered now is for who tells the line. */
TEST(an_answer_names_those_who_were_remembered_when_they_spoke_before_it)
{
	struct bus_event eve = {
		.type = EVENT_UTTERANCE, .at_ms = store_scene_ms(800000), .guild = 7, .user = 6};

	open_scene();
	eve.utterance = (struct event_utterance){.session = 950,
						 .channel = 300,
						 .utterance = 70,
						 .name = "Eve",
						 .text = "my flat has a lantern",
						 .started_ms = store_scene_ms(800000),
						 .source = "realtime-transcription",
						 .consent = true};
	bus_publish(s->bus, &eve);
	answer_why(4, (struct event_turn){.why = "[]", .said = "there is a zither"}, 810000);
	CHECK_STR(find_said((struct store_said){.name = "", .words = "zither", .most = 1}),
		  "bot/4\"6@810000:there is a zither [Eve/6@800000:my flat has a lantern ] ");
	close_scene();
}

static void write_answer(const char *text, uint64_t message, uint64_t ms)
{
	uint64_t at_ms = store_scene_ms(ms);

	bus_publish(s->bus, &(struct bus_event){.type = EVENT_MESSAGE,
						.at_ms = at_ms,
						.guild = 7,
						.user = 5,
						.message = {.channel = 300,
							    .message = message,
							    .change = "written",
							    .text = text,
							    .written_ms = at_ms,
							    .bot = true}});
}

static void on_done(int err, void *arg)
{
	(void)arg;
	s->err = err;
	env_stop(s->l.env);
}

/* Now, which is an hour after the scene's words. */
static void answer_consent(uint64_t user, const char *before, const char *after)
{
	const struct store_consent change = {
		.guild = 7, .user = user, .before = before, .after = after, .via = "/consent"};

	CHECK_INT(store_put_consent(s->store, &change, on_done, NULL), 0);
	loop_run(&s->l);
	CHECK_INT(s->err, 0);
}

/* Whoever takes back that they are remembered may be quoted by any answer in writing from before.
 */
TEST(a_written_answer_names_those_who_withdrew_since)
{
	open_scene();
	write_answer("Ana keeps a lamp in the cellar", 50, 1000);
	CHECK_STR(find_said((struct store_said){.name = "", .words = "lamp", .most = 1}),
		  "bot/5@1000:Ana keeps a lamp in the cellar ");
	answer_consent(4, "default", "heard");
	answer_consent(4, "heard", "remembered");
	CHECK_STR(find_said((struct store_said){.name = "", .words = "lamp", .most = 1}),
		  "bot/5@1000:Ana keeps a lamp in the cellar ");
	answer_consent(4, "remembered", "heard");
	CHECK_STR(find_said((struct store_said){.name = "", .words = "lamp", .most = 1}),
		  "bot/5\"4@1000:Ana keeps a lamp in the cellar ");
	/* One from after that does not. */
	write_answer("nobody knows of a torch", 51, 3600000 + 900000);
	CHECK_STR(find_said((struct store_said){.name = "", .words = "torch", .most = 1}),
		  "bot/5@4500000:nobody knows of a torch [bot/5\"4@1000:Ana keeps a lamp in the "
		  "cellar ] ");
	close_scene();
}

/* An answer that was spoken: those who spoke in the session, and, if it read the memory, anybody.
 */
TEST(a_spoken_answer_names_those_of_its_session_who_withdrew_since)
{
	static const char why[] =
		"[{\"rule\":\"memory_summary\",\"yes\":true,\"value\":2,\"limit\":40}]";

	open_scene();
	say(300, 4, "Ana", "my operation is on friday", 1000);
	answer(5, "on friday, says Ana", 2000);
	answer_why(5, (struct event_turn){.why = why, .said = "the hospital is far"}, 900000);
	answer_consent(8, "remembered", "neither");
	CHECK_STR(find_said((struct store_said){.name = "", .words = "friday", .most = 1}),
		  "bot/5@2000:on friday, says Ana [Ana/4@1000:my operation is on friday "
		  "bot/5\"8@900000:the hospital is far ] ");
	CHECK_STR(find_said((struct store_said){.name = "", .words = "hospital", .most = 1}),
		  "bot/5\"8@900000:the hospital is far [bot/5@2000:on friday, says Ana ] ");
	answer_consent(4, "remembered", "neither");
	CHECK_STR(find_said((struct store_said){.name = "", .words = "friday", .most = 1}),
		  "bot/5\"4@2000:on friday, says Ana [Ana/4@1000:my operation is on friday "
		  "bot/5\"4\"8@900000:the hospital is far ] ");
	close_scene();
}

TEST(a_prompt_waits_for_no_vectors)
{
	char path[64];

	store_scene_begin();
	snprintf(path, sizeof path, "%.31s/encoder", s->dir);
	CHECK(embedder_file_write(path));
	CHECK_INT(settings_set(s->settings, "memory_embedder", path), 0);
	store_scene_open(NULL);
	CHECK_STR(find_said((struct store_said){
			  .name = "", .words = "a cab", .most = 1, .wait_ms = 30}),
		  "");
	CHECK_INT(count_encoders(), 0);
	CHECK_STR(find_said((struct store_said){.name = "", .words = "a cab", .most = 1}), "");
	CHECK_INT(count_encoders(), 1);
	close_scene();
}

TEST(lines_of_somebody_called_an_everyday_word_do_not_come_first)
{
	open_scene();
	say(300, 4, "Ana", "the release is on tuesday at nine", 1000000);
	say(300, 9, "what", "bananas at the release", 20000000);
	find_said((struct store_said){
		.name = "", .words = "what is the day of the release on tuesday", .most = 1});
	CHECK(strncmp(found, "Ana", 3) == 0);
	close_scene();
}

/* By id, a person's lines are found under all their names, and those of namesakes are not. */
TEST(lines_are_found_by_the_id_of_their_speaker)
{
	open_scene();
	say(300, 4, "Ana", "the cake is ready", 1000000);
	say(300, 5, "Ana", "the cake is burnt", 2000000);
	say(300, 4, "Anita", "cake for everybody", 3000000);
	CHECK_STR(find_said((struct store_said){
			  .user = 4, .name = "Ana", .words = "cake", .most = 5}),
		  "Anita/4@3000000:cake for everybody [Ana/5@2000000:the cake is burnt ] "
		  "Ana/4@1000000:the cake is ready [Ana/5@2000000:the cake is burnt ] ");
	CHECK_STR(find_said((struct store_said){.user = 5, .name = "", .words = "", .most = 5}),
		  "Ana/5@2000000:the cake is burnt [Ana/4@1000000:the cake is ready "
		  "Anita/4@3000000:cake for everybody ] ");
	CHECK_STR(find_said((struct store_said){
			  .user = 6, .name = "Ana", .words = "cake", .most = 5}),
		  "");
	close_scene();
}

/* The first line that is found about the cake. */
static const char *first_about_cake(const char *question, const char *people)
{
	find_said((struct store_said){.name = "", .words = question, .people = people, .most = 1});
	return found;
}

/* A question means people, whatever name their lines have. */
TEST(lines_of_the_people_whom_a_question_names_come_first)
{
	open_scene();
	say(300, 4, "Ana", "the cake is ready", 1000000);
	say(300, 5, "Bob", "the cake is burnt", 20000000);
	say(300, 6, "Mary Ann", "cake for everybody", 40000000);
	say(300, 4, "Zoe", "good evening", 60000000);
	CHECK(strncmp(first_about_cake("what about the cake", NULL), "Mary Ann/6", 10) == 0);
	CHECK(strncmp(first_about_cake("what did Ana say about the cake", NULL), "Ana/4", 5) == 0);
	/* Her later name, which is not that of the line. */
	CHECK(strncmp(first_about_cake("what did Zoe say about the cake", NULL), "Ana/4", 5) == 0);
	/* A name that no line has. */
	CHECK(strncmp(first_about_cake("what did Robert say about the cake", "{\"Robert\":\"5\"}"),
		      "Bob/5", 5) == 0);
	/* The one who is called Ana now. */
	CHECK(strncmp(first_about_cake("what did Ana say about the cake", "{\"ana\":\"5\"}"),
		      "Bob/5", 5) == 0);
	CHECK(strncmp(first_about_cake("Mary asks: what did Mary Ann say about the cake", NULL),
		      "Mary Ann/6", 10) == 0);
	close_scene();
}

/* Ana is away, and only the name is known that she had once. */
TEST(lines_of_an_absent_person_are_found_under_all_names_that_they_had)
{
	open_scene();
	say(300, 4, "Ana", "the bridge opens at nine", 1000000);
	say(300, 4, "Anita", "the bridge closes at ten", 2000000);
	say(300, 5, "Bob", "the bridge is old", 3000000);
	CHECK_STR(
		find_said((struct store_said){.name = "ana", .words = "", .most = 1}),
		"Anita/4@2000000:the bridge closes at ten [Ana/4@1000000:the bridge opens at nine "
		"Bob/5@3000000:the bridge is old ] ");
	CHECK(strncmp(find_said((struct store_said){
			      .name = "Anita", .words = "when does the bridge open", .most = 2}),
		      "Ana/4@1000000:", 14) == 0);
	CHECK_STR(find_said((struct store_said){.name = "Eve", .words = "", .most = 1}), "");
	/* Another one had the name, too: nobody knows who is meant. */
	say(300, 6, "Ana", "the bridge is green", 4000000);
	CHECK_STR(find_said((struct store_said){.name = "ana", .words = "", .most = 1}),
		  "Ana/6@4000000:the bridge is green [Bob/5@3000000:the bridge is old ] ");
	CHECK_STR(find_said((struct store_said){
			  .name = "ana", .words = "", .until_ms = 3500000, .most = 1}),
		  "Ana/4@1000000:the bridge opens at nine [Anita/4@2000000:the bridge closes at "
		  "ten ] ");
	close_scene();
}
