#include "tests/guildd/history.h"

#include "tests/guildd/objects.h"

#include "ipc/env.h"

#include <errno.h>
#include <stdlib.h>

struct entry {
	const char *what;
	uint64_t user, channel, from_ms, to_ms;
	uint64_t packets; /* of a sound */
};

struct gd_history {
	struct guildd *g;
	uint64_t n; /* ever added; the last GD_HISTORY are kept */
	struct entry v[GD_HISTORY];
};

int gd_history_alloc(struct gd_history **out, struct guildd *g)
{
	struct gd_history *h = calloc(1, sizeof(*h));

	if (!h)
		return ENOMEM;
	h->g = g;
	*out = h;
	return 0;
}

struct gd_history *gd_history_free(struct gd_history *h)
{
	free(h);
	return NULL;
}

void gd_history_add(struct gd_history *h, const char *what, uint64_t user, uint64_t channel)
{
	uint64_t now = env_wall_ms(h->g->env);

	h->v[h->n++ % GD_HISTORY] = (struct entry){what, user, channel, now, now, 1};
}

static const char sound[] = "sound";

void gd_history_sound(struct gd_history *h, uint64_t user, uint64_t channel)
{
	uint64_t now = env_wall_ms(h->g->env);

	for (uint64_t i = h->n; i > 0 && i + GD_HISTORY > h->n; i--) {
		struct entry *e = &h->v[(i - 1) % GD_HISTORY];

		if (e->what != sound || e->user != user)
			continue;
		if (e->channel != channel || now - e->to_ms >= GD_SOUND_GAP_MS)
			break;
		e->to_ms = now;
		e->packets++;
		return;
	}
	gd_history_add(h, sound, user, channel);
}

void gd_history_reset(struct gd_history *h)
{
	h->n = 0;
}

json_t *gd_history_json(const struct gd_history *h)
{
	uint64_t first = h->n > GD_HISTORY ? h->n - GD_HISTORY : 0;
	json_t *list = json_array();

	for (uint64_t i = first; i < h->n; i++) {
		const struct entry *e = &h->v[i % GD_HISTORY];

		json_array_append_new(
			list, json_pack("{s:s, s:o, s:o, s:I, s:I, s:I}", "what", e->what,
					"user_id", gd_id_json(e->user), "channel_id",
					e->channel ? gd_id_json(e->channel) : json_null(),
					"from_ms", (json_int_t)e->from_ms, "to_ms",
					(json_int_t)e->to_ms, "packets", (json_int_t)e->packets));
	}
	return list;
}
