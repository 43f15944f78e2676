/* The delivery service of one channel against scripted members. */
#include "tests/guildd/dave_group.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/guildd/member.h"

#include <openssl/sha.h>

enum { CHANNEL = 77, MAX_SENT = 400, MEMBERS = 6, CAP = 8192 };
/* Users by their place. */
enum { A = 501, B, C, D, E, F };

/* One message that went out. */
struct sent {
	uint64_t user;
	int op;
	unsigned version, id;	     /* JSON: id or epoch; ops 29 and 30: the id */
	unsigned add, removes, gone; /* op 27 */
	uint64_t epoch;		     /* of the proposals */
	uint8_t refs[8][GD_MLS_REF];
	size_t secrets; /* op 30 */
};

struct member {
	struct member_key key;
	uint8_t kp[CAP];
	size_t kp_n;
	uint8_t kp_ref[GD_MLS_REF];
	uint8_t refs[16][GD_MLS_REF]; /* proposals of this epoch, as a client keeps them */
	uint8_t adds[16][GD_MLS_REF]; /* key package behind each; zeros: a Remove */
	size_t n_refs;
};

struct world {
	struct gd_switches sw;
	struct gd_group *g;
	struct member member[MEMBERS];
	struct sent sent[MAX_SENT];
	size_t n_sent;
	unsigned late, bad, won, straggler, no_commit, unasked;
	uint8_t sender[128]; /* op 25 */
	size_t sender_n;
	uint64_t now;
};

static struct member *of(struct world *w, uint64_t user)
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
	struct member *m = of(w, s->user);
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
		of(w, user)->n_refs = 0;
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
		of(w, user)->n_refs = 0;
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

static void world_end(struct world *w)
{
	if (!w)
		return;
	gd_group_free(w->g);
	for (unsigned i = 0; i < MEMBERS; i++)
		member_end(&w->member[i].key);
	free(w);
}

/* Freed by world_end. NULL without memory. */
static struct world *world_begin(void)
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
		world_end(w);
		return NULL;
	}
	return w;
}

static void join(struct world *w, uint64_t user)
{
	gd_group_join(w->g, user, 1, w->now);
}

static int key_package(struct world *w, uint64_t user)
{
	struct member *m = of(w, user);
	struct wr out = wr_of(m->kp, sizeof(m->kp));
	struct gd_key_package k;

	member_key_package(&m->key, NULL, &out);
	m->kp_n = out.pos;
	m->n_refs = 0;
	if (gd_key_package_read(&k, (struct slice){m->kp, m->kp_n}) == 0)
		memcpy(m->kp_ref, k.ref, GD_MLS_REF);
	return gd_group_key_package(w->g, user, (struct slice){m->kp, m->kp_n}, w->now);
}

static void enter(struct world *w, uint64_t user)
{
	join(w, user);
	key_package(w, user);
}

/* A commit over all that the member was sent, with what `with` changes. */
struct with {
	uint32_t leaf;
	uint64_t epoch;
	size_t without; /* proposals left out at the end */
	bool no_welcome, no_path, unknown_ref, unknown_secret;
	bool other_signature, other_leaf_signature;
	uint64_t group;
};

