#include "tests/guildd/perm.h"

static bool has_role(const struct gd_perm_in *in, uint64_t id)
{
	for (size_t i = 0; i < in->n_roles; i++) {
		if (in->role_ids[i] == id)
			return true;
	}
	return false;
}

uint64_t gd_perm(const struct gd_perm_in *in)
{
	uint64_t p = in->everyone, allow = 0, deny = 0;

	if (in->user == in->owner)
		return GD_PERM_ALL;
	for (size_t i = 0; i < in->n_roles; i++)
		p |= in->role_perms[i];
	if (p & GD_PERM_ADMINISTRATOR)
		return GD_PERM_ALL;

	for (size_t i = 0; i < in->n_over; i++) {
		if (!in->over[i].member && in->over[i].id == in->guild)
			p = (p & ~in->over[i].deny) | in->over[i].allow;
	}
	for (size_t i = 0; i < in->n_over; i++) {
		const struct gd_overwrite *o = &in->over[i];

		if (o->member || o->id == in->guild || !has_role(in, o->id))
			continue;
		allow |= o->allow;
		deny |= o->deny;
	}
	p = (p & ~deny) | allow;
	for (size_t i = 0; i < in->n_over; i++) {
		if (in->over[i].member && in->over[i].id == in->user)
			p = (p & ~in->over[i].deny) | in->over[i].allow;
	}
	/* Who cannot see a channel can do nothing in it. */
	return in->channel && !(p & GD_PERM_VIEW) ? 0 : p;
}
