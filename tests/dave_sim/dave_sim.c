#include "tests/dave_sim/dave_sim.h"

#include <stdlib.h>

#include "proto/base/time.h"

#define FIRST 100
#define PLACE UINT64_C(4242)

/* ---- the server's side ---- */

static struct dave_sim_message *dave_sim_message(unsigned to, unsigned op, struct slice body)
{
	struct dave_sim_message *l = calloc(1, sizeof *l);

	if (!l)
		abort();
	l->to = to;
	l->op = op;
	l->p = malloc(body.n + 1);
	if (!l->p)
		abort();
	if (body.n)
		memcpy(l->p, body.p, body.n);
	l->n = body.n;
	return l;
}

static void put(struct dave_sim_message ***tail, struct dave_sim_message *l)
{
	**tail = l;
	*tail = &l->next;
}

static struct dave_sim_message *get(struct dave_sim_message **first,
				    struct dave_sim_message ***tail)
{
	struct dave_sim_message *l = *first;

	if (!l)
		return NULL;
	*first = l->next;
	if (!*first)
		*tail = first;
	l->next = NULL;
	return l;
}

static void letter_free(struct dave_sim_message *l)
{
	free(l->p);
	free(l);
}

static void from_server(void *arg, uint64_t user, uint8_t op, struct slice payload)
{
	struct dave_sim *v = arg;

	put(&v->tail, dave_sim_message((unsigned)(user - FIRST), op, payload));
}

static void json_from_server(void *arg, uint64_t user, int op, unsigned version,
			     unsigned id_or_epoch)
{
	struct dave_sim *v = arg;
	struct dave_sim_message *l =
		dave_sim_message((unsigned)(user - FIRST), (unsigned)op, (struct slice){0});

	l->version = (uint16_t)version;
	l->transition = (uint16_t)id_or_epoch;
	l->number = id_or_epoch;
	put(&v->tail, l);
}

static void counted(void *arg, uint64_t user, const char *what)
{
	struct dave_sim *v = arg;

	(void)user;
	v->late_commits += strcmp(what, "dave_commit_late") == 0;
}

static const struct gd_group_h server_h = {from_server, json_from_server, counted};

/* ---- the members' side ---- */

static void on_text(struct dave_sim_member *w, uint8_t op, uint16_t id)
{
	struct dave_sim_message *l = dave_sim_message(0, op, (struct slice){0});

	l->transition = id;
	put(&w->tail, l);
}

static void on_action(const struct dave_action *a, void *arg)
{
	struct dave_sim_member *w = arg;

	switch (a->kind) {
	case DAVE_ACT_BINARY:
		put(&w->tail, dave_sim_message(0, a->binary.op, a->binary.payload));
		break;
	case DAVE_ACT_TEXT:
		on_text(w, a->text.op, a->text.transition);
		break;
	case DAVE_ACT_JOB:
		if (w->job)
			w->v->broken++;
		w->job = a->job;
		break;
	case DAVE_ACT_EPOCH:
		w->epochs++;
		break;
	case DAVE_ACT_CLEAR:
		w->clear = a->clear.send;
		break;
	case DAVE_ACT_RESUME:
		w->resume = true;
		break;
	case DAVE_ACT_LEAVE:
	case DAVE_ACT_REJOIN:
		w->rejoin = true;
		break;
	case DAVE_ACT_SEND:
	case DAVE_ACT_STATE:
	case DAVE_ACT_CODE:
		break;
	}
}

static void tell(struct dave_sim *v, unsigned to, unsigned op, uint64_t user)
{
	struct dave_sim_message *l = dave_sim_message(to, op, (struct slice){0});

	l->number = user;
	put(&v->tail, l);
}

static void forget(struct dave_sim_member *w)
{
	struct dave_sim_message *l;

	w->s = dave_session_free(w->s);
	w->job = dave_job_free(w->job);
	while ((l = get(&w->first, &w->tail)))
		letter_free(l);
	memset(w->undecryptable_run, 0, sizeof w->undecryptable_run);
	w->clear = w->rejoin = w->resume = false;
}

void dave_sim_join(struct dave_sim *v, unsigned i)
{
	struct dave_sim_member *w = &v->who[i];
	struct dave_sim_message *l;

	forget(w);
	if (dave_session_alloc(
		    &w->s, &(struct dave_conf){
				   .user = w->user, .acth = on_action, .arg = w, .heal = &w->heal}))
		abort();
	w->here = true;
	l = dave_sim_message(i, 4, (struct slice){0});
	l->version = (uint16_t)gd_group_version(v->ds, w->max);
	put(&v->tail, l);
	for (unsigned o = 0; o < DAVE_SIM_MAX; o++)
		if (o != i && v->who[o].here) {
			tell(v, i, 11, v->who[o].user);
			tell(v, o, 11, w->user);
			v->who[o].heard_at[i] = w->heard_at[o] = v->now;
		}
	if (gd_group_join(v->ds, w->user, w->max, v->now))
		abort();
}