static int commit(struct world *w, uint64_t user, struct with with)
{
	struct member *m = of(w, user);
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

/* How many messages of this kind went to the user since `from`; *last, unless NULL, the last of
 * them. */
static unsigned count(const struct world *w, size_t from, uint64_t user, int op,
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

static const char *leaves(const struct world *w)
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

static long long number(const struct world *w, const char *name)
{
	json_t *o = gd_group_json(w->g);
	long long v = json_integer_value(json_object_get(o, name));

	json_decref(o);
	return v;
}

/* A, B and C in a group at epoch 2 on leaves 0, 1, 2. */
static struct world *three(void)
{
	struct world *w = world_begin();

	if (!w)
		return NULL;
	enter(w, A);
	enter(w, B);
	commit(w, A, (struct with){0});
	enter(w, C);
	commit(w, B, (struct with){.leaf = 1, .epoch = 1});
	for (uint64_t u = A; u <= C; u++)
		gd_group_ready(w->g, u, 1, w->now);
	return w;
}

TEST(guildd_dave_first_two)
{
	struct world *w = world_begin();
	const struct sent *s = NULL;

	CHECK(w != NULL);
	CHECK_INT(gd_group_version(w->g, 1), 1);
	CHECK_INT(gd_group_version(w->g, 0), 0);
	enter(w, A);
	CHECK_INT(w->n_sent, 1); /* op 25, and nothing else while it is alone */
	CHECK_INT(w->sent[0].op, 25);
	enter(w, B);
	CHECK_INT(count(w, 0, A, 27, &s), 1);
	CHECK(s->add == 1 && s->epoch == 0);
	CHECK_INT(count(w, 0, B, 27, &s), 1);
	CHECK_MEM(of(w, A)->adds[0], GD_MLS_REF, of(w, B)->kp_ref, GD_MLS_REF);
	CHECK_MEM(of(w, B)->adds[0], GD_MLS_REF, of(w, A)->kp_ref, GD_MLS_REF);
	CHECK_INT(commit(w, B, (struct with){0}), 0);
	CHECK_INT(count(w, 0, B, 29, &s), 1);
	CHECK_INT(s->id, 0);
	CHECK_INT(count(w, 0, A, 29, NULL), 0);
	CHECK_INT(count(w, 0, A, 30, &s), 1);
	CHECK(s->id == 0 && s->secrets == 1);
	CHECK_MEM(s->refs[0], GD_MLS_REF, of(w, A)->kp_ref, GD_MLS_REF);
	CHECK_STR(leaves(w), "BA");
	CHECK_INT(number(w, "epoch"), 1);
	commit(w, A, (struct with){0}); /* the other was slower */
	CHECK_INT(w->late, 1);
	CHECK_INT(count(w, 0, A, 22, NULL) + count(w, 0, B, 22, NULL), 0);
	CHECK_INT(gd_group_due(w->g) == UINT64_MAX, 1);
	world_end(w);
}

TEST(guildd_dave_first_commit_may_have_an_id)
{
	struct world *w = world_begin();
	const struct sent *s = NULL;

	CHECK(w != NULL);
	w->sw.dave_first_id = 1;
	enter(w, A);
	enter(w, B);
	commit(w, A, (struct with){0});
	CHECK_INT(count(w, 0, B, 30, &s), 1);
	CHECK_INT(s->id, 1);
	gd_group_ready(w->g, A, 1, w->now);
	CHECK_INT(count(w, 0, A, 22, NULL), 0);
	gd_group_ready(w->g, B, 1, w->now);
	CHECK_INT(count(w, 0, A, 22, NULL) + count(w, 0, B, 22, NULL), 2);
	world_end(w);
}

TEST(guildd_dave_third_and_stragglers)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;

	CHECK(w != NULL);
	CHECK_STR(leaves(w), "ABC");
	CHECK_INT(number(w, "epoch"), 2);
	CHECK_INT(count(w, 0, C, 27, NULL), 0); /* who waits for a place commits nothing */
	CHECK_INT(count(w, 0, A, 22, &s), 1);
	CHECK_INT(s->id, 1);
	from = w->n_sent;
	enter(w, D);
	commit(w, C, (struct with){.leaf = 2, .epoch = 2});
	for (uint64_t u = A; u <= C; u++)
		gd_group_ready(w->g, u, 2, w->now);
	gd_group_ready(w->g, A, 2, w->now); /* twice is once */
	CHECK_INT(count(w, from, A, 22, NULL), 0);
	CHECK(gd_group_due(w->g) == w->now + 2000ull * NS_PER_MS);
	w->now += 2000ull * NS_PER_MS;
	gd_group_tick(w->g, w->now);
	for (uint64_t u = A; u <= D; u++)
		CHECK_INT(count(w, from, u, 22, NULL), 1);
	CHECK_INT(w->straggler, 1);
	gd_group_ready(w->g, D, 2, w->now);
	CHECK_INT(count(w, from, D, 22, NULL), 1);
	world_end(w);
}

TEST(guildd_dave_commits_that_do_not_win)
{
	struct world *w = three();

	CHECK(w != NULL);
	enter(w, D);
	gd_group_leave(w->g, B, w->now); /* Remove of leaf 1, Add of D */
	commit(w, A, (struct with){.epoch = 1});
	commit(w, A, (struct with){.epoch = 2, .group = 78});
	commit(w, A, (struct with){.epoch = 2, .leaf = 2});
	commit(w, A, (struct with){.epoch = 2, .without = 1});
	commit(w, A, (struct with){.epoch = 2, .unknown_ref = true});
	commit(w, D, (struct with){.epoch = 2});
	CHECK_INT(w->late, 6);
	commit(w, A, (struct with){.epoch = 2, .no_welcome = true});
	commit(w, A, (struct with){.epoch = 2, .no_path = true});
	commit(w, A, (struct with){.epoch = 2, .unknown_secret = true});
	commit(w, A, (struct with){.epoch = 2, .other_leaf_signature = true});
	CHECK_INT(w->bad, 4);
	CHECK_INT(number(w, "epoch"), 2);
	CHECK_INT(gd_group_commit(w->g, A, (struct slice){(const uint8_t *)"commit", 6}, w->now),
		  EBADMSG);
	commit(w, C, (struct with){.epoch = 2, .leaf = 2});
	CHECK_INT(number(w, "epoch"), 3);
	CHECK_STR(leaves(w), "ADC"); /* the leftmost blank is taken */
	world_end(w);
}

TEST(guildd_dave_verifies_the_first_commit)
{
	struct world *w = world_begin();

	CHECK(w != NULL);
	enter(w, A);
	enter(w, B);
	commit(w, A, (struct with){.other_signature = true});
	CHECK_INT(w->bad, 1);
	CHECK_INT(number(w, "epoch"), 0);
	commit(w, B, (struct with){0});
	CHECK_INT(w->bad, 1);
	CHECK_INT(number(w, "epoch"), 1);
	CHECK_STR(leaves(w), "BA");
	world_end(w);
}

TEST(guildd_dave_add_is_revoked)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;

	CHECK(w != NULL);
	enter(w, D);
	from = w->n_sent;
	gd_group_leave(w->g, D, w->now);
	CHECK_INT(count(w, from, A, 27, &s), 1);
	CHECK_INT(s->gone, 1);
	CHECK_INT(of(w, A)->n_refs, 0);
	CHECK_INT(number(w, "proposals"), 0);
	CHECK(gd_group_due(w->g) == UINT64_MAX);
	enter(w, D);
	CHECK_INT(of(w, B)->n_refs, 1);
	commit(w, B, (struct with){.epoch = 2, .leaf = 1});
	CHECK_STR(leaves(w), "ABCD");
	world_end(w);
}

