/* The sounds of one server's soundboard, as Discord lists them over REST and tells changes over the
 * gateway ("Soundboard Resource"). Pure.
 *
 * Malformed sounds and those that are not available are left out. A sound is named by its id, by
 * "id@guild", or by its name in any case; a part of the name suffices when it is unambiguous. */
#ifndef CONTROL_DISCORD_SOUND_LIST_H
#define CONTROL_DISCORD_SOUND_LIST_H

#include <stdint.h>

#include <jansson.h>

enum { SOUNDS_MAX = 256, SOUNDS_NAME = 64 };

struct sound {
	uint64_t id, guild; /* guild 0: a default sound */
	char name[SOUNDS_NAME];
};
struct sound_list {
	unsigned n;
	struct sound v[SOUNDS_MAX];
};

/* Adds the sounds of a list: an array, or an object with one as "items" or "soundboard_sounds". */
void sound_list_add(struct sound_list *list, const json_t *sounds);
/* Removes all sounds of this server; 0: the default ones. */
void sound_list_clear(struct sound_list *list, uint64_t guild);
/* Adds one sound, in the place of the one with its id; one that is not available is removed. */
void sound_list_set(struct sound_list *list, const json_t *sound);
void sound_list_remove(struct sound_list *list, uint64_t id);
/* NULL when it is not in the list. Borrowed until the list changes. */
const struct sound *sound_list_by_id(const struct sound_list *list, uint64_t id);
/* Resolves a reference to a sound's id and the server to name with it, 0 for none: only "id@guild"
 * may name a sound that is not in the list. ENOENT; EEXIST when several sounds match. */
int sound_list_find(const struct sound_list *list, const char *ref, uint64_t *id, uint64_t *guild);

#endif
