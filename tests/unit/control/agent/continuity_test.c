/* An agent that comes back to a voice channel recalls what was said there last. */
#include "control/agent/continuity.h"

#include <sys/stat.h>

#include "control/memory/slice.h"
#include "control/room/inside.h"
#include "control/store/store.h"
#include "tests/unit/control/agent/agent_scene.h"

enum { BOB = ALICE + 1, HOUR_MS = 3600000 };

static struct store *store;
static bool synced;

static void on_synced(int err, void *arg)
{
	(void)arg;
	CHECK_INT(err, 0);
	synced = true;
}

static bool is_synced(const struct scene *s)
{
	(void)s;
	return synced;
}

static void publish_line(struct scene *s, uint64_t session, uint64_t at, uint64_t user,
			 const char *text)
{
	const struct media_want *where = media_call_want(s->call);
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = at, .guild = where->guild, .user = user};

	ev.utterance = (struct event_utterance){.session = session,
						.channel = where->channel,
						.name = user == BOB ? "Bob" : "Alice",
						.text = text,
						.started_ms = at,
						.ended_ms = at,
						.source = "realtime-transcription",
						.consent = true};
	bus_publish(s->bus, &ev);
}

static void say(struct scene *s, uint64_t user, uint64_t ago_ms, const char *text)
{
	publish_line(s, 1000, env_wall_ms(s->fake.env) - ago_ms, user, text);
}

static void say_in(struct scene *s, uint64_t session, uint64_t user, const char *text)
{
	publish_line(s, session, session, user, text);
}

static bool begin(struct scene *s, char *dir, size_t size)
{
	scene_mute = true;
	if (!scene_begin(s, "off", NULL))
		return false;
	snprintf(dir, size, "%s-store", s->dir);
	if (mkdir(dir, 0700) || store_alloc(&store, s->fake.env, s->bus, s->settings, dir))
		return false;
	s->agent->store = store;
	store_keep_all(store); /* otherwise the words of the day before go after a second */
	say(s, ALICE, 30 * HOUR_MS, "the day before yesterday");
	say(s, ALICE, 2 * HOUR_MS, "tell me about the owls");
	say(s, BOB, HOUR_MS, "not now please");
	synced = false;
	tmr_start(scene_watch, 0);
	return store_sync(store, on_synced, s) == 0 && scene_run(s, is_synced);
}

static void end(struct scene *s, const char *dir)
{
	char rm[64];

	s->agent = agent_free(s->agent);
	store_free(store);
	snprintf(rm, sizeof rm, "rm -rf %s", dir);
	CHECK_INT(system(rm), 0);
	scene_end(s);
}

static void sum_up(const struct scene *s, uint64_t session, uint64_t line, const char *summary)
{
	const struct media_want *where = media_call_want(s->call);
	const struct store_episode e = {.guild = where->guild,
					.session = session,
					.channel = where->channel,
					.line = line,
					.summary = summary};

	CHECK_INT(store_end_episode(store, &e), 0);
}

static void wait_for_store(struct scene *s)
{
	synced = false;
	CHECK_INT(store_sync(store, on_synced, s), 0);
	tmr_start(scene_watch, 0);
	CHECK(scene_run(s, is_synced));
}

static const struct room_history_line *find_line(const struct scene *s, const char *text)
{
	const struct room_history *h = &s->agent->room->history;

	for (unsigned i = 0; i < room_history_count(h); i++)
		if (strcmp(room_history_at(h, i)->text, text) == 0)
			return room_history_at(h, i);
	return NULL;
}

static bool is_recalled(const struct scene *s)
{
	return find_line(s, "tell me about the owls") != NULL;
}

