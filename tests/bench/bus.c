/* What it costs to tell six subscribers of one event: log line, turn file, /status, store, and two
 * that copy it, as the streams of a web page do. The threads behind the first four write to a disk
 * all the while. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/report/status.h"
#include "control/store/store.h"
#include "control/writer.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "tests/bench/bench.h"

enum { ROUNDS = 100, EVENTS = 100, PAUSE_US = 40000 };

static struct bus_event *kept[2][16];
static unsigned at[2];

static void keep(const struct bus_event *ev, void *arg)
{
	unsigned who = *(unsigned *)arg, i = at[who]++ % 16;

	free(kept[who][i]);
	kept[who][i] = bus_event_copy(ev, NULL);
}

static struct bus_event a_turn(void)
{
	struct bus_event ev = {.type = EVENT_TURN,
			       .at_ms = 1790000000000,
			       .guild = 41771983423143937,
			       .user = 501000000000000000};

	ev.turn = (struct event_turn){
		.session = 1790000000000,
		.channel = 127121515262115840,
		.turn = 3,
		.stage = "ended",
		.name = "alice",
		.heard = "parley what time is it",
		.reason = "answered",
		.said = "It is eleven minutes to one in the afternoon.",
		.text = "it was answered and the answer was heard to its end",
		.first_audio_ms = 939,
		.lasted_ms = 3900,
		.segments = "[{\"user\":\"501\",\"name\":\"alice\",\"utterance\":1,"
			    "\"text\":\"parley what time is it\"}]",
		.why = "[{\"rule\":\"direct_address\",\"yes\":true,\"value\":1,\"limit\":1,"
		       "\"unit\":\"\",\"text\":\"the bot was addressed by name\"}]"};
	return ev;
}

static double publish_all(struct bus *bus, const char *name, const struct bus_event *ev)
{
	static double ns[ROUNDS * EVENTS];
	size_t n = 0;

	for (unsigned r = 0; r < ROUNDS; r++) {
		for (unsigned i = 0; i < EVENTS; i++) {
			uint64_t from = bench_clock();

			bus_publish(bus, ev);
			ns[n++] = (double)(bench_clock() - from);
		}
		usleep(PAUSE_US);
	}
	bench_raw(name, ns, n);
	return bench_median(ns, n);
}

int main(void)
{
	static unsigned who[2] = {0, 1};
	static struct status_tally tally;
	const struct env_conf ec = {.loop = true};
	char dir[] = "/tmp/parley-bench-XXXXXX", file[64], command[64];
	struct bus_event turn = a_turn(), small = {.type = EVENT_COMMAND, .guild = 1, .user = 2};
	struct settings *settings = NULL;
	struct writer *writer = NULL;
	struct store *store = NULL;
	struct env *env = NULL;
	struct bus *bus = NULL;
	double one, least;
	int null = open("/dev/null", O_WRONLY);

	if (!mkdtemp(dir) || null < 0)
		bench_die("no folder");
	dup2(null, STDERR_FILENO);
	log_init("bench", LOG_INFO_);
	BENCH_OK(log_start_writer(NULL));
	snprintf(file, sizeof file, "%s/turns", dir);
	BENCH_OK(settings_alloc(&settings));
	BENCH_OK(settings_set(settings, "turns_file", file));
	BENCH_OK(env_alloc(&env, &ec));
	BENCH_OK(bus_alloc(&bus));
	BENCH_OK(writer_alloc(&writer, env, bus, settings)); /* log and turn file */
	BENCH_OK(bus_subscribe(bus, BUS_ALL, status_take_event, &tally));
	BENCH_OK(store_alloc(&store, env, bus, settings, dir));
	BENCH_OK(bus_subscribe(bus, BUS_ALL, keep, &who[0]));
	BENCH_OK(bus_subscribe(bus, BUS_ALL, keep, &who[1]));
	small.command.kind = "join";
	one = publish_all(bus, "bus_event_ns", &turn);
	least = publish_all(bus, "bus_small_event_ns", &small);
	bench_row_more("bus_event_ns", one, "ns", "\"subscribers\": 6, \"small_event\": %.0f",
		       least);
	writer_free(writer);
	store_free(store);
	bus_free(bus);
	env_free(env);
	settings_free(settings);
	log_stop_writer();
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command) ? 1 : 0;
}
