#include "tests/guildd/dave_inside.h"

#include "proto/base/time.h"
#include "tests/guildd/objects.h"

struct member *group_find(const struct gd_group *g, uint64_t user)
{
	for (size_t i = 0; i < g->members.n; i++) {
		struct member *m = g->members.v[i];

		if (m->user == user)
			return m;
	}
	return NULL;
}

bool member_healthy(const struct member *m)
{
	return m->in && !m->redo;
}

void member_drop_kp(struct member *m)
{
	free(m->kp);
	m->kp = NULL;
	m->kp_n = 0;
}

void group_count(const struct gd_group *g, uint64_t user, const char *what)
{
	g->h->count(g->arg, user, what);
}

int gd_group_alloc(struct gd_group **out, uint64_t channel, const struct gd_switches *sw,
		   const struct gd_group_h *h, void *arg)
{
	struct gd_group *g = calloc(1, sizeof(*g));
	int err;

	if (!g)
		return ENOMEM;
	g->channel = channel;
	g->sw = sw;
	g->h = h;
	g->arg = arg;
	g->version = g->executed = 1;
	g->commit_due = g->batch_due = UINT64_MAX;
	err = gd_group_new_sender(g);
	if (err) {
		gd_group_free(g);
		return err;
	}
	*out = g;
	return 0;
}

static void member_free(struct member *m)
{
	member_drop_kp(m);
	free(m);
}

struct gd_group *gd_group_free(struct gd_group *g)
{
	if (!g)
		return NULL;
	group_drop_proposals(g);
	while (g->members.n)
		member_free(gd_vec_take(&g->members, 0));
	while (g->transitions.n)
		free(gd_vec_take(&g->transitions, 0));
	gd_vec_clear(&g->members);
	gd_vec_clear(&g->proposals);
	gd_vec_clear(&g->transitions);
	gd_sender_free(g->sender);
	free(g);
	return NULL;
}

uint64_t gd_group_channel(const struct gd_group *g)
{
	return g->channel;
}

bool gd_group_empty(const struct gd_group *g)
{
	return g->members.n == 0;
}

unsigned gd_group_version(const struct gd_group *g, unsigned max)
{
	return max < g->version ? max : g->version;
}

int gd_group_new_sender(struct gd_group *g)
{
	struct gd_sender *s;
	int err = gd_sender_alloc(&s);

	if (err)
		return err;
	gd_sender_free(g->sender);
	g->sender = s;
	g->sender_no++;
	return 0;
}

void group_send_sender(struct gd_group *g, struct member *m)
{
	if (m->sender == g->sender_no)
		return;
	m->sender = g->sender_no;
	g->h->binary(g->arg, m->user, GD_OP_SENDER, gd_sender_package(g->sender));
}

void group_forget(struct gd_group *g, bool key_packages)
{
	g->epoch = 0;
	memset(g->leaf, 0, sizeof(g->leaf));
	g->n_leaves = 0;
	group_drop_proposals(g);
	for (size_t i = 0; i < g->members.n; i++) {
		struct member *m = g->members.v[i];

		m->in = m->redo = m->told = false;
		m->seal_at = UINT64_MAX;
		if (key_packages)
			member_drop_kp(m);
	}
}

/* ---- transitions ---- */

uint16_t group_next_id(struct gd_group *g)
{
	g->last_id++;
	if (!g->last_id)
		g->last_id = 1; /* 0 means: at once */
	return g->last_id;
}

void gd_group_next_transition(struct gd_group *g, uint16_t id)
{
	g->last_id = (uint16_t)(id - 1);
}

static void executed(struct gd_group *g, const struct transition *t, uint64_t now)
{
	if (!t->version) {
		group_forget(g, true);
		g->executed = 0;
		return;
	}
	g->executed = t->version;
	for (size_t i = 0; i < t->n; i++) {
		struct member *m = group_find(g, t->participants[i].user);

		if (m && member_healthy(m) && m->seal_at == UINT64_MAX)
			m->seal_at = now + g->sw->dave_grace_ms * NS_PER_MS;
	}
}

