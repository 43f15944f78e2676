#include "tests/unit/mediad/mls/tree_model.h"

#include <sodium.h>

static uint32_t node_of(uint32_t lo, uint32_t width)
{
	return 2 * lo + width - 1;
}

static void wipe_parent(struct model *m, uint32_t node)
{
	memset(&m->parent[node], 0, sizeof m->parent[node]);
}

static void blank_above(struct model *m, uint32_t leaf)
{
	for (uint32_t w = 2; w <= m->width; w *= 2)
		wipe_parent(m, node_of(leaf / w * w, w));
}

bool model_add(struct model *m, struct mls_leaf *l, uint32_t *leaf)
{
	uint32_t i = 0;

	while (i < m->width && m->leaf[i])
		i++;
	if (i == MODEL_LEAVES)
		return false;
	if (i == m->width)
		m->width = i ? 2 * i : 1;
	for (uint32_t w = 2; w <= m->width; w *= 2)
		if (m->parent[node_of(i / w * w, w)].set)
			m->parent[node_of(i / w * w, w)].unmerged[i] = true;
	m->leaf[i] = l;
	*leaf = i;
	return true;
}

void model_update(struct model *m, uint32_t leaf, struct mls_leaf *l)
{
	blank_above(m, leaf);
	m->leaf[leaf] = l;
}

static bool members_from(const struct model *m, uint32_t lo, uint32_t hi)
{
	for (uint32_t i = lo; i < hi; i++)
		if (m->leaf[i])
			return true;
	return false;
}

void model_remove(struct model *m, uint32_t leaf)
{
	blank_above(m, leaf);
	m->leaf[leaf] = NULL;
	while (m->width && !members_from(m, m->width / 2, m->width)) {
		for (uint32_t x = m->width / 2 ? m->width - 1 : 0; x < 2 * m->width; x++)
			wipe_parent(m, x);
		m->width /= 2;
	}
}

bool model_on_path(const struct model *m, uint32_t sender, uint32_t node)
{
	uint32_t out[MODEL_LEAVES];

	for (uint32_t w = 2; w <= m->width; w *= 2) {
		uint32_t lo = sender / w * w, half = w / 2;

		if (node_of(lo, w) == node)
			return model_resolution(m, sender < lo + half ? lo + half : lo, half, out) >
			       0;
	}
	return false;
}

void model_set_parent(struct model *m, uint32_t node, const uint8_t key[5], const uint8_t hash[3])
{
	wipe_parent(m, node);
	m->parent[node].set = true;
	memcpy(m->parent[node].key, key, 5);
	memcpy(m->parent[node].hash, hash, 3);
}

void model_hash(const struct model *m, uint32_t lo, uint32_t width, const bool *without,
		uint8_t out[32])
{
	const struct model_parent *p = &m->parent[node_of(lo, width)];
	uint8_t bytes[1024], list[4 * MODEL_LEAVES];
	struct wr w = wr_of(bytes, sizeof bytes), u = wr_of(list, sizeof list);
	const struct mls_leaf *l = m->leaf[lo];

	if (width == 1) {
		wr_be(&w, 1, 1);
		wr_be(&w, lo, 4);
		wr_be(&w, l && !(without && without[lo]), 1);
		if (l && !(without && without[lo]))
			wr_bytes(&w, l->raw.p, l->raw.n);
		crypto_hash_sha256(out, bytes, w.pos);
		return;
	}
	wr_be(&w, 2, 1);
	wr_be(&w, p->set, 1);
	if (p->set) {
		for (uint32_t i = 0; i < MODEL_LEAVES; i++)
			if (p->unmerged[i] && !(without && without[i]))
				wr_be(&u, i, 4);
		wr_be(&w, 5, 1);
		wr_bytes(&w, p->key, 5);
		wr_be(&w, 3, 1);
		wr_bytes(&w, p->hash, 3);
		wr_be(&w, u.pos < 64 ? u.pos : 0x4000 | u.pos, u.pos < 64 ? 1 : 2);
		wr_bytes(&w, list, u.pos);
	}
	for (uint32_t half = 0; half < 2; half++) {
		uint8_t child[32];

		model_hash(m, lo + half * width / 2, width / 2, without, child);
		wr_be(&w, 32, 1);
		wr_bytes(&w, child, 32);
	}
	crypto_hash_sha256(out, bytes, w.pos);
}

uint32_t model_resolution(const struct model *m, uint32_t lo, uint32_t width, uint32_t *out)
{
	const struct model_parent *p = &m->parent[node_of(lo, width)];
	uint32_t n = 0;

	if (width == 1) {
		if (m->leaf[lo])
			out[n++] = 2 * lo;
	} else if (p->set) {
		out[n++] = node_of(lo, width);
		for (uint32_t i = 0; i < MODEL_LEAVES; i++)
			if (p->unmerged[i])
				out[n++] = 2 * i;
	} else {
		n = model_resolution(m, lo, width / 2, out);
		n += model_resolution(m, lo + width / 2, width / 2, out + n);
	}
	return n;
}
