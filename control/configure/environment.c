#include "control/configure/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "control/settings/file.h"
#include "control/settings/profile.h"
#include "control/settings/settings.h"
#include "ipc/log.h"
#include "proto/base/utf8.h"

enum { SECRET_MAX = 4096 + 1 };

/* Strips blanks around a secret, which come from pasting. A secret goes into a header line, so any
 * other character that is not allowed there makes it invalid. least: the first character that may
 * stand inside. */
static int strip_blanks(const char *value, char least, char *buf, size_t size)
{
	size_t n;

	value += strspn(value, " \t\r\n");
	n = strcspn(value, "\r\n");
	while (n && (value[n - 1] == ' ' || value[n - 1] == '\t'))
		n--;
	if (n == 0)
		return ENODATA;
	if (n >= size)
		return EMSGSIZE;
	for (size_t i = 0; i < n; i++)
		if (value[i] < least || value[i] >= 0x7f || value[i] == '"' || value[i] == '\\')
			return EINVAL;
	memcpy(buf, value, n);
	buf[n] = '\0';
	return 0;
}

static int strip_secret(const char *value, char *buf, size_t size)
{
	return strip_blanks(value, 0x21, buf, size);
}

static int read_secret(const char *path, char least, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	char line[SECRET_MAX + 2]; /* so that a longer one is noticed */
	int err;

	if (!f)
		return errno;
	errno = EIO;
	if (!fgets(line, sizeof line, f))
		line[0] = '\0';
	err = ferror(f) ? errno : strip_blanks(line, least, buf, size);
	fclose(f);
	explicit_bzero(line, sizeof line);
	return err;
}

static int secret_from_file(const char *path, char *buf, size_t size)
{
	return read_secret(path, 0x21, buf, size);
}

/* The file that NAME_FILE names, NULL for none. */
static const char *find_secret_file(const char *name)
{
	char variable[128];
	const char *path;

	snprintf(variable, sizeof variable, "%s_FILE", name);
	path = getenv(variable);
	return path && *path ? path : NULL;
}

int environment_secret(const char *name, const char *config, char *buf, size_t size)
{
	const char *value = getenv(name), *path = find_secret_file(name);

	buf[0] = '\0';
	if (value && *value)
		return strip_secret(value, buf, size);
	if (!path)
		path = *config ? config : NULL;
	return path ? secret_from_file(path, buf, size) : ENOENT;
}

static const char *describe_error(int err)
{
	return err == ENODATA	 ? "there is nothing in it"
	       : err == EMSGSIZE ? "it is too long"
	       : err == EINVAL	 ? "it holds characters that cannot be part of it"
				 : strerror(err);
}

void environment_secret_fault(const char *name, const char *config, char *buf, size_t size)
{
	char value[SECRET_MAX];
	const char *given = getenv(name), *path = find_secret_file(name);
	int err = environment_secret(name, config, value, sizeof value);

	explicit_bzero(value, sizeof value);
	if (given && *given && err)
		snprintf(buf, size, "%s cannot be used: %s", name, describe_error(err));
	else if (path && err)
		snprintf(buf, size, "the file %s that %s_FILE names cannot be used: %s", path, name,
			 describe_error(err));
	else if (*config && err)
		snprintf(buf, size,
			 "the file %s that the settings file names for %s cannot be used: %s",
			 config, name, describe_error(err));
	else if (err)
		snprintf(buf, size, "set %s, or %s_FILE to a file that holds it", name, name);
	else
		snprintf(buf, size, "%s is too long", name);
}

/* ---- the settings file ---- */

/* Reads the whole file as text, freed by the caller. EFBIG, ENOMEM, EISDIR, or the errno of
 * reading. */
static int read_text(const char *path, char **out, size_t *len)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(SETTINGS_FILE_MAX + 1) : NULL;
	int err = f ? 0 : errno;

	if (!err && !text)
		err = ENOMEM;
	if (!err) {
		*len = fread(text, 1, SETTINGS_FILE_MAX + 1, f);
		err = ferror(f) ? errno : *len > SETTINGS_FILE_MAX ? EFBIG : 0;
	}
	if (f)
		fclose(f);
	if (err)
		free(text);
	else
		*out = text;
	return err;
}

struct told {
	const char *path;
	environment_fault_h *h;
	void *arg;
};

static void on_fault(unsigned line, const char *text, void *arg)
{
	const struct told *t = arg;
	char full[1200];

	snprintf(full, sizeof full, "%s:%u: %s", t->path, line, text);
	t->h(full, t->arg);
}

/* /dev/null is how an operator says that there are no settings. */
static bool is_null_device(const char *path, size_t len)
{
	struct stat st;

	return !len && stat(path, &st) == 0 && S_ISCHR(st.st_mode);
}