void dave_sim_leave(struct dave_sim *v, unsigned i)
{
	v->who[i].here = false;
	forget(&v->who[i]);
	for (unsigned o = 0; o < DAVE_SIM_MAX; o++)
		if (v->who[o].here)
			tell(v, o, 13, v->who[i].user);
	gd_group_leave(v->ds, v->who[i].user, v->now);
}

/* ---- delivery ---- */

static void deliver(struct dave_sim *v, const struct dave_sim_message *l)
{
	struct dave_sim_member *w = &v->who[l->to];

	if (!w->s)
		return;
	switch (l->op) {
	case 4:
		dave_session_start(w->s, v->now, PLACE, l->version);
		break;
	case 11:
	case 13:
		dave_session_member(w->s, v->now, l->number, l->op == 11);
		break;
	case 21:
	case 22:
	case 24:
		dave_session_text(w->s, v->now, l->op, l->transition, l->version, l->number);
		break;
	default:
		dave_session_binary(w->s, v->now, l->op, l->p, l->n);
	}
}

static void to_server(struct dave_sim *v, struct dave_sim_member *w,
		      const struct dave_sim_message *l)
{
	struct slice body = {l->p, l->n};
	int err = 0;

	switch (l->op) {
	case 23:
		gd_group_ready(v->ds, w->user, l->transition, v->now);
		break;
	case 26:
		err = gd_group_key_package(v->ds, w->user, body, v->now);
		break;
	case 28:
		err = gd_group_commit(v->ds, w->user, body, v->now);
		break;
	default:
		gd_group_invalid(v->ds, w->user, l->transition, v->now);
	}
	/* The real one would close the connection. */
	if (err)
		v->broken++;
}

static void work(struct dave_sim *v, struct dave_sim_member *w)
{
	struct dave_job *j = w->job;
	uint64_t n = ++v->seeds;

	w->job = NULL;
	v->jobs++;
	memset(j->seed, 0, sizeof j->seed);
	memcpy(j->seed, &n, sizeof n);
	dave_job_run(j);
	dave_session_done(w->s, v->now, j);
}

static void obey(struct dave_sim *v, struct dave_sim_member *w)
{
	if (w->rejoin) {
		dave_sim_leave(v, (unsigned)(w - v->who));
		dave_sim_join(v, (unsigned)(w - v->who));
	} else if (w->resume) {
		w->resume = false;
		dave_session_offline(w->s, v->now);
		dave_session_resumed(w->s, v->now);
	}
}

/* Until nobody has anything to say. */
static void settle(struct dave_sim *v)
{
	bool any = true;

	while (any) {
		struct dave_sim_message *l = get(&v->first, &v->tail);

		any = l != NULL;
		if (l) {
			enum fate f = v->fateh ? v->fateh(v, l, v->arg) : DELIVER;

			if (f == LOSE && v->who[l->to].s)
				dave_session_gap(v->who[l->to].s, v->now);
			v->lost += f == LOSE;
			for (unsigned n = f == TWICE ? 2 : f == DELIVER; n; n--)
				deliver(v, l);
			letter_free(l);
		}
		for (unsigned i = 0; i < DAVE_SIM_MAX; i++) {
			struct dave_sim_member *w = &v->who[i];

			if (w->job)
				work(v, w);
			while ((l = get(&w->first, &w->tail))) {
				to_server(v, w, l);
				letter_free(l);
				any = true;
			}
			any |= w->job != NULL || w->rejoin || w->resume;
			if (w->s)
				obey(v, w);
		}
		any |= v->first != NULL;
	}
}

/* ---- sound ---- */

/* The listener's serial of the epoch that the speaker's packets open with; 0: with none. */
static uint64_t opens(const struct dave_sim_member *listener, const struct dave_sim_member *speaker,
		      const struct dave_epoch *sending)
{
	const struct dave_epoch *e[DAVE_WAITING_MAX];
	const struct dave_member *of = dave_epoch_find(sending, speaker->user), *m;
	unsigned n = dave_session_epochs(listener->s, e, DAVE_WAITING_MAX);

	for (unsigned i = 0; of && i < n; i++) {
		m = dave_epoch_find(e[i], speaker->user);
		if (m && memcmp(m->base, of->base, sizeof m->base) == 0)
			return e[i]->serial;
	}
	return 0;
}

static void packet(struct dave_sim *v, struct dave_sim_member *l, struct dave_sim_member *s,
		   const struct dave_epoch *sending)
{
	unsigned i = (unsigned)(s - v->who);
	uint64_t serial = s->broken ? 0 : opens(l, s, sending);

	if (serial) {
		if (l->undecryptable_run[i] >= DAVE_OUTAGE_PACKETS)
			dave_session_decryption(l->s, v->now, s->user, true);
		l->undecryptable_run[i] = 0;
		l->heard_at[i] = v->now;
		dave_session_proof(l->s, v->now, s->user, serial);
	} else {
		l->silent_ms[i] += DAVE_SIM_TICK_MS;
		if (++l->undecryptable_run[i] % DAVE_OUTAGE_PACKETS == 0)
			dave_session_decryption(l->s, v->now, s->user, false);
	}
}