TEST(an_agent_recalls_the_last_lines_of_its_channel)
{
	static struct scene s;
	char dir[48];

	CHECK(begin(&s, dir, sizeof dir));
	s.settings->store_words_hours = 100;
	agent_retrieval_settings(s.agent->retrieval);
	media_call_consent(s.call, BOB, false);
	agent_continue(s.agent);
	tmr_start(scene_watch, 0);
	CHECK(scene_run(&s, is_recalled));
	CHECK_STR(find_line(&s, "tell me about the owls")->name, "Alice");
	CHECK_INT(find_line(&s, "tell me about the owls")->user, ALICE);
	CHECK(!find_line(&s, "the day before yesterday"));
	CHECK(!find_line(&s, "not now please"));
	end(&s, dir);
}

TEST(an_agent_without_memory_in_its_prompts_recalls_nothing)
{
	static struct scene s;
	char dir[48];

	CHECK(begin(&s, dir, sizeof dir));
	s.settings->memory_context = false;
	agent_retrieval_settings(s.agent->retrieval);
	agent_continue(s.agent);
	wait_for_store(&s);
	CHECK(!is_recalled(&s));
	end(&s, dir);
}

static const char *add_summaries(const struct scene *s, const char *question)
{
	static struct memory_slice slice;

	slice = (struct memory_slice){0};
	agent_continuity_add(s->agent->continuity, &slice, question);
	return slice.text;
}

static void publish_session(struct scene *s, uint64_t session, uint64_t ended_ms)
{
	const struct media_want *where = media_call_want(s->call);
	struct bus_event ev = {
		.type = EVENT_SESSION_STARTED, .at_ms = session, .guild = where->guild};

	ev.session.session = session;
	ev.session.channel = where->channel;
	ev.session.why = "";
	bus_publish(s->bus, &ev);
	ev.type = EVENT_SESSION_OVER;
	ev.at_ms = ended_ms;
	bus_publish(s->bus, &ev);
}

/* A session that began and ended so many hours ago, with three summaries: of tomatoes in one
 * session, and of a boat and a plane in the next. */
static bool begin_summaries(struct scene *s, char *dir, size_t size, unsigned began, unsigned ended)
{
	uint64_t now, session;

	if (!begin(s, dir, size))
		return false;
	agent_retrieval_settings(s->agent->retrieval);
	now = env_wall_ms(s->fake.env);
	session = now - began * (uint64_t)HOUR_MS;
	publish_session(s, session, now - ended * (uint64_t)HOUR_MS);
	say_in(s, session - 1, ALICE, "let us plant tomatoes");
	say_in(s, session, BOB, "i bought a boat");
	wait_for_store(s);
	sum_up(s, session - 1, 99, "{\"text\":\"They planted tomatoes.\",\"people\":[\"5\"]}");
	sum_up(s, session, 98, "{\"text\":\"Bob bought a boat.\",\"people\":[\"6\"]}");
	sum_up(s, session, 99, "{\"text\":\"Bob bought a plane.\",\"people\":[\"6\"]}");
	wait_for_store(s);
	agent_continue(s->agent);
	wait_for_store(s);
	return true;
}

TEST(summaries_of_the_last_session_open_a_conversation)
{
	static struct scene s;
	char dir[48];

	CHECK(begin_summaries(&s, dir, sizeof dir, 30, 20));
	/* Bob has not come back yet. */
	CHECK_STR(add_summaries(&s, "how are you"), "");
	CHECK(strstr(add_summaries(&s, "who bought a boat then"), "\"Bob bought a boat.\""));
	agent_member(s.agent, BOB, "Bob", false, true);
	CHECK(strstr(add_summaries(&s, "how are you"), "\"Bob bought a boat.\""));
	CHECK(strstr(add_summaries(&s, "how are you"), "\"Bob bought a plane.\""));
	CHECK(!strstr(add_summaries(&s, "how are you"), "tomatoes"));
	media_call_consent(s.call, BOB, false);
	CHECK_STR(add_summaries(&s, "how are you"), "");
	CHECK(strstr(add_summaries(&s, "who planted the tomatoes"), "\"They planted tomatoes.\""));
	end(&s, dir);
}

