#include "control/settings/provider_record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/settings/inside.h"
#include "control/settings/profile.h"
#include "control/settings/settings.h"

static const char *const role_names[] = {
#define ROLE_(NAME, name, text) #name,
	SETTINGS_ROLES(ROLE_)
#undef ROLE_
};

static const struct {
	const char *name;
	enum role fallback;
} purposes[] = {
#define PURPOSE_(NAME, name, fallback, text) {#name, ROLE_##fallback},
	SETTINGS_PURPOSES(PURPOSE_)
#undef PURPOSE_
};

static const struct {
	const char *name, *url, *roles;
} dialects[] = {
#define DIALECT_(NAME, name, url, roles, text) {#name, url, roles},
	SETTINGS_DIALECTS(DIALECT_)
#undef DIALECT_
};

const char *role_name(enum role role)
{
	return role_names[role];
}

const char *purpose_name(enum purpose purpose)
{
	return purposes[purpose].name;
}

const char *dialect_name(enum dialect dialect)
{
	return dialects[dialect].name;
}

bool dialect_serves(enum dialect dialect, enum role role)
{
	const char *name = role_names[role];

	return settings_word(dialects[dialect].roles, name, strlen(name)) >= 0;
}

bool settings_key_serves(enum role role)
{
	/* A key alone sends no memory anywhere: embeddings want a record. */
	return role != ROLE_EMBED && dialect_serves(DIALECT_OPENAI, role);
}

enum role purpose_role(enum purpose purpose)
{
	return purposes[purpose].fallback;
}

/* ---- asking ---- */

static const struct provider_record *in_order(const struct settings *s,
					      const struct provider_order *o, unsigned i)
{
	return i < o->n ? &s->records.known[o->at[i]] : NULL;
}

const struct provider_record *settings_role(const struct settings *s, enum role role, unsigned i)
{
	return in_order(s, &s->records.role_order[role], i);
}

const struct provider_record *settings_purpose(const struct settings *s, enum purpose purpose,
					       unsigned i)
{
	return in_order(s, &s->records.purpose_order[purpose], i);
}

static int find(const struct settings_records *r, const char *name)
{
	for (unsigned i = 0; i < r->n_known; i++)
		if (strcmp(r->known[i].name, name) == 0)
			return (int)i;
	return -1;
}

const struct provider_record *settings_provider_named(const struct settings *s, const char *name)
{
	int i = find(&s->records, name);

	return i < 0 ? NULL : &s->records.known[i];
}

/* The defaults of the roles are names of OpenAI's; services that nobody else offers have their own,
 * which their dialects know. */
static bool has_own_names(enum dialect dialect)
{
	return dialect == DIALECT_XAI || dialect == DIALECT_ELEVENLABS ||
	       dialect == DIALECT_GEMINI || dialect == DIALECT_VLLM || dialect == DIALECT_XAI_STT;
}

/* value: a text of the settings. */
static bool is_default(const struct settings *s, const char *value)
{
	for (size_t i = 0; i < settings_n_rows; i++)
		if ((const char *)s + settings_rows[i].offset == value)
			return strcmp(value, settings_rows[i].text_def) == 0;
	return false;
}

/* The default is a model that Anthropic does not have. A model that was set holds for its
 * providers, too. */
static const char *written_by(const struct settings *s, const struct provider_record *p,
			      const char *model)
{
	return p->dialect == DIALECT_ANTHROPIC && is_default(s, model) ? SETTINGS_ANTHROPIC_MODEL
								       : model;
}

const char *settings_model(const struct settings *s, enum role role,
			   const struct provider_record *p)
{
	if (*p->model)
		return p->model;
	if (has_own_names((enum dialect)p->dialect))
		return "";
	switch (role) {
	case ROLE_VOICE:
		return s->brain_model;
	case ROLE_TEXT:
	case ROLE_SEE:
		return written_by(s, p, s->text_model);
	case ROLE_SPEECH:
		return s->speech_model;
	case ROLE_TRANSCRIBE:
		return s->asr_model;
	case ROLE_CLASSIFY:
		return written_by(s, p, s->classify_model);
	default:
		return "";
	}
}

