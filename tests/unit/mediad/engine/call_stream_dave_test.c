/* Two call streams and their end-to-end keys. */
#include "mediad/dave/session.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/mediad/engine/pair.h"

static struct audio_stats audio(void)
{
	struct audio_stats st;

	audio_speaker_stats(pair.slot->speaker, &st);
	return st;
}

/* All of what was said was heard, with the silence behind it, and nothing was made up. */
static bool heard_all(unsigned ms)
{
	return pair.rx.samples >= ms * (PAIR_RATE / 1000) &&
	       pair.rx.samples <= (ms + 120) * (PAIR_RATE / 1000) &&
	       !(pair.rx.flags & MEDIA_HEARD_CONCEALED) && !audio().lost &&
	       pair.rx.loud / pair.rx.samples > 3000;
}

TEST(call_stream_dave_round_trip)
{
	CHECK_INT(pair_start(), 0);
	pair_open_key(1);
	pair_send_key(1);
	pair_say(1000, true);
	pair_run(2000);
	CHECK(heard_all(1000));
	CHECK_INT(pair.packets, 50 + 1 + 5);
	CHECK_INT(pair.silent, 5);
	CHECK_INT(pair.tx.drained, 1);
	CHECK_INT(pair.tx.lane_samples, LANE_RATE);
	CHECK(pair.rx.proofs == 1 && pair.rx.proved == 1);
	CHECK_INT(pair.rx.ends, 1);
	pair_ask_stats();
	CHECK(!pair.rx.stats.undecryptable && !pair.rx.stats.not_sealed && !pair.rx.stats.outages);
	pair_finish();
}

/* An SSRC that went to another slot and came back is proven again within the epoch, as the loop
 * thread forgets the proof with each mapping. */
TEST(call_stream_dave_proves_an_ssrc_after_each_mapping)
{
	CHECK_INT(pair_start(), 0);
	pair_open_key(1);
	pair_send_key(1);
	pair_say(400, true);
	pair_run(1000);
	CHECK_INT(pair.rx.proofs, 1);
	pair_map(77);
	pair_map(PAIR_SSRC);
	pair_say(400, true);
	pair_run(1500);
	CHECK_INT(pair.rx.proofs, 2);
	pair_finish();
}

/* Version 0. */
TEST(call_stream_dave_clear)
{
	CHECK_INT(pair_start(), 0);
	pair_clear(&pair.tx, true, UINT64_MAX);
	pair_clear(&pair.rx, true, UINT64_MAX);
	pair_say(1000, true);
	pair_run(2000);
	CHECK(heard_all(1000));
	CHECK_INT(pair.rx.proofs, 0);
	pair_finish();
}

/* ---- new keys ---- */

static uint64_t epoch_of_next_frame;

/* A frame that opens with the newest key of the sender, and with no other. */
static bool check_epoch(uint8_t *p, size_t *n, const struct rtp_header *h)
{
	struct dave_opener *o;
	uint8_t out[UDP_MAX_PACKET];
	uint64_t epoch;
	size_t len;

	(void)h;
	if (opus_is_silence(p, *n) || !epoch_of_next_frame || dave_opener_alloc(&o))
		return true;
	dave_opener_add(o, pair_key(epoch_of_next_frame, 0), pair.now, NULL, NULL);
	if (dave_open(o, (struct slice){p, *n}, pair.now, out, sizeof out, &len, &epoch) !=
	    DAVE_SEALED)
		epoch_of_next_frame = 0;
	dave_opener_free(o);
	return true;
}

/* Keys change at any moment, for either side first, up to half a second apart: no frame is lost,
 * and the first one after the change has the new key. */
