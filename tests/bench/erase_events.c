#include "tests/bench/erase_events.h"

#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "control/events/events.h"
#include "control/store/turn_file.h"
#include "tests/bench/bench.h"
#include "tests/bench/erase_corpus.h"

static void publish(const struct erase_corpus *c, struct bus_event *ev)
{
	ev->at_ms = erase_corpus_now(c);
	ev->guild = c->guild;
	bus_publish(c->bus, ev);
	if (ev->type == EVENT_TURN)
		turn_file_append_event(c->turns, ev, true);
}

static void say(struct erase_corpus *c, bool ana)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE, .user = ana ? c->ana : c->bob};
	char text[400];

	erase_corpus_sentence(c, text, sizeof text, ana);
	ev.utterance = (struct event_utterance){.session = ERASE_SESSION,
						.channel = 3,
						.utterance = ++c->utterances,
						.name = ana ? c->word[0] : "bob",
						.text = text,
						.started_ms = erase_corpus_now(c),
						.ended_ms = erase_corpus_now(c) + 900,
						.source = "realtime-transcription",
						.consent = true};
	publish(c, &ev);
}

/* Somebody wrote it, or the bot answered it in writing with Ana's words. */
static void write_message(struct erase_corpus *c, bool ana, bool bot)
{
	struct bus_event ev = {.type = EVENT_MESSAGE, .user = ana ? c->ana : c->bob};
	char text[400];

	erase_corpus_sentence(c, text, sizeof text, ana || bot);
	ev.message = (struct event_message){.channel = 4,
					    .message = 1000 + ++c->utterances,
					    .change = "written",
					    .name = ana ? c->word[0] : "bob",
					    .text = text,
					    .bot = bot,
					    .written_ms = erase_corpus_now(c)};
	publish(c, &ev);
	/* It wrote another text first. */
	ev.message.change = "edited";
	erase_corpus_sentence(c, text, sizeof text, ana || bot);
	if (rand() % 3 == 0)
		publish(c, &ev);
}

/* Lines of the first who spoke stood in the prompt. */
#define TOLD_FIRST_LINES                                                                           \
	"[{\"rule\":\"memory_line\",\"yes\":true,\"value\":1,\"limit\":0},"                        \
	"{\"rule\":\"memory_line\",\"yes\":true,\"value\":2,\"limit\":0},"                         \
	"{\"rule\":\"memory_line\",\"yes\":true,\"value\":3,\"limit\":0}]"

/* In a session without Ana the bot tells Bob what she had said. */
static void answer_elsewhere(struct erase_corpus *c)
{
	struct bus_event ev = {.type = EVENT_TURN, .user = c->bob};
	char text[400];

	erase_corpus_sentence(c, text, sizeof text, true);
	ev.turn = (struct event_turn){.session = ERASE_SESSION + 1,
				      .channel = 3,
				      .turn = ++c->utterances,
				      .stage = "ended",
				      .name = "bob",
				      .reason = "answered",
				      .said = text,
				      .segments = "[]",
				      .why = TOLD_FIRST_LINES};
	publish(c, &ev);
}