static int load_file(struct settings *s, const char *config, environment_fault_h *h, void *arg)
{
	struct told told = {.path = config ? config : ENVIRONMENT_CONFIG, .h = h, .arg = arg};
	char *text = NULL, full[1200];
	size_t len = 0;
	int err = read_text(told.path, &text, &len);

	if (err == ENOENT && !config)
		return 0;
	if (err) {
		snprintf(full, sizeof full, "%s: %s", told.path, strerror(err));
		h(full, arg);
		return err == ENOMEM ? ENOMEM : EINVAL;
	}
	if (!is_null_device(told.path, len))
		err = settings_file(s, text, len, on_fault, &told) ? EINVAL : 0;
	free(text);
	return err;
}

/* ---- all of it ---- */

static const char *read_variable(const char *env, void *arg)
{
	(void)arg;
	return getenv(env);
}

struct gathering {
	environment_fault_h *h;
	void *arg;
	unsigned faults;
};

/* Without a list of ids that cannot be read, people and channels would be let in that it keeps out,
 * and with one of addresses that cannot be read, none of them would be reached.
 * The default of another value may be the opposite of what was meant. */
static void wrong_value(struct gathering *g, const char *env, const char *given)
{
	char text[512], why[SETTINGS_FAULT_TEXT];

	if (settings_say_fault(env, given, why, sizeof why)) {
		snprintf(text, sizeof text, "%s %s", env, why);
	} else {
		settings_say_values(env, why, sizeof why);
		snprintf(text, sizeof text, "%s cannot be \"%.80s\": it must be %s", env, given,
			 why);
	}
	utf8_plain(text);
	g->faults++;
	g->h(text, g->arg);
}

static void on_invalid(const char *env, const char *given, const char *used, int err, void *arg)
{
	char values[SETTINGS_VALUES_TEXT];

	settings_say_values(env, values, sizeof values);
	if (err == EINVAL)
		wrong_value(arg, env, given);
	else
		log_warn("setting_replaced",
			 "variable=%s given=\"%.80s\" used=\"%.80s\" allowed=\"%s\"", env, given,
			 used, values);
}

static void secret_known(const char *value, void *arg)
{
	(void)arg;
	log_secret(value);
}

/* A secret's variable, and the file that the settings file names for it, "" for none. */
struct source {
	const char *name, *config;
};

#define NONE(...)
#define COUNT(...) +1
enum { SECRETS = 0 SETTINGS(NONE, NONE, NONE, NONE, NONE, COUNT) };
#undef COUNT

/* The bot's token comes first. */
static void list_secrets(const struct settings *s, struct source out[SECRETS])
{
#define K(name, env, ...) {#env, s->name##_file},
	const struct source all[SECRETS] = {SETTINGS(NONE, NONE, NONE, NONE, NONE, K)};
#undef K

	memcpy(out, all, sizeof all);
	out[0].config = settings_token_file(s);
}
#undef NONE

static bool names_file(const struct source *secret)
{
	return find_secret_file(secret->name) || *secret->config;
}

void environment_secret_faults(const struct settings *s, environment_fault_h *h, void *arg)
{
	struct source secrets[SECRETS];
	char value[SECRET_MAX], text[1200];

	list_secrets(s, secrets);
	for (size_t i = 1; i < SECRETS; i++) {
		if (!environment_secret(secrets[i].name, secrets[i].config, value, sizeof value) ||
		    !names_file(&secrets[i]))
			continue;
		environment_secret_fault(secrets[i].name, secrets[i].config, text, sizeof text);
		h(text, arg);
	}
	explicit_bzero(value, sizeof value);
}

static void load_secrets(struct settings *s)
{
	struct source secrets[SECRETS];
	char value[SECRET_MAX];

	list_secrets(s, secrets);
	for (size_t i = 0; i < SECRETS; i++) {
		int err =
			environment_secret(secrets[i].name, secrets[i].config, value, sizeof value);

		if (!err && settings_set(s, secrets[i].name, value))
			err = EMSGSIZE;
		if (!err)
			continue;
		settings_set(s, secrets[i].name, "");
		/* An empty file, like an empty variable, means that there is no secret. */
		if (err != ENODATA && (err != ENOENT || names_file(&secrets[i])))
			log_warn("secret_unusable", "variable=%s error=\"%s\"", secrets[i].name,
				 describe_error(err));
	}
	explicit_bzero(value, sizeof value);
}

static void load_provider_keys(struct settings *s)
{
	char value[RECORD_KEY_MAX], name[sizeof SETTINGS_KEY_OF + RECORD_NAME_MAX];

	for (unsigned i = 0; i < s->records.n[RECORD_KIND_PROVIDER]; i++) {
		const struct provider_record *p = &s->records.provider[i];
		int err =
			*p->key_file ? secret_from_file(p->key_file, value, sizeof value) : ENOENT;

		if (!*p->key_file)
			continue;
		snprintf(name, sizeof name, SETTINGS_KEY_OF "%s", p->name);
		settings_set(s, name, err ? "" : value);
		if (err)
			log_warn("secret_unusable", "provider=%s file=%s error=\"%s\"", p->name,
				 p->key_file, describe_error(err));
	}
	explicit_bzero(value, sizeof value);
}