TEST(call_stream_dave_new_epochs_lose_nothing)
{
	static const unsigned late_ms[] = {0, 5, 100, 300, 500};

	for (unsigned i = 0; i < 2 * sizeof late_ms / sizeof late_ms[0]; i++) {
		unsigned late = late_ms[i / 2];

		CHECK_INT(pair_start(), 0);
		pair_open_key(1);
		pair_send_key(1);
		pair_say(1800, true);
		pair_run(400 + i);
		pair.relay = check_epoch;
		for (uint64_t epoch = 2; epoch < 4; epoch++) {
			if (i % 2)
				pair_open_key(epoch);
			else
				pair_send_key(epoch);
			epoch_of_next_frame = i % 2 ? epoch - 1 : epoch;
			pair_run(late);
			if (i % 2)
				pair_send_key(epoch);
			else
				pair_open_key(epoch);
			CHECK(epoch_of_next_frame);
			epoch_of_next_frame = epoch;
			pair_run(100);
		}
		pair_run(2500);
		CHECK(epoch_of_next_frame);
		CHECK(heard_all(1800));
		CHECK_INT(pair.rx.proved, 3);
		CHECK_INT(pair.slot->undecryptable, 0);
		CHECK_INT(pair.slot->n_pending, 0);
		CHECK_INT(pair.tx.lane_samples, 1800 * 48);
		pair_finish();
	}
}

/* The utterance ends while the key is under way: its silence waits behind it. */
TEST(call_stream_dave_silence_waits_its_turn)
{
	CHECK_INT(pair_start(), 0);
	pair_open_key(1);
	pair_send_key(1);
	pair_say(1000, true);
	pair_run(900);
	pair_send_key(2);
	pair_run(400);
	CHECK(pair.slot->n_pending > 5);
	pair_open_key(2);
	pair_run(1500);
	CHECK(heard_all(1000));
	CHECK_INT(audio().late, 0);
	pair_finish();
}

/* ---- the gate ---- */

/* Law 10: nothing is said before it is known how. */
TEST(call_stream_dave_new_stream_is_closed)
{
	CHECK_INT(pair_start(), 0);
	pair_say(1000, false);
	pair_run(3000);
	CHECK_INT(pair.packets, 0);
	pair_clear(&pair.tx, false, 0); /* encrypted, but there is no key */
	pair_run(1000);
	CHECK_INT(pair.packets, 0);
	pair_open_key(1);
	pair_send_key(1);
	pair_run(100);
	CHECK(pair.packets);
	pair_end_lane();
	pair_run(2000);
	CHECK(heard_all(1000));
	pair_finish();
}

static bool sealed_only(uint8_t *p, size_t *n, const struct rtp_header *h)
{
	(void)h;
	if (!opus_is_silence(p, *n) && !dave_frame_parse(&(struct dave_frame){0}, p, *n))
		pair.tx.flags |= 1;
	return true;
}

/* The key is taken away in the middle and comes again: no sample is lost, RTP time goes on. */
TEST(call_stream_dave_pauses_without_a_key)
{
	uint32_t ts;
	unsigned n;

	CHECK_INT(pair_start(), 0);
	pair.relay = sealed_only;
	pair_open_key(1);
	pair_send_key(1);
	pair_say(1000, true);
	pair_run(500);
	n = pair.packets;
	pair_send_key(0);
	ts = pair.tx.l->ts;
	pair_run(2000);
	CHECK_INT(pair.packets, n + 5); /* silence ends it */
	CHECK_INT(pair.silent, 5);
	CHECK_INT((uint32_t)(pair.tx.l->ts - ts), 2000 * 48);
	pair_open_key(2);
	pair_send_key(2);
	pair_cmd(&pair.tx, &(struct cmd){.type = CMD_SPEAKING_SENT});
	pair_run(2000);
	CHECK_INT(pair.tx.lane_samples, LANE_RATE);
	CHECK_INT(pair.packets, 50 + 1 + 10);
	CHECK(!pair.tx.flags);
	CHECK_INT(audio().lost, 0);
	pair_finish();
}

TEST(call_stream_dave_no_key_for_too_long)
{
	CHECK_INT(pair_start(), 0);
	pair_clear(&pair.tx, false, 0);
	pair_say(1000, true);
	pair_run(9900);
	CHECK_INT(pair.tx.stopped, 0);
	pair_run(200);
	CHECK_INT(pair.tx.stopped, 1);
	CHECK_INT(pair.tx.reason, MEDIA_REASON_NO_KEY);
	CHECK_INT(pair.tx.lane_samples, 0);
	CHECK_INT(pair.packets, 0);
	pair_finish();
}

/* ---- in ---- */

