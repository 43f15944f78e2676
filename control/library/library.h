/* The music library: what lies in the music folders, found by words.
 *
 *   state    input                          next
 *   NEW      the timer, at once             SCANNING: a piece of the scan goes to the worker
 *   SCANNING a piece is done                SCANNING: the next piece
 *   SCANNING the last piece is done         IDLE, and the log tells what was found; TAGGING beside
 *                                           that, unless it is under way
 *   IDLE     the timer, LIBRARY_RESCAN_H    SCANNING
 *   any      a fault of the disk            IDLE, and the log tells it
 *   TAGGING  files without tags             TAGGING: decoderd reads them, and the worker keeps them
 *   TAGGING  none, or decoderd cannot run   over until the next scan has ended
 *
 * A worker of its own walks the folders and holds the index (control/library/index.h), so that
 * neither the loop nor the store waits for a disk or a network share. A scan is cut into pieces of
 * LIBRARY_PIECE entries, and searches run between them. Tags come from paths at first, and then
 * from the files; control parses none of these, decoderd does in its jail (tagger.h). Answers are
 * inputs of env's loop, so a replay needs no folder. */
#ifndef CONTROL_LIBRARY_LIBRARY_H
#define CONTROL_LIBRARY_LIBRARY_H

#include <stddef.h>

#include "control/library/index.h"

struct env;
struct library;
struct media_folder;

enum { LIBRARY_RESCAN_H = 6, LIBRARY_PIECE = 500, LIBRARY_REQUESTS = 64 };

/* hits: the best first, borrowed until return. err: 0, EIO, ENOMEM. */
typedef void(library_h)(int err, const struct library_hit *hits, size_t n, void *arg);

/* dir: the state directory. folders: the setting music_folders, not empty: paths with colons
 * between them; both are copied. decoder: the program decoderd, as a name or a path; NULL: no file
 * is opened, and tags are those of paths. EINVAL: more than WALK_FOLDERS, or a path that does not
 * begin with
 * '/'; ENAMETOOLONG, ENOMEM, errors of worker_alloc. The caller owns *out and frees it before env.
 */
int library_alloc(struct library **out, struct env *env, const char *dir, const char *folders,
		  const char *decoder);
/* No handler is called any more. NULL accepted. */
struct library *library_free(struct library *l);
/* The directory of a music folder, as the newest scan has found it; NULL: no scan has begun, or
 * there is no such folder. Borrowed. */
const struct media_folder *library_folder(const struct library *l, unsigned root);
/* Finds tracks by words; at most `most` of LIBRARY_HITS_MAX. ENOSPC: LIBRARY_REQUESTS are under
 * way; ENOMEM. */
int library_search(struct library *l, const char *query, size_t most, library_h *h, void *arg);
/* The same while somebody types: as many words as a glance needs (LIBRARY_TYPED_TRIGRAMS). */
int library_suggest(struct library *l, const char *query, size_t most, library_h *h, void *arg);
/* Handlers with this arg are not called any more; what has not begun for them is not looked for. */
void library_forget(struct library *l, const void *arg);

#endif
