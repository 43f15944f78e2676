/* The voice session of one server, from join to leave: the joining machine, the call in mediad, the
 * room's agent, and the /join command that waits for an answer.
 *
 * control owns it. It borrows everything that its conf names for as long as it lives. */
#ifndef CONTROL_VOICE_SESSION_H
#define CONTROL_VOICE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/attachments/viewer.h"
#include "control/discord/commands.h"
#include "control/report/faults.h"

struct bus;
struct clips;
struct consent_table;
struct counters;
struct metrics;
struct ledger;
struct voice_session;
struct env;
struct gateway;
struct guilds;
struct http;
struct jukebox;
struct delegates;
struct mcp_servers;
struct media;
struct media_music_analysis;
struct music_view;
struct queue_shelf;
struct vision;
struct encrypted_channels;
struct rest;
struct settings;
struct status;
struct store;
struct music_sources;
struct under_way;
struct ws_ctx;

struct voice_session_conf {
	struct env *env;
	struct ws_ctx *ws;
	struct http *http;
	struct rest *rest;
	struct gateway *gateway;
	struct guilds *guilds;
	const struct clips *clips; /* local sounds; may be NULL */
	struct media *media;
	const struct settings *settings;
	struct ledger *ledger; /* what its calls spend; may be NULL */
	struct mcp_servers *mcp;
	struct viewer_shared viewers; /* for what people attach */
	struct delegates *delegates;
	struct bus *bus;
	struct store *store;		      /* may be NULL */
	struct music_sources *sources;	      /* where music is found; may be NULL */
	struct vision *vision;		      /* shared screens; may be NULL */
	struct queue_shelf *shelf;	      /* queues of music; may be NULL */
	const struct consent_table *consents; /* NULL: nobody has answered */
	struct counters *counters;	      /* of what no event tells */
	struct metrics *metrics;	      /* of mediad's statistics; NULL: nobody counts */
	struct encrypted_channels *encrypted;
	const char *bot_name;	     /* the text may change */
	void (*changedh)(void *arg); /* the state to be saved changed */
	/* What the visualizer draws of the music; NULL: nobody looks. Borrowed until return. */
	void (*analysish)(uint64_t guild, const struct media_music_analysis *m, void *arg);
	void *arg;
};

/* conf is copied. EINVAL, ENOMEM. Caller owns *out. */
int voice_session_alloc(struct voice_session **out, const struct voice_session_conf *conf,
			uint64_t guild);
struct voice_session *voice_session_free(struct voice_session *c);
uint64_t voice_session_guild(const struct voice_session *c);
/* The desired channel, 0 for none. */
uint64_t voice_session_channel(const struct voice_session *c);
/* The same, or the one in which it was last; 0: none. */
uint64_t voice_session_talked_in(const struct voice_session *c);
bool voice_session_standing(const struct voice_session *c);
/* When the conversation began, ms since 1970; 0: it has not. */
uint64_t voice_session_since(const struct voice_session *c);

/* Joins; answers cmd, if given, when the join has succeeded or failed. Returns the obstacle when it
 * is known at once. */
enum voice_reason voice_session_join(struct voice_session *c, uint64_t channel, bool standing,
				     struct command *cmd);
void voice_session_leave(struct voice_session *c);
/* Somebody wrote in this text channel: told if it is the chat of the voice channel where the bot
 * is. */
struct agent_typed;
void voice_session_typed(struct voice_session *c, uint64_t channel,
			 const struct agent_typed *typed);
/* A member shows a screen in this voice channel from now on, or no longer. */
void voice_session_screen_share(struct voice_session *c, uint64_t channel, uint64_t user,
				bool shown);
/* The stream of a member there was watched in vain: why, a clause; told: the room has read it. */
void voice_session_stream_unseen(struct voice_session *c, uint64_t channel, uint64_t user,
				 const char *why, bool told);
/* The bot shows this video there from now on, or no longer; over: enum vision_show_over. */
struct vision_show;
void voice_session_show(struct voice_session *c, uint64_t channel, const struct vision_show *what,
			unsigned over);
/* A share of a screen there changed so much that it is worth a note. */
void voice_session_screen_changed(struct voice_session *c, uint64_t channel, uint64_t user,
				  uint32_t share);
/* enum media_e2ee of a Go Live stream in this channel: what a call there would need. */
unsigned voice_session_stream_e2ee(const struct voice_session *c, uint64_t channel);
/* Tells the room that a stream of the bot's account is not encrypted (MEDIA_REASON_NONE), or that
 * it has ended for this reason (enum media_reason). */
void voice_session_tell_stream(struct voice_session *c, unsigned media_reason);
/* What stands there now, in this channel. As agent_edited. */
void voice_session_edited(struct voice_session *c, uint64_t channel, uint64_t message,
			  const char *text);
/* A message there is gone, or has its files no more. */
void voice_session_untyped(struct voice_session *c, uint64_t channel, uint64_t message);
/* Orders of an operator: the bot says these words (at most VOICE_SESSION_SAY_MAX bytes) once the
 * room is quiet; it ends what it says and does for the room; it says nothing, in this call, until
 * it is unmuted, which the room is told. ENOTCONN: there is no conversation. */
