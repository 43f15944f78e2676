/* The interface of engines. An engine is one provider that serves one role: a realtime voice
 * session, a text model, a voice that reads out, a transcriber. Its shell is an ops table; what its
 * dialect can do stands in caps.def.
 *
 * Everything runs on env's loop thread. What the conf names is borrowed for the engine's life, its
 * texts are copied. The handler is not called from inside ask(), and may call any op but free().
 * Every ask gets exactly one ENGINE_DONE or ENGINE_FAILED, unless it is cancelled. */
#ifndef CONTROL_ENGINE_ENGINE_H
#define CONTROL_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/dialect/trouble.h"
#include "control/engine/core/ask.h"
#include "control/settings/provider_record.h"
#include "control/settings/usage.h"
#include "proto/base/cursor.h"

struct env;
struct http;
struct realtime_dialect;
struct text_dialect;
struct ws_ctx;

enum engine_event_type {
	ENGINE_AUDIO,	   /* ask, data: s16le mono at ENGINE_SOUND_RATE */
	ENGINE_WORDS,	   /* ask, data: more of the answer's text, UTF-8 */
	ENGINE_DONE,	   /* ask, end: the answer is whole */
	ENGINE_FAILED,	   /* ask, data: why, trouble; nothing more comes of it */
	ENGINE_SILENT,	   /* ask: no sign of life for too long; it is still tried */
	ENGINE_LINK_UP,	   /* of an engine with a session */
	ENGINE_LINK_DOWN,  /* data: why, trouble */
	ENGINE_PARTIAL,	   /* user, utterance, data: the interim transcript */
	ENGINE_TRANSCRIPT, /* user, utterance, data: the final transcript; doubt, no_speech. Again
			      when it is revised */
	ENGINE_NO_TRANSCRIPT, /* user, utterance, data: why */
	ENGINE_TOOL_CALL, /* ask, call, tool, session, data: the arguments as JSON text, too_large:
			     they were; once for a call */
	ENGINE_TOOL_REVOKED, /* call, session: the provider takes the call back */
	ENGINE_USAGE,	     /* ask, usage: what the answer used, before its end */
	ENGINE_ASIDE,	     /* ask, data: what a side request is answered with */
	ENGINE_REFUSED,	 /* data: why; settings of the session are not accepted: it goes on without
			  */
	ENGINE_FAILOVER, /* of roles alone: another provider takes over */
	/* ask, data: the next word that is spoken; samples: where it ends in the ask's audio. Of
	 * an engine of speech that knows it. */
	ENGINE_WORD_END,
	/* ask, data: floats, a vector of dim numbers for each message of the ask. Of an engine that
	   embeds. */
	ENGINE_VECTORS,
	ENGINE_SEARCH_BEGAN, /* ask: the provider searches the web by itself */
	ENGINE_SEARCHED,     /* ask, data: the query, or the address of a page; failed. One for each
				BEGAN, unless the ask ends before */
	ENGINE_SOURCE,	     /* ask, data: the address of a page that the answer cites; title */
};

struct engine_event {
	enum engine_event_type type;
	uint32_t ask;
	enum engine_end end;
	const char *call, *tool; /* of TOOL_CALL; borrowed until return */
	uint32_t session;	 /* of TOOL_CALL: an id is the provider's, and unique within it */
	bool too_large;
	bool failed;		   /* of SEARCHED */
	bool lost;		   /* of FAILED: the request was sent, so it may cost something */
	const char *title;	   /* of SOURCE, untrusted; borrowed until return */
	const struct usage *usage; /* of USAGE; borrowed until return */
	struct slice data;	   /* borrowed until return */
	enum trouble trouble;
	uint64_t user;
	uint64_t samples;
	uint32_t dim; /* of VECTORS */
	uint32_t utterance;
	uint32_t doubt; /* minus the mean logprob of the tokens, thousandths, plus one; 0: not told
			 */
	const char *language; /* of a transcript, a code of ISO 639; borrowed until return; NULL or
				 "": not told */
	uint32_t no_speech;   /* how likely there was none, thousandths, plus one; 0: not told */
};
typedef void(engine_h)(const struct engine_event *ev, void *arg);

/* Route of utterances to an engine that transcribes. */
enum engine_transcription {
	ENGINE_TRANSCRIBE_SPEAKERS, /* a session for each speaker */
	ENGINE_TRANSCRIBE_SHARED,   /* one session for all of them */
	ENGINE_TRANSCRIBE_FILES,    /* whole recordings */
};

