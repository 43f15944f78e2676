#include "control/unit_file.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 1024, LINE_SIZE = 1024 };

/* Where systemd looks, the first one of a name counts; drop-ins count from all of them. */
static const char *const folders[] = {"/etc/systemd/system", "/run/systemd/system",
				      "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
				      "/lib/systemd/system"};

enum { FOLDERS = sizeof folders / sizeof folders[0] };

/* The last assignment of a file counts: an empty one takes back those before it, and all kinds are
 * allowed then. Leaves *allows where the file has none; false: no such file. */
static bool read_unit(const char *path, bool *allows)
{
	static const char key[] = "RestrictNamespaces=";
	char line[LINE_SIZE];
	FILE *f = fopen(path, "re");

	if (!f)
		return false;
	while (fgets(line, sizeof line, f)) {
		const char *value = line + sizeof key - 1;

		if (strncmp(line, key, sizeof key - 1) != 0)
			continue;
		*allows = *value == '\n' || *value == '\0' || strncmp(value, "no", 2) == 0 ||
			  strncmp(value, "false", 5) == 0 ||
			  (*value != '~' && strstr(value, "user"));
	}
	fclose(f);
	return true;
}

static void read_drop_ins(const char *root, const char *folder, bool *allows)
{
	char path[PATH_SIZE];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof path, "%s%s/" UNIT_CONTROL ".d", root, folder);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		const char *dot = strrchr(e->d_name, '.');
		char file[2 * PATH_SIZE];

		if (!dot || strcmp(dot, ".conf") != 0)
			continue;
		snprintf(file, sizeof file, "%s/%s", path, e->d_name);
		read_unit(file, allows);
	}
	if (dir)
		closedir(dir);
}

bool unit_forbids_programs(const char *root)
{
	bool installed = false, allows = true;

	for (unsigned i = 0; i < FOLDERS && !installed; i++) {
		char path[PATH_SIZE];

		snprintf(path, sizeof path, "%s%s/" UNIT_CONTROL, root, folders[i]);
		installed = read_unit(path, &allows);
	}
	for (unsigned i = 0; installed && i < FOLDERS; i++)
		read_drop_ins(root, folders[FOLDERS - 1 - i], &allows);
	return installed && !allows;
}
