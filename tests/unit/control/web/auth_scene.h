/* A browser that signs in, and what it asks for. */
#ifndef TESTS_UNIT_CONTROL_WEB_AUTH_SCENE_H
#define TESTS_UNIT_CONTROL_WEB_AUTH_SCENE_H

#include "control/events/events.h"
#include "control/web/roles.h"
#include "ipc/http.h"
#include "tests/unit/control/web/web_idle.h"
#include "tests/unit/ipc/loop.h"

struct fixture {
	struct loop l;
	struct settings *settings;
	struct live_settings *live;
	struct bus *bus;
	struct web *web;
	struct http *http;
	json_t *got;
	int status;
	char cookie[160], attributes[160], policy[512], type[64], retry[16];
	char coding[16], tag[48]; /* of files of the page */
	size_t n;		  /* bytes of the body */
	uint8_t magic[2];	  /* its first */
	char actions[1024];
	unsigned described; /* how often the rooms were */
	bool closed;	    /* the room's channel, to some members */
};

extern struct fixture auth_scene;
/* kept: sessions of a server before, or NULL. */
bool auth_scene_open(const json_t *kept);
void auth_scene_close(void);
/* Up to four header lines, NULL for none. The status. */
int auth_scene_ask(const char *method, const char *path, const char *const lines[4]);
/* Headers of the signed-in browser. */
const char *auth_scene_cookie_line(void);
const char *auth_scene_origin_line(void);
int auth_scene_get(const char *path);
/* By these credentials; the status. */
int auth_scene_sign_in(const char *credentials);
/* By a code for this role. */
int auth_scene_sign_in_as(enum web_role role, uint8_t nonce);
/* A text of the answer's object; "" if it is missing. */
const char *auth_scene_text_of(const char *name);

#endif
