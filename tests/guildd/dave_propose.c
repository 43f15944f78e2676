/* Proposals and commits of one channel's group. */
#include "tests/guildd/dave_inside.h"

#include "proto/base/time.h"

void group_drop_proposals(struct gd_group *g)
{
	while (g->proposals.n)
		free(gd_vec_take(&g->proposals, g->proposals.n - 1));
	g->commit_due = UINT64_MAX;
}

/* True if m shall get a leaf by a commit. */
static bool joins(const struct member *m)
{
	return m->kp && !member_healthy(m);
}

/* True if the leaf's user is gone, or comes back on another leaf in the same epoch. */
static bool leaves(const struct gd_group *g, uint32_t leaf)
{
	const struct member *m = g->leaf[leaf] ? group_find(g, g->leaf[leaf]) : NULL;

	if (!g->leaf[leaf])
		return false;
	return !m || !m->in || m->leaf != leaf || (m->redo && m->kp);
}

static const struct gd_proposal *remove_of(const struct gd_group *g, uint32_t leaf)
{
	for (size_t i = 0; i < g->proposals.n; i++) {
		const struct gd_proposal *p = g->proposals.v[i];

		if (!p->add && p->leaf == leaf)
			return p;
	}
	return NULL;
}

static const struct gd_proposal *add_of(const struct gd_group *g, uint64_t user)
{
	for (size_t i = 0; i < g->proposals.n; i++) {
		const struct gd_proposal *p = g->proposals.v[i];

		if (p->add && p->user == user)
			return p;
	}
	return NULL;
}

static void add_proposal(struct gd_group *g, uint64_t user, struct slice kp, uint32_t leaf)
{
	struct gd_proposal *p;

	if (gd_sender_propose(g->sender, &p, g->channel, g->epoch, kp, leaf))
		return;
	p->user = user;
	p->fresh = true;
	if (gd_vec_add(&g->proposals, p))
		free(p);
}

/* Adds of who left, or has another key package now, go from the list to `gone`. */
static void revoke(struct gd_group *g, struct gd_vec *gone)
{
	for (size_t i = g->proposals.n; i > 0; i--) {
		struct gd_proposal *p = g->proposals.v[i - 1];
		const struct member *m = p->add ? group_find(g, p->user) : NULL;

		if (!p->add ||
		    (m && joins(m) && memcmp(m->kp_ref, p->key_package, GD_MLS_REF) == 0))
			continue;
		gd_vec_take(&g->proposals, i - 1);
		if (p->fresh || gd_vec_add(gone, p))
			free(p);
	}
}

static void propose_missing(struct gd_group *g)
{
	size_t n = 0;

	for (uint32_t i = 0; i < g->n_leaves; i++) {
		if (leaves(g, i) && !remove_of(g, i))
			add_proposal(g, g->leaf[i], (struct slice){0}, i);
	}
	for (size_t i = 0; i < g->members.n; i++)
		n += joins(g->members.v[i]);
	if (!g->epoch && n < 2)
		return;
	for (size_t i = 0; i < g->members.n; i++) {
		const struct member *m = g->members.v[i];

		if (joins(m) && !add_of(g, m->user))
			add_proposal(g, m->user, (struct slice){m->kp, m->kp_n}, 0);
	}
}

/* davey makes a Welcome only when the op 27 at hand holds an Add, not when an earlier one of the
 * epoch did, so that its commit would be of no use. When proposals change and no Add is new, two
 * old ones are revoked and made again (two, since no member receives its own). */
static void renew_adds(struct gd_group *g, struct gd_vec *gone)
{
	bool changed = gone->n > 0;
	size_t n = 0;

	for (size_t i = 0; i < g->proposals.n; i++) {
		const struct gd_proposal *p = g->proposals.v[i];

		if (p->fresh && p->add)
			return;
		changed |= p->fresh;
	}
	for (size_t i = 0; changed && i < g->proposals.n && n < 2;) {
		struct gd_proposal *p = g->proposals.v[i];

		if (!p->add || p->fresh) {
			i++;
			continue;
		}
		gd_vec_take(&g->proposals, i);
		if (gd_vec_add(gone, p))
			free(p);
		n++;
	}
}

