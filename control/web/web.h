/* The HTTP server of control: the dashboard and its API. Routes in one table (routes.def), a bearer
 * token or sessions of browsers (access.h), JSON answers, problems as RFC 9457 has them.
 *
 * Requests are inputs of the env
 * (ipc/http_server.h), so that a journal replays them. live, bus and env are
 * borrowed; nobody publishes once it is freed, or could not be made.
 * A change of settings is answered once it is saved; no step may run between web_free and
 * live_settings_free. */
#ifndef CONTROL_WEB_WEB_H
#define CONTROL_WEB_WEB_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/cursor.h"

struct bus;
struct env;
struct http;
struct live_settings;
struct settings;
struct store;
struct web;

enum { WEB_WHY_SIZE = 512, WEB_SAY_MAX = 600 };
enum web_order_kind {
	WEB_SAY,
	WEB_STOP,
	WEB_MUTE,
	WEB_UNMUTE,
	WEB_LEAVE,
	WEB_MOVE,
	WEB_MUSIC_PAUSE,
	WEB_MUSIC_RESUME,
	WEB_MUSIC_SKIP,
	WEB_MUSIC_STOP
};
const char *web_order_name(enum web_order_kind kind);
/* What an operator has the bot do in a room. Borrowed. */
struct web_order {
	enum web_order_kind kind;
	uint64_t guild, channel; /* channel: of MOVE */
	const char *text;	 /* of SAY, at most WEB_SAY_MAX bytes */
	uint64_t number;	 /* of SAY: the bus tells how it ended by it */
};

/* A turn that is run again from its room's journal with other settings. Borrowed. */
struct web_again {
	uint64_t guild, session; /* session: its start, ms since 1970 */
	uint32_t turn;
	json_t *settings; /* {NAME: value} */
};
/* answer: as control/again/again.h, and the handler's then; NULL: it took too long, or failed. */
typedef void(web_again_h)(json_t *answer, void *arg);

/* What an export holds: the last hours, of one server or of all (0). */
struct web_incident {
	uint32_t hours;
	uint64_t guild;
};
/* dir: the folder that was made; NULL: it took too long, or failed. */
typedef void(web_incident_h)(const char *dir, void *arg);

enum web_share_kind {
	WEB_SHARE_OFFER,
	WEB_SHARE_OPEN,
	WEB_SHARE_EXPECT, /* before the picture of FRAME is read */
	WEB_SHARE_FRAME,
	WEB_SHARE_STATE,
	WEB_SHARE_STOP,
	WEB_SHARE_INGEST
};
/* A request of a shared screen. Borrowed. */
struct web_share {
	enum web_share_kind kind;
	const char *token;		    /* of the path */
	uint32_t browser;		    /* the share that the cookie proves; 0: none */
	uint64_t guild, channel, requester; /* of OFFER; guild of INGEST, too */
	uint64_t target;		    /* whose screen */
	const char *type;		    /* media type of the picture */
	struct slice picture;
	uint32_t
		screen; /* of FRAME: the longer side of the screen, which it was scaled down from */
	size_t bytes;	/* of EXPECT */
	bool paused;	/* of STATE */
	bool stale;	/* of STATE: the browser has no new pictures of the screen */
};
/* What is answered: with status 200 body, which is taken; else code and text, of constant duration.
 */
struct web_share_answer {
	int status;
	const char *code, *text;
	json_t *body;
	char key[32]; /* a cookie for the browser; "" for none */
};

/* What the visualizer draws of the music at this moment (proto/media.def, MUSIC_ANALYSIS).
 * Borrowed. */
struct web_music {
	uint32_t music;
	uint64_t position; /* frames */
	struct slice bands, wave, scope;
};