const char *settings_voice(const struct settings *s, enum role role,
			   const struct provider_record *p)
{
	if (*p->voice)
		return p->voice;
	if (has_own_names((enum dialect)p->dialect))
		return "";
	return role == ROLE_VOICE ? s->brain_voice : role == ROLE_SPEECH ? s->speech_voice : "";
}

/* ---- addresses ---- */

/* The parts of an address: where the host begins, the bytes up to /realtime or the end, and the
 * query. */
struct parts {
	const char *host, *query;
	size_t n;
	bool tls;
};

static int split(const char *url, struct parts *out)
{
	static const char realtime[] = "/realtime";
	static const struct {
		const char *scheme;
		bool tls;
	} schemes[] = {{"wss://", true}, {"ws://", false}, {"https://", true}, {"http://", false}};

	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
		size_t k = strlen(schemes[i].scheme), n;

		if (strncmp(url, schemes[i].scheme, k) != 0)
			continue;
		url += k;
		n = strcspn(url, "?#");
		out->query = url[n] == '?' ? url + n : "";
		while (n && url[n - 1] == '/')
			n--;
		k = sizeof realtime - 1;
		if (n > k && memcmp(url + n - k, realtime, k) == 0)
			n -= k;
		if (!n || *url == '/')
			return EINVAL;
		out->host = url;
		out->n = n;
		out->tls = schemes[i].tls;
		return 0;
	}
	return EINVAL;
}

static int address(const struct provider_record *p, struct parts *out)
{
	return *p->url ? split(p->url, out) : ENOENT;
}

int provider_http_url(const struct provider_record *p, char *out, size_t size)
{
	char text[PROVIDER_URL_MAX];
	struct parts a;
	int err = address(p, &a), n;

	if (err)
		return err;
	n = snprintf(text, sizeof text, "%s%.*s", a.tls ? "https://" : "http://", (int)a.n, a.host);
	if ((size_t)n >= sizeof text || (size_t)n >= size)
		return EINVAL;
	memcpy(out, text, (size_t)n + 1);
	return 0;
}

int provider_socket_url(const struct provider_record *p, char *out, size_t size)
{
	bool socket = strncmp(p->url, "ws", 2) == 0;
	char text[PROVIDER_URL_MAX];
	struct parts a;
	int err = address(p, &a), n;

	if (err)
		return err;
	/* A WebSocket's address is dialled as it was given. */
	if (socket)
		n = snprintf(text, sizeof text, "%s", p->url);
	else
		n = snprintf(text, sizeof text, "%s%.*s/realtime%s", a.tls ? "wss://" : "ws://",
			     (int)a.n, a.host, a.query);
	if ((size_t)n >= sizeof text || (size_t)n >= size)
		return EINVAL;
	memcpy(out, text, (size_t)n + 1);
	return 0;
}

void provider_show_url(const char *url, char *out, size_t size)
{
	const char *sep = strstr(url, "://"), *at;
	const char *host = sep ? sep + 3 : url;
	int scheme = (int)(host - url);

	for (size_t n = strcspn(host, "/?#"); (at = memchr(host, '@', n)); host = at + 1)
		n -= (size_t)(at + 1 - host);
	snprintf(out, size, "%.*s%.*s", scheme, url, (int)strcspn(host, "?#"), host);
}

void provider_shown(const struct provider_record *p, char *out, size_t size)
{
	if (*p->url)
		provider_show_url(p->url, out, size);
	else
		snprintf(out, size, "%s", p->name);
}

bool provider_same_address(const struct provider_record *a, const struct provider_record *b)
{
	const char *own = dialects[a->dialect].url;

	return strcmp(a->url, b->url) == 0 &&
	       (*a->url || a->dialect == b->dialect ||
		(*own && strcmp(own, dialects[b->dialect].url) == 0));
}

