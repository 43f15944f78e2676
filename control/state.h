/* The state that control saves so that the next control can take over: the resumable session, the
 * known servers, the desired calls, and the turns that wait for their answer.
 *
 * session.json in the state directory (mode 0600, small, written often) is replaced as a whole. The
 * stored document of settings and the guilds stand in the store (control/store/store.h), a row for
 * each version and each guild. Voice session ids, tokens and endpoints are leases and are never
 * written. */
#ifndef CONTROL_STATE_H
#define CONTROL_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

#include "control/discord/gateway_machine.h"
#include "control/metrics/counters.h"
#include "control/report/under_way.h"
#include "control/voice_session/encrypted_channels.h"

struct env;

/* A control on Discord saves at least every 30 s. */
enum { STATE_CALLS_MAX = 64, STATE_FRESH_S = 300, STATE_ALIVE_S = 45 };

struct state_call {
	uint64_t guild, channel;
	uint64_t since_ms;	/* start of the conversation, wall clock; 0: none yet */
	uint64_t music_message; /* about what plays (control/discord/now_playing.h); 0: none */
	bool standing;
};

struct state {
	uint64_t epoch; /* of the control that wrote it */
	uint64_t user, application;
	uint64_t saved_ms; /* wall clock */
	char bot_name[64];
	struct gateway_session session; /* empty id: none */
	uint64_t text_since_ms;		/* since when text chat is on; 0: it is off */
	uint64_t text_newest; /* id up to which written messages were told or read; 0: not known */
	json_t *reading;  /* what is read of it, and was (control/text/reading.h); NULL: nothing.
			     The holder of the state owns it. */
	uint32_t intents; /* with which the session began; 0: not told */
	struct state_call calls[STATE_CALLS_MAX];
	unsigned n_calls;
	struct encrypted_channels encrypted;
	bool lacks_real_time; /* a mediad has lost its real-time priority (control/media/media.h) */
	struct under_way under_way;
	struct counters counters;
	json_t *commands; /* that wait for their answers (control/discord/commands.h); NULL: none.
			     A secret. The holder of the state owns it. */
};

/* $STATE_DIRECTORY, $XDG_STATE_HOME/parley, $HOME/.local/state/parley, in this order, when given is
 * NULL. ENOENT. */
int state_dir(const char *given, char *buf, size_t size);
/* Creates the directory and its parents (0700). */
int state_dir_make(const char *dir);
/* Holds the directory for this process until *out is closed. EBUSY: another control has held it for
 * a second; EPERM: control.lock is not this user's; errors of open. Caller closes *out. */
int state_lock(const char *dir, int *out);
/* True if control.lock can be opened, or made, whoever holds it: errors of state_lock but EBUSY.
 * Root may look at another user's directory. */
int state_lock_check(const char *dir);
/* A file of this name in a directory that --incident made: for --show, not to start with. */
#define STATE_INCIDENT "incident"
bool state_is_incident(const char *dir);
/* True if a control has kept state there, or nobody can tell. */
bool state_is_used(const char *dir);
/* True if a control holds the directory now. */
bool state_locked(const char *dir);
/* The process of the control that holds the directory, by /proc/locks; 0 when there is none or this
 * process cannot see it, as from outside its container. */
pid_t state_holder(const char *dir);
/* Bytes that the state directory should have room for. */
enum { STATE_ROOM = 16 << 20 };
uint64_t state_dir_room(const char *dir);
/* True if files of that size can be written and synced there: errors of open, write and fsync. */
int state_dir_check(const char *dir);
/* The state that the previous control saved, as JSON; NULL: missing or damaged. It is read once,
 * before the first step, so that a journal holds it in its first lines. */
struct state_kept {
	json_t *session, *guilds;
	json_t *consents; /* as store_read_consents */
	json_t *queues;	  /* of music, as store_read_queues */
	json_t *taken;	  /* written messages, as store_read_taken */
	json_t *web;	  /* sessions of browsers, as store_read_web */
	json_t *words;	  /* {guild: lines of store_read_words}, of the calls of the session */
	/* The stored document: {"versions": [...]} (control/settings/document.h), with "unread":
	 * true if it is there and its newest version cannot be read. */
	json_t *settings;
	bool erasing; /* an erasure was requested and is not done */
	bool written; /* words of written messages are kept */
};
void state_read(const char *dir, struct state_kept *out);
/* Of what is shown: its maker has no say in who signs in here, nor in which codes were used. */
void state_kept_forget_sessions(struct state_kept *kept);
/* The settings alone. The caller owns them. */
json_t *state_read_settings(const char *dir);
void state_kept_clear(struct state_kept *kept);
/* The token of the HTTP API, from the file web-token in the directory, which is made (0600) with
 * 256 random bits when there is none. EINVAL: what the file holds is no token. EPERM: others own
 * the file, or may read or write it. Called before the first step, as state_read is. */
enum { STATE_TOKEN_MAX = 128 };
int state_web_token(const char *dir, char *buf, size_t size);
/* The same of the file that is there: ENOENT when there is none. */
int state_read_web_token(const char *dir, char *buf, size_t size);
/* Why the token cannot be used, and what helps. */
const char *state_web_token_fault(int err);
/* The session alone; NULL if it is missing or damaged, or if it is no regular file of this user or
 * of root that they alone can write. Caller owns it. */
json_t *state_read_session(const char *dir);
/* True if a Resume can succeed at this wall time. */
bool state_fresh(const struct state *s, uint64_t wall_ms);
/* True if the control that wrote the state runs at this wall time and is connected to Discord: it
 * has saved since it started, and recently. */
bool state_alive(const struct state *s, uint64_t wall_ms);

/* To and from JSON, without files. state_parse: EBADMSG. */
json_t *state_format(const struct state *s);
/* The same as text. NULL without memory. Caller frees it. */
char *state_text(const struct state *s);
int state_parse(const json_t *j, struct state *out);

#endif