/* Op 22 to everybody who was told to prepare, ready or not. */
static void execute(struct gd_group *g, struct transition *t, uint64_t now)
{
	gd_vec_remove(&g->transitions, t);
	for (size_t i = 0; i < t->n; i++) {
		if (!t->participants[i].ready)
			group_count(g, t->participants[i].user, "dave_straggler");
		if (t->id)
			g->h->json(g->arg, t->participants[i].user, GD_OP_EXECUTE, t->version,
				   t->id);
	}
	executed(g, t, now);
	free(t);
}

static bool all_ready(const struct transition *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!t->participants[i].ready)
			return false;
	}
	return true;
}

void group_transition(struct gd_group *g, const uint64_t *users, size_t n, uint16_t id,
		      unsigned version, uint64_t now)
{
	struct transition *t = calloc(1, sizeof(*t) + n * sizeof(t->participants[0]));

	if (!t || gd_vec_add(&g->transitions, t)) {
		free(t);
		return;
	}
	t->id = id;
	t->version = version;
	t->due = now + g->sw->dave_ready_ms * NS_PER_MS;
	t->n = n;
	for (size_t i = 0; i < n; i++) {
		struct member *m = group_find(g, users[i]);

		t->participants[i] = (struct participant){.user = users[i], .ready = id == 0};
		if (m)
			m->transition = id;
	}
	if (all_ready(t))
		execute(g, t, now);
}

/* True when somebody was waited for in it. */
static bool party_ready(struct transition *t, uint64_t user)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->participants[i].user == user && !t->participants[i].ready) {
			t->participants[i].ready = true;
			return true;
		}
	}
	return false;
}

static void party_remove(struct transition *t, uint64_t user)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (t->participants[i].user != user)
			t->participants[n++] = t->participants[i];
	}
	t->n = n;
}

static void leave_transitions(struct gd_group *g, uint64_t user, uint64_t now)
{
	for (size_t i = g->transitions.n; i > 0; i--) {
		struct transition *t = g->transitions.v[i - 1];

		party_remove(t, user);
		if (all_ready(t))
			execute(g, t, now);
	}
}

void gd_group_ready(struct gd_group *g, uint64_t user, uint16_t id, uint64_t now)
{
	for (size_t i = 0; i < g->transitions.n; i++) {
		struct transition *t = g->transitions.v[i];

		if (t->id != id || !party_ready(t, user))
			continue;
		if (all_ready(t)) {
			execute(g, t, now);
			group_advance(g, now);
		}
		return;
	}
	group_count(g, user, "dave_ready_late");
}

/* ---- versions, and groups that start anew ---- */

void gd_group_reinit(struct gd_group *g, uint64_t now)
{
	while (g->transitions.n)
		execute(g, g->transitions.v[0], now);
	group_forget(g, true);
	for (size_t i = 0; i < g->members.n; i++) {
		struct member *m = g->members.v[i];

		if (!m->max)
			continue;
		g->h->json(g->arg, m->user, GD_OP_PREPARE_EPOCH, g->version, 1);
		group_send_sender(g, m);
	}
}

static void downgrade(struct gd_group *g, uint64_t now)
{
	uint64_t users[GD_LEAVES];
	uint16_t id = group_next_id(g);
	size_t n = 0;

	g->version = 0;
	group_drop_proposals(g);
	for (size_t i = 0; i < g->members.n; i++) {
		const struct member *m = g->members.v[i];

		if (!m->max)
			continue;
		g->h->json(g->arg, m->user, GD_OP_PREPARE_TRANSITION, 0, id);
		users[n++] = m->user;
	}
	group_transition(g, users, n, id, 0, now);
}

/* The last member left has nobody to share a group with. */
static void sole(struct gd_group *g, uint64_t now)
{
	const struct member *m = g->members.v[0];

	if (g->epoch)
		gd_group_reinit(g, now);
	g->executed = g->version;
	g->h->json(g->arg, m->user, GD_OP_PREPARE_TRANSITION, g->version, 0);
}

