#include "control/library/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/music/path_tags.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

struct walk {
	char *folders[WALK_FOLDERS];
	bool opened[WALK_FOLDERS];
	bool within[WALK_FOLDERS];	  /* its files are met in another folder */
	unsigned n, root, depth, skipped; /* root: of the open folders */
	struct level {
		DIR *dir;
		size_t length; /* of the path of this folder, with its slash */
	} level[WALK_DEPTH];
	char path[TRACK_REFERENCE_MAX];
};

int walk_alloc(struct walk **out, const char *const *folders, unsigned n)
{
	struct walk *w = calloc(1, sizeof *w);
	int err = w ? 0 : ENOMEM;

	while (!err && w->n < n && w->n < WALK_FOLDERS) {
		w->folders[w->n] = strdup(folders[w->n]);
		if (!w->folders[w->n])
			err = ENOMEM;
		else
			w->n++;
	}
	if (err)
		walk_free(w);
	else
		*out = w;
	return err;
}

struct walk *walk_free(struct walk *w)
{
	if (!w)
		return NULL;
	while (w->depth)
		closedir(w->level[--w->depth].dir);
	for (unsigned i = 0; i < w->n; i++)
		free(w->folders[i]);
	free(w);
	return NULL;
}

/* name: of an entry, so it has no slash, and is not "..". */
static int open_beneath(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Takes the descriptor. */
static bool push_folder(struct walk *w, int fd, size_t length)
{
	DIR *dir = fd >= 0 && w->depth < WALK_DEPTH ? fdopendir(fd) : NULL;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		w->skipped++;
		return false;
	}
	w->level[w->depth++] = (struct level){.dir = dir, .length = length};
	return true;
}

static bool is_plain_name(const char *name)
{
	if (*name == '.' || !utf8_valid(name))
		return false;
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			return false;
	return true;
}

/* ---- folders in folders ---- */

static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Goes down the way that a walk would go: no other name, not deeper, only where it may read. rest:
 * below the folder, written over. True: it ends in the directory *want. */
static bool leads_to(const char *folder, char *rest, const struct stat *want)
{
	int dir = open_folder(folder), next;
	unsigned depth = 1;
	struct stat st;
	bool same = false;
	char *name;

	while (dir >= 0 && (name = strsep(&rest, "/"))) {
		if (!*name)
			continue;
		next = ++depth <= WALK_DEPTH && is_plain_name(name) ? open_beneath(dir, name) : -1;
		close(dir);
		dir = next;
	}
	if (dir >= 0) {
		same = fstat(dir, &st) == 0 && st.st_dev == want->st_dev &&
		       st.st_ino == want->st_ino;
		close(dir);
	}
	return same;
}

/* The length of the folder's true path, which has neither links nor "..", if a walk meets there
 * what lies in `path`; 0: it does not. earlier: the folder stands before that one, which is left
 * out if both are the same. */
static size_t measure_outer(const char *folder, const char *path, const struct stat *is,
			    bool earlier)
{
	char *outer = realpath(folder, NULL), *rest = NULL;
	size_t n = outer ? strlen(outer) : 0, top = n == 1 ? 0 : n; /* of "/" there is no more */
	bool meets = false;
	struct stat st;

	if (outer && stat(outer, &st) == 0 && st.st_dev == is->st_dev && st.st_ino == is->st_ino)
		meets = earlier;
	else if (outer && strncmp(path, outer, top) == 0 && path[top] == '/')
		rest = strdup(path + top);
	if (rest)
		meets = leads_to(outer, rest, is);
	free(outer);
	free(rest);
	return meets ? n : 0;
}

int walk_find_outer(const char *const *folders, unsigned n, unsigned i)
{
	char *path = realpath(folders[i], NULL);
	size_t shortest = SIZE_MAX;
	int found = -1;
	struct stat is;

	for (unsigned k = 0; path && stat(path, &is) == 0 && k < n; k++) {
		size_t length = k == i ? 0 : measure_outer(folders[k], path, &is, k < i);

		if (length && length < shortest) {
			shortest = length;
			found = (int)k;
		}
	}
	free(path);
	return found;
}

/* Folders that lie in each other in a ring, as mounts may, are not all left out. */
static bool is_met_elsewhere(struct walk *w, unsigned root)
{
	int outer = walk_find_outer((const char *const *)w->folders, w->n, root);

	w->within[root] = outer >= 0 && !w->within[outer];
	if (w->within[root])
		log_info("music_folder_within", "folder=\"%s\" outer=\"%s\"", w->folders[root],
			 w->folders[outer]);
	return w->within[root];
}

/* A music folder itself may be a link: the operator has named it. One that lies in another counts
 * as opened, and nothing is met in it. */
static bool open_root(struct walk *w, unsigned root)
{
	int fd = open_folder(w->folders[root]);

	if (fd < 0)
		log_warn("music_folder_not_opened", "folder=\"%s\" error=\"%s\"", w->folders[root],
			 strerror(errno));
	if (fd >= 0 && is_met_elsewhere(w, root)) {
		close(fd);
		w->opened[root] = true;
	} else {
		w->opened[root] = push_folder(w, fd, 0);
	}
	return w->opened[root];
}

/* ---- the walk ---- */

/* True: *out is a sound file. Folders are entered. */
static bool look_at_entry(struct walk *w, const char *name, struct walk_file *out)
{
	const struct level *at = &w->level[w->depth - 1];
	size_t n = strlen(name);
	struct track t = {0};
	struct stat st;

	if (!is_plain_name(name) || at->length + n + 2 > sizeof w->path ||
	    fstatat(dirfd(at->dir), name, &st, AT_SYMLINK_NOFOLLOW)) {
		w->skipped += *name != '.';
		return false;
	}
	memcpy(w->path + at->length, name, n + 1);
	if (S_ISDIR(st.st_mode)) {
		if (push_folder(w, open_beneath(dirfd(at->dir), name), at->length + n + 1))
			memcpy(w->path + at->length + n, "/", 2);
		return false;
	}
	if (!S_ISREG(st.st_mode) || !path_tags_read(&t, name))
		return false;
	*out = (struct walk_file){.root = w->root,
				  .size = (uint64_t)st.st_size,
				  .changed_ns = ns_of_timespec(&st.st_mtim)};
	memcpy(out->path, w->path, at->length + n + 1);
	return true;
}

int walk_next(struct walk *w, struct walk_file *out, unsigned most)
{
	struct dirent *entry;

	while (most--) {
		if (!w->depth) {
			if (w->root == w->n || (w->opened[w->root] && ++w->root == w->n))
				return ENOENT;
			if (!open_root(w, w->root))
				w->root++;
			continue;
		}
		entry = readdir(w->level[w->depth - 1].dir);
		if (!entry)
			closedir(w->level[--w->depth].dir);
		else if (look_at_entry(w, entry->d_name, out))
			return 0;
	}
	return EAGAIN;
}

unsigned walk_skipped(const struct walk *w)
{
	return w->skipped;
}

bool walk_opened(const struct walk *w, unsigned root)
{
	return root < w->n && w->opened[root];
}