static void speak(struct dave_sim *v)
{
	for (unsigned i = 0; i < DAVE_SIM_MAX; i++) {
		struct dave_sim_member *s = &v->who[i];
		const struct dave_epoch *e = s->s ? dave_session_sending(s->s) : NULL;

		if (!s->here || s->mute)
			continue;
		/* Never plain sound where sound is sealed, and never both. */
		if (s->clear && (e || dave_session_status(s->s)->version))
			v->broken++;
		for (unsigned o = 0; e && o < DAVE_SIM_MAX; o++)
			if (o != i && v->who[o].here && v->who[o].s)
				packet(v, &v->who[o], s, e);
	}
}

/* ---- time ---- */

static uint64_t next_event(const struct dave_sim *v)
{
	uint64_t at = gd_group_due(v->ds) < v->next_tick ? gd_group_due(v->ds) : v->next_tick;

	for (unsigned i = 0; i < DAVE_SIM_MAX; i++)
		if (v->who[i].s && dave_session_deadline(v->who[i].s) < at)
			at = dave_session_deadline(v->who[i].s);
	return at;
}

void dave_sim_run(struct dave_sim *v, uint64_t ms)
{
	uint64_t until = v->now + ms * NS_PER_MS;

	settle(v);
	while (next_event(v) <= until) {
		v->now = next_event(v) > v->now ? next_event(v) : v->now;
		if (gd_group_due(v->ds) <= v->now)
			gd_group_tick(v->ds, v->now);
		for (unsigned i = 0; i < DAVE_SIM_MAX; i++)
			if (v->who[i].s && dave_session_deadline(v->who[i].s) <= v->now)
				dave_session_timer(v->who[i].s, v->now);
		settle(v);
		if (v->next_tick <= v->now) {
			speak(v);
			v->next_tick += DAVE_SIM_TICK_MS * NS_PER_MS;
			settle(v);
		}
	}
	v->now = until;
}

/* ---- what must hold ---- */

static bool hears(const struct dave_sim_member *l, const struct dave_sim_member *s)
{
	const struct dave_epoch *e = dave_session_sending(s->s);

	return e && opens(l, s, e);
}

bool dave_sim_agree(const struct dave_sim *v)
{
	const struct dave_status *first = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < DAVE_SIM_MAX; i++)
		n += v->who[i].here;
	for (unsigned i = 0; i < DAVE_SIM_MAX; i++) {
		const struct dave_sim_member *w = &v->who[i];
		const struct dave_status *st = w->s ? dave_session_status(w->s) : NULL;

		if (!w->here)
			continue;
		if (!st->known || st->undecryptable || st->pending || (n > 1 && !st->ready) ||
		    (n == 1 && st->ready && st->version))
			return false;
		if (!first)
			first = st;
		if (st->version != first->version || st->members != first->members ||
		    (st->version && n > 1 && st->members != n) ||
		    strcmp(st->privacy_code, first->privacy_code) != 0)
			return false;
		for (unsigned o = 0; st->version && o < DAVE_SIM_MAX; o++)
			if (o != i && v->who[o].here && !hears(w, &v->who[o]))
				return false;
	}
	return true;
}

uint64_t dave_sim_run_until_agreed(struct dave_sim *v, uint64_t most)
{
	for (uint64_t ms = 0; ms <= most; ms += DAVE_SIM_TICK_MS) {
		dave_sim_run(v, DAVE_SIM_TICK_MS);
		if (dave_sim_agree(v))
			return ms + DAVE_SIM_TICK_MS;
	}
	return UINT64_MAX;
}

int dave_sim_init(struct dave_sim *v)
{
	memset(v, 0, sizeof *v);
	v->tail = &v->first;
	v->now = v->next_tick = 1000 * 1000 * NS_PER_MS;
	gd_switches_default(&v->sw);
	for (unsigned i = 0; i < DAVE_SIM_MAX; i++) {
		struct dave_sim_member *w = &v->who[i];

		w->v = v;
		w->user = FIRST + i;
		w->max = 1;
		w->tail = &w->first;
	}
	return gd_group_alloc(&v->ds, PLACE, &v->sw, &server_h, v);
}

void dave_sim_free(struct dave_sim *v)
{
	struct dave_sim_message *l;

	for (unsigned i = 0; i < DAVE_SIM_MAX; i++)
		forget(&v->who[i]);
	while ((l = get(&v->first, &v->tail)))
		letter_free(l);
	v->ds = gd_group_free(v->ds);
}
