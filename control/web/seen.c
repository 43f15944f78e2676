/* What sessions of one server see, and members of it who do not see every channel. */
#include <stdlib.h>
#include <string.h>

#include "control/web/inside.h"

json_t *web_only(json_t *list, const char *member, uint64_t scope)
{
	for (size_t i = json_array_size(list); scope && i--;) {
		const json_t *one = json_object_get(json_array_get(list, i), member);
		const char *id = json_string_value(one);

		if (!id || strtoull(id, NULL, 10) != scope)
			json_array_remove(list, i);
	}
	return list;
}

static uint64_t id_of(const json_t *object, const char *member)
{
	const char *id = json_string_value(json_object_get(object, member));

	return id ? strtoull(id, NULL, 10) : 0;
}

bool web_is_open(const struct web *w, uint64_t guild, uint64_t channel)
{
	return channel && web_shown(w)->openh &&
	       web_shown(w)->openh(guild, channel, web_shown(w)->arg);
}

json_t *web_seen_rooms(const struct web *w, uint64_t scope, bool open)
{
	json_t *rooms = web_only(web_shown(w)->roomsh(web_shown(w)->arg), "guild", scope);

	for (size_t i = json_array_size(rooms); open && i--;) {
		const json_t *room = json_array_get(rooms, i);

		if (!web_is_open(w, id_of(room, "guild"), id_of(room, "channel")))
			json_array_remove(rooms, i);
	}
	return rooms;
}

json_t *web_seen_channels(const struct web *w, uint64_t guild, bool open)
{
	json_t *channels = web_shown(w)->channelsh(guild, web_shown(w)->arg);

	for (size_t i = json_array_size(channels); open && i--;)
		if (!web_is_open(w, guild, id_of(json_array_get(channels, i), "id")))
			json_array_remove(channels, i);
	return channels;
}

char *web_open_channels(const struct web *w, uint64_t guild)
{
	json_t *channels = web_seen_channels(w, guild, true), *ids = json_array();
	const json_t *channel;
	char *text;
	size_t i;

	json_array_foreach(channels, i, channel)
		json_array_append_new(ids, json_integer((json_int_t)id_of(channel, "id")));
	text = json_dumps(ids, JSON_COMPACT);
	json_decref(channels);
	json_decref(ids);
	return text;
}
