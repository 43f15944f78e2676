/* A dialect of realtime voice sessions over one WebSocket: a table of pure functions over a codec,
 * which has the state that the wire needs (ids that the provider does not give, calls in fragments,
 * which answer runs). control/engine/realtime.c owns the socket and speaks to this table alone;
 * control/engine/core/conversation.h decides what is sent when.
 *
 * One codec serves one connection at a time; reset() begins the next. encode() turns a command into
 * messages, decode() turns one message into facts. Commands that a dialect cannot do give ENOTSUP,
 * which is no fault: control/engine/caps.def says what each can do.
 *
 * Ids. A provider that names its responses and items is quoted. Where it does not (Gemini), the
 * codec makes ids that are unique in the connection: each answer begins with REALTIME_RESPONSE and
 * ends with one REALTIME_DONE, also when it was interrupted. `ask` of these two is the ask of
 * REALTIME_RESPOND where the wire brings it back; 0: unknown, and answers come in the order of the
 * asks.
 *
 * Ownership: a codec copies its conf. Commands borrow everything. What encode() hands out is
 * borrowed until the handler returns; what facts point to belongs to them until
 * realtime_facts_clear, or is part of the message. Texts are UTF-8; slices are not NUL-terminated.
 */
#ifndef CONTROL_DIALECT_REALTIME_H
#define CONTROL_DIALECT_REALTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/dialect/trouble.h"
#include "control/settings/usage.h"
#include "proto/base/cursor.h"

enum {
	REALTIME_ID_MAX = 128,
	REALTIME_CODE_MAX = 64,
	REALTIME_NAME_MAX = 128,
	REALTIME_FACTS = 16,
	REALTIME_MESSAGE_MAX = 16 << 20,
};

/* ---- what goes out ---- */

enum realtime_command_type {
	/* The session: instructions, tools, handle. Sent when the session is there, or at once if
	 * describes_first. */
	REALTIME_DESCRIBE,
	REALTIME_INSTRUCT, /* instructions from now on */
	REALTIME_TOOLS,	   /* tools from now on */
	/* A line of the conversation, which asks for nothing: id, "" leaves it to the server, at
	 * most 32 characters; assistant, text; after: the item before it, "" for the last. */
	REALTIME_ITEM,
	REALTIME_IMAGE,	   /* id as above, mime, data: the encoded picture; text: about it */
	REALTIME_ACTIVITY, /* a speaker's audio begins */
	REALTIME_APPEND,   /* data: s16le mono at rate_in */
	REALTIME_COMMIT,   /* the speaker's audio since then is one item; id: see REALTIME_HEARD */
	REALTIME_DROP_AUDIO, /* the audio since then never was */
	REALTIME_RESPOND,    /* an answer: ask, turn, limit (tokens; 0: none) */
	/* Exactly the words of text are spoken and nothing is remembered of it: ask, turn. */
	REALTIME_SAY,
	/* A short answer in text, beside the conversation, which neither sees nor keeps it: ask,
	 * turn, text: what is wanted, limit. What comes of it is marked `aside`. */
	REALTIME_ASIDE,
	REALTIME_CANCEL,   /* id: of the response, "" whichever runs */
	REALTIME_TRUNCATE, /* id: of the item; ms: as much of it was played */
	REALTIME_DELETE,   /* id: of the item */
	/* Of a tool: call, name, text: the result as JSON or plain words; failed. Results of one
	 * answer are followed by REALTIME_RESPOND, unless answers_results. */
	REALTIME_RESULT,
	REALTIME_KEEPALIVE, /* keepalive_ms without a command have passed */
};

struct realtime_command {
	enum realtime_command_type type;
	uint32_t ask, turn, limit, ms;
	bool assistant, failed;
	/* "" or NULL for none. tools: a JSON array of {name, description, parameters (JSON
	 * schema)}. handle: of REALTIME_HANDLE of an earlier connection. */
	const char *instructions, *tools, *handle;
	const char *id, *after, *call, *name, *text, *mime;
	struct slice data;
};

/* One message for the socket. An errno ends encode() with it. */
typedef int(realtime_send_h)(bool text, const void *data, size_t n, void *arg);

/* ---- what comes in ---- */

