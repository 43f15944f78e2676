/* Whatever a call is told, in any order: in an encrypted epoch nothing is sent in the clear. */
#include "mediad/dave/session.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/mediad/engine/pair.h"

static struct {
	bool linked, clear;
	uint64_t epoch; /* 0: no key */
	unsigned bad, sealed, silent, plain;
} model;

static void judge(uint8_t *p, size_t n)
{
	uint8_t out[UDP_MAX_PACKET];
	struct dave_opener *o = NULL;
	struct rtpsize_rtp in;
	uint64_t epoch;
	size_t len;

	if (udp_classify(p, n) != UDP_RTP)
		return;
	if (rtpsize_open(pair.wire, p, n, NULL, 0, &in) || !model.linked || dave_opener_alloc(&o)) {
		model.bad++;
	} else if (opus_is_silence(in.payload.p, in.payload.n)) {
		model.silent++;
	} else if (model.clear) {
		model.plain++;
	} else {
		if (model.epoch)
			dave_opener_add(o, pair_key(model.epoch, 0), pair.now, NULL, NULL);
		if (dave_open(o, (struct slice){in.payload.p, in.payload.n}, pair.now, out,
			      sizeof out, &len, &epoch) == DAVE_SEALED)
			model.sealed++;
		else
			model.bad++;
	}
	dave_opener_free(o);
}

static void random_command(uint32_t r)
{
	struct cmd c = {.type = CMD_SET, .set = {.bitrate = 64000, .mute = r >> 8 & 1}};

	switch (r % 16) {
	case 0:
		pair_cmd(&pair.tx, &(struct cmd){.type = CMD_UNLINK});
		model.linked = model.clear = false;
		model.epoch = 0;
		break;
	case 1:
		model.clear = false;
		model.epoch = 0;
		model.linked = true;
		pair_link(&pair.tx);
		break;
	case 2:
	case 3:
		pair_clear(&pair.tx, r >> 9 & 1, r >> 10 & 1 ? UINT64_MAX : 0);
		model.clear = model.linked && (r >> 9 & 1);
		break;
	case 4:
		pair_send_key(0);
		model.epoch = 0;
		break;
	case 5:
	case 6:
	case 7:
		pair_send_key(1 + (r >> 8) % 5);
		model.epoch = model.linked ? 1 + (r >> 8) % 5 : 0;
		break;
	case 8:
		pair_cmd(&pair.tx, &c);
		break;
	case 9:
		c = (struct cmd){.type = CMD_LANE_CONTROL};
		c.lane.playback = PAIR_LANE;
		c.lane.what = (enum sender_command)((r >> 8) % 4);
		c.lane.fade_ms = (uint16_t)((r >> 12) % 3 * 30);
		c.lane.target = 1000;
		pair_cmd(&pair.tx, &c);
		break;
	case 10:
		pair_end_lane();
		break;
	case 11:
	case 12:
		pair_say(100 + r % 300, r >> 8 & 1);
		break;
	default:
		pair_cmd(&pair.tx, &(struct cmd){.type = CMD_SPEAKING_SENT});
		break;
	}
}

static void run_judged(unsigned ms)
{
	for (unsigned t = 0; t < ms; t += 5) {
		pair.now += 5 * NS_PER_MS;
		pair_tick(&pair.tx);
		pair_drain(&pair.tx, judge);
	}
}

/* Whatever comes in whatever order: what leaves is silence, or opens with the key of the moment, or
 * the call is in the clear. */
TEST(call_stream_dave_never_plaintext)
{
	uint32_t r = 2463534242;
	unsigned sealed = 0, plain = 0;

	for (unsigned round = 0; round < 150; round++) {
		CHECK_INT(pair_start(), 0);
		memset(&model, 0, sizeof model);
		model.linked = true;
		for (unsigned k = 0; k < 80; k++) {
			r ^= r << 13;
			r ^= r >> 17;
			r ^= r << 5;
			random_command(r);
			pair_drain(&pair.tx, judge);
			run_judged(r >> 20 & 0x3f);
		}
		sealed += model.sealed;
		plain += model.plain;
		CHECK_INT(model.bad, 0);
		pair_finish();
	}
	CHECK(sealed > 500 && plain > 500);
}
