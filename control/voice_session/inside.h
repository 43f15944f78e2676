/* The state of a voice session, shared by the files of this folder: voice_session.c (events, timer,
 * desired channel), joining.c (joins the channel), occupants.c (agent and members), report.c
 * (messages to the members), music.c (its jukebox), shown_music.c (what members see of it),
 * soundboard.c. */
#ifndef CONTROL_VOICE_SESSION_INSIDE_H
#define CONTROL_VOICE_SESSION_INSIDE_H

#include "control/discord/guilds.h"
#include "control/discord/voice.h"
#include "control/report/faults.h"
#include "control/media/media.h"
#include "control/voice_session/policy.h"
#include "control/voice_session/voice_session.h"
#include "control/words/words.h"
#include "proto/base/rate_limit.h"

enum { VOICE_SESSION_MEMBERS = 512 };

struct voice_session {
	struct voice_session_conf conf;
	uint64_t guild;
	struct voice *voice;
	struct tmr *tmr;
	struct media_call *media;
	struct agent *agent;
	struct jukebox *jukebox;   /* NULL until the first call */
	bool music_watched;	   /* somebody looks at the visualizer */
	bool music_told;	   /* the voice session is a subscriber of its jukebox */
	struct now_playing *shown; /* the message about what plays; NULL until the first call */
	uint64_t music_message;	   /* its id; 0: none */
	uint64_t music_message_in; /* the channel of one that is inherited, or whose music waits */
	struct sounds *sounds;	   /* NULL until a soundboard sound was played or heard */
	struct faults faults;
	unsigned fault_counts[FAULT_COUNT]; /* as they were published last */
	bool fault_lasts[FAULT_COUNT];	    /* it was published that it began */
	uint64_t up_since; /* when the call came up; 0: it is not up, or came up before this process
			      started */
	struct command *cmd; /* waits for the outcome of a join */
	uint64_t cmd_until;
	/* Turns of the previous control, how many of them were speaking, and what its mediad says
	 * of its last answer. */
	unsigned inherited, inherited_speaking;
	unsigned inherited_tasks; /* of workers; they ended with that control */
	bool inherited_plays;	  /* the agent is to know it */
	bool went_on;		  /* to another channel than that control's */
	enum inherited_answer {
		ANSWER_UNKNOWN,
		ANSWER_CUT,    /* it plays, and some of it never came */
		ANSWER_PLAYS,  /* to its end */
		ANSWER_PLAYED, /* an answer, maybe one before the turn that waits */
	} inherited_answer;
	uint64_t talks_in;   /* the channel whose conversation the agent has */
	uint64_t since_ms;   /* start of the conversation, wall clock; 0: none */
	const json_t *words; /* what was said in it before this control; NULL: nothing, or the agent
				knows */
	bool adopted;	     /* taken over from the previous control, which greeted already */
	bool was_up;	     /* the call was up since it was joined, or taken over in its channel */
	bool mediad;	     /* a mediad is connected */
	enum embedded_fault embedded_fault;
	bool disk_full;
	bool recalled;		      /* the agent was told words of an earlier control */
	bool begins_anew;	      /* the store is about to erase lines of the last one */
	bool crowded;		      /* the channel has more members than a room holds */
	bool agent_up;		      /* the agent knows that the call came up */
	bool quiet;		      /* say nothing in the room's text chat */
	uint64_t greeted, greeted_at; /* the channel that was greeted last */
	bool leaves;		      /* the room asked to leave */
	uint64_t goes_to;	      /* the room asked to go to this channel; 0: nowhere */
	bool silenced;		      /* an operator has muted the bot */
	bool thrown_out; /* somebody disconnected the bot; the room still waits for it to return */
	struct session_day day; /* sessions that began today */
	bool udp_lost;		/* datagrams no longer got through, and the call is not back */
	struct rate_limit secure_lines;
	uint64_t leased_channel; /* that mediad's session is in; the wanted one may be another. 0:
				    no lease was sent, and mediad has told none */
	uint64_t encrypted_channel; /* the last one whose call was encrypted; 0: none */
	bool has_key;		    /* there is a key of end-to-end encryption */
	bool stage_asked;	    /* asked once to be a speaker, since it was joined */
	uint64_t members[VOICE_SESSION_MEMBERS];
	unsigned n_members;
};

#define ID(x) ((unsigned long long)(x))

