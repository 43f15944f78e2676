/* Shared by the files of an agent (agent.h). For control/agent only. */
#ifndef CONTROL_AGENT_INSIDE_H
#define CONTROL_AGENT_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/agent/agent.h"
#include "control/agent/agent_pictures.h"
#include "control/agent/agent_sounds.h"
#include "control/agent/agent_tools.h"
#include "control/agent/continuity.h"
#include "control/agent/levels.h"
#include "control/agent/retrieval.h"
#include "control/events/events.h"
#include "control/engine/roles.h"
#include "control/ledger/ledger.h"
#include "control/memory/untold.h"
#include "control/room/room.h"
#include "control/report/status.h"
#include "control/report/turns.h"
#include "control/tools/builtin/server_zone.h"

struct tool_cost;

enum { AGENT_TYPISTS = 32, AGENT_ORDERS = 8 };

/* Somebody who types in the chat of the voice channel (agent_record.c). */
struct agent_typist {
	uint64_t user, until; /* ns, of a leaky bucket */
};

struct agent {
	struct agent_typist typist[AGENT_TYPISTS];
	struct env *env;
	struct media_call *call;
	const struct settings *settings;
	struct server_zone zone;
	void (*tellh)(const struct words *words, void *arg);
	void (*faulth)(enum fault fault, enum fault_is is, void *arg);
	void (*leaveh)(void *arg);
	int (*soundh)(uint32_t turn, uint32_t chunk, const char *ref, void *arg);
	bool (*unsoundh)(uint32_t turn, uint32_t chunk, void *arg);
	enum tool_rank (*rankh)(uint64_t user, void *arg);
	bool (*roleh)(uint64_t user, uint64_t role, void *arg);
	int (*joinh)(uint64_t user, const char *name, bool goes, void *arg);
	bool (*retainsh)(uint64_t user, void *arg);
	bool (*blockedh)(uint64_t user, void *arg);
	bool (*remembersh)(uint64_t user, void *arg);
	bool (*openh)(uint64_t channel, void *arg);
	struct store *store;	   /* NULL: nothing is kept */
	struct agent_music *music; /* NULL: no music */
	struct vision *vision;	   /* NULL: no screens */
	void *arg;

	struct room *room;
	struct room_log *log; /* its journal, NULL when none is wanted */
	struct roles *roles;
	struct agent_tools *tools;	 /* NULL: the settings want none */
	struct agent_pictures *pictures; /* NULL: nothing that is attached is looked at */
	struct screen_looks *looks;	 /* NULL: no screens are described */
	uint32_t film_call;		 /* of a tool, which waits for its film; 0: none */
	struct agent_retrieval *retrieval;
	struct agent_continuity *continuity;
	char *memory_told;     /* the slice that the voice's conversation holds; NULL: none */
	uint64_t screen_told;  /* of the picture that the voice's conversation holds; 0: none */
	uint64_t screen_words; /* of the age and the notes with it, as the conversation has them */
	uint32_t screen_shares[2]; /* whose pictures came with the last question */
	uint64_t screen_asked;	   /* whose screen a tool was asked about by name; 0: nobody's */
	bool screen_held;	   /* it holds something of a screen that is shown */
	bool screen_over;	   /* such a screen is over, and the turn that knows it is not */
	unsigned remarks;	   /* on screens, that were heard */
	uint64_t remarked_at;	   /* ns; the last one of them */
	uint64_t private_told; /* whose private facts the voice's conversation holds; 0: nobody's */
	struct voice_output *output;
	struct utterance_sound *recordings; /* that are to be kept; NULL: none yet */
	struct utterance_sound *sound; /* of utterances; NULL unless the reply path is native */
	struct tmr *timer;
	struct tmr *power_timer;
	const char *power; /* as the room was told last */
	struct agent_sounds *sounds;

	unsigned unreached; /* bits: uses whose provider was not reached when it was asked last */
	struct {
		uint32_t turn; /* 0: none */
		enum engine_use use;
		enum trouble trouble;
	} untold;	      /* the last failure of a speculative answer */
	uint32_t silent_turn; /* which first met a silence that lasts; 0: none does */
	bool short_wait;      /* the voice's provider imposed one, and people do not know yet */
	enum trouble unheard; /* why the last utterance got no transcript */
	char summary[2048];   /* as far as it was written */
	bool stepping;
	struct agent_later *first, **last; /* events that wait for the running step */
	struct room_effects *fx;

	struct bus *bus;	       /* NULL: nobody listens */
	struct ledger *ledger;	       /* NULL: nobody counts */
	struct mcp_servers *mcp;       /* NULL: none */
	struct delegates *delegates;   /* NULL: none */
	enum ledger_state budget;      /* as people were told last */
	uint64_t spent_nano;	       /* in this session, billionths of a dollar */
	struct levels levels;	       /* of the present speakers */
	struct turns *turns;	       /* publishes the room's turns on the bus */
	uint64_t orders[AGENT_ORDERS]; /* numbers of those that have not ended; 0: free */
	char ended[40];		       /* why the session ended; empty while it lasts */
};

