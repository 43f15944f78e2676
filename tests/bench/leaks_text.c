/* Leaks of text chat (leaks.h): questions as commands put them, whose whole prompt a model gets
 * that is a server of HTTP here, and calls of tools in a channel. */
#include "tests/bench/leaks.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/text_session/tools_inside.h"
#include "control/tools/builtin/builtins.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "proto/media.h"
#include "tests/bench/bench.h"

enum { BOT = 9, SEATS = (LEAK_SERVERS + 1) * LEAK_PLACES };

static struct text {
	const struct leak_shell *sh;
	struct bus *bus;
	struct http *http;
	struct evhttp *model;
	struct text_session *session;
	struct text_seat seat[SEATS]; /* those of direct messages first */
	struct leak_asker by;	      /* who asks now */
	struct leak_count *prompts;
	bool answered;
	unsigned asked;
	uint64_t message;
	uint32_t turn;
} t;

/* ---- the model ---- */

static void take_prompt(struct evhttp_request *req, void *arg)
{
	static const char answer[] =
		"data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}"
		"\n\ndata: [DONE]\n\n";
	struct evbuffer *in = evhttp_request_get_input_buffer(req), *out = evbuffer_new();
	size_t n = evbuffer_get_length(in);
	char *body = calloc(1, n + 1);

	(void)arg;
	if (!body || !out || evbuffer_remove(in, body, n) != (int)n)
		bench_die("a request came in part");
	leak_judge(t.prompts, body, &t.by);
	t.asked++;
	free(body);
	evbuffer_add(out, answer, sizeof answer - 1);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type",
			  "text/event-stream");
	evhttp_send_reply(req, 200, "OK", out);
	evbuffer_free(out);
}

static void open_model(char url[64])
{
	struct evhttp_bound_socket *s;
	struct sockaddr_in at;
	socklen_t n = sizeof at;

	t.model = evhttp_new(env_base(t.sh->env));
	evhttp_set_gencb(t.model, take_prompt, NULL);
	s = evhttp_bind_socket_with_handle(t.model, "127.0.0.1", 0);
	if (!s || getsockname(evhttp_bound_socket_get_fd(s), (struct sockaddr *)&at, &n))
		bench_die("no port");
	snprintf(url, 64, "http://127.0.0.1:%u/v1", ntohs(at.sin_port));
}

/* ---- the text session ---- */

static const struct settings *settings_of(uint64_t guild, void *arg)
{
	(void)guild;
	(void)arg;
	return t.sh->settings;
}

static void release(uint64_t guild, void *arg)
{
	(void)guild;
	(void)arg;
}

/* As control_remembers, which knows the settings, too. */
static bool remembers(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild;
	(void)arg;
	return leak_may_quote(user);
}

static uint64_t voice_of(uint64_t guild, uint64_t read, void *arg)
{
	(void)guild;
	(void)read;
	(void)arg;
	return LEAK_OPEN;
}

static bool is_open(uint64_t guild, uint64_t read, uint64_t channel, void *arg)
{
	(void)guild;
	(void)read;
	(void)arg;
	return leak_is_open(channel);
}

static uint64_t channel_of(uint64_t guild, uint64_t channel, const char **title, void *arg)
{
	(void)guild;
	(void)arg;
	*title = "";
	return channel == LEAK_THREAD ? LEAK_CLOSED : 0;
}

static bool may_write(uint64_t guild, uint64_t channel, void *arg)
{
	(void)guild;
	(void)channel;
	(void)arg;
	return true;
}

/* ---- tools ---- */

static const char *words_of(uint32_t turn, void *arg)
{
	(void)turn;
	(void)arg;
	return "";
}

static void take_output(const struct tool_output *o, void *arg)
{
	(void)o;
	(void)arg;
}

static void publish(const struct tool_output *o, enum event_type type, uint64_t nano, void *arg)
{
	(void)o;
	(void)type;
	(void)nano;
	(void)arg;
}

static uint64_t spend(uint32_t turn, const char *tool, const struct tool_cost *cost, void *arg)
{
	(void)turn;
	(void)tool;
	(void)cost;
	(void)arg;
	return 0;
}

