/* The shell of text chat: gives the core (control/text/text_chat.h) what Discord tells of messages,
 * and performs its effects with the text model of the purpose text_reply and with Discord's REST
 * API. Each server has a core of its own, made with its first message that may be answered, and one
 * serves all direct messages; where all places are taken, one that was unused for an hour gives
 * way.
 *
 * The cores hold the last lines of each channel in memory. Of those who have agreed to be
 * remembered messages are kept in the store, too (MESSAGE of control/events/events.def). An
 * answer's messages carry a nonce of the message that they answer, which Discord enforces, so a
 * message is not answered twice when the gateway tells of it again, also after a restart.
 *
 * Everything runs on env's loop thread. What the conf names is borrowed. */
#ifndef CONTROL_TEXT_SESSION_TEXT_SESSION_H
#define CONTROL_TEXT_SESSION_TEXT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/attachments/viewer.h"
#include "control/tools/policy.h"

struct bus;
struct consent_table;
struct delegates;
struct env;
struct http;
struct ledger;
struct mcp_servers;
struct press;
struct rest;
struct settings;
struct store;
struct text_session;
struct ws_ctx;

enum { TEXT_GUILDS = 1024 }; /* with a core at a time, the direct messages among them */

struct text_session_typed {
	uint64_t message, user;
	bool bot;
	const char *name, *text;	   /* borrowed */
	const struct attached_list *files; /* borrowed */
	bool repeats; /* of the bot: it may repeat words of others than the user, or of strangers */
};

