/* The dashboard in headless Chromium: event_to_pixel_p99_ms, from an event of the bus to the change
 * of the page, in ten rooms that talk, and frame_work_p99_ms, the work of the page's main thread
 * for each frame while the list of 10,000 turns scrolls.
 *
 * The rooms are those of rooms.h, with a scripted brain, and turns of an earlier day are written
 * through the store. tests/dashboard/pixels.mjs drives the browser and prints the rows.
 *
 *   BENCH_ROOMS=n     rooms (10)      BENCH_TURNS=n      turns (10000) */
#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "tests/bench/bench.h"
#include "tests/bench/brain.h"
#include "tests/bench/rooms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	ANSWER_MS = 4000,
	LISTEN_MS = 2000,
	BATCH = 500,
	PEOPLE = 4,
	EVERY_MS = 8000,
	SESSION_TURNS = 200
};
#define HOUR_MS UINT64_C(3600000)

/* ---- turns of an earlier day ---- */

static const char *const names[PEOPLE] = {"Alice", "Bob", "Carol", "Dave"};
static const char *const said[] = {"parley what time is it",
				   "parley, who wrote the song that plays now?",
				   "and what did we say about the release?", "mhm, sounds good"};
static const struct {
	const char *reason;
	int first_ms, asked_ms;
} ends[] = {{"answered", 900, 420},    {"answered", 1350, 700},	  {"not_addressed", -1, -1},
	    {"answered", 2100, 380},   {"interrupted", 800, 350}, {"backchannel", -1, -1},
	    {"brain_failed", -1, 500}, {"answered", 640, 300}};

static void add_speech(struct bus *bus, uint64_t guild, unsigned i, uint64_t end)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE,
			       .at_ms = end + 300,
			       .guild = guild,
			       .user = 700 + i % PEOPLE};

	ev.utterance = (struct event_utterance){.session = 1 + i / SESSION_TURNS,
						.channel = 2,
						.utterance = i + 1,
						.name = names[i % PEOPLE],
						.text = said[i % 4],
						.started_ms = end - 700 - i % 7 * 300,
						.ended_ms = end,
						.source = "realtime-transcription",
						.consent = true};
	bus_publish(bus, &ev);
}

static void add_call(struct bus *bus, uint64_t guild, unsigned i, uint64_t end)
{
	struct bus_event ev = {.type = EVENT_TOOL_CALLED,
			       .at_ms = end + 800,
			       .guild = guild,
			       .user = 700 + i % PEOPLE};

	ev.tool = (struct event_tool){.session = 1 + i / SESSION_TURNS,
				      .channel = 2,
				      .turn = i + 1,
				      .call = i + 1,
				      .name = "web_search",
				      .code = "ok",
				      .arguments = "0",
				      .lasted_ms = 350,
				      .summary = "three results"};
	bus_publish(bus, &ev);
}

static void add_turn(struct bus *bus, uint64_t guild, unsigned i, uint64_t end)
{
	struct bus_event ev = {.type = EVENT_TURN, .guild = guild, .user = 700 + i % PEOPLE};
	int first = ends[i % 8].first_ms, asked = ends[i % 8].asked_ms;
	char segments[300], why[400];

	snprintf(segments, sizeof segments,
		 "[{\"user\":\"%u\",\"name\":\"%s\",\"utterance\":%u,\"text\":\"%s\"}]",
		 700 + i % PEOPLE, names[i % PEOPLE], i + 1, said[i % 4]);
	snprintf(why, sizeof why,
		 "[{\"rule\":\"endpointing\",\"yes\":true,\"value\":200,\"limit\":200},"
		 "{\"rule\":\"direct_address\",\"yes\":%s,\"value\":1,\"limit\":1}%s%d%s]",
		 asked < 0 ? "false" : "true",
		 asked < 0 ? ",{\"rule\":\"not_addressed\",\"yes\":true,\"value\":"
			   : ",{\"rule\":\"asked\",\"yes\":true,\"value\":",
		 asked < 0 ? 0 : asked, ",\"limit\":0}");
	ev.at_ms = end + (first < 0 ? 400 : (uint64_t)first + 2500);
	ev.turn = (struct event_turn){.session = 1 + i / SESSION_TURNS,
				      .channel = 2,
				      .turn = i + 1,
				      .stage = "ended",
				      .name = names[i % PEOPLE],
				      .heard = said[i % 4],
				      .reason = ends[i % 8].reason,
				      .said = first < 0 ? "" : "It is ten past four.",
				      .text = "",
				      .first_audio_ms = first,
				      .lasted_ms = 3000,
				      .segments = segments,
				      .why = why};
	bus_publish(bus, &ev);
}