struct engine_conf {
	struct env *env;
	struct ws_ctx *ws;
	struct http *http;
	const struct engine_caps *caps;
	const char *socket_url, *http_url; /* whichever the shell needs */
	const char *key;		   /* "" for none */
	const char *model, *voice, *language;
	bool text_only;	     /* of a voice session: another engine reads out what it writes */
	const char *options; /* of the provider's record: a JSON object as text, or "" */
	uint32_t silent_ms;  /* without a sign of life, after which a session is replaced */
	uint32_t idle_ms;    /* without an ask, after which a session is closed; 0: never */
	enum engine_transcription transcription;
	engine_h *h;
	void *arg;
};

/* Events of an utterance in an engine that transcribes. */
enum engine_sound_type {
	ENGINE_SOUND_START,   /* connects if need be; sound follows */
	ENGINE_SOUND_APPEND,  /* pcm */
	ENGINE_SOUND_SPEECH,  /* counts as speech from now on */
	ENGINE_SOUND_COMMIT,  /* a transcript is awaited */
	ENGINE_SOUND_INTERIM, /* its interim transcript is wanted; the utterance goes on */
	ENGINE_SOUND_FILE, /* its recording is transcribed, with the others before the next flush as
			      one */
	ENGINE_SOUND_CANCEL, /* forgets it */
	ENGINE_SOUND_CLOSE,  /* closes the user's session; left: the user left, so recordings are
				forgotten too */
};
struct engine_sound {
	enum engine_sound_type type;
	uint64_t user;
	uint32_t utterance;
	struct slice pcm; /* s16le mono at the rate of the dialect; borrowed */
	bool left;
};

struct engine_ops {
	/* EINVAL, ENOMEM. */
	int (*alloc)(void **out, const struct engine_conf *conf);
	void (*free)(void *engine); /* NULL accepted; not from inside the handler */
	/* Another key, of connections and requests from now on; those that are open go on. ENOMEM.
	 */
	int (*rekey)(void *engine, const char *key);
	/* NULL: always ready. */
	bool (*up)(const void *engine);

	/* Of an engine that answers; NULL elsewhere. ENOMEM, EBUSY too many asks, EINVAL. */
	int (*ask)(void *engine, const struct engine_ask *ask);
	void (*cancel)(void *engine, uint32_t ask);

	/* Of an engine that keeps a conversation; NULL elsewhere. */
	int (*instruct)(void *engine, const char *text);
	/* The tools that its answers may call from now on. */
	int (*tools)(void *engine, const struct engine_tool *tools, size_t n);
	/* The result of a call, before an ask that ends with it: exactly one for each call. ENOENT:
	 * the call waits for none (any more). */
	int (*result)(void *engine, const char *call, const char *text, bool failed);
	/* A short text about an ask's answer is wanted, beside the conversation: ASIDE, or nothing.
	 * ENOTSUP, ENOMEM. */
	int (*aside)(void *engine, uint32_t ask, const char *text);
	int (*hear)(void *engine, const struct engine_message *message);
	/* As much of its answer was played; heard: the words of that. */
	void (*truncate)(void *engine, uint32_t ask, uint32_t ms, const char *heard);
	void (*forget)(void *engine, uint32_t turn);
	/* An ask may come soon: a session that was closed since nobody used it is opened. */
	void (*wake)(void *engine);
	/* Another provider answers: what this one keeps of the conversation is out of date, and
	 * the history of the next ask takes its place. */
	void (*renew)(void *engine);

	/* Of an engine that transcribes; NULL elsewhere. An errno: the utterance gets no
	 * transcript, except ENOMEM and others of START, after which COMMIT tells. flush: the
	 * sounds of one step are there; on failure *user and *utterance name whose transcript is
	 * lost. */
	int (*sound)(void *engine, const struct engine_sound *sound);
	int (*flush)(void *engine, uint64_t *user, uint32_t *utterance);
};

struct engine_caps {
	enum dialect dialect;
	enum role role;
	const struct engine_ops *ops;
	bool text_in, pcm_in, live_instructions, live_tools, cancel, truncate, erase, exact_line,
		image_in, aside;
	uint32_t rate_in, rate_out, session_min;
	bool interrupts;
};

extern const struct engine_ops engine_realtime, engine_text, engine_speech, engine_speech_stream,
	engine_transcriber, engine_embed;

/* NULL: this dialect does not serve that role. */
const struct engine_caps *engine_caps(enum dialect dialect, enum role role);
/* The wire of its realtime sessions (control/dialect/realtime.h); NULL: it has none. */
const struct realtime_dialect *engine_wire(enum dialect dialect);
/* The same of its text models. */
const struct text_dialect *engine_text_dialect(enum dialect dialect);
/* Classifies the words of a refusal, failure or close. */
enum trouble engine_trouble(const uint8_t *why, size_t n);

#endif