static const uint8_t plain_opus[40] = {0x78, 1, 2, 3};

/* Nothing that is not sealed is accepted, but for as long as it was said. */
TEST(call_stream_dave_accepts_no_plaintext)
{
	CHECK_INT(pair_start(), 0);
	for (uint16_t k = 0; k < 60; k++)
		pair_packet(&pair.rx, 500 + k, plain_opus, sizeof plain_opus);
	pair_run(2000);
	CHECK_INT(audio().packets, 0); /* not even the silence of joining went out */
	pair_finish();
}

TEST(call_stream_dave_clear_for_a_while)
{
	uint64_t before;

	CHECK_INT(pair_start(), 0);
	pair_clear(&pair.rx, false, pair.now + 1000 * NS_PER_MS);
	before = audio().packets;
	pair_packet(&pair.rx, 500, plain_opus, sizeof plain_opus);
	CHECK_INT(audio().packets, before + 1);
	pair_run(1100);
	pair_packet(&pair.rx, 501, plain_opus, sizeof plain_opus);
	CHECK_INT(audio().packets, before + 1);
	CHECK_INT(pair.slot->not_sealed, 1);
	pair_open_key(1);
	pair_packet(&pair.rx, 502, plain_opus, sizeof plain_opus);
	CHECK_INT(pair.slot->not_sealed, 2);
	/* And silence always. */
	pair_packet(&pair.rx, 503, OPUS_SILENCE, OPUS_SILENCE_SIZE);
	CHECK_INT(audio().packets, before + 2);
	/* A session of its own begins closed. */
	pair_clear(&pair.rx, true, UINT64_MAX);
	pair_cmd(&pair.rx, &(struct cmd){.type = CMD_UNLINK});
	pair_link(&pair.rx);
	pair_cmd(&pair.rx, &(struct cmd){.type = CMD_SLOT_MAP,
					 .slot = {.slot = pair.slot, .ssrc = PAIR_SSRC}});
	before = audio().packets;
	pair_packet(&pair.rx, 504, plain_opus, sizeof plain_opus);
	CHECK_INT(audio().packets, before);
	pair_finish();
}

static unsigned spoil;

/* Spoils one frame. */
static bool spoil_one(uint8_t *p, size_t *n, const struct rtp_header *h)
{
	(void)h;
	if (!opus_is_silence(p, *n) && spoil && --spoil == 0)
		p[0] ^= 1;
	return true;
}

/* A packet that does not open is like one that did not arrive. */
TEST(call_stream_dave_refused_is_concealed)
{
	CHECK_INT(pair_start(), 0);
	pair.relay = spoil_one;
	spoil = 20;
	pair_open_key(1);
	pair_send_key(1);
	pair_say(1000, true);
	pair_run(1500);
	CHECK_INT(audio().lost, 1);
	CHECK_INT(audio().undecodable, 0);
	CHECK(pair.rx.flags & MEDIA_HEARD_CONCEALED);
	CHECK(pair.rx.samples >= 1000 * 24 && pair.rx.samples <= 1120 * 24);
	pair_run(1000);
	pair_ask_stats();
	CHECK_INT(pair.rx.stats.undecryptable, 1);
	CHECK(!pair.rx.deaf && !pair.rx.hears);
	pair_finish();
}

/* What is no frame of ours never reaches the decoder, whatever it is. */
static bool garble(uint8_t *p, size_t *n, const struct rtp_header *h)
{
	(void)h;
	for (size_t i = 0; i<*n && * n> OPUS_SILENCE_SIZE; i++)
		p[i] = (uint8_t)(p[i] * 31 + i);
	return true;
}

TEST(call_stream_dave_garbage_is_not_heard)
{
	CHECK_INT(pair_start(), 0);
	pair_open_key(1);
	pair_send_key(1);
	pair.relay = garble;
	pair_say(1000, true);
	pair_run(2500);
	pair_ask_stats();
	CHECK(pair.rx.stats.not_sealed + pair.rx.stats.undecryptable >= 50);
	CHECK_INT(pair.rx.samples, 0);
	CHECK_INT(audio().undecodable, 0);
	pair_finish();
}

