/* The web server with what control shows while it runs, and a client that asks and follows. */
#ifndef TESTS_UNIT_CONTROL_WEB_LIVE_SCENE_H
#define TESTS_UNIT_CONTROL_WEB_LIVE_SCENE_H

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "ipc/http.h"
#include "tests/unit/control/web/web_idle.h"
#include "tests/unit/ipc/loop.h"

struct fixture {
	struct loop l;
	char dir[32]; /* the store's; "": there is none */
	struct settings *settings;
	struct live_settings *live;
	struct bus *bus;
	struct store *store;
	struct web *web;
	struct http *http;
	/* The last answer: its body, also as JSON, or what came of the stream. */
	int status;
	char text[1 << 17];
	size_t n;
	json_t *got;
	const char *want;	     /* the loop stops when the stream has it */
	char cookie[200];	     /* a header line; "": the token is sent */
	char audit[256], begun[256]; /* the newest row, and the one before */
	int db;			     /* Alice's level */
	unsigned watches; /* how often control was told whether somebody looks at music */
	bool watched;	  /* somebody looks at the music */
	bool watch_ends;  /* the loop stops when nobody does any more */
	bool remembers;	  /* Alice's words may be kept */
	json_t *asked;	  /* what the room was asked again */
	web_again_h *againh;
	void *again_arg;
	int again_err;
	struct web_incident incident;
	web_incident_h *incidenth;
	void *incident_arg;
	int incident_err;
	uint64_t erased;
	int erase_err;
};

extern struct fixture live_scene;
/* With a store, two rooms, and what control does on demand. */
bool live_scene_open(void);
/* sessions: as they were kept. */
bool live_scene_open_with(const json_t *sessions);
/* As this says (web_idle), without a store. */
bool live_scene_open_as(const struct web_conf *wc);
void live_scene_close(void);
/* With the session of the cookie, or the token without one; body may be NULL. The answer stops the
 * loop. NULL: it failed. */
struct http_req *live_scene_begin(const char *method, const char *path, const char *body);
/* The status. */
int live_scene_ask(const char *method, const char *path, const char *body);
/* A stream: the caller cancels it. */
struct http_req *live_scene_follow(const char *path);
/* Until the stream has this. False: it does not come. */
bool live_scene_await(const char *text);
/* How often the text has it. */
unsigned live_scene_count(const char *what);

#endif
