/* End-to-end encryption of a call, from the gateway's messages to the keys of its stream, in
 * simulated time. Jobs run when the test allows it, with results set by the test. */
#include "tests/unit/mediad/call/secure_rig.h"

static const struct slot *slot_of(uint64_t user)
{
	const struct person *p = hear_find(rig.c, user);

	return p ? p->slot : NULL;
}

static struct slice seal_as_anna(struct dave_sealer *s, uint8_t *out, size_t cap)
{
	static const uint8_t opus[40] = {0x78, 1, 2, 3};
	struct slice frame = {out, 0};

	if (dave_seal(s, DAVE_OPUS, opus, sizeof opus, out, cap, &frame.n))
		abort();
	return frame;
}

static enum dave_opened open_anna(struct slice frame)
{
	uint8_t out[UDP_MAX_PACKET];
	uint64_t epoch;
	size_t n;

	return dave_open(hear_find(rig.c, ANNA)->slot->opener, frame, rig.now, out, sizeof out, &n,
			 &epoch);
}

/* Makes a sealer with the key of ANNA in the newest epoch. */
static int make_anna(struct dave_sealer **out)
{
	uint8_t base[DAVE_SECRET];
	struct dave_key *key = NULL;
	int err = dave_sealer_alloc(out);

	memset(base, (int)(rig.serial * 3), sizeof base);
	if (!err)
		err = dave_key_alloc(&key, base, 1, 0);
	if (!err)
		dave_sealer_set(*out, key);
	return err;
}

TEST(secure_lends_keys_of_each_epoch)
{
	CHECK_INT(rig_start(false), 0);
	rig_join("s1", 1);
	rig_audio();
	CHECK(rig.secure.known && !rig.secure.ready && rig.secure.version == 1);
	CHECK(rig.c->stream->dave_known && !rig.c->stream->clear);
	rig_work();
	CHECK_INT(rig.job, DAVE_JOB_RESET);
	rig_speaks(ANNA, 700);
	rig_binary(30, "\0\0welcome", 9);
	rig_work();
	rig_audio();
	CHECK_INT(rig.job, DAVE_JOB_WELCOME);
	CHECK(rig.secure.ready && rig.secure.members == 3 && rig.secure.epoch == 101);
	CHECK_INT(strlen(rig.privacy_code), 30);
	CHECK(rig.c->stream->epoch == (UINT64_C(1) << 32 | 1));
	CHECK(slot_of(ANNA)->epoch == rig.c->stream->epoch);
	/* An epoch whose transition waits: heard at once, sealed with at op 22. */
	rig_binary(29, "\0\5commit", 8);
	rig_work();
	rig_audio();
	CHECK(rig.secure.pending);
	CHECK(slot_of(ANNA)->epoch == (UINT64_C(1) << 32 | 2));
	CHECK(rig.c->stream->epoch == (UINT64_C(1) << 32 | 1));
	/* A speaker who speaks for the first time is lent both keys, the newest last. */
	rig_speaks(BEN, 800);
	rig_audio();
	rig_text("{\"op\":22,\"d\":{\"transition_id\":5}}");
	rig_audio();
	CHECK(!rig.secure.pending);
	CHECK(rig.c->stream->epoch == (UINT64_C(1) << 32 | 2));
	rig_finish();
}

TEST(secure_lends_the_next_generations)
{
	struct ev ev = {.type = EV_DAVE_NEXT};

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	ev.stream = rig.c->stream;
	ev.dave.epoch = rig.c->stream->epoch;
	ev.dave.generation = 1;
	call_engine_event(&ev, rig.c);
	ev.dave.user = ANNA;
	ev.dave.generation = 2;
	call_engine_event(&ev, rig.c);
	rig_audio();
	CHECK_INT(rig.c->stream->generation, 1);
	CHECK_INT(slot_of(ANNA)->generation, 2);
	/* Of an epoch that is not kept, or of nobody. */
	ev.dave.epoch++;
	ev.dave.generation = 3;
	call_engine_event(&ev, rig.c);
	ev.dave.user = BEN;
	call_engine_event(&ev, rig.c);
	ev.dave.user = 1234;
	call_engine_event(&ev, rig.c);
	rig_audio();
	CHECK_INT(slot_of(ANNA)->generation, 2);
	rig_finish();
}

