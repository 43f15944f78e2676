#include "ipc/journal.h"
#include "ipc/peer.h"
#include "proto/base/cursor.h"
#include "tests/unit/ipc/loop.h"
#include "tests/unit/ipc/own_memory.h"

#include <pthread.h>
#include <sys/stat.h>

/* A small program that uses everything a journal holds: timers, random bytes, wall time, frames
 * between two peers, and answers of the system. What it sends hangs on all of them. */
enum { ROUNDS = 12 };
#define META "{\"test\":1}"

struct toy {
	struct env *env;
	struct peer_server *server;
	struct peer *srv, *cli;
	struct tmr *tmr, *other;
	unsigned rounds, echoes;
};

static void on_tick(void *arg)
{
	struct toy *t = arg;
	uint8_t msg[32];
	struct wr w = wr_of(msg, sizeof msg);
	uint8_t *p;

	wr_be(&w, env_now(t->env), 8);
	wr_be(&w, env_wall_ms(t->env), 8);
	p = wr_room(&w, 16);
	env_random(t->env, p, 16);
	peer_send(t->cli, t->rounds % 2 ? PEER_COMMAND : PEER_AUDIO, msg, w.pos);
	t->rounds++;
	tmr_start(t->tmr, 200000 + msg[20] * 1000);
	if (msg[21] & 1)
		tmr_start(t->other, 100000);
	else
		tmr_stop(t->other);
}

static void on_other(void *arg)
{
	struct toy *t = arg;

	env_output(t->env, ENV_OUT_PIPE, 0, "other", 5);
}

static int on_srv_frame(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	struct toy *t = arg;
	uint8_t msg[64];
	struct wr w = wr_of(msg, sizeof msg);

	wr_be(&w, env_now(t->env), 8);
	wr_bytes(&w, body, len);
	return w.ok ? peer_send(p, PEER_COMMAND, msg, w.pos) : EPROTO;
}

static int on_cli_frame(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	struct toy *t = arg;

	(void)p;
	(void)body;
	(void)len;
	if (++t->echoes == ROUNDS)
		env_stop(t->env);
	return 0;
}

static void on_lost(struct peer *p, int err, void *arg)
{
	(void)p;
	(void)err;
	(void)arg;
}

static int on_accept(struct peer *p, uid_t uid, struct peer_conf *conf, void *arg)
{
	struct toy *t = arg;

	(void)uid;
	t->srv = p;
	*conf = (struct peer_conf){.msgh = on_srv_frame, .losth = on_lost, .arg = t};
	tmr_start(t->tmr, 0);
	return 0;
}

static int toy_open(struct toy *t, struct env *env, const char *sock)
{
	const struct peer_conf conf = {.msgh = on_cli_frame, .losth = on_lost, .arg = t};
	int err;

	memset(t, 0, sizeof *t);
	t->env = env;
	err = tmr_alloc(&t->tmr, env, on_tick, t);
	if (!err)
		err = tmr_alloc(&t->other, env, on_other, t);
	if (!err)
		err = peer_listen(&t->server, env, sock, (uid_t)-1, on_accept, t);
	return err ? err : peer_connect(&t->cli, env, sock, &conf);
}

static void toy_close(struct toy *t)
{
	peer_free(t->cli);
	peer_free(t->srv);
	peer_server_free(t->server);
	tmr_free(t->tmr);
	tmr_free(t->other);
}

static struct {
	char dir[32], path[64], sock[64], digest[65];
	uint8_t *file;
	size_t n;
} fx;

static bool begin(void)
{
	memset(&fx, 0, sizeof fx);
	if (!folder_make(fx.dir))
		return false;
	snprintf(fx.path, sizeof fx.path, "%s/journal", fx.dir);
	snprintf(fx.sock, sizeof fx.sock, "%s/sock", fx.dir);
	return true;
}

static void end(void)
{
	free(fx.file);
	folder_remove(fx.dir);
}

