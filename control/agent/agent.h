/* One room's agent: connects a call's media, the room and the engines. Media and engine events
 * become events of the room, and the room's effects are performed. A shell: room_step() decides.
 *
 * Everything runs on env's loop thread. The agent borrows the names in its conf for its life. */
#ifndef CONTROL_AGENT_AGENT_H
#define CONTROL_AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "control/attachments/viewer.h"
#include "control/report/faults.h"
#include "control/tools/policy.h"

struct agent;
struct bus;
struct env;
struct http;
struct ledger;
struct delegates;
struct mcp_servers;
struct media_call;
struct media_msg;
struct settings;
struct status;
struct store;
struct jukebox;
struct music_sources;
struct vision;
struct ws_ctx;

struct agent_conf {
	struct env *env;
	struct ws_ctx *ws;
	struct http *http;
	struct media_call *call;
	const struct settings *settings; /* control/settings/settings.h */
	struct bus *bus;		 /* where its turns are told; may be NULL */
	struct store *store;		 /* where calls of tools are kept; may be NULL */
	struct music_sources *sources;	 /* where music is found; may be NULL */
	struct jukebox *jukebox;	 /* of the server, in this call; may be NULL: no music */
	struct vision *vision;		 /* screens that members share; may be NULL */
	struct ledger *ledger;		 /* what it spends; NULL: nobody counts */
	struct mcp_servers *mcp;	 /* whose tools it may call; or NULL */
	struct delegates *delegates;	 /* workers it may hand tasks to; or NULL */
	struct viewer_shared viewers;	 /* fetcher NULL: nothing that is attached is looked at */
	uint64_t bot_user;
	const char *bot_name; /* "Parley" */
	/* Sentences for the room's text channel, and faults of the engines. May be NULL. */
	void (*tellh)(const struct words *words, void *arg);
	void (*faulth)(enum fault fault, enum fault_is is, void *arg);
	/* Plays a soundboard sound: by agent_play_local before it returns, or by Discord, which is
	 * told by agent_sounded. An errno of AGENT_SOUND_REASONS (agent_sounds.h): it does not
	 * play. May be NULL. */
	int (*soundh)(uint32_t turn, uint32_t chunk, const char *ref, void *arg);
	/* The answer was cut: true if the sound will not play, and agent_sounded not be called. May
	 * be NULL. */
	bool (*unsoundh)(uint32_t turn, uint32_t chunk, void *arg);
	/* This person's rank for tools. May be NULL: everybody the least. */
	enum tool_rank (*rankh)(uint64_t user, void *arg);
	/* True if this person holds the role of Discord. May be NULL: nobody does. */
	bool (*roleh)(uint64_t user, uint64_t role, void *arg);
	/* Goes to the voice channel of this name for this user: ENOENT none, or several; EPERM they
	 * may not move members there. goes false: only judges. May be NULL. */
	int (*joinh)(uint64_t user, const char *name, bool goes, void *arg);
	/* True if this user may not take the bot away from its channel: others listen to music
	 * there. May be NULL: everybody may. */
	bool (*retainsh)(uint64_t user, void *arg);
	/* True if the settings block this user. May be NULL: nobody is blocked. */
	bool (*blockedh)(uint64_t user, void *arg);
	/* True if this user's words may be kept and told later. May be NULL: everybody's. */
	bool (*remembersh)(uint64_t user, void *arg);
	/* True if every member of the server may know what is said in this channel. May be NULL: in
	 * none. */
	bool (*openh)(uint64_t channel, void *arg);
	/* The room's session is over. May be NULL; the agent may not be freed inside the call. */
	void (*leaveh)(void *arg);
	void *arg;
};

int agent_alloc(struct agent **out, const struct agent_conf *conf);
struct agent *agent_free(struct agent *a);
/* The code of the language to write to the room in; "": not known. Borrowed until its next step. */
const char *agent_language(const struct agent *a);

/* A message about the call, as media_call_h gets it. */
void agent_media(struct agent *a, const struct media_msg *msg);
/* Somebody disconnected the bot. The room ends if the call does not come back in time. */
void agent_disconnected(struct agent *a);
/* A member of the channel, from Discord's voice states; name is copied. The bot is no member.
 */
void agent_member(struct agent *a, uint64_t user, const char *name, bool is_bot, bool present);
/* The consent of this user has changed. less: it allows less than before, and models are not told
 * any more what the user said until now. */
void agent_consent(struct agent *a, uint64_t user, bool less);
/* Speech from before this control started, oldest first (store_read_words). The models are told
 * what the settings and the consent of its speakers allow now (control/agent/recall.h). */
