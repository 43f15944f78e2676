#include "mediad/audio/send.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mediad/audio/mix.h"
#include "proto/base/time.h"
#include "proto/rtp.h"

#define TICK (SENDER_TICK_MS * NS_PER_MS)

/* op 5 of the present utterance. */
enum speaking { QUIET, ASKED, SPEAKING };

/* What is in the prepared frame, for the accounts. */
struct share {
	struct lane *lane;
	size_t samples;
};

/* A lane that is lent. */
struct guest {
	struct lane *lane;
	uint64_t waits_since;  /* for the gate; 0: it does not */
	enum media_reason why; /* it was stopped */
};

struct slot {
	bool full, given; /* given: handed out by sender_due, sender_done is awaited */
	bool silence;
	bool nothing; /* new to tell (DTX): its time passes, no packet leaves */
	uint8_t opus[SENDER_OPUS_MAX];
	size_t len;
	struct share shares[SENDER_LANES];
	unsigned n_shares;
};

struct sender {
	struct encoder *enc;
	sender_event_h *h;
	void *arg;

	struct guest guests[SENDER_LANES];
	unsigned n_guests;
	struct limiter limiter;

	bool running;
	uint64_t next;
	uint16_t seq;
	uint32_t ts; /* of the next deadline */

	enum speaking speaking;
	uint64_t asked_at;
	bool known;	  /* the server has had an op 5 since sender_start */
	unsigned lead;	  /* silence frames still to send before anything else */
	unsigned silence; /* and after an utterance */
	bool fresh;	  /* the encoder starts anew with its next frame */
	bool open;	  /* the gate */
	bool flush;	  /* the encoder holds the end of the utterance in its lookahead */
	struct slot slot;
	struct sender_stats stats;
};

/* ---- making ---- */

void sender_set_bitrate(struct sender *s, uint32_t bitrate)
{
	encoder_set_bitrate(s->enc, bitrate);
}

void sender_set_complexity(struct sender *s, unsigned complexity)
{
	encoder_set_complexity(s->enc, complexity);
}

void sender_set_plain(struct sender *s, bool plain)
{
	encoder_set_plain(s->enc, plain);
}

void sender_lost(struct sender *s, uint8_t fraction)
{
	encoder_lost(s->enc, fraction);
}

void sender_forget_loss(struct sender *s)
{
	encoder_forget_loss(s->enc);
}

int sender_alloc(struct sender **out, uint32_t bitrate, sender_event_h *h, void *arg)
{
	struct sender *s = calloc(1, sizeof *s);
	int err;

	if (!s)
		return ENOMEM;
	err = encoder_alloc(&s->enc, bitrate);
	if (err) {
		sender_free(s);
		return err;
	}
	limiter_init(&s->limiter);
	s->h = h;
	s->arg = arg;
	*out = s;
	return 0;
}

struct sender *sender_free(struct sender *s)
{
	if (!s)
		return NULL;
	for (unsigned i = 0; i < s->n_guests; i++)
		lane_free(s->guests[i].lane);
	encoder_free(s->enc);
	free(s);
	return NULL;
}

void sender_stats(const struct sender *s, struct sender_stats *out)
{
	*out = s->stats;
	out->loss = encoder_loss(s->enc);
	out->fec = encoder_fec(s->enc);
	out->complexity = encoder_complexity(s->enc);
}

/* ---- events ---- */

static void tell_speaking(struct sender *s, bool on, uint64_t now)
{
	struct sender_event ev = {.type = SENDER_SPEAKING, .on = on, .at = now};

	s->h(&ev, s->arg);
}

static void tell_lane(struct sender *s, const struct guest *g, enum sender_event_type type,
		      uint64_t at)
{
	struct sender_event ev = {.type = type,
				  .playback = lane_id(g->lane),
				  .samples = lane_sent(g->lane),
				  .at = at,
				  .reason = g->why,
				  .lane = g->lane};

	s->h(&ev, s->arg);
}

static struct guest remove_guest(struct sender *s, unsigned i)
{
	struct guest gone = s->guests[i];

