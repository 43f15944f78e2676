/* What control --show takes from a directory that a stranger made (control/show.h). */
#include "control/show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/settings/profile.h"
#include "control/settings/provider_record.h"
#include "control/settings/settings.h"
#include "control/store/db.h"
#include "tests/unit/ipc/loop.h"

static char dir[32], shown[48];

static bool exists(const char *folder, const char *name)
{
	char path[SHOW_DIR + 64];
	struct stat st;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return lstat(path, &st) == 0;
}

static bool add_file(const char *folder, const char *name)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "w");
	if (f)
		fclose(f);
	return f != NULL;
}

static bool begin(void)
{
	struct db *db = NULL;

	if (!folder_make(dir))
		return false;
	snprintf(shown, sizeof shown, "%s/shown", dir);
	if (mkdir(shown, 0700) || db_open(&db, shown, DB_OWN))
		return false;
	db_close(db);
	setenv("TMPDIR", dir, 1);
	return add_file(shown, "web-token") && add_file(shown, "session.json");
}

static void end(void)
{
	unsetenv("TMPDIR");
	unsetenv("PARLEY_WEB_LISTEN");
	unsetenv("PARLEY_HOLD_MS");
	folder_remove(shown);
	folder_remove(dir);
}

TEST(what_is_shown_is_a_copy_of_the_database_alone)
{
	struct settings *s = NULL;
	struct show copy;

	CHECK(begin());
	CHECK_INT(show_open(&copy, shown, &s), 0);
	CHECK(exists(copy.dir, "parley.db"));
	CHECK(!exists(copy.dir, "web-token") && !exists(copy.dir, "session.json"));
	show_close(&copy);
	CHECK_INT(access(copy.dir, F_OK), -1);
	CHECK(exists(shown, "parley.db") && exists(shown, "web-token"));
	settings_free(s);
	end();
}

TEST(what_is_shown_has_no_settings_of_this_machine)
{
	struct settings *s = NULL, *defaults = NULL;
	struct show copy;

	CHECK(begin());
	setenv("PARLEY_HOLD_MS", "55", 1);
	setenv("PARLEY_WEB_LISTEN", "127.0.0.1:4711", 1);
	CHECK_INT(settings_alloc(&defaults), 0);
	CHECK_INT(show_open(&copy, shown, &s), 0);
	CHECK_INT(settings_gateway(s), SETTINGS_GATEWAY_NONE);
	CHECK(!settings_needs_embedded(s) && settings_needs_embedded(defaults));
	CHECK_INT(s->hold_ms, defaults->hold_ms);
	CHECK_STR(s->web_listen, "127.0.0.1:4711");
	show_close(&copy);
	settings_free(s);
	settings_free(defaults);
	end();
}

TEST(what_cannot_be_shown_leaves_nothing_behind)
{
	struct settings *s = NULL;
	char none[64];
	struct show copy;

	CHECK(begin());
	snprintf(none, sizeof none, "%s/none", dir);
	CHECK_INT(show_open(&copy, none, &s), ENOENT);
	CHECK_INT(access(copy.dir, F_OK), -1);
	setenv("PARLEY_WEB_LISTEN", "nowhere", 1);
	CHECK_INT(show_open(&copy, shown, &s), EINVAL);
	CHECK(!s);
	end();
}
