/* The settings of control: one struct of typed fields, made from one table (settings.def), clamped
 * at load.
 *
 * Pure: where the values come from is the caller's (control/configure/environment.h asks the
 * process environment). Readers use the fields; nobody but this module writes them. They may change
 * between two steps when the settings were read again, and who keeps anything made of them is told
 * then (ROOM_SETTINGS). A struct settings belongs to whoever allocated it and is borrowed by
 * everyone else for as long as they live. */
#ifndef CONTROL_SETTINGS_SETTINGS_H
#define CONTROL_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/settings/provider_record.h"
#include "control/settings/settings.def"

/* A secret's field has a second one beside it: the path of a file that holds it, as a settings file
 * told it. */
enum { SETTINGS_PATH_MAX = 512 };
struct settings {
#define SETTINGS_U_(name, env, ...)	   uint32_t name;
#define SETTINGS_B_(name, env, ...)	   bool name;
#define SETTINGS_E_(name, env, ...)	   uint32_t name;
#define SETTINGS_S_(name, env, bytes, ...) char name[bytes];
#define SETTINGS_I_(name, env, bytes, ...) char name[bytes];
#define SETTINGS_K_(name, env, bytes, ...) char name[bytes], name##_file[SETTINGS_PATH_MAX];
	SETTINGS(SETTINGS_U_, SETTINGS_B_, SETTINGS_E_, SETTINGS_S_, SETTINGS_I_, SETTINGS_K_)
#undef SETTINGS_U_
#undef SETTINGS_B_
#undef SETTINGS_E_
#undef SETTINGS_S_
#undef SETTINGS_I_
#undef SETTINGS_K_
	struct settings_records records;
	/* The stored document is there and cannot be read, or a list of ids holds something else:
	 * nobody knows whom it blocks, which channels it allows and what it lets the bot keep. No
	 * call is joined and no message answered until it can be. */
	bool unread;
};

#define SETTINGS_ONE_(...) +1
enum {
	SETTINGS_COUNT = 0 SETTINGS(SETTINGS_ONE_, SETTINGS_ONE_, SETTINGS_ONE_, SETTINGS_ONE_,
				    SETTINGS_ONE_, SETTINGS_ONE_)
};
#undef SETTINGS_ONE_

/* All defaults. ENOMEM. Caller owns *out. */
int settings_alloc(struct settings **out);
/* Wipes the secrets. NULL accepted. */
struct settings *settings_free(struct settings *s);

/* The value of an environment variable, or NULL when it is not set. Borrowed until the next call.
 */
typedef const char *(settings_lookup_h)(const char *env, void *arg);
/* A value could not be used as given: `used` stands for it now. err: ERANGE, a number was clamped;
 * EINVAL, it is no such value, and the setting stays as it was; EACCES, that of a secret, whose
 * value is never told. */
typedef void(settings_complain_h)(const char *env, const char *given, const char *used, int err,
				  void *arg);

/* Looks up every setting. Numbers outside their range are clamped, words not known and texts too
 * long are left at their default; complainh (may be NULL) hears of each. It also hears of a list of
 * ids with anything else in it, which marks the settings as unread. An empty value counts as not
 * set. */
void settings_load(struct settings *s, settings_lookup_h *lookuph, settings_complain_h *complainh,
		   void *arg);
/* One setting by the name of its field or variable, in text form; records and roles as JSON, and
 * the key of the provider NAME as SETTINGS_KEY_OF NAME. ENOENT unknown, EINVAL not a value, ERANGE
 * clamped. */
#define SETTINGS_KEY_OF		  "key:"
#define SETTINGS_VALUES_OF	  "mcp:"    /* mcp_record.values of the server NAME */
#define SETTINGS_VALUES_OF_WORKER "worker:" /* worker_record.values of the worker NAME */
int settings_set(struct settings *s, const char *name, const char *value);
/* Every setting as the text that settings_set takes; a secret's value as it is. Borrowed during the
 * call. */
typedef void(settings_each_h)(const char *name, const char *value, bool secret, void *arg);
void settings_each(const struct settings *s, settings_each_h *h, void *arg);
/* True of a number, a switch and one of words; a text may hold what a person said, or ask for it.
 */
bool settings_is_choice(const char *name);
/* True of a list of ids, by the name of its field or variable. */
bool settings_is_ids(const char *name);
/* True if there is a setting of this name. */
bool settings_has(const char *name);
enum { SETTINGS_VALUES_TEXT = 192 };
/* What its variable may be, as the rest of "it must be …": "a whole number from 0 to 60 commands",
 * "yes or no", "off, mentions or all". By the name of its field or variable. */
void settings_say_values(const char *name, char *buf, size_t size);
enum { SETTINGS_FAULT_TEXT = 256 };
/* What is wrong with a list of ids, a role or a list of addresses, as the rest of "NAME …": "must
 * be ids of Discord, …, not "general"; …". False: nothing, or it is no such setting. */
bool settings_say_fault(const char *name, const char *text, char *buf, size_t size);
enum settings_when { SETTINGS_NOW, SETTINGS_NEXT, SETTINGS_START, SETTINGS_SENT };
/* When a change of it takes effect: immediately, on the next call, after a restart, or immediately
 * if Discord sends what it needs and else after a restart. */
enum settings_when settings_when(const char *name);
/* The same of a change to `is`, and never SENT. sent: the widest text_chat for which Discord sends
 * the messages now. */
enum settings_when settings_when_of(const char *name, const struct settings *is, uint32_t sent);
/* Each setting that is another in `is` than in `was`, as it is, secrets too. */
void settings_changes(const struct settings *was, const struct settings *is, settings_each_h *h,
		      void *arg);
/* Calls h for every secret that is set, and for the parts of addresses where one may stand: user
 * and password, and the query. */
void settings_secrets(const struct settings *s, void (*h)(const char *value, void *arg), void *arg);

/* The value of a secret by its name in settings_each; NULL: there is none of that name. Borrowed.
 */
const char *settings_secret(const struct settings *s, const char *name);

/* True if a variable of this name is read: a setting's, or with _FILE behind it a secret's. */
bool settings_variable(const char *env);
/* Suggests a name for one that does not exist: the most similar member of a settings file,
 * or with variable of the environment. NULL: none is like it. */
const char *settings_nearest(const char *name, bool variable);

/* Settings that cannot take effect: a role or purpose that names a provider which does not exist, a
 * profile that does not, a join without a channel, a web_listen that is no address. Each is told as
 * a clause that says why. Returns how many faults there were. */
unsigned settings_check(const struct settings *s, record_fault_h *h, void *arg);

/* True if the rules for a guest apply: asked for, or, while that is left to it, when no configured
 * provider serves voice or text. */
bool settings_guest(const struct settings *s);
/* The setting instructions, "" if that is the default, which is about speaking. Borrowed. */
const char *settings_own_instructions(const struct settings *s);
/* Address of the first provider of the role voice, NULL while it is not known (the embedded engine
 * has not started). Borrowed. */
const char *settings_brain_url(const struct settings *s);
/* The same to be shown to people: without user, password and query, where a secret may stand.
 * "none" without one. Always terminated. */
void settings_brain_shown(const struct settings *s, char *buf, size_t size);

/* Worked examples of a settings file: a title and the text. */
enum { SETTINGS_EXAMPLES = 5 };
extern const char *const settings_examples[SETTINGS_EXAMPLES][2];
/* The page docs/settings.md as text; *out is freed by the caller with free(). ENOMEM. */
int settings_doc(char **out);

#endif