/* A speaker far into its ratchet gets another slot: the ratchet continues where it was. */
TEST(secure_lends_a_new_slot_the_generation_in_use)
{
	struct media_listen listen = {.listen = 4, .user = ANNA, .rate = 24000, .silence_ms = 500};
	struct ev ev = {.type = EV_DAVE_NEXT};

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	call_listen(rig.c, &listen); /* so that who leaves is remembered */
	ev.stream = rig.c->stream;
	ev.dave.epoch = rig.c->stream->epoch;
	ev.dave.user = ANNA;
	ev.dave.generation = 2;
	call_engine_event(&ev, rig.c);
	rig_audio();
	rig_text("{\"op\":13,\"d\":{\"user_id\":\"7\"}}");
	rig_audio();
	CHECK(!slot_of(ANNA));
	rig_speaks(ANNA, 701);
	rig_audio();
	CHECK(slot_of(ANNA)->generation == 2 && slot_of(ANNA)->epoch == ev.dave.epoch);
	/* An epoch later all begin anew. */
	rig_binary(29, "\0\5commit", 8);
	rig_work();
	rig_text("{\"op\":13,\"d\":{\"user_id\":\"7\"}}");
	rig_audio();
	rig_speaks(ANNA, 702);
	rig_audio();
	CHECK(slot_of(ANNA)->generation == 0 && slot_of(ANNA)->epoch == ev.dave.epoch + 1);
	rig_finish();
}

/* Time goes on, and the timer of what is owed fires when it is due. */
static void pay_for(unsigned ms)
{
	for (; ms; ms -= 50) {
		rig_wait_ms(50);
		if (rig.c->secure.retry_wait_ms && rig.now >= rig.c->secure.retry_at)
			env_replay_step(rig.env, rig.now, rig.probe + 4, 0, NULL, 0);
	}
}

/* No memory for the keys of an epoch, nor of later generations: they are lent once there is, at a
 * bounded pace. */
TEST(secure_lends_deferred_keys_later)
{
	const uint64_t first = UINT64_C(1) << 32 | 1;
	struct ev ev = {.type = EV_DAVE_NEXT};

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	CHECK_INT(slot_of(ANNA)->epoch, first);
	rig.poor = true;
	rig_binary(29, "\0\5commit", 8);
	rig_work();
	rig.poor = false;
	rig_audio();
	CHECK_INT(slot_of(ANNA)->epoch, first);
	CHECK(hear_find(rig.c, ANNA)->deferred.is && rig.c->secure.retry_wait_ms);
	test_no_memory(true);
	pay_for(800);
	CHECK_INT(rig.c->secure.retry_wait_ms, 800);
	test_no_memory(false);
	rig_audio();
	CHECK_INT(slot_of(ANNA)->epoch, first);
	pay_for(800);
	rig_audio();
	CHECK(!rig.c->secure.retry_wait_ms && !hear_find(rig.c, ANNA)->deferred.is);
	CHECK_INT(slot_of(ANNA)->epoch, first + 1);
	rig_text("{\"op\":22,\"d\":{\"transition_id\":5}}");
	rig_audio();
	CHECK_INT(rig.c->stream->epoch, first + 1);
	/* Later generations of them. */
	ev.stream = rig.c->stream;
	ev.dave.epoch = first + 1;
	ev.dave.generation = 1;
	test_no_memory(true);
	call_engine_event(&ev, rig.c);
	ev.dave.user = ANNA;
	ev.dave.generation = 2;
	call_engine_event(&ev, rig.c);
	test_no_memory(false);
	rig_audio();
	CHECK(rig.c->stream->generation == 0 && slot_of(ANNA)->generation == 0);
	pay_for(100);
	rig_audio();
	CHECK(rig.c->stream->generation == 1 && slot_of(ANNA)->generation == 2);
	rig_finish();
}

/* An epoch that was followed by another is not owed any more, nor what was owed in a session that
 * is over. */