static void on_done(int err, void *arg)
{
	BENCH_OK(err);
	env_stop(arg);
}

static void write_history(unsigned turns)
{
	const struct env_conf ec = {.loop = true};
	uint64_t now = (uint64_t)time(NULL) * 1000, guild = 1;
	uint64_t begin = now - HOUR_MS - turns * (uint64_t)EVERY_MS;
	struct settings *settings;
	struct store *store;
	struct env *env;
	struct bus *bus;
	char state[128];

	snprintf(state, sizeof state, "%s/state", rooms_folder());
	if (mkdir(state, 0700))
		bench_die("%s: %s", state, strerror(errno));
	BENCH_OK(env_alloc(&env, &ec));
	BENCH_OK(bus_alloc(&bus));
	BENCH_OK(settings_alloc(&settings));
	BENCH_OK(settings_set(settings, "store_words_hours", "720"));
	BENCH_OK(store_alloc(&store, env, bus, settings, state));
	for (unsigned i = 0; i < turns; i++) {
		uint64_t end = begin + i * (uint64_t)EVERY_MS;

		add_speech(bus, guild, i, end);
		if (i % 5 == 0)
			add_call(bus, guild, i, end);
		add_turn(bus, guild, i, end);
		if (i % BATCH == BATCH - 1) {
			BENCH_OK(store_sync(store, on_done, env));
			env_run(env);
		}
	}
	BENCH_OK(store_sync(store, on_done, env));
	env_run(env);
	store_free(store);
	bus_free(bus);
	settings_free(settings);
	env_free(env);
}

/* ---- the browser ---- */

static pid_t browser;

static bool is_over(void)
{
	int status;

	if (waitpid(browser, &status, WNOHANG) != browser)
		return false;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		bench_die("tests/dashboard/pixels.mjs failed (logs in %s)", rooms_folder());
	return true;
}

static void drive_browser(unsigned turns)
{
	const char *bin = getenv("BIN");
	char control[512], least[16];

	snprintf(control, sizeof control, "%s/control", bin ? bin : "build");
	snprintf(least, sizeof least, "%u", turns);
	browser = fork();
	if (browser < 0)
		bench_die("no process: %s", strerror(errno));
	if (!browser) {
		execlp("node", "node", "tests/dashboard/pixels.mjs", control, rooms_folder(), least,
		       (char *)NULL);
		_exit(127);
	}
	rooms_until(is_over, 600000, "the browser has measured");
}

int main(void)
{
	unsigned turns = rooms_number("BENCH_TURNS", 10000, 20000);
	struct env *env = rooms_open(rooms_number("BENCH_ROOMS", 10, ROOMS_MAX));
	static char url[160];
	const char *settings[] = {url, "PARLEY_WEB_LISTEN=127.0.0.1:0",
				  "PARLEY_STORE_WORDS_HOURS=720", "PARLEY_CONSENT=remembered",
				  NULL};
	const struct rooms_conf conf = {.settings = settings, .listen_ms = LISTEN_MS};
	struct brain *brain;

	if (system("tests/interop/modules.sh dashboard"))
		bench_die("the packages of tests/dashboard cannot be installed");
	write_history(turns);
	brain_alloc(&brain, env, "parley and now what", ANSWER_MS, true);
	snprintf(url, sizeof url, "PARLEY_BRAIN_URL=%s", brain_url(brain));
	rooms_begin(&conf);
	drive_browser(turns);
	rooms_end();
	brain_free(brain);
	rooms_close();
	return 0;
}
