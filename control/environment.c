#include "control/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "ipc/log.h"

enum { SECRET_MAX = 1024 };

static int secret_from_file(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	char line[SECRET_MAX];
	size_t n;
	int err = 0;

	if (!f)
		return errno;
	if (!fgets(line, sizeof line, f))
		line[0] = '\0';
	fclose(f);
	n = strcspn(line, "\r\n");
	if (n >= size)
		err = EMSGSIZE;
	else if (n == 0)
		err = ENODATA;
	else {
		memcpy(buf, line, n);
		buf[n] = '\0';
	}
	explicit_bzero(line, sizeof line);
	return err;
}

int environment_secret(const char *name, char *buf, size_t size)
{
	const char *value = getenv(name);
	char file[128];

	buf[0] = '\0';
	if (value && *value) {
		if (strlen(value) >= size)
			return EMSGSIZE;
		memcpy(buf, value, strlen(value) + 1);
		return 0;
	}
	snprintf(file, sizeof file, "%s_FILE", name);
	value = getenv(file);
	if (!value || !*value)
		return ENOENT;
	return secret_from_file(value, buf, size);
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
		if (!err)
			err = settings_set(s, secrets[i], value);
		if (err && err != ENOENT)
			log_warn("secret_unreadable", "variable=%s error=\"%s\"", secrets[i],
				 strerror(err));
	}
	explicit_bzero(value, sizeof value);
	settings_secrets(s, secret_known, NULL);
	*out = s;
	return 0;
}