/* The bot's answer to Ana or about her, which called a tool that reads the memory, or another. */
static void answer(struct erase_corpus *c, bool ana, bool searches)
{
	struct bus_event ev = {.type = EVENT_TURN, .user = ana ? c->ana : c->bob};
	struct bus_event call = {.type = EVENT_TOOL_CALLED, .user = ev.user};
	char text[400], heard[400], *segments;
	json_t *list;

	erase_corpus_sentence(c, text, sizeof text, true);
	erase_corpus_sentence(c, heard, sizeof heard, ana);
	list = json_pack("[{s:o,s:s,s:I,s:s}]", "user",
			 json_sprintf("%llu", (unsigned long long)ev.user), "name",
			 ana ? c->word[0] : "bob", "utterance", (json_int_t)c->utterances, "text",
			 heard);
	segments = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	ev.turn = (struct event_turn){.session = ERASE_SESSION,
				      .channel = 3,
				      .turn = c->utterances,
				      .stage = "ended",
				      .name = ana ? c->word[0] : "bob",
				      .heard = heard,
				      .reason = "answered",
				      .said = text,
				      .segments = segments,
				      .why = "[]"};
	call.tool = (struct event_tool){.session = ERASE_SESSION,
					.channel = 3,
					.turn = c->utterances,
					.call = c->utterances,
					.name = searches ? "conversation_search" : "roll",
					.code = "ok",
					.arguments = "0",
					.summary = text};
	publish(c, &call);
	/* Bob's turns quote Ana, from the memory or from the conversation. */
	if (!ana) {
		ev.turn.segments = "[]";
		ev.turn.why = TOLD_FIRST_LINES;
	}
	publish(c, &ev);
	free(segments);
}

static void add_others(const struct erase_corpus *c)
{
	struct bus_event command = {.type = EVENT_COMMAND, .user = c->ana};
	struct bus_event context = {.type = EVENT_CONTEXT};
	struct bus_event dropped = {.type = EVENT_SPEECH_DROPPED, .user = c->ana};
	struct bus_event setting = {.type = EVENT_SETTING_CHANGED};
	char text[400], author[32];

	erase_corpus_sentence(c, text, sizeof text, true);
	command.command.kind = "privacy";
	context.context = (struct event_context){
		.session = ERASE_SESSION, .channel = 3, .turn = 1, .told = text};
	dropped.speech = (struct event_speech){.session = ERASE_SESSION,
					       .channel = 3,
					       .name = c->word[0],
					       .started_ms = erase_corpus_now(c),
					       .reason = "not_promoted"};
	publish(c, &command);
	publish(c, &context);
	publish(c, &dropped);
	snprintf(author, sizeof author, "discord:%llu", (unsigned long long)c->ana);
	setting.setting = (struct event_setting){.name = "hold_ms",
						 .effect = "now",
						 .author = author,
						 .source = "settings document"};
	publish(c, &setting);
}

/* She signed in at home, and gave an order; an operator made a link for her to share a screen. */
static void act(const struct erase_corpus *c)
{
	struct bus_event ev = {.type = EVENT_OPERATOR_ACTION};
	char user[24], target[64], via[64];

	snprintf(user, sizeof user, "%llu", (unsigned long long)c->ana);
	snprintf(via, sizeof via, "http from %s", c->word[5]);
	snprintf(target, sizeof target, "server 5 person %s", user);
	ev.action = (struct event_action){
		.actor = user, .via = via, .kind = "sign_in", .target = "session 1"};
	publish(c, &ev);
	ev.action.actor = "session 1 (viewer)";
	ev.action.kind = "say";
	publish(c, &ev);
	ev.action = (struct event_action){
		.actor = "token", .via = "http from x", .kind = "share_link", .target = target};
	publish(c, &ev);
}

void erase_events_fill(struct erase_corpus *c)
{
	for (unsigned i = 0, n = 6 + (unsigned)rand() % 20; i < n; i++) {
		say(c, i < 2 || rand() % 2);
		say(c, false);
		if (i < 2 || rand() % 3 == 0)
			answer(c, i == 0 || (i != 1 && rand() % 2), rand() % 2);
	}
	/* As if the turn file had grown too large. */
	if (rename(c->turns, c->old))
		bench_die("%s", c->turns);
	say(c, true);
	answer(c, true, false);
	answer(c, false, false);
	for (unsigned i = 0, n = 4 + (unsigned)rand() % 8; i < n; i++) {
		write_message(c, i == 0 || rand() % 2, false);
		write_message(c, rand() % 2, i == 1 || rand() % 3 == 0);
	}
	add_others(c);
	answer_elsewhere(c);
	act(c);
}
