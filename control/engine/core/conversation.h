/* The conversation with one realtime provider, without its wire: its sessions, the asks that it
 * owes, which answer a sound belongs to, and the tools that an answer calls. Pure: (state, input,
 * now) gives outputs, which the shell (control/engine/realtime.c) performs.
 *
 *   session      input                          next          outputs
 *   NONE         the other one ends soon        CONNECTING    CONNECT
 *   DOWN         the backoff has passed,        CONNECTING    CONNECT
 *                or REKEY
 *   CONNECTING   opened                         OPEN          DESCRIBE, if the client speaks first
 *   OPEN         session created                UP            DESCRIBE otherwise; LINK_UP; next ask
 *   OPEN         no session for SESSION_MS      DOWN          CLOSE, LINK_DOWN
 *   UP           a fatal error, or closed       DOWN          CLOSE, LINK_DOWN; see below for asks
 *   UP           no sign of life (silent_ms)    DOWN          CLOSE, SILENT
 *   UP           renewed, once nothing runs     DOWN          CLOSE
 *   CONNECTING,  REKEY                          DOWN          CLOSE
 *   OPEN
 *   UP           REKEY after a failed answer,   DOWN          CLOSE
 *                once nothing runs
 *   UP           no ask for idle_ms             ASLEEP        CLOSE
 *   ASLEEP       an ask, or WAKE                CONNECTING    CONNECT
 *
 * Rollover: there are two sessions at most. One serves; the other one is opened before the first
 * ends (its time limit, the provider's goAway, instructions or tools that it cannot change), and
 * takes over as soon as it is up and no answer runs, or when the first is lost. The room owns the
 * history: the first ask of a session carries it along, so a session needs nothing of the one
 * before it.
 *
 *   ask          input                          next          outputs
 *   WAITING      link up, nothing is active     SENT          ITEM (its question), RESPOND
 *   SENT         response with its ask id       NAMED
 *   SENT         refused: another is active     WAITING       until that is done, or REFUSED_MS
 *   SENT         refused otherwise              OVER          FAILED
 *   SENT, NAMED  response done                  OVER          DONE or FAILED
 *   SENT, NAMED  its session ends, no answer    WAITING       it goes to the next session, twice
 *   SENT, NAMED  its session ends within it     OVER          FAILED
 *   NAMED        silent_ms within its answer,   OVER          CANCEL, FAILED
 *                or ANSWER_MS of it
 *   SENT, NAMED  cancelled                      SENT, NAMED   blocks until done (WIND_DOWN_MS)
 *
 * The ask id goes out as metadata of the response and as the id of the client event. An event that
 * comes late therefore finds its own ask or none. If a server returns no metadata, its responses
 * are matched in the order of the asks. The owner gets AUDIO and TEXT of an ask and then exactly
 * one DONE or FAILED, unless it cancels the ask.
 *
 * A question is a line, or the sound of its speaker where the dialect takes sound. The question of
 * a turn that was superseded or rolled back is deleted. An answer that was heard in part is
 * truncated, or, where that is not possible (it was text, or the dialect cannot), replaced by the
 * words that were heard, as soon as it is over.
 *
 * A side request is answered beside the conversation, in text, while an answer runs or after it;
 * the conversation does not keep it. There is one at a time, a newer one replaces it, and it may
 * get no answer at all. It is sent in a session that is known to return metadata, so that nothing
 * of it is ever taken for an answer.
 *
 * Calls of tools are put together from their fragments; each id counts once. The owner gets CALL
 * once the arguments are whole. Its next ask ends with the results, or RESULT gives one before;
 * calls that got none when the conversation goes on are answered as cancelled, so that the provider
 * gets exactly one result for each. */
#ifndef CONTROL_ENGINE_CORE_CONVERSATION_H
#define CONTROL_ENGINE_CORE_CONVERSATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/engine/core/ask.h"
#include "control/settings/usage.h"
#include "proto/base/cursor.h"

struct conversation;

