#include "control/discord/sound_list.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "proto/base/utf8.h"
#include "proto/discord.h"

/* Discord sends the ids of default sounds as numbers too. */
static uint64_t id_of(const json_t *v)
{
	uint64_t id = 0;

	if (json_is_integer(v) && json_integer_value(v) > 0)
		return (uint64_t)json_integer_value(v);
	discord_snowflake(json_string_value(v), &id);
	return id;
}

/* Returns false if the sound cannot be played or named. */
static bool read_sound(struct sound *to, const json_t *sound)
{
	const char *name = json_string_value(json_object_get(sound, "name"));

	if (!name || !*name || json_is_false(json_object_get(sound, "available")))
		return false;
	*to = (struct sound){.id = id_of(json_object_get(sound, "sound_id")),
			     .guild = id_of(json_object_get(sound, "guild_id"))};
	utf8_copy(to->name, sizeof to->name, name);
	return to->id != 0 && *to->name;
}

void sound_list_set(struct sound_list *list, const json_t *sound)
{
	uint64_t id = id_of(json_object_get(sound, "sound_id"));
	struct sound *at = list->v, s;

	while (at < list->v + list->n && at->id != id)
		at++;
	if (!read_sound(&s, sound)) {
		sound_list_remove(list, id);
		return;
	}
	if (at == list->v + SOUNDS_MAX)
		return;
	list->n += at == list->v + list->n;
	*at = s;
}

void sound_list_add(struct sound_list *list, const json_t *sounds)
{
	const json_t *items = sounds;

	if (json_is_object(sounds))
		items = json_object_get(sounds, "items");
	if (json_is_object(sounds) && !items)
		items = json_object_get(sounds, "soundboard_sounds");
	for (size_t i = 0; i < json_array_size(items); i++)
		sound_list_set(list, json_array_get(items, i));
}

void sound_list_clear(struct sound_list *list, uint64_t guild)
{
	unsigned k = 0;

	for (unsigned i = 0; i < list->n; i++)
		if (list->v[i].guild != guild)
			list->v[k++] = list->v[i];
	list->n = k;
}

void sound_list_remove(struct sound_list *list, uint64_t id)
{
	unsigned k = 0;

	for (unsigned i = 0; i < list->n; i++)
		if (list->v[i].id != id)
			list->v[k++] = list->v[i];
	list->n = k;
}

const struct sound *sound_list_by_id(const struct sound_list *list, uint64_t id)
{
	for (unsigned i = 0; i < list->n; i++)
		if (list->v[i].id == id)
			return &list->v[i];
	return NULL;
}

/* "123", "123@456" */
static bool by_id(const struct sound_list *list, const char *ref, uint64_t *id, uint64_t *guild)
{
	char text[24];
	size_t n = strcspn(ref, "@");

	if (n >= sizeof text)
		return false;
	memcpy(text, ref, n);
	text[n] = '\0';
	*guild = 0;
	if (!discord_snowflake(text, id))
		return false;
	return ref[n] ? discord_snowflake(ref + n + 1, guild) : sound_list_by_id(list, *id) != NULL;
}

int sound_list_find(const struct sound_list *list, const char *ref, uint64_t *id, uint64_t *guild)
{
	const struct sound *part = NULL;
	unsigned parts = 0;

	if (by_id(list, ref, id, guild))
		return 0;
	if (!*ref)
		return ENOENT;
	*guild = 0;
	for (unsigned i = 0; i < list->n; i++) {
		const struct sound *s = &list->v[i];

		if (strcasecmp(s->name, ref) == 0) {
			*id = s->id;
			return 0;
		}
		if (strcasestr(s->name, ref)) {
			part = s;
			parts++;
		}
	}
	if (parts != 1)
		return parts ? EEXIST : ENOENT;
	*id = part->id;
	return 0;
}
