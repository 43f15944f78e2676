/* Leaks of voice sessions (leaks.h): agents in all voice channels of all servers, without a
 * mediad. */
#include "tests/bench/leaks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/agent.h"
#include "control/agent/agent_tools_inside.h"
#include "control/agent/inside.h"
#include "control/media/media.h"
#include "control/room/inside.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/ws.h"
#include "tests/bench/bench.h"

enum {
	CHANNELS = LEAK_VOICE_END - LEAK_OPEN,
	SESSIONS = LEAK_SERVERS * CHANNELS,
	BOT = 9,
	SETTLE = 50
};

/* One voice session. */
struct room_of {
	struct media_call *call;
	struct agent *agent;
	uint64_t guild, channel;
	bool present[LEAK_PEOPLE];
};

static struct voice {
	const struct leak_shell *sh;
	struct media *media;
	struct http *http;
	struct ws_ctx *ws;
	struct room_of room[SESSIONS];
	uint32_t turn;
} v;

static bool is_open(uint64_t channel, void *arg)
{
	(void)arg;
	return leak_is_open(channel);
}

static bool is_blocked(uint64_t user, void *arg)
{
	(void)arg;
	return user == leak_person(LEAK_BLOCKED);
}

static bool is_remembered(uint64_t user, void *arg)
{
	(void)arg;
	return user != leak_person(LEAK_WITHDRAWN);
}

static void take_message(struct media_call *call, const struct media_msg *msg, void *arg)
{
	(void)call;
	(void)msg;
	(void)arg;
}

static void want_credentials(struct media_call *call, void *arg)
{
	(void)call;
	(void)arg;
}

static void open_room(struct room_of *r, unsigned i)
{
	const struct media_want want = {.guild = 1 + i / CHANNELS,
					.channel = LEAK_OPEN + i % CHANNELS,
					.bitrate = 64000,
					.consent = true};
	struct agent_conf conf = {.env = v.sh->env,
				  .ws = v.ws,
				  .http = v.http,
				  .settings = v.sh->settings,
				  .store = v.sh->store,
				  .bot_user = BOT,
				  .bot_name = "Parley",
				  .openh = is_open,
				  .blockedh = is_blocked,
				  .remembersh = is_remembered};

	r->guild = want.guild;
	r->channel = want.channel;
	BENCH_OK(media_call_open(&r->call, v.media, &want, take_message, NULL));
	conf.call = r->call;
	BENCH_OK(agent_alloc(&r->agent, &conf));
	agent_continue(r->agent); /* its summaries */
}

/* A text model answers; nothing listens at its address, because nobody is asked. */
static void open_voice(const struct leak_shell *sh)
{
	static const char *const socks[] = {"/nonexistent/parley-leaks", NULL};
	const struct media_conf conf = {
		.socks = socks, .user = BOT, .epoch = 1, .wantsh = want_credentials};

	memset(&v, 0, sizeof v);
	v.sh = sh;
	BENCH_OK(settings_set(sh->settings, "reply_path", "brain"));
	BENCH_OK(settings_set(sh->settings, "text_url", "http://127.0.0.1:9/v1"));
	BENCH_OK(settings_set(sh->settings, "speech_url", "http://127.0.0.1:9/v1"));
	BENCH_OK(ws_ctx_alloc(&v.ws, sh->env, NULL));
	BENCH_OK(http_alloc(&v.http, sh->env, NULL, "Tester"));
	BENCH_OK(media_alloc(&v.media, sh->env, &conf));
	for (unsigned i = 0; i < SESSIONS; i++)
		open_room(&v.room[i], i);
}

static void close_voice(void)
{
	for (unsigned i = 0; i < SESSIONS; i++) {
		agent_free(v.room[i].agent);
		media_call_free(v.room[i].call);
	}
	media_free(v.media);
	http_free(v.http);
	ws_ctx_free(v.ws);
}

/* ---- questions ---- */

static void set_present(struct room_of *r, unsigned p, bool present)
{
	char name[8];

	if (r->present[p] == present)
		return;
	r->present[p] = present;
	snprintf(name, sizeof name, "Ana%u", p);
	agent_member(r->agent, leak_person(p), name, false, present);
}

/* Those who come do so before the others go: nobody is to be alone in between. */
static void gather(struct room_of *r, const bool wanted[LEAK_PEOPLE])
{
	for (unsigned p = 0; p < LEAK_PEOPLE; p++)
		if (wanted[p])
			set_present(r, p, true);
	for (unsigned p = 0; p < LEAK_PEOPLE; p++)
		if (!wanted[p])
			set_present(r, p, false);
}

static struct leak_asker choose_asker(struct room_of *r, bool alone)
{
	unsigned p = random_below(v.sh->seed, LEAK_ASKERS);
	bool wanted[LEAK_PEOPLE] = {0};

	wanted[p] = true;
	if (!alone)
		wanted[(p + 1) % LEAK_ASKERS] = true;
	gather(r, wanted);
	return (struct leak_asker){
		.guild = r->guild, .channel = r->channel, .user = leak_person(p), .alone = alone};
}

static bool is_retrieved(void *arg)
{
	const struct room_of *r = arg;

	return r->agent->room->retrieval.ready;
}

/* The slice of the memory for a question, which the prompt of the answer holds. */
static const char *retrieve(struct room_of *r, uint64_t user, const char *words)
{
	struct room_retrieval *got = &r->agent->room->retrieval;
	const struct room_effect e = {
		.type = ROOM_DO_RETRIEVE, .user = user, .chunk = ++got->number, .text = words};

	got->ready = false;
	got->items = 0;
	got->slice[0] = '\0';
	agent_perform(r->agent, &e);
	leak_wait(v.sh->env, is_retrieved, r);
	return got->slice;
}

static void ask_tool(struct room_of *r, const struct leak_asker *by, bool lines,
		     struct leak_count *c)
{
	struct agent_tools *t = r->agent->tools;
	char call[16], *arguments = leak_arguments(lines, v.sh->seed), *output;
	const uint32_t turn = ++v.turn;

	snprintf(call, sizeof call, "c%u", turn);
	agent_tools_feed(
		t, &(struct tool_input){.type = TOOL_IN_CALL,
					.turn = turn,
					.user = by->user,
					.session = 1,
					.call = call,
					.tool = lines ? "conversation_search" : "memory_search",
					.text = slice_str(arguments)});
	output = leak_output(v.sh->env, t->run, turn);
	leak_judge(c, output, by);
	agent_tools_feed(t,
			 &(struct tool_input){
				 .type = TOOL_IN_END, .turn = turn, .user = by->user, .ok = true});
	free(output);
	free(arguments);
}

static bool has_settled(void *arg)
{
	unsigned *left = arg;

	return (*left)-- == 0;
}

void leaks_of_voice(const struct leak_shell *sh, unsigned questions, struct leak_count *prompts,
		    struct leak_count *tools)
{
	unsigned left = SETTLE;

	open_voice(sh);
	leak_wait(sh->env, has_settled, &left);
	for (unsigned i = 0; i < questions; i++) {
		struct room_of *r = &v.room[random_below(sh->seed, SESSIONS)];
		struct leak_asker by = choose_asker(r, i % 2);
		char words[LEAK_WORDS];

		leak_question(words, sh->seed);
		leak_judge(prompts, retrieve(r, by.user, words), &by);
		ask_tool(r, &by, i / 2 % 2, tools);
	}
	close_voice();
}