void agent_recall(struct agent *a, const json_t *words);
/* Without such speech: recalls the last lines of the voice channel (control/agent/continuity.h). */
void agent_continue(struct agent *a);
/* The answer that the control before this one began still plays, or is over. */
void agent_inherited(struct agent *a, bool plays);
/* True if this user is or was in the room. */
bool agent_knows(const struct agent *a, uint64_t user);
/* When this user's session of speech-to-text is closed if it stays unused, ms since 1970; 0: it is
 * in use, or there is none. */
uint64_t agent_asr_closes_ms(const struct agent *a, uint64_t user);
/* The start of its session, ms since 1970. */
uint64_t agent_started_ms(const struct agent *a);
/* The bot was server-muted or suppressed (cannot be heard), or not any more. */
void agent_muted(struct agent *a, bool muted);
/* Somebody wrote in the chat of the voice channel; bot: it did, in answer to the user. Models are
 * told unless the writer may neither be remembered nor was in the channel. Texts are borrowed. */
struct agent_typed {
	uint64_t message, user;
	bool bot;
	const char *name, *text;
	const struct attached_list *files; /* NULL: none */
	bool repeats; /* of the bot: it may repeat words of others than the user, or of strangers */
};
void agent_typed(struct agent *a, const struct agent_typed *typed);
/* What stands in this message of the chat now. text "": it is gone, or nobody may be told its words
 * any more. message 0: all are gone. Models are told the former words no more; text is borrowed. */
void agent_edited(struct agent *a, uint64_t message, const char *text);
/* A message of that chat is gone, or has its files no more: what was attached is shown no more. */
void agent_untyped(struct agent *a, uint64_t message);
/* An operator has the bot say these words once the room is quiet, or stops what it says and does
 * for the room. order: its number, by which the bus tells how it ended (kind order_ended); 0:
 * nobody asks. */
void agent_say(struct agent *a, const char *text, uint64_t order);
void agent_stop(struct agent *a);
/* A member in the room wrote a question that the room hears answered, once it is quiet. */
void agent_ask(struct agent *a, uint64_t user, const char *text);
/* A fact was forgotten on a member's request: what prompts have of it is looked up anew. */
void agent_fact_forgotten(struct agent *a);
/* Discord plays the soundboard sound, or cannot play it (an errno of AGENT_SOUND_REASONS). */
void agent_sounded(struct agent *a, uint32_t turn, uint32_t chunk, int err);
/* Plays a local sound, mono at SOUND_OUTPUT_RATE (sound_output.h); copied. ENOTCONN, ENOMEM. */
int agent_play_local(struct agent *a, uint32_t turn, uint32_t chunk, const int16_t *pcm, size_t n);
/* The sounds that answers may play: their names, one a line. */
void agent_sounds_listed(struct agent *a, const char *names);
/* A user played a soundboard sound. */
void agent_soundboard(struct agent *a, uint64_t user, const char *name);
/* A member shows a screen from now on, or no longer. */
void agent_screen_share(struct agent *a, uint64_t user, bool shown);
/* A member's stream was watched in vain: why, a clause. The models are told, and the chat, unless
 * it was told already. */
void agent_screen_unseen(struct agent *a, uint64_t user, const char *why, bool told);
/* The bot shows a video, or no longer; over: enum vision_show_over (control/vision/vision.h). The
 * room learns of it, and its chat where it ended otherwise than asked. */
struct vision_show;
void agent_show(struct agent *a, const struct vision_show *what, unsigned over);
/* A share of a screen changed so much that it is worth a note. */
void agent_screen_changed(struct agent *a, uint64_t user, uint32_t share);
/* The settings have changed in place. */
void agent_settings(struct agent *a, bool allowed);
/* The program is about to be suspended: every turn ends, and every request is aborted. */
void agent_suspend(struct agent *a);
/* The session ends for a reason of ROOM_ENDS (control/room/base/reasons.def): every turn ends and
 * is recorded. Neither the room nor leaveh is told; after it there is only agent_free. */
void agent_end(struct agent *a, const char *why);
/* As agent_tools_shown (agent_tools.h). */
json_t *agent_tool_list(const struct agent *a);
/* What the room does now: {"floor": the turn that has it, with "addressee", or null, "turns": those
 * that have not ended [{turn, user, name, phase, forMs}], "spentUsd": in this session,
 * "lastActivityAt", "maxEndsAt", "inactivityEndsAt": null for never}. */
json_t *agent_now(const struct agent *a);
/* The present speakers: {"users": {ID: dBov, or null where nobody listens}, "bot": it speaks}. */
json_t *agent_levels(const struct agent *a);
/* Its part of /status: the engine in use and its health. */
void agent_status(const struct agent *a, struct status *out);

#endif
