/* What is in effect of the settings in --check (check_inside.h): the stored document takes
 * precedence over file and environment, and its part for a server over that for all. */
#include "control/check_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/control.h"
#include "control/settings/document.h"
#include "control/settings/settings.h"
#include "control/state.h"
#include "proto/discord.h"

static void on_fault(const char *member, const char *text, void *arg)
{
	struct check *c = arg;

	/* A fault of the file, which was told, may make the document unusable. */
	if (!c->faults)
		check_say(c, CHECK_WARNING, "stored settings", "%s (%s); it is left out", text,
			  member);
}

/* False: it is there, and nobody knows what it says. */
static bool read_document(struct check *c)
{
	json_t *kept = c->conf->state_dir ? state_read_settings(c->conf->state_dir) : NULL;
	char *text = kept ? json_dumps(kept, JSON_COMPACT) : NULL;
	bool known = !kept || (text && !json_is_true(json_object_get(kept, "unread")));

	if (text && json_array_size(json_object_get(kept, "versions")))
		known = !document_parse(c->document, text, strlen(text)) && known;
	free(text);
	json_decref(kept);
	return known;
}

/* The bot keeps silent where it cannot know whom it must not hear or read. */
static void say_unread(struct check *c, const char *where)
{
	check_say(
		c, CHECK_MISSING, "stored settings",
		"what is stored for %s cannot be read: the bot joins no call there and answers no "
		"message. Save the settings anew",
		where);
}

static void check_server(struct check *c, const char *server, const json_t *own,
			 const struct settings *effective)
{
	uint64_t guild = 0;

	(void)own;
	(void)effective;
	discord_snowflake(server, &guild);
	document_of_guild(c->document, c->given, c->common, guild, c->scratch, on_fault, c);
	if (c->scratch->unread && !c->common->unread)
		say_unread(c, server);
	if (guild == c->conf->guild)
		*c->of_guild = *c->scratch;
}

int check_stored(struct check *c)
{
	int err = document_alloc(&c->document);
	bool known;

	if (!err)
		err = settings_alloc(&c->common);
	if (!err)
		err = settings_alloc(&c->of_guild);
	if (!err)
		err = settings_alloc(&c->scratch);
	if (err)
		return err;
	known = read_document(c);
	if (document_version(c->document))
		document_effective(c->document, c->given, 0, c->common, on_fault, c);
	else
		*c->common = *c->given;
	c->common->unread = c->common->unread || !known;
	if (c->common->unread && !c->given->unread)
		say_unread(c, "all servers");
	*c->of_guild = *c->common;
	check_stored_each(c, check_server);
	c->settings = c->common;
	c->own = c->of_guild;
	return 0;
}

void check_stored_each(struct check *c, check_server_h *h)
{
	const json_t *servers = json_object_get(document_intent(c->document), "guilds");
	void *at = json_object_iter((json_t *)(uintptr_t)servers);
	uint64_t guild;

	for (; at; at = json_object_iter_next((json_t *)(uintptr_t)servers, at)) {
		if (!discord_snowflake(json_object_iter_key(at), &guild))
			continue;
		document_of_guild(c->document, c->given, c->common, guild, c->scratch, NULL, NULL);
		h(c, json_object_iter_key(at), json_object_iter_value(at), c->scratch);
	}
}

void check_stored_free(struct check *c)
{
	document_free(c->document);
	settings_free(c->common);
	settings_free(c->of_guild);
	settings_free(c->scratch);
}
