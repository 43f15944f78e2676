/* The roles: the providers of each role in their order, which of them answers now, and every
 * ask that is under way.
 *
 *   provider   input                                        next
 *   READY      an ask failed before anything of it came     RESTING: 30 s; the ask goes to the next
 * provider READY      its session is lost, or it does not answer   RESTING: until its session is
 * back, or it answers RESTING    the time has passed, or it is back           READY
 *
 * A provider that asks to be left alone (Retry-After) rests for that long instead, at most a
 * minute, and is asked nothing until then: an ask that nobody else takes is held if a person would
 * wait for that long, and fails at once otherwise.
 *
 * The first provider of the list that is ready serves; when none is, the first one does. If the
 * last provider left fails an answer before anything of it came, the ask is retried once. An ask
 * that another provider takes over is a new ask with a new id, for the same turn. The owner knows
 * the turn alone, and hears nothing of an ask that was replaced or cancelled. A provider is opened
 * when it serves for the first time.
 *
 * The lists are those of the settings at roles_alloc, and a provider is known by its name from then
 * on. Its address is that of the settings when it is opened. While the settings have it at that
 * address, keys follow roles_settings, and models and voices each ask, except of voice sessions and
 * transcription; otherwise it goes on as it was.
 *
 * Everything runs on env's loop thread. What the conf names is borrowed. The handler may be called
 * from inside roles_ask (ENGINE_FAILED) and may call everything but roles_free. */
#ifndef CONTROL_ENGINE_ROLES_H
#define CONTROL_ENGINE_ROLES_H

#include "control/engine/engine.h"

struct roles;
struct settings;

/* Purposes of an answer. Each has its list of providers. */
enum engine_use {
	ENGINE_USE_VOICE,	 /* role voice */
	ENGINE_USE_REPLY,	 /* purpose voice_reply */
	ENGINE_USE_DECISION,	 /* purpose reply_decision */
	ENGINE_USE_SPEECH,	 /* role speech */
	ENGINE_USE_TRANSCRIBE,	 /* role transcribe */
	ENGINE_USE_SUMMARY,	 /* purpose memory */
	ENGINE_USE_INTERRUPTION, /* purpose interrupt_decision */
	ENGINE_USE_WORKER,	 /* purpose worker */
	ENGINE_USE_EMBED,	 /* role embed */
	ENGINE_USE_TEXT,	 /* purpose text_reply */
	ENGINE_USE_SEE,		 /* role see */
	ENGINE_USE_FOLLOWUP, /* purpose followup: a REPLY goes on after its tools; told as REPLY */
	ENGINE_USE_TEXT_FOLLOWUP, /* the same of a TEXT; told as TEXT */
	ENGINE_USE_COUNT,
};

struct roles_event {
	enum engine_use use;
	uint32_t turn, chunk; /* as they were given to roles_ask */
	bool answers;	      /* a provider of the use was told to be silent, and one answers now */
	bool taken_over;      /* of LINK_DOWN: another provider serves in its place */
	const struct provider_record *provider; /* that says so; borrowed, NULL for none */
	const struct provider_record *next; /* of FAILOVER: which serves instead of it; else NULL */
	const struct engine_event *engine;
};
/* FAILOVER is told once for each provider that gives way. SILENT is told when the last provider
 * left does not answer. USAGE is told once for each answer that cost something, by its provider or
 * as an estimate, and never more than can be true; it may come after the end of its ask and from
 * inside roles_cancel and roles_free. What belongs to no answer is told every 30 s, of turn 0. */
typedef void(roles_h)(const struct roles_event *ev, void *arg);

struct roles_conf {
	struct env *env;
	struct ws_ctx *ws;
	struct http *http;
	const struct settings *settings;
	bool idle; /* no provider is opened before it is asked */
	roles_h *h;
	void *arg;
};

/* Opens the providers that serve from the start, for the reply path of the settings. A role that
 * nobody serves fails each ask. EINVAL, ENOMEM. Caller owns *out, and frees it outside the handler.
 */