enum {
	CONVERSATION_ASKS = 16, /* remembered, the running one among them */
	CONVERSATION_ITEMS = 8, /* of an answer; more can be neither truncated nor deleted */
	CONVERSATION_ID_MAX = 128,
	CONVERSATION_CALLS = 16, /* that are open at once; more are answered as too many */
	CONVERSATION_ARGUMENTS_MAX = 24000,
	CONVERSATION_ASIDE_MAX = 128,	/* bytes of what a side request is answered with */
	CONVERSATION_ASIDE_TOKENS = 64, /* reasoning may count among them */
	CONVERSATION_OUTPUTS = ENGINE_MESSAGES_MAX + ENGINE_IMAGES_MAX + 4 * ENGINE_SOUNDS_MAX +
			       (4 + CONVERSATION_ITEMS) * CONVERSATION_ASKS +
			       2 * CONVERSATION_CALLS,
	CONVERSATION_SESSION_MS = 4000, /* from the open connection to the session */
	CONVERSATION_WIND_DOWN_MS = 1400,
	CONVERSATION_REFUSED_MS = 500,
	CONVERSATION_ROLL_MS = 60000,  /* at most so long before its end a session is replaced */
	CONVERSATION_RENEW_MS = 30000, /* a session lasts at least that long before new instructions
					  replace it */
	CONVERSATION_RETRY_MS = 5000,  /* between tries to open the next session, and between
					  sessions that the provider ends before they served */
	CONVERSATION_ANSWER_MS = 600000, /* an answer that comes for longer has no end */
	CONVERSATION_RESULT_MS = 60000,	 /* a call whose result takes longer hinders no rollover */
	CONVERSATION_LOSSES = 2,	 /* sessions that may be lost with one ask in them */
};

/* Capabilities of the dialect (control/engine/caps.def). */
struct conversation_caps {
	bool cancel, truncate, erase, live_instructions, live_tools, sound, images;
	bool interrupts; /* a question interrupts an answer that runs */
	bool lines;	 /* every ask is of words that are to be spoken exactly */
	bool aside;
	/* Of the wire (control/dialect/realtime.h). */
	bool describes_first, commit_answers, answers_results;
	uint32_t keepalive_ms;
	size_t min_sound;    /* bytes of ENGINE_SOUND_RATE; less is no question */
	unsigned rate;	     /* of the sound that comes, s16le mono */
	uint32_t silent_ms;  /* without a sign of life, after which a session is replaced */
	uint32_t idle_ms;    /* without an ask, after which a session is closed; 0: never */
	uint32_t session_ms; /* after which the provider ends a session; 0: no limit is known */
};

enum conversation_input_type {
	/* of the wire, of one session */
	CONVERSATION_OPENED,
	CONVERSATION_CREATED,	 /* the session */
	CONVERSATION_CLOSED,	 /* text: why */
	CONVERSATION_REFUSED,	 /* its description; the next one leaves out why */
	CONVERSATION_RESPONSE,	 /* response; ask, 0 when the server did not return it */
	CONVERSATION_AUDIO,	 /* response, item, pcm */
	CONVERSATION_TEXT,	 /* response, item, text */
	CONVERSATION_DONE,	 /* response, ask as above, ok, cut, text: why not; usage or NULL */
	CONVERSATION_ERROR,	 /* ask: whose event it is about, 0 unknown; error, text: why */
	CONVERSATION_ITEM,	 /* item: the sound that was committed */
	CONVERSATION_CALL_BEGUN, /* response, item, call, name */
	CONVERSATION_CALL_FRAGMENT, /* response, item, call (may be ""), text */
	CONVERSATION_CALL,	    /* response, item, call, name (may be ""), text: all of it */
	CONVERSATION_CALL_REVOKED,  /* call */
	CONVERSATION_INTERRUPTED,   /* response: the provider cuts it; DONE follows */
	CONVERSATION_GO_AWAY,	    /* the provider is about to end the session */
	/* of the owner */
	CONVERSATION_ASK,      /* request */
	CONVERSATION_CANCEL,   /* ask: nothing more of it is wanted */
	CONVERSATION_TRUNCATE, /* ask, ms: as much of its answer was played; text: its words */
	CONVERSATION_FORGET,   /* turn: its questions and answers never happened */
	CONVERSATION_HEAR,     /* message: it asks for nothing */
	CONVERSATION_INSTRUCT, /* text: the instructions from now on */
	CONVERSATION_TOOLS,    /* text: a JSON array of the tools from now on */
	CONVERSATION_RESULT,   /* call, text, failed: of a tool; ENOENT: no such call is open */
	/* ask: whose answer it is about, text. ENOTSUP: not here, or not now. */
	CONVERSATION_ASIDE,
	CONVERSATION_REKEY, /* another key, with which sessions that do not serve connect at once */
	CONVERSATION_WAKE,  /* an ask may come soon */
	CONVERSATION_RENEW, /* another provider answers: this session misses what it says */
	CONVERSATION_TIME,  /* conversation_deadline() was reached */
};