static bool all_speak(const struct gd_group *g)
{
	if (g->clear)
		return false;
	for (size_t i = 0; i < g->members.n; i++) {
		if (!((const struct member *)g->members.v[i])->max)
			return false;
	}
	return true;
}

/* What must be over before anything else is begun: every transition, or with dave_overlap only a
 * change of version. */
static bool blocked(const struct gd_group *g)
{
	for (size_t i = 0; i < g->transitions.n; i++) {
		const struct transition *t = g->transitions.v[i];

		if (!g->sw->dave_overlap || t->version != g->executed)
			return true;
	}
	return false;
}

void group_advance(struct gd_group *g, uint64_t now)
{
	if (!g->members.n) {
		group_forget(g, true);
		g->version = g->executed = !g->clear;
		return;
	}
	if (blocked(g))
		return;
	if (g->version && !all_speak(g)) {
		downgrade(g, now);
		return;
	}
	if (!g->version && all_speak(g)) {
		g->version = 1;
		gd_group_reinit(g, now);
	}
	if (g->version && g->members.n == 1 && (g->epoch || !g->executed))
		sole(g, now);
	if (g->version && g->batch_due == UINT64_MAX)
		group_propose(g, now);
	else if (g->version)
		group_withdraw(g, now);
}

void gd_group_clear(struct gd_group *g, bool clear, uint64_t now)
{
	g->clear = clear;
	group_advance(g, now);
}

/* ---- who comes and goes ---- */

int gd_group_join(struct gd_group *g, uint64_t user, unsigned max, uint64_t now)
{
	struct member *m = group_find(g, user);

	if (!m) {
		m = g->members.n < GD_LEAVES ? calloc(1, sizeof(*m)) : NULL;
		if (!m || gd_vec_add(&g->members, m)) {
			free(m);
			return ENOMEM;
		}
		m->user = user;
	} else {
		leave_transitions(g, user, now);
		m->redo = m->in;
		m->sender = 0;
		m->told = false;
		member_drop_kp(m);
	}
	m->max = max;
	m->seal_at = UINT64_MAX;
	if (gd_group_version(g, max))
		group_send_sender(g, m);
	group_advance(g, now);
	return 0;
}

void gd_group_leave(struct gd_group *g, uint64_t user, uint64_t now)
{
	struct member *m = group_find(g, user);

	if (!m)
		return;
	gd_vec_remove(&g->members, m);
	member_free(m);
	leave_transitions(g, user, now);
	group_advance(g, now);
}

int gd_group_key_package(struct gd_group *g, uint64_t user, struct slice payload, uint64_t now)
{
	struct member *m = group_find(g, user);
	struct gd_key_package k;
	uint8_t *copy;

	if (!m || !g->version || !m->max || member_healthy(m)) {
		group_count(g, user, "dave_kp_unasked");
		return 0;
	}
	if (gd_key_package_read(&k, payload) || k.user != user ||
	    k.signature_key.n > sizeof(m->key)) {
		group_count(g, user, "dave_kp_bad");
		return EBADMSG;
	}
	copy = malloc(payload.n);
	if (!copy)
		return ENOMEM;
	memcpy(copy, payload.p, payload.n);
	member_drop_kp(m);
	m->kp = copy;
	m->kp_n = payload.n;
	memcpy(m->kp_ref, k.ref, sizeof(m->kp_ref));
	memcpy(m->key, k.signature_key.p, k.signature_key.n);
	m->key_n = k.signature_key.n;
	m->told = false; /* who has new keys has a new group of its own as well */
	if (g->sw->dave_batch_ms && g->batch_due == UINT64_MAX)
		g->batch_due = now + g->sw->dave_batch_ms * NS_PER_MS;
	group_advance(g, now);
	return 0;
}

