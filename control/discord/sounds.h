/* The soundboard of one guild: keeps the list of its sounds and plays one. A shell around rest.h.
 *
 * The list (the guild's sounds and the default ones) is requested by its owner, and when a sound is
 * played while there is none. Events of the gateway keep it up to date. A list that failed is
 * requested again after a minute at the earliest.
 *
 * Everything runs on env's loop thread. */
#ifndef CONTROL_DISCORD_SOUNDS_H
#define CONTROL_DISCORD_SOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "control/discord/sound_list.h"

struct env;
struct rest;
struct sounds;

enum { SOUNDS_AGAIN_S = 60, SOUNDS_WAITING = 16 };

/* err: 0 when the sound plays; ENOENT, EEXIST (sound_list.h); EACCES when Discord refuses; EPERM
 * when it says that the bot is muted or deafened; otherwise another errno. */
typedef void(sounds_h)(uint64_t ticket, int err, void *arg);

/* The list came, or came again. Borrowed until return. */
typedef void(sounds_listed_h)(const struct sound_list *list, void *arg);

/* listedh may be NULL. ENOMEM, EINVAL. Caller owns *out. */
int sounds_alloc(struct sounds **out, struct env *env, struct rest *rest, uint64_t guild,
		 sounds_h *h, sounds_listed_h *listedh, void *arg);
/* Handlers of waiting sounds are not called. */
struct sounds *sounds_free(struct sounds *s);
/* external: sounds of other servers may be played. The handler is called once for the ticket, never
 * from inside this call. ENOBUFS, ENOMEM, ENOENT, EEXIST: it is not called. */
int sounds_play(struct sounds *s, uint64_t channel, const char *ref, bool external,
		uint64_t ticket);
/* Nobody wants this sound any more. True if it was not sent to Discord yet: then it never is, and
 * the handler is not called. */
bool sounds_cancel(struct sounds *s, uint64_t ticket);
/* An event of the gateway for this guild. The handler of lists is called if the list has changed.
 */
void sounds_event(struct sounds *s, const char *name, const json_t *d);
/* The list, NULL before it was complete for the first time. Borrowed until the next call. */
const struct sound_list *sounds_now(const struct sounds *s);
/* Requests the list. ENOMEM. */
int sounds_list(struct sounds *s);
/* A sound's name, or NULL when it is not in the list. Borrowed until the next call. */
const char *sounds_name(const struct sounds *s, uint64_t id);

#endif
