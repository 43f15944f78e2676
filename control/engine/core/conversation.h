/* The conversation with one realtime provider, without its wire: the session, the asks that it
 * owes, and which answer a sound belongs to. Pure: (state, input, now) gives outputs, which the
 * shell (control/engine/realtime.c) performs.
 *
 *   link         input                          next          outputs
 *   DOWN         the backoff has passed         CONNECTING    CONNECT
 *   CONNECTING   opened                         OPEN
 *   OPEN         session created                UP            DESCRIBE, LINK_UP; the next ask
 *   OPEN         no session for SESSION_MS      DOWN          CLOSE, LINK_DOWN
 *   UP           a fatal error, or closed       DOWN          CLOSE, FAILED, LINK_DOWN
 *   UP           no sign of life (silent_ms)    DOWN          CLOSE, SILENT
 *   UP           renewed, once nothing runs     DOWN          CLOSE
 *
 *   ask          input                          next          outputs
 *   WAITING      link up, nothing is active     SENT          ITEM (its question), RESPOND
 *   SENT         response with its ask id       NAMED
 *   SENT         refused: another is active     WAITING       until that is done, or REFUSED_MS
 *   SENT         refused otherwise              OVER          FAILED
 *   SENT, NAMED  response done                  OVER          DONE or FAILED
 *   SENT, NAMED  its session is replaced        WAITING       it goes to the next session
 *   SENT, NAMED  cancelled                      SENT, NAMED   blocks until done (WIND_DOWN_MS)
 *
 * The ask id goes out as metadata of the response and as the id of the client event. An event that
 * comes late therefore finds its own ask or none. If a server returns no metadata, its responses
 * are matched in the order of the asks. The owner gets AUDIO and TEXT of an ask and then exactly
 * one DONE or FAILED, unless it cancels the ask.
 *
 * The room owns the history. The provider's copy is a cache: the first ask of a session carries the
 * history along, and the question of a turn that was superseded or rolled back is deleted. */
#ifndef CONTROL_ENGINE_CORE_CONVERSATION_H
#define CONTROL_ENGINE_CORE_CONVERSATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/engine/core/ask.h"
#include "proto/base/cursor.h"

struct conversation;

enum {
	CONVERSATION_ASKS = 16, /* remembered, the running one among them */
	CONVERSATION_ID_MAX = 128,
	CONVERSATION_OUTPUTS = ENGINE_MESSAGES_MAX + 4 * CONVERSATION_ASKS,
	CONVERSATION_SESSION_MS = 4000, /* from the open connection to the session */
	CONVERSATION_WIND_DOWN_MS = 1500,
	CONVERSATION_REFUSED_MS = 500,
};

/* What the dialect can do (control/engine/caps.def). */
struct conversation_caps {
	bool cancel, truncate, erase;
	unsigned rate;	    /* of the sound that comes, s16le mono */
	uint32_t silent_ms; /* without a sign of life, after which a session is replaced */
};

enum conversation_input_type {
	/* of the wire */
	CONVERSATION_OPENED,
	CONVERSATION_CREATED,  /* the session */
	CONVERSATION_CLOSED,   /* text: why */
	CONVERSATION_RESPONSE, /* response; ask, 0 when the server did not return it */
	CONVERSATION_AUDIO,    /* response, item, pcm */
	CONVERSATION_TEXT,     /* response, item, text */
	CONVERSATION_DONE,     /* response, ask as above, ok, text: why not */
	CONVERSATION_ERROR,    /* ask: whose event it is about, 0 unknown; error, text: why */
	/* of the owner */
	CONVERSATION_ASK,      /* request */
	CONVERSATION_CANCEL,   /* ask: nothing more of it is wanted */
	CONVERSATION_TRUNCATE, /* ask, ms: as much of its answer was played */
	CONVERSATION_FORGET,   /* turn: its questions and answers never happened */
	CONVERSATION_HEAR,     /* message: it asks for nothing */
	CONVERSATION_INSTRUCT, /* text: the instructions from now on */
	CONVERSATION_RENEW,    /* another provider answers: this session misses what it says */
	CONVERSATION_TIME,     /* conversation_deadline() was reached */
};

enum conversation_error {
	CONVERSATION_ERROR_OTHER,
	CONVERSATION_ERROR_ACTIVE,     /* another response is active */
	CONVERSATION_ERROR_NOT_ACTIVE, /* there is none to be cancelled */
	CONVERSATION_ERROR_FATAL,      /* the session is of no use any more */
};

struct conversation_input {
	enum conversation_input_type type;
	uint32_t ask, turn, ms;
	bool ok;
	enum conversation_error error;
	const char *response, *item; /* shorter than CONVERSATION_ID_MAX */
	struct slice text, pcm;
	const struct engine_ask *request;     /* copied */
	const struct engine_message *message; /* of HEAR */
};

enum conversation_output_type {
	/* to the wire */
	CONVERSATION_DO_CONNECT,
	CONVERSATION_DO_CLOSE,	  /* drop the connection; no CLOSED is awaited */
	CONVERSATION_DO_DESCRIBE, /* text: the instructions of a new session */
	CONVERSATION_DO_INSTRUCT, /* text */
	CONVERSATION_DO_ITEM,	  /* id, "" for the server's own; message */
	CONVERSATION_DO_RESPOND,  /* ask, turn */
	CONVERSATION_DO_CANCEL,	  /* id of the response, "" for whichever is active */
	CONVERSATION_DO_TRUNCATE, /* id of the item, ms */
	CONVERSATION_DO_DELETE,	  /* id of the item */
	/* to the owner */
	CONVERSATION_SAYS_AUDIO,  /* ask, pcm */
	CONVERSATION_SAYS_TEXT,	  /* ask, text */
	CONVERSATION_SAYS_DONE,	  /* ask */
	CONVERSATION_SAYS_FAILED, /* ask, text: why */
	CONVERSATION_SAYS_SILENT, /* ask: the provider does not answer; its session is replaced */
	CONVERSATION_SAYS_LINK_UP,
	CONVERSATION_SAYS_LINK_DOWN, /* text: why; once for each outage */
};

struct conversation_output {
	enum conversation_output_type type;
	uint32_t ask, turn, ms;
	char id[CONVERSATION_ID_MAX];
	const struct engine_message *message;
	struct slice text, pcm;
};

/* What is pointed to lives until the next step, or is the input's. The shell performs all that goes
 * to the wire before it tells the owner anything. */
struct conversation_outputs {
	size_t n;
	struct conversation_output v[CONVERSATION_OUTPUTS];
};

/* Wants TIME at once. ENOMEM. Caller owns *out. */
int conversation_alloc(struct conversation **out, const struct conversation_caps *caps);
struct conversation *conversation_free(struct conversation *c);
/* now: ns, never going back. outputs->n is set anew. ENOMEM, EBUSY too many asks, EINVAL: the input
 * was not taken. */
int conversation_step(struct conversation *c, const struct conversation_input *in, uint64_t now,
		      struct conversation_outputs *outputs);
/* When it wants TIME; UINT64_MAX for never. */
uint64_t conversation_deadline(const struct conversation *c);
bool conversation_up(const struct conversation *c);
/* The last question had no sign of life for silent_ms, and there was none since. */
bool conversation_silent(const struct conversation *c);

#endif
