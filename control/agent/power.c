#include "control/agent/power.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ipc/env.h"

enum power { POWER_UNKNOWN, POWER_MAINS, POWER_BATTERY, POWERS };

static const char *const names[POWERS] = {"", "mains", "battery"};

/* Reads the first word of a supply's attribute; "" if it has none. */
static void read_attribute(const char *folder, const char *supply, const char *name, char word[32])
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

/* Reads one supply. Ignores batteries of peripherals such as a mouse. */
static enum power read_supply(const char *folder, const char *supply)
{
	char type[32], scope[32], state[32];

	read_attribute(folder, supply, "type", type);
	read_attribute(folder, supply, "scope", scope);
	if (strcmp(scope, "Device") == 0)
		return POWER_UNKNOWN;
	if (strcmp(type, "Battery") == 0) {
		read_attribute(folder, supply, "status", state);
		return strcmp(state, "Discharging") == 0 ? POWER_BATTERY : POWER_UNKNOWN;
	}
	read_attribute(folder, supply, "online", state);
	return strcmp(type, "Mains") == 0 && strcmp(state, "1") == 0 ? POWER_MAINS : POWER_UNKNOWN;
}

static enum power read_supplies(const char *folder)
{
	enum power all = POWER_UNKNOWN;
	struct dirent *e;
	DIR *d = opendir(folder);

	if (!d)
		return all;
	while ((e = readdir(d))) {
		enum power one =
			e->d_name[0] == '.' ? POWER_UNKNOWN : read_supply(folder, e->d_name);

		/* Plugged in, whether or not the battery charges. */
		if (one == POWER_MAINS || all == POWER_UNKNOWN)
			all = one;
	}
	closedir(d);
	return all;
}

const char *power_of(const char *folder)
{
	return names[read_supplies(folder)];
}

const char *power_now(struct env *env)
{
	int64_t p = env_replaying(env) ? 0 : read_supplies("/sys/class/power_supply");

	p = env_answer(env, p);
	return p > 0 && p < POWERS ? names[p] : "";
}
