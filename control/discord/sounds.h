/* The soundboard, for one server: which sounds there are, and playing one. A shell around rest.h.
 *
 * The list (the server's own sounds and those that everybody has) is asked for when a sound is played and it is older
 * than a minute. A sound is named by its id, "id@server" for one of another server, or its name in any case; a part of
 * the name will do when only one sound has it.
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
	uint64_t id, guild; /* guild 0: everybody's */
	char name[SOUNDS_NAME];
};
struct sound_list {
	unsigned n;
	struct sound v[SOUNDS_MAX];
};

/* Adds what Discord lists: an array, or an object with one as "items". What is malformed or not available is left out. */
void sound_list_add(struct sound_list *list, const json_t *sounds);
/* Which one is meant: its id, and the server to be named with it (0: none). ENOENT, EEXIST several could be. */
int sound_list_find(const struct sound_list *list, const char *ref, uint64_t *id, uint64_t *guild);

/* err 0: it plays; else why not. */
typedef void(sounds_h)(uint64_t ticket, int err, void *arg);

/* ENOMEM, EINVAL. Caller owns *out. */
int sounds_alloc(struct sounds **out, struct env *env, struct rest *rest, uint64_t guild, sounds_h *h, void *arg);
/* What waits is told nothing. */
struct sounds *sounds_free(struct sounds *s);
/* The handler is called once for the ticket, not from inside. ENOBUFS, ENOMEM. */
int sounds_play(struct sounds *s, uint64_t channel, const char *ref, uint64_t ticket);
/* Its name, or NULL when it is not in the list. Borrowed until the next call. */
const char *sounds_name(const struct sounds *s, uint64_t id);

#endif
