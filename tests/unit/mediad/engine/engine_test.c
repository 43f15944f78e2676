/* The engine with its threads, over loopback; and the same scene again from its journal. */
#include <pthread.h>
#include <stdatomic.h>
#include <errno.h>
#include <event2/event.h>
#include <seccomp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mediad/engine/audio_thread.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/mediad/engine/stream_fixture.h"

static void play(struct stream_fixture *b)
{
	CHECK_INT(stream_fixture_alloc(b, NULL, NULL, 1), 0);
	CHECK_INT(stream_fixture_begin(b), 0);
	env_run(b->env);
	CHECK(!b->timed_out);
}

static void check_tone(const struct stream_fixture *b)
{
	CHECK(b->discovered && b->gone && b->link_gone && b->key_gone);
	CHECK_INT(b->bad, 0);
	CHECK_INT(b->before_speaking, 0);
	CHECK_INT(b->lane_started, 1);
	CHECK_INT(b->lane_drained, 1);
	CHECK_INT(b->lane_stopped, 0);
	CHECK_INT(b->lane_samples, 400 * 48);
	CHECK_INT(b->out_of_order, 0);
	CHECK_INT(b->ends, 1);
	CHECK_INT(b->end_reason, MEDIA_REASON_SILENCE);
	CHECK(b->samples >= 400 * 24 && b->samples <= 560 * 24);
	CHECK(b->tone > 1500 && b->tone > 50 * b->other);
}

TEST(engine_says_and_hears)
{
	struct stream_fixture b = {.tone_ms = 400, .mode = RTPSIZE_XCHACHA20_POLY1305};

	play(&b);
	check_tone(&b);
	/* At joining and after the utterance. */
	CHECK(b.silent >= 10);
	CHECK(b.speaking_on >= 1);
	stream_fixture_free(&b);
}

TEST(engine_says_and_hears_in_the_other_mode)
{
	struct stream_fixture b = {.tone_ms = 400, .mode = RTPSIZE_AES256_GCM};

	play(&b);
	check_tone(&b);
	stream_fixture_free(&b);
}

TEST(engine_says_and_hears_sealed)
{
	struct stream_fixture b = {.tone_ms = 400, .encrypted = true};

	play(&b);
	check_tone(&b);
	CHECK_INT(b.plain, 0);
	CHECK_INT(b.outages, 0);
	CHECK_INT(b.proofs, 1);
	stream_fixture_free(&b);
}

static int play_without_pwait2(void)
{
	struct stream_fixture b = {.tone_ms = 400};
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);

	if (!f || seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(epoll_pwait2), 0) ||
	    seccomp_load(f))
		return 2;
	play(&b);
	return b.timed_out || b.lane_drained != 1 || b.ends != 1 || b.samples < 400 * 24;
}

/* On a kernel or in a container without it. */
TEST(engine_says_and_hears_without_epoll_pwait2)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(play_without_pwait2());
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
}

/* Every frame of every epoch is heard, also of those whose key is late. */
TEST(engine_hears_through_new_epochs)
{
	struct stream_fixture b = {.tone_ms = 800, .encrypted = true, .rekey_ms = 50};

	play(&b);
	CHECK_INT(b.plain, 0);
	CHECK(b.epochs >= 8);
	CHECK(b.proofs >= 5);
	CHECK_INT(b.outages, 0);
	CHECK_INT(b.lane_drained, 1);
	CHECK_INT(b.lane_samples, 800 * 48);
	CHECK_INT(b.out_of_order, 0);
	CHECK_INT(b.ends, 1);
	CHECK(!(b.flags & MEDIA_HEARD_CONCEALED));
	CHECK(b.samples >= 800 * 24 && b.samples <= 960 * 24);
	CHECK(b.tone > 1500 && b.tone > 50 * b.other);
	stream_fixture_free(&b);
}

/* What came before anybody said whose SSRC it is is kept. */
TEST(engine_keeps_sound_of_unknown_speakers)
{
	struct stream_fixture b = {.tone_ms = 400, .map_late_ms = 400};

	play(&b);
	check_tone(&b);
	stream_fixture_free(&b);
}

/* The sanitizers can tell of every allocation of every library; other builds have no such door. */
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
					      void (*)(const volatile void *))
	__attribute__((weak));
static pthread_t loop_thread;
static atomic_uint elsewhere;

static void on_malloc(const volatile void *p, size_t n)
{
	(void)p, (void)n;
	if (!pthread_equal(pthread_self(), loop_thread))
		atomic_fetch_add(&elsewhere, 1);
}

static void on_free(const volatile void *p)
{
	if (p)
		on_malloc(p, 0);
}

