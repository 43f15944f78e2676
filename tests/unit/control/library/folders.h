/* Music folders for tests of the library: empty files in a temporary folder. */
#ifndef TESTS_UNIT_CONTROL_LIBRARY_FOLDERS_H
#define TESTS_UNIT_CONTROL_LIBRARY_FOLDERS_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FOLDER_PATH = 1400 };

static char folder[64]; /* the temporary one */

static inline bool make_folder(void)
{
	strcpy(folder, "/tmp/parley-music-XXXXXX");
	return mkdtemp(folder) != NULL;
}

static inline int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)st;
	(void)flag;
	(void)at;
	return remove(path);
}

static inline void remove_folder(void)
{
	nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file below the folder, and makes the folders above it. */
static inline bool write_music(const char *path, const char *text)
{
	char all[sizeof folder + FOLDER_PATH + 1];
	FILE *f;

	snprintf(all, sizeof all, "%s/%s", folder, path);
	for (char *slash = strchr(all + strlen(folder) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(all, 0700);
		*slash = '/';
	}
	f = fopen(all, "w");
	return f && fputs(text, f) >= 0 && fclose(f) == 0;
}

#endif