/* An op 27 that changes what is proposed holds an Add as long as there is one, or davey's commit
 * has no Welcome. */
TEST(guildd_dave_add_is_repeated)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;

	CHECK(w != NULL);
	enter(w, D);
	from = w->n_sent;
	gd_group_leave(w->g, C, w->now);
	CHECK_INT(count(w, from, A, 27, &s), 2);
	CHECK(s->add == 1 && s->removes == 1);
	CHECK_INT(of(w, A)->n_refs, 2);
	commit(w, A, (struct with){.epoch = 2});
	CHECK_STR(leaves(w), "ABD");
	world_end(w);

	w = three();
	CHECK(w != NULL);
	w->sw.dave_renew_adds = 0;
	enter(w, D);
	from = w->n_sent;
	gd_group_leave(w->g, C, w->now);
	CHECK_INT(count(w, from, A, 27, &s), 1);
	CHECK(s->add == 0 && s->removes == 1);
	world_end(w);
}

TEST(guildd_dave_lost_member_gets_a_new_place)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;

	CHECK(w != NULL);
	from = w->n_sent;
	CHECK_INT(key_package(w, A), 0); /* unasked */
	CHECK_INT(w->unasked, 1);
	CHECK_INT(w->n_sent, from);
	gd_group_invalid(w->g, B, 7, w->now);
	CHECK_INT(w->n_sent, from); /* first its new key package */
	CHECK_INT(key_package(w, B), 0);
	CHECK_INT(count(w, from, A, 27, &s), 1);
	CHECK(s->removes == 1 && s->add == 1);
	CHECK_INT(count(w, from, B, 27, NULL), 0);
	commit(w, A, (struct with){.epoch = 2});
	CHECK_INT(count(w, from, B, 29, NULL), 0);
	CHECK_INT(count(w, from, B, 30, NULL), 1);
	CHECK_STR(leaves(w), "ABC");
	world_end(w);
}