/* From here on; how a sanitizer starts a thread is its own affair. */
static void count_anew(void)
{
	atomic_store(&elsewhere, 0);
}

/* Law 3: a call's whole life, in and out, without an allocation on the audio thread. */
TEST(engine_audio_thread_allocates_nothing)
{
	static bool installed;
	struct stream_fixture b = {.tone_ms = 400,
				   .map_late_ms = 200,
				   .foundh = count_anew,
				   .encrypted = true,
				   .rekey_ms = 100};

	if (!__sanitizer_install_malloc_and_free_hooks)
		return;
	loop_thread = pthread_self();
	if (!installed)
		installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) != 0;
	CHECK(installed);
	CHECK_INT(stream_fixture_alloc(&b, NULL, NULL, 1), 0);
	CHECK_INT(stream_fixture_begin(&b), 0);
	env_run(b.env);
	CHECK(!b.timed_out);
	CHECK_INT(atomic_load(&elsewhere), 0);
	check_tone(&b);
	stream_fixture_free(&b);
}

TEST(engine_udp_blocked)
{
	struct stream_fixture b = {.no_server = true};

	play(&b);
	CHECK(b.udp_failed && b.gone && b.link_gone);
	CHECK_INT(b.rtp, 0);
	stream_fixture_free(&b);
}

TEST(engine_leaves_while_speaking)
{
	struct stream_fixture b = {.tone_ms = 800, .leave_early = true};

	play(&b);
	CHECK(b.gone && b.link_gone && b.key_gone);
	CHECK_INT(b.lane_stopped, 1);
	CHECK(b.lane_samples < 800 * 48);
	stream_fixture_free(&b);
}

/* Freed with everything lent and commands under way: nothing leaks (ASan looks). */
TEST(engine_freed_in_the_middle)
{
	struct stream_fixture b = {.tone_ms = 400};

	CHECK_INT(stream_fixture_alloc(&b, NULL, NULL, 2), 0);
	CHECK_INT(stream_fixture_begin(&b), 0);
	stream_fixture_free(&b);
}

/* More commands than the ring holds, faster than the thread takes them: all of them arrive, in
 * order. */
TEST(engine_waits_when_the_ring_is_full)
{
	struct stream_fixture b = {.no_server = true};
	struct cmd c = {.type = CMD_SET, .set = {.bitrate = 64000}};

	CHECK_INT(stream_fixture_alloc(&b, NULL, NULL, 1), 0);
	CHECK_INT(stream_fixture_begin(&b), 0);
	for (unsigned i = 0; i < 20000; i++) {
		c.set.bitrate = 8000 + i;
		CHECK_INT(engine_send(b.engine, b.stream, &c), 0);
	}
	c = (struct cmd){.type = CMD_STREAM_REMOVE};
	CHECK_INT(engine_send(b.engine, b.stream, &c), 0);
	env_run(b.env);
	CHECK(!b.timed_out && b.gone && b.link_gone);
	stream_fixture_free(&b);
}

/* More events at once than the event ring holds, while the loop thread is busy: none is lost. A
 * stream without a session returns every key. */
TEST(engine_loses_no_event)
{
	enum { KEYS = 6000 };
	static const uint8_t key[RTPSIZE_KEY];
	struct cmd c = {.type = CMD_STREAM_REMOVE};
	struct stream_fixture b = {0};
	struct call_stream *l;

	CHECK_INT(stream_fixture_alloc(&b, NULL, NULL, 1), 0);
	CHECK_INT(call_stream_alloc(&l, &b, 64000), 0);
	CHECK_INT(engine_add_stream(b.engine, l), 0);
	b.stream = l;
	for (unsigned i = 0; i < KEYS; i++) {
		struct cmd k = {.type = CMD_KEY};

		CHECK_INT(rtpsize_alloc(&k.key, RTPSIZE_XCHACHA20_POLY1305, key), 0);
		CHECK_INT(engine_send(b.engine, l, &k), 0);
	}
	CHECK_INT(engine_send(b.engine, l, &c), 0);
	tmr_start(b.deadline, 60000 * NS_PER_MS);
	env_run(b.env);
	CHECK(b.gone && !b.timed_out);
	CHECK_INT(b.keys_gone, KEYS);
	stream_fixture_free(&b);
}