static bool slurp(void)
{
	FILE *f = fopen(fx.path, "rb");
	struct stat st;

	if (!f || fstat(fileno(f), &st))
		return false;
	free(fx.file);
	fx.n = (size_t)st.st_size;
	fx.file = malloc(fx.n + 1);
	if (fread(fx.file, 1, fx.n, f) != fx.n)
		fx.n = 0;
	fclose(f);
	return fx.n > 0;
}

static bool spill(const uint8_t *p, size_t n)
{
	FILE *f = fopen(fx.path, "wb");
	bool ok = f && fwrite(p, 1, n, f) == n;

	return f && !fclose(f) && ok;
}

/* Runs the toy for real, with a journal; the digest of what it sent, and the file, are kept. */
static bool record(void)
{
	struct journal *j = NULL;
	struct loop l;
	struct toy t;
	bool ok;

	if (!begin() || journal_create(&j, fx.path, 1, META))
		return false;
	ok = !loop_open(&l, j) && !toy_open(&t, l.env, fx.sock) && loop_run(&l);
	env_finish(l.env);
	env_digest(l.env, fx.digest);
	toy_close(&t);
	loop_close(&l);
	ok = ok && !journal_broken(j);
	journal_free(j);
	return ok && slurp();
}

/* The outcome of replaying the file: the error, or that of comparing digests (EILSEQ when they
 * differ). */
static int replay(void)
{
	struct env_conf conf = {.loop = true, .replaying = true};
	struct journal_reader *r = NULL;
	struct env *env = NULL;
	struct tmr *deadline = NULL;
	struct toy t = {0};
	char recorded[1][65], now[65], shape[65], shape_now[65];
	uint64_t at;
	int err;

	err = journal_open(&r, fx.path);
	if (!err)
		err = env_alloc(&env, &conf);
	if (!err)
		err = journal_attach(r, env, 0);
	/* In the order of the recording: the loop of the fixture has a timer of its own. */
	if (!err)
		err = tmr_alloc(&deadline, env, on_other, NULL);
	if (!err)
		err = toy_open(&t, env, "/nowhere/at/all");
	if (!err)
		err = journal_replay(r, &env, 1, &at, recorded);
	if (!err) {
		env_digest(env, now);
		env_shape(env, shape_now);
		journal_recorded_shape(r, 0, shape);
		err = strcmp(now, recorded[0]) || strcmp(now, fx.digest) || strcmp(shape, shape_now)
			      ? EILSEQ
			      : 0;
	}
	toy_close(&t);
	tmr_free(deadline);
	env_free(env);
	journal_close(r);
	return err;
}

TEST(a_replay_sends_the_same_bytes)
{
	CHECK(record());
	CHECK(strspn(fx.digest, "0") < 64);
	CHECK_INT(replay(), 0);
	CHECK_INT(replay(), 0);
	CHECK(access(fx.sock, F_OK) != 0); /* and made nothing on this machine */
	end();
}

/* ---- looking into the file ---- */
struct rec {
	size_t at, n; /* of the whole record */
	uint64_t order, now;
	uint8_t thread, what, kind;
	uint32_t source;
};

enum { HEAD = 4 + 8 + 8 + 1 + 1 + 4 + 1 };

static size_t first_record(void)
{
	const uint8_t *nl = memchr(fx.file, '\n', fx.n);

	nl = memchr(nl + 1, '\n', fx.n - (size_t)(nl + 1 - fx.file));
	return (size_t)(nl + 1 - fx.file);
}

static bool next_record(size_t *at, struct rec *out)
{
	struct rd r = rd_of(fx.file + *at, fx.n - *at);

	out->at = *at;
	out->n = 4 + rd_be(&r, 4);
	out->order = rd_be(&r, 8);
	out->now = rd_be(&r, 8);
	out->thread = (uint8_t)rd_be(&r, 1);
	out->what = (uint8_t)rd_be(&r, 1);
	out->source = (uint32_t)rd_be(&r, 4);
	out->kind = (uint8_t)rd_be(&r, 1);
	*at += out->n;
	return r.ok && *at <= fx.n;
}

