#include "control/web/discord_grant.h"

#include <errno.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/settings.h"
#include "proto/discord.h"

#define ADMINISTRATOR (UINT64_C(1) << 3)

/* In the order of SETTINGS_WEB_NEEDS; ADMINISTRATOR has every other permission. */
static const uint64_t permissions[] = {
	[SETTINGS_WEB_NEVER] = 0,
	[SETTINGS_WEB_ADMINISTRATOR] = ADMINISTRATOR,
	[SETTINGS_WEB_MANAGE_GUILD] = UINT64_C(1) << 5,
	[SETTINGS_WEB_MODERATE_MEMBERS] = UINT64_C(1) << 40,
	[SETTINGS_WEB_MUTE_MEMBERS] = UINT64_C(1) << 22,
	[SETTINGS_WEB_MEMBER] = 0,
};

int discord_grant_user(const char *text, size_t n, uint64_t *id)
{
	json_t *root = json_loadb(text, n, 0, NULL);
	const char *value = json_string_value(json_object_get(root, "id"));
	int err = value && discord_snowflake(value, id) ? 0 : EBADMSG;

	json_decref(root);
	return err;
}

static bool fulfils(uint32_t need, uint64_t has, bool owner)
{
	if (need == SETTINGS_WEB_NEVER || need >= sizeof permissions / sizeof permissions[0])
		return false;
	return need == SETTINGS_WEB_MEMBER || owner || (has & ADMINISTRATOR) ||
	       (has & permissions[need]);
}

static struct discord_grant find_grant(const struct settings *s, const json_t *guild, uint64_t id)
{
	const char *text = json_string_value(json_object_get(guild, "permissions"));
	struct discord_grant g = {.guild = id};
	bool owner = json_is_true(json_object_get(guild, "owner"));
	uint64_t has = 0;

	if (!text || !discord_u64(text, &has))
		has = 0;
	g.role = fulfils(s->web_discord_admin, has, owner)	? WEB_ADMIN
		 : fulfils(s->web_discord_operator, has, owner) ? WEB_OPERATOR
		 : fulfils(s->web_discord_viewer, has, owner)	? WEB_VIEWER
								: WEB_NOBODY;
	g.open = !owner && !(has & ADMINISTRATOR);
	return g;
}

static bool is_home(const struct settings *s, const char *id)
{
	return *s->web_discord_guild && strcmp(id, s->web_discord_guild) == 0;
}

/* Settings and audit are not divided by server: who rules another server rules that one alone. */
static enum web_role role_elsewhere(enum web_role role)
{
	return role == WEB_ADMIN ? WEB_OPERATOR : role;
}

static void add_grant(struct discord_grants *out, struct discord_grant grant, bool home)
{
	if (!home)
		grant.role = role_elsewhere(grant.role);
	grant.open = grant.open && grant.role < WEB_ADMIN;
	if (grant.role == WEB_NOBODY || out->n == DISCORD_GRANTS_MAX ||
	    discord_grants_find(out, grant.guild))
		return;
	out->v[out->n++] = grant;
	if (home) {
		memmove(&out->v[1], &out->v[0], (out->n - 1) * sizeof grant);
		out->v[0] = grant;
	}
}

int discord_grants_read(const struct settings *s, const char *text, size_t n,
			discord_grant_known_h *knownh, void *arg, struct discord_grants *out)
{
	json_t *list = json_loadb(text, n, 0, NULL), *guild;
	size_t i;

	out->n = 0;
	if (!json_is_array(list)) {
		json_decref(list);
		return EBADMSG;
	}
	json_array_foreach(list, i, guild)
	{
		const char *text_id = json_string_value(json_object_get(guild, "id"));
		uint64_t id;

		if (!text_id || !discord_snowflake(text_id, &id))
			continue;
		if (is_home(s, text_id))
			add_grant(out, find_grant(s, guild, id), true);
		else if (s->web_discord_everywhere && knownh(id, arg))
			add_grant(out, find_grant(s, guild, id), false);
	}
	json_decref(list);
	return 0;
}

const struct discord_grant *discord_grants_best(const struct discord_grants *g)
{
	const struct discord_grant *best = NULL;

	for (unsigned i = 0; i < g->n; i++)
		if (!best || g->v[i].role > best->role)
			best = &g->v[i];
	return best;
}

const struct discord_grant *discord_grants_find(const struct discord_grants *g, uint64_t guild)
{
	for (unsigned i = 0; i < g->n; i++)
		if (g->v[i].guild == guild)
			return &g->v[i];
	return NULL;
}
