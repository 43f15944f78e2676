/* The store: store_utterance_us, one utterance to a durable row when they come in bursts;
 * store_lost, rows that were acknowledged and are missing after kill -9 at a thousand seeded
 * moments; write_lost, the same of facts and consents; why_ms, control --why for one turn among a
 * million.
 *
 *   store --short    30 moments of the kills alone, for make check */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "control/why.h"
#include "ipc/env.h"
#include "tests/bench/bench.h"

enum {
	BURST = 2000,
	BURSTS = 50,
	KILLS = 1000,
	SHORT = 30,
	FRESH = 50, /* a new folder after so many kills */
	AT_ONCE = 20,
	TURNS = 1000000,
	ASKED = 31,
};

static struct side {
	struct env *env;
	struct bus *bus;
	struct settings *settings;
	struct store *store;
	int tell; /* what was acknowledged */
	uint64_t run, utterances, version, facts, consents;
} side;

static void open_side(const char *dir)
{
	const struct env_conf ec = {.loop = true};

	BENCH_OK(settings_alloc(&side.settings));
	BENCH_OK(env_alloc(&side.env, &ec));
	BENCH_OK(bus_alloc(&side.bus));
	BENCH_OK(store_alloc(&side.store, side.env, side.bus, side.settings, dir));
}

static void close_side(void)
{
	store_free(side.store);
	bus_free(side.bus);
	env_free(side.env);
	settings_free(side.settings);
}

static void publish_utterances(unsigned n)
{
	struct bus_event ev = {.type = EVENT_UTTERANCE,
			       .at_ms = 1790000000000,
			       .guild = 41771983423143937,
			       .user = 501000000000000000};

	for (unsigned i = 0; i < n; i++) {
		ev.utterance = (struct event_utterance){
			.session = side.run,
			.utterance = (uint32_t)side.utterances++,
			.name = "alice",
			.text = "and what did you do then on the way home from the station",
			.started_ms = 1790000000000,
			.ended_ms = 1790000002000,
			.source = "realtime-transcription"};
		bus_publish(side.bus, &ev);
	}
}

/* ---- throughput ---- */

static void on_synced(int err, void *arg)
{
	(void)arg;
	BENCH_OK(err);
	env_stop(side.env);
}

static void sync_all(void)
{
	BENCH_OK(store_sync(side.store, on_synced, NULL));
	env_run(side.env);
}

static void utterance_row(const char *dir)
{
	double us[BURSTS];

	open_side(dir);
	publish_utterances(1);
	sync_all();
	for (unsigned i = 0; i < BURSTS; i++) {
		uint64_t from = bench_clock();

		publish_utterances(BURST);
		sync_all();
		us[i] = (double)(bench_clock() - from) / 1000 / BURST;
	}
	close_side();
	bench_raw("store_utterance_us", us, BURSTS);
	bench_row_more("store_utterance_us", bench_median(us, BURSTS), "us",
		       "\"in a burst of\": %d", BURST);
}

/* ---- kills ---- */

static void save_more(void);

static void acknowledge(char what, uint64_t n)
{
	char line[32];
	int len = snprintf(line, sizeof line, "%c%llu\n", what, (unsigned long long)n);

	if (write(side.tell, line, (size_t)len) != len)
		_exit(1);
}

static void on_consent(int err, void *arg)
{
	(void)arg;
	if (err)
		_exit(7);
	acknowledge('c', ++side.consents);
	save_more();
}

static void on_fact(int err, const struct store_document *d, void *arg)
{
	const struct store_consent consent = {.guild = side.run,
					      .user = 501000000000000000,
					      .before = "default",
					      .after = side.consents % 2 ? "heard" : "remembered",
					      .via = "bench"};

	(void)arg;
	if (err || !strstr(d->document, "inserted"))
		_exit(8);
	acknowledge('f', ++side.facts);
	if (store_put_consent(side.store, &consent, on_consent, NULL))
		_exit(9);
}

/* Each in a server of its own: a server takes a few in a minute. */
static void on_put(int err, const struct store_document *d, void *arg)
{
	const struct store_facts fact = {
		.guild = side.run << 20 | (side.facts + 1),
		.user = 501000000000000000,
		.name = "alice",
		.request = "[{\"text\":\"the release is on tuesday\",\"type\":\"plan\"}]"};

	(void)arg;
	if (err)
		_exit(2);
	acknowledge('v', d->version);
	if (store_write_facts(side.store, &fact, on_fact, NULL))
		_exit(10);
}

