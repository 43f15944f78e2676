/* The receive path of one speaker: jitter buffer, packet loss concealment, Opus decoding, and
 * cutting into captures (one capture per utterance).
 *
 * A packet in sequence is decoded at once. Packets wait only behind a gap: between
 * AUDIO_REORDER_MIN_MS and AUDIO_REORDER_MAX_MS, as the measured jitter asks, or until
 * AUDIO_REORDER_PACKETS wait. What is missing then is concealed for exactly its duration: by
 * in-band FEC of the next packet, before that by PLC, beyond AUDIO_PLC_MS by zeros, and beyond
 * AUDIO_ZERO_FILL_MS not at all (the RTP time of the next frame tells). A pause of the sender is no
 * loss: nothing is concealed and the RTP time jumps. A packet of nothing but padding is no loss
 * either.
 *
 * The last AUDIO_PREROLL_MS of packets are kept undecoded, so that a listen that begins in the
 * middle of an utterance gets its start. Each distinct rate that is listened to has one Opus
 * decoder, mono at that rate.
 *
 * However fast packets of one speaker arrive and however their numbers jump, at most AUDIO_BURST_MS
 * of sound at once and AUDIO_CATCHUP_RATE times real time is decoded or concealed; packets beyond
 * that are skipped and counted. What several speakers may cost in one step is bounded by
 * audio_speaker_limit_step().
 *
 * Memory: the loop thread makes speakers and decoders, and an audio thread owns them while lent.
 * Only the _alloc and _free functions allocate. Times are in ns of the caller's clock. */
#ifndef MEDIAD_AUDIO_RECEIVE_H
#define MEDIAD_AUDIO_RECEIVE_H

#include "proto/media.h"

enum {
	AUDIO_REORDER_MIN_MS = 20,
	AUDIO_REORDER_MAX_MS = 100,
	AUDIO_REORDER_JITTERS = 4, /* the wait in multiples of the jitter; later packets are rare */
	AUDIO_REORDER_PACKETS = 64,
	AUDIO_PLC_MS = 100,
	AUDIO_ZERO_FILL_MS = 1000,
	AUDIO_PREROLL_MS = 1000,
	AUDIO_PREROLL_BYTES = 16384, /* less than AUDIO_PREROLL_MS above 128 kbit/s */
	AUDIO_SPEAKING_OFF_MS = MEDIA_SPEAKING_OFF_MS,
	/* A jump of the sequence number by more than this is a restart of the sender. Backwards a
	 * single packet proves nothing: the voice server may have held it for long. */
	AUDIO_RESTART_AHEAD = 1000,
	AUDIO_LATE_RUN = 12,	    /* so many late packets, and none in time, are a restart too */
	AUDIO_CATCHUP_PACKETS = 16, /* packets of pre-roll decoded per call at most */
	AUDIO_LISTENS = 8,	    /* per speaker */
	AUDIO_FRAME_MS = 20,	    /* of a HEARD at most */
	AUDIO_FRAME_MAX = 960,	    /* its samples at 48 kHz */
	/* Sound of one speaker decoded at once: pre-roll, and packets that waited for a key. */
	AUDIO_BURST_MS = 4000,
	AUDIO_CATCHUP_RATE = 2,	  /* decoding speed in multiples of real time */
	AUDIO_OPUS_MAX = 1400,	  /* bytes; longer packets are malformed */
	AUDIO_PACKET_MIN_MS = 10, /* a packet counts for at least this much of a step */
};

/* ---- decoders ---- */
struct audio_decoder;
/* rate: 8000, 12000, 16000, 24000 or 48000, otherwise EINVAL. Returns ENOMEM. The caller owns
 * *out. */
int audio_decoder_alloc(struct audio_decoder **out, uint32_t rate);
struct audio_decoder *audio_decoder_free(struct audio_decoder *d);
bool audio_rate_valid(uint32_t rate);

