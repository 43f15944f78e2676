/* The state of struct control, shared by control.c (construction, voice sessions, start and stop),
 * control_state.c (what a restart needs), control_gateway.c (Discord's main gateway) and
 * control_commands.c (slash commands). */
#ifndef CONTROL_CONTROL_INSIDE_H
#define CONTROL_CONTROL_INSIDE_H

#include "control/attachments/viewer.h"
#include "control/control.h"
#include "control/discord/commands.h"
#include "control/discord/components.h"
#include "control/discord/cooldown.h"
#include "control/discord/gateway.h"
#include "control/settings/settings.h"
#include "control/state.h"
#include "control/report/own_turns.h"
#include "control/report/status.h"
#include "control/voice_session/voice_session.h"
#include "control/web/web.h"
#include "control/words/words.h"
#include "control/consent/erasures.h"
#include "ipc/backoff.h"

enum {
	VOICE_SESSIONS_MAX = STATE_CALLS_MAX,
	SAVE_MS = 1000,		     /* at most once a second */
	SAVE_CALLS_MS = 20,	     /* a changed call is saved sooner */
	SAVE_ANYWAY_MS = 30000,	     /* keeps the saved session fresh while nothing changes */
	SESSIONS_USED_UP_MS = 60000, /* wait if Discord does not say for how long */
	STOP_MS = 2000,		     /* Discord confirms within this that the bot has left */
	STOP_SOON_MS = 50,
	MEDIADS_MS = 2000, /* after the start a mediad that runs is connected within this */
	MEDIADS_POLL_MS = 50,
	HAND_OVER_MS = 5000, /* an answer under way is complete in mediad within this, or is cut */
	CONTROL_INCIDENT_PATH = 1024,
	REJOIN_MS = 3600000, /* a saved call older than this is not rejoined */
};

struct one_run;

struct control {
	struct env *env;
	struct settings *settings; /* the effective ones */
	struct live_settings *live;
	struct web *web;
	struct one_run *again, *incident; /* run a recorded turn, export an incident; NULL: none */
	/* Who waits for them. */
	struct {
		web_again_h *h;
		void *arg;
	} again_told;
	struct {
		web_incident_h *h;
		void *arg;
		char dir[CONTROL_INCIDENT_PATH];
	} incident_told;
	struct control_conf conf;
	struct bus *bus;
	struct writer *writer;
	struct status_tally tally;
	struct own_turns own_turns;
	struct http *http;
	struct mcp_servers *mcp;
	struct delegates *delegates;
	struct extraction *extraction; /* NULL without a store */
	struct library *library;       /* NULL without music_folders */
	struct music_sources *sources;
	struct queue_shelf *shelf;	      /* of music */
	struct embeddings_client *embeddings; /* NULL without a provider of role embed */
	struct ws_ctx *ws;
	struct rest *rest;
	struct clips *clips;   /* local sounds of the soundboard */
	struct vision *vision; /* shared screens, and the decoder of pictures */
	struct golive *golive; /* NULL without go_live and its token */
	struct guilds *guilds;
	struct gateway *gateway;
	struct commands *commands;
	struct consent_table *consents;
	struct components *components;
	struct text_session *text;
	struct viewer_shared viewers; /* for what people attach */
	uint32_t intents;   /* wanted since the start; Discord may refuse the privileged one */
	bool asked_content; /* it is known whether Discord does */
	bool lacks_content;
	struct reading *reading;		    /* what is read of text chat, and was */
	struct consent_request *consent_requests;   /* that wait for the store, the newest first */
	struct privacy_request *privacy_requests;   /* the same */
	struct memory_request *memory_requests;	    /* the same */
	struct settings_request *settings_requests; /* changes that are being saved */
	struct work_desk *work_desks;		    /* of servers with tasks of /work */
	struct ask_request *ask_requests;	    /* questions that wait for the text model */
	struct browser *browser;		    /* NULL until a page is read */
	struct cooldown cooldown;
	struct cooldown grants; /* consents that allow more */
	struct cooldown music;	/* changes by commands and buttons */
	unsigned music_missing; /* settings that members wanted, as the log was told */
	struct music_search *music_searches;
	struct music_offer *music_offers; /* the newest first */
	struct music_typing *music_typings;
	struct erasures erasures;
	struct media *media;
	struct embedded *embedded;
	enum embedded_fault embedded_fault;
	struct tmr *find_tmr, *save_tmr, *stop_tmr, *held_tmr;
	/* Commands that came before it was known what mediad holds. */
	struct command *held[COMMANDS_WAITING_MAX];
	unsigned n_held;
	uint64_t started_at;
	struct voice_session *voice_sessions[VOICE_SESSIONS_MAX];
	unsigned n_voice_sessions;
	struct state state; /* as it will be written next */
	bool resuming;	    /* started with a session to resume */
	bool was_up;
	bool mediad_up;
	bool save_dirty;
	bool disk_full, asking_room; /* the state directory's disk */
	struct under_way inherited;  /* turns of the control before this one */
	bool ending;		     /* what is under way now is left to the next control */
	struct ledger *ledger;
	struct metrics *metrics;
	struct otlp_exporter *exporter; /* NULL without otlp_endpoint */
	struct store *store;		/* NULL without a state directory */
	json_t *changed_guilds;		/* {guild: null} since they were saved, oldest first */
	bool in_round;			/* control_state.c */
	size_t round_left;		/* guilds of this round that wait */
	bool finding;			/* a request for the gateway's address is pending */
	struct backoff find;		/* between requests for the gateway's address */
	struct words failure;
	bool replaced; /* a newer control took mediad over */
	bool clock_told;
	uint64_t hand_over_until; /* the program ends once mediad has the answers; 0: it does not */
	bool stopping;		  /* the bot leaves its channels, then the program ends */
};