/* ---- decryption outages ---- */

TEST(call_stream_dave_outage)
{
	uint64_t first;

	CHECK_INT(pair_start(), 0);
	pair_clear(&pair.rx, false, 0);
	pair_open_key(1);
	pair_send_key(2);
	pair_say(2000, false);
	pair_run(5 + 20 * 3);
	CHECK(pair.slot->outage.run >= 1);
	first = pair.slot->outage.since;
	while (pair.slot->outage.run < DAVE_OUTAGE_PACKETS - 1)
		pair_run(20);
	CHECK_INT(pair.rx.deaf, 0);
	pair_run(20);
	CHECK_INT(pair.rx.deaf, 1);
	CHECK(pair.rx.deaf_at == first);
	pair_run(20 * DAVE_OUTAGE_PACKETS);
	pair_say_more(1400);
	pair_run(2 * 20 * DAVE_OUTAGE_PACKETS);
	CHECK_INT(pair.rx.deaf, 4); /* still */
	CHECK(pair.rx.deaf_at == first);
	pair_ask_stats();
	CHECK(pair.rx.stats.in_outage && pair.rx.stats.outages == 1);
	CHECK(pair.rx.stats.outage_ns > 2840 * NS_PER_MS &&
	      pair.rx.stats.outage_ns < 3040 * NS_PER_MS);
	CHECK_INT(pair.rx.hears, 0);
	pair_open_key(2);
	CHECK_INT(pair.rx.hears, 1);
	CHECK(pair.rx.deaf_at == pair.now);
	/* Not all at once. */
	CHECK_INT(pair.rx.samples, CALL_STREAM_RETRIES / CALL_STREAM_DELIVERED * 20 * 24);
	pair_run(140);
	CHECK(pair.rx.samples > 1900 * 24); /* the last two seconds were still there */
	CHECK(!pair.slot->n_pending);
	pair_ask_stats();
	CHECK(!pair.rx.stats.in_outage && pair.rx.stats.outages == 1);
	CHECK(pair.rx.stats.outage_ns == pair.slot->outage.ns);
	/* What was too old by then was never heard. */
	CHECK(pair.rx.stats.undecryptable > 35 && pair.rx.stats.undecryptable < 55);
	pair_end_lane();
	pair_run(2000);
	CHECK(!pair.slot->n_pending);
	pair_finish();
}

static bool spoil_tag(uint8_t *payload, size_t *n, const struct rtp_header *h)
{
	(void)h;
	if (*n > OPUS_SILENCE_SIZE)
		payload[0] ^= 1;
	return true;
}

/* The end of an outage does not tell which key opened the packet, so the proof is repeated then. */
TEST(call_stream_dave_proves_an_epoch_again_after_an_outage)
{
	CHECK_INT(pair_start(), 0);
	pair_open_key(1);
	pair_send_key(1);
	pair_say(400, true);
	pair_run(1000);
	pair_say(400, true);
	pair_run(1000);
	CHECK_INT(pair.rx.proofs, 1);
	pair.relay = spoil_tag;
	pair_say(2000, true);
	pair_run(2500);
	CHECK(pair.rx.deaf > 0 && !pair.rx.hears);
	pair.relay = NULL;
	pair_say(400, true);
	pair_run(1000);
	CHECK_INT(pair.rx.hears, 1);
	CHECK_INT(pair.rx.proofs, 2);
	CHECK_INT(pair.rx.proved, 1);
	pair_finish();
}

