/* One speaker's way in: order, conceal, decode, cut into captures.
 *
 * A packet in order goes through at once; only across a gap is anything held, AUDIO_HOLD_MIN_MS to
 * AUDIO_HOLD_MAX_MS as the measured jitter asks, or AUDIO_HOLD_PACKETS. What then is missing is
 * concealed for exactly its duration: in-band FEC from the next packet, before that PLC, beyond
 * AUDIO_CONCEAL_MS zeros, beyond AUDIO_FILL_MS nothing (the next frame's RTP time tells). A pause
 * of the sender is no loss: nothing is made up for it, the RTP time jumps. Nor is a packet that
 * held nothing but padding.
 *
 * The last AUDIO_PREROLL_MS of packets wait undecoded, so that a listen that begins in the middle
 * of an utterance gets its start. Each distinct rate that somebody listens at has one Opus decoder,
 * mono at that rate.
 *
 * However fast and long somebody's packets come, and however their numbers jump, no more than
 * AUDIO_BURST_MS of sound at once and AUDIO_RATE times the present is decoded or made up; what is
 * beyond is passed over.
 *
 * Memory: the loop thread makes speakers and decoders, an audio thread owns them while lent.
 * Nothing below but the _alloc and _free functions allocates. Times in ns of the caller's clock. */
#ifndef MEDIAD_AUDIO_RECEIVE_H
#define MEDIAD_AUDIO_RECEIVE_H

#include "proto/media.h"

enum {
	AUDIO_HOLD_MIN_MS = 20,
	AUDIO_HOLD_MAX_MS = 100,
	AUDIO_HOLD_JITTERS = 4, /* as many times the jitter: what comes later than that is rare */
	AUDIO_HOLD_PACKETS = 64,
	AUDIO_CONCEAL_MS = 100,
	AUDIO_FILL_MS = 1000,
	AUDIO_PREROLL_MS = 1000,
	AUDIO_PREROLL_BYTES = 16384, /* less than AUDIO_PREROLL_MS above 128 kbit/s */
	AUDIO_SPEAKING_OFF_MS = MEDIA_SPEAKING_OFF_MS,
	AUDIO_JUMP = 1000, /* sequence numbers; a larger step is a new start of the sender */
	AUDIO_BACK = 400, /* and so far back: nothing is so late, the replay window believes 12 in a
			     row only */
	AUDIO_LATE_RUN = 12,	    /* so many late packets in order are a new start too */
	AUDIO_CATCHUP_PACKETS = 16, /* most packets of pre-roll decoded in one call */
	AUDIO_LISTENS = 8,	    /* a speaker */
	AUDIO_FRAME_MS = 20,	    /* of a HEARD at most */
	AUDIO_FRAME_MAX = 960,	    /* samples of it at 48 kHz */
	AUDIO_BURST_MS =
		4000,	/* of sound of one speaker at once: pre-roll, what waited for a key */
	AUDIO_RATE = 2, /* and so many times as long as the time that passes */
	AUDIO_OPUS_MAX = 1400, /* bytes; longer packets are malformed */
};

/* ---- decoders ---- */
struct audio_decoder;
/* rate: 8000 12000 16000 24000 48000, else EINVAL. ENOMEM. Caller owns *out. */
int audio_decoder_alloc(struct audio_decoder **out, uint32_t rate);
struct audio_decoder *audio_decoder_free(struct audio_decoder *d);
bool audio_rate_valid(uint32_t rate);

/* ---- what comes out ---- */
enum audio_event_type { AUDIO_SPEAKING, AUDIO_HEARD, AUDIO_HEARD_END };
struct audio_event {
	enum audio_event_type type;
	bool on;	 /* SPEAKING */
	uint64_t at;	 /* SPEAKING: first or last voice packet; HEARD: arrival of its packet; END:
			    last voice packet */
	uint32_t listen; /* HEARD, END */
	uint32_t capture; /* rises with every utterance of this speaker, from first_capture */
	uint32_t seq;	  /* HEARD: from 0 in each capture of a listen */
	uint32_t rtp;	  /* HEARD: RTP time of the first sample */
	uint8_t flags;	  /* HEARD: MEDIA_HEARD_* */
	uint8_t level;	  /* HEARD: -dBov, 127 = none */
	enum media_reason reason; /* END */
	const int16_t *pcm;	  /* HEARD: borrowed until the handler returns */
	size_t samples;		  /* at the listen's rate, at most 20 ms */
};
typedef void(audio_event_h)(const struct audio_event *ev, void *arg);

struct audio_stats {
	uint64_t packets, lost, late, duplicate, undecodable, resyncs;
	uint64_t excess;       /* packets passed over because there were too many */
	uint64_t concealed_ms; /* made up, as one listener heard it */
	uint32_t jitter_us;    /* RFC 3550 A.8 */
};

/* ---- a speaker ---- */
struct audio_speaker;
/* h is called from put, tick, unlisten and end, never from anywhere else. ENOMEM. Caller owns *out.
 */
int audio_speaker_alloc(struct audio_speaker **out, uint32_t first_capture, audio_event_h *h,
			void *arg);
/* Frees decoders that are still lent to it too. */
struct audio_speaker *audio_speaker_free(struct audio_speaker *s);

/* Without consent packets count for SPEAKING and statistics and are forgotten. Taking it away
 * forgets the pre-roll and ends open captures with MEDIA_REASON_NO_CONSENT. Starts as true. */
void audio_speaker_consent(struct audio_speaker *s, bool yes);

struct audio_packet {
	uint16_t seq;
	uint32_t ts;
	uint8_t level; /* -dBov, RTP_LEVEL_NONE when absent */
	const uint8_t *
		p; /* Opus; copied. NULL: nothing but padding, only its place in the order counts */
	size_t n;
};
/* A packet that passed the replay window, at its arrival `now`. */
void audio_speaker_put(struct audio_speaker *s, const struct audio_packet *pkt, uint64_t now);
/* To be called every 20 ms or less while audio_speaker_busy(). */
void audio_speaker_tick(struct audio_speaker *s, uint64_t now);
/* False when a tick would do nothing. */
bool audio_speaker_busy(const struct audio_speaker *s);

/* Begins listen `id`. *lent: a decoder of this rate; it is taken (and *lent set to NULL) unless
 * this rate is being decoded already: then the listen shares that decoder and starts with the next
 * frame, without pre-roll. Never calls the handler: pre-roll comes with the next put or tick.
 * EEXIST, ENOSPC, EINVAL (rate, silence_ms 100..5000, or a decoder of another rate). */
int audio_speaker_listen(struct audio_speaker *s, uint32_t id, uint32_t rate, uint16_t silence_ms,
			 struct audio_decoder **lent, uint64_t now);
/* Ends it, after HEARD_END with this reason when a capture is open. Gives back a decoder nobody
 * uses any more, for the loop thread to free, or NULL. */
struct audio_decoder *audio_speaker_unlisten(struct audio_speaker *s, uint32_t id,
					     enum media_reason reason);
/* Ends open captures and speaking with this reason (the user left, the call ended). Listens stay.
 */
void audio_speaker_end(struct audio_speaker *s, enum media_reason reason);

void audio_speaker_stats(const struct audio_speaker *s, struct audio_stats *out);

#endif
