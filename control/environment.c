#include "control/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "ipc/log.h"

enum { SECRET_MAX = 1024 };

/* A secret goes into a header line: blanks around it are a slip of whoever pasted it, anything else
 * that does not belong there makes it useless. */
static int take(const char *value, char *buf, size_t size)
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
		if (value[i] <= 0x20 || value[i] >= 0x7f)
			return EINVAL;
	memcpy(buf, value, n);
	buf[n] = '\0';
	return 0;
}

static int secret_from_file(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	char line[SECRET_MAX];
	int err;

	if (!f)
		return errno;
	if (!fgets(line, sizeof line, f))
		line[0] = '\0';
	err = ferror(f) ? EIO : take(line, buf, size);
	fclose(f);
	explicit_bzero(line, sizeof line);
	return err;
}

/* The file that NAME_FILE names, NULL for none. */
static const char *file_of(const char *name)
{
	char variable[128];
	const char *path;

	snprintf(variable, sizeof variable, "%s_FILE", name);
	path = getenv(variable);
	return path && *path ? path : NULL;
}

int environment_secret(const char *name, char *buf, size_t size)
{
	const char *value = getenv(name), *path = file_of(name);

	buf[0] = '\0';
	if (value && *value)
		return take(value, buf, size);
	return path ? secret_from_file(path, buf, size) : ENOENT;
}

static const char *why(int err)
{
	return err == ENODATA	 ? "there is nothing in it"
	       : err == EMSGSIZE ? "it is too long"
	       : err == EINVAL	 ? "it holds characters that cannot be part of it"
				 : strerror(err);
}

void environment_secret_fault(const char *name, char *buf, size_t size)
{
	char value[SECRET_MAX];
	const char *given = getenv(name), *path = file_of(name);
	int err = environment_secret(name, value, sizeof value);

	explicit_bzero(value, sizeof value);
	if (given && *given && err)
		snprintf(buf, size, "%s cannot be used: %s", name, why(err));
	else if (path && err)
		snprintf(buf, size, "the file %s that %s_FILE names cannot be used: %s", path, name,
			 why(err));
	else if (err)
		snprintf(buf, size, "set %s, or %s_FILE to a file that holds it", name, name);
	else
		snprintf(buf, size, "%s is too long", name);
}

static const char *lookup(const char *env, void *arg)
{
	(void)arg;
	return getenv(env);
}

static void complain(const char *env, const char *given, const char *used, void *arg)
{
	(void)arg;
	log_warn("setting_replaced", "variable=%s given=\"%.80s\" used=\"%.80s\"", env, given,
		 used);
}

static void secret_known(const char *value, void *arg)
{
	(void)arg;
	log_secret(value);
}

int environment_settings(struct settings **out)
{
	static const char *const secrets[] = {"DISCORD_TOKEN", "OPENAI_API_KEY"};
	struct settings *s = NULL;
	char value[SECRET_MAX];
	int err = settings_alloc(&s);

	if (err)
		return err;
	settings_load(s, lookup, complain, NULL);
	for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
		err = environment_secret(secrets[i], value, sizeof value);
		if (!err && settings_set(s, secrets[i], value))
			err = EMSGSIZE;
		if (err && err != ENOENT) {
			settings_set(s, secrets[i], "");
			log_warn("secret_unusable", "variable=%s error=\"%s\"", secrets[i],
				 why(err));
		}
	}
	explicit_bzero(value, sizeof value);
	settings_secrets(s, secret_known, NULL);
	*out = s;
	return 0;
}
