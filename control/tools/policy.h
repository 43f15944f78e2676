/* Decides who may have which tool called, and when. Pure: the model's words never decide, only what
 * is known about the call.
 *
 *   rule (in this order)                                        verdict
 *   the tool is switched off (tools_off)                        OFF
 *   no person's turn, and the tool has side effects             NOBODY
 *   strangers' text was read in this turn, and the tool has     TAINTED
 *   side effects
 *   the speaker's calls of the last minute reached tool_calls_  RATE
 *   a_minute, or those of tools that read strangers' text
 *   reached tool_reads_a_minute
 *   the tool needs a higher rank than the speaker has, by its   RANK
 *   row or by tools_moderators and tools_owners; or they hold
 *   none of its roles (tools_roles)
 *   it cannot be undone and is not in tools_allowed             FINAL
 *   strangers' text was read in this voice session, and the     ASK, unless the speaker agreed
 *   tool has side effects
 *   several people spoke in this turn, and the tool has side    the same
 *   effects
 *   the question of this turn quotes other people (from the     the same
 *   memory; in text chat from the channel, too), and the tool
 *   has side effects
 *   it acts outside the room, or its row says confirm, it is    the same
 *   not in tools_allowed
 *   one of the last four, and its values are too long to be    LONG
 *   said
 *   otherwise                                                   ALLOWED
 *
 * A call that has to ASK is kept. Its asker agrees to it by a yes at most TOOL_YES_S after the bot
 * finished the question that names the tool and its arguments. The room then makes the kept
 * call itself, so the model cannot exchange it. The asker's next words, or the time, end it. Each
 * person has one call that is kept. */
#ifndef CONTROL_TOOLS_POLICY_H
#define CONTROL_TOOLS_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "control/tools/registry.h"

struct settings;

enum { TOOL_YES_S = 15, TOOL_ASKED = 8, TOOL_RATES = 32, TOOL_RATE_MAX = 120 };

/* BARRED: without any of the roles that tools_roles wants for the tool. */
enum tool_rank { TOOL_RANK_BARRED = -1, TOOL_RANK_EVERYONE, TOOL_RANK_MODERATOR, TOOL_RANK_OWNER };

/* V(NAME, name, sentence): the sentence is for the model. */
#define TOOL_VERDICTS(V)                                                                           \
	V(ALLOWED, allowed, "The call is allowed.")                                                \
	V(OFF, off, "This tool is switched off here.")                                             \
	V(TAINTED, tainted,                                                                        \
	  "Text of strangers was read in this turn, so nothing is changed or sent until a person " \
	  "asks for it again in their own words. Tell what you wanted to do.")                     \
	V(NOBODY, nobody,                                                                          \
	  "No one person said this turn to you, so nothing is changed or sent in it. Tell what "   \
	  "you wanted to do; a person may ask for it themselves.")                                 \
	V(RATE, rate, "This speaker's calls of the last minute reached the limit. Say so.")        \
	V(RANK, rank, "The speaker may not use this tool. Say so.")                                \
	V(FINAL, final, "This cannot be undone and must be allowed in the settings. Say so.")      \
	V(LONG, long,                                                                              \
	  "The speaker must agree first, but the call is too long to be said to them. Call the "   \
	  "tool again with fewer and shorter values.")                                             \
	V(ASK, ask,                                                                                \
	  "The speaker must agree first. Answer with the question below, word for word, and "      \
	  "nothing else, or their yes does not count. Once they said yes, the call is made for "   \
	  "you: do not repeat it.")

enum tool_verdict {
#define V(NAME, name, text) TOOL_##NAME,
	TOOL_VERDICTS(V)
#undef V
		TOOL_VERDICT_COUNT
};
const char *tool_verdict_name(enum tool_verdict verdict);
const char *tool_verdict_text(enum tool_verdict verdict);

struct tool_request {
	const struct tool_row *row;
	uint64_t user; /* 0: nobody's turn */
	enum tool_rank rank;
	const char *arguments;
	bool shared;	   /* several people spoke in this turn; rank is the lowest of theirs */
	bool tainted;	   /* strangers' text was read in this turn */
	bool room_tainted; /* strangers' text was read in this voice session */
	bool quotes;	   /* the question of this turn quotes other people */
	bool titled;	   /* the models know titles that strangers gave */
	bool agreed;	   /* the user said yes to this very call */
};

/* Zero is a policy without a past. */
struct tool_policy {
	uint32_t yes_s; /* in which a yes counts; 0: TOOL_YES_S */
	struct tool_rate {
		uint64_t user;
		uint64_t at[TOOL_RATE_MAX]; /* a ring of calls, and whether each read */
		bool reads[TOOL_RATE_MAX];
		unsigned n;
	} rate[TOOL_RATES];
	/* Calls that wait for a yes, one of each person. */
	struct tool_asked {
		uint64_t user, asked_at;
		uint32_t turn;	       /* whose call it is */
		uint64_t read_back_at; /* 0: not yet */
		char *question;	       /* owned */
		unsigned lead;	       /* words of the answer before the call */
		bool quoted;	       /* the model may have the call from other people's words */
		char *call;	       /* tool and arguments, owned; NULL: a free place */
	} asked[TOOL_ASKED];
};

/* Frees the calls that wait for a yes. */
void tool_policy_clear(struct tool_policy *p);

/* now: ns. A call that is ALLOWED counts for the rates. */
enum tool_verdict tool_policy_judge(struct tool_policy *p, const struct settings *s,
				    const struct tool_request *request, uint64_t now);
/* A call that has to ASK. lead: words of the same answer before the call. */
struct tool_asking {
	uint64_t user;
	uint32_t turn;
	const char *tool, *arguments, *question;
	unsigned lead;
	bool quoted; /* the question of its turn quotes other people, or several spoke in it */
};
/* Keeps it in the place of the person's last one. Without memory nothing is kept, and the model has
 * to call again. */
void tool_policy_keep(struct tool_policy *p, const struct tool_asking *call, uint64_t now);
/* An answer to this person was played to its end. It asked for a yes if it was the question about
 * their call (control/tools/read_back.h). */
void tool_policy_read_back(struct tool_policy *p, uint64_t user, const char *said, uint64_t now);
/* The person's kept call, "TOOL ARGUMENTS", borrowed until the policy changes. "": none. */
const char *tool_policy_kept(const struct tool_policy *p, uint64_t user);
/* True if the person's kept call is that of this turn, and a yes to it counts now. */
bool tool_policy_awaits(const struct tool_policy *p, uint64_t user, uint32_t turn, uint64_t now);
/* A person said something to the bot; yes: they agreed. turn: about the call of this turn alone; 0:
 * about any. Returns the kept call that they agreed to, "TOOL ARGUMENTS", which the caller frees,
 * and in *quoted what tool_asking said of it. NULL: none. */
char *tool_policy_words(struct tool_policy *p, uint64_t user, uint32_t turn, bool yes, uint64_t now,
			bool *quoted);
/* True if the list ("roll, time") names the tool. */
bool tool_policy_lists(const char *list, const char *name);
/* True if the list ("roll:ROLE, time:ROLE") names no role for the tool, or h is true of one. */
typedef bool(tool_role_h)(uint64_t role, void *arg);
bool tool_policy_has_role(const char *list, const char *name, tool_role_h *h, void *arg);
/* True if the settings neither switch the tool off nor restrict it to some people. */
bool tool_policy_is_free(const struct settings *s, const char *name);

#endif