TEST(summaries_of_the_last_session_are_told_once)
{
	static struct scene s;
	char dir[48];

	CHECK(begin_summaries(&s, dir, sizeof dir, 30, 20));
	agent_member(s.agent, BOB, "Bob", false, true);
	CHECK(strstr(add_summaries(&s, "how are you"), "\"Bob bought a boat.\""));
	/* A slice without them, and one that nobody heard an answer to. */
	agent_continuity_note_told(
		s.agent->continuity,
		"- Bob, 2026-11-24: \"- summary of an earlier conversation here\"\n");
	s.agent->room->turns.counts[ROOM_REASON_ANSWERED]++;
	CHECK(*add_summaries(&s, "how are you"));
	agent_continuity_note_told(s.agent->continuity, add_summaries(&s, "how are you"));
	CHECK(*add_summaries(&s, "how are you"));
	s.agent->room->turns.counts[ROOM_REASON_INTERRUPTED]++;
	CHECK_STR(add_summaries(&s, "how are you"), "");
	CHECK(strstr(add_summaries(&s, "who planted the tomatoes"), "\"They planted tomatoes.\""));
	/* The bot comes again. */
	agent_continue(s.agent);
	wait_for_store(&s);
	CHECK(*add_summaries(&s, "how are you"));
	end(&s, dir);
}

TEST(a_summary_of_another_session_does_not_stand_for_those_of_the_last_one)
{
	static struct scene s;
	char dir[48];

	CHECK(begin_summaries(&s, dir, sizeof dir, 30, 20));
	agent_continuity_note_told(s.agent->continuity,
				   add_summaries(&s, "who planted the tomatoes"));
	s.agent->room->turns.counts[ROOM_REASON_ANSWERED]++;
	agent_member(s.agent, BOB, "Bob", false, true);
	CHECK(*add_summaries(&s, "how are you"));
	end(&s, dir);
}

TEST(old_summaries_are_told_only_if_they_fit_the_question)
{
	static struct scene s;
	char dir[48];

	CHECK(begin_summaries(&s, dir, sizeof dir, 30, 26));
	CHECK_STR(add_summaries(&s, "how are you"), "");
	CHECK(strstr(add_summaries(&s, "who planted the tomatoes"), "\"They planted tomatoes.\""));
	end(&s, dir);
}

static void on_forgotten(int err, const struct store_document *document, void *arg)
{
	(void)arg;
	CHECK_INT(err, 0);
	CHECK(strstr(document->document, "\"forgotten\":[{") ||
	      strstr(document->document, "\"inserted\""));
}

TEST(a_summary_that_was_forgotten_is_not_told_any_more)
{
	static struct scene s;
	struct store_facts f = {.user = ALICE,
				.name = "Alice",
				.since_ms = 1,
				.request = "[{\"text\":\"my bike is red\"}]"};
	uint64_t session;
	char dir[48];

	CHECK(begin(&s, dir, sizeof dir));
	agent_retrieval_settings(s.agent->retrieval);
	f.guild = media_call_want(s.call)->guild;
	/* Her newest line: the fact rests on it. */
	session = env_wall_ms(s.fake.env) + 1000;
	publish_session(&s, session, session + 1);
	say_in(&s, session, ALICE, "my bike is red");
	wait_for_store(&s);
	CHECK_INT(store_write_facts(store, &f, on_forgotten, NULL), 0);
	sum_up(&s, session, 99, "{\"text\":\"Alice has a red bike.\",\"people\":[\"5\"]}");
	agent_continue(s.agent);
	wait_for_store(&s);
	CHECK(strstr(add_summaries(&s, "how are you"), "red bike"));
	f.request = "{\"words\":\"bike\"}";
	CHECK_INT(store_forget_facts(store, &f, on_forgotten, NULL), 0);
	wait_for_store(&s);
	agent_continuity_renew(s.agent->continuity);
	wait_for_store(&s);
	CHECK_STR(add_summaries(&s, "how are you"), "");
	end(&s, dir);
}

/* ---- what was left unfinished ---- */

