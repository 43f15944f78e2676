/* The settings in effect: what the settings file and the environment say, with the stored document
 * over it, kept in the struct settings that the program reads.
 *
 * A change that takes effect after a restart is remembered and not written there. Everything runs
 * on the loop thread, inside steps; a replay comes to the same settings. The struct settings is
 * borrowed and outlives this; so do the handlers' arg. */
#ifndef CONTROL_CONFIGURE_LIVE_SETTINGS_H
#define CONTROL_CONFIGURE_LIVE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/settings/document.h"

struct live_settings;
struct json_t;

enum { LIVE_SETTINGS_GUILDS = 64 };

struct live_settings_conf {
	struct settings
		*settings; /* as read from file and environment; the effective ones afterwards */
	const struct json_t *kept; /* the document as it was saved, or NULL */
	/* Saves the document's text; 0 or an errno: then the change is not made. NULL: nothing is
	 * kept. */
	int (*saveh)(const struct json_t *document, void *arg);
	/* This one is another now, and when it takes effect. May be NULL. */
	void (*toldh)(const char *name, enum settings_when when, void *arg);
	/* Settings changed that take effect immediately or on the next call. */
	void (*changedh)(void *arg);
	void *arg;
};

/* ENOMEM. A kept document that cannot be read is told in the log and left as it is. Caller owns
 * *out. */
int live_settings_alloc(struct live_settings **out, const struct live_settings_conf *conf);
struct live_settings *live_settings_free(struct live_settings *l);

/* One setting of the file or environment is another now; live_settings_apply follows. As
 * settings_set. */
int live_settings_base(struct live_settings *l, const char *name, const char *value);
/* Brings the effective settings up to date. *outcomes, when given, is what became of each key:
 * [{key, outcome}], owned by the caller; NULL without memory. */
void live_settings_apply(struct live_settings *l, struct json_t **outcomes);

/* document_put and document_undo, saved and applied. EIO-like failures to save are in *err. */
enum document_result live_settings_put(struct live_settings *l, const struct json_t *intent,
				       const struct document_change *change, document_fault_h *h,
				       void *arg, struct json_t **outcomes);
enum document_result live_settings_undo(struct live_settings *l,
					const struct document_change *change,
					struct json_t **outcomes);
enum document_result live_settings_try(const struct live_settings *l, const struct json_t *intent,
				       document_fault_h *h, void *arg);

const struct document *live_settings_document(const struct live_settings *l);
/* As they are wanted: also what takes effect after a restart. Borrowed until the next change. */
const struct settings *live_settings_wanted(const struct live_settings *l);
/* Those of one server, kept up to date in one place until they are released, also when the document
 * gets some for it or has them no more. Of LIVE_SETTINGS_GUILDS servers at a time; everybody's for
 * further ones and without memory. Borrowed. */
const struct settings *live_settings_of(struct live_settings *l, uint64_t guild);
/* Nobody reads those of this server any more. */
void live_settings_release(struct live_settings *l, uint64_t guild);
/* The embedded engine listens there. */
void live_settings_embedded_at(struct live_settings *l, const char *url);

#endif
