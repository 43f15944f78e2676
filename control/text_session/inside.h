/* The state of the shell of text chat; for control/text_session alone.
 *
 * text_session.c   the servers, events of the gateway, the steps of the cores
 * asking.c         answers and decisions of models
 * recall.c         what the memory has about a question
 * sending.c        messages, reactions and the typing indicator */
#ifndef CONTROL_TEXT_SESSION_INSIDE_H
#define CONTROL_TEXT_SESSION_INSIDE_H

#include "control/text/event.h"
#include "control/text/incoming.h"
#include "control/text/split.h"
#include "control/text_session/text_session.h"

struct engine_ask;
struct roles;
struct store_document;
struct text_chat;
struct text_guild;

enum {
	TEXT_DECISIONS = 8, /* of a server at a time; others count as undecided */
	TEXT_ASKS = 16,	    /* the same of answers; others wait */
	TEXT_PARTS = 5,	    /* messages of an answer; longer ones are sent as a file */
	TEXT_ANSWER_BYTES = 64 << 10,
	TEXT_QUOTES = 16, /* of a server: messages that others reply to */
};

enum text_job_state { TEXT_JOB_RECALLS, TEXT_JOB_WAITS, TEXT_JOB_ASKED, TEXT_JOB_SENDING };

/* One answer: from the core's ASK to its end. */
struct text_job {
	struct text_job *next;
	struct text_guild *g;
	enum text_job_state state;
	uint32_t reply;
	uint64_t channel, first; /* first: the message that it answers, of several the first */
	struct engine_ask *ask;	 /* owned */
	uint32_t tokens;
	char *memory; /* the slice for it; NULL: none */
	char *answer; /* so far */
	size_t n;
	/* of SENDING: */
	uint64_t reply_to, sent; /* sent: the first message of the answer; 0: none yet */
	char *text, *head;	 /* the whole answer; its first message */
	struct split split;
	unsigned part;
	bool as_file;
};

struct text_decision {
	uint32_t id; /* 0: free */
	uint64_t channel, message;
};

/* What a message replies to, which may be older than what the core knows of the channel. */
struct text_quote {
	uint64_t reply, message, user; /* reply: the message that quotes it; 0: free */
	char name[INCOMING_NAME], text[INCOMING_QUOTE];
};

/* A server, or (id 0) the direct messages. */
struct text_guild {
	struct text_session *ts;
	uint64_t id, used_at;
	const struct settings *settings;
	struct text_chat *core;
	struct roles *roles;   /* NULL until a model is asked */
	bool stale;	       /* the roles are of older settings */
	struct text_job *jobs; /* the oldest first */
	struct text_decision decision[TEXT_DECISIONS];
	uint32_t next_decision;
	struct text_quote quote[TEXT_QUOTES];
	unsigned n_quotes; /* ever */
};

/* An event that waits until the step under way is over. */
struct text_pending {
	struct text_pending *next;
	struct text_guild *g;
	struct text_event ev; /* its text and name follow */
};

struct text_session {
	struct text_session_conf conf;
	uint64_t self;
	char name[TEXT_NAME];
	struct tmr *tmr;
	struct text_guild *guild[TEXT_GUILDS];
	unsigned n_guilds;
	bool stepping;
	struct text_pending *first, **last;
	struct text_effects effects;
	struct incoming in;
};

/* ---- text_session.c ---- */
/* Gives the core an event, now or after the step under way. Texts are borrowed. */
void text_session_feed(struct text_guild *g, const struct text_event *ev);

/* ---- asking.c ---- */
void text_asking_begin(struct text_guild *g, const struct text_effect *e);
void text_asking_classify(struct text_guild *g, const struct text_effect *e);
/* Nothing of this reply is wanted any more, unless it is being sent. */
void text_asking_end(struct text_guild *g, uint32_t reply);
struct text_job *text_asking_find(const struct text_guild *g, uint32_t reply);
/* The job has what the memory has, or has nothing of it. */
void text_asking_recalled(struct text_job *job);
void text_job_remove(struct text_job *job);
/* True if a model is asked something now. */
bool text_asking_is_busy(const struct text_guild *g);

/* ---- recall.c ---- */
/* Looks for facts about the question. False: there is nothing to look for. Otherwise
 * text_asking_recalled follows, not from inside. */
bool text_recall_begin(struct text_job *job, uint64_t user, const char *question);
void text_recall_end(struct text_job *job);

/* ---- sending.c ---- */
void text_sending_begin(struct text_guild *g, const struct text_effect *e);
void text_sending_typing(struct text_session *ts, uint64_t channel);
/* emoji: percent-encoded. */
void text_sending_react(struct text_session *ts, uint64_t channel, uint64_t message,
			const char *emoji);

#endif