enum { VOICE_SESSION_SAY_MAX = 600, VOICE_SESSION_ASK_MAX = 1000 };
/* order: as agent_say. */
int voice_session_say(struct voice_session *c, const char *text, uint64_t order);
int voice_session_stop(struct voice_session *c);
/* As agent_ask, at most VOICE_SESSION_ASK_MAX bytes. ENOTCONN: there is no conversation. */
int voice_session_ask(struct voice_session *c, uint64_t user, const char *text);
int voice_session_mute(struct voice_session *c, bool muted);
bool voice_session_muted(const struct voice_session *c);
/* As agent_fact_forgotten. */
void voice_session_fact_forgotten(struct voice_session *c);
/* Takes over a channel that the previous control had joined; guilds holds the bot's voice state. */
void voice_session_adopt(struct voice_session *c, uint64_t channel, bool standing);

/* The previous control was ended while these turns, and maybe those of other servers, waited for
 * their answers. When the call is up the room is told, unless mediad plays the answer to its end.
 * Its conversation began at since_ms (wall clock); words, borrowed for as long as c lives, are what
 * was said in it (store_read_words), NULL when nobody knows. */
void voice_session_inherit(struct voice_session *c, const struct under_way *turns,
			   uint64_t since_ms, const json_t *words);

void voice_session_online(struct voice_session *c, bool fresh);
/* Says whether a mediad is connected; until the first call one is assumed to be. */
void voice_session_mediad(struct voice_session *c, bool there);
void voice_session_offline(struct voice_session *c);
/* The bot was removed from the server. */
void voice_session_removed(struct voice_session *c);
/* Handles an event of this server, after guilds has handled it. */
void voice_session_event(struct voice_session *c, const char *name, const json_t *d);
/* True if the embedded engine, when the settings need it, starts. */
void voice_session_embedded(struct voice_session *c, enum embedded_fault fault);
/* True if the disk on which control keeps its state is full. */
void voice_session_disk(struct voice_session *c, bool full);
/* The provider's address became known, or changed (moved). */
void voice_session_brain_ready(struct voice_session *c, bool moved);
/* The settings have changed in place. */
void voice_session_settings(struct voice_session *c);
/* A member's consent has changed. less: it allows less than before. */
void voice_session_consent(struct voice_session *c, uint64_t user, bool less);
/* Tells the room, if they are in it. state: borrowed, as "not heard". */
void voice_session_tell_consent(struct voice_session *c, uint64_t user, const char *state);
/* A person is erased: if they are or were in the room, or the memory of the server knows them and
 * may have been quoted (remembered), its conversation begins anew, without anything that was said.
 */
void voice_session_erase(struct voice_session *c, uint64_t user, bool remembered);
/* The program is about to be suspended: ends every turn of the room, which goes on. */
void voice_session_suspend(struct voice_session *c);
/* The program ends: ends every turn of the room. */
void voice_session_end(struct voice_session *c);
/* The music while the bot is in a call, or on its way there; NULL otherwise. Borrowed until the
 * next event. */
struct jukebox *voice_session_jukebox(struct voice_session *c);
/* Somebody looks at the visualizer from now on, in this call and later ones; or nobody any more. */
void voice_session_watch_music(struct voice_session *c, bool on);
/* The settings block this user: none of the people of the room, and without a say in its music. */
bool voice_session_blocks(const struct voice_session *c, uint64_t user);
/* True if this user may not take the bot away from its channel: others listen to its music there,
 * and the user may neither stop that nor move members. The words tell it. member: as Discord sent
 * it with the interaction; NULL: the one that is kept of people in voice. */
bool voice_session_retains_bot(struct voice_session *c, uint64_t user, const json_t *member,
			       struct words *words);
/* The message about what plays; 0: none. */
uint64_t voice_session_music_message(const struct voice_session *c);
/* The previous control left this message in the chat of this channel. */
void voice_session_inherit_music(struct voice_session *c, uint64_t channel, uint64_t message);
/* What members are shown of the music. False: there is no call. *v borrows until the next event. */
bool voice_session_music_view(const struct voice_session *c, struct music_view *v);
/* No track names this user as its requester any more. */
void voice_session_forget_requester(struct voice_session *c, uint64_t user);
/* There are local sounds now, or others: models are told which sounds they can play. */
void voice_session_list_sounds(struct voice_session *c);
/* Called for each member in the bot's channel except the bot, while there is a call. name is
 * borrowed during the call; why: UNHEARD_NOT for people who are heard. */
typedef void(voice_session_member_h)(uint64_t user, const char *name, enum unheard why, void *arg);
void voice_session_each_member(const struct voice_session *c, voice_session_member_h *h, void *arg);
/* As agent_asr_closes_ms; 0 without a conversation. */
uint64_t voice_session_asr_closes_ms(const struct voice_session *c, uint64_t user);
/* As agent_tool_list; empty without a conversation. */
json_t *voice_session_tools(const struct voice_session *c);
/* As agent_now and agent_levels (control/agent/agent.h); NULL: nobody can answer in its call. */
json_t *voice_session_now(const struct voice_session *c);
json_t *voice_session_levels(const struct voice_session *c);
/* Fills in the values of /status except those that only control knows. *out borrows from the voice
 * session until it changes. */
void voice_session_status(const struct voice_session *c, struct status *out);

#endif
