/* Walks the sound files below the music folders, a file at a time. On the library's worker.
 *
 * Each folder is opened in its parent by its name and without links, so no
 * link leads out of a music folder, and no walk goes round in circles. Names that are not UTF-8, or
 * hold control characters, are left out: they could be neither shown nor stored as they are. */
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
struct walk *walk_free(struct walk *w);
/* Looks at up to `most` entries for the next file. 0; EAGAIN: none among them; ENOENT: the walk is
 * over. */
int walk_next(struct walk *w, struct walk_file *out, unsigned most);
/* Entries that could not be used: too deep, unreadable, or with such names. */
unsigned walk_skipped(const struct walk *w);
/* True if this music folder was opened. */
bool walk_opened(const struct walk *w, unsigned root);

#endif
