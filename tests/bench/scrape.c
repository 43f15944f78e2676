/* GET /metrics of 100 guilds: metrics_series, the series of a scrape, and metrics_scrape_ms, what
 * writing it costs. Every guild has turns of each reason, tools, servers, providers and faults, and
 * 25 speakers whose statistics mediad tells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/metrics/counters.h"
#include "control/metrics/metrics.h"
#include "control/room/base/turn.h"
#include "proto/media.h"
#include "tests/bench/bench.h"

enum { GUILDS = 100, SPEAKERS = 25, TURNS = 20, WRITES = 50 };

static struct metrics *m;
static struct counters counters;
static size_t bytes;

static void tell_turns(uint64_t guild)
{
	char why[160];

	for (unsigned reason = 1; reason < ROOM_REASON_COUNT; reason++) {
		unsigned rule = (unsigned)(guild + reason) % ROOM_RULE_COUNT;

		snprintf(why, sizeof why, "[{\"rule\":\"%s\",\"yes\":true,\"value\":%u}]",
			 room_rule_name(rule), 100 * reason);
		metrics_take_event(m,
				   &(struct bus_event){.type = EVENT_TURN,
						       .guild = guild,
						       .turn = {.reason = room_reason_name(reason),
								.why = why,
								.first_audio_ms = 900,
								.lasted_ms = 4000}});
	}
}

/* 20 built-in tools, 8 servers, 6 providers with 2 models each. */
static void tell_work(uint64_t guild, unsigned i)
{
	static const char *const codes[] = {"ok", "failed", "timed_out"},
				 *const roles[] = {"voice",	 "text",     "speech",
						   "transcribe", "classify", "embed"};
	char tool[24], server[40], provider[16], model[16];

	snprintf(tool, sizeof tool, "tool_%u", i % 20);
	snprintf(server, sizeof server, "server%u__tool_%u", i % 8, (unsigned)guild);
	snprintf(provider, sizeof provider, "provider%u", i % 6);
	snprintf(model, sizeof model, "model%u", i % 2);
	metrics_take_event(m, &(struct bus_event){.type = EVENT_TOOL_CALLED,
						  .guild = guild,
						  .tool = {.name = tool, .code = codes[i % 3]}});
	metrics_take_event(m, &(struct bus_event){.type = EVENT_TOOL_CALLED,
						  .guild = guild,
						  .tool = {.name = server, .code = codes[i % 3]}});
	metrics_take_event(m, &(struct bus_event){.type = EVENT_ENGINE_USED,
						  .guild = guild,
						  .usage = {.role = roles[i % 6],
							    .provider = provider,
							    .model = model,
							    .text_in = 300,
							    .text_out = 20,
							    .audio_in = 5,
							    .nano = 100}});
	metrics_take_event(
		m, &(struct bus_event){.type = EVENT_ENGINE_DOWN,
				       .engine = {.role = roles[i % 6], .provider = provider}});
	metrics_take_event(m, &(struct bus_event){.type = EVENT_MEMORY_WRITTEN,
						  .memory = {.source = "asked", .inserted = 1}});
}

static void tell_media(uint64_t guild, uint64_t n)
{
	struct media_msg call = {.type = MEDIA_CALL_STATS, .call_stats = {.received = n}};
	struct media_msg user = {.type = MEDIA_USER_STATS, .user_stats = {.lost = n}};

	metrics_take_media(m, guild, &call);
	for (unsigned i = 1; i <= SPEAKERS; i++) {
		user.user_stats.user = guild + i;
		metrics_take_media(m, guild, &user);
	}
}

static void write_page(void *arg)
{
	char *text = metrics_write(m, &counters, &(struct metrics_now){.voice_sessions = GUILDS});

	(void)arg;
	bytes = text ? strlen(text) : 0;
	free(text);
}

static unsigned count_series(void)
{
	char *text = metrics_write(m, &counters, &(struct metrics_now){0});
	unsigned n = 0;

	for (char *at = text; at && *at; at = strchr(at, '\n') + 1)
		n += *at != '#';
	free(text);
	return n;
}

int main(void)
{
	double ns;

	BENCH_OK(metrics_alloc(&m));
	for (uint64_t guild = 1; guild <= GUILDS; guild++)
		for (unsigned i = 0; i < TURNS; i++) {
			if (i == 0)
				tell_turns(guild << 22);
			tell_work(guild << 22, (unsigned)guild * TURNS + i);
			tell_media(guild << 22, i);
		}
	ns = bench_one("metrics_scrape", write_page, NULL, 1, WRITES);
	bench_row_more("metrics_series", count_series(), "series", "\"guilds\": %d, \"bytes\": %zu",
		       GUILDS, bytes);
	bench_row("metrics_scrape_ms", ns / 1e6, "ms");
	metrics_free(m);
	return 0;
}
