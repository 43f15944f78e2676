/* The visit's state, and what its two files ask of each other: visit.c joins and keeps the room,
 * voice_session_tell.c is what people are told. For these two only. */
#ifndef CONTROL_VOICE_SESSION_INSIDE_H
#define CONTROL_VOICE_SESSION_INSIDE_H

#include "control/faults.h"
#include "control/voice_session.h"
#include "control/words/words.h"

enum { VOICE_SESSION_MEMBERS = 512 };

struct voice_session {
	struct voice_session_conf conf;
	uint64_t guild;
	struct voice *voice;
	struct tmr *tmr;
	struct media_call *media;
	struct agent *agent;
	struct sounds *sounds; /* NULL until one is played or heard */
	struct faults faults;
	uint64_t up_since;   /* the call's sound flows; 0: not, or since before our time */
	struct command *cmd; /* waits for the outcome of a join */
	uint64_t cmd_until;
	bool adopted;		      /* taken over: who is there has been greeted already */
	bool was_up;		      /* the call was up in this stay */
	bool mediad;		      /* one is there */
	bool crowded;		      /* more members than a room holds */
	bool quiet;		      /* say nothing in the room's text chat */
	uint64_t greeted, greeted_at; /* the channel that was greeted last */
	bool leaves;		      /* the room's session is over */
	bool stage_asked;	      /* asked once to be a speaker, for this stay */
	uint64_t members[VOICE_SESSION_MEMBERS];
	unsigned n_members;
};

#define ID(x) ((unsigned long long)(x))

/* The answer to whoever waits for one. */
void voice_session_answer(struct voice_session *c, const struct words *words);
/* A sentence for the text chat that belongs to the voice channel; arg is the visit. */
void voice_session_tell_room(const struct words *words, void *arg);
/* Whether the bot has a permission in the channel; `unknown` when that cannot be told. */
bool voice_session_may(const struct voice_session *c, unsigned bit, bool unknown);
/* In the call, but something keeps people from hearing us or us from hearing them. */
enum voice_reason voice_session_hindrance(const struct voice_session *c);
bool voice_session_unheard(const struct voice_session *c);
bool voice_session_is_up(const struct voice_session *c);
/* A fault is there or is over. */
void voice_session_see(struct voice_session *c, enum fault fault, bool there);
/* What goes wrong, seen anew, and what is to be said of it. */
void voice_session_watch(struct voice_session *c);
/* The fault that a hindrance is: who asked for us is told with the answer, not twice. */
void voice_session_told_already(struct voice_session *c);

#endif
