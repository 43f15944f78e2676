#include "tests/guildd/heard.h"

#include "tests/guildd/objects.h"

struct run {
	uint32_t first, last;
};

struct heard {
	uint64_t user, count;
	uint32_t ssrc;
	size_t n, cap;
	struct run *run;
};

static struct heard *of(struct gd_vec *list, uint64_t user, uint32_t ssrc)
{
	struct heard *h;

	for (size_t i = 0; i < list->n; i++) {
		h = list->v[i];
		if (h->ssrc == ssrc)
			return h;
	}
	h = calloc(1, sizeof(*h));
	if (!h || gd_vec_add(list, h)) {
		free(h);
		return NULL;
	}
	h->user = user;
	h->ssrc = ssrc;
	return h;
}

void gd_heard_add(struct gd_vec *list, uint64_t user, uint32_t ssrc, uint32_t ext)
{
	struct heard *h = of(list, user, ssrc);

	if (!h)
		return;
	h->count++;
	if (h->n && h->run[h->n - 1].last + 1 == ext) {
		h->run[h->n - 1].last = ext;
		return;
	}
	if (h->n == h->cap) {
		size_t cap = h->cap ? h->cap * 2 : 16;
		struct run *run = realloc(h->run, cap * sizeof(*run));

		if (!run)
			return;
		h->run = run;
		h->cap = cap;
	}
	h->run[h->n++] = (struct run){ext, ext};
}

void gd_heard_clear(struct gd_vec *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct heard *h = list->v[i];

		free(h->run);
		free(h);
	}
	gd_vec_clear(list);
}

json_t *gd_heard_json(const struct gd_vec *list)
{
	json_t *all = json_array();

	for (size_t i = 0; i < list->n; i++) {
		const struct heard *h = list->v[i];
		json_t *runs = json_array();

		for (size_t k = 0; k < h->n; k++)
			json_array_append_new(runs, json_pack("[I, I]", (json_int_t)h->run[k].first,
							      (json_int_t)h->run[k].last));
		json_array_append_new(all,
				      json_pack("{s:o, s:I, s:I, s:o}", "user_id",
						gd_id_json(h->user), "ssrc", (json_int_t)h->ssrc,
						"count", (json_int_t)h->count, "runs", runs));
	}
	return all;
}