struct text_session_conf {
	struct env *env;
	struct http *http;
	struct ws_ctx *ws;
	struct rest *rest;
	const struct settings *settings; /* everybody's */
	struct store *store;		 /* NULL: no memory is searched, and no restart goes on */
	uint64_t since_ms;   /* ms since 1970; what was written before is not caught up */
	uint64_t newest;     /* text_session_newest of the control before this one; 0: not known */
	const json_t *taken; /* what controls before this one took, as store_read_taken; or NULL */
	struct ledger *ledger;
	struct bus *bus;
	const struct consent_table *consents;
	struct mcp_servers *mcp;      /* whose tools may be called; NULL: none */
	struct delegates *delegates;  /* to whose workers tasks may go; NULL: none */
	struct viewer_shared viewers; /* fetcher NULL: nothing that is attached is looked at */
	/* The settings of this server, in one place until they are released, by whoever asked for
	 * them first: what is called meanwhile is handed them. */
	const struct settings *(*settingsh)(uint64_t guild, void *arg);
	void (*releaseh)(uint64_t guild, void *arg);
	/* True if models may be told what this person said earlier. */
	bool (*remembersh)(uint64_t guild, uint64_t user, void *arg);
	/* The voice channel of this server in which the bot is, or was last, if everybody who reads
	 * this channel may enter it; 0: none. NULL accepted. */
	uint64_t (*voiceh)(uint64_t guild, uint64_t read, void *arg);
	/* Why models see no screen there now, as a sentence, or that there is one; "": nothing is
	 * to be told of screens. read: the channel; user: who asks, 0: nobody; size: 512 at least
	 * holds it. NULL accepted. */
	void (*screenh)(uint64_t guild, uint64_t read, uint64_t user, char *out, size_t size,
			void *arg);
	/* True if everybody who reads `read` may know what is said in this channel. NULL accepted.
	 */
	bool (*openh)(uint64_t guild, uint64_t read, uint64_t channel, void *arg);
	/* A message in a channel of a server that may be read; or of the bot, in answer to the
	 * user, if it repeats only people who may be remembered. NULL accepted. */
	void (*typedh)(uint64_t guild, uint64_t channel, const struct text_session_typed *typed,
		       void *arg);
	/* What stands in a message now. text "": it is gone, or may not be read any more; message
	 * 0: so are all of the channel. NULL accepted. */
	void (*editedh)(uint64_t guild, uint64_t channel, uint64_t message, const char *text,
			void *arg);
	/* A message is gone, or has its files no more. NULL accepted. */
	void (*untypedh)(uint64_t guild, uint64_t channel, uint64_t message, void *arg);
	/* An answer that is to be spoken, if the channel is the chat of a call. NULL accepted. */
	void (*speakh)(uint64_t guild, uint64_t channel, const char *text, void *arg);
	/* True if it would be, now. NULL accepted. */
	bool (*spokenh)(uint64_t guild, uint64_t channel, void *arg);
	/* This person's rank for tools, by the member object of a message. */
	enum tool_rank (*rankh)(uint64_t guild, uint64_t user, const json_t *member, void *arg);
	/* The server of this channel or thread, 0: it is known in none. NULL accepted. */
	uint64_t (*guildh)(uint64_t channel, void *arg);
	/* The channel or forum of this thread, 0: it is none; READING_UNKNOWN
	 * (control/text/reading.h): nothing is known of the channel. *title: borrowed until the
	 * next event. NULL accepted. */
	uint64_t (*threadh)(uint64_t guild, uint64_t channel, const char **title, void *arg);
	/* True if the channel, category or forum is none of this server, as far as is known. NULL
	 * accepted: nothing is known. */
	bool (*elsewhereh)(uint64_t guild, uint64_t channel, void *arg);
	/* The category of this channel, or of that of a thread; 0: it is in none. NULL accepted. */
	uint64_t (*categoryh)(uint64_t guild, uint64_t channel, void *arg);
	/* The name of this channel or thread, "": it is not known; borrowed until the next event.
	 * NULL accepted. */
	const char *(*channelh)(uint64_t guild, uint64_t channel, void *arg);
	/* The value of text_chat that held for this channel then, OFF also where the settings kept
	 * the bot out of it. parent: as threadh returns. NULL accepted: ALL. */
	uint32_t (*readingh)(uint64_t guild, uint64_t channel, uint64_t parent, uint64_t at_ms,
			     void *arg);
	/* The threads of this channel or forum that are known, up to most. NULL accepted. */
	size_t (*threadsh)(uint64_t guild, uint64_t channel, uint64_t *to, size_t most, void *arg);
	/* Those of the server that were archived last, the last first, up to most. NULL accepted.
	 */
	size_t (*archivedh)(uint64_t guild, uint64_t *to, size_t most, void *arg);
	/* True if Discord has told what channels this server has. NULL accepted: it has. */
	bool (*knownh)(uint64_t guild, void *arg);
	/* True if the bot may write in this channel of the server. */
	bool (*writeh)(uint64_t guild, uint64_t channel, void *arg);
	/* True if it may put reactions on messages there. NULL accepted. */
	bool (*reacth)(uint64_t guild, uint64_t channel, void *arg);
	/* True if it may read the messages from before there. NULL accepted: it may. */
	bool (*historyh)(uint64_t guild, uint64_t channel, void *arg);
	/* True if this role is the bot's own, which Discord made for it. */
	bool (*roleh)(uint64_t guild, uint64_t role, void *arg);
	/* The bot's display name in this server, NULL while it is unknown; borrowed until the next
	 * event. NULL accepted. */
	const char *(*nicknameh)(uint64_t guild, void *arg);
	void *arg;
};

/* The intents without which Discord does not tell of the messages that these settings want
 * answered; 0 if they want none. */
uint32_t text_session_intents(const struct settings *settings);

/* ENOMEM. Caller owns *out, and frees it after rest. */
int text_session_alloc(struct text_session **out, const struct text_session_conf *conf);
struct text_session *text_session_free(struct text_session *ts);
/* Who the bot is; name is copied. */
void text_session_self(struct text_session *ts, uint64_t user, const char *name);
/* There is no connection to Discord. A session that goes on begins with what was missed. NULL
 * accepted. */
void text_session_offline(struct text_session *ts);
/* The connection to Discord is up. guilds: READY's list of servers, of a new session, in which
 * Discord does not tell what was written before; NULL: the session goes on. What was missed, and
 * what is owed by a control before this one, is read from the channels' history. ts NULL accepted.
 */
void text_session_online(struct text_session *ts, const json_t *guilds);
/* d: GUILD_CREATE, of which the handlers of the conf know by now. What was missed in its channels
 * is read. NULL accepted. */
void text_session_guild(struct text_session *ts, const json_t *d);
/* The id of a message up to which all were told or read, for the next control; `before` as long as
 * that is so of no later one. ts NULL accepted. */
uint64_t text_session_newest(const struct text_session *ts, uint64_t before);
/* True while what was missed before this session is still being read: a control that resumed it
 * would not learn of the rest. NULL accepted. */
