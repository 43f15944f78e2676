/* Our own stream: a film that the account shows in the bot's voice channel.
 *
 * mediad opens the film first, so that one which cannot be shown announces no stream. Then the
 * stream is requested (streams.h), and its lease goes to the call that has the film already. There
 * is one at a time. Everything runs on env's thread. */
#ifndef CONTROL_GOLIVE_SHOW_H
#define CONTROL_GOLIVE_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "control/vision/vision.h"

struct env;
struct golive_room;
struct guilds;
struct media;
struct settings;
struct show;
struct streams;
struct streams_act;

enum { SHOW_TOLD_S = 3600 };

/* Everything is borrowed for as long as it lives. */
struct show_conf {
	struct env *env;
	struct media *media;
	struct guilds *guilds;
	struct streams *streams;
	struct vision *vision;
	const struct golive_room *room;
	const struct settings *settings;
	unsigned n_folders; /* of mediad, in which a film may be */
};

/* ENOMEM. Caller owns *out. */
int show_alloc(struct show **out, const struct show_conf *conf);
struct show *show_free(struct show *s);

/* Begins. The account has to be known. Returns NULL, and h follows once; or a clause for people,
 * why it does not, which is borrowed until the next one. */
const char *show_film(struct show *s, const struct vision_film *film, vision_film_h *h, void *arg);
/* h with this argument is not called any more. */
void show_forget(struct show *s, const void *arg);
/* A person who is erased asked for nothing any more. */
void show_forget_user(struct show *s, uint64_t user);
/* Ends what is shown in this server (0: in any). False: nothing is. */
bool show_end(struct show *s, uint64_t guild);

/* Actions of streams.h; others than those of this stream are ignored. */
void show_take_act(struct show *s, const struct streams_act *act);
/* To be called a few times a second while show_runs. */
void show_tick(struct show *s);
bool show_runs(const struct show *s);
/* What is shown in this server, or was last (out->why) for SHOW_TOLD_S; false: nothing. Texts are
 * borrowed until the next step. */
bool show_now(const struct show *s, uint64_t guild, struct vision_show *out);

#endif