TEST(secure_defers_only_useful_keys)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig.poor = true;
	rig_binary(29, "\0\5commit", 8);
	rig_work();
	rig.poor = false;
	CHECK(hear_find(rig.c, ANNA)->deferred.is);
	rig_binary(29, "\0\6commit", 8);
	rig_work();
	rig_audio();
	CHECK(!hear_find(rig.c, ANNA)->deferred.is);
	pay_for(100);
	CHECK_INT(rig.c->secure.retry_wait_ms, 0);
	rig_audio();
	CHECK(slot_of(ANNA)->epoch == (UINT64_C(1) << 32 | 3));
	rig.poor = true;
	rig_binary(29, "\0\7commit", 8);
	rig_work();
	rig.poor = false;
	CHECK(hear_find(rig.c, ANNA)->deferred.is);
	rig_join("s2", 1);
	CHECK(!hear_find(rig.c, ANNA)->deferred.is && !rig.c->secure.retry_wait_ms);
	rig_finish();
}

/* A speaker was removed from the group before its last key could be lent: what it said until then
 * can still be heard. */
TEST(secure_lends_the_deferred_key_of_an_epoch_that_a_speaker_has_left)
{
	struct dave_sealer *sealer = NULL;
	uint8_t frame[100];

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig.poor = true;
	rig_binary(29, "\0\5commit", 8);
	rig_work();
	rig.poor = false;
	CHECK(hear_find(rig.c, ANNA)->deferred.is);
	CHECK_INT(make_anna(&sealer), 0);
	rig.without_anna = true;
	rig_binary(29, "\0\6commit", 8);
	rig_work();
	rig_audio();
	CHECK(hear_find(rig.c, ANNA)->deferred.is);
	pay_for(200);
	rig_audio();
	CHECK(!hear_find(rig.c, ANNA)->deferred.is);
	CHECK(slot_of(ANNA)->epoch == (UINT64_C(1) << 32 | 2));
	CHECK_INT(open_anna(seal_as_anna(sealer, frame, sizeof frame)), DAVE_SEALED);
	rig_wait_ms(DAVE_GRACE_MS);
	CHECK_INT(open_anna(seal_as_anna(sealer, frame, sizeof frame)), DAVE_NO_KEY);
	dave_sealer_free(sealer);
	rig_finish();
}

/* The keys of an epoch that is over, its grace included, are lent to nobody. */
TEST(secure_drops_the_deferred_key_of_an_epoch_that_is_over)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig.poor = true;
	rig_binary(29, "\0\5commit", 8);
	rig_work();
	rig.poor = false;
	rig.without_anna = true;
	rig_binary(29, "\0\6commit", 8);
	rig_work();
	rig_audio();
	rig_wait_ms(11000);
	env_replay_step(rig.env, rig.now, rig.probe + 4, 0, NULL, 0);
	rig_audio();
	CHECK(!hear_find(rig.c, ANNA)->deferred.is && !rig.c->secure.retry_wait_ms);
	CHECK(slot_of(ANNA)->epoch == (UINT64_C(1) << 32 | 1));
	rig_finish();
}

TEST(secure_verifies_members)
{
	struct media_verify m = {.user = ANNA};

	CHECK_INT(rig_start(false), 0);
	call_verify(rig.c, &m);
	CHECK_INT(rig.codes, 1);
	CHECK_STR(rig.code, "");
	rig_settled();
	call_verify(rig.c, &m);
	rig_work();
	CHECK_INT(rig.job, DAVE_JOB_CODE);
	CHECK_INT(rig.codes, 2);
	CHECK_INT(strlen(rig.code), 45);
	m.user = 1234;
	call_verify(rig.c, &m);
	CHECK_INT(rig.codes, 3);
	CHECK_STR(rig.code, "");
	rig_finish();
}

TEST(secure_a_new_control_is_told)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig.told = 0;
	call_send_all(rig.c);
	CHECK_INT(rig.told, 1);
	CHECK_INT(rig.secure.members, 3);
	rig_finish();
}

/* Whatever finds no memory: nothing leaks, and the call can be left. */
TEST_OOM(secure_oom)
{
	struct ev ev = {.type = EV_DAVE_NEXT};
	int err = rig_start(false);

	if (err) {
		rig_finish();
		CHECK_OOM(err, (void)0);
	}
	rig_settled();
	rig_binary(29, "\0\5commit", 8);
	rig_work();
	rig_speaks(BEN, 800);
	rig_audio();
	ev.stream = rig.c->stream;
	ev.dave.epoch = rig.c->stream->epoch;
	ev.dave.generation = 1;
	call_engine_event(&ev, rig.c);
	call_verify(rig.c, &(struct media_verify){.user = ANNA});
	for (unsigned i = 0; i < 4; i++)
		rig_work();
	rig_wait_ms(1000);
	call_leave(rig.c);
	rig_audio();
	rig_finish();
}

