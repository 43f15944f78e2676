#include "ipc/zone_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/zone.h"

enum { KEPT = 8, FOLDER_MAX = 64 };

struct zone_files {
	const char *folder;
	unsigned next; /* the place of the next one, which takes the oldest one's */
	struct kept {
		char name[ZONE_NAME_MAX + 1]; /* "": none */
		struct stat st;
		uint8_t *file; /* own */
		size_t n;
	} of[KEPT];
};

struct zone_files *zone_files_new(const char *folder)
{
	struct zone_files *z = calloc(1, sizeof *z);

	if (z)
		z->folder = folder;
	return z;
}

struct zone_files *zone_files_free(struct zone_files *z)
{
	for (unsigned i = 0; z && i < KEPT; i++)
		free(z->of[i].file);
	free(z);
	return NULL;
}

/* The caller frees it. NULL: it cannot be read, or is too long. */
static uint8_t *read_all(int fd, struct stat *st)
{
	uint8_t *p;
	ssize_t got;

	if (fstat(fd, st) || !S_ISREG(st->st_mode) || st->st_size < 1 ||
	    st->st_size > ZONE_FILE_MAX)
		return NULL;
	p = malloc((size_t)st->st_size);
	got = p ? read(fd, p, (size_t)st->st_size) : -1;
	if (got == st->st_size)
		return p;
	free(p);
	return NULL;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The place of this zone's file, or of the oldest one. */
static struct kept *find_place(struct zone_files *z, const char *name)
{
	for (unsigned i = 0; i < KEPT; i++)
		if (strcmp(z->of[i].name, name) == 0)
			return &z->of[i];
	return &z->of[z->next++ % KEPT];
}

static bool load(struct kept *k, const char *name, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	free(k->file);
	*k = (struct kept){0};
	if (fd < 0)
		return false;
	k->file = read_all(fd, &k->st);
	close(fd);
	if (!k->file)
		return false;
	k->n = (size_t)k->st.st_size;
	snprintf(k->name, sizeof k->name, "%s", name);
	return true;
}

bool zone_files_offset(struct zone_files *z, const char *name, int64_t at_s, int32_t *offset)
{
	char path[FOLDER_MAX + ZONE_NAME_MAX + 1];
	struct kept *k;
	struct stat st;

	if (!zone_is_name(name) ||
	    (size_t)snprintf(path, sizeof path, "%s%s", z->folder, name) >= sizeof path)
		return false;
	k = find_place(z, name);
	if ((!*k->name || stat(path, &st) || !is_same(&k->st, &st)) && !load(k, name, path))
		return false;
	return zone_offset(k->file, k->n, at_s, offset);
}