/* The event ring is full when the loop thread looks at it: other inputs get their turns. */
TEST(engine_handles_a_flood_of_events_in_turns)
{
	enum { KEYS = 900, A_TURN = 256 };
	static const uint8_t key[RTPSIZE_KEY];
	struct cmd c = {.type = CMD_STREAM_REMOVE};
	struct stream_fixture b = {0};
	struct call_stream *l;
	uint64_t full;
	unsigned most = 0;

	CHECK_INT(stream_fixture_alloc(&b, NULL, NULL, 1), 0);
	CHECK_INT(call_stream_alloc(&l, &b, 64000), 0);
	CHECK_INT(engine_add_stream(b.engine, l), 0);
	b.stream = l;
	for (unsigned i = 0; i < KEYS; i++) {
		struct cmd k = {.type = CMD_KEY};

		CHECK_INT(rtpsize_alloc(&k.key, RTPSIZE_XCHACHA20_POLY1305, key), 0);
		CHECK_INT(engine_send(b.engine, l, &k), 0);
	}
	event_base_loop(env_base(b.env),
			EVLOOP_ONCE | EVLOOP_NONBLOCK); /* wakes the audio thread */
	full = env_now(b.env) + 200 * NS_PER_MS;
	while (env_now(b.env) < full) {
		/* The loop thread is busy while the audio thread returns the keys. */
	}
	CHECK_INT(engine_send(b.engine, l, &c), 0);
	tmr_start(b.deadline, 60000 * NS_PER_MS);
	while (!b.gone && !b.timed_out) {
		unsigned before = b.keys_gone;

		event_base_loop(env_base(b.env), EVLOOP_ONCE);
		most = b.keys_gone - before > most ? b.keys_gone - before : most;
	}
	CHECK(b.gone && !b.timed_out);
	CHECK_INT(b.keys_gone, KEYS);
	CHECK(most <= 2 * A_TURN);
	stream_fixture_free(&b);
}

/* ---- the journal ---- */

static int replay(const char *path, uint8_t key, struct stream_fixture *b, uint64_t *at, bool *same)
{
	struct journal_reader *r = NULL;
	struct env *envs[3];
	char recorded[3][65], hex[65];
	int err = journal_open(&r, path);

	*b = (struct stream_fixture){.tone_ms = 400,
				     .music_ms = 300,
				     .map_late_ms = 300,
				     .key_first_byte = key,
				     .encrypted = true,
				     .rekey_ms = 70};
	*same = true;
	if (!err)
		err = stream_fixture_alloc(b, NULL, r, 2);
	if (!err)
		err = stream_fixture_begin(b);
	if (!err) {
		envs[0] = b->env;
		envs[1] = engine_env(b->engine, 1);
		envs[2] = engine_env(b->engine, 2);
		err = journal_replay(r, envs, 3, at, recorded);
	}
	for (unsigned i = 0; i < 3 && !err; i++) {
		env_digest(envs[i], hex);
		*same = *same && strcmp(hex, recorded[i]) == 0;
	}
	stream_fixture_free(b);
	journal_close(r);
	return err;
}

TEST(engine_replays_byte_for_byte)
{
	struct stream_fixture b = {.tone_ms = 400,
				   .music_ms = 300,
				   .map_late_ms = 300,
				   .encrypted = true,
				   .rekey_ms = 70},
			      again;
	char path[] = "/tmp/parley-engine-XXXXXX";
	struct journal *j = NULL;
	int fd = mkstemp(path), err;
	uint64_t at = 0;
	bool same;

	CHECK(fd >= 0);
	close(fd);
	CHECK_INT(journal_create(&j, path, 3, "{}"), 0);
	CHECK_INT(stream_fixture_alloc(&b, j, NULL, 2), 0);
	CHECK_INT(stream_fixture_begin(&b), 0);
	env_run(b.env);
	CHECK(!b.timed_out);
	CHECK(b.tone > 1000 && b.music_drained);
	engine_join(b.engine);
	stream_fixture_free(&b);
	journal_free(j);

	err = replay(path, 0, &again, &at, &same);
	CHECK_INT(err, 0);
	CHECK(same);
	CHECK_INT(again.heard, b.heard);
	CHECK(again.tone == b.tone);
	CHECK(b.music_read && !again.music_read && again.music_frames == b.music_frames);
	/* Another key: the check must see the difference. */
	err = replay(path, 1, &again, &at, &same);
	CHECK(err == EPROTO || !same);
	unlink(path);
}

/* ---- memory ---- */

TEST_OOM(engine_alloc_oom)
{
	struct stream_fixture b = {0};

	CHECK_OOM(stream_fixture_alloc(&b, NULL, NULL, 2), stream_fixture_free(&b));
	stream_fixture_free(&b);
}

TEST_OOM(line_alloc_oom)
{
	struct call_stream *l = NULL;
	struct slot *s = NULL;

	CHECK_OOM(call_stream_alloc(&l, NULL, 64000), (void)0);
	CHECK_OOM(slot_alloc(&s, l, 5, true, 1), call_stream_free(l));
	slot_free(s);
	call_stream_free(l);
}
