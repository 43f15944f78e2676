/* The settings in effect: what the settings file and the environment say, with the stored document
 * over it, kept in the struct settings that the program reads.
 *
 * A change of the document is made in two steps. It is checked, and its version is handed to
 * conf.saveh; once live_settings_saved reports that this version is durable it takes effect, and
 * who made it is told. A version that could not be saved changes nothing. While one waits, other
 * changes are refused as conflicts.
 *
 * A setting that takes effect after a restart is remembered and not written there. Everything runs
 * on the loop thread, inside steps; a replay comes to the same settings. The struct settings is
 * borrowed and outlives this; so do the handlers' arg. */
#ifndef CONTROL_CONFIGURE_LIVE_SETTINGS_H
#define CONTROL_CONFIGURE_LIVE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/settings/document.h"

struct live_settings;
struct json_t;

/* Of 64 voice sessions, and of 1024 servers with text chat. */
enum { LIVE_SETTINGS_GUILDS = 1088 };

/* A version of the document that is to be saved. Borrowed. */
struct live_settings_version {
	const char *text; /* document_version_text */
	const char *author;
	uint64_t before; /* the version that it replaces; 0: there is none */
};

struct live_settings_conf {
	struct settings
		*settings; /* as read from file and environment; the effective ones afterwards */
	/* {"versions": [...]} as saved, oldest first; "unread": true if nobody could read the
	 * newest one. NULL: there is none. */
	const struct json_t *kept;
	/* The document is somebody else's, and shown: it takes no effect. */
	bool shown;
	/* Begins to save this version; live_settings_saved follows later, never from within. Or an
	 * errno: then nothing follows. */
	int (*saveh)(const struct live_settings_version *version, void *arg);
	/* This one is another now, and when it takes effect; "guilds/ID/hold_ms" is a server's own.
	 * author: of the version of the document that did it; NULL: the settings file. May be NULL.
	 */
	void (*toldh)(const char *name, enum settings_when when, const char *author, void *arg);
	/* The widest text_chat for which Discord sends the messages now. NULL: all. */
	uint32_t (*senth)(void *arg);
	/* Settings changed that take effect immediately or on the next call. */
	void (*changedh)(void *arg);
	void *arg;
};

/* ENOMEM. A stored document that cannot be read is logged and left as it is; until another
 * one is saved, the effective settings are marked as unread. Caller owns *out. */
int live_settings_alloc(struct live_settings **out, const struct live_settings_conf *conf);
struct live_settings *live_settings_free(struct live_settings *l);

/* One setting of the file or environment is another now; live_settings_apply follows. As
 * settings_set. */
int live_settings_base(struct live_settings *l, const char *name, const char *value);
/* Brings the effective settings up to date. */
void live_settings_apply(struct live_settings *l);

/* The outcome of a change: DOCUMENT_SAVED with the outcome of each key, or DOCUMENT_CONFLICT,
 * DOCUMENT_NOT_SAVED. */
struct live_settings_done {
	enum document_result result;
	const struct json_t *outcomes; /* [{key, outcome}]; NULL also without memory */
	const char *why;	       /* of DOCUMENT_NOT_SAVED, a sentence or "" */
};
typedef void(live_settings_done_h)(const struct live_settings_done *done, void *arg);

/* document_put and document_undo. DOCUMENT_SAVED: the version was handed over, and doneh will be
 * called once; otherwise never. DOCUMENT_CONFLICT also while another change waits. No step may run
 * between freeing donearg and freeing this. */
enum document_result live_settings_put(struct live_settings *l, const struct json_t *intent,
				       const struct document_change *change, document_fault_h *h,
				       void *arg, live_settings_done_h *doneh, void *donearg);
enum document_result live_settings_undo(struct live_settings *l,
					const struct document_change *change,
					live_settings_done_h *doneh, void *donearg);
/* The version that saveh got is durable (0), or is not. ESTALE: somebody else saved another one
 * meanwhile, whose text is `present`; it takes effect. Other errors: why is a sentence, or "". */
void live_settings_saved(struct live_settings *l, int err, const char *present, const char *why);
enum document_result live_settings_try(const struct live_settings *l, const struct json_t *intent,
				       document_fault_h *h, void *arg);

/* document_forget_author and document_forget_person, of what is kept here. */
void live_settings_forget_person(struct live_settings *l, const char *author, uint64_t user);
const struct document *live_settings_document(const struct live_settings *l);
/* As they are wanted: also what takes effect after a restart. Borrowed until the next change. */
const struct settings *live_settings_wanted(const struct live_settings *l);
/* The same of one server, into *out. */
void live_settings_wanted_of(const struct live_settings *l, uint64_t guild, struct settings *out);
/* When a change of this setting of a server, which was made, takes effect; never SENT. */
enum settings_when live_settings_when(const struct live_settings *l, uint64_t guild,
				      const char *name);
/* Those of one server, kept up to date in one place until they are released, also when the document
 * gets some for it or has them no more. Of LIVE_SETTINGS_GUILDS servers at a time; everybody's for
 * further ones and without memory. Borrowed. */
const struct settings *live_settings_of(struct live_settings *l, uint64_t guild);
/* Nobody reads those of this server any more: readers are not counted, so whoever asked for them
 * before, and still reads them, must be the one that releases them. */
void live_settings_release(struct live_settings *l, uint64_t guild);
/* True if everybody's settings or those of a server that were asked for need the embedded engine.
 */
bool live_settings_needs_embedded(const struct live_settings *l);
/* The embedded engine listens there. */
void live_settings_embedded_at(struct live_settings *l, const char *url);

#endif