/* Op 27: one byte what to do, then a vector. */
static void send_list(const struct gd_group *g, const struct member *m, uint8_t what,
		      const struct wr *list)
{
	uint8_t *buf = malloc(list->pos + 8);
	struct wr w = wr_of(buf, buf ? list->pos + 8 : 0);

	wr_be(&w, what, 1);
	gd_mls_put(&w, (struct slice){list->p, list->pos});
	if (w.ok && list->ok && list->pos)
		g->h->binary(g->arg, m->user, GD_OP_PROPOSALS, (struct slice){buf, w.pos});
	free(buf);
}

/* No member receives an Add of itself. */
static bool tells(const struct gd_proposal *p, const struct member *m)
{
	return !(p->add && p->user == m->user);
}

static void send_gone(const struct gd_group *g, const struct member *m, const struct gd_vec *gone)
{
	size_t cap = gone->n * (GD_MLS_REF + 2);
	uint8_t *buf = malloc(cap + 1);
	struct wr w = wr_of(buf, buf ? cap : 0);

	for (size_t i = 0; i < gone->n; i++) {
		const struct gd_proposal *p = gone->v[i];

		if (tells(p, m))
			gd_mls_put(&w, (struct slice){p->ref, GD_MLS_REF});
	}
	send_list(g, m, 1, &w);
	free(buf);
}

static void send_new(const struct gd_group *g, const struct member *m, bool all)
{
	uint8_t *buf;
	struct wr w;
	size_t n = 0;

	for (size_t i = 0; i < g->proposals.n; i++)
		n += ((const struct gd_proposal *)g->proposals.v[i])->n;
	buf = malloc(n + 1);
	w = wr_of(buf, buf ? n : 0);
	for (size_t i = 0; i < g->proposals.n; i++) {
		const struct gd_proposal *p = g->proposals.v[i];

		if ((all || p->fresh) && tells(p, m))
			wr_bytes(&w, p->message, p->n);
	}
	send_list(g, m, 0, &w);
	free(buf);
}

/* True if a commit is pending from somebody. */
static bool asked(const struct gd_group *g)
{
	return g->proposals.n > (g->epoch ? 0u : 1u);
}

static void send_all(struct gd_group *g, const struct gd_vec *gone, uint64_t now)
{
	bool any = gone->n > 0;

	for (size_t i = 0; i < g->members.n; i++) {
		struct member *m = g->members.v[i];
		bool all = !g->epoch && !m->told;

		if (g->epoch ? !member_healthy(m) : !m->kp)
			continue;
		if (!all)
			send_gone(g, m, gone);
		send_new(g, m, all);
		m->told = true;
	}
	for (size_t i = 0; i < g->proposals.n; i++) {
		struct gd_proposal *p = g->proposals.v[i];

		any |= p->fresh;
		p->fresh = false;
	}
	if (!asked(g))
		g->commit_due = UINT64_MAX;
	else if (any)
		g->commit_due = now + g->sw->dave_commit_ms * NS_PER_MS;
}

/* Nobody is left who could commit: those who wait begin a group of their own. */
static void begin_anew(struct gd_group *g)
{
	for (size_t i = 0; i < g->members.n; i++) {
		if (member_healthy(g->members.v[i]))
			return;
	}
	group_forget(g, false);
	for (size_t i = 0; i < g->members.n; i++)
		group_send_sender(g, g->members.v[i]);
}

static void free_proposals(struct gd_vec *list)
{
	while (list->n)
		free(gd_vec_take(list, list->n - 1));
	gd_vec_clear(list);
}