/* control.c */
/* NULL when this guild has none. */
struct voice_session *control_find_voice_session(struct control *c, uint64_t guild);
/* Finds or makes the voice session of this guild; NULL when all places are taken. */
struct voice_session *control_open_voice_session(struct control *c, uint64_t guild);
/* Runs the embedded engine when the settings in effect need it, unless it runs. */
void control_start_embedded(struct control *c);
/* Ends the program because it cannot work. Keeps the first reason. */
void control_give_up(struct control *c, const struct words *why);

/* After an event of Discord, while the program stops. */
void control_stop_when_out(struct control *c);

/* control_state.c */
/* ENOMEM. */
int control_load_state(struct control *c);
void control_save_state(struct control *c);
/* Saves the state within SAVE_MS. */
void control_save_soon(struct control *c);
/* The guild differs from its saved state. */
void control_guild_changed(struct control *c, uint64_t guild);
/* A new session began: nothing is known of any guild. */
void control_guilds_cleared(struct control *c);
void control_on_save_timer(void *arg);
/* Saves the gateway's changed resume point before anything else happens. */
void control_on_resume_point(void *arg);
void control_on_calls_changed(void *arg);
/* ENOMEM. control_free frees them. */
int control_make_metrics(struct control *c);
/* Any event of the bus. */
void control_on_counted_event(const struct bus_event *ev, void *arg);
/* An event of the bus about turns: what is under way is saved at once, because a control that is
 * killed has no second. */
void control_on_turn_event(const struct bus_event *ev, void *arg);

/* control_web.c */
int control_make_web(struct control *c);
/* With otlp_endpoint. */
int control_make_exporter(struct control *c);

/* control_visualizer.c: analysish of struct voice_session_conf and watch_musich of struct web_conf;
 * arg is the control. */
struct media_music_analysis;
void control_take_analysis(uint64_t guild, const struct media_music_analysis *m, void *arg);
bool control_watch_music(uint64_t guild, bool on, void *arg);

/* control_orders.c: orderh, guildsh and channelsh of struct web_conf; arg is the control. */
struct web_order;
int control_take_order(const struct web_order *o, char *why, void *arg);
json_t *control_tell_guilds(void *arg);
json_t *control_tell_channels(uint64_t guild, void *arg);

/* control_text.c */
/* After the vision; with the viewers, which end after all that reads what people attach. */
int control_make_text(struct control *c);
/* What is read of text chat from now on is noted in the state. */
void control_note_reading(struct control *c);
/* The widest text_chat for which Discord sends the messages in this session. arg: struct control.
 */
uint32_t control_sent_chat(void *arg);
void control_end_text(struct control *c);

/* control_gateway.c */
void control_find_gateway(void *arg);
void control_on_gateway_event(const char *name, const json_t *d, void *arg);
void control_on_gateway_state(enum gateway_state s, unsigned code, const char *text, void *arg);

/* control_consent.c */
void control_answer_consent(struct control *c, struct command *cmd);
/* The select of control_consent_menu. */
void control_press_consent(struct control *c, struct press *p);
/* Before the store erases a person who has not answered in this server: where the setting consent
 * is `remembered`, their answer becomes `heard`. */
void control_end_default_consent(struct control *c, uint64_t guild, uint64_t user);
/* locale: of the user. */
json_t *control_consent_menu(struct control *c, uint64_t guild, uint64_t user, const char *locale);
void control_on_typing(const struct typing *t, uint32_t id, void *arg);
void control_tell_present_consent(struct control *c, uint64_t guild, uint64_t user,
				  struct words *words);
/* True if the member's words may be kept and told to models now. */
bool control_remembers(uint64_t guild, uint64_t user, void *arg);
/* Writes the setting time_zone of the server. */
void control_time_zone(uint64_t guild, char *zone, size_t size, void *arg);
/* Forgets the requests that wait; nothing answers them. */
void control_end_consents(struct control *c);

/* A copy, which the caller frees: the settings of this server, as they are wanted. NULL without
 * memory. */
struct settings *control_read_settings(const struct control *c, uint64_t guild);

