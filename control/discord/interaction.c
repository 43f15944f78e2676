#include "control/discord/interaction.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "proto/discord.h"

enum { PATH_SIZE = 640, MAJOR_SIZE = 96 };

/* A token becomes part of a path, so it may hold only characters that need no escaping. */
static bool is_safe(const char *token, size_t size)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~=:";

	return token && *token && strlen(token) < size && strspn(token, allowed) == strlen(token);
}

bool interaction_read(const json_t *d, struct interaction *out)
{
	const char *token = json_string_value(json_object_get(d, "token"));
	uint64_t id, application;

	if (!discord_snowflake(json_string_value(json_object_get(d, "id")), &id) ||
	    !discord_snowflake(json_string_value(json_object_get(d, "application_id")),
			       &application) ||
	    !is_safe(token, sizeof out->token))
		return false;
	snprintf(out->id, sizeof out->id, "%llu", (unsigned long long)id);
	snprintf(out->application, sizeof out->application, "%llu",
		 (unsigned long long)application);
	snprintf(out->token, sizeof out->token, "%s", token);
	return true;
}

const char *interaction_locale(const json_t *d)
{
	const char *locale = json_string_value(json_object_get(d, "locale"));

	return locale && strlen(locale) < INTERACTION_LOCALE ? locale : "";
}

int interaction_callback(struct rest *rest, const struct interaction *i, json_t *body, rest_h *h,
			 void *arg)
{
	/* A repeated call is only answered with 40060. */
	struct rest_call call = {.method = "POST",
				 .route = "/interactions/{}/{}/callback",
				 .idempotent = true,
				 .interaction = true,
				 .major = i->id,
				 .body = body};
	char path[PATH_SIZE];

	if (!body)
		return ENOMEM;
	snprintf(path, sizeof path, "/interactions/%s/%s/callback", i->id, i->token);
	call.path = path;
	return rest_request(rest, &call, h, arg);
}

static int request_original(struct rest *rest, const struct interaction *i, struct rest_call *call,
			    rest_h *h, void *arg)
{
	char path[PATH_SIZE], major[MAJOR_SIZE];

	snprintf(path, sizeof path, "/webhooks/%s/%s/messages/@original", i->application, i->token);
	snprintf(major, sizeof major, "%.80s", i->token);
	call->route = "/webhooks/{}/{}/messages/@original";
	call->idempotent = call->interaction = true;
	call->path = path;
	call->major = major;
	return rest_request(rest, call, h, arg);
}

int interaction_edit(struct rest *rest, const struct interaction *i, json_t *body,
		     const char *file_name, const char *file, rest_h *h, void *arg)
{
	struct rest_call call = {
		.method = "PATCH", .body = body, .file_name = file_name, .file = file};

	return body ? request_original(rest, i, &call, h, arg) : ENOMEM;
}

int interaction_get(struct rest *rest, const struct interaction *i, rest_h *h, void *arg)
{
	struct rest_call call = {.method = "GET"};

	return request_original(rest, i, &call, h, arg);
}
