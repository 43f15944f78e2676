/* Shared by the files of the conversation (conversation.h). For
 * control/engine/core/conversation*.c only. */
#ifndef CONTROL_ENGINE_CORE_CONVERSATION_STATE_H
#define CONTROL_ENGINE_CORE_CONVERSATION_STATE_H

#include "control/engine/core/conversation.h"
#include "proto/base/backoff.h"
#include "proto/media.h"

#define CONVERSATION_QUESTION "ask_%u"	 /* the item that holds an ask's question */
#define CONVERSATION_HEARD    "heard_%u" /* and what was heard of its answer */

enum { CALLS_SEEN = 256 };

/* One item of an answer. */
struct asked_item {
	char id[CONVERSATION_ID_MAX];
	uint64_t bytes; /* of its sound */
};

/* One ask. It is remembered a while after its end, for truncation and to recognise events that come
 * late. */
struct asked {
	enum { ASKED_FREE, ASKED_WAITING, ASKED_SENT, ASKED_NAMED, ASKED_OVER } state;
	uint32_t id, turn;
	bool wanted;	 /* the owner waits for its end */
	bool forgotten;	 /* its answer is deleted as soon as it is whole */
	bool released;	 /* cancelled so long ago that it blocks nobody any more */
	bool question;	 /* its question stands in the provider's conversation */
	bool unnamed;	 /* as sound, whose item is not known yet */
	bool life;	 /* sound or text came */
	bool cut;	 /* the provider cuts its answer */
	bool refused;	 /* another response was active */
	unsigned losses; /* sessions that were lost with it */
	unsigned calls;	 /* of tools, by its answer */
	uint64_t since;	 /* when the turn's first ask without a sign of life was sent; 0: not yet */
	uint64_t until;	 /* SENT, NAMED: blocks no longer than that; WAITING: is not sent before */
	uint64_t order;	 /* of being sent */
	uint64_t life_from; /* when something of the answer came first */
	uint64_t life_at;   /* and last */
	char response[CONVERSATION_ID_MAX];
	char line[CONVERSATION_ID_MAX];	 /* the item of its question in words, or of its label */
	char sound[CONVERSATION_ID_MAX]; /* the item of its question as sound */
	unsigned items;
	struct asked_item item[CONVERSATION_ITEMS];
	struct engine_ask *request; /* until it is over */
	/* The words of its answer that were heard, which replace it. */
	bool replaced;
	char *heard;
	struct engine_message said;
};

/* One call of a tool, from its first fragment to its result. */
struct call {
	enum { CALL_FREE, CALL_OPEN, CALL_TOLD } state;
	bool broken; /* too long */
	uint32_t ask;
	uint64_t told_at;
	char id[CONVERSATION_ID_MAX], item[CONVERSATION_ID_MAX], name[CONVERSATION_ID_MAX];
	char *text; /* the arguments so far */
	size_t n;
};

/* The side request that waits for its answer. */
struct aside {
	uint32_t ask; /* 0: none */
	char response[CONVERSATION_ID_MAX];
	char text[CONVERSATION_ASIDE_MAX]; /* so far */
	size_t n;
};

struct session {
	enum {
		SESSION_NONE,
		SESSION_DOWN,
		SESSION_ASLEEP,
		SESSION_CONNECTING,
		SESSION_OPEN,
		SESSION_UP
	} link;
	uint64_t due;	   /* DOWN: connect; OPEN: give up */
	uint64_t up_at;	   /* UP: since */
	uint64_t used_at;  /* UP: something was asked or answered last */
	uint64_t roll_at;  /* UP: the next one is opened */
	uint64_t quiet_at; /* UP: a keepalive is due */
	uint32_t epoch;	   /* the number of this session: ids of calls are unique within it */
	bool seeded;	   /* it knows the history */
	bool stale;	   /* and misses what another provider answered, or has no use */
	bool fails;	   /* its last answer failed */
	bool echoes;	   /* this server returns metadata */
};