/* ---- events ---- */
enum audio_event_type { AUDIO_SPEAKING, AUDIO_HEARD, AUDIO_HEARD_END };
struct audio_event {
	enum audio_event_type type;
	bool on; /* SPEAKING */
	/* SPEAKING: arrival of the first or last voice packet; HEARD: of its packet; HEARD_END: of
	 * the last voice packet. */
	uint64_t at;
	uint32_t listen;	  /* HEARD, HEARD_END */
	uint32_t capture;	  /* one per utterance of this speaker, rising from first_capture */
	uint32_t seq;		  /* HEARD: from 0 in each capture of a listen */
	uint32_t rtp;		  /* HEARD: RTP time of the first sample */
	uint8_t flags;		  /* HEARD: MEDIA_HEARD_* */
	uint8_t level;		  /* HEARD: -dBov, 127 = none */
	enum media_reason reason; /* HEARD_END */
	const int16_t *pcm;	  /* HEARD: borrowed until the handler returns */
	size_t samples;		  /* at the listen's rate, at most 20 ms */
};
typedef void(audio_event_h)(const struct audio_event *ev, void *arg);

struct audio_stats {
	uint64_t packets, lost, late, duplicate, undecodable, resyncs;
	uint64_t excess; /* packets skipped because too many arrived, or waited at a restart */
	uint64_t concealed_ms; /* as one listener heard it */
	uint32_t jitter_us;    /* RFC 3550 A.8 */
};

/* ---- a speaker ---- */
struct audio_speaker;
/* h is called from put, restart, tick, unlisten, consent and end only. Returns ENOMEM. The caller
 * owns *out. */
int audio_speaker_alloc(struct audio_speaker **out, uint32_t first_capture, audio_event_h *h,
			void *arg);
/* Also frees decoders that are still lent to it. */
struct audio_speaker *audio_speaker_free(struct audio_speaker *s);

/* *left is the RTP time that may still be decoded or concealed in the running step. Its owner sets
 * it before each step, and the speaker subtracts what it used; the last packet may exceed it. What
 * is left over waits for the next put or tick. Borrowed. NULL: no limit, as at first. */
void audio_speaker_limit_step(struct audio_speaker *s, int64_t *left);

/* Without consent packets count for SPEAKING and statistics only. Withdrawing it deletes the
 * pre-roll and ends open captures with MEDIA_REASON_NO_CONSENT. True at first. */
void audio_speaker_consent(struct audio_speaker *s, bool yes);

struct audio_packet {
	uint16_t seq;
	uint32_t ts;
	uint8_t level;	  /* -dBov, RTP_LEVEL_NONE when absent */
	const uint8_t *p; /* Opus; copied. NULL: only padding, its sequence number counts alone */
	size_t n;
};
/* Takes a packet that passed the replay window, at its arrival `now`. */
void audio_speaker_put(struct audio_speaker *s, const struct audio_packet *pkt, uint64_t now);
/* The speaker has another SSRC: the next packet's numbers have nothing to do with those before.
 * Packets that the step cannot decode any more are skipped and counted. */
void audio_speaker_restart(struct audio_speaker *s, uint64_t now);
/* This process stalled: packets that arrived meanwhile may not have been read yet, so silence
 * counts from now. */
void audio_speaker_stalled(struct audio_speaker *s, uint64_t now);
/* To be called when audio_speaker_due() says so. */
void audio_speaker_tick(struct audio_speaker *s, uint64_t now);
/* When a tick has something to do: 0 while packets wait, which wants a tick every 20 ms;
 * UINT64_MAX: nothing. A packet can make it earlier. */
uint64_t audio_speaker_due(const struct audio_speaker *s);

/* Begins listen `id`. *lent is a decoder of this rate. It is taken, and *lent set to NULL, unless
 * this rate is being decoded already; then the listen shares that decoder and starts with the next
 * frame, without pre-roll. Never calls the handler: pre-roll comes with the next put or tick.
 * Returns EEXIST, ENOSPC, or EINVAL (the rate, silence_ms outside 100..5000, or a decoder of
 * another rate). */
int audio_speaker_listen(struct audio_speaker *s, uint32_t id, uint32_t rate, uint16_t silence_ms,
			 struct audio_decoder **lent, uint64_t now);
/* Ends the listen; an open capture ends with HEARD_END and this reason first. Returns the decoder
 * that no listen uses any more, for the loop thread to free, or NULL. */
struct audio_decoder *audio_speaker_unlisten(struct audio_speaker *s, uint32_t id,
					     enum media_reason reason);
/* Ends open captures and SPEAKING with this reason (the user left, the call ended). Listens stay.
 */
void audio_speaker_end(struct audio_speaker *s, enum media_reason reason);

void audio_speaker_stats(const struct audio_speaker *s, struct audio_stats *out);

#endif