bool text_session_catches_up(const struct text_session *ts);
/* An event of the main gateway. False: it is not about messages. */
bool text_session_event(struct text_session *ts, const char *name, const json_t *d);
enum text_press {
	TEXT_PRESS_OTHER, /* it is another button */
	TEXT_PRESS_TAKEN, /* the question ended by it, or is still being asked */
	TEXT_PRESS_OVER,  /* the question had ended before, or was asked by a control before this
			     one;  its buttons go */
};
/* A button was pressed: perhaps of a question for a yes. ts NULL accepted. */
enum text_press text_session_press(struct text_session *ts, const struct press *p);
/* Ends all answers and calls; the servers of MCP may go after it. NULL accepted. */
void text_session_stop(struct text_session *ts);
/* The settings changed, or the embedded engine has another address. */
void text_session_settings(struct text_session *ts);
/* Takes what this person wrote out of the conversations under way, and what the bot wrote where it
 * may quote them: in a server (guild) everywhere, because its memory may have told of them in any
 * channel; everywhere (0) where they took part. Answers under way are asked again. refuses: nothing
 * that they wrote is answered any more. */
void text_session_forget(struct text_session *ts, uint64_t guild, uint64_t user, bool refuses);
/* hold: from now on models are told nothing from the memory, because somebody is about to be erased
 * whose words the store still has. Each call with true is followed by one with false. NULL
 * accepted.
 */
void text_session_hold_memory(struct text_session *ts, bool hold);
/* A question that does not come as a message: of a command. Its lines and its memory are those of
 * the channel. Texts are borrowed until text_session_ask returns. */
struct text_question {
	uint64_t guild, channel, user;
	uint64_t parent; /* of a thread, as the interaction tells; 0: it does not */
	uint64_t id;	 /* of the interaction, a snowflake as that of a message */
	const char *name, *text;
	const char *material; /* text of strangers in its fence, which it is about; NULL: none */
	bool blind; /* the user may not read what was written in the channel before; nor does the
		       model for them */
	uint32_t forgets; /* of text_session_note: text_outcome's */
};
struct text_outcome {
	const char *text;   /* NULL: there is none */
	const char *reason; /* why not: a clause in English */
	bool personal;	    /* the reason is the user's own consent */
	uint32_t forgets;   /* so many people of the server were forgotten by then */
};
/* Texts are borrowed until it returns. */
typedef void(text_outcome_h)(const struct text_outcome *answer, void *arg);
/* The handler is called once, perhaps before this returns, unless the text_session is freed before.
 * Nobody else learns of the question. */
void text_session_ask(struct text_session *ts, const struct text_question *q, text_outcome_h *h,
		      void *arg);
/* The question and its answer stand in this message now, so that those who go on are understood.
 * The answer is left out if somebody was forgotten since it was given, whose words it may repeat.
 */
void text_session_note(struct text_session *ts, const struct text_question *q, const char *answer,
		       uint64_t message);

enum text_why_kind {
	TEXT_WHY_UNKNOWN,  /* it is older than this control, or one of too many */
	TEXT_WHY_OFF,	   /* text chat is off there */
	TEXT_WHY_NOT_READ, /* only messages that address the bot are read there */
	TEXT_WHY_WAITS,	   /* it has not ended */
	TEXT_WHY_ANSWERED,
	TEXT_WHY_ENDED,
};
struct text_why {
	enum text_why_kind kind;
	uint64_t user, channel; /* who wrote it, and where; 0: nobody knows */
	bool personal;		/* the reason tells something about its author */
	bool no_content;	/* Discord gave no text */
	/* Clauses in English. Whom it was meant for and why the bot attended to it, "" if it was
	 * not judged, or for nothing; what it waits for, or ""; why it ended, and what helps, or
	 * "".
	 */
	const char *signal, *attention, *hold, *reason, *help;
};
/* What became of a message. s: the settings of its server. */
void text_session_why(const struct text_session *ts, const struct settings *s, uint64_t guild,
		      uint64_t message, struct text_why *out);
/* This person's last message there that was meant for the bot, ended or not; 0: none is known. */
uint64_t text_session_last(const struct text_session *ts, uint64_t guild, uint64_t user);
/* True if it reads the settings of this server. */
bool text_session_uses(const struct text_session *ts, uint64_t guild);

#endif
