/* Reads the tags of music files by decoderd, which opens each in a jailed process.
 *
 *   state     input                              next
 *   RESTING   tagger_ask                         STARTING: decoderd is started
 *   STARTING  its line "ready"                   READING: it gets the list of files
 *             it ends                            RESTING: there are no tags here
 *   READING   an answer                          READING, or READY after the last one
 *             it ends, or is silent for long     RESTING: the file that it had then has no tags
 *   READY     tagger_ask                         READING
 *             tagger_rest                        RESTING: decoderd ends
 *
 * On env's loop. The library alone uses it. */
#ifndef CONTROL_LIBRARY_TAGGER_H
#define CONTROL_LIBRARY_TAGGER_H

#include <stdbool.h>
#include <stddef.h>

#include "control/library/index.h"

struct env;
struct tagger;

enum { TAGGER_FILES = 32, TAGGER_PATIENCE_S = 60 };

/* What is known of the first n files that were asked for, borrowed until return. works: decoderd
 * can read tags here; otherwise n is 0. Must not free the tagger. */
typedef void(tagger_h)(const struct library_tags *tags, size_t n, bool works, void *arg);

/* program: a name or a path; folders: the music folders, n of them. All are copied. EINVAL: more
 * than WALK_FOLDERS; ENOMEM. The caller owns *out and frees it before env. */
int tagger_alloc(struct tagger **out, struct env *env, const char *program,
		 const char *const *folders, unsigned n, tagger_h *h, void *arg);
/* Ends decoderd. NULL accepted. */
struct tagger *tagger_free(struct tagger *t);
/* Asks for files, at most TAGGER_FILES and one at least; none may be under way, and it must not be
 * called by the handler. The handler is called later, once. ENOENT: there is no decoderd; ENOMEM.
 */
int tagger_ask(struct tagger *t, const struct library_file *files, size_t n);
/* Ends decoderd until the next tagger_ask. */
void tagger_rest(struct tagger *t);

#endif