bool provider_needs_key(const struct provider_record *p)
{
	const char *own = dialects[p->dialect].url;

	return *own && strncmp(p->url, own, strlen(own)) == 0;
}

/* ---- resolving ---- */

/* False: a provider of that name was configured, and counts. */
static bool imply(struct settings *s, const char *name, enum dialect dialect, const char *url,
		  const char *key)
{
	struct settings_records *r = &s->records;
	struct provider_record *p = &r->known[r->n_known];

	if (find(r, name) >= 0)
		return false;
	memset(p, 0, sizeof *p);
	snprintf(p->name, sizeof p->name, "%s", name);
	snprintf(p->url, sizeof p->url, "%s", url);
	snprintf(p->key, sizeof p->key, "%s", key);
	p->dialect = dialect;
	r->n_known++;
	return true;
}

/* A key goes to the address that it was given for, and nowhere else. */
static void fill(const struct settings *s, struct provider_record *p)
{
	if (!*p->url && p->dialect == DIALECT_EMBEDDED)
		snprintf(p->url, sizeof p->url, "%s", s->records.embedded_url);
	if (*p->url)
		return;
	snprintf(p->url, sizeof p->url, "%s", dialects[p->dialect].url);
	/* The dialects of one service share its key. */
	if (strcmp(p->url, dialects[DIALECT_OPENAI].url) == 0 && !*p->key && !*p->key_file)
		snprintf(p->key, sizeof p->key, "%s", s->openai_api_key);
}

static void imply_all(struct settings *s)
{
	imply(s, "embedded", DIALECT_EMBEDDED, s->records.embedded_url, "");
	if (*s->brain_url)
		imply(s, "brain", DIALECT_OPENAI, s->brain_url, s->openai_api_key);
	else if (*s->openai_api_key)
		imply(s, "openai", DIALECT_OPENAI, dialects[DIALECT_OPENAI].url, s->openai_api_key);
	if (*s->asr_url)
		imply(s, "asr", DIALECT_OPENAI, s->asr_url, s->asr_key);
	if (*s->text_url)
		imply(s, "text", DIALECT_OPENAI, s->text_url, s->text_key);
	if (*s->speech_url)
		imply(s, "speech", DIALECT_OPENAI, s->speech_url, s->speech_key);
}

static void append(const struct settings_records *r, struct provider_order *o, const char *name)
{
	int i = find(r, name);

	/* A name that is not known, or that cannot serve, is a fault, which settings_check tells.
	 */
	if (i >= 0 && o->n < ROLE_PROVIDERS_MAX)
		o->at[o->n++] = (uint8_t)i;
}

static void order(const struct settings_records *r, const struct provider_names *names,
		  struct provider_order *out)
{
	out->n = 0;
	for (unsigned i = 0; i < names->n; i++)
		append(r, out, names->name[i]);
}

/* A role that was left open: the short settings decide. */
static void order_implied(const struct settings *s, enum role role, struct provider_order *out)
{
	const struct settings_records *r = &s->records;
	const char *own =
		role == ROLE_TEXT     ? *s->text_url ? "text" : NULL
		: role == ROLE_SPEECH ? *s->speech_url ? "speech" : NULL
		: role == ROLE_TRANSCRIBE && s->asr_sessions == SETTINGS_ASR_FILE && *s->asr_url
			? "asr"
			: NULL;

	if (role == ROLE_CLASSIFY || role == ROLE_SEE) {
		*out = r->role_order[ROLE_TEXT];
		return;
	}
	if (role == ROLE_EMBED)
		return;
	append(r, out,
	       own		    ? own
	       : *s->brain_url	    ? "brain"
	       : *s->openai_api_key ? "openai"
				    : "embedded");
}

