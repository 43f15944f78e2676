#include "control/voice_session/encrypted_channels.h"

/* Returns the place of an entry, or e->n. A channel whose guild is not known is found in any. */
static unsigned find_entry(const struct encrypted_channels *e, uint64_t guild, uint64_t channel)
{
	unsigned i = 0;

	while (i < e->n && (e->v[i].channel != channel ||
			    (e->v[i].guild != guild && (e->v[i].guild || !channel))))
		i++;
	return i;
}

static unsigned count_entries(const struct encrypted_channels *e, uint64_t guild)
{
	unsigned n = 0;

	for (unsigned i = 0; i < e->n; i++)
		n += e->v[i].guild == guild;
	return n;
}

static void remove_at(struct encrypted_channels *e, unsigned i)
{
	e->v[i] = e->v[--e->n];
}

/* Replaces the channels of a guild by one entry for all of them. */
static void make_strict(struct encrypted_channels *e, uint64_t guild)
{
	encrypted_channels_forget(e, guild);
	e->v[e->n++] = (struct encrypted_channel){.guild = guild};
}

/* Returns the guild that has most entries, if it has several; 0: there is none. */
static uint64_t find_largest(const struct encrypted_channels *e)
{
	unsigned most = 1;
	uint64_t guild = 0;

	for (unsigned i = 0; i < e->n; i++) {
		unsigned n = e->v[i].guild ? count_entries(e, e->v[i].guild) : 0;

		if (n > most) {
			most = n;
			guild = e->v[i].guild;
		}
	}
	return guild;
}

bool encrypted_channels_drop_gone(struct encrypted_channels *e, uint64_t guild,
				  encrypted_channel_there_h *h, void *arg)
{
	bool all = e->n + 1 >= ENCRYPTED_CHANNELS_MAX;
	unsigned before = e->n;

	if (!all && count_entries(e, guild) < ENCRYPTED_CHANNELS_GUILD)
		return false;
	for (unsigned i = e->n; i-- > 0;) {
		const struct encrypted_channel *c = &e->v[i];

		if ((all || c->guild == guild) && c->guild && c->channel &&
		    !h(c->guild, c->channel, arg))
			remove_at(e, i);
	}
	return e->n < before;
}

bool encrypted_channels_add(struct encrypted_channels *e, uint64_t guild, uint64_t channel,
			    uint64_t *strict)
{
	unsigned at = find_entry(e, guild, channel);

	*strict = 0;
	if (find_entry(e, guild, 0) < e->n || (at < e->n && e->v[at].guild == guild))
		return false;
	if (at < e->n)
		remove_at(e, at);
	if (count_entries(e, guild) >= ENCRYPTED_CHANNELS_GUILD)
		*strict = guild;
	else if (e->n == ENCRYPTED_CHANNELS_MAX)
		*strict = find_largest(e);
	if (!*strict && e->n == ENCRYPTED_CHANNELS_MAX && count_entries(e, guild))
		*strict = guild;
	if (*strict)
		make_strict(e, *strict);
	if (*strict && *strict == guild)
		return true;
	if (e->n == ENCRYPTED_CHANNELS_MAX)
		return false;
	e->v[e->n++] = (struct encrypted_channel){.guild = guild, .channel = channel};
	return true;
}

bool encrypted_channels_has(const struct encrypted_channels *e, uint64_t guild, uint64_t channel)
{
	return find_entry(e, guild, channel) < e->n;
}

bool encrypted_channels_require(const struct encrypted_channels *e, uint64_t guild,
				uint64_t channel)
{
	return encrypted_channels_has(e, guild, channel) || encrypted_channels_has(e, guild, 0) ||
	       (e->n == ENCRYPTED_CHANNELS_MAX && !count_entries(e, guild));
}

bool encrypted_channels_remove(struct encrypted_channels *e, uint64_t guild, uint64_t channel)
{
	unsigned at = channel ? find_entry(e, guild, channel) : e->n;

	if (at == e->n)
		return false;
	remove_at(e, at);
	return true;
}

unsigned encrypted_channels_forget(struct encrypted_channels *e, uint64_t guild)
{
	unsigned before = e->n;

	for (unsigned i = e->n; i-- > 0;)
		if (e->v[i].guild == guild)
			remove_at(e, i);
	return before - e->n;
}
