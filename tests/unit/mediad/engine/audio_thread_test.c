/* The steps of an audio thread without the thread, and the choice of a thread for a stream. */
#include "mediad/engine/audio_thread.h"

#include "ipc/env.h"
#include "ipc/env_replay.h"
#include "ipc/journal.h"
#include "mediad/engine/engine.h"
#include "proto/base/time.h"
#include "tests/test.h"

#define TICK (20 * NS_PER_MS)

enum { STREAMS = 17, SOURCE_COMMAND = 1, SOURCE_TICK = 3, SOURCE_WORK = 4 };

static struct rig {
	struct audio_thread *t;
	struct env *env;
	struct call_stream *streams[STREAMS];
	uint64_t now;
} rig;

/* The kernel takes what is sent, and every ring has room. */
static const uint8_t *world(uint8_t what, size_t n, void *arg)
{
	static const uint8_t one[8] = {[7] = 1}, none[64];

	(void)arg;
	return what == JOURNAL_ANSWER ? one : n <= sizeof none ? none : NULL;
}

static void step(uint32_t source)
{
	env_replay_step(rig.env, rig.now, source, 0, NULL, 0);
}

static void command(struct call_stream *cs, struct cmd c)
{
	c.stream = cs;
	audio_thread_push(rig.t, &c);
	step(SOURCE_COMMAND);
}

static int add_stream(unsigned i)
{
	static const uint8_t key[RTPSIZE_KEY];
	struct cmd set_key = {.type = CMD_KEY};
	int err = call_stream_alloc(&rig.streams[i], NULL, 64000);

	if (!err)
		err = rtpsize_alloc(&set_key.key, RTPSIZE_XCHACHA20_POLY1305, key);
	if (err)
		return err;
	command(rig.streams[i], (struct cmd){.type = CMD_STREAM_ADD});
	command(rig.streams[i],
		(struct cmd){.type = CMD_LINK, .link = {.fd = -1, .link = 1, .ssrc = i + 1}});
	command(rig.streams[i], set_key);
	command(rig.streams[i], (struct cmd){.type = CMD_SPEAKING_SENT});
	return 0;
}

static unsigned count_sent(uint16_t seq)
{
	unsigned n = 0;

	for (unsigned i = 0; i < STREAMS; i++)
		n += rig.streams[i]->seq == seq;
	return n;
}

static unsigned count_work(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < STREAMS; i++)
		n += rig.streams[i]->work_due;
	return n;
}

/* A millisecond before the first deadline. */
static int start_streams(void)
{
	int err;

	memset(&rig, 0, sizeof rig);
	rig.now = 1000 * TICK - NS_PER_MS;
	err = audio_thread_alloc(&rig.t, 1, true, NULL);
	if (err)
		return err;
	rig.env = audio_thread_env(rig.t);
	env_replay_world(rig.env, world, NULL);
	for (unsigned i = 0; i < STREAMS && !err; i++)
		err = add_stream(i);
	return err;
}

/* Streams share eight phases. All that are due send in one step, before any of them encodes. */
TEST(audio_thread_sends_for_all_streams_first)
{
	CHECK_INT(start_streams(), 0);
	rig.now = 1000 * TICK;
	step(SOURCE_TICK);
	/* Three of the seventeen have the first phase. */
	CHECK_INT(count_sent(1), 3);
	CHECK_INT(count_work(), 3);
	step(SOURCE_WORK);
	CHECK_INT(count_work(), 2);
	step(SOURCE_WORK);
	step(SOURCE_WORK);
	CHECK_INT(count_work(), 0);
	step(SOURCE_WORK); /* nothing is left */
	for (unsigned phase = 1; phase < 8; phase++) {
		rig.now += TICK / 8;
		step(SOURCE_TICK);
	}
	CHECK_INT(count_sent(1), STREAMS);
	audio_thread_free(rig.t);
}

/* The thread had time to encode for one of three streams. At the next deadline that one sends in
 * time; the others send as soon as their work is done, the oldest first, and without a gap. */
