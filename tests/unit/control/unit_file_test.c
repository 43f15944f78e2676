#include "control/unit_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"

enum { PATH_SIZE = 256 };

static const char *const made[] = {
	"/etc", "/etc/systemd", "/etc/systemd/system", "/etc/systemd/system/" UNIT_CONTROL ".d",
	"/usr", "/usr/lib",	"/usr/lib/systemd",    "/usr/lib/systemd/system"};

enum { MADE = sizeof made / sizeof made[0] };

static void put(const char *root, const char *name, const char *text)
{
	char path[PATH_SIZE];
	FILE *f;

	snprintf(path, sizeof path, "%s%s", root, name);
	f = fopen(path, "w");
	CHECK(f != NULL);
	fputs(text, f);
	fclose(f);
}

TEST(the_unit_forbids_programs_until_a_drop_in_allows_them)
{
	static const char unit[] = "/usr/lib/systemd/system/" UNIT_CONTROL;
	static const char other[] = "/etc/systemd/system/" UNIT_CONTROL ".d/other.conf";
	static const char drop_in[] = "/etc/systemd/system/" UNIT_CONTROL ".d/programs.conf";
	char root[] = "/tmp/parley-unit-XXXXXX", path[PATH_SIZE];

	CHECK(mkdtemp(root) != NULL);
	CHECK(!unit_forbids_programs(root));
	for (unsigned i = 0; i < MADE; i++) {
		snprintf(path, sizeof path, "%s%s", root, made[i]);
		CHECK_INT(mkdir(path, 0700), 0);
	}
	CHECK(!unit_forbids_programs(root)); /* not installed */
	put(root, unit, "[Service]\nRestrictNamespaces=yes\n");
	CHECK(unit_forbids_programs(root));
	put(root, other, "[Service]\nNice=1\n");
	CHECK(unit_forbids_programs(root));
	put(root, drop_in,
	    "[Service]\n# RestrictNamespaces=yes\nRestrictNamespaces=\n"
	    "RestrictNamespaces=user mnt pid net ipc uts cgroup\n");
	CHECK(!unit_forbids_programs(root));
	put(root, drop_in, "RestrictNamespaces=~user\n");
	CHECK(unit_forbids_programs(root));
	put(root, drop_in, "RestrictNamespaces=no\n");
	CHECK(!unit_forbids_programs(root));
	put(root, drop_in, "RestrictNamespaces=net");
	CHECK(unit_forbids_programs(root));
	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s%s", root, i == 0 ? unit : i == 1 ? other : drop_in);
		CHECK_INT(unlink(path), 0);
	}
	for (unsigned i = MADE; i > 0; i--) {
		snprintf(path, sizeof path, "%s%s", root, made[i - 1]);
		CHECK_INT(rmdir(path), 0);
	}
	CHECK_INT(rmdir(root), 0);
}

/* Returns whether a line of the file that begins with `key` contains the word. */
static bool contains_word(const char *path, const char *key, const char *word)
{
	char line[PATH_SIZE], *saved = NULL;
	FILE *f = fopen(path, "r");
	bool found = false;

	while (f && fgets(line, sizeof line, f)) {
		char *at = strncmp(line, key, strlen(key)) == 0 ? line + strlen(key) : NULL;

		for (at = at ? strtok_r(at, " \n", &saved) : NULL; at;
		     at = strtok_r(NULL, " \n", &saved))
			found = found || strcmp(at, word) == 0;
	}
	if (f)
		fclose(f);
	return found;
}

/* Both programs start decoderd, which gives up its privileges and installs its jail. Of what it
 * calls for that, the groups @privileged and @resources hold these, or no group does. */
TEST(the_shipped_units_allow_the_jail_of_decoders)
{
	static const char *const units[] = {"deploy/systemd/" UNIT_CONTROL,
					    "deploy/systemd/parley-mediad.service"};
	static const char *const calls[] = {"seccomp", "capset", "setpriority",
					    "landlock_restrict_self"};

	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < sizeof calls / sizeof calls[0]; k++)
			CHECK(contains_word(units[i], "SystemCallFilter=", calls[k]));
}

/* The drop-in that is shipped, over the unit that is shipped. */
TEST(the_shipped_drop_in_allows_programs)
{
	char root[] = "/tmp/parley-unit-XXXXXX", path[PATH_SIZE], command[3 * PATH_SIZE];

	CHECK(mkdtemp(root) != NULL);
	snprintf(path, sizeof path, "%s/etc/systemd/system", root);
	snprintf(command, sizeof command,
		 "mkdir -p %s/" UNIT_CONTROL ".d && cp deploy/systemd/" UNIT_CONTROL " %s/", path,
		 path);
	CHECK_INT(system(command), 0);
	CHECK(unit_forbids_programs(root));
	snprintf(command, sizeof command,
		 "cp deploy/systemd/parley-programs.conf %s/" UNIT_CONTROL ".d/programs.conf",
		 path);
	CHECK_INT(system(command), 0);
	CHECK(!unit_forbids_programs(root));
	snprintf(command, sizeof command, "rm -r %s", root);
	CHECK_INT(system(command), 0);
}
