#include "tests/talk/wire.h"

#include "proto/base/utf8.h"
#include "proto/discord.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Copies a name without surrounding blanks; "" if nothing is left. */
static void take_name(const char *from, char *to, size_t size)
{
	char line[4 * WIRE_NAME_SIZE];
	size_t n;

	utf8_copy(line, sizeof line, from);
	utf8_plain(line);
	n = strlen(line);
	while (n && line[n - 1] == ' ')
		line[--n] = '\0';
	utf8_copy(to, size, line + strspn(line, " "));
}

static int join(const json_t *o, struct wire_order *out)
{
	const char *name = json_string_value(json_object_get(o, "name"));
	json_int_t rate = json_integer_value(json_object_get(o, "rate"));

	if (!name || rate < 1 || rate > UINT32_MAX)
		return EBADMSG;
	out->what = WIRE_JOIN;
	out->rate = (uint32_t)rate;
	out->on = json_is_true(json_object_get(o, "muted"));
	take_name(name, out->name, sizeof out->name);
	return 0;
}

int wire_order(const uint8_t *p, size_t n, struct wire_order *out)
{
	struct wire_order order = {0};
	const char *what;
	int err = EBADMSG;
	json_t *o;

	if (n > WIRE_ORDER_MAX)
		return EBADMSG;
	o = json_loadb((const char *)p, n, JSON_REJECT_DUPLICATES, NULL);
	what = json_string_value(json_object_get(o, "do"));
	if (what && strcmp(what, "join") == 0) {
		err = join(o, &order);
	} else if (what && strcmp(what, "mute") == 0 && json_is_boolean(json_object_get(o, "on"))) {
		order.what = WIRE_MUTE;
		order.on = json_is_true(json_object_get(o, "on"));
		err = 0;
	} else if (what && strcmp(what, "leave") == 0) {
		order.what = WIRE_LEAVE;
		err = 0;
	}
	json_decref(o);
	if (!err)
		*out = order;
	return err;
}

json_t *wire_turn(const char *text, size_t n, uint64_t channel)
{
	json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
	uint64_t where = 0;

	if (o && json_is_integer(json_object_get(o, "turn")) &&
	    discord_snowflake(json_string_value(json_object_get(o, "channel")), &where) &&
	    where == channel && json_object_set_new(o, "is", json_string("turn")) == 0)
		return o;
	json_decref(o);
	return NULL;
}

static bool one_of(const char *text, const char *before, uint16_t port)
{
	static const char *const hosts[] = {"127.0.0.1", "localhost"};
	char want[64];

	for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
		snprintf(want, sizeof want, "%s%s:%u", before, hosts[i], port);
		if (strcmp(text, want) == 0)
			return true;
	}
	return false;
}

bool wire_host(const char *host, uint16_t port)
{
	return one_of(host, "", port);
}

bool wire_origin(const char *origin, uint16_t port)
{
	return one_of(origin, "http://", port);
}
