/* Random walks over a receiver: a simulated network loses, repeats and reorders the packets of a
 * sender who pauses at times. A simple model says which packets must be heard, and how soon. */
#include <stdlib.h>

#include "tests/unit/mediad/audio/receive_fixture.h"

enum { STEPS = 120, DELAY_MAX_MS = 60, SILENCE_MS = 300, HEARD_WITHIN_MS = 120 };
enum fate { LOST, SENT };

static struct walk {
	uint64_t seed;
	struct flight {
		enum fate fate;
		uint64_t sends, arrives, repeated; /* ns */
	} sent[STEPS];
	bool heard[STEPS];
	uint64_t began; /* arrival of the first packet */
	bool open;
	uint32_t capture, seq, rtp;
	int last, faults;
} walk;

static uint32_t draw(uint32_t below)
{
	walk.seed ^= walk.seed << 13;
	walk.seed ^= walk.seed >> 7;
	walk.seed ^= walk.seed << 17;
	return (uint32_t)(walk.seed >> 20) % below;
}

static void require(bool kept, const char *rule)
{
	if (kept)
		return;
	walk.faults++;
	printf("at %llu ms: %s\n", (unsigned long long)(receive_rig.now / NS_PER_MS), rule);
}

static void check_heard(const struct audio_event *ev)
{
	int k = ev->level;

	if (!walk.open || walk.capture != ev->capture) {
		require(!walk.open, "a capture begins while another one is open");
		require((int32_t)(ev->capture - walk.capture) > 0, "capture numbers rise");
		require(ev->flags & MEDIA_HEARD_FIRST && !ev->seq, "a capture begins at 0");
		walk.open = true;
		walk.capture = ev->capture;
	} else {
		require(ev->seq == walk.seq + 1, "frames are counted");
		require((int32_t)(ev->rtp - walk.rtp) >= 0, "frames do not overlap");
	}
	walk.seq = ev->seq;
	walk.rtp = ev->rtp + (uint32_t)ev->samples * 2;
	require(receive_rig.now - ev->at <= HEARD_WITHIN_MS * NS_PER_MS,
		"no packet waits longer than allowed");
	if (ev->flags & MEDIA_HEARD_CONCEALED)
		return;
	/* The level is the number of the packet. */
	require(k < STEPS && walk.sent[k].fate == SENT, "only packets that were sent are heard");
	require(k > walk.last, "packets are heard in order, and once");
	walk.last = k;
	walk.heard[k < STEPS ? k : 0] = true;
}

static void on_event(const struct audio_event *ev, void *arg)
{
	(void)arg;
	if (ev->type == AUDIO_HEARD)
		check_heard(ev);
	if (ev->type != AUDIO_HEARD_END)
		return;
	require(walk.open && ev->capture == walk.capture, "an open capture ends, once");
	walk.open = false;
}

/* Draws when each packet is sent, and its fate. About half of the networks reorder packets, the
 * others delay all of them equally. */
static void draw_packets(void)
{
	uint64_t at = receive_rig.now;
	bool reorders = draw(2);

	for (int k = 0; k < STEPS; k++) {
		struct flight *f = &walk.sent[k];

		at += 20 * NS_PER_MS;
		if (!draw(25))
			at += (100 + draw(600)) * NS_PER_MS;
		f->sends = at;
		f->fate = draw(12) ? SENT : LOST;
		f->arrives = at + (draw(4) || !reorders ? 5 : 5 + draw(DELAY_MAX_MS)) * NS_PER_MS;
		f->repeated = f->arrives + (draw(10) ? STEPS * NS_PER_S : draw(200) * NS_PER_MS);
	}
}

static void deliver(int k)
{
	const struct receive_packet *voice = &receive_rig.tone[k];
	struct audio_packet p = {.seq = (uint16_t)(65500 + k),
				 .ts = (uint32_t)(walk.sent[k].sends / (NS_PER_MS / 48)),
				 .level = (uint8_t)k,
				 .p = voice->p,
				 .n = voice->n};

	audio_speaker_put(receive_rig.spk, &p, receive_rig.now);
}

/* The receiver may give up a packet when a later one has waited for it, or was the first of all. */
static bool must_be_heard(int k)
{
	const struct flight *f = &walk.sent[k];

	for (int i = k + 1; i < STEPS; i++) {
		uint64_t later = walk.sent[i].arrives;

		if (walk.sent[i].fate == SENT && f->arrives > later &&
		    (later == walk.began || f->arrives >= later + AUDIO_REORDER_MIN_MS * NS_PER_MS))
			return false;
	}
	return f->fate == SENT;
}

static void run_walk(uint64_t seed)
{
	int missed = 0;

	receive_setup();
	receive_rig.spk = audio_speaker_free(receive_rig.spk);
	memset(&walk, 0, sizeof walk);
	walk.seed = seed * UINT64_C(0x9E3779B97F4A7C15);
	walk.last = -1;
	CHECK_INT(audio_speaker_alloc(&receive_rig.spk, 1, on_event, NULL), 0);
	CHECK_INT(receive_listen_at(1, 24000, SILENCE_MS), 0);
	draw_packets();
	for (uint64_t end = walk.sent[STEPS - 1].sends + 2 * NS_PER_S; receive_rig.now < end;) {
		receive_rig.now += NS_PER_MS;
		for (int k = 0; k < STEPS; k++) {
			const struct flight *f = &walk.sent[k];

			if (f->fate != SENT ||
			    (f->arrives != receive_rig.now && f->repeated != receive_rig.now))
				continue;
			walk.began = walk.began ? walk.began : receive_rig.now;
			deliver(k);
		}
		if (receive_rig.now % (20 * NS_PER_MS) == 0)
			audio_speaker_tick(receive_rig.spk, receive_rig.now);
	}
	for (int k = 0; k < STEPS; k++)
		missed += must_be_heard(k) && !walk.heard[k];
	require(!walk.open, "each capture ends");
	require(audio_speaker_due(receive_rig.spk) == UINT64_MAX, "nothing is left to do");
	CHECK_INT(missed, 0);
	CHECK_INT(walk.faults, 0);
	audio_speaker_free(receive_rig.spk);
}

TEST(receive_keeps_its_promises_on_random_walks)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		run_walk(seed);
}