	s->n_guests--;
	for (; i < s->n_guests; i++)
		s->guests[i] = s->guests[i + 1];
	return gone;
}

/* Tells what lane i has to tell. True when it left. */
static bool tell_events(struct sender *s, unsigned i, uint64_t now)
{
	struct guest g = s->guests[i];

	for (;;) {
		switch (lane_next_event(g.lane)) {
		case LANE_NONE:
			return false;
		case LANE_STARTED:
			tell_lane(s, &g, SENDER_STARTED, lane_started_at(g.lane));
			break;
		case LANE_PAUSED:
			tell_lane(s, &g, SENDER_PAUSED, now);
			break;
		case LANE_DRAINED:
			remove_guest(s, i);
			tell_lane(s, &g, SENDER_DRAINED, now);
			return true;
		case LANE_STOPPED:
			remove_guest(s, i);
			tell_lane(s, &g, SENDER_STOPPED, now);
			return true;
		}
	}
}

static void tell_all(struct sender *s, uint64_t now)
{
	for (unsigned i = 0; i < s->n_guests;)
		if (!tell_events(s, i, now))
			i++;
}

/* ---- session ---- */

void sender_start(struct sender *s, uint64_t first, uint16_t seq, uint32_t ts)
{
	s->fresh = true;
	s->running = true;
	s->next = first;
	s->seq = seq;
	s->ts = ts;
	s->known = false;
	s->flush = false;
	s->lead = SENDER_SILENCE_FRAMES;
	s->silence = 0;
	s->speaking = ASKED;
	s->asked_at = first;
	tell_speaking(s, true, first);
}

/* The fate of the prepared frame is known. */
static void settle_slot(struct sender *s, bool sent, uint64_t now)
{
	struct slot *slot = &s->slot;

	for (unsigned i = 0; i < slot->n_shares; i++)
		lane_left(slot->shares[i].lane, slot->shares[i].samples, sent, now);
	slot->n_shares = 0;
	slot->full = slot->given = false;
}

/* Nobody waits for the gate: it opened, or there is no session. */
static void forget_waits(struct sender *s)
{
	for (unsigned i = 0; i < s->n_guests; i++)
		s->guests[i].waits_since = 0;
}

void sender_halt(struct sender *s, uint64_t now)
{
	s->running = false;
	s->speaking = QUIET;
	settle_slot(s, false, now);
	for (unsigned i = 0; i < s->n_guests; i++)
		lane_settle(s->guests[i].lane);
	forget_waits(s);
	tell_all(s, now);
}

void sender_gate(struct sender *s, bool open)
{
	s->open = open;
	if (open)
		forget_waits(s);
	/* A fade needs frames that are sent. */
	for (unsigned i = 0; i < s->n_guests && !open; i++)
		lane_settle(s->guests[i].lane);
}

void sender_speaking_sent(struct sender *s)
{
	if (s->speaking != ASKED)
		return;
	s->known = true;
	s->speaking = SPEAKING;
}

/* ---- the deadline ---- */

uint64_t sender_next(const struct sender *s)
{
	return s->running ? s->next : UINT64_MAX;
}

/* A silence frame makes decoders start afresh, so the encoder does too: measured on speech in
 * hybrid mode, the first frames after a pause come out at 17 dB instead of 5. */
static void put_silence(struct sender *s)
{
	memcpy(s->slot.opus, OPUS_SILENCE, OPUS_SILENCE_SIZE);
	s->slot.len = OPUS_SILENCE_SIZE;
	s->slot.full = s->slot.silence = true;
	s->slot.nothing = false;
	s->fresh = true;
}

/* The frame that was made is not to go out: its samples go back to where they came from, and the
 * utterance ends before them. */
static void take_back(struct sender *s)
{
	struct slot *slot = &s->slot;

	for (unsigned i = 0; i < slot->n_shares; i++)
		lane_back(slot->shares[i].lane, slot->shares[i].samples);
	slot->n_shares = 0;
	slot->full = false;
	s->flush = false;
	s->fresh = true;
	if (s->silence) {
		put_silence(s);
		s->silence--;
	}
}

