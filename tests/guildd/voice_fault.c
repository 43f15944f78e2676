#include "tests/guildd/voice_fault.h"

#include "ipc/tmr.h"
#include "proto/base/time.h"

struct fault {
	uint64_t user;
	int op;
	unsigned times;
	struct vfault f;
};

struct later {
	struct gd_voice *v;
	char session[GD_SECRET];
	struct tmr *tmr;
	int op;
	json_t *d; /* NULL: binary */
	size_t n;
	uint8_t payload[];
};

int vfault_add(struct gd_voice *v, uint64_t user, int op, const char *what, unsigned times,
	       unsigned ms)
{
	static const char *const names[] = {"none", "lose", "skip", "corrupt", "delay", "hold"};
	struct fault *f = calloc(1, sizeof(*f));
	int err = EINVAL;

	if (!f)
		return ENOMEM;
	*f = (struct fault){.user = user, .op = op, .times = times, .f.ms = ms};
	for (unsigned i = VFAULT_LOSE; i <= VFAULT_HOLD; i++) {
		if (strcmp(what, names[i]) == 0)
			f->f.what = (enum vfault_what)i;
	}
	if (f->f.what != VFAULT_NONE && times)
		err = gd_vec_add(&v->faults, f);
	if (err)
		free(f);
	return err;
}

static void later_free(struct later *l)
{
	gd_vec_remove(&l->v->later, l);
	tmr_free(l->tmr);
	json_decref(l->d);
	free(l);
}

void vfault_clear(struct gd_voice *v)
{
	while (v->faults.n)
		free(gd_vec_take(&v->faults, 0));
	while (v->later.n)
		later_free(gd_vec_take(&v->later, v->later.n - 1));
	gd_vec_clear(&v->faults);
	gd_vec_clear(&v->later);
}

struct vfault vfault_take(struct gd_voice *v, uint64_t user, int op, bool binary)
{
	for (size_t i = 0; i < v->faults.n; i++) {
		struct fault *f = v->faults.v[i];
		struct vfault what = f->f;

		if (f->user != user || (f->op < 0 ? !binary : f->op != op))
			continue;
		gd_count(v->g, user, "fault_%d", op);
		if (--f->times == 0)
			free(gd_vec_take(&v->faults, i));
		return what;
	}
	return (struct vfault){VFAULT_NONE, 0};
}

static void due(void *arg)
{
	static const struct vfault none = {VFAULT_NONE, 0};
	struct later *l = arg;

	for (size_t i = 0; i < l->v->sessions.n; i++) {
		struct vsession *s = l->v->sessions.v[i];

		if (strcmp(s->session, l->session) != 0)
			continue;
		if (l->d)
			vsession_number(s, l->op, json_incref(l->d), &none);
		else
			vsession_number_binary(s, (uint8_t)l->op, (struct slice){l->payload, l->n},
					       &none);
		break;
	}
	later_free(l);
}

void vfault_later(struct vsession *s, unsigned ms, int op, json_t *d, struct slice payload)
{
	struct later *l = calloc(1, sizeof(*l) + payload.n);

	if (!l)
		return;
	l->v = s->v;
	l->op = op;
	l->d = json_incref(d);
	l->n = payload.n;
	memcpy(l->session, s->session, sizeof(l->session));
	if (payload.n)
		memcpy(l->payload, payload.p, payload.n);
	if (tmr_alloc(&l->tmr, s->v->g->env, due, l) || gd_vec_add(&s->v->later, l)) {
		later_free(l);
		return;
	}
	tmr_start(l->tmr, ms * NS_PER_MS);
}