/* The k-th record of this kind that has at least `bytes` bytes of its own. */
static bool find(enum journal_what what, size_t bytes, unsigned k, struct rec *out)
{
	size_t at = first_record();

	while (next_record(&at, out))
		if (out->what == what && out->n >= HEAD + bytes && !k--)
			return true;
	return false;
}

static int replay_flipped(size_t at)
{
	int err;

	fx.file[at] ^= 0x10;
	err = spill(fx.file, fx.n) ? replay() : 0;
	fx.file[at] ^= 0x10;
	return err;
}

TEST(a_flipped_byte_never_passes_for_the_same_run)
{
	struct rec rec;

	CHECK(record());
	CHECK(replay_flipped(3) != 0);		   /* the first line */
	CHECK(replay_flipped(first_record() - 3)); /* the meta text */
	CHECK(find(JOURNAL_RANDOM, 16, 3, &rec));
	CHECK(replay_flipped(rec.at + HEAD + 5)); /* random bytes */
	CHECK(replay_flipped(rec.at + 3));	  /* its length */
	CHECK(replay_flipped(rec.at + 11));	  /* its order */
	CHECK(replay_flipped(rec.at + 20));	  /* its thread */
	CHECK(replay_flipped(rec.at + 21));	  /* what it is */
	CHECK(find(JOURNAL_ANSWER, 8, 4, &rec));
	CHECK(replay_flipped(rec.at + HEAD + 7)); /* what the system answered */
	CHECK(find(JOURNAL_INPUT, 32, 2, &rec));
	CHECK(replay_flipped(rec.at + HEAD));	  /* a frame */
	CHECK(replay_flipped(rec.at + 18));	  /* when it came */
	CHECK(replay_flipped(rec.at + HEAD - 1)); /* its kind */
	CHECK(replay_flipped(rec.at + HEAD - 2)); /* its source */
	CHECK(find(JOURNAL_DIGEST, 64, 0, &rec));
	CHECK(replay_flipped(rec.at + HEAD + 9));
	/* And untouched it still passes. */
	CHECK(spill(fx.file, fx.n));
	CHECK_INT(replay(), 0);
	end();
}

TEST(no_byte_of_a_journal_can_be_another)
{
	CHECK(record());
	for (size_t at = 0; at < fx.n; at++)
		if (!replay_flipped(at)) {
			test_fail(__FILE__, __LINE__, "byte %zu of %zu can be flipped", at, fx.n);
			return;
		}
	end();
}

TEST(a_recording_that_was_cut_off_replays_as_far_as_it_goes_and_says_so)
{
	size_t first;

	CHECK(record());
	first = first_record();
	for (size_t n = first; n < fx.n; n += n < first + 200 || n + 200 > fx.n ? 1 : 97) {
		CHECK(spill(fx.file, n));
		/* An answer that setup asks for is missing: nothing can be replayed. */
		CHECK(replay() != 0);
	}
	CHECK(spill(fx.file, fx.n - 10));
	CHECK_INT(replay(), EBADMSG);
	CHECK(spill(fx.file, first - 2));
	CHECK_INT(replay(), EBADMSG);
	CHECK(spill(fx.file, 0));
	CHECK_INT(replay(), EBADMSG);
	end();
}

TEST(a_missing_record_ends_what_can_be_replayed)
{
	struct rec rec;

	CHECK(record());
	CHECK(find(JOURNAL_INPUT, 32, 2, &rec));
	memmove(fx.file + rec.at, fx.file + rec.at + rec.n, fx.n - rec.at - rec.n);
	CHECK(spill(fx.file, fx.n - rec.n));
	CHECK_INT(replay(), EBADMSG);
	end();
}