void group_withdraw(struct gd_group *g, uint64_t now)
{
	struct gd_vec gone = {0};

	revoke(g, &gone);
	if (gone.n)
		send_all(g, &gone, now);
	free_proposals(&gone);
}

void group_propose(struct gd_group *g, uint64_t now)
{
	struct gd_vec gone = {0};

	if (g->epoch)
		begin_anew(g);
	revoke(g, &gone);
	propose_missing(g);
	if (g->sw->dave_renew_adds) {
		renew_adds(g, &gone);
		propose_missing(g);
	}
	if (g->proposals.n || gone.n)
		send_all(g, &gone, now);
	free_proposals(&gone);
}

void gd_group_stale_proposal(struct gd_group *g)
{
	struct gd_proposal *p;
	struct wr w;

	if (!g->epoch ||
	    gd_sender_propose(g->sender, &p, g->channel, g->epoch - 1, (struct slice){0}, 0))
		return;
	w = (struct wr){.p = p->message, .cap = p->n, .pos = p->n, .ok = true};
	for (size_t i = 0; i < g->members.n; i++) {
		if (member_healthy(g->members.v[i]))
			send_list(g, g->members.v[i], 0, &w);
	}
	free(p);
}

/* ---- commits ---- */

static const struct gd_proposal *proposal_of(const struct gd_group *g, const uint8_t *ref)
{
	for (size_t i = 0; i < g->proposals.n; i++) {
		const struct gd_proposal *p = g->proposals.v[i];

		if (memcmp(p->ref, ref, GD_MLS_REF) == 0)
			return p;
	}
	return NULL;
}

static bool listed(const struct gd_commit *c, const uint8_t *ref)
{
	for (size_t i = 0; i < c->n_refs; i++) {
		if (memcmp(gd_commit_ref(c, i), ref, GD_MLS_REF) == 0)
			return true;
	}
	return false;
}

/* Of this group and epoch, by somebody who may, with all proposals that are not revoked (but not
 * the Add of itself). */
static bool in_time(const struct gd_group *g, const struct member *m, const struct gd_commit *c)
{
	size_t n = 0;

	if (!g->version || !asked(g) || c->group != g->channel || c->epoch != g->epoch)
		return false;
	if (g->epoch ? !member_healthy(m) || c->leaf != m->leaf
		     : !m->kp || !m->told || c->leaf != 0)
		return false;
	for (size_t i = 0; i < g->proposals.n; i++) {
		const struct gd_proposal *p = g->proposals.v[i];

		if (!g->epoch && p->user == m->user)
			continue;
		if (!listed(c, p->ref))
			return false;
		n++;
	}
	return c->n_refs == n;
}

/* What a server without the group's secrets can see of a commit's soundness. */
static bool sound(const struct gd_group *g, const struct member *m, const struct gd_commit *c)
{
	size_t adds = 0;
	bool removes = false;

	for (size_t i = 0; i < c->n_refs; i++) {
		const struct gd_proposal *p = proposal_of(g, gd_commit_ref(c, i));
		uint8_t none[1];
		struct wr w = wr_of(none, 0);

		removes |= !p->add;
		adds += p->add;
		if (p->add && (!c->welcome.n || gd_commit_welcome(c, p->key_package, &w) == ENOENT))
			return false;
	}
	if (!g->epoch && g->sw->dave_verify_first &&
	    gd_commit_verify_first(c, (struct slice){m->kp, m->kp_n}, gd_sender_package(g->sender)))
		return false;
	if (removes && !c->path)
		return false;
	if (c->path && (!c->path_signed || c->path_user != m->user || c->path_key.n != m->key_n ||
			memcmp(c->path_key.p, m->key, m->key_n) != 0))
		return false;
	return c->n_secrets == adds;
}

static void put_in(struct gd_group *g, struct member *m)
{
	uint32_t leaf = 0;

	while (leaf < g->n_leaves && g->leaf[leaf])
		leaf++; /* the leftmost blank, else a new one at the end (RFC 9420, 12.1.1) */
	if (leaf == GD_LEAVES)
		return;
	g->leaf[leaf] = m->user;
	g->n_leaves = leaf < g->n_leaves ? g->n_leaves : leaf + 1;
	m->leaf = leaf;
	m->in = true;
	m->redo = false;
	member_drop_kp(m);
}

