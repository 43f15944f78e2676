/* The soundboard of one guild: listing its sounds and playing one. A shell around rest.h.
 *
 * The list (the guild's sounds and the default ones) is requested by its owner, and when a sound is
 * played and the list is older than a minute. A sound is named by its id, by "id@guild" for another
 * guild's sound, or by its name in any case; a part of the name suffices when it is unambiguous.
 *
 * Everything runs on env's loop thread. */
#ifndef CONTROL_DISCORD_SOUNDS_H
#define CONTROL_DISCORD_SOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct env;
struct rest;
struct sounds;

enum { SOUNDS_MAX = 256, SOUNDS_NAME = 64, SOUNDS_FRESH_S = 60, SOUNDS_WAITING = 16 };

struct sound {
	uint64_t id, guild; /* guild 0: a default sound */
	char name[SOUNDS_NAME];
};
struct sound_list {
	unsigned n;
	struct sound v[SOUNDS_MAX];
};

/* Adds the sounds of Discord's answer: an array, or an object with one as "items". Malformed and
 * unavailable sounds are left out. */
void sound_list_add(struct sound_list *list, const json_t *sounds);
/* Resolves a reference to a sound's id and the guild to name with it (0: none). ENOENT; EEXIST when
 * several sounds match. */
int sound_list_find(const struct sound_list *list, const char *ref, uint64_t *id, uint64_t *guild);

/* err: 0 when the sound plays, otherwise an errno. */
typedef void(sounds_h)(uint64_t ticket, int err, void *arg);

/* The list came, or came again. Borrowed until return. */
typedef void(sounds_listed_h)(const struct sound_list *list, void *arg);

/* listedh may be NULL. ENOMEM, EINVAL. Caller owns *out. */
int sounds_alloc(struct sounds **out, struct env *env, struct rest *rest, uint64_t guild,
		 sounds_h *h, sounds_listed_h *listedh, void *arg);
/* Handlers of waiting sounds are not called. */
struct sounds *sounds_free(struct sounds *s);
/* The handler is called once for the ticket, never from inside this call. ENOBUFS, ENOMEM. */
int sounds_play(struct sounds *s, uint64_t channel, const char *ref, uint64_t ticket);
/* Requests the list. ENOMEM. */
int sounds_list(struct sounds *s);
/* A sound's name, or NULL when it is not in the list. Borrowed until the next call. */
const char *sounds_name(const struct sounds *s, uint64_t id);

#endif