enum conversation_error {
	CONVERSATION_ERROR_OTHER,
	CONVERSATION_ERROR_ACTIVE,     /* another response is active */
	CONVERSATION_ERROR_NOT_ACTIVE, /* there is none to be cancelled */
	CONVERSATION_ERROR_FATAL,      /* the session is of no use any more */
};

struct conversation_input {
	enum conversation_input_type type;
	unsigned session; /* of the wire: 0 or 1, as in CONNECT */
	uint32_t ask, turn, ms;
	bool ok, cut, failed;
	bool aside; /* of RESPONSE, DONE, ERROR: of the side request of this ask */
	enum conversation_error error;
	/* Shorter than CONVERSATION_ID_MAX. */
	const char *response, *item, *call, *name;
	struct slice text, pcm;
	const struct usage *usage;
	const struct engine_ask *request;     /* copied */
	const struct engine_message *message; /* of HEAR */
};

enum conversation_output_type {
	/* to the wire, to one session */
	CONVERSATION_DO_CONNECT,
	CONVERSATION_DO_CLOSE,	  /* drop the connection; no CLOSED is awaited */
	CONVERSATION_DO_DESCRIBE, /* text: the instructions of a new session; tools */
	CONVERSATION_DO_INSTRUCT, /* text */
	CONVERSATION_DO_TOOLS,	  /* tools */
	/* id, "" for the server's own; message; after: the item before it, "" for the last */
	CONVERSATION_DO_ITEM,
	CONVERSATION_DO_IMAGE,	  /* image */
	CONVERSATION_DO_ACTIVITY, /* sound follows */
	CONVERSATION_DO_APPEND,	  /* pcm at ENGINE_SOUND_RATE */
	CONVERSATION_DO_COMMIT,	  /* the sound was all of it */
	CONVERSATION_DO_RESPOND,  /* ask, turn, limit */
	CONVERSATION_DO_SAY,	  /* ask, turn, text: these words exactly */
	CONVERSATION_DO_ASIDE,	  /* ask, turn, limit, text */
	CONVERSATION_DO_RESULT,	  /* id of the call, name of the tool, text, failed */
	CONVERSATION_DO_CANCEL,	  /* id of the response, "" for whichever is active */
	CONVERSATION_DO_TRUNCATE, /* id of the item, ms */
	CONVERSATION_DO_DELETE,	  /* id of the item */
	CONVERSATION_DO_KEEPALIVE,
	/* to the owner */
	CONVERSATION_SAYS_AUDIO,   /* ask, pcm */
	CONVERSATION_SAYS_TEXT,	   /* ask, text */
	CONVERSATION_SAYS_CALL,	   /* ask, id of the call, name, epoch: its session, text: the
				      arguments; too_large: they were, and text is empty */
	CONVERSATION_SAYS_REVOKED, /* id of the call, epoch: its result is not wanted any more */
	CONVERSATION_SAYS_USAGE,   /* ask, 0 when it is nobody's; usage */
	CONVERSATION_SAYS_DONE,	   /* ask; calls: it waits for results; cut: a limit was reached */
	CONVERSATION_SAYS_FAILED,  /* ask, text: why */
	CONVERSATION_SAYS_ASIDE,   /* ask, text: what a side request is answered with */
	CONVERSATION_SAYS_SILENT,  /* ask: the provider does not answer; its session is replaced */
	CONVERSATION_SAYS_LINK_UP,
	CONVERSATION_SAYS_LINK_DOWN, /* text: why; once for each outage */
	CONVERSATION_SAYS_ROLLED,    /* the next session serves from now on */
};

struct conversation_output {
	enum conversation_output_type type;
	unsigned session;
	uint32_t ask, turn, ms, limit, epoch;
	bool failed, calls, cut, too_large;
	char id[CONVERSATION_ID_MAX], after[CONVERSATION_ID_MAX];
	const char *name, *tools;
	const struct engine_message *message;
	const struct engine_image *image;
	const struct usage *usage;
	struct slice text, pcm;
};

/* Pointers are valid until the next step, or are the input's. The shell performs all that goes
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
/* A session serves, or is opened as soon as it is needed. */
bool conversation_up(const struct conversation *c);
/* The last question had no sign of life for silent_ms, and there was none since. */
bool conversation_silent(const struct conversation *c);

#endif
