/* The stored document: settings that people change while the program runs, with versions, authors
 * and an undo.
 *
 * An intent is a JSON object with the members of a settings file (file.h), and with `preset`
 * (presets.def) and `guilds`, an object of such intents by guild id. Effective settings are:
 * defaults, settings file, environment, preset, intent, the guild's preset and intent, in this
 * order. What names a file, a program or the address that a short setting's key goes to belongs in
 * the settings file alone, as do secrets: whoever may change settings must not read files by them.
 *
 * Changes are compare-and-set: whoever changes the document names the version that they saw.
 *
 * Pure: time and author are the caller's, and the caller saves each version (document_version_text)
 * wherever it likes. */
#ifndef CONTROL_SETTINGS_DOCUMENT_H
#define CONTROL_SETTINGS_DOCUMENT_H

#include <stddef.h>
#include <stdint.h>

#include "control/settings/settings.h"

struct document;
struct json_t;

enum {
	DOCUMENT_INTENT_MAX = 1 << 17, /* bytes as compact JSON */
	DOCUMENT_MAX = 1 << 20,	       /* bytes with its history */
	DOCUMENT_HISTORY_MAX = 32,     /* versions before the current one */
	DOCUMENT_GUILDS_MAX = 256,
	DOCUMENT_MEMBERS_MAX =
		256, /* of an intent, and of a guild's: more than there are settings */
	DOCUMENT_TIME_MAX = 32,
	DOCUMENT_AUTHOR_MAX = 64,
};

/* X(NAME, name, status, sentence): what became of a change; the HTTP status that says so. */
#define DOCUMENT_RESULTS(X)                                                                        \
	X(SAVED, saved, 200, "The settings were saved.")                                           \
	X(VERSION_REQUIRED, settings_version_required, 409,                                        \
	  "Name the version that you changed, as _meta.version or _meta.expectedUpdatedAt.")       \
	X(CONFLICT, settings_conflict, 409,                                                        \
	  "The settings were changed meanwhile. Look at them again.")                              \
	X(INVALID, settings_invalid, 422, "The settings cannot be used as they are.")              \
	X(NOTHING_TO_UNDO, settings_nothing_to_undo, 409, "There is no earlier version.")          \
	X(NOT_SAVED, settings_not_saved, 503,                                                      \
	  "The settings could not be saved, and were not changed.")                                \
	X(NO_MEMORY, settings_no_memory, 503, "There is no memory for that now.")
enum document_result {
#define DOCUMENT_RESULT_(NAME, name, status, text) DOCUMENT_##NAME,
	DOCUMENT_RESULTS(DOCUMENT_RESULT_)
#undef DOCUMENT_RESULT_
};
const char *document_result_name(enum document_result r);
const char *document_result_text(enum document_result r);
int document_result_status(enum document_result r);

/* Author, version and time of a change. */
struct document_change {
	uint64_t version; /* 0: not named */
	const char
		*updated_at; /* NULL: not named; one of both must be, and what is named must hold */
	const char *author, *now; /* now: ISO 8601, UTC */
};
/* One fault of an intent: the member ("silence_ms", or "guilds/123/silence_ms") and why. */
typedef void(document_fault_h)(const char *member, const char *text, void *arg);

/* Version 0 without an intent. ENOMEM. Caller owns *out. */
int document_alloc(struct document **out);
struct document *document_free(struct document *d);
/* Another with the same versions, for a change that may not come about. ENOMEM. Caller owns *out.
 */
int document_copy(struct document **out, const struct document *d);
/* The text that document_text gave. EBADMSG: it is none, and the document stays as it was;
 * EMSGSIZE; ENOMEM. */
int document_parse(struct document *d, const char *text, size_t len);
/* All of it: {"versions": [...]}, oldest first; freed by the caller with free(). NULL without
 * memory. */
char *document_text(const struct document *d);
/* The current version alone, an element of that array. Freed by the caller; NULL without memory. */
char *document_version_text(const struct document *d);

uint64_t document_version(const struct document *d);
/* "" before the first change. Borrowed. */
const char *document_updated_at(const struct document *d);
/* Author of the current version. Borrowed until the next change. */
const char *document_author(const struct document *d);
/* Versions by this author are by "erased" from now on. */
void document_forget_author(struct document *d, const char *author);
/* Takes their id out of all versions but the current one, whose refusals and orders stand. */
void document_forget_person(struct document *d, uint64_t user);
/* The intent, an object. Borrowed until the next change. */
const struct json_t *document_intent(const struct document *d);
/* [{version, updatedAt, author}], newest first, the current one included. Caller owns it; NULL
 * without memory. */
struct json_t *document_history(const struct document *d);
/* [{key, before, after}] of what is another in version `to` than in `from` (0 in both: the last
 * change). NULL: one of them is not kept, or no memory. Caller owns it. */
struct json_t *document_diff(const struct document *d, uint64_t from, uint64_t to);

/* Replaces the intent. base: the settings without the document. Unless DOCUMENT_SAVED nothing has
 * changed. */
enum document_result document_put(struct document *d, const struct settings *base,
				  const struct json_t *intent, const struct document_change *change,
				  document_fault_h *h, void *arg);
/* The result of document_put, without a change. */
enum document_result document_try(const struct document *d, const struct settings *base,
				  const struct json_t *intent, document_fault_h *h, void *arg);
/* Makes the version before the current one the newest. */
enum document_result document_undo(struct document *d, const struct settings *base,
				   const struct document_change *change);

/* Writes base with the document over it to out (which may not be base): for one guild, or 0 for
 * none. Members that cannot be used (any more) are left out and told. Returns the number of faults.
 */
unsigned document_effective(const struct document *d, const struct settings *base, uint64_t guild,
			    struct settings *out, document_fault_h *h, void *arg);
/* The same of a guild, from the effective settings of none, which may be out: costs the guild's own
 * part alone. Tells the faults of that part. */
unsigned document_of_guild(const struct document *d, const struct settings *base,
			   const struct settings *common, uint64_t guild, struct settings *out,
			   document_fault_h *h, void *arg);

#endif
