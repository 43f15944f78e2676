/* The send side of one call as a pure machine: lanes, mixer, Opus, the 20 ms schedule, op 5
 * (speaking), silence frames, RTP time.
 *
 * Every 20 ms its owner does, in this order, once now >= sender_next(s):
 *
 *   1. sender_due(s, now, &pkt). When it returns true: encrypt pkt, send it, call sender_done.
 *   2. sender_prepare(s, now), which mixes and encodes the next frame, so that at the deadline
 *      itself a packet is only encrypted and sent.
 *
 * The schedule is absolute: each deadline is 20 ms after the one before. When the owner is more
 * than SENDER_REBASE_MS late, the deadlines that passed are skipped: RTP time advances over them,
 * no sound is lost and nothing is sent in a burst.
 *
 * Before the first packet of an utterance the event SENDER_SPEAKING{on} requests op 5, once;
 * packets wait for sender_speaking_sent(). If that does not come within SENDER_SPEAKING_WAIT_MS
 * they go without it, but only if the server has had an op 5 since sender_start; otherwise it is
 * requested again. An utterance ends with five silence frames, and with SENDER_SPEAKING{off}
 * a second later, so that halting speech does not meet the gateway's rate limit. RTP time
 * advances by 960 every 20 ms whether or not a packet is sent. A DTX frame (Opus makes packets of
 * one or two bytes in a pause) is not sent: its time passes, its samples count as played, and
 * sequence numbers have no gap. Which frames those are depends on the codec, so the owner decides
 * and tells sender_done.
 *
 * The gate is open while packets can be encrypted, or need not be; that of a new sender is closed.
 * While it is closed only silence frames are handed out: lanes do not start, and a lane that was
 * playing pauses at the last sample that left, as at the end of an utterance. When the gate opens
 * they continue there. A lane that has waited for it for SENDER_KEY_WAIT_MS of a session is
 * stopped.
 *
 * Music sounds from a mixer of its own, which is lent when a call first needs it; its events come
 * like those of lanes. Music waits for the gate for as long as it takes. Speech that begins over
 * music waits for the attack of the duck until the music is down.
 *
 * The loop thread makes the sender and lends it. Lanes are lent to it by sender_add and return with
 * their last event. Only _alloc allocates. Times are in ns of the caller's clock. */
#ifndef MEDIAD_AUDIO_SEND_H
#define MEDIAD_AUDIO_SEND_H

#include "mediad/audio/encoder.h"
#include "mediad/audio/lane.h"
#include "mediad/audio/music_mixer.h"
#include "proto/media.h"

enum {
	SENDER_LANES = 8,
	SENDER_TICK_MS = 20,
	SENDER_REBASE_MS = 60,
	SENDER_LATE_MS = 5, /* a frame sent later than this counts as late */
	SENDER_SILENCE_FRAMES = 5,
	SENDER_SPEAKING_WAIT_MS = 500,
	SENDER_SPEAKING_HOLD_MS = 1000, /* from the last packet to SENDER_SPEAKING{off} */
	SENDER_KEY_WAIT_MS = 10000,
	SENDER_OPUS_MAX = 1275,
};

enum sender_event_type {
	SENDER_SPEAKING, /* op 5 is requested: on or off */
	SENDER_STARTED,
	SENDER_PAUSED,
	SENDER_DRAINED, /* returns the lane to the caller */
	SENDER_STOPPED, /* returns the lane to the caller */
};
struct sender_event {
	enum sender_event_type type;
	bool on;
	uint32_t playback;
	uint64_t samples; /* at 48 kHz, that left the socket; of music: also what was lost on
			     this side, as its source is behind that */
	uint64_t at;	  /* STARTED: when the first one left; otherwise now */
	enum media_reason reason; /* STOPPED: NO_KEY, SOURCE_FAILED of music, or NONE when it was
				     stopped by command, or crossed over into the next music */
	struct lane *lane;
	struct music_lane *music; /* instead of lane: the event is of music */
};
typedef void(sender_event_h)(const struct sender_event *ev, void *arg);

struct sender_packet {
	uint16_t seq;
	uint32_t ts;
	const uint8_t *opus; /* borrowed until sender_prepare */
	size_t len;
	bool silence; /* F8 FF FE: is sent without end-to-end encryption */
	bool dtx;     /* it need not be sent */
};