static void open_seat(struct text_seat *seat, unsigned i)
{
	const struct tool_calls_conf conf = {.env = t.sh->env,
					     .settings = t.sh->settings,
					     .wordsh = words_of,
					     .outputh = take_output,
					     .publishh = publish,
					     .spendh = spend,
					     .arg = seat};
	struct tool_host host;

	seat->g = text_session_open(t.session, i / LEAK_PLACES);
	seat->channel = LEAK_OPEN + i % LEAK_PLACES;
	if (!seat->g)
		bench_die("no server");
	host = text_tool_host(seat);
	BENCH_OK(tool_calls_alloc(&seat->calls, &conf));
	BENCH_OK(builtins_alloc(&seat->builtins, &host));
	BENCH_OK(builtins_add(seat->builtins, tool_calls_registry(seat->calls)));
}

static void close_seat(struct text_seat *seat)
{
	tool_calls_end(seat->calls);
	tool_calls_free(seat->calls);
	builtins_free(seat->builtins);
	text_tool_memory_free(seat);
}

static void ask_tool(struct text_seat *seat, struct leak_count *c)
{
	char call[16], *arguments = leak_arguments(false, t.sh->seed), *output;
	const uint32_t turn = ++t.turn;

	snprintf(call, sizeof call, "c%u", turn);
	tool_calls_feed(seat->calls, &(struct tool_input){.type = TOOL_IN_CALL,
							  .turn = turn,
							  .user = t.by.user,
							  .session = 1,
							  .call = call,
							  .tool = "memory_search",
							  .text = slice_str(arguments)});
	output = leak_output(t.sh->env, tool_calls_run(seat->calls), turn);
	leak_judge(c, output, &t.by);
	tool_calls_feed(seat->calls,
			&(struct tool_input){
				.type = TOOL_IN_END, .turn = turn, .user = t.by.user, .ok = true});
	free(output);
	free(arguments);
}

/* ---- questions ---- */

static void take_answer(const struct text_outcome *answer, void *arg)
{
	(void)arg;
	if (!answer->text)
		bench_die("a question was not answered: %s", answer->reason);
	t.answered = true;
}

static bool is_answered(void *arg)
{
	(void)arg;
	return t.answered;
}

static void ask_model(void)
{
	char words[LEAK_WORDS];
	const struct text_question q = {.guild = t.by.guild,
					.channel = t.by.channel,
					.user = t.by.user,
					.id = ++t.message,
					.name = "Ana",
					.text = words};

	leak_question(words, t.sh->seed);
	t.answered = false;
	text_session_ask(t.session, &q, take_answer, NULL);
	leak_wait(t.sh->env, is_answered, NULL);
}

static void open_text(const struct leak_shell *sh, struct leak_count *prompts)
{
	struct text_session_conf conf = {.env = sh->env,
					 .settings = sh->settings,
					 .store = sh->store,
					 .settingsh = settings_of,
					 .releaseh = release,
					 .remembersh = remembers,
					 .voiceh = voice_of,
					 .openh = is_open,
					 .threadh = channel_of,
					 .writeh = may_write};
	char url[64];

	memset(&t, 0, sizeof t);
	t.sh = sh;
	t.prompts = prompts;
	t.message = 1000;
	open_model(url);
	BENCH_OK(settings_set(sh->settings, "text_url", url));
	BENCH_OK(settings_set(sh->settings, "text_chat", "all"));
	BENCH_OK(bus_alloc(&t.bus));
	BENCH_OK(http_alloc(&t.http, sh->env, NULL, "Tester"));
	conf.bus = t.bus;
	conf.http = t.http;
	BENCH_OK(text_session_alloc(&t.session, &conf));
	text_session_self(t.session, BOT, "Parley");
	for (unsigned i = 0; i < SEATS; i++)
		open_seat(&t.seat[i], i);
}

static void close_text(void)
{
	for (unsigned i = 0; i < SEATS; i++)
		close_seat(&t.seat[i]);
	text_session_free(t.session);
	http_free(t.http);
	evhttp_free(t.model);
	bus_free(t.bus);
}

void leaks_of_text(const struct leak_shell *sh, unsigned questions, struct leak_count *prompts,
		   struct leak_count *tools)
{
	open_text(sh, prompts);
	for (unsigned i = 0; i < questions; i++) {
		struct text_seat *seat = &t.seat[random_below(sh->seed, SEATS)];

		t.by = (struct leak_asker){.guild = seat->g->id,
					   .channel = seat->channel,
					   .user = leak_person(random_below(sh->seed, LEAK_ASKERS)),
					   .alone = !seat->g->id,
					   .written = true};
		ask_model();
		ask_tool(seat, tools);
	}
	if (t.asked != questions)
		bench_die("%u prompts for %u questions", t.asked, questions);
	close_text();
}