/* A lane that is cut short is silent from the next packet on; where others sound with it, from the
 * one after. */
static void unsay(struct sender *s, const struct lane *l)
{
	const struct slot *slot = &s->slot;

	if (slot->full && !slot->given && slot->n_shares == 1 && slot->shares[0].lane == l)
		take_back(s);
}

bool sender_due(struct sender *s, uint64_t now, struct sender_packet *pkt)
{
	uint64_t late;

	if (!s->running || now < s->next)
		return false;
	late = now - s->next;
	if (late > SENDER_LATE_MS * NS_PER_MS)
		s->stats.late++;
	if (late > SENDER_REBASE_MS * NS_PER_MS) {
		uint64_t passed = late / TICK;

		s->next += passed * TICK;
		s->ts += (uint32_t)(passed * RTP_FRAME);
		s->stats.skipped += passed;
	}
	pkt->ts = s->ts;
	s->next += TICK;
	s->ts += RTP_FRAME;
	/* The gate closed after this frame was made. */
	if (s->slot.full && !s->slot.silence && !s->open) {
		take_back(s);
		tell_all(s, now);
	}
	if (!s->slot.full)
		return false;
	s->slot.given = true;
	pkt->seq = s->seq;
	pkt->opus = s->slot.opus;
	pkt->len = s->slot.len;
	pkt->silence = s->slot.silence;
	pkt->nothing = s->slot.nothing;
	return true;
}

void sender_done(struct sender *s, enum sender_outcome outcome, uint64_t now)
{
	if (!s->slot.given)
		return;
	s->stats.sent += outcome == SENDER_SENT;
	s->stats.failed += outcome == SENDER_FAILED;
	s->stats.untold += outcome == SENDER_UNTOLD;
	if (outcome != SENDER_UNTOLD)
		s->seq++;
	settle_slot(s, outcome != SENDER_FAILED, now);
	tell_all(s, now);
}

/* ---- the next frame ---- */

/* Mixes the lanes into acc, notes their shares, returns the index after the last sample of any
 * lane. */
static size_t mix_lanes(struct sender *s, float acc[LANE_FRAME], uint64_t now)
{
	struct slot *slot = &s->slot;
	size_t end = 0;

	for (unsigned i = 0; i < s->n_guests; i++) {
		size_t n = lane_pull(s->guests[i].lane, acc, now);

		if (n)
			slot->shares[slot->n_shares++] =
				(struct share){.lane = s->guests[i].lane, .samples = n};
		if (n > end)
			end = n;
	}
	return end;
}

static void encode(struct sender *s, const float acc[LANE_FRAME])
{
	struct slot *slot = &s->slot;
	int16_t pcm[LANE_FRAME];

	if (s->fresh)
		encoder_reset(s->enc);
	s->fresh = false;
	limiter_run(&s->limiter, acc, pcm);
	slot->len = encoder_run(s->enc, pcm, slot->opus);
	if (!slot->len) {
		put_silence(s);
		return;
	}
	slot->full = true;
	slot->silence = false;
	slot->nothing = slot->len <= ENCODER_DTX_MAX;
}

static void prepare_frame(struct sender *s, bool wanted, uint64_t now)
{
	float acc[LANE_FRAME] = {0};
	size_t end = 0;

	if (s->lead) {
		s->lead--;
		put_silence(s);
		return;
	}
	if (s->open)
		end = mix_lanes(s, acc, now);
	else
		s->flush = false;
	if (end) {
		encode(s, acc);
		s->flush = end + encoder_lookahead(s->enc) > LANE_FRAME;
		s->silence = SENDER_SILENCE_FRAMES;
	} else if (s->flush) {
		encode(s, acc);
		s->flush = false;
	} else if (s->silence) {
		put_silence(s);
		s->silence--;
	} else if (!wanted) {
		s->speaking = QUIET;
		tell_speaking(s, false, now);
	}
}

