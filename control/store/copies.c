#include "control/store/copies.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 896 };

static int remove_one(const char *path, uint64_t before_ms, copies_h *h, void *arg)
{
	struct stat st;

	if (lstat(path, &st))
		return errno;
	if (st.st_mtime > 0 && (uint64_t)st.st_mtime * 1000 >= before_ms)
		return 0;
	if (unlink(path))
		return errno;
	if (h)
		h(path, arg);
	return 0;
}

int copies_remove(const char *dir, uint64_t before_ms, copies_h *h, void *arg)
{
	static const char prefix[] = "parley.db.before-";
	DIR *d = opendir(dir);
	char path[PATH_SIZE];
	struct dirent *e;
	int err = d ? 0 : errno;

	while (d && (e = readdir(d))) {
		int failed = 0;

		if (strncmp(e->d_name, prefix, sizeof prefix - 1) != 0)
			continue;
		if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >= sizeof path)
			failed = ENAMETOOLONG;
		else
			failed = remove_one(path, before_ms, h, arg);
		err = err ? err : failed;
	}
	if (d)
		closedir(d);
	return err;
}