/* Silence in between neither counts nor ends it; one frame that opens does. */
TEST(call_stream_dave_outage_counts_packets_in_a_row)
{
	static const uint8_t sealed[] = {1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 1, 12, 0xfa, 0xfa};
	struct dave_sealer *s;
	uint8_t frame[64];
	uint16_t seq = 1000;
	size_t n;

	CHECK_INT(pair_start(), 0);
	pair_clear(&pair.rx, false, 0);
	for (unsigned i = 1; i < DAVE_OUTAGE_PACKETS; i++)
		pair_packet(&pair.rx, seq++, sealed, sizeof sealed);
	for (unsigned i = 0; i < 100; i++)
		pair_packet(&pair.rx, seq++, OPUS_SILENCE, OPUS_SILENCE_SIZE);
	CHECK_INT(pair.rx.deaf, 0);
	pair_open_key(
		9); /* of no use: what waits is tried again, which makes no new packets of it */
	CHECK_INT(pair.slot->outage.run, DAVE_OUTAGE_PACKETS - 1);
	pair_packet(&pair.rx, seq++, sealed, sizeof sealed);
	CHECK_INT(pair.rx.deaf, 1);

	CHECK_INT(dave_sealer_alloc(&s), 0);
	dave_sealer_set(s, pair_key(1, 0));
	CHECK_INT(dave_seal(s, DAVE_OPUS, plain_opus, sizeof plain_opus, frame, sizeof frame, &n),
		  0);
	pair_open_key(1);
	CHECK_INT(pair.rx.hears, 0);
	pair_packet(&pair.rx, seq++, frame, n);
	CHECK_INT(pair.rx.hears, 1);
	/* Nonces that were seen, in packets that were not: whoever counts anew with an old key is
	 * not heard either. */
	for (unsigned i = 0; i < DAVE_OUTAGE_PACKETS; i++)
		pair_packet(&pair.rx, seq++, frame, n);
	CHECK_INT(pair.rx.deaf, 2);
	pair_ask_stats();
	CHECK(pair.rx.stats.in_outage && pair.rx.stats.outages == 2);
	dave_sealer_free(s);
	pair_finish();
}

/* Other members may use keys from before we joined; such packets do not count as undecryptable, but
 * the outage is reported. */
TEST(call_stream_dave_no_outage_before_the_first_key)
{
	static const uint8_t sealed[] = {1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 1, 12, 0xfa, 0xfa};

	CHECK_INT(pair_start(), 0);
	pair_clear(&pair.rx, false, 0);
	for (uint16_t i = 0; i < DAVE_OUTAGE_PACKETS; i++)
		pair_packet(&pair.rx, 1000 + i, sealed, sizeof sealed);
	CHECK_INT(pair.rx.deaf, 1);
	pair_run(CALL_STREAM_PENDING_MS + 200);
	CHECK_INT(pair.slot->undecryptable, 0);
	CHECK_INT(pair.slot->n_pending, 0);
	pair_finish();
}

/* The outage is reported when the ring has room again. */
TEST(call_stream_dave_outage_reported_late)
{
	CHECK_INT(pair_start(), 0);
	pair_open_key(1);
	pair_send_key(2);
	pair_say(1500, true);
	pair.rx.full = true;
	pair_run(1300);
	CHECK(pair.slot->outage.active && !pair.rx.deaf);
	pair.rx.full = false;
	pair_run(20);
	CHECK_INT(pair.rx.deaf, 1);
	pair_finish();
}

/* A speaker that is not wanted any more, or whose SSRC is taken away, is neither lost nor heard; a
 * session that ends is its own answer. */
TEST(call_stream_dave_outage_ends_with_slot_or_session)
{
	struct cmd set = {.type = CMD_SET, .set = {.bitrate = 64000, .deaf = true}};
	struct cmd consent = {.type = CMD_CONSENT}, map = {.type = CMD_SLOT_MAP};
	struct cmd unlink = {.type = CMD_UNLINK};
	struct cmd *ends[] = {&set, &consent, &map, &unlink};

	for (unsigned how = 0; how < 4; how++) {
		CHECK_INT(pair_start(), 0);
		pair_open_key(1);
		pair_send_key(2);
		pair_say(2000, false);
		pair_run(1300);
		CHECK_INT(pair.rx.deaf, 1);
		consent.slot.slot = map.slot.slot = pair.slot;
		pair_cmd(&pair.rx, ends[how]);
		CHECK_INT(pair.rx.hears, 0);
		CHECK_INT(pair.rx.forgotten, how < 3 ? 1 : 0);
		CHECK(!pair.slot->outage.active && pair.slot->outage.ns > 1000 * NS_PER_MS &&
		      pair.slot->outage.count == 1);
		CHECK(!pair.slot->n_pending);
		pair_run(1000);
		CHECK_INT(pair.rx.deaf, 1);
		CHECK_INT(pair.rx.samples, 0);
		pair_finish();
	}
}

