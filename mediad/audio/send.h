/* The send side of one call as a pure machine: lanes, mix, Opus, the 20 ms schedule, op 5, silence
 * frames, RTP time.
 *
 * Every 20 ms its owner does, in this order:
 *
 *   if (now >= sender_next(s)) {
 *           sender_due(s, now, &pkt)  → true: seal pkt and send it, then sender_done(s, outcome,
 * now) sender_prepare(s, now)    → mixes and encodes the next frame, so that the deadline itself
 * only seals
 *   }
 *
 * The schedule is absolute: each deadline is 20 ms after the one before. When the owner comes over
 * SENDER_REBASE_MS late, the deadlines that passed are skipped (RTP time moves on with them, no
 * sound is lost, nothing is sent in a burst).
 *
 * Before the first packet of an utterance SENDER_SPEAKING{on} asks for op 5, once; packets wait
 * until sender_speaking_sent(). If that does not come for SENDER_SPEAKING_WAIT_MS they go without
 * it, but only if the server has had an op 5 since sender_start; otherwise it is asked for again.
 * After an utterance five silence frames, SENDER_SPEAKING{off}, then nothing. The RTP time moves
 * 960 per 20 ms whether or not anything is sent. A frame that says nothing new (Opus' DTX makes
 * packets of one or two bytes of a pause) is not sent: its time passes, its samples count as heard,
 * sequence numbers do not skip. Which frames those are hangs on the codec, so it is the owner who
 * decides: sender_done tells.
 *
 * The gate is open while there is a way to protect what is said (or none is asked for); a new
 * sender's is closed. While it is closed nothing but silence frames is given out: lanes do not
 * start, and one that was playing pauses at the sample that left, as if the utterance were over.
 * When it opens they go on there. A lane that has waited for it for SENDER_KEY_WAIT_MS of a session
 * is stopped.
 *
 * The loop thread makes the sender and lends it; lanes are lent to it with sender_add and come back
 * with their last event. Only _alloc allocates. Times in ns of the caller's clock. */
#ifndef MEDIAD_AUDIO_SEND_H
#define MEDIAD_AUDIO_SEND_H

#include "mediad/audio/encoder.h"
#include "mediad/audio/lane.h"
#include "proto/media.h"

enum {
	SENDER_LANES = 8,
	SENDER_TICK_MS = 20,
	SENDER_REBASE_MS = 60,
	SENDER_LATE_MS = 5, /* later than this counts as a late frame */
	SENDER_SILENCE_FRAMES = 5,
	SENDER_SPEAKING_WAIT_MS = 500,
	SENDER_KEY_WAIT_MS = 10000,
	SENDER_OPUS_MAX = 1275,
};

enum sender_event_type {
	SENDER_SPEAKING, /* op 5 is wanted: on */
	SENDER_STARTED,
	SENDER_PAUSED,
	SENDER_DRAINED, /* lane is the caller's again */
	SENDER_STOPPED, /* lane is the caller's again */
};
struct sender_event {
	enum sender_event_type type;
	bool on;
	uint32_t playback;
	uint64_t samples;	  /* at 48 kHz, that left the socket */
	uint64_t at;		  /* STARTED: when the first one left; else now */
	enum media_reason reason; /* STOPPED: NO_KEY, or NONE: it was asked to */
	struct lane *lane;
};
typedef void(sender_event_h)(const struct sender_event *ev, void *arg);

struct sender_packet {
	uint16_t seq;
	uint32_t ts;
	const uint8_t *opus; /* borrowed until sender_prepare */
	size_t len;
	bool silence; /* F8 FF FE: goes out without end-to-end encryption */
	bool nothing; /* new in it: it need not be sent */
};

struct sender_stats {
	uint64_t sent, failed, late,
		skipped,	   /* frames; skipped: deadlines passed over by a rebase */
		untold;		   /* frames that said nothing new and were not sent */
	unsigned loss, complexity; /* of the encoder, as they are now: encoder.h */
	bool fec;
};

struct sender;

/* bitrate in bit/s, cut to the limits of encoder.h. h is called from due, done, prepare, start,
 * command and add. ENOMEM. Caller owns *out. */
int sender_alloc(struct sender **out, uint32_t bitrate, sender_event_h *h, void *arg);
/* Frees the lanes that are still lent to it. */
struct sender *sender_free(struct sender *s);
void sender_set_bitrate(struct sender *s, uint32_t bitrate);
/* As encoder_set_complexity, encoder_set_plain, encoder_lost, encoder_forget_loss. */
void sender_set_complexity(struct sender *s, unsigned complexity);
void sender_set_plain(struct sender *s, bool plain);
void sender_lost(struct sender *s, uint8_t fraction);
void sender_forget_loss(struct sender *s);

/* A session begins (or another one, of a new generation): `first` is the first deadline, seq and ts
 * are random. Asks for op 5 and then sends five silence frames, which make the server forward sound
 * to us. */
void sender_start(struct sender *s, uint64_t first, uint16_t seq, uint32_t ts);
/* The session is gone: nothing is due until the next start. Lanes keep what they hold; pauses and
 * stops take effect at once. A prepared frame counts as not sent. */
void sender_halt(struct sender *s, uint64_t now);
/* Opens or closes the gate. What was prepared and must not go out goes back into its lanes with the
 * next deadline. */
void sender_gate(struct sender *s, bool open);
/* The op 5 that was asked for has been given to the gateway. */
void sender_speaking_sent(struct sender *s);

/* The next deadline; UINT64_MAX when halted. */
uint64_t sender_next(const struct sender *s);
/* At or after the deadline. True: *pkt is to be sent now, then sender_done. */
bool sender_due(struct sender *s, uint64_t now, struct sender_packet *pkt);
enum sender_outcome { SENDER_FAILED, SENDER_SENT, SENDER_UNTOLD /* there was nothing to tell */ };
void sender_done(struct sender *s, enum sender_outcome outcome, uint64_t now);
/* After each deadline: makes the frame of the next one. Also right after sender_speaking_sent() and
 * after lane_write(), which saves the start of an utterance a tick; it does nothing when the frame
 * is made already. */
void sender_prepare(struct sender *s, uint64_t now);

/* Lends a lane. ENOSPC, EEXIST. */
int sender_add(struct sender *s, struct lane *l);
/* The lane of a playback, borrowed, for lane_write; NULL when it is over. */
struct lane *sender_lane(struct sender *s, uint32_t playback);
/* No more will be written: lane_end, and tells at once when nothing is left to be sent. False: no
 * such playback. */
bool sender_end(struct sender *s, uint32_t playback, uint64_t now);
/* As lane_pause, lane_resume, lane_stop, lane_gain, and tells what follows from it. False: no such
 * playback. */
enum sender_command { SENDER_PAUSE, SENDER_RESUME, SENDER_STOP, SENDER_GAIN };
bool sender_command(struct sender *s, uint32_t playback, enum sender_command cmd, uint16_t target,
		    uint16_t fade_ms, uint64_t now);
/* For teardown: takes any lane out, NULL when none is left. */
struct lane *sender_take(struct sender *s);

void sender_stats(const struct sender *s, struct sender_stats *out);

#endif
