#include "tests/unit/guildd/dave_world.h"

#include <openssl/sha.h>

#include "proto/base/time.h"

struct member *dave_world_of(struct world *w, uint64_t user)
{
	return &w->member[user - A];
}

/* SHA-256 of V("MLS 1.0 Proposal Reference") V(AuthenticatedContent), which is the message without
 * its version. */
static void ref_of(struct slice message, uint8_t out[GD_MLS_REF])
{
	static const char label[] = "MLS 1.0 Proposal Reference";
	uint8_t buf[2048];
	struct wr w = wr_of(buf, sizeof(buf));

	gd_mls_put(&w, (struct slice){(const uint8_t *)label, sizeof(label) - 1});
	gd_mls_put(&w, (struct slice){message.p + 2, message.n - 2});
	SHA256(buf, w.pos, out);
}

/* Op 27 as a client takes it: references and key packages are kept, what is revoked goes. */
static void take_proposals(struct world *w, struct sent *s, struct slice payload)
{
	struct member *m = dave_world_of(w, s->user);
	struct rd r = rd_of(payload.p, payload.n);
	bool revoke = rd_be(&r, 1);
	struct slice list = gd_mls_vec(&r);

	r = rd_of(list.p, list.n);
	while (rd_left(&r)) {
		size_t from = r.pos;
		struct gd_key_package k;

		if (revoke) {
			struct slice ref = gd_mls_vec(&r);

			s->gone++;
			for (size_t i = 0; i < m->n_refs; i++) {
				if (memcmp(m->refs[i], ref.p, GD_MLS_REF) != 0)
					continue;
				m->n_refs--;
				memmove(m->refs[i], m->refs[i + 1], (m->n_refs - i) * GD_MLS_REF);
				memmove(m->adds[i], m->adds[i + 1], (m->n_refs - i) * GD_MLS_REF);
				break;
			}
			continue;
		}
		rd_bytes(&r, 4 + 9);
		s->epoch = rd_be(&r, 8);
		rd_bytes(&r, 7);
		memset(m->adds[m->n_refs], 0, GD_MLS_REF);
		if (rd_be(&r, 2) == 3) {
			s->removes++;
			rd_bytes(&r, 4);
		} else {
			for (size_t i = 0; i < MEMBERS; i++) {
				const struct member *o = &w->member[i];

				if (rd_left(&r) < o->kp_n || !o->kp_n ||
				    memcmp(r.p + r.pos, o->kp, o->kp_n) != 0)
					continue;
				rd_bytes(&r, o->kp_n);
				if (gd_key_package_read(&k, (struct slice){o->kp, o->kp_n}) == 0)
					memcpy(m->adds[m->n_refs], k.ref, GD_MLS_REF);
				s->add++;
				break;
			}
		}
		gd_mls_vec(&r);
		if (r.ok)
			ref_of((struct slice){r.p + from, r.pos - from}, m->refs[m->n_refs++]);
	}
}

static void on_binary(void *arg, uint64_t user, uint8_t op, struct slice payload)
{
	struct world *w = arg;
	struct sent *s = &w->sent[w->n_sent++];
	struct rd r = rd_of(payload.p, payload.n);

	*s = (struct sent){.user = user, .op = op};
	if (op == 25) {
		memcpy(w->sender, payload.p, payload.n);
		w->sender_n = payload.n;
	}
	if (op == 27)
		take_proposals(w, s, payload);
	if (op == 29 || op == 30) {
		s->id = (unsigned)rd_be(&r, 2);
		dave_world_of(w, user)->n_refs = 0;
	}
	if (op == 30) {
		struct slice secrets;
		struct rd list;

		rd_be(&r, 2);
		secrets = gd_mls_vec(&r);
		list = rd_of(secrets.p, secrets.n);
		for (; rd_left(&list); s->secrets++) {
			struct slice ref = gd_mls_vec(&list);

			if (ref.n == GD_MLS_REF)
				memcpy(s->refs[0], ref.p, GD_MLS_REF);
			gd_mls_vec(&list);
			gd_mls_vec(&list);
		}
	}
}

static void on_json(void *arg, uint64_t user, int op, unsigned version, unsigned id)
{
	struct world *w = arg;

	w->sent[w->n_sent++] = (struct sent){.user = user, .op = op, .version = version, .id = id};
	if (op == 24)
		dave_world_of(w, user)->n_refs = 0;
}