/* All lost it: those who wait start over by themselves. */
TEST(guildd_dave_everybody_lost)
{
	struct world *w = three();

	CHECK(w != NULL);
	for (uint64_t u = A; u <= C; u++) {
		gd_group_invalid(w->g, u, 1, w->now);
		key_package(w, u);
	}
	CHECK_INT(number(w, "epoch"), 0);
	CHECK_INT(of(w, A)->n_refs, 2);
	commit(w, C, (struct with){0});
	CHECK_INT(number(w, "epoch"), 1);
	CHECK_STR(leaves(w), "CAB");
	world_end(w);
}

TEST(guildd_dave_alone_again)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;

	CHECK(w != NULL);
	gd_group_leave(w->g, A, w->now);
	from = w->n_sent;
	gd_group_leave(w->g, C, w->now);
	CHECK_INT(count(w, from, B, 24, &s), 1);
	CHECK(s->version == 1 && s->id == 1);
	CHECK_INT(count(w, from, B, 21, &s), 1);
	CHECK(s->version == 1 && s->id == 0);
	CHECK_INT(count(w, from, B, 25, NULL), 0); /* it knows the sender */
	CHECK_INT(number(w, "epoch"), 0);
	CHECK_STR(leaves(w), "");
	key_package(w, B);
	enter(w, D);
	commit(w, D, (struct with){0});
	CHECK_STR(leaves(w), "DB");
	gd_group_leave(w->g, B, w->now);
	gd_group_leave(w->g, D, w->now);
	CHECK(gd_group_empty(w->g));
	world_end(w);
}

TEST(guildd_dave_down_and_up)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;
	unsigned id;

	CHECK(w != NULL);
	from = w->n_sent;
	gd_group_join(w->g, D, 0, w->now);
	for (uint64_t u = A; u <= C; u++)
		CHECK_INT(count(w, from, u, 21, &s), 1);
	CHECK(s->version == 0 && s->id != 0);
	id = s->id;
	CHECK_INT(count(w, from, D, 21, NULL), 0);
	CHECK_INT(gd_group_version(w->g, 1), 0);
	CHECK_INT(gd_group_seal(w->g, A, w->now + 1000ull * NS_PER_MS), GD_SEAL_MUST);
	for (uint64_t u = A; u <= C; u++)
		gd_group_ready(w->g, u, (uint16_t)id, w->now);
	CHECK_INT(count(w, from, A, 22, NULL), 1);
	CHECK_INT(gd_group_seal(w->g, A, w->now + 1000ull * NS_PER_MS), GD_SEAL_NONE);
	CHECK_INT(number(w, "epoch"), 0);
	from = w->n_sent;
	gd_group_leave(w->g, D, w->now);
	CHECK_INT(count(w, from, A, 24, &s), 1);
	CHECK(s->version == 1 && s->id == 1);
	for (uint64_t u = A; u <= C; u++)
		key_package(w, u);
	commit(w, A, (struct with){0});
	CHECK_INT(count(w, from, B, 30, &s), 1);
	CHECK(s->id != 0); /* nobody is encrypted before all are */
	CHECK_INT(gd_group_seal(w->g, A, w->now + 1000ull * NS_PER_MS), GD_SEAL_NONE);
	for (uint64_t u = A; u <= C; u++)
		gd_group_ready(w->g, u, (uint16_t)s->id, w->now);
	CHECK_INT(gd_group_seal(w->g, A, w->now), GD_SEAL_EARLY);
	CHECK_INT(gd_group_seal(w->g, A, w->now + 500ull * NS_PER_MS), GD_SEAL_MUST);
	world_end(w);
}