/* ---- receiving ---- */

TEST(call_stream_dave_without_consent)
{
	struct cmd c = {.type = CMD_CONSENT};

	CHECK_INT(pair_start(), 0);
	c.slot.slot = pair.slot;
	pair_cmd(&pair.rx, &c);
	pair_open_key(1);
	pair_send_key(1);
	pair_say(1000, true);
	pair_run(1500);
	CHECK_INT(pair.rx.samples, 0);
	CHECK_INT(pair.rx.speaking_on, 1);
	CHECK(audio().packets > 50);
	CHECK(!pair.rx.proofs); /* nothing was opened */
	CHECK(!pair.slot->n_pending && !pair.slot->undecryptable);
	c.slot.yes = true;
	pair_cmd(&pair.rx, &c);
	pair_say(1000, true);
	pair_run(1500);
	CHECK(heard_all(1000));
	pair_finish();
}

/* The SSRC is mapped late; packets that arrived before were kept as they came. */
TEST(call_stream_dave_pending_until_mapped)
{
	struct cmd set = {.type = CMD_SET, .set = {.bitrate = 64000, .keep_unmapped = true}};

	CHECK_INT(pair_start(), 0);
	pair_cmd(&pair.rx, &set);
	pair_map(0);
	pair_send_key(1);
	pair_say(1000, true);
	pair_run(400);
	pair_map(PAIR_SSRC);
	CHECK_INT(pair.rx.samples, 0);
	pair_run(200);
	pair_open_key(1);
	CHECK(pair.rx.samples > 300 * 24);
	pair_run(40);
	CHECK(pair.rx.samples > 500 * 24);
	pair_run(1500);
	CHECK(heard_all(1000));
	pair_finish();
}

/* ---- keys come back ---- */

TEST(call_stream_dave_keys_of_an_unknown_slot_are_returned)
{
	struct cmd c = {.type = CMD_DAVE_OPEN};

	CHECK_INT(pair_start(), 0);
	c.dave.slot = (struct slot *)&pair;
	c.dave.key = pair_key(1, 0);
	pair_cmd(&pair.rx, &c);
	CHECK_INT(pair.rx.keys_gone, 1);
	pair_cmd(&pair.rx, &(struct cmd){.type = CMD_UNLINK});
	pair_open_key(1);
	CHECK_INT(pair.rx.keys_gone, 2);
	pair_cmd(&pair.tx, &(struct cmd){.type = CMD_UNLINK});
	pair_send_key(1);
	CHECK_INT(pair.tx.keys_gone, 1);
	pair_finish();
}

/* Old ones after their time, displaced ones at once; those of a session that is over a speaker at a
 * time, and not before there is room. */
TEST(call_stream_dave_keys_are_returned)
{
	CHECK_INT(pair_start(), 0);
	pair_open_key(1);
	pair_open_key(2);
	pair_run(9900);
	CHECK_INT(pair.rx.keys_gone, 0);
	pair_run(100 + CALL_STREAM_LAZY_MS + SENDER_TICK_MS);
	CHECK_INT(pair.rx.keys_gone, 1);
	for (uint64_t epoch = 3; epoch < 3 + DAVE_KEYS; epoch++)
		pair_open_key(epoch);
	CHECK_INT(pair.rx.keys_gone, 2);
	pair.rx.full = true;
	pair_cmd(&pair.rx, &(struct cmd){.type = CMD_UNLINK});
	CHECK_INT(pair.rx.keys_gone, 2);
	pair_run(1000);
	CHECK_INT(pair.rx.keys_gone, 2);
	CHECK(call_stream_next(pair.rx.l) != UINT64_MAX);
	pair.rx.full = false;
	pair_run(40);
	CHECK_INT(pair.rx.keys_gone, 2 + DAVE_KEYS);
	CHECK(call_stream_next(pair.rx.l) == UINT64_MAX);
	pair_finish();
}