static void on_history(int err, void *arg)
{
	static const struct store_put put = {
		.scope = "global", .document = "{\"hold_ms\":17}", .author = "bench"};

	(void)arg;
	if (err)
		_exit(3);
	acknowledge('u', side.utterances);
	if (store_settings_put(side.store, &put, on_put, NULL))
		_exit(4);
}

static void save_more(void)
{
	publish_utterances(AT_ONCE);
	if (store_sync(side.store, on_history, NULL))
		_exit(5);
}

static void save_until_killed(const char *dir, uint64_t run, int tell)
{
	side.run = run;
	side.tell = tell;
	side.utterances = side.facts = side.consents = 0;
	open_side(dir);
	save_more();
	env_run(side.env);
	_exit(6);
}

static uint64_t number(const char *dir, const char *sql, uint64_t parameter)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	char path[96];
	uint64_t n;

	snprintf(path, sizeof path, "%s/parley.db", dir);
	if (sqlite3_open(path, &db) || sqlite3_prepare_v2(db, sql, -1, &s, NULL))
		bench_die("%s: %s", path, sqlite3_errmsg(db));
	sqlite3_bind_int64(s, 1, (sqlite3_int64)parameter);
	if (sqlite3_step(s) != SQLITE_ROW)
		bench_die("%s: %s", path, sqlite3_errmsg(db));
	n = (uint64_t)sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return n;
}

struct acknowledged {
	uint64_t utterances, version, facts, consents;
};

static uint64_t missing(uint64_t acknowledged, uint64_t there)
{
	return there < acknowledged ? acknowledged - there : 0;
}

/* What the child told until it was killed. */
static void read_acknowledged(int fd, struct acknowledged *out)
{
	FILE *f = fdopen(fd, "r");
	char line[64];

	*out = (struct acknowledged){0};
	while (f && fgets(line, sizeof line, f) && strchr(line, '\n'))
		*(line[0] == 'u'   ? &out->utterances
		  : line[0] == 'v' ? &out->version
		  : line[0] == 'f' ? &out->facts
				   : &out->consents) = strtoull(line + 1, NULL, 10);
	if (f)
		fclose(f);
}

static struct lost {
	uint64_t rows, writes;	   /* acknowledged and not there */
	unsigned n_rows, n_writes; /* acknowledged */
} lost;

static void kill_once(const char *dir, uint64_t run)
{
	struct acknowledged told;
	int fd[2], status;
	char byte;
	pid_t pid;

	if (pipe(fd))
		bench_die("no pipe");
	pid = fork();
	if (!pid) {
		close(fd[0]);
		save_until_killed(dir, run, fd[1]);
	}
	close(fd[1]);
	/* From its first acknowledgement on, at any moment of the next 12 ms. */
	if (read(fd[0], &byte, 1) != 1)
		bench_die("the child ended");
	usleep((unsigned)(rand() % 12000));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (!WIFSIGNALED(status))
		bench_die("the child ended with %d", WEXITSTATUS(status));
	read_acknowledged(fd[0], &told);
	lost.rows +=
		missing(told.utterances,
			number(dir, "SELECT count(*) FROM utterances WHERE session = ?1", run));
	lost.rows += missing(
		told.version,
		number(dir, "SELECT max(version) FROM settings_documents WHERE ?1 >= 0", 0));
	lost.writes += missing(
		told.facts, number(dir, "SELECT count(*) FROM facts WHERE guild >> 20 = ?1", run));
	lost.writes +=
		missing(told.consents,
			number(dir, "SELECT count(*) FROM consent_ledger WHERE guild = ?1", run));
	lost.n_rows += (unsigned)told.utterances + (told.version > 0);
	lost.n_writes += (unsigned)(told.facts + told.consents);
}

static void remove_folder(const char *dir)
{
	char command[96];

	snprintf(command, sizeof command, "rm -rf %s", dir);
	if (system(command))
		bench_die("%s", command);
}

static void kill_all(unsigned kills)
{
	char dir[40] = "";

	srand(1);
	for (unsigned i = 0; i < kills; i++) {
		if (i % FRESH == 0) {
			if (*dir)
				remove_folder(dir);
			snprintf(dir, sizeof dir, "/tmp/parley-bench-XXXXXX");
			if (!mkdtemp(dir))
				bench_die("no folder");
		}
		kill_once(dir, i + 1);
	}
	remove_folder(dir);
}