TEST(guildd_dave_proposals_wait_for_the_transition)
{
	struct world *w = three();
	size_t from;

	CHECK(w != NULL);
	enter(w, D);
	commit(w, A, (struct with){.epoch = 2});
	from = w->n_sent;
	enter(w, E);
	CHECK_INT(count(w, from, A, 27, NULL), 0);
	gd_group_leave(w->g, D, w->now);
	for (uint64_t u = A; u <= C; u++)
		gd_group_ready(w->g, u, 2, w->now);
	CHECK_INT(count(w, from, A, 22, NULL), 1);
	CHECK_INT(count(w, from, A, 27, NULL), 1); /* Remove of D, Add of E at once */
	commit(w, A, (struct with){.epoch = 3});
	CHECK_STR(leaves(w), "ABCE");
	world_end(w);

	w = three();
	CHECK(w != NULL);
	w->sw.dave_overlap = 1;
	enter(w, D);
	commit(w, A, (struct with){.epoch = 2});
	from = w->n_sent;
	enter(w, E);
	CHECK_INT(count(w, from, A, 27, NULL), 1);
	commit(w, A, (struct with){.epoch = 3});
	CHECK_STR(leaves(w), "ABCDE");
	for (uint64_t u = A; u <= E; u++)
		gd_group_ready(w->g, u, 3, w->now);
	CHECK_INT(count(w, from, A, 22, NULL), 1);
	for (uint64_t u = A; u <= D; u++)
		gd_group_ready(w->g, u, 2, w->now);
	CHECK_INT(count(w, from, A, 22, NULL), 2);
	world_end(w);
}

TEST(guildd_dave_ids_wrap)
{
	struct world *w = three();
	const struct sent *s = NULL;

	CHECK(w != NULL);
	gd_group_next_transition(w->g, 65535);
	enter(w, D);
	commit(w, A, (struct with){.epoch = 2});
	CHECK_INT(count(w, 0, D, 30, &s), 1);
	CHECK_INT(s->id, 65535);
	for (uint64_t u = A; u <= D; u++)
		gd_group_ready(w->g, u, 65535, w->now);
	enter(w, E);
	commit(w, A, (struct with){.epoch = 3});
	CHECK_INT(count(w, 0, E, 30, &s), 1);
	CHECK_INT(s->id, 1); /* 0 means: at once */
	world_end(w);
}

TEST(guildd_dave_nobody_commits)
{
	struct world *w = three();
	const struct sent *s = NULL;
	size_t from;

	CHECK(w != NULL);
	CHECK_INT(gd_group_new_sender(w->g), 0);
	enter(w, D);
	from = w->n_sent;
	CHECK(gd_group_due(w->g) == w->now + 5000ull * NS_PER_MS);
	w->now += 5000ull * NS_PER_MS;
	gd_group_tick(w->g, w->now);
	CHECK_INT(w->no_commit, 1);
	for (uint64_t u = A; u <= D; u++)
		CHECK_INT(count(w, from, u, 24, NULL), 1);
	CHECK_INT(count(w, from, A, 25, NULL), 1); /* the new sender; D was told already */
	CHECK_INT(count(w, from, D, 25, NULL), 0);
	for (uint64_t u = A; u <= D; u++)
		key_package(w, u);
	commit(w, D, (struct with){0});
	CHECK_INT(count(w, from, C, 30, &s), 1);
	CHECK_STR(leaves(w), "DABC");
	world_end(w);
}