static void take_out(struct gd_group *g, uint32_t leaf)
{
	struct member *m = group_find(g, g->leaf[leaf]);

	if (m && m->leaf == leaf)
		m->in = m->redo = false;
	g->leaf[leaf] = 0;
}

/* Removes come before Adds, each in the order of the commit (RFC 9420, 12.3). */
static void move_leaves(struct gd_group *g, const struct gd_commit *c, bool adds)
{
	for (size_t i = 0; i < c->n_refs; i++) {
		const struct gd_proposal *p = proposal_of(g, gd_commit_ref(c, i));

		if (p->add == adds && adds)
			put_in(g, group_find(g, p->user));
		else if (p->add == adds)
			take_out(g, p->leaf);
	}
}

static void send_numbered(const struct gd_group *g, uint64_t user, uint8_t op, uint16_t id,
			  struct slice body)
{
	uint8_t *buf = malloc(body.n + 2);
	struct wr w = wr_of(buf, buf ? body.n + 2 : 0);

	wr_be(&w, id, 2);
	wr_bytes(&w, body.p, body.n);
	if (w.ok)
		g->h->binary(g->arg, user, op, (struct slice){buf, w.pos});
	free(buf);
}

static void send_welcome(const struct gd_group *g, const struct gd_commit *c,
			 const struct gd_proposal *p, uint16_t id)
{
	size_t cap = c->welcome.n + 16;
	uint8_t *buf = malloc(cap);
	struct wr w = wr_of(buf, buf ? cap : 0);

	if (buf && !gd_commit_welcome(c, p->key_package, &w))
		send_numbered(g, p->user, GD_OP_WELCOME, id, (struct slice){buf, w.pos});
	free(buf);
}

/* The commit won: the old members get it, the new ones their Welcome. */
static void accept(struct gd_group *g, struct member *by, const struct gd_commit *c, uint64_t now)
{
	uint64_t users[GD_LEAVES];
	size_t n = 0;
	uint16_t id = 0;

	if (g->epoch || g->executed != g->version || g->sw->dave_first_id)
		id = group_next_id(g);
	if (!g->epoch)
		put_in(g, by);
	for (size_t i = 0; i < g->members.n; i++) {
		const struct member *m = g->members.v[i];

		if (!member_healthy(m))
			continue;
		send_numbered(g, m->user, GD_OP_COMMIT, id, c->message);
		users[n++] = m->user;
	}
	for (size_t i = 0; i < c->n_refs; i++) {
		const struct gd_proposal *p = proposal_of(g, gd_commit_ref(c, i));

		if (!p->add)
			continue;
		send_welcome(g, c, p, id);
		users[n++] = p->user;
	}
	move_leaves(g, c, false);
	move_leaves(g, c, true);
	while (g->n_leaves && !g->leaf[g->n_leaves - 1])
		g->n_leaves--;
	g->epoch++;
	group_drop_proposals(g);
	group_transition(g, users, n, id, g->version, now);
	group_advance(g, now);
}

int gd_group_commit(struct gd_group *g, uint64_t user, struct slice payload, uint64_t now)
{
	struct member *m = group_find(g, user);
	struct gd_commit c;
	int err = gd_commit_read(&c, payload);

	if (err) {
		group_count(g, user, "dave_commit_bad");
		return EBADMSG;
	}
	if (!m || !in_time(g, m, &c)) {
		group_count(g, user, "dave_commit_late");
		return 0;
	}
	if (!sound(g, m, &c)) {
		group_count(g, user, "dave_commit_bad");
		return 0;
	}
	group_count(g, user, "dave_commit_won");
	accept(g, m, &c, now);
	return 0;
}
