/* The server side of one Realtime connection (control/dialect): events in, events out, and work for
 * recognisers and speech synthesis.
 *
 * Pure: requests leave by struct session_out while a call runs, in order; results come back by
 * session_recognised and session_take_speech. Time, wall clock and randomness are passed with every
 * call. Sources: those of the dialect (control/dialect); the order of a response's events
 * is the one of the service.
 *
 * Extensions, all plain text in `instructions` or in items of role system:
 *   people in the room: Alice, Bob     answers "who is here"
 *   now speaking: Alice                the speaker of the following audio
 *   say exactly: …                     (instructions of a response.create) speaks this line and
 * nothing else A response's metadata gets a key "intent" ("none" when nothing was understood),
 * unless the client set that key itself.
 *
 * Bytes from outside: a malformed event is answered by an `error` event; the session goes on. */
#ifndef OFFLINE_SESSION_H
#define OFFLINE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct session;
struct rules;

enum {
	SESSION_LIFE_S = 24 * 3600,
	SESSION_RATE = 24000,
	SESSION_MAX_EVENT = 16 << 20,
	SESSION_MAX_UTTERANCE_S = 60
};

/* Borrowed until return: json, pcm (24 kHz s16 mono, n samples), text, voice. */
struct session_out {
	void (*event)(const char *json, size_t len, void *arg);
	/* Recognition. An utterance is begun, fed, and then ended (its words are wanted) or
	 * dropped. */
	void (*recognise_begin)(uint32_t utterance, void *arg);
	void (*recognise_pcm)(uint32_t utterance, const int16_t *pcm, size_t n, void *arg);
	void (*recognise_end)(uint32_t utterance, void *arg);
	void (*recognise_drop)(uint32_t utterance, void *arg);
	/* Speech synthesis. voice: slt, rms or awb; speed 0.25 … 1.5. */
	void (*say)(uint32_t speech, const char *text, const char *voice, double speed, void *arg);
	void (*say_stop)(uint32_t speech, void *arg);
	void *arg;
};

struct session_moment {
	uint64_t now_ms; /* monotonic */
	uint64_t wall_s; /* since 1970 */
	struct tm local; /* the same, local time */
	uint64_t random; /* fresh for every call */
};

struct session_conf {
	bool transcription;	   /* ?intent=transcription */
	const char *model;	   /* copied */
	uint64_t seed;		   /* makes the ids differ from other sessions' */
	const struct rules *rules; /* borrowed */
	struct session_out out;
};

/* ENOMEM. Caller owns *out. */
int session_alloc(struct session **out, const struct session_conf *conf);
/* Calls nothing of session_out. */
struct session *session_free(struct session *s);

/* Each returns 0 or ENOMEM; after ENOMEM the connection must be closed. */
int session_open(struct session *s, const struct session_moment *now);
int session_event(struct session *s, const struct session_moment *now, const char *json,
		  size_t len);
/* The words of an ended utterance; NULL when the recogniser failed. */
int session_recognised(struct session *s, const struct session_moment *now, uint32_t utterance,
		       const char *text);
/* Sound of a spoken line, in order. piece: the words that begin with this sound, or "". last:
 * nothing follows. */
int session_take_speech(struct session *s, const struct session_moment *now, uint32_t speech,
			const int16_t *pcm, size_t n, const char *piece, bool last);

#endif