struct sender_stats {
	uint64_t sent, failed, late;
	uint64_t skipped;	   /* deadlines skipped because the owner was late */
	uint64_t dtx;		   /* frames left out by DTX */
	unsigned loss, complexity; /* of the encoder now: encoder.h */
	bool fec;
};

struct sender;

/* bitrate in bit/s, clamped to the limits of encoder.h. h is called from due, done, prepare, start,
 * halt, command, end and add. Returns ENOMEM. The caller owns *out. */
int sender_alloc(struct sender **out, uint32_t bitrate, sender_event_h *h, void *arg);
/* Also frees the lanes that are still lent to it. */
struct sender *sender_free(struct sender *s);
void sender_set_bitrate(struct sender *s, uint32_t bitrate);
/* As encoder_set_complexity, encoder_forbid_fec, encoder_report_loss, encoder_forget_loss. */
void sender_set_complexity(struct sender *s, unsigned complexity);
void sender_forbid_fec(struct sender *s, bool forbidden);
void sender_report_loss(struct sender *s, uint8_t fraction);
void sender_forget_loss(struct sender *s);

/* A voice session begins, or the next one: `first` is the first deadline, seq and ts are random.
 * Requests op 5 and then sends five silence frames, which make the server forward sound to us. */
void sender_start(struct sender *s, uint64_t first, uint16_t seq, uint32_t ts);
/* The session is gone: nothing is due until the next start. Lanes keep their samples; pauses and
 * stops take effect at once. A prepared frame counts as not sent. */
void sender_halt(struct sender *s, uint64_t now);
/* Opens or closes the gate. A prepared frame that must not be sent returns to its lanes at the next
 * deadline. */
void sender_set_gate(struct sender *s, bool open);
/* The requested op 5 has been given to the gateway. */
void sender_speaking_sent(struct sender *s);

/* The next deadline; UINT64_MAX when halted. */
uint64_t sender_next(const struct sender *s);
/* True if nothing will be sent until a lane is lent: it is halted, or no lane, frame or op 5 is
 * under way. Deadlines need not be met then. */
bool sender_is_idle(const struct sender *s);
/* Passes over the deadlines up to now when it is idle. Returns how many. */
uint32_t sender_pass(struct sender *s, uint64_t now);
/* To be called at or after the deadline. Returns true when *pkt is to be sent now, and sender_done
 * called after that. */
bool sender_due(struct sender *s, uint64_t now, struct sender_packet *pkt);
enum sender_outcome { SENDER_FAILED, SENDER_SENT, SENDER_DTX /* left out */ };
void sender_done(struct sender *s, enum sender_outcome outcome, uint64_t now);
/* Makes the frame of the next deadline. To be called after each deadline; also after
 * sender_speaking_sent() and lane_write(), which starts an utterance one tick earlier. Does nothing
 * when the frame exists already. */
void sender_prepare(struct sender *s, uint64_t now);

/* Lends a lane. Returns ENOSPC or EEXIST. */
int sender_add(struct sender *s, struct lane *l);
/* The lane of a playback, borrowed, for lane_write; NULL when it ended. */
struct lane *sender_lane(struct sender *s, uint32_t playback);
/* Calls lane_end, and emits the end at once when no sample is left to be sent. Returns false when
 * there is no such playback. */
bool sender_end(struct sender *s, uint32_t playback, uint64_t now);
enum sender_command {
	SENDER_PAUSE,
	SENDER_RESUME,
	SENDER_STOP,
	SENDER_GAIN,
	SENDER_GLIDE /* of music: playout_glide; the fade counts for each dB of a fall */
};
/* As lane_pause, lane_resume, lane_stop and lane_gain, and emits the events that follow. Returns
 * false when there is no such playback. */
bool sender_command(struct sender *s, uint32_t playback, enum sender_command cmd, uint16_t target,
		    uint16_t fade_ms, uint64_t now);
/* Lends the mixer of music, which stays until sender_free. Returns EEXIST. */
int sender_lend_music(struct sender *s, struct music_mixer *m);
/* Borrowed, to add and to write lanes; NULL before it is lent. */
struct music_mixer *sender_music(struct sender *s);
/* As sender_command, for a lane of music, with a gain in millionths. */
bool sender_command_music(struct sender *s, uint32_t id, enum sender_command cmd, uint32_t target,
			  uint16_t fade_ms, uint64_t now);
struct music_lane *sender_take_music(struct sender *s);
/* For teardown: takes out one lane; NULL when none is left. */
struct lane *sender_take(struct sender *s);

void sender_stats(const struct sender *s, struct sender_stats *out);

#endif