/* report.c */
/* Answers the command that waits, if one does. */
void voice_session_answer(struct voice_session *c, const struct words *words);
/* Words for the member whose command waits for an answer, else for the room. */
void voice_session_speak(const struct voice_session *c, struct words *words);
/* A sentence for the text chat that belongs to the voice channel; arg is the voice session. */
void voice_session_tell_room(const struct words *words, void *arg);
/* True if the bot has a permission in the channel; `unknown` when that cannot be told. */
bool voice_session_may(const struct voice_session *c, unsigned bit, bool unknown);
/* In the call, but something keeps people from hearing us or us from hearing them. */
enum voice_reason voice_session_hindrance(const struct voice_session *c);
bool voice_session_unheard(const struct voice_session *c);
bool voice_session_is_up(const struct voice_session *c);
/* A fault is there or is over. */
void voice_session_see(struct voice_session *c, enum fault fault, bool there);
/* Compares all faults with the present state and tells the room what is due. */
void voice_session_watch(struct voice_session *c);
/* The answer to /join named the hindrance, so the room is not told about that fault a second time.
 */
void voice_session_told_already(struct voice_session *c);

/* occupants.c */
/* Starts the room's agent when there is to be a call and a brain is known: its providers are
 * connected while the call comes up. */
void voice_session_start_agent(struct voice_session *c);
/* The conversation is over: the next one begins without its words. */
void voice_session_forget_words(struct voice_session *c);
/* Tells the agent the state of the call. */
void voice_session_tell_agent(struct voice_session *c, const struct media_msg *state);
/* Ends the room and lets go of the call. why: a reason of ROOM_ENDS
 * (control/room/base/reasons.def). */
void voice_session_end_room(struct voice_session *c, const char *why);
/* Ends the conversation of a channel that the bot leaves for another one; the call goes on. */
void voice_session_end_conversation(struct voice_session *c);
/* Leaves a channel that the settings do not allow, once the running event is over. */
void voice_session_check_channel(struct voice_session *c);
/* Updates the agent's list of members from Discord's voice states. */
void voice_session_sync_members(struct voice_session *c);
/* Tells mediad whom it may hear: before the call has credentials, and with every member who comes.
 */
void voice_session_apply_consents(struct voice_session *c);
/* The same after the settings changed whom the bot listens to. */
void voice_session_renew_members(struct voice_session *c);
/* Tells mediad the consent of each member, whatever the default is. */
void voice_session_tell_consents(struct voice_session *c);
/* The name the bot answers to. Borrowed. */
const char *voice_session_bot_name(const struct voice_session *c);

/* music.c: the bot is in, or goes to, its channel with this call. */
void voice_session_enter_music(struct voice_session *c);

/* shown_music.c: the message about what plays. Shows it from now on; ends it, because the bot
 * leaves the channel, in which music may wait for it, or goes on in another one; looks whether it
 * is to be edited. */
void voice_session_show_music(struct voice_session *c);
void voice_session_hide_music(struct voice_session *c, bool leaves);
void voice_session_look_at_music(struct voice_session *c);

/* soundboard.c */
/* A VOICE_CHANNEL_EFFECT_SEND event; the bot's own sounds cause one too. */
void voice_session_take_sound(struct voice_session *c, uint64_t user, const json_t *d);
/* Any event of the gateway: those of the soundboard count. */
void voice_session_sounds_event(struct voice_session *c, const char *name, const json_t *d);
/* soundh and unsoundh of an agent (control/agent/agent.h); arg is the voice session. */
int voice_session_play_sound(uint32_t turn, uint32_t chunk, const char *ref, void *arg);
bool voice_session_drop_sound(uint32_t turn, uint32_t chunk, void *arg);

/* joining.c */
/* The call as it should be in this channel. */
struct media_want voice_session_wanted_call(const struct voice_session *c, uint64_t channel);
/* Is this channel a stage, of which Discord encrypts none? */
bool voice_session_is_stage(const struct voice_session *c, uint64_t channel);
/* The bot has left the call: its outages must not be reported in the next one. */
void voice_session_end_outages(struct voice_session *c);
/* Sends the wish for a call in this channel. */
void voice_session_set_call(struct voice_session *c, uint64_t channel);
/* Sends the changed wish, if the channel or the settings changed it. */
void voice_session_update_call(struct voice_session *c);
void voice_session_open_media(struct voice_session *c, uint64_t channel);
/* The call is up: starts the agent and answers /join. */
void voice_session_came_up(struct voice_session *c);
/* On a stage: asks once per voice session to become a speaker. */
void voice_session_ask_to_speak(struct voice_session *c, const struct guild_voice *v);
/* Handlers of the joining machine (control/discord/voice.h); arg is the voice session. */
void voice_session_act(const struct voice_act *act, void *arg);
enum voice_reason voice_session_predict(uint64_t channel, void *arg);

/* voice_session.c: sets the timer to the earliest deadline. */
void voice_session_arm_timer(struct voice_session *c);

#endif
