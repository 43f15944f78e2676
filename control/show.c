#include "control/show.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/settings/listen.h"
#include "control/settings/settings.h"
#include "control/store/db.h"

enum { PATH_SIZE = SHOW_DIR + 32 };

static int make_settings(struct settings **out)
{
	const char *listen = getenv("PARLEY_WEB_LISTEN");
	struct listen_address at;
	struct settings *s = NULL;
	int err;

	if (!listen || !*listen)
		listen = "127.0.0.1:8787";
	if (listen_parse(&at, listen))
		return EINVAL;
	err = settings_alloc(&s);
	if (!err)
		err = settings_set(s, "gateway", "none");
	if (!err)
		err = settings_set(s, "web_listen", listen);
	if (err)
		settings_free(s);
	else
		*out = s;
	return err;
}

static int copy_database(const struct show *s, const char *incident)
{
	struct db *db = NULL;
	char path[PATH_SIZE];
	int err = db_open(&db, incident, DB_CHECK);

	snprintf(path, sizeof path, "%s/parley.db", s->dir);
	if (!err)
		err = db_backup(db, path);
	db_close(db);
	return err;
}

int show_open(struct show *out, const char *incident, struct settings **settings)
{
	const char *tmp = getenv("TMPDIR");
	struct settings *made = NULL;
	int err = make_settings(&made);

	if (err)
		return err;
	*out = (struct show){0};
	if ((size_t)snprintf(out->dir, sizeof out->dir, "%s/parley-shown-XXXXXX",
			     tmp && *tmp ? tmp : "/tmp") >= sizeof out->dir)
		err = ENAMETOOLONG;
	else if (!mkdtemp(out->dir))
		err = errno;
	if (err) {
		settings_free(made);
		return err;
	}
	err = copy_database(out, incident);
	if (err) {
		show_close(out);
		settings_free(made);
		return err;
	}
	*settings = made;
	return 0;
}

/* The folder is ours, and control makes no folders in it. */
void show_close(struct show *s)
{
	DIR *dir = opendir(s->dir);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(s->dir);
}