TEST(guildd_dave_gathers_key_packages)
{
	struct world *w = world_begin();
	const struct sent *s = NULL;

	CHECK(w != NULL);
	w->sw.dave_batch_ms = 100;
	for (uint64_t u = A; u <= D; u++)
		enter(w, u);
	CHECK_INT(count(w, 0, A, 27, NULL), 0);
	w->now += 100ull * NS_PER_MS;
	gd_group_tick(w->g, w->now);
	CHECK_INT(count(w, 0, A, 27, &s), 1);
	CHECK_INT(s->add, 3);
	world_end(w);
}

/* Three wait, one of them leaves, one comes: the rest is told what to forget and what is new. */
TEST(guildd_dave_coming_and_going_before_the_first_commit)
{
	struct world *w = world_begin();

	CHECK(w != NULL);
	enter(w, A);
	enter(w, B);
	enter(w, C);
	CHECK_INT(of(w, A)->n_refs, 2);
	CHECK_INT(of(w, C)->n_refs, 2);
	gd_group_leave(w->g, B, w->now);
	CHECK_INT(of(w, A)->n_refs, 1);
	enter(w, D);
	CHECK_INT(of(w, A)->n_refs, 2);
	CHECK_INT(of(w, C)->n_refs, 2);
	CHECK_INT(of(w, D)->n_refs, 2);
	key_package(w, C); /* C began anew by itself */
	CHECK_INT(of(w, A)->n_refs, 2);
	CHECK_INT(of(w, C)->n_refs, 2);
	commit(w, C, (struct with){0});
	CHECK_INT(number(w, "epoch"), 1);
	CHECK_INT(w->bad + w->late, 0);
	world_end(w);
}

TEST(guildd_dave_key_package_of_another)
{
	struct world *w = world_begin();

	CHECK(w != NULL);
	join(w, A);
	join(w, B);
	CHECK_INT(key_package(w, B), 0);
	CHECK_INT(
		gd_group_key_package(w->g, A, (struct slice){of(w, B)->kp, of(w, B)->kp_n}, w->now),
		EBADMSG);
	CHECK_INT(w->bad, 1);
	world_end(w);
}

TEST_OOM(guildd_dave_without_memory)
{
	struct world *w = three();

	if (!w)
		return;
	enter(w, D);
	commit(w, A, (struct with){.epoch = 2});
	gd_group_leave(w->g, A, w->now);
	w->now += 10000ull * NS_PER_MS;
	gd_group_tick(w->g, w->now);
	world_end(w);
}

/* Whoever leaves while key packages are gathered is not committed. */
TEST(dave_group_withdraws_adds_of_who_left_while_it_gathers)
{
	struct world *w = world_begin();

	for (uint64_t u = A; u <= C; u++)
		enter(w, u);
	w->sw.dave_batch_ms = 100;
	enter(w, D);
	gd_group_leave(w->g, C, w->now);
	commit(w, A, (struct with){0});
	CHECK_STR(leaves(w), "AB");
	world_end(w);
}

TEST(dave_group_withdraws_adds_of_who_began_anew_while_it_gathers)
{
	struct world *w = world_begin();

	for (uint64_t u = A; u <= C; u++)
		enter(w, u);
	w->sw.dave_batch_ms = 100;
	key_package(w, C);
	commit(w, A, (struct with){0});
	CHECK_STR(leaves(w), "AB");
	world_end(w);
}