struct web_conf {
	struct env *env;
	const char *listen; /* "127.0.0.1:8787": a numeric address and a port, 0 for any; copied */
	const char *origin, *share_origin, *proxies; /* as origins_read; NULL: ""; copied */
	const char *token;			     /* copied */
	bool recorded;		/* requests come without it, for a journal: '*' in its place */
	const json_t *sessions; /* as access_conf.kept */
	const uint32_t *session_hours;	 /* how long a browser is signed in */
	struct http *http;		 /* with settings: for sign-in with Discord; NULL: none */
	const struct settings *settings; /* the effective ones */
	const char *talk;    /* a page of this machine to speak with the bot; "" or NULL */
	struct store *store; /* NULL: there is no history */
	struct live_settings *live;
	struct bus *bus; /* whose events are streamed */
	/* What control shows; the answer takes it over, NULL without memory. */
	json_t *(*mcph)(void *arg);   /* {"servers":[…]}: the servers of MCP */
	json_t *(*readyh)(void *arg); /* {"ready": bool, "parts": {name: state}} */
	char *(*metricsh)(void *arg); /* Prometheus's text format */
	json_t *(*roomsh)(void *arg); /* [{"guild": "ID", …}], to which the turns are added */
	json_t *(*levelsh)(
		void *arg); /* [{"guild": "ID", …}]: the present speakers; NULL: not known */
	json_t *(*reasonsh)(void *arg); /* what reasons and rules mean */
	json_t *(*statsh)(void *arg);	/* figures of the program: GET /api/stats */
	json_t *(*guildsh)(void *arg);	/* [{"id", "name"}] */
	/* [{"id", "name", "type": "voice" or "stage"}]; NULL also for a server nobody knows */
	json_t *(*channelsh)(uint64_t guild, void *arg);
	/* Whether everybody of the server may enter this voice channel; NULL: none. */
	bool (*openh)(uint64_t guild, uint64_t channel, void *arg);
	/* Whether this member's words may be kept now; NULL: nobody's. */
	bool (*remembersh)(uint64_t guild, uint64_t user, void *arg);
	/* Begins to ask; h is called later, once. ENOENT: there is no journal; EBUSY; ENOMEM. NULL:
	 * there are none. */
	int (*againh)(const struct web_again *what, web_again_h *h, void *h_arg, void *arg);
	/* ENOENT: there is no state directory; EBUSY: another one is made; ENOSPC: many are kept.
	 */
	int (*incidenth)(const struct web_incident *what, web_incident_h *h, void *h_arg,
			 void *arg);
	/* Begins to erase this person from all that is kept; web_erased is called later, once.
	 * ENOENT: nothing is kept; EBUSY: another one goes on. NULL: nothing is kept. */
	int (*eraseh)(uint64_t user, void *arg);
	/* Carries an order out, or begins to. ENOENT: the bot is in no channel there, or not in the
	 * server; ENOTCONN: it is in no conversation; EPERM: it is muted; ESRCH: no music plays;
	 * others: why is a sentence, or "". */
	int (*orderh)(const struct web_order *order, char why[WEB_WHY_SIZE], void *arg);
	/* Somebody looks at the music of this server, or nobody any more; false: the bot is in no
	 * channel there. Called again and again while somebody looks. NULL: nobody can look. */
	bool (*watch_musich)(uint64_t guild, bool on, void *arg);
	/* Shared screens; NULL: there are none. share_matchh: the share that a cookie proves, or 0.
	 * share_programh: whether a program has the token with which it may send pictures. */
	void (*shareh)(const struct web_share *what, struct web_share_answer *answer, void *arg);
	uint32_t (*share_matchh)(const char *key, void *arg);
	bool (*share_programh)(const char *token, void *arg);
	void *arg;
};

/* EINVAL: listen is no address, or there is no token; ENOMEM, or what listening says. Caller owns
 * *out. */
int web_alloc(struct web **out, const struct web_conf *conf);
/* The settings were read anew: who signed in with Discord may have another role by them. */
void web_settings_read(struct web *w);
/* For those who look at the music of this server. */
void web_show_music(struct web *w, uint64_t guild, const struct web_music *m);
/* How the erasure ended that was begun. receipt: NULL if not all of it could be erased. */
void web_erased(struct web *w, const char *receipt);
/* Readers that come back get no event of before any more. */
void web_forget_events(struct web *w);
struct web *web_free(struct web *w);
/* Where it listens. */
uint16_t web_port(const struct web *w);

#endif