TEST(audio_thread_makes_up_for_late_work)
{
	CHECK_INT(start_streams(), 0);
	rig.now = 1000 * TICK;
	step(SOURCE_TICK);
	step(SOURCE_WORK);
	rig.now += TICK;
	step(SOURCE_TICK);
	CHECK_INT(rig.streams[0]->seq, 2);
	CHECK_INT(rig.streams[8]->seq, 1);
	CHECK_INT(rig.streams[16]->seq, 1);
	step(SOURCE_WORK);
	step(SOURCE_TICK);
	CHECK_INT(rig.streams[8]->seq, 2);
	CHECK_INT(rig.streams[16]->seq, 1);
	step(SOURCE_WORK);
	step(SOURCE_TICK);
	CHECK_INT(rig.streams[16]->seq, 2);
	audio_thread_free(rig.t);
}

/* After a stall the silence of those who were speaking begins anew. A tick that is a little late is
 * no stall. */
TEST(audio_thread_tells_of_a_stall)
{
	static const uint8_t sound[100];
	const struct audio_packet pkt = {.p = sound, .n = sizeof sound, .level = -1};
	struct cmd add = {.type = CMD_SLOT_ADD};
	uint64_t due;

	CHECK_INT(start_streams(), 0);
	CHECK_INT(slot_alloc(&add.slot.slot, rig.streams[0], 4, true, 1), 0);
	command(rig.streams[0], add);
	rig.now = 1000 * TICK;
	step(SOURCE_TICK);
	audio_speaker_put(add.slot.slot->speaker, &pkt, rig.now);
	due = audio_speaker_due(add.slot.slot->speaker);
	CHECK(due > rig.now && due < rig.now + NS_PER_S);
	rig.now += 4 * TICK;
	step(SOURCE_TICK);
	CHECK_INT(audio_speaker_due(add.slot.slot->speaker), due);
	rig.now += 50 * TICK;
	step(SOURCE_TICK);
	CHECK_INT(audio_speaker_due(add.slot.slot->speaker), due + 54 * TICK);
	audio_thread_free(rig.t);
}

/* A stream is removed while its work is due, and another one takes its place. */
TEST(audio_thread_forgets_the_work_of_a_removed_stream)
{
	CHECK_INT(start_streams(), 0);
	rig.now = 1000 * TICK;
	step(SOURCE_TICK);
	command(rig.streams[0], (struct cmd){.type = CMD_STREAM_REMOVE});
	step(SOURCE_WORK);
	CHECK(!rig.streams[8]->work_due);
	CHECK(rig.streams[16]->work_due);
	audio_thread_free(rig.t);
}

/* A stream is removed before its deadline. */
TEST(audio_thread_forgets_the_deadline_of_a_removed_stream)
{
	struct call_stream *left;

	CHECK_INT(start_streams(), 0);
	left = rig.streams[1];
	command(left, (struct cmd){.type = CMD_STREAM_REMOVE});
	rig.now = 1000 * TICK + TICK / 2;
	step(SOURCE_TICK);
	CHECK_INT(left->seq, 0);
	CHECK_INT(rig.streams[9]->seq, 1);
	audio_thread_free(rig.t);
}

static void on_event(const struct ev *ev, void *owner)
{
	(void)ev, (void)owner;
}

/* Streams of one thread share wakes, so eight come together before the next thread gets one. */
TEST(engine_keeps_a_few_streams_together)
{
	struct env_conf ec = {.replaying = true};
	struct engine_conf gc = {.threads = 2, .evh = on_event};
	struct call_stream *streams[STREAMS + 1];
	unsigned on[2] = {0};
	struct engine *e;

	CHECK_INT(env_alloc(&gc.env, &ec), 0);
	env_replay_world(gc.env, world, NULL);
	CHECK_INT(engine_alloc(&e, &gc), 0);
	for (unsigned i = 0; i <= STREAMS; i++) {
		CHECK_INT(call_stream_alloc(&streams[i], NULL, 64000), 0);
		CHECK_INT(engine_add_stream(e, streams[i]), 0);
		on[streams[i]->thread]++;
		if (i == 7)
			CHECK(on[0] == 8 && on[1] == 0);
		if (i == 15)
			CHECK(on[0] == 8 && on[1] == 8);
	}
	CHECK(on[0] == 9 && on[1] == 9);
	engine_free(e);
	env_free(gc.env);
}
