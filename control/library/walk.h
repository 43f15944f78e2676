/* Walks the sound files below the music folders, a file at a time. On the library's worker.
 *
 * Each folder is opened in its parent by its name and without links, so no
 * link leads out of a music folder, and no walk goes round in circles. Names that are not UTF-8, or
 * hold control characters, are left out: they could be neither shown nor stored as they are.
 *
 * A music folder that lies in another one, or is the same one again, is not walked: its files are
 * met in the outer one, whose path tells more of them, and would have equals otherwise. It keeps
 * its number, so that mediad's folders stay those of control. */
#ifndef CONTROL_LIBRARY_WALK_H
#define CONTROL_LIBRARY_WALK_H

#include <stdint.h>

#include "control/music/track.h"

struct walk;

enum { WALK_DEPTH = 16, WALK_FOLDERS = 8 };

struct walk_file {
	unsigned root; /* index of the music folder */
	uint64_t size, changed_ns;
	char path[TRACK_REFERENCE_MAX]; /* below it */
};

/* folders: copied, at most WALK_FOLDERS. ENOMEM. The caller owns *out. */
int walk_alloc(struct walk **out, const char *const *folders, unsigned n);
/* The index of the folder in which a walk meets the files of folder i as well: the outermost one,
 * or the first of several paths of one directory. -1: there is none, or it cannot be opened. */
int walk_find_outer(const char *const *folders, unsigned n, unsigned i);
struct walk *walk_free(struct walk *w);
/* Looks at up to `most` entries for the next file. 0; EAGAIN: none among them; ENOENT: the walk is
 * over. */
int walk_next(struct walk *w, struct walk_file *out, unsigned most);
/* Entries that could not be used: too deep, unreadable, or with such names. */
unsigned walk_skipped(const struct walk *w);
/* True if this music folder was opened, or was not walked because it lies in another one. */
bool walk_opened(const struct walk *w, unsigned root);

#endif