TEST(a_journal_is_for_its_owner_alone)
{
	struct journal *j = NULL;
	struct stat st;
	char link[96];

	CHECK(begin());
	CHECK_INT(journal_create(&j, fx.path, 0, META), EINVAL);
	CHECK_INT(journal_create(&j, fx.path, 1, "two\nlines"), EINVAL);
	CHECK_INT(journal_create(&j, "/nowhere/at/all", 1, META), ENOENT);
	CHECK(!j);
	/* One that was there, readable for all and longer. */
	CHECK(spill((const uint8_t *)"0123456789", 10));
	CHECK(!chmod(fx.path, 0644));
	CHECK_INT(journal_create(&j, fx.path, 1, META), 0);
	CHECK(!stat(fx.path, &st) && (st.st_mode & 0777) == 0600);
	journal_free(j);
	CHECK(slurp());
	CHECK_MEM(fx.file, fx.n, JOURNAL_FIRST_LINE "\n" META "\n",
		  strlen(JOURNAL_FIRST_LINE "\n" META "\n"));
	/* Not through a link that somebody else put there. */
	snprintf(link, sizeof link, "%s/link", fx.dir);
	CHECK(!symlink(fx.path, link));
	CHECK_INT(journal_create(&j, link, 1, META), ELOOP);
	end();
}

TEST(a_record_that_does_not_fit_marks_the_journal_broken)
{
	static uint8_t huge[5 << 20];
	struct journal_reader *r = NULL;
	struct journal *j;
	struct env *env;
	struct env_conf conf = {.loop = true, .replaying = true};
	char recorded[1][65];
	uint64_t at;

	CHECK(begin());
	CHECK_INT(journal_create(&j, fx.path, 1, META), 0);
	journal_write(j, 0,
		      &(struct journal_record){.what = JOURNAL_INPUT,
					       .now = 1,
					       .source = 1,
					       .kind = 1,
					       .data = "abc",
					       .len = 3});
	CHECK(!journal_broken(j));
	journal_write(j, 0,
		      &(struct journal_record){.what = JOURNAL_INPUT,
					       .now = 2,
					       .source = 1,
					       .kind = 1,
					       .data = huge,
					       .len = sizeof huge});
	CHECK(journal_broken(j));
	/* What comes later is left out, so that it does not pass for whole. */
	journal_write(j, 0,
		      &(struct journal_record){.what = JOURNAL_INPUT,
					       .now = 3,
					       .source = 1,
					       .kind = 1,
					       .data = "def",
					       .len = 3});
	journal_free(j);
	CHECK(slurp());
	CHECK(!memmem(fx.file, fx.n, "def", 3));
	CHECK_INT(journal_open(&r, fx.path), 0);
	CHECK_INT(env_alloc(&env, &conf), 0);
	CHECK_INT(journal_attach(r, env, 0), 0);
	CHECK_INT(journal_attach(r, env, 0), EINVAL);
	CHECK_INT(journal_replay(r, &env, 1, &at, recorded), EBADMSG);
	env_free(env);
	journal_close(r);
	end();
}

/* ---- several threads ---- */
enum { THREADS = 3, INPUTS = 3000 };

struct worker {
	struct journal *j;
	uint8_t thread;
	pthread_t id;
};

static void on_work(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct env *env = *(struct env **)arg;
	uint8_t r[4];

	(void)kind;
	env_random(env, r, sizeof r);
	env_output(env, ENV_OUT_DATAGRAM, 0, data, len);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	const struct env_conf conf = {.thread = w->thread, .journal = w->j};
	uint8_t data[200];
	struct env *env;
	uint32_t src;

	if (env_alloc(&env, &conf) || env_source_add(env, &src, on_work, &env))
		return NULL;
	memset(data, w->thread, sizeof data);
	for (unsigned i = 0; i < INPUTS; i++)
		env_deliver(env, src, 1, data, i % sizeof data);
	env_free(env);
	return NULL;
}

