/* Routing to providers: roles and purposes as ordered lists of providers.
 *
 * A provider is a record of the settings file, or implied by the short settings: `openai` by
 * OPENAI_API_KEY, `brain` by brain_url, `asr`, `text` and `speech` by asr_url, text_url and
 * speech_url; `embedded` is always there. A role that the settings leave open is served by the
 * implied providers: with a key alone by `openai`, with nothing by `embedded`.
 *
 * Pure. Records are borrowed from the settings, and may change between two steps (settings.h): ask
 * again instead of keeping one. A record that is returned here has its url and key filled in. */
#ifndef CONTROL_SETTINGS_PROVIDER_RECORD_H
#define CONTROL_SETTINGS_PROVIDER_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "control/settings/record.h"

struct settings;

enum role {
#define ROLE_(NAME, name, text) ROLE_##NAME,
	SETTINGS_ROLES(ROLE_)
#undef ROLE_
		ROLE_COUNT
};
enum purpose {
#define PURPOSE_(NAME, name, fallback, text) PURPOSE_##NAME,
	SETTINGS_PURPOSES(PURPOSE_)
#undef PURPOSE_
		PURPOSE_COUNT
};

enum { PROVIDERS_MAX = 16, PROVIDERS_IMPLIED = 5, ROLE_PROVIDERS_MAX = 8, PROVIDER_URL_MAX = 512 };

/* Names as they were configured; none: the role or purpose is left open. */
struct provider_names {
	char name[ROLE_PROVIDERS_MAX][RECORD_NAME_MAX];
	unsigned n;
};
/* Indices of providers, resolved. */
struct provider_order {
	uint8_t at[ROLE_PROVIDERS_MAX];
	unsigned n;
};

/* The part of struct settings that holds records; written by control/settings alone. */
struct settings_records {
	struct provider_record provider[PROVIDERS_MAX];
	struct mcp_record mcp[16];
	struct worker_record worker[4];
	struct price_record price[64];
	struct profile_record profile[8];
	unsigned n[RECORD_KINDS];
	/* Names of providers that were left out for a fault, which was told then. */
	struct {
		char name[PROVIDERS_MAX][RECORD_NAME_MAX];
		unsigned n;
	} faulty;
	struct provider_names role[ROLE_COUNT], purpose[PURPOSE_COUNT];
	char embedded_url[PROVIDER_URL_MAX];
	/* Computed of the above and of the short settings. */
	struct provider_record known[PROVIDERS_MAX + PROVIDERS_IMPLIED];
	unsigned n_known;
	struct provider_order role_order[ROLE_COUNT], purpose_order[PURPOSE_COUNT];
	char voice_url[PROVIDER_URL_MAX]; /* the WebSocket of the first provider of voice */
};

const char *role_name(enum role role);
const char *purpose_name(enum purpose purpose);
const char *dialect_name(enum dialect dialect);
bool dialect_serves(enum dialect dialect, enum role role);

/* The i-th provider of a role, first choice first; NULL past the last. Classify and see
 * left open are text's. */
const struct provider_record *settings_role(const struct settings *s, enum role role, unsigned i);
/* The same of a purpose: its own providers, else those of the role that it falls back to. */
const struct provider_record *settings_purpose(const struct settings *s, enum purpose purpose,
					       unsigned i);
/* The role whose defaults hold for a purpose. */
enum role purpose_role(enum purpose purpose);
/* A configured or implied provider, or NULL. */
const struct provider_record *settings_provider_named(const struct settings *s, const char *name);
/* The provider's own model, else the role's default. "" when neither is known. */
const char *settings_model(const struct settings *s, enum role role,
			   const struct provider_record *p);
/* The same of the voice. "" means the server's own. */
const char *settings_voice(const struct settings *s, enum role role,
			   const struct provider_record *p);

/* Addresses of the provider: its HTTP side (http://host/v1, without a slash behind it) and the
 * WebSocket of its realtime sessions (ws://host/v1/realtime, with the query that the record's url
 * has). EINVAL: the url is no address; ENOENT: it is not known yet (the embedded engine has not
 * started). Written on success only. */
int provider_http_url(const struct provider_record *p, char *out, size_t size);
int provider_socket_url(const struct provider_record *p, char *out, size_t size);
/* True if what goes to one goes to the other, too: without a url the dialect says where. */
bool provider_same_address(const struct provider_record *a, const struct provider_record *b);
/* True if it is the dialect's own service, which takes nobody without a key. */
bool provider_needs_key(const struct provider_record *p);
/* An address for people: without user, password and query. Always terminated. */
void provider_show_url(const char *url, char *out, size_t size);
/* The same of a provider; its name when it has none. */
void provider_shown(const struct provider_record *p, char *out, size_t size);

/* The variable of the key that a provider without an address of its own takes, and the file that
 * the settings name for it. */
#define SETTINGS_KEY_NAME "OPENAI_API_KEY"
/* True if the provider takes that key when its record names none. */
bool provider_takes_short_key(const struct provider_record *p);
/* True if the provider that this key alone implies can serve the role. */
bool settings_key_serves(enum role role);
const char *settings_key_file(const struct settings *s);

/* True if a role that these settings use is served by the embedded engine, which must run then. */
bool settings_needs_embedded(const struct settings *s);
/* True if answers are written and read out by the role speech, whoever writes them. */
bool settings_reads_out(const struct settings *s);
/* True if these settings ask anybody to serve this role. */
bool settings_uses(const struct settings *s, enum role role);
/* True if admission asks a classifier about turns. */
bool settings_classifies_turns(const struct settings *s);
/* True if what these settings use is there to be asked: no role waits for the embedded engine to
 * start. */
bool settings_ready(const struct settings *s);
/* Where the embedded engine listens; "" when it does not run. */
void settings_embedded_at(struct settings *s, const char *url);

/* Computes what settings_role and settings_purpose answer. Everything in control/settings that
 * writes settings calls it. */
void settings_resolve(struct settings *s);

#endif