/* ---- agent.c ---- */
/* One event into the room, and whatever performing its effects causes after it. */
void agent_feed(struct agent *a, const struct room_event *ev);
/* Publishes what roles tell of providers: REFUSED, FAILOVER. */
void agent_publish_provider(struct agent *a, const struct roles_event *ev);
void agent_fault(struct agent *a, enum fault fault, enum fault_is is);

/* ---- agent_effects.c ---- */
/* Performs one effect: the only place that decides who serves it. */
void agent_perform(struct agent *a, const struct room_effect *e);
/* The room's session is over, for this reason. */
void agent_leave(struct agent *a, const char *why);
/* The effects of a step are performed. */
void agent_flush(struct agent *a);

/* ---- agent_engines.c ---- */
/* The turn ended because its answer failed; it was speculative when that happened. */
void agent_tell_untold(struct agent *a, uint32_t turn);
/* An utterance got no transcript, and its turn has ended. */
void agent_tell_unheard(struct agent *a);
int agent_open_roles(struct agent *a, const struct agent_conf *conf);
/* The role whose engine answers, by the settings' reply path. */
enum engine_use agent_reply_use(const struct agent *a);

/* ---- agent_memory.c ---- */
/* The voice's conversation is about to hold facts of this person's own memory. */
void agent_hold_private(struct agent *a, uint64_t user);
/* The name of the "user" of a fact or line as the models know it now; "name" is the one of then. */
const char *agent_label(const struct agent *a, const json_t *row, char to[ROOM_NAME_MAX]);
/* Somebody came or left: the voice's conversation forgets private facts that others would hear. */
void agent_forget_private(struct agent *a);
/* The voice's conversation begins anew, with what the room's history may still tell. */
void agent_renew_voice(struct agent *a);

/* ---- agent_costs.c ---- */
/* A provider told what an answer used: it is priced, counted and published. Returns its cost in
 * billionths of a dollar. */
uint64_t agent_spend(struct agent *a, const struct roles_event *ev);
/* The same of a call of a tool in this turn. Returns what it cost, in billionths of a dollar. */
uint64_t agent_spend_tool(struct agent *a, uint32_t turn, const char *tool,
			  const struct tool_cost *cost);
/* Looks at the budget, tells what has changed and sets which providers serve. False: no request
 * for an answer may go out. *tokens: the limit of an answer, 0 for none. */
bool agent_may_spend(struct agent *a, uint32_t *tokens);

/* ---- agent_context.c ---- */
/* Publishes what the model is told with this ASK, where the settings keep it. */
void agent_keep_context(struct agent *a, const struct room_effect *e);

/* ---- agent_recordings.c ---- */
/* An effect, and an event before the room's step. */
void agent_recordings_effect(struct agent *a, const struct room_effect *e);
void agent_recordings_event(struct agent *a, const struct room_event *ev);
/* This person's consent allows less than before: what was recorded of them goes. */
void agent_recordings_withdraw(struct agent *a, uint64_t user);

/* ---- agent_record.c ---- */
void agent_record_turn(struct agent *a, const struct room_turn *t);
/* Operators' orders to say something, until the bus has told how each ended: by the reason of its
 * turn, or as "dropped" when it never had one. */
void agent_orders_add(struct agent *a, uint64_t order);
void agent_orders_look(struct agent *a);
void agent_orders_drop(struct agent *a);
int agent_open_turns(struct agent *a);
/* True if this member's words may be kept. */
bool agent_may_keep(const struct agent *a, uint64_t user);
/* True if models may still be told what this member said earlier. */
bool agent_may_recall(const struct agent *a, uint64_t user);
/* Who may hear a fact, or one that it ended: an object of the store. */
enum agent_audience {
	AUDIENCE_ALL,	/* everybody in the channel */
	AUDIENCE_OWNER, /* only its owner, or the person who told it elsewhere, who is alone with
			   the bot */
	AUDIENCE_NONE,
};
/* True if it was told in the agent's channel, or where everybody may follow. */
bool agent_is_told_here(const struct agent *a, const json_t *fact);
enum agent_audience agent_audience_of(const struct agent *a, const json_t *fact, uint64_t asker);
/* Why a search for this asker should leave the fact out. */
enum untold agent_untold(const struct agent *a, const json_t *fact, uint64_t asker);
/* The newest value that the fact surely took the place of and that may be told, or, with all, that
 * there is; NULL: none. */
const json_t *agent_former_of(const struct agent *a, const json_t *fact, bool all);
/* The same of what contradicts it. */
const json_t *agent_conflict_of(const struct agent *a, const json_t *fact, bool all);
/* True if models may be told this line of the store (store_find_said): its speaker, and everybody
 * whom a line of the bot answers, may still be recalled. */
bool agent_may_recall_line(const struct agent *a, const json_t *line);
/* One line of earlier speech into the room: {"name", "text", "at_ms", "bot", "cut"}. */
void agent_recall_line(struct agent *a, const json_t *line);
/* Models are not told words that were said before this time (ms since 1970). */
uint64_t agent_oldest_words_ms(const struct agent *a);
/* The link to a provider is up, or down. */
void agent_publish_link(struct agent *a, const struct roles_event *ev);

#endif