TEST(records_of_several_threads_come_whole_and_are_numbered)
{
	struct worker w[THREADS];
	struct journal *j;
	struct rec rec;
	uint64_t last[THREADS] = {0};
	unsigned inputs[THREADS] = {0}, n = 0, digests = 0;
	static uint8_t seen[THREADS * (2 * INPUTS + 2)];
	size_t at;

	memset(seen, 0, sizeof seen);
	CHECK(begin());
	CHECK_INT(journal_create(&j, fx.path, THREADS, META), 0);
	for (uint8_t i = 0; i < THREADS; i++) {
		w[i] = (struct worker){.j = j, .thread = i};
		CHECK_INT(pthread_create(&w[i].id, NULL, work, &w[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(w[i].id, NULL);
	CHECK(!journal_broken(j));
	journal_free(j);
	CHECK(slurp());
	for (at = first_record(); at < fx.n; n++) {
		CHECK(next_record(&at, &rec));
		CHECK(rec.thread < THREADS && rec.order < sizeof seen && !seen[rec.order]);
		seen[rec.order] = 1;
		CHECK(!inputs[rec.thread] || rec.order > last[rec.thread]);
		last[rec.thread] = rec.order;
		digests += rec.what == JOURNAL_DIGEST;
		if (rec.what != JOURNAL_INPUT)
			continue;
		CHECK_INT(rec.n, HEAD + inputs[rec.thread]++ % 200);
		for (size_t i = HEAD; i < rec.n; i++)
			CHECK(fx.file[rec.at + i] == rec.thread);
	}
	CHECK(at == fx.n && n == sizeof seen && digests == THREADS);
	end();
}

/* ---- the end of a recording ---- */
TEST(what_teardown_sends_counts_no_more)
{
	struct env_conf conf = {.loop = true};
	char before[65], after[65];
	struct journal *j;
	struct env *env;
	uint8_t b[4];
	struct rec rec;

	CHECK(begin());
	CHECK_INT(journal_create(&j, fx.path, 1, META), 0);
	conf.journal = j;
	CHECK_INT(env_alloc(&env, &conf), 0);
	env_output(env, ENV_OUT_WS, 1, "abc", 3);
	env_digest(env, before);
	env_output(env, ENV_OUT_WS, 1, "", 0);
	env_digest(env, after);
	CHECK(strcmp(before, after) != 0); /* an empty message is one, too */
	env_finish(env);
	env_finish(env);
	env_output(env, ENV_OUT_WS, 1, "abc", 3);
	env_random(env, b, sizeof b);
	env_digest(env, before);
	CHECK_STR(before, after);
	env_free(env);
	journal_free(j);
	CHECK(slurp());
	CHECK(find(JOURNAL_DIGEST, 64, 0, &rec));
	CHECK_MEM(fx.file + rec.at + HEAD, 64, after, 64);
	CHECK_INT(rec.at + rec.n, fx.n);
	end();
}

TEST_OOM(journals_survive_every_failed_allocation)
{
	struct env_conf conf = {.loop = true, .replaying = true};
	struct journal_reader *r = NULL;
	struct journal *j = NULL;
	struct env *env = NULL;
	int err;

	CHECK(begin());
	err = journal_create(&j, fx.path, 2, META);
	if (!err)
		journal_write(
			j, 0,
			&(struct journal_record){.what = JOURNAL_RANDOM, .data = "abc", .len = 3});
	journal_free(j);
	if (!err)
		err = journal_open(&r, fx.path);
	if (!err)
		err = env_alloc(&env, &conf);
	if (!err)
		err = journal_attach(r, env, 0);
	env_free(env);
	journal_close(r);
	end();
	CHECK_OOM(err, (void)0);
}

/* ---- what every CPU has in common ---- */

static void sums(const char *sound, char digest[65], char shape[65])
{
	struct env_conf conf = {.loop = true, .replaying = true};
	struct env *env;

	CHECK_INT(env_alloc(&env, &conf), 0);
	env_output(env, ENV_OUT_WS, 1, "abc", 3);
	env_output_sound(env, ENV_OUT_DATAGRAM, 2, sound, strlen(sound), 3);
	env_digest(env, digest);
	env_shape(env, shape);
	env_free(env);
}

TEST(the_shape_of_what_is_sent_does_not_hang_on_sound)
{
	char digest[3][65], shape[3][65];

	sums("rtpsound", digest[0], shape[0]);
	sums("rtplonger sound", digest[1], shape[1]);
	sums("rTpsound", digest[2], shape[2]);
	CHECK(strcmp(digest[0], digest[1]) != 0);
	CHECK_STR(shape[0], shape[1]);
	CHECK(strcmp(shape[0], shape[2]) != 0);
}

TEST(a_journal_tells_the_shape_at_its_end)
{
	struct journal_reader *r;
	struct env_conf conf = {.loop = true};
	struct journal *j;
	struct env *env;
	char live[65], told[65];

	CHECK(begin());
	CHECK_INT(journal_create(&j, fx.path, 1, META), 0);
	conf.journal = j;
	CHECK_INT(env_alloc(&env, &conf), 0);
	env_output(env, ENV_OUT_WS, 1, "abc", 3);
	env_shape(env, live);
	env_free(env);
	journal_free(j);
	CHECK_INT(journal_open(&r, fx.path), 0);
	journal_recorded_shape(r, 0, told);
	CHECK_STR(told, live);
	journal_recorded_shape(r, 1, told);
	CHECK_STR(told, "");
	journal_close(r);
	end();
}

/* ---- secrets and shapes ---- */

static char got[64];

static void on_got(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	(void)kind, (void)arg;
	snprintf(got, sizeof got, "%.*s", (int)len, (const char *)data);
}

static size_t on_shape(uint8_t kind, const uint8_t *data, size_t len, char *text, size_t size)
{
	(void)data;
	return (size_t)snprintf(text, size, "kind %u, %zu long", kind, len);
}

/* One input, sixteen random bytes (kept in rnd), and the end; the file is in fx. */
static void record_one(bool shapes, bool with_shape, uint8_t rnd[16])
{
	struct env_conf conf = {.loop = true};
	struct journal *j;
	struct env *env;
	uint32_t src;

	CHECK_INT((shapes ? journal_create_shapes : journal_create)(&j, fx.path, 1, META), 0);
	CHECK(journal_of_shapes(j) == shapes);
	conf.journal = j;
	CHECK_INT(env_alloc(&env, &conf), 0);
	CHECK_INT(env_secret(env, "bot.token.long"), 0);
	CHECK_INT(env_source_add(env, &src, on_got, NULL), 0);
	if (with_shape)
		env_source_shape(env, src, on_shape);
	env_deliver(env, src, 7, "I am bot.token.long!", 20);
	env_random(env, rnd, 16);
	env_output(env, ENV_OUT_WS, 1, "bot.token.long", 14);
	env_free(env);
	journal_free(j);
	CHECK(slurp());
}

TEST(a_credential_is_in_no_journal_and_replays_without_it)
{
	const char *stars = "**************", *in = "I am **************!";
	struct env_conf conf = {.loop = true, .replaying = true};
	struct journal_reader *r;
	struct env *env;
	struct rec rec;
	uint8_t rnd[16];
	char recorded[1][65], now[65];
	uint64_t at;
	uint32_t src;

	CHECK(begin());
	record_one(false, false, rnd);
	CHECK_STR(got, in); /* what a replay will give its handler */
	CHECK(!memmem(fx.file, fx.n, "bot.token", 9));
	CHECK(find(JOURNAL_INPUT, 20, 0, &rec));
	CHECK_MEM(fx.file + rec.at + HEAD, 20, in, 20);
	CHECK_INT(journal_open(&r, fx.path), 0);
	CHECK_INT(env_alloc(&env, &conf), 0);
	CHECK_INT(journal_attach(r, env, 0), 0);
	CHECK_INT(env_source_add(env, &src, on_got, NULL), 0);
	CHECK_INT(journal_replay(r, &env, 1, &at, recorded),
		  EPROTO); /* the random bytes are read below */
	env_random(env, rnd, 16);
	env_output(env, ENV_OUT_WS, 1, stars, 14);
	env_digest(env, now);
	CHECK_STR(now, recorded[0]);
	env_free(env);
	journal_close(r);
	end();
}

TEST(a_journal_of_shapes_holds_no_input_and_no_random_bytes)
{
	static const uint8_t length[] = {0, 0, 0, 20};
	struct journal_reader *r;
	struct rec rec;
	uint8_t rnd[16];

	CHECK(begin());
	record_one(true, true, rnd);
	CHECK_MEM(fx.file, strlen(JOURNAL_FIRST_LINE_SHAPES), JOURNAL_FIRST_LINE_SHAPES,
		  strlen(JOURNAL_FIRST_LINE_SHAPES));
	CHECK(!memmem(fx.file, fx.n, "I am", 4));
	CHECK(!memmem(fx.file, fx.n, rnd, 4));
	CHECK(find(JOURNAL_RANDOM, 4, 0, &rec));
	CHECK(find(JOURNAL_INPUT, 4 + 15, 0, &rec));
	CHECK_MEM(fx.file + rec.at + HEAD, 4, length, 4);
	CHECK_MEM(fx.file + rec.at + HEAD + 4, 15, "kind 7, 20 long", 15);
	CHECK_INT(journal_open(&r, fx.path), ENOTSUP);
	/* A source that does not say what may be told tells nothing. */
	record_one(true, false, rnd);
	CHECK(!memmem(fx.file, fx.n, "I am", 4));
	CHECK(find(JOURNAL_INPUT, 4, 0, &rec));
	end();
}

TEST(journals_are_printed_a_line_a_record_and_without_what_came)
{
	char lines[2000];
	uint8_t rnd[16];
	size_t n;
	FILE *f;

	CHECK(begin());
	for (unsigned shapes = 0; shapes < 2; shapes++) {
		record_one(shapes, true, rnd);
		f = tmpfile();
		CHECK(f);
		CHECK_INT(journal_print(fx.path, f), 0);
		rewind(f);
		n = fread(lines, 1, sizeof lines - 1, f);
		fclose(f);
		lines[n] = '\0';
		CHECK(strstr(lines, shapes ? "0 0.000000 0 input 1/7 20 bytes kind 7, 20 long\n"
					   : "0 0.000000 0 input 1/7 20 bytes\n") == lines);
		CHECK(strstr(lines, " random 16 bytes\n"));
		CHECK(strstr(lines, " shape ") && strstr(lines, " digest "));
		CHECK(!strstr(lines, "I am"));
	}
	CHECK_INT(journal_print("/nowhere", stdout), ENOENT);
	end();
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_size;
}

/* What is in the file is not in memory any more. */
TEST(a_journal_keeps_no_copy_in_memory)
{
	struct own_memory *m = NULL;
	struct journal *j = NULL;
	struct timespec pause = {.tv_nsec = 1000000};
	struct journal_record r = {.what = JOURNAL_INPUT, .len = 500};
	off_t empty;
	int found = -1;

	CHECK(own_memory_begin(&m));
	CHECK(begin());
	CHECK_INT(journal_create(&j, fx.path, 1, META), 0);
	empty = size_of(fx.path);
	r.data = own_memory_message(m, r.len);
	journal_write(j, 0, &r);
	for (unsigned i = 0; i < 2000 && (size_of(fx.path) == empty || found); i++) {
		nanosleep(&pause, NULL);
		found = own_memory_count(m);
	}
	CHECK(size_of(fx.path) > empty);
	CHECK_INT(found, 0);
	journal_free(j);
	end();
	own_memory_end(m);
}
