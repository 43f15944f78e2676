/* The web server with settings, and a client. */
#ifndef TESTS_UNIT_CONTROL_WEB_WEB_SCENE_H
#define TESTS_UNIT_CONTROL_WEB_WEB_SCENE_H

#include "control/web/web.h"
#include "control/configure/live_settings.h"
#include "control/events/events.h"
#include "ipc/http.h"
#include "tests/unit/ipc/loop.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
/* Cut at any number of bytes it is likely to be cut inside a letter. */
#define SOME_LETTERS "\xe3\x81\x82\xe3\x81\x84\xe3\x81\x86\xe3\x81\x88\xe3\x81\x8a"
#define LONG_NAME                                                                                  \
	SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS                           \
		"a" SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS  \
			SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS SOME_LETTERS           \
				SOME_LETTERS

struct fixture {
	struct loop l;
	struct settings *settings;
	struct live_settings *live;
	struct bus *bus;
	struct web *web;
	struct http *http;
	struct tmr *saved_tmr;
	char *saved; /* the version that was handed over last */
	char order[128];
	int order_err;
	char author[16], told_author[16];
	json_t *got;
	int begin_err, save_err, status;
	uint64_t before;
	bool ready;
	bool hold; /* saving takes until the test says so */
	unsigned saves, changes, answers;
};

extern struct fixture web_scene;
/* kept: a document of settings, or NULL. */
bool web_scene_open_with(const json_t *kept, struct journal *j);
bool web_scene_open(const json_t *kept);
void web_scene_close(void);
void web_scene_on_answer(const struct http_resp *resp, void *arg);
/* The request goes out when the loop runs. */
int web_scene_send_as(const char *token, const char *method, const char *path, const char *body,
		      struct http_req **req);
/* The status. */
int web_scene_ask_as(const char *token, const char *method, const char *path, const char *body);
int web_scene_ask(const char *method, const char *path, const char *body);
/* A text of the answer's object. */
const char *web_scene_text_of(const char *name);

#endif