void gd_group_invalid(struct gd_group *g, uint64_t user, uint16_t transition, uint64_t now)
{
	struct member *m = group_find(g, user);

	(void)transition; /* any id may be told, also one that is long over */
	if (!m || !g->version)
		return;
	m->redo = m->in;
	m->told = false;
	m->seal_at = UINT64_MAX;
	member_drop_kp(m);
	leave_transitions(g, user, now);
	group_advance(g, now);
}

/* ---- time ---- */

uint64_t gd_group_due(const struct gd_group *g)
{
	uint64_t due = g->commit_due < g->batch_due ? g->commit_due : g->batch_due;

	for (size_t i = 0; i < g->transitions.n; i++) {
		const struct transition *t = g->transitions.v[i];

		due = t->due < due ? t->due : due;
	}
	return due;
}

void gd_group_tick(struct gd_group *g, uint64_t now)
{
	bool any = false;

	for (size_t i = g->transitions.n; i > 0; i--) {
		struct transition *t = g->transitions.v[i - 1];

		if (t->due > now)
			continue;
		execute(g, t, now);
		any = true;
	}
	if (g->batch_due <= now) {
		g->batch_due = UINT64_MAX;
		any = true;
	}
	if (g->commit_due <= now) {
		group_count(g, 0, "dave_no_commit");
		gd_group_reinit(g, now);
		any = true;
	}
	if (any)
		group_advance(g, now);
}

enum gd_seal gd_group_seal(const struct gd_group *g, uint64_t user, uint64_t now)
{
	const struct member *m = group_find(g, user);

	if (!g->executed)
		return GD_SEAL_NONE;
	return m && now >= m->seal_at ? GD_SEAL_MUST : GD_SEAL_EARLY;
}

/* ---- what is shown ---- */

static bool waits(const struct gd_group *g, uint64_t user)
{
	for (size_t i = 0; i < g->transitions.n; i++) {
		const struct transition *t = g->transitions.v[i];

		for (size_t k = 0; k < t->n; k++) {
			if (t->participants[k].user == user)
				return true;
		}
	}
	return false;
}

json_t *gd_group_user_json(const struct gd_group *g, uint64_t user)
{
	const struct member *m = group_find(g, user);
	const char *state;

	if (!m)
		return NULL;
	state = m->redo ? "lost" : m->in ? "member" : m->kp ? "pending" : "none";
	return json_pack("{s:o, s:i, s:i, s:s, s:I, s:I, s:i, s:b}", "user_id", gd_id_json(user),
			 "version", (int)gd_group_version(g, m->max), "max", (int)m->max, "state",
			 state, "epoch", (json_int_t)(m->in ? g->epoch : 0), "leaf",
			 m->in ? (json_int_t)m->leaf : -1, "transition", (int)m->transition,
			 "ready", member_healthy(m) && !waits(g, user));
}

json_t *gd_group_json(const struct gd_group *g)
{
	json_t *leaves = json_array(), *members = json_array(), *list = json_array();

	for (uint32_t i = 0; i < g->n_leaves; i++)
		json_array_append_new(leaves, g->leaf[i] ? gd_id_json(g->leaf[i]) : json_null());
	for (size_t i = 0; i < g->members.n; i++)
		json_array_append_new(
			members,
			gd_group_user_json(g, ((const struct member *)g->members.v[i])->user));
	for (size_t i = 0; i < g->transitions.n; i++) {
		const struct transition *t = g->transitions.v[i];

		json_array_append_new(list, json_pack("{s:i, s:i}", "id", (int)t->id, "version",
						      (int)t->version));
	}
	return json_pack("{s:o, s:i, s:i, s:I, s:i, s:o, s:o, s:o}", "channel_id",
			 gd_id_json(g->channel), "version", (int)g->version, "executed",
			 (int)g->executed, "epoch", (json_int_t)g->epoch, "proposals",
			 (int)g->proposals.n, "leaves", leaves, "members", members, "transitions",
			 list);
}
