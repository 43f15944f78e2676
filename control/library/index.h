/* The index of the music folders: a SQLite file of its own beside the database, library.db.
 *
 * It holds nothing but what a scan finds again, so it is neither backed up nor migrated: a file of
 * another version, or a damaged one, is deleted. It names no people. On the library's worker alone.
 *
 * Words are indexed by trigrams of their folded text (control/music/match.h), so that a misspelt
 * word still shares some with the right one; music_rank puts what they find in order. */
#ifndef CONTROL_LIBRARY_INDEX_H
#define CONTROL_LIBRARY_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "control/library/walk.h"
#include "control/music/track.h"

struct library_index;

enum {
	LIBRARY_FILES_MAX = 100000,
	LIBRARY_CANDIDATES = 200, /* of a search, before they are ranked */
	LIBRARY_TRIGRAMS = 64,	  /* of a query, each of which takes its time in a large library */
	LIBRARY_TYPED_TRIGRAMS = 12,
	LIBRARY_HITS_MAX = 25,
};

struct library_hit {
	unsigned score;
	struct track track;
};

/* A file whose tags have not been read since it has changed. */
struct library_file {
	int64_t id; /* of the index, until the file is gone */
	uint64_t changed_ns;
	unsigned root;
	char path[TRACK_REFERENCE_MAX];
};

/* What was read of it; "" and 0: not known. */
struct library_tags {
	int64_t id;
	uint64_t changed_ns, duration_ms;
	char title[TRACK_TITLE_MAX], artist[TRACK_ARTIST_MAX], album[TRACK_ALBUM_MAX];
};

/* folders: the music folders, copied, at most WALK_FOLDERS. Errors of mkdir and unlink; EIO,
 * ENOMEM. The caller owns *out. */
int library_index_open(struct library_index **out, const char *path, const char *const *folders,
		       unsigned n);
struct library_index *library_index_close(struct library_index *x);

/* A scan writes between these two; end removes what it did not meet in folders that were opened.
 * Calls of put may be spread over several batches. EIO. */
int library_index_begin_batch(struct library_index *x);
int library_index_end_batch(struct library_index *x);
void library_index_begin_scan(struct library_index *x);
/* ENOSPC: LIBRARY_FILES_MAX are in. */
int library_index_put(struct library_index *x, const struct walk_file *f);
int library_index_end_scan(struct library_index *x, const struct walk *w);
unsigned library_index_count(const struct library_index *x);

/* Up to `most` files without tags that the newest scan has met; *n: how many. EIO. */
int library_index_untagged(struct library_index *x, struct library_file *to, size_t most,
			   size_t *n);
/* Takes the tags of a file over, unless it has changed again; where there is none, what its path
 * says remains. In a batch. EIO. */
int library_index_tag(struct library_index *x, const struct library_tags *tags);

/* The hits, the best first; *n of at most LIBRARY_HITS_MAX. Candidates are chosen by the first
 * `trigrams` of the query, at most LIBRARY_TRIGRAMS. EIO, ENOMEM. */
int library_index_search(struct library_index *x, const char *query, unsigned trigrams,
			 struct library_hit hits[LIBRARY_HITS_MAX], size_t *n);

#endif
