/* The state of a sender, shared by send.c (schedule, lanes, events) and send_frame.c (mixing and
 * encoding of a frame). */
#ifndef MEDIAD_AUDIO_SEND_INTERNAL_H
#define MEDIAD_AUDIO_SEND_INTERNAL_H

#include "mediad/audio/limiter.h"
#include "mediad/audio/send.h"

/* State of op 5 for the present utterance. */
enum sender_speaking { IDLE, REQUESTED, SPEAKING };

/* A lane's share of the prepared frame. */
struct share {
	struct lane *lane;
	size_t samples;
};

/* A lane that is lent to the sender. */
struct lent_lane {
	struct lane *lane;
	uint64_t waits_since;  /* waiting for the gate since then; 0: not waiting */
	enum media_reason why; /* reason of a stop */
};

struct prepared_frame {
	bool full, handed_out; /* handed_out: by sender_due; sender_done is awaited */
	bool silence;
	bool dtx; /* its time passes, no packet is sent */
	uint8_t opus[SENDER_OPUS_MAX];
	size_t len;
	struct share shares[SENDER_LANES];
	unsigned n_shares;
	bool music; /* music has a share */
};

struct sender {
	struct encoder *mono;
	struct encoder *enc; /* in use: mono, or the music mixer's */
	sender_event_h *h;
	void *arg;

	struct lent_lane lanes[SENDER_LANES];
	unsigned n_lanes;
	struct limiter limiter;
	struct music_mixer *music;    /* NULL until it is lent */
	unsigned without_music;	      /* frames since music sounded */
	bool spoke;		      /* speech was in the frame mixed last */
	int16_t last[2 * LANE_FRAME]; /* the mono frame encoded last, as stereo */

	bool running;
	uint64_t next;
	uint16_t seq;
	uint32_t ts; /* RTP time of the next deadline */

	enum sender_speaking speaking;
	uint64_t idle_since; /* SPEAKING, and nothing was sent since then; 0: something was */
	uint64_t requested_at;
	bool known;		  /* the server has received an op 5 since sender_start */
	unsigned leading_silence; /* silence frames to send at the start of a session */
	unsigned silence;	  /* and at the end of an utterance */
	bool fresh;		  /* the encoder is reset before its next frame */
	bool open;		  /* the gate is open */
	bool flush;		  /* the encoder's lookahead holds the end of the utterance */
	struct prepared_frame frame;
	struct sender_stats stats;
};

/* True if a lane has samples that may play soon. */
bool sender_has_speech(const struct sender *s);
/* Makes a silence frame. The receivers' decoders are reset by it. */
void sender_prepare_silence(struct sender *s);
/* Mixes and encodes the next frame of the lanes. Returns false when no lane plays. */
bool sender_mix_frame(struct sender *s, uint64_t now);
/* Encodes a frame of silence, which drives the end of the utterance out of the encoder. */
void sender_flush_frame(struct sender *s);

#endif