/* An invalid address stays as it is, so that the program that dials it reports it. */
static void resolve_voice_url(struct settings *s)
{
	const struct provider_record *p = settings_role(s, ROLE_VOICE, 0);
	char *url = s->records.voice_url;
	size_t size = sizeof s->records.voice_url;

	if (!p)
		*url = '\0';
	else if (provider_socket_url(p, url, size))
		snprintf(url, size, "%s", p->url);
}

void settings_resolve(struct settings *s)
{
	struct settings_records *r = &s->records;

	r->n_known = r->n[RECORD_KIND_PROVIDER];
	memcpy(r->known, r->provider, r->n_known * sizeof r->known[0]);
	imply_all(s);
	for (unsigned i = 0; i < r->n_known; i++)
		fill(s, &r->known[i]);
	for (unsigned i = 0; i < ROLE_COUNT; i++) {
		order(r, &r->role[i], &r->role_order[i]);
		if (!r->role[i].n)
			order_implied(s, (enum role)i, &r->role_order[i]);
	}
	resolve_voice_url(s);
	for (unsigned i = 0; i < PURPOSE_COUNT; i++) {
		order(r, &r->purpose[i], &r->purpose_order[i]);
		if (!r->purpose[i].n)
			r->purpose_order[i] = r->role_order[purposes[i].fallback];
	}
	if (!r->purpose[PURPOSE_FOLLOWUP].n)
		r->purpose_order[PURPOSE_FOLLOWUP] = r->purpose_order[PURPOSE_VOICE_REPLY];
}

static bool has_embedded(const struct settings *s, enum role role)
{
	const struct provider_order *o = &s->records.role_order[role];

	for (unsigned i = 0; i < o->n; i++)
		if (strcmp(s->records.known[o->at[i]].name, "embedded") == 0 &&
		    s->records.known[o->at[i]].dialect == DIALECT_EMBEDDED)
			return true;
	return false;
}

bool settings_reads_out(const struct settings *s)
{
	return s->reply_path == SETTINGS_REPLY_BRAIN || s->answer_audio == SETTINGS_ANSWER_SPEECH;
}

bool settings_classifies_turns(const struct settings *s)
{
	return s->admission == SETTINGS_ADMISSION_CLASSIFIER ||
	       (s->admission == SETTINGS_ADMISSION_FOCUS && s->volition != SETTINGS_VOLITION_OFF);
}

bool settings_uses(const struct settings *s, enum role role)
{
	bool written = s->reply_path == SETTINGS_REPLY_BRAIN;

	switch (role) {
	case ROLE_VOICE:
		return !written;
	case ROLE_TEXT:
		return written || s->text_chat != SETTINGS_TEXT_OFF;
	case ROLE_SPEECH:
		return settings_reads_out(s);
	case ROLE_CLASSIFY:
		return settings_classifies_turns(s) || s->classify_interruptions;
	case ROLE_SEE:
		/* Left open, it is no reason to start or to check anything. */
		return s->records.role[ROLE_SEE].n > 0;
	default:
		return settings_role(s, role, 0) != NULL;
	}
}

bool settings_needs_embedded(const struct settings *s)
{
	/* Without Discord nobody asks. */
	if (settings_gateway(s) == SETTINGS_GATEWAY_NONE)
		return false;
	for (unsigned r = 0; r < ROLE_COUNT; r++)
		if (settings_uses(s, (enum role)r) && has_embedded(s, (enum role)r))
			return true;
	return false;
}

bool settings_ready(const struct settings *s)
{
	return !settings_needs_embedded(s) || *s->records.embedded_url;
}

void settings_embedded_at(struct settings *s, const char *url)
{
	snprintf(s->records.embedded_url, sizeof s->records.embedded_url, "%s", url);
	settings_resolve(s);
}

bool provider_takes_short_key(const struct provider_record *p)
{
	return strcmp(p->name, "brain") == 0 || strcmp(p->url, dialects[DIALECT_OPENAI].url) == 0;
}

const char *settings_key_file(const struct settings *s)
{
	return s->openai_api_key_file;
}
