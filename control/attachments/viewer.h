/* Looks at the files that people attach, for the models of one room or server: fetches them
 * (fetch.h), has images decoded and scaled in a jail (control/vision/image_jail.h), and, for a
 * model that takes none, described by the role see (captions.h).
 *
 * Bytes are in memory alone, for as long as somebody waits for them. Everything runs on env's loop
 * thread. */
#ifndef CONTROL_ATTACHMENTS_VIEWER_H
#define CONTROL_ATTACHMENTS_VIEWER_H

#include "control/attachments/seen.h"
#include "control/engine/core/ask.h"
#include "control/text/attached.h"

struct captions;
struct env;
struct fetcher;
struct http;
struct image_jail;
struct roles_event;
struct settings;
struct view;
struct viewer;
struct ws_ctx;

enum {
	VIEWER_AT_ONCE = 16,
	VIEWER_IMAGE_BYTES = 8 << 20, /* of a file */
	VIEWER_TEXT_BYTES = 16 << 10, /* of a text file that a model gets */
	VIEWER_SIDE = 1280,	      /* pixels: the longer side of what models are shown */
	VIEWER_QUALITY = 60,
	VIEWER_SEE_MS = 15000, /* for a description */
	VIEWER_SEE_TOKENS = 400,
	VIEWER_QUESTION = 220, /* bytes */
};

/* What the viewers of one control share. Borrowed. */
struct viewer_shared {
	struct fetcher *fetcher;
	struct captions *captions;
	struct image_jail *jail;
};

struct viewer_conf {
	struct env *env;
	struct ws_ctx *ws;
	struct http *http; /* to providers */
	struct viewer_shared shared;
	const struct settings *settings; /* of the server, in one place */
	uint64_t guild;
	/* A description cost this. */
	void (*spendh)(const struct roles_event *ev, void *arg);
	/* False: the budget is spent, and nothing is described. */
	bool (*mayh)(void *arg);
	void *arg;
};

/* What is to be looked at. Texts are copied. */
struct view_wish {
	const struct attached *file; /* an image or a text; NULL: the image at the url */
	const char *url;	     /* of the public web */
	bool images;		     /* for a model that takes images: it is not described */
	bool counted;		     /* such an image is one of captions_per_hour all the same */
	const char *question;	     /* for the description; "": none */
	uint64_t message, user;	     /* with which it came, and who showed it; not 0 */
};

struct view_result {
	enum seen_kind kind;	   /* IMAGE, DESCRIBED, FILE or NOT */
	struct engine_image image; /* of IMAGE; borrowed until return */
	const char *text;	   /* of the others; borrowed until return */
	bool cut;
};
typedef void(view_h)(const struct view_result *got, void *arg);

/* ENOMEM. Caller owns *out. */
int viewer_alloc(struct viewer **out, const struct viewer_conf *conf);
/* Ends what is under way without calling a handler. Not inside a handler. */
struct viewer *viewer_free(struct viewer *v);
/* The settings changed. */
void viewer_settings(struct viewer *v);

/* The handler is called once, perhaps from inside: *out is NULL then. ENOMEM, EBUSY: it is not
 * called. */
int viewer_look(struct view **out, struct viewer *v, const struct view_wish *wish, view_h *h,
		void *arg);
/* No handler is called afterwards. NULL accepted. */
void viewer_cancel(struct view *view);
/* Ends what is looked at of this message, or (message 0) of this user: it was taken back. Handlers
 * are called. NULL accepted. */
void viewer_drop(struct viewer *v, uint64_t message, uint64_t user);

#endif
