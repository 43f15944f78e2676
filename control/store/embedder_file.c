#include "control/store/embedder_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 512 };

static int copy_path(char *path, size_t size, const char *folder, const char *rest)
{
	return (size_t)snprintf(path, size, "%s%s", folder, rest) < size ? 0 : ENAMETOOLONG;
}

int embedder_file_find(char *path, size_t size, const char *setting)
{
	static const char *const places[] = {"/embedder/use-lite.int8",
					     "/../share/parley/use-lite.int8"};
	char folder[PATH_SIZE], *slash;
	ssize_t n;
	int err = ENOENT;

	path[0] = '\0';
	if (strcmp(setting, EMBEDDER_NONE) == 0)
		return ECANCELED;
	if (*setting)
		return copy_path(path, size, setting, "");
	n = readlink("/proc/self/exe", folder, sizeof folder - 1);
	if (n <= 0)
		return ENOENT;
	folder[n] = '\0';
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < sizeof places / sizeof places[0] && err == ENOENT; i++) {
		err = copy_path(path, size, folder, places[i]);
		if (!err && access(path, R_OK))
			err = ENOENT;
	}
	return err;
}
