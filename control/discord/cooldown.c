#include "control/discord/cooldown.h"

#include "proto/base/time.h"

static uint64_t last_use(const struct cooldown_member *m)
{
	return m->n ? m->at[(m->n - 1) % COOLDOWN_MOST] : 0;
}

static struct cooldown_member *find_member(struct cooldown *c, uint64_t guild, uint64_t user)
{
	struct cooldown_member *best = &c->of[0];

	for (unsigned i = 0; i < COOLDOWN_MEMBERS; i++) {
		struct cooldown_member *m = &c->of[i];

		if (m->guild == guild && m->user == user)
			return m;
		if (last_use(m) < last_use(best))
			best = m;
	}
	*best = (struct cooldown_member){.guild = guild, .user = user};
	return best;
}

bool cooldown_take(struct cooldown *c, uint64_t guild, uint64_t user, unsigned most, uint64_t now)
{
	struct cooldown_member *m = find_member(c, guild, user);
	unsigned kept = m->n < COOLDOWN_MOST ? m->n : COOLDOWN_MOST, recent = 0;

	for (unsigned i = 0; i < kept; i++)
		recent += now - m->at[i] < 60 * NS_PER_S;
	if (recent >= most)
		return false;
	m->at[m->n++ % COOLDOWN_MOST] = now;
	return true;
}