/* Seals ANNA's next frame of the present epoch. */
/* The voice server records a frame of ANNA, says that she left and came back, which gives her
 * another slot with the same key, and sends the frame again. */
TEST(secure_another_slot_hears_no_frame_again)
{
	uint8_t first[100], second[100];
	struct dave_sealer *sealer = NULL;
	struct slice recorded;

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	CHECK_INT(make_anna(&sealer), 0);
	recorded = seal_as_anna(sealer, first, sizeof first);
	CHECK_INT(open_anna(recorded), DAVE_SEALED);
	CHECK_INT(open_anna(recorded), DAVE_REPLAYED);
	for (unsigned i = 0; i < 2; i++) {
		rig_text("{\"op\":13,\"d\":{\"user_id\":\"7\"}}");
		rig_text("{\"op\":11,\"d\":{\"user_ids\":[\"7\"]}}");
		rig_speaks(ANNA, 700);
		/* The first slot returns; then the second gets its keys. */
		CHECK_INT(hear_find(rig.c, ANNA)->returning, 1);
		rig_audio();
		CHECK_INT(open_anna(recorded), DAVE_NO_KEY);
		rig_audio();
		CHECK_INT(hear_find(rig.c, ANNA)->returning, 0);
		CHECK_INT(open_anna(recorded), DAVE_REPLAYED);
		CHECK_INT(open_anna(seal_as_anna(sealer, second, sizeof second)), DAVE_SEALED);
	}
	dave_sealer_free(sealer);
	rig_finish();
}

/* A slot that is lent just before the session gives up an epoch keeps its key no longer. */
TEST(secure_lends_an_older_key_for_the_time_that_is_left)
{
	struct dave_sealer *sealer = NULL;
	uint8_t frame[100];

	for (unsigned gone = 0; gone < 2; gone++) {
		CHECK_INT(rig_start(false), 0);
		rig_settled();
		CHECK_INT(make_anna(&sealer), 0);
		rig.without_anna = gone;
		rig_binary(29, "\0\5commit", 8);
		rig_work();
		rig_audio();
		rig_wait_ms(DAVE_GRACE_MS - 100);
		rig_text("{\"op\":13,\"d\":{\"user_id\":\"7\"}}");
		rig_speaks(ANNA, 700);
		rig_audio();
		rig_audio();
		CHECK_INT(open_anna(seal_as_anna(sealer, frame, sizeof frame)), DAVE_SEALED);
		rig_wait_ms(200);
		CHECK_INT(open_anna(seal_as_anna(sealer, frame, sizeof frame)),
			  gone ? DAVE_NO_KEY : DAVE_FAILED);
		dave_sealer_free(sealer);
		rig_finish();
	}
}

/* Everybody who was in the group with ANNA has the key by which she was heard. */
TEST(secure_hears_nobody_by_the_key_of_a_group_that_they_have_left)
{
	struct dave_sealer *sealer = NULL;
	uint8_t frame[100];

	for (unsigned slots = 1; slots <= 2; slots++) {
		CHECK_INT(rig_start(false), 0);
		rig_settled();
		CHECK_INT(make_anna(&sealer), 0);
		rig.without_anna = true;
		rig_binary(29, "\0\5commit", 8);
		rig_work();
		rig_audio();
		if (slots == 2) { /* the voice server has her come back */
			rig_text("{\"op\":13,\"d\":{\"user_id\":\"7\"}}");
			rig_speaks(ANNA, 700);
			rig_audio();
			rig_audio();
		}
		CHECK_INT(open_anna(seal_as_anna(sealer, frame, sizeof frame)), DAVE_SEALED);
		rig_wait_ms(DAVE_GRACE_MS);
		CHECK_INT(open_anna(seal_as_anna(sealer, frame, sizeof frame)), DAVE_NO_KEY);
		dave_sealer_free(sealer);
		rig_finish();
	}
}