struct conversation {
	struct conversation_caps caps;
	struct session session[2];
	unsigned serving;
	struct backoff backoff; /* until a session has served */
	uint64_t roll_from;	/* the next session is not opened before */
	bool told_down;
	bool silent;
	uint64_t orders;
	char *instructions, *tools;
	struct engine_message label; /* of the sound that is sent */
	struct asked asked[CONVERSATION_ASKS];
	struct call call[CONVERSATION_CALLS];
	struct aside aside;
	bool asides_refused;	   /* this session takes none */
	uint64_t seen[CALLS_SEEN]; /* ids of calls, hashed; the oldest go */
	unsigned seen_n;
	uint32_t epochs;

	/* of the running step */
	uint64_t now;
	struct conversation_outputs *out;
};

static inline struct session *conversation_serving(struct conversation *c)
{
	return &c->session[c->serving];
}

static inline bool conversation_serves(const struct conversation *c)
{
	return c->session[c->serving].link == SESSION_UP;
}

static inline bool asked_outstanding(const struct asked *a)
{
	return a->state == ASKED_SENT || a->state == ASKED_NAMED;
}

/* ---- conversation.c ---- */
/* The next output, all zero but its type and session. */
struct conversation_output *conversation_emit(struct conversation *c,
					      enum conversation_output_type type);
void conversation_emit_id(struct conversation *c, enum conversation_output_type type,
			  const char *id);
struct asked *conversation_asked(struct conversation *c, uint32_t id);
/* The ask that runs, NULL for none. */
struct asked *conversation_active(struct conversation *c);
void conversation_delete_question(struct conversation *c, struct asked *a);
void conversation_end_ask(struct conversation *c, struct asked *a);
void conversation_fail_ask(struct conversation *c, struct asked *a, struct slice why);
/* Nothing more of it is wanted. */
void conversation_cancel_ask(struct conversation *c, struct asked *a);
/* Sends the oldest ask that waits, when nothing hinders. */
void conversation_send_next(struct conversation *c);

/* ---- conversation_link.c ---- */
/* OPENED, CREATED, CLOSED. */
void conversation_link(struct conversation *c, const struct conversation_input *in);
/* A session is gone; close: we end it. */
void conversation_lose(struct conversation *c, unsigned session, struct slice why, bool close);
/* Sessions that are in backoff or not created yet reconnect at once, because the backoff and any
 * refusal belong to the previous key. A session whose last answer failed does so once nothing runs.
 */
void conversation_rekey(struct conversation *c);
/* Opens the session that sleeps. */
void conversation_wake(struct conversation *c);
/* Replaces a stale session in which nothing runs, and lets the next one serve when it can. */
void conversation_renew(struct conversation *c);
/* The serving session cannot take what was changed: another one replaces it. */
void conversation_outdated(struct conversation *c);
void conversation_time(struct conversation *c);

/* ---- conversation_answer.c ---- */
/* RESPONSE, AUDIO, TEXT, DONE, ERROR, ITEM, INTERRUPTED. */
void conversation_answer(struct conversation *c, const struct conversation_input *in);
/* The ask that a response answers, NULL for none. */
struct asked *conversation_by_response(struct conversation *c, const char *response);
/* Something of its answer came. */
void conversation_lives(struct conversation *c, struct asked *a);

/* ---- conversation_aside.c ---- */
/* ENOTSUP. */
int conversation_aside(struct conversation *c, const struct conversation_input *in);
/* True: what the provider says is about a side request, and about nothing else. */
bool conversation_take_aside(struct conversation *c, const struct conversation_input *in);

/* ---- conversation_calls.c ---- */
/* CALL_BEGUN, CALL_FRAGMENT, CALL, CALL_REVOKED. */
void conversation_call(struct conversation *c, const struct conversation_input *in);
/* Its answer is whole: a call that nobody finished is told if it can be. */
void conversation_calls_end(struct conversation *c, struct asked *a, bool whole);
/* The call waits for its result, NULL: it does not. */
struct call *conversation_open_call(struct conversation *c, const char *id);
void conversation_give_result(struct conversation *c, struct call *call, struct slice text,
			      bool failed);
/* The conversation goes on without the results that are missing. */
void conversation_cancel_calls(struct conversation *c);
/* Its session is gone, and its calls with it. */
void conversation_drop_calls(struct conversation *c);
void conversation_free_calls(struct conversation *c);

#endif