int roles_alloc(struct roles **out, const struct roles_conf *conf);
struct roles *roles_free(struct roles *r);

/* The settings changed: keys are those of the settings from now on, for connections and requests
 * that begin. */
void roles_settings(struct roles *r);

/* From now on the last provider of each list serves first, and the first one last: it costs less.
 * Transcription stays as it is. */
void roles_save(struct roles *r, bool on);

/* Asks the provider that serves. ask: its id, model and voice are filled in here. A failure comes
 * to the handler. A line that fails in a session of role speech is said by no other provider. */
void roles_ask(struct roles *r, enum engine_use use, uint32_t chunk, const struct engine_ask *ask);
/* Repeats this turn's last ask as a new one and cancels the old one. */
void roles_ask_again(struct roles *r, enum engine_use use, uint32_t turn);
/* Goes on with the turn's last ask: a new ask with these messages behind its own, such as calls of
 * tools and their results; the old one is cancelled. The oldest messages go where there are too
 * many. */
void roles_go_on(struct roles *r, enum engine_use use, uint32_t turn,
		 const struct engine_message *messages, size_t n);
/* True if the provider that serves this use now is sent images. To one that is not, an ask goes
 * without them and says so. */
bool roles_sees(const struct roles *r, enum engine_use use);
/* True if a shown screen reaches a model of these settings while their first providers serve: the
 * one that answers by voice is sent it, or the role see looks at it. */
bool roles_see_screens(const struct settings *s);
/* Nothing more of any ask is wanted. */
void roles_cancel_all(struct roles *r);
/* Nothing more of this turn's asks is wanted. */
void roles_cancel(struct roles *r, enum engine_use use, uint32_t turn);

/* ---- of a provider that keeps a conversation: nothing where none does ---- */
void roles_instruct(struct roles *r, const char *text);
/* As they were told last; "" before. Borrowed. */
const char *roles_instructions(const struct roles *r);
/* A short text about the turn's answer is wanted beside the conversation, where its provider can do
 * that: ASIDE, or nothing. */
void roles_aside(struct roles *r, uint32_t turn, const char *text);
void roles_hear(struct roles *r, const struct engine_message *message);
/* Sessions of role voice are replaced before the next ask, which then carries the history along:
 * what else they were told is forgotten. */
void roles_renew(struct roles *r);
/* The tools that answers may call from now on; borrowed. */
void roles_tools(struct roles *r, const struct engine_tool *tools, size_t n);
/* True: providers of answers that can search the web by themselves may do so from now on. */
void roles_search(struct roles *r, bool on);
/* The result of a call that an answer of this turn made. ENOENT: it waits for none. */
int roles_result(struct roles *r, uint32_t turn, const char *call, const char *text, bool failed);
/* An ask for an answer may follow soon. */
void roles_wake(struct roles *r);
/* As much of the turn's last answer was played. */
void roles_truncate(struct roles *r, uint32_t turn, uint32_t ms, const char *heard);
/* The turn was superseded or rolled back: its questions and answers never happened. */
void roles_forget(struct roles *r, uint32_t turn);
/* The turn is over, and nothing of it is asked again: the images of its asks are wiped here. */
void roles_over(struct roles *r, uint32_t turn);

/* ---- of transcription: as the ops (engine.h); EHOSTUNREACH nobody serves ---- */
int roles_sound(struct roles *r, const struct engine_sound *sound);
int roles_flush(struct roles *r, uint64_t *user, uint32_t *utterance);

/* The role that a use is of. */
enum role roles_role(enum engine_use use);

enum roles_health { ROLES_NONE, ROLES_DOWN, ROLES_NOT_ANSWERING, ROLES_UP };
/* Of the provider that serves now. */
enum roles_health roles_health(const struct roles *r, enum engine_use use);
/* "voice openai, transcribe whisper": who serves each role in use now. Always terminated. */
void roles_serving(const struct roles *r, char *buf, size_t size);
/* Its address for people, without what may be secret in it; "none" without one. Always terminated.
 */
void roles_shown(const struct roles *r, enum engine_use use, char *buf, size_t size);

#endif