static void lost_rows(void)
{
	kill_all(KILLS);
	bench_row_more("store_lost", (double)lost.rows, "rows",
		       "\"kills\": %d, \"acknowledged\": %u", KILLS, lost.n_rows);
	bench_row_more("write_lost", (double)lost.writes, "writes",
		       "\"kills\": %d, \"acknowledged\": %u", KILLS, lost.n_writes);
}

static int check_short(void)
{
	bool passed;

	kill_all(SHORT);
	passed = !lost.rows && !lost.writes && lost.n_rows && lost.n_writes;
	printf("%u of %u rows and %u of %u writes are missing\n", (unsigned)lost.rows, lost.n_rows,
	       (unsigned)lost.writes, lost.n_writes);
	printf("%d passed, %d failed, 0 skipped\n", passed, !passed);
	return !passed;
}

/* ---- a million turns ---- */

static void fill(const char *dir)
{
	static const char turns[] =
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)"
		" INSERT INTO turns(seq, guild, session, channel, turn, user, name, reason, at_ms,"
		" first_audio_ms, lasted_ms, said, why) SELECT i, 1 + i % 50, 1790000000000 + i / "
		"500 * 1000, 7,"
		" i % 500, 1 + i % 3000, 'somebody', 'answered', 1790000000000 + i * 1000, 900, "
		"4000,"
		" 'it is ten past four', '[[\"promoted\",true,420,420],[\"transcript\",true,22,1],"
		"[\"direct_address\",true,1,1],[\"first_audio\",true,627,9000],"
		"[\"played\",true,45,45]]' FROM n";
	static const char segments[] =
		"INSERT INTO segments SELECT seq, 0, user, name, 1, 'parley what time is it', at_ms"
		" FROM turns WHERE ?1 > 0";

	open_side(dir);
	publish_utterances(1);
	sync_all();
	close_side();
	for (unsigned i = 0; i < 2; i++) {
		sqlite3 *db = NULL;
		sqlite3_stmt *s = NULL;
		char path[96];

		snprintf(path, sizeof path, "%s/parley.db", dir);
		if (sqlite3_open(path, &db) ||
		    sqlite3_prepare_v2(db, i ? segments : turns, -1, &s, NULL))
			bench_die("%s", sqlite3_errmsg(db));
		sqlite3_bind_int(s, 1, TURNS);
		if (sqlite3_step(s) != SQLITE_DONE)
			bench_die("%s", sqlite3_errmsg(db));
		sqlite3_finalize(s);
		sqlite3_close(db);
	}
}

/* The whole program, from its start to its end. */
static double ask_ms(const char *dir, unsigned turn)
{
	const char *bin = getenv("BIN");
	char command[200];
	uint64_t from;

	snprintf(command, sizeof command, "%s/control --why=%u --state-dir %s >/dev/null",
		 bin ? bin : "build", turn, dir);
	from = bench_clock();
	if (system(command))
		bench_die("%s", command);
	return (double)(bench_clock() - from) / 1e6;
}

static double find_ms(const char *dir, unsigned turn)
{
	const struct why_query q = {.state_dir = dir, .one = true, .turn = turn};
	json_t *list = NULL;
	uint64_t from = bench_clock();

	BENCH_OK(why_find(&list, &q));
	json_decref(list);
	return (double)(bench_clock() - from) / 1e6;
}

static void why_row(const char *dir)
{
	double ms[ASKED], in[ASKED];

	fill(dir);
	for (unsigned i = 0; i < ASKED; i++) {
		in[i] = find_ms(dir, 1 + i * 16);
		ms[i] = ask_ms(dir, 1 + i * 16);
	}
	bench_raw("why_ms", ms, ASKED);
	bench_row_more("why_ms", bench_quantile(ms, ASKED, 0.9), "ms",
		       "\"turns\": %d, \"of it to find\": %.2f", TURNS,
		       bench_quantile(in, ASKED, 0.9));
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/parley-bench-XXXXXX", many[] = "/tmp/parley-bench-XXXXXX";

	if (argc > 1 && strcmp(argv[1], "--short") == 0)
		return check_short();
	lost_rows(); /* forks, so they come before any thread */
	if (!mkdtemp(dir) || !mkdtemp(many))
		bench_die("no folder");
	utterance_row(dir);
	remove_folder(dir);
	why_row(many);
	remove_folder(many);
	return 0;
}
