/* One speaker's capture: a continuous segment of inbound audio. Decides whether it is speech and
 * when it has ended.
 *
 *   phase        input                               next         output
 *   NONE         speaking on, audio                  PROVISIONAL  start
 *   PROVISIONAL  audio, long and loud enough (1)     PROMOTED     promote
 *   PROVISIONAL  audio, nearly silent for too long   NONE         end DISCARDED
 *   PROVISIONAL  it ends, voice of short_speech_ms   NONE         promote, end SPEECH
 *   PROVISIONAL  it ends                             NONE         end DISCARDED
 *   PROMOTED     audio, capture_max_ms reached       PROMOTED     end CHUNK, start with next audio
 *   PROMOTED     the transcript is wanted early      PROMOTED     the same
 *   PROMOTED     it ends, no audio since the last    NONE         end CONSUMED
 *                chunk
 *   PROMOTED     it ends, no louder than noise, no   NONE         end NOISE
 *                voice
 *   PROMOTED     it ends                             NONE         end SPEECH
 *
 * (1) Louder than the absolute thresholds and than this speaker's noise floor (noise_floor.h); or
 * above lower thresholds, when speech-to-text has detected speech in this utterance.
 *
 * A capture ends when mediad says so (HEARD_END), a while after speaking ended (the shorter the
 * capture, the longer the delay, within bounds, because more is likely to follow), or when no
 * audio arrived for capture_idle_ms.
 *
 * An open microphone never stops sending, so packets tell nothing. A promoted capture ends when its
 * voice has ended, end_long_ms after the last frame that is louder than the background
 * (background.h) and not nearly silent. A provisional one ends after quiet_abort_ms without such a
 * frame, and after 2 s in any case. While packets go on, only two such frames in a row begin the
 * next capture, and both count; a pre-roll (preroll.h) keeps the beginning of its first word.
 *
 * A speaking event may overtake audio on its way
 * here: only audio that is newer than the end of speaking revokes that end, and audio that is not
 * newer than a finished capture does not begin another one. */
#ifndef CONTROL_ROOM_HEARING_CAPTURE_H
#define CONTROL_ROOM_HEARING_CAPTURE_H

#include "control/room/hearing/background.h"
#include "control/room/hearing/noise_floor.h"
#include "control/room/hearing/signal.h"

struct settings;

enum room_capture_phase { ROOM_CAPTURE_NONE, ROOM_CAPTURE_PROVISIONAL, ROOM_CAPTURE_PROMOTED };
enum room_capture_end {
	ROOM_CAPTURE_CONTINUES,
	ROOM_CAPTURE_DISCARDED, /* it was never promoted */
	ROOM_CAPTURE_NOISE,
	ROOM_CAPTURE_CONSUMED, /* all of its audio was committed before */
	ROOM_CAPTURE_CHUNK,    /* commit the audio so far; more follows */
	ROOM_CAPTURE_SPEECH,
};

struct room_capture {
	enum room_capture_phase phase;
	uint32_t utterance;	 /* set by the room at start */
	bool restart;		 /* after a chunk: start with the next frame */
	uint64_t before_ms;	 /* audio that was committed in earlier chunks */
	uint64_t wordless_ms;	 /* ... and got transcripts without words since the last words */
	bool vad;		 /* the provider's VAD detected speech */
	bool open_mic;		 /* packets went on after the capture before ended */
	unsigned risen;		 /* ... and frames in a row since that may belong to speech */
	struct room_signal rise; /* the first of them */
	struct room_noise_floor noise;
	struct room_background background;
	struct room_signal signal;
	struct room_signal voiced; /* the voiced part of it */
	uint32_t own_rms; /* the speaker's own level: voiced part of earlier turns; 0 = not known */
	uint32_t tail_rms;			 /* loudness of the last 100 ms of voiced audio */
	uint64_t started_at, input_at, voice_at; /* arrival of the last voiced frame */
	uint64_t active_at;	 /* end of the last frame that may belong to speech */
	uint64_t packet_at;	 /* arrival of the newest packet */
	uint64_t over_at;	 /* set by the end of speaking; 0 = not set */
	uint64_t off_at;	 /* packet time of that end */
	uint64_t done_packet_at; /* newest packet of the previous capture */
};

struct room_capture_out {
	bool start, append, promote;
	bool preroll; /* at the start: the pre-roll belongs to the capture */
	enum room_capture_end end;
	struct room_signal frame; /* the measurements of this frame */
};

/* load: open captures in the room, this one included. */
struct room_capture_out room_capture_on_speaking(struct room_capture *c, const struct settings *s,
						 bool on, uint64_t at, unsigned load, uint64_t now);
struct room_capture_out room_capture_on_audio(struct room_capture *c, const struct settings *s,
					      struct slice pcm, uint64_t at, uint64_t now);
/* The provider's VAD detected speech in this utterance; another utterance is ignored. */
void room_capture_on_vad(struct room_capture *c, uint32_t utterance);
/* Ends a chunk: the audio so far is committed, and more may follow. For a promoted capture that
 * is not waiting for audio. */
struct room_capture_out room_capture_split(struct room_capture *c);
/* True if the capture has too little voiced audio to be speech: a click, a breath. */
bool room_capture_lacks_voice(const struct room_capture *c, const struct settings *s);
/* HEARD_END: the capture ends at once. */
struct room_capture_out room_capture_finish(struct room_capture *c, const struct settings *s,
					    uint64_t at);
/* The speaker has probably finished: the same, but audio may go on. */
struct room_capture_out room_capture_conclude(struct room_capture *c, const struct settings *s);
struct room_capture_out room_capture_tick(struct room_capture *c, const struct settings *s,
					  uint64_t now);
/* When room_capture_tick is wanted; UINT64_MAX for never. */
uint64_t room_capture_deadline(const struct room_capture *c, const struct settings *s);
/* Confirmed speech: promoted, at least 120 ms, and not nearly silent. */
bool room_capture_confirmed(const struct room_capture *c, const struct settings *s);

#endif
