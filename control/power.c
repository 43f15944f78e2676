#include "control/power.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ipc/env.h"

enum power { POWER_UNKNOWN, POWER_MAINS, POWER_BATTERY, POWERS };

static const char *const names[POWERS] = {"", "mains", "battery"};

/* The first word of a supply's attribute; "" when it has none. */
static void attribute(const char *folder, const char *supply, const char *name, char word[32])
{
	char path[512];
	FILE *f;

	word[0] = '\0';
	if ((size_t)snprintf(path, sizeof path, "%s/%s/%s", folder, supply, name) >= sizeof path)
		return;
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(word, 32, f))
		word[strcspn(word, " \n")] = '\0';
	else
		word[0] = '\0';
	fclose(f);
}

/* What one supply says; a mouse's battery says nothing of this machine. */
static enum power of_supply(const char *folder, const char *supply)
{
	char type[32], scope[32], state[32];

	attribute(folder, supply, "type", type);
	attribute(folder, supply, "scope", scope);
	if (strcmp(scope, "Device") == 0)
		return POWER_UNKNOWN;
	if (strcmp(type, "Battery") == 0) {
		attribute(folder, supply, "status", state);
		return strcmp(state, "Discharging") == 0 ? POWER_BATTERY : POWER_UNKNOWN;
	}
	attribute(folder, supply, "online", state);
	return strcmp(type, "Mains") == 0 && strcmp(state, "1") == 0 ? POWER_MAINS : POWER_UNKNOWN;
}

static enum power look(const char *folder)
{
	enum power all = POWER_UNKNOWN;
	struct dirent *e;
	DIR *d = opendir(folder);

	if (!d)
		return all;
	while ((e = readdir(d))) {
		enum power one = e->d_name[0] == '.' ? POWER_UNKNOWN : of_supply(folder, e->d_name);

		/* Plugged in, whatever its battery does. */
		if (one == POWER_MAINS || all == POWER_UNKNOWN)
			all = one;
	}
	closedir(d);
	return all;
}

const char *power_of(const char *folder)
{
	return names[look(folder)];
}

const char *power_now(struct env *env)
{
	int64_t p = env_replaying(env) ? 0 : look("/sys/class/power_supply");

	p = env_answer(env, p);
	return p > 0 && p < POWERS ? names[p] : "";
}
