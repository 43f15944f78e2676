/* One user's utterance as sound: is it speech, and when is it over?
 *
 *   phase         input                                     next          says
 *   NONE          speaking on, sound                        PROVISIONAL   start
 *   PROVISIONAL   sound, long and loud enough (1)           PROMOTED      promote
 *   PROVISIONAL   sound, nearly silent for too long         NONE          end DISCARDED
 *   PROVISIONAL   over                                      NONE          end DISCARDED
 *   PROMOTED      sound, capture_max_ms reached             PROMOTED      end PIECE, start with the
 * next sound PROMOTED      its words are wanted already              PROMOTED      the same
 *   PROMOTED      over, nothing since the last piece        NONE          end SPENT
 *   PROMOTED      over, no louder than noise, or no voice   NONE          end NOISE
 *   PROMOTED      over                                      NONE          end SPOKEN
 *
 * (1) Loud enough by itself, and louder than this speaker's noise (noise.h); or less, when
 * speech-to-text has heard speech in this very utterance.
 *
 * Over means: told by mediad (HEARD_END), or a while after speaking ended (the shorter the
 * utterance, the likelier that more comes, within bounds), or nothing came for capture_idle_ms. A
 * command may overtake sound on its way here, so only sound that is newer than the end of speaking
 * takes that end back, and sound that is not newer than an utterance that ended does not begin
 * another. */
#ifndef CONTROL_ROOM_HEARING_CAPTURE_H
#define CONTROL_ROOM_HEARING_CAPTURE_H

#include "control/room/hearing/noise_floor.h"
#include "control/room/hearing/signal.h"

struct settings;

enum room_capture_phase { ROOM_CAPTURE_NONE, ROOM_CAPTURE_PROVISIONAL, ROOM_CAPTURE_PROMOTED };
enum room_capture_end {
	ROOM_CAPTURE_CONTINUES,
	ROOM_CAPTURE_DISCARDED, /* never was a turn */
	ROOM_CAPTURE_NOISE,
	ROOM_CAPTURE_CONSUMED, /* all of it went to speech-to-text before */
	ROOM_CAPTURE_CHUNK,    /* to speech-to-text; more follows */
	ROOM_CAPTURE_SPEECH,
};

struct room_capture {
	enum room_capture_phase phase;
	uint32_t utterance; /* set by the room at start */
	bool restart;	    /* after a piece: start with the next sound */
	uint64_t before_ms; /* of it, already given to speech-to-text */
	bool vad;	    /* speech-to-text has heard speech in it */
	struct room_noise_floor noise;
	struct room_signal signal;
	struct room_signal voiced; /* of that, what is loud enough to be a voice */
	uint32_t tail_rms;	   /* loudness of the last tenth of a second of that */
	uint64_t started_at, input_at, voice_at; /* arrival of the last voiced sound */
	uint64_t packet_at;			 /* arrival of the newest packet */
	uint64_t over_at;			 /* armed by the end of speaking; 0 = not */
	uint64_t off_at;			 /* packet time of that end */
	uint64_t done_packet_at;		 /* newest packet of the last utterance */
};

struct room_capture_out {
	bool start, append, promote;
	enum room_capture_end end;
	struct room_signal frame; /* of this sound */
};

/* load: utterances going on in the room, this one included. */
struct room_capture_out room_capture_on_speaking(struct room_capture *c, const struct settings *s,
						 bool on, uint64_t at, unsigned load, uint64_t now);
struct room_capture_out room_capture_on_audio(struct room_capture *c, const struct settings *s,
					      struct slice pcm, uint64_t at, uint64_t now);
/* Speech-to-text has heard speech in this utterance; others are dropped. */
void room_capture_on_vad(struct room_capture *c, uint32_t utterance);
/* What was heard so far goes to speech-to-text, and more may come. For a promoted one that does not
 * wait for sound. */
struct room_capture_out room_capture_split(struct room_capture *c);
/* So little voice is none: a click, a breath. */
bool room_capture_lacks_voice(const struct room_capture *c, const struct settings *s);
/* HEARD_END: over at once. */
struct room_capture_out room_capture_finish(struct room_capture *c, const struct settings *s,
					    uint64_t at);
struct room_capture_out room_capture_tick(struct room_capture *c, const struct settings *s,
					  uint64_t now);
/* When room_capture_tick is wanted; UINT64_MAX for never. */
uint64_t room_capture_deadline(const struct room_capture *c, const struct settings *s);
/* Speech beyond doubt: promoted, 120 ms of it, and not nearly silent. */
bool room_capture_confirmed(const struct room_capture *c, const struct settings *s);

#endif