static void on_count(void *arg, uint64_t user, const char *what)
{
	struct world *w = arg;

	(void)user;
	w->late += strcmp(what, "dave_commit_late") == 0;
	w->bad += strcmp(what, "dave_commit_bad") == 0 || strcmp(what, "dave_kp_bad") == 0;
	w->won += strcmp(what, "dave_commit_won") == 0;
	w->straggler += strcmp(what, "dave_straggler") == 0;
	w->no_commit += strcmp(what, "dave_no_commit") == 0;
	w->unasked += strcmp(what, "dave_kp_unasked") == 0;
}

static const struct gd_group_h handler = {on_binary, on_json, on_count};

void dave_world_end(struct world *w)
{
	if (!w)
		return;
	gd_group_free(w->g);
	for (unsigned i = 0; i < MEMBERS; i++)
		member_end(&w->member[i].key);
	free(w);
}

struct world *dave_world_begin(void)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	gd_switches_default(&w->sw);
	w->sw.dave_verify_first = 1;
	w->now = 1000ull * NS_PER_MS;
	for (unsigned i = 0; i < MEMBERS; i++)
		member_begin(&w->member[i].key, A + i);
	if (gd_group_alloc(&w->g, CHANNEL, &w->sw, &handler, w)) {
		dave_world_end(w);
		return NULL;
	}
	return w;
}

void dave_world_join(struct world *w, uint64_t user)
{
	gd_group_join(w->g, user, 1, w->now);
}

int dave_world_key_package(struct world *w, uint64_t user)
{
	struct member *m = dave_world_of(w, user);
	struct wr out = wr_of(m->kp, sizeof(m->kp));
	struct gd_key_package k;

	member_key_package(&m->key, NULL, &out);
	m->kp_n = out.pos;
	m->n_refs = 0;
	if (gd_key_package_read(&k, (struct slice){m->kp, m->kp_n}) == 0)
		memcpy(m->kp_ref, k.ref, GD_MLS_REF);
	return gd_group_key_package(w->g, user, (struct slice){m->kp, m->kp_n}, w->now);
}

void dave_world_enter(struct world *w, uint64_t user)
{
	dave_world_join(w, user);
	dave_world_key_package(w, user);
}

int dave_world_commit(struct world *w, uint64_t user, struct with with)
{
	struct member *m = dave_world_of(w, user);
	static const uint8_t none[GD_MLS_REF];
	uint8_t buf[CAP], adds[16][GD_MLS_REF];
	struct wr out = wr_of(buf, sizeof(buf));
	struct member_commit c = {
		.group = with.group ? with.group : CHANNEL, .epoch = with.epoch, .leaf = with.leaf};
	size_t n = 0;
	bool removes = false;

	for (size_t i = 0; i < m->n_refs; i++) {
		if (memcmp(m->adds[i], none, GD_MLS_REF) == 0)
			removes = true;
		else
			memcpy(adds[n++], m->adds[i], GD_MLS_REF);
	}
	c.refs = (const uint8_t(*)[GD_MLS_REF])m->refs;
	c.n_refs = m->n_refs - with.without;
	c.path = removes && !with.no_path;
	if (with.unknown_ref)
		memset(m->refs[c.n_refs++], 0xee, GD_MLS_REF);
	if (with.unknown_secret)
		memset(adds[n++], 0xee, GD_MLS_REF);
	c.welcomes = (const uint8_t(*)[GD_MLS_REF])adds;
	c.n_welcomes = with.no_welcome ? 0 : n;
	if (!with.epoch) {
		c.kp = (struct slice){m->kp, m->kp_n};
		c.sender = (struct slice){w->sender, w->sender_n};
	}
	c.other_signature = with.other_signature;
	c.other_leaf_signature = with.other_leaf_signature;
	member_commit(&m->key, &c, &out);
	return gd_group_commit(w->g, user, (struct slice){buf, out.pos}, w->now);
}

unsigned dave_world_count(const struct world *w, size_t from, uint64_t user, int op,
			  const struct sent **last)
{
	unsigned n = 0;

	for (size_t i = from; i < w->n_sent; i++) {
		if (w->sent[i].user != user || w->sent[i].op != op)
			continue;
		n++;
		if (last)
			*last = &w->sent[i];
	}
	return n;
}

const char *dave_world_leaves(const struct world *w)
{
	static char text[64];
	json_t *o = gd_group_json(w->g);
	const json_t *list = json_object_get(o, "leaves");
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(list) && n + 2 < sizeof(text); i++) {
		const char *id = json_string_value(json_array_get(list, i));

		text[n++] = id ? (char)('A' + strtoull(id, NULL, 10) - A) : '.';
	}
	text[n] = '\0';
	json_decref(o);
	return text;
}

long long dave_world_number(const struct world *w, const char *name)
{
	json_t *o = gd_group_json(w->g);
	long long v = json_integer_value(json_object_get(o, name));

	json_decref(o);
	return v;
}