/* The bot's answer to this person, which ended so. */
static void answer(struct scene *s, uint64_t user, uint32_t turn, const char *said,
		   const char *reason)
{
	const struct media_want *where = media_call_want(s->call);
	char segments[96];
	struct bus_event ev = {.type = EVENT_TURN,
			       .at_ms = env_wall_ms(s->fake.env) - HOUR_MS / 2,
			       .guild = where->guild,
			       .user = user};

	snprintf(segments, sizeof segments,
		 "[{\"user\":\"%u\",\"name\":\"x\",\"utterance\":1,\"text\":\"so\"}]",
		 (unsigned)user);
	ev.turn = (struct event_turn){.session = 1000,
				      .channel = where->channel,
				      .turn = turn,
				      .stage = "ended",
				      .name = "x",
				      .reason = reason,
				      .text = reason,
				      .heard = "so",
				      .said = said,
				      .segments = segments,
				      .why = "[]"};
	bus_publish(s->bus, &ev);
}

static void come_back(struct scene *s)
{
	agent_retrieval_settings(s->agent->retrieval);
	wait_for_store(s);
	agent_continue(s->agent);
	wait_for_store(s);
}

static const char *add_unfinished(const struct scene *s)
{
	static struct memory_slice slice;

	slice = (struct memory_slice){0};
	agent_continuity_add_unfinished(s->agent->continuity, &slice);
	return slice.text;
}

TEST(an_answer_that_the_end_cut_is_told_once_to_its_person)
{
	static struct scene s;
	const char *text;
	char dir[48];

	CHECK(begin(&s, dir, sizeof dir));
	answer(&s, BOB, 7, "The owl that you asked about", "shutdown");
	come_back(&s);
	CHECK_STR(add_unfinished(&s), ""); /* Alice alone */
	agent_member(s.agent, BOB, "Bob", false, true);
	text = add_unfinished(&s);
	CHECK(strstr(text, "- you to Bob, ") &&
	      strstr(text, "cut off by the end of that conversation: \"The owl that you asked"));
	/* Until people have heard an answer to a question with it. */
	CHECK(*add_unfinished(&s));
	s.agent->room->turns.counts[ROOM_REASON_ANSWERED]++;
	CHECK(*add_unfinished(&s));
	agent_continuity_note_told(s.agent->continuity, "- Bob, 2026-11-24: \"hm\"\n");
	agent_continuity_note_told(s.agent->continuity, text);
	CHECK(*add_unfinished(&s));
	s.agent->room->turns.counts[ROOM_REASON_ANSWERED]++;
	CHECK_STR(add_unfinished(&s), "");
	end(&s, dir);
}

TEST(a_question_without_an_answer_is_told_and_one_with_an_answer_is_not)
{
	static struct scene s;
	char dir[48];

	CHECK(begin(&s, dir, sizeof dir));
	answer(&s, ALICE, 7, "Shall I tell you about the owl?", "answered");
	say(&s, BOB, 60000, "bye");
	come_back(&s);
	CHECK(strstr(add_unfinished(&s),
		     "a question that was not answered: \"Shall I tell you about the owl?\""));
	say(&s, ALICE, 50000, "yes");
	come_back(&s);
	CHECK_STR(add_unfinished(&s), "");
	end(&s, dir);
}

TEST(what_was_finished_or_interrupted_is_not_told_again)
{
	static const char *const reasons[] = {"answered", "interrupted"};
	static struct scene s;
	char dir[48];

	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
		CHECK(begin(&s, dir, sizeof dir));
		answer(&s, ALICE, 7, "The owl sleeps.", reasons[i]);
		come_back(&s);
		CHECK_STR(add_unfinished(&s), "");
		end(&s, dir);
	}
}

TEST(nothing_unfinished_is_told_of_a_person_who_has_refused)
{
	static struct scene s;
	char dir[48];

	CHECK(begin(&s, dir, sizeof dir));
	answer(&s, BOB, 7, "The owl that you asked about", "call_lost");
	come_back(&s);
	agent_member(s.agent, BOB, "Bob", false, true);
	media_call_consent(s.call, BOB, false);
	CHECK_STR(add_unfinished(&s), "");
	end(&s, dir);
}