/* control_memory.c */
void control_answer_remember(struct control *c, struct command *cmd);
void control_answer_forget(struct control *c, struct command *cmd);
/* False: the press is about something else. */
bool control_press_memory(struct control *c, struct press *p);
void control_type_memory(struct control *c, const struct typing *typing, uint32_t id);
/* Forgets the requests that wait; nothing answers them. */
void control_end_memory(struct control *c);
/* The rooms are told when facts of their server are forgotten. There is a store. */
void control_watch_memory(struct control *c);

/* control_ask.c */
void control_answer_ask(struct control *c, struct command *cmd);
/* Forgets the questions that wait; nothing answers them. */
void control_end_asks(struct control *c);
/* Counts a command that costs money. False: the member used too many, which the words say. */
bool control_may_ask(struct control *c, const struct command *cmd, struct words *words);
/* True if this member is not to be read there: as they chose, or by the settings. */
bool control_is_refused(struct control *c, uint64_t guild, uint64_t user);
struct text_outcome;
void control_tell_no_answer(const struct text_outcome *answer, struct words *words);
/* False for NULL and a blank text. */
bool control_has_words(const char *text);

/* control_browse.c */
void control_answer_browse(struct control *c, struct command *cmd);
/* True if the member has the rank and the role that the settings want for this tool. */
bool control_may_use_tool(const struct control *c, const struct command *cmd,
			  const struct settings *s, const char *tool);
/* Ends what is read; nothing answers it. */
void control_end_browser(struct control *c);

/* control_settings.c */
/* Tells the bus that a setting has changed. author: NULL for the settings file. */
void control_publish_setting(const char *name, enum settings_when when, const char *author,
			     void *arg);
void control_answer_settings(struct control *c, struct command *cmd);
/* False: the press is about something else. */
bool control_press_settings(struct control *c, struct press *p);
void control_type_settings(struct control *c, const struct typing *typing, uint32_t id);
/* Forgets the changes that are being saved; nothing answers them. */
void control_end_settings(struct control *c);

/* control_work.c */
void control_answer_work(struct control *c, struct command *cmd);
/* False: the press is about something else. */
bool control_press_work(struct control *c, struct press *p);
void control_type_work(struct control *c, const struct typing *typing, uint32_t id);
void control_type_why(struct control *c, const struct typing *typing, uint32_t id);
/* The settings are others. */
void control_update_work(struct control *c);
/* A person is erased, or does not want to be read in this server (0: in any). */
void control_forget_work(struct control *c, uint64_t guild, uint64_t user);
/* Versions of the settings that this person saved name nobody any more. */
void control_forget_author(struct control *c, uint64_t user);
/* Ends all tasks; nothing answers for them. */
void control_end_work(struct control *c);

/* control_why.c */
void control_answer_why(struct control *c, struct command *cmd);
void control_answer_why_user(struct control *c, struct command *cmd);
void control_answer_why_message(struct control *c, struct command *cmd);

/* control_again.c */
int control_ask_again(const struct web_again *what, web_again_h *h, void *h_arg, void *arg);
/* Whoever waits is not told. */
void control_end_again(struct control *c);

/* control_incident.c */
int control_make_incident(const struct web_incident *what, web_incident_h *h, void *h_arg,
			  void *arg);
/* Ends an export that goes on. */
void control_end_incident(struct control *c);

/* control_privacy.c */
void control_answer_privacy(struct control *c, struct command *cmd);
/* The menu "Forget me". */
void control_answer_forget_user(struct control *c, struct command *cmd);
void control_on_press(struct press *p, void *arg);
/* No request of theirs waits any more. */
void control_end_privacy(struct control *c);
/* Carries out the erasures that are requested in the database: by `control --erase`, or by a
 * control that ended before it was done. */
void control_take_erase_requests(struct control *c);
/* For the dashboard (web_conf.eraseh). arg: the control. */
int control_erase(uint64_t user, void *arg);

/* control_music.c */
void control_answer_music(struct control *c, struct command *cmd);
/* False: the press is about something else. */
bool control_press_music(struct control *c, struct press *p);
void control_type_music(struct control *c, const struct typing *typing, uint32_t id);
/* Forgets what waits; nothing answers it. Before the library and the sources go. */
void control_end_music(struct control *c);

/* control_commands.c */
void control_on_command(struct command *cmd, void *arg);
/* Says which commands are answered at once, and counts those that are refused. */
void control_prepare_commands(struct control *c);
/* Carries out what was held, once mediad has told what it holds. */
void control_on_held_timer(void *arg);

/* control_share.c */
int control_make_vision(struct control *c);
/* With go_live and its token; after the media. */
int control_make_golive(struct control *c);
void control_answer_share(struct control *c, struct command *cmd);
void control_take_share(const struct web_share *what, struct web_share_answer *a, void *arg);
uint32_t control_match_share(const char *key, void *arg);
bool control_knows_program(const char *token, void *arg);

#endif