/* A key of an old session opens nothing in the next, also when it has not left yet. */
TEST(call_stream_dave_keys_of_an_old_session_decrypt_nothing)
{
	uint64_t before;

	CHECK_INT(pair_start(), 0);
	pair_open_key(1);
	pair.rx.full = true;
	pair_cmd(&pair.rx, &(struct cmd){.type = CMD_UNLINK});
	pair_link(&pair.rx);
	pair_cmd(&pair.rx, &(struct cmd){.type = CMD_SLOT_MAP,
					 .slot = {.slot = pair.slot, .ssrc = PAIR_SSRC}});
	pair_clear(&pair.rx, false, 0);
	pair_send_key(1);
	before = audio().packets;
	pair_say(1000, false);
	pair_run(700);
	pair_open_key(2);
	pair_run(100);
	CHECK_INT(audio().packets, before);
	CHECK(pair.slot->outage.active);
	pair_finish();
}

/* A stream that ends returns everything it holds. */
TEST(call_stream_dave_stop_with_keys_everywhere)
{
	struct cmd c = {.type = CMD_SLOT_ADD};

	CHECK_INT(pair_start(), 0);
	for (uint32_t i = 0; i < 20; i++) {
		struct cmd key = {.type = CMD_DAVE_OPEN};

		CHECK_INT(slot_alloc(&c.slot.slot, pair.rx.l, 100 + i, true, 1), 0);
		pair_cmd(&pair.rx, &c);
		key.dave.slot = c.slot.slot;
		for (uint64_t epoch = 1; epoch < 5; epoch++) {
			key.dave.key = pair_key(epoch, 0);
			pair_cmd(&pair.rx, &key);
		}
	}
	pair.rx.full = true;
	pair_send_key(1);
	pair_cmd(&pair.rx, &(struct cmd){.type = CMD_UNLINK});
	pair_run(100); /* some wait to go up, others are where they were */
	CHECK_INT(pair.rx.keys_gone, 0);
	c = (struct cmd){.type = CMD_SLOT_REMOVE};
	c.slot.slot = pair.slot;
	pair_cmd(&pair.rx, &c);
	CHECK_INT(pair.rx.slots_gone, 1);
	pair_finish();
}

/* ---- generations ---- */

TEST(call_stream_dave_next_generation)
{
	struct cmd c = {.type = CMD_DAVE_SEND};
	uint64_t later;

	CHECK_INT(pair_start(), 0);
	pair_open_key(1);
	pair_send_key(1);
	/* No ratchet is so far before it is old. */
	later = ((UINT64_C(1) << 24) / DAVE_RATE_MAX + 1000) * 1000 * NS_PER_MS;
	pair.now += later;
	pair_run(100);
	dave_sealer_set_counter(pair.tx.l->sealer, (UINT64_C(1) << 24) - 10);
	pair_say(1000, true);
	pair_run(1500);
	CHECK_INT(pair.tx.nexts, 1);
	CHECK(pair.tx.next_user == 0 && pair.tx.next_epoch == 1 && pair.tx.next_generation == 1);
	CHECK(heard_all(1000));
	c.dave.key = pair_key(1, 1);
	pair_cmd(&pair.tx, &c);
	CHECK_INT(pair.tx.keys_gone, 1);
	/* The first generation is over ten seconds later. */
	pair_run(10000);
	pair_say(1000, true);
	pair_run(1500);
	CHECK(heard_all(2000 + 120));
	CHECK_INT(pair.rx.nexts, 1);
	CHECK(pair.rx.next_user == PAIR_USER && pair.rx.next_epoch == 1 &&
	      pair.rx.next_generation == 1);
	CHECK_INT(pair.tx.nexts, 1);
	pair_finish();
}

/* Our own key is lent anew from its first pair when the session goes back to it. */
TEST(call_stream_dave_wants_the_present_pair_of_a_key_that_is_lent_again)
{
	CHECK_INT(pair_start(), 0);
	pair_open_key(1);
	pair_send_key(1);
	dave_sealer_set_counter(pair.tx.l->sealer, (UINT64_C(3) << 24) + 10);
	pair_say(1000, true);
	pair_run(200);
	CHECK_INT(pair.tx.nexts, 1);
	CHECK(pair.tx.next_user == 0 && pair.tx.next_epoch == 1 && pair.tx.next_generation == 3);
	pair_finish();
}
