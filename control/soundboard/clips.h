/* The local sounds of the setting sound_folder, whole in memory. The program decoderd decodes them
 * once, in its jail; control reads no file of the folder.
 *
 * A sound has the name of its file without the extension. Of files that differ in the case of
 * their names the first counts. Without decoderd, or where it cannot be jailed, there are no local
 * sounds, and the log says so.
 *
 * Everything runs on env's loop thread. */
#ifndef CONTROL_SOUNDBOARD_CLIPS_H
#define CONTROL_SOUNDBOARD_CLIPS_H

#include <stddef.h>

#include "control/soundboard/clip.h"

struct clips;
struct env;

enum { CLIPS_MAX = 32 };

/* All sounds are there, or as many as there will be. */
typedef void(clips_h)(void *arg);

/* Starts to read the folder by this program; "" has no sounds. The handler is called once if the
 * program runs, never from inside this call; it may be NULL. EINVAL, ENOMEM. Caller owns *out and
 * frees it before env. */
int clips_alloc(struct clips **out, struct env *env, const char *program, const char *folder,
		clips_h *h, void *arg);
struct clips *clips_free(struct clips *c);
/* The sound with this name in any case, or NULL. Borrowed. */
const struct clip *clips_find(const struct clips *c, const char *name);
size_t clips_count(const struct clips *c);
/* i < clips_count. Borrowed. */
const struct clip *clips_at(const struct clips *c, size_t i);

#endif
