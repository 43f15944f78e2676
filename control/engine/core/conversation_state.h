/* What the files of the conversation share (conversation.h). For
 * control/engine/core/conversation*.c only. */
#ifndef CONTROL_ENGINE_CORE_CONVERSATION_STATE_H
#define CONTROL_ENGINE_CORE_CONVERSATION_STATE_H

#include "control/engine/core/conversation.h"
#include "proto/base/backoff.h"
#include "proto/media.h"

#define CONVERSATION_QUESTION "ask_%u" /* the item that holds an ask's question */

/* One ask. It is remembered a while after its end, for truncation and to recognise events that come
 * late. */
struct asked {
	enum { ASKED_FREE, ASKED_WAITING, ASKED_SENT, ASKED_NAMED, ASKED_OVER } state;
	uint32_t id, turn;
	bool wanted;	/* the owner waits for its end */
	bool forgotten; /* its answer is deleted as soon as it is whole */
	bool released;	/* cancelled so long ago that it blocks nobody any more */
	bool question;	/* its question stands in the provider's conversation */
	bool life;	/* sound or text came */
	uint64_t since; /* when the turn's first ask without a sign of life was sent; 0: not yet */
	uint64_t until; /* SENT, NAMED: blocks no longer than that; WAITING: is not sent before */
	bool refused;	/* another response was active */
	uint64_t order; /* of being sent */
	uint64_t bytes; /* of sound that came */
	char response[CONVERSATION_ID_MAX], item[CONVERSATION_ID_MAX];
	struct engine_ask *request; /* until it is over */
};

struct conversation {
	struct conversation_caps caps;
	enum { LINK_DOWN, LINK_CONNECTING, LINK_OPEN, LINK_UP } link;
	uint64_t due;		/* DOWN: connect; OPEN: give up */
	struct backoff backoff; /* until a session has served */
	bool told_down;
	bool seeded; /* this session knows the history */
	bool stale;  /* and misses what another provider answered */
	bool echoes; /* this server returns metadata */
	bool silent;
	uint64_t orders;
	char *instructions;
	struct asked asked[CONVERSATION_ASKS];

	/* of the running step */
	uint64_t now;
	struct conversation_outputs *out;
};

/* The next output, all zero but its type. */
struct conversation_output *conversation_emit(struct conversation *c,
					      enum conversation_output_type type);
/* OPENED, CREATED, CLOSED. */
void conversation_link(struct conversation *c, const struct conversation_input *in);
/* The session is gone; close: we end it. Asks that it owed have failed. */
void conversation_lose(struct conversation *c, struct slice why, bool close);
/* Replaces a stale session in which nothing runs. */
void conversation_renew(struct conversation *c);
void conversation_time(struct conversation *c);

#endif
