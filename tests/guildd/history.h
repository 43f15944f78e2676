/* What happened in this Discord, in order, with the time of day: who was in which channel, which
 * voice and main sessions there were, and when a client sent sound. A test compares it with what a
 * bot tells people (GET /history). */
#ifndef GUILDD_HISTORY_H
#define GUILDD_HISTORY_H

#include "tests/guildd/guildd.h"

enum { GD_HISTORY = 8192, GD_SOUND_GAP_MS = 200 };

struct gd_history;

int gd_history_alloc(struct gd_history **out, struct guildd *g);
struct gd_history *gd_history_free(struct gd_history *h);
/* what: static text. channel 0: in none. */
void gd_history_add(struct gd_history *h, const char *what, uint64_t user, uint64_t channel);
/* A packet of sound: extends the user's last sound, or begins another after GD_SOUND_GAP_MS. */
void gd_history_sound(struct gd_history *h, uint64_t user, uint64_t channel);
void gd_history_reset(struct gd_history *h);
/* An array of {what, user_id, channel_id, from_ms, to_ms, packets}; caller owns it. */
json_t *gd_history_json(const struct gd_history *h);

#endif