/* The values of one object of names and paths. "Bearer" and the like may stand before a secret. */
static void load_values(const char *record, const char *names, json_t *to)
{
	json_t *object = json_loads(names, 0, NULL);
	char value[SECRET_MAX];
	const char *name;
	json_t *path;

	json_object_foreach(object, name, path)
	{
		int err = read_secret(json_string_value(path), 0x20, value, sizeof value);

		if (err)
			log_warn("secret_unusable", "record=%s file=%s error=\"%s\"", record,
				 json_string_value(path), describe_error(err));
		else
			log_secret(strrchr(value, ' ') ? strrchr(value, ' ') + 1 : value);
		if (!err)
			json_object_set_new(to, name, json_string(value));
	}
	explicit_bzero(value, sizeof value);
	json_decref(object);
}

/* One value, of the file at path, if there is any. */
static void load_value(const char *record, const char *name, const char *path, json_t *to)
{
	json_t *one = *path ? json_pack("{s:s}", name, path) : NULL;
	char *text = one ? json_dumps(one, 0) : NULL;

	if (text)
		load_values(record, text, to);
	free(text);
	json_decref(one);
}

/* The record's values in its one text. Steals values. */
static void set_values(struct settings *s, const char *prefix, const char *record, json_t *values)
{
	char name[16 + RECORD_NAME_MAX],
		*text = json_object_size(values) ? json_dumps(values, JSON_COMPACT) : NULL;

	snprintf(name, sizeof name, "%s%s", prefix, record);
	if (text && settings_set(s, name, text))
		log_warn("secret_unusable", "record=%s error=\"too long\"", record);
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
	json_decref(values);
}

static void load_record_values(struct settings *s)
{
	for (unsigned i = 0; i < s->records.n[RECORD_KIND_MCP]; i++) {
		const struct mcp_record *m = &s->records.mcp[i];
		json_t *values = json_object();

		load_values(m->name, m->headers, values);
		load_values(m->name, m->secrets, values);
		load_value(m->name, MCP_CLIENT_SECRET, m->client_secret_file, values);
		load_value(m->name, MCP_REFRESH_TOKEN, m->refresh_token_file, values);
		set_values(s, SETTINGS_VALUES_OF, m->name, values);
	}
	for (unsigned i = 0; i < s->records.n[RECORD_KIND_WORKER]; i++) {
		const struct worker_record *w = &s->records.worker[i];
		json_t *values = json_object();

		load_values(w->name, w->secrets, values);
		set_values(s, SETTINGS_VALUES_OF_WORKER, w->name, values);
	}
}

int environment_settings(struct settings **out, const char *config, environment_fault_h *h,
			 void *arg)
{
	struct gathering gathering = {.h = h, .arg = arg};
	struct settings *s = NULL;
	int err = settings_alloc(&s);

	if (err)
		return err;
	err = load_file(s, config, h, arg);
	if (err == ENOMEM) {
		settings_free(s);
		return err;
	}
	settings_load(s, read_variable, on_invalid, &gathering);
	load_secrets(s);
	load_provider_keys(s);
	load_record_values(s);
	settings_secrets(s, secret_known, NULL);
	if (settings_check(s, h, arg) + gathering.faults && !err)
		err = EINVAL;
	*out = s;
	return err;
}

struct replaced {
	environment_fault_h *h;
	void *arg;
};

static void ignore_fault(const char *text, void *arg)
{
	(void)text;
	(void)arg;
}

static void on_replaced(const char *env, const char *given, const char *used, int err, void *arg)
{
	const struct replaced *r = arg;
	char text[512], values[SETTINGS_VALUES_TEXT];

	/* environment_settings tells it as a fault. */
	if (err == EINVAL)
		return;
	settings_say_values(env, values, sizeof values);
	snprintf(text, sizeof text,
		 "%s cannot be \"%.80s\": it must be %s; \"%.80s\" is used instead", env, given,
		 values, used);
	r->h(text, r->arg);
}

int environment_replaced(const char *config, environment_fault_h *h, void *arg)
{
	struct replaced r = {h, arg};
	struct settings *s = NULL;
	int err = settings_alloc(&s);

	if (!err && load_file(s, config, ignore_fault, NULL) == ENOMEM)
		err = ENOMEM;
	if (!err)
		settings_load(s, read_variable, on_replaced, &r);
	settings_free(s);
	return err;
}

void environment_unknown(environment_unknown_h *h, void *arg)
{
	char name[128];

	for (char **e = environ; *e; e++) {
		size_t n = strcspn(*e, "=");

		if (strncmp(*e, "PARLEY_", strlen("PARLEY_")) != 0 || n >= sizeof name)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)n, *e);
		if (!settings_variable(name))
			h(name, settings_nearest(name, true), arg);
	}
}