static void ask(struct sender *s, uint64_t now)
{
	s->speaking = ASKED;
	s->asked_at = now;
	tell_speaking(s, true, now);
}

/* Lanes that wait for the gate, and those that have for too long. */
static void wait_for_gate(struct sender *s, uint64_t now)
{
	for (unsigned i = 0; i < s->n_guests; i++) {
		struct guest *g = &s->guests[i];

		if (!lane_wants(g->lane)) {
			g->waits_since = 0;
		} else if (!g->waits_since) {
			g->waits_since = now;
		} else if (now - g->waits_since >= SENDER_KEY_WAIT_MS * NS_PER_MS) {
			g->why = MEDIA_REASON_NO_KEY;
			lane_stop(g->lane, 0);
		}
	}
}

void sender_prepare(struct sender *s, uint64_t now)
{
	bool wanted = s->lead > 0;

	if (!s->running)
		return;
	if (!s->open)
		wait_for_gate(s, now);
	if (s->slot.full && !s->slot.given) {
		tell_all(s, now);
		return;
	}
	if (s->slot.given)
		sender_done(s, SENDER_FAILED, now);
	for (unsigned i = 0; i < s->n_guests && s->open; i++)
		wanted = wanted || lane_wants(s->guests[i].lane);
	if (s->speaking == QUIET && wanted)
		ask(s, now);
	else if (s->speaking == ASKED && now >= s->asked_at + SENDER_SPEAKING_WAIT_MS * NS_PER_MS) {
		if (s->known)
			s->speaking = SPEAKING;
		else
			ask(s, now);
	}
	if (s->speaking == SPEAKING)
		prepare_frame(s, wanted, now);
	tell_all(s, now);
}

/* ---- lanes ---- */

static unsigned find(const struct sender *s, uint32_t playback)
{
	unsigned i = 0;

	while (i < s->n_guests && lane_id(s->guests[i].lane) != playback)
		i++;
	return i;
}

int sender_add(struct sender *s, struct lane *l)
{
	if (find(s, lane_id(l)) < s->n_guests)
		return EEXIST;
	if (s->n_guests == SENDER_LANES)
		return ENOSPC;
	s->guests[s->n_guests++] = (struct guest){.lane = l};
	return 0;
}

struct lane *sender_lane(struct sender *s, uint32_t playback)
{
	unsigned i = find(s, playback);

	return i < s->n_guests ? s->guests[i].lane : NULL;
}

bool sender_end(struct sender *s, uint32_t playback, uint64_t now)
{
	unsigned i = find(s, playback);

	if (i == s->n_guests)
		return false;
	lane_end(s->guests[i].lane);
	tell_events(s, i, now);
	return true;
}

bool sender_command(struct sender *s, uint32_t playback, enum sender_command cmd, uint16_t target,
		    uint16_t fade_ms, uint64_t now)
{
	unsigned i = find(s, playback);

	if (i == s->n_guests)
		return false;
	/* A fade needs frames that are sent. */
	if (s->speaking != SPEAKING || !s->open)
		fade_ms = 0;
	switch (cmd) {
	case SENDER_PAUSE:
		lane_pause(s->guests[i].lane, fade_ms);
		break;
	case SENDER_RESUME:
		lane_resume(s->guests[i].lane, fade_ms);
		break;
	case SENDER_STOP:
		lane_stop(s->guests[i].lane, fade_ms);
		if (!fade_ms)
			unsay(s, s->guests[i].lane);
		break;
	case SENDER_GAIN:
		lane_gain(s->guests[i].lane, target, fade_ms);
		break;
	}
	tell_events(s, i, now);
	return true;
}

struct lane *sender_take(struct sender *s)
{
	struct lane *l;

	if (!s->n_guests)
		return NULL;
	l = s->guests[--s->n_guests].lane;
	for (unsigned i = 0; i < s->slot.n_shares; i++)
		if (s->slot.shares[i].lane == l)
			s->slot.shares[i] = s->slot.shares[--s->slot.n_shares];
	return l;
}
