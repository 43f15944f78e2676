/* The main gateway's messages: lines of an input are fed to the machine as texts, with what else
 * can happen in between, and what it dispatches goes on to everything that reads events. */
#include <stdlib.h>
#include <string.h>

#include "control/discord/commands.h"
#include "control/discord/gateway_machine.h"
#include "control/discord/guilds.h"
#include "control/discord/voice.h"
#include "proto/base/time.h"
#include "proto/discord.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct all {
	struct gateway_machine *m;
	struct guilds *g;
	struct voice *v;
	uint64_t now;
};

static void on_voice(const struct voice_act *act, void *arg)
{
	(void)act;
	(void)arg;
}

static enum voice_reason on_predict(uint64_t channel, void *arg)
{
	(void)channel;
	(void)arg;
	return VOICE_REASON_NONE;
}

static void on_act(const struct gateway_act *act, void *arg)
{
	struct all *a = arg;
	struct guild_voice own;
	struct command cmd;
	uint64_t bits;

	if (act->type != GATEWAY_ACT_DISPATCH)
		return;
	guilds_event(a->g, act->text, act->d);
	guilds_permissions(a->g, 100, 301, 900, &bits);
	guilds_occupants(a->g, 100, 301);
	command_parse(act->d, &cmd);
	if (strcmp(act->text, "VOICE_SERVER_UPDATE") == 0)
		voice_server(a->v, json_string_value(json_object_get(act->d, "token")),
			     json_string_value(json_object_get(act->d, "endpoint")), a->now);
	if (strcmp(act->text, "VOICE_STATE_UPDATE") == 0)
		voice_own_state(a->v, guilds_voice(a->g, 100, 900, &own) ? own.channel : 0,
				json_string_value(json_object_get(act->d, "session_id")), a->now);
	if (strcmp(act->text, "READY") == 0)
		voice_online(a->v, true, a->now);
}

static void step(struct all *a, enum gateway_in_type type, const uint8_t *text, size_t len,
		 unsigned code)
{
	struct gateway_in in = {.type = type,
				.text = (const char *)text,
				.len = len,
				.code = code,
				.rnd = (uint32_t)len};

	gateway_machine_step(a->m, &in, a->now);
}

/* A line that starts with '!' is no message: closed, time passes. */
static void line(struct all *a, const uint8_t *p, size_t n)
{
	if (n < 2 || p[0] != '!') {
		step(a, GATEWAY_IN_TEXT, p, n, 0);
		return;
	}
	if (p[1] == 'c')
		step(a, GATEWAY_IN_CLOSED, NULL, 0, n > 2 ? 4000u + p[2] % 16 : 1006);
	else if (p[1] == 'o')
		step(a, GATEWAY_IN_OPEN, NULL, 0, 0);
	else
		a->now += p[1] * NS_PER_S;
	step(a, GATEWAY_IN_TICK, NULL, 0, 0);
	voice_tick(a->v, a->now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t url[] = "ws://gateway.example";
	struct all a = {.now = NS_PER_S};

	if (gateway_machine_alloc(&a.m, "token", 129, on_act, &a) || guilds_alloc(&a.g) ||
	    voice_alloc(&a.v, on_voice, on_predict, &a))
		abort();
	guilds_set_self(a.g, 900);
	voice_join(a.v, 301, true, a.now);
	step(&a, GATEWAY_IN_START, url, sizeof url - 1, 0);
	step(&a, GATEWAY_IN_OPEN, NULL, 0, 0);
	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t n = end ? (size_t)(end - data) : size;

		line(&a, data, n);
		data += end ? n + 1 : n;
		size -= end ? n + 1 : n;
	}
	voice_free(a.v);
	guilds_free(a.g);
	gateway_machine_free(a.m);
	return 0;
}