enum realtime_fact_type {
	REALTIME_SESSION,	/* the session is there, or changed */
	REALTIME_HANDLE,	/* text: resumes the session in another connection; "" none does */
	REALTIME_HEARD_ITEM,	/* item: the committed audio is this item of the conversation */
	REALTIME_HEARD_PART,	/* item, text: more of its interim transcript; whole: all so far */
	REALTIME_HEARD_TEXT,	/* item, text: its final transcript */
	REALTIME_RESPONSE,	/* response, ask: an answer begins */
	REALTIME_AUDIO,		/* response, item, data: in base64, or binary: s16le at rate_out */
	REALTIME_TEXT,		/* response, item, text: more words of what is said */
	REALTIME_CALL_BEGUN,	/* response, item, call, name: arguments follow */
	REALTIME_CALL_FRAGMENT, /* response, item, call (may be ""), text: more arguments */
	/* response, item, call, name, text: all arguments. It may come without the two above, and
	 * twice for one call. */
	REALTIME_CALL,
	REALTIME_CALL_REVOKED, /* call: its result is not wanted any more */
	/* The provider cut its own answer because somebody speaks: response. DONE follows. */
	REALTIME_INTERRUPTED,
	REALTIME_DONE,	/* response, ask, status, text: why it failed; usage */
	REALTIME_USAGE, /* response ("" unknown), usage: beside DONE, and before it */
	/* error, ask (0 unknown), text: why; whole: the codec leaves out from now on what was
	 * refused, and DESCRIBE ought to be sent again, since nothing of it was taken. */
	REALTIME_ERROR,
	REALTIME_GO_AWAY, /* ms: until the provider ends the connection */
};

enum realtime_status {
	REALTIME_FAILED,
	REALTIME_COMPLETED,
	REALTIME_CANCELLED,
	REALTIME_INCOMPLETE, /* a limit was reached; the answer is as long as it is */
};

enum realtime_error {
	REALTIME_ERROR_OTHER,
	REALTIME_ERROR_FATAL,	   /* the session is of no use any more */
	REALTIME_ERROR_ACTIVE,	   /* a response is active already */
	REALTIME_ERROR_NOT_ACTIVE, /* no response is active that could be cancelled */
	REALTIME_ERROR_SESSION, /* the session goes on without what DESCRIBE, INSTRUCT or TOOLS said
				 */
};

struct realtime_fact {
	enum realtime_fact_type type;
	char response[REALTIME_ID_MAX], item[REALTIME_ID_MAX], call[REALTIME_ID_MAX];
	char name[REALTIME_NAME_MAX];
	char code[REALTIME_CODE_MAX]; /* of ERROR and of a failed DONE, "" for none */
	uint32_t ask, ms;
	bool whole, binary;
	bool aside; /* of RESPONSE, DONE and ERROR: about the ASIDE of this ask */
	enum realtime_status status;
	enum realtime_error error;
	struct usage usage;
	struct slice text, data;
};

struct realtime_facts {
	size_t n; /* 0: a message that says nothing to us */
	struct realtime_fact v[REALTIME_FACTS];
	void *tree; /* json_t, owns the texts */
};

/* The next fact, all zero but its type and its texts "". NULL: there are too many. */
struct realtime_fact *realtime_fact_add(struct realtime_facts *facts, enum realtime_fact_type type);
void realtime_facts_clear(struct realtime_facts *facts);

/* ---- the table ---- */

struct realtime_conf {
	const char
		*url; /* of the provider's WebSocket, as the settings have it; may have a query */
	const char *model, *voice;  /* "" leaves them to the provider */
	uint32_t rate_in, rate_out; /* of control/engine/caps.def */
	bool text_only;		    /* answers are TEXT, without AUDIO */
};

struct realtime_dialect {
	bool describes_first;	/* DESCRIBE goes out on the open connection, and SESSION follows */
	bool answers_results;	/* a RESULT alone makes the provider go on */
	bool commit_answers;	/* a COMMIT alone makes it answer: no RESPOND follows */
	uint32_t keepalive_ms;	/* 0: none is needed */
	uint32_t min_commit_ms; /* of audio; less is refused */
	const char *header;	/* a further header of the connection, NULL for none */

	/* ENOMEM, EINVAL. Caller owns *out. */
	int (*alloc)(void **out, const struct realtime_conf *conf);
	void (*free)(void *codec);  /* NULL accepted */
	void (*reset)(void *codec); /* a new connection begins */
	/* Where to connect, without the key. Caller frees it; NULL without memory. */
	char *(*url)(const void *codec);
	/* The header that has the key: a secret, to be wiped before it is freed. NULL without
	 * memory, or key "". */
	char *(*auth)(const char *key);
	/* ENOTSUP, ENOMEM, EINVAL (a text that is no UTF-8), or what h gave. */
	int (*encode)(void *codec, const struct realtime_command *cmd, realtime_send_h *h,
		      void *arg);
	/* One whole message, text or binary. EBADMSG malformed (drop and count), EMSGSIZE, ENOMEM:
	 * the codec is as it was. Otherwise *facts wants realtime_facts_clear. */
	int (*decode)(void *codec, bool text, const uint8_t *msg, size_t n,
		      struct realtime_facts *facts);
	/* Classifies the text of a failure, error or close. */
	enum trouble (*trouble)(const uint8_t *why, size_t n);
};

extern const struct realtime_dialect realtime_gemini;
extern const struct realtime_dialect realtime_openai, realtime_openai_beta, realtime_xai,
	realtime_localai;

#endif
