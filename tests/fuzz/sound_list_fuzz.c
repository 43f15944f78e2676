/* The soundboard's JSON: a list, an event or one sound, and a reference to one of its sounds behind
 * a NUL. No input may crash, the list has plain names and its limits, and what is found is in it
 * unless the reference names a server. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/discord/sound_list.h"
#include "proto/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct sound_list *list)
{
	if (list->n > SOUNDS_MAX)
		abort();
	for (unsigned i = 0; i < list->n; i++)
		if (!list->v[i].id || !*list->v[i].name || !utf8_valid(list->v[i].name) ||
		    sound_list_by_id(list, list->v[i].id) != &list->v[i])
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sound_list list;
	const uint8_t *end = size ? memchr(data, '\0', size) : NULL;
	size_t n = end ? (size_t)(end - data) : size;
	json_t *root = json_loadb((const char *)data, n, JSON_DECODE_ANY, NULL);
	char ref[64] = "";
	uint64_t id, guild;

	list.n = 0;
	sound_list_add(&list, root);
	check(&list);
	sound_list_set(&list, root);
	sound_list_add(&list, json_object_get(root, "again"));
	check(&list);
	if (end && size - n - 1 < sizeof ref)
		memcpy(ref, end + 1, size - n - 1);
	if (!sound_list_find(&list, ref, &id, &guild) && !guild && !sound_list_by_id(&list, id))
		abort();
	if (list.n) {
		guild = list.v[0].guild;
		id = list.v[list.n - 1].id;
		sound_list_remove(&list, id);
		sound_list_clear(&list, guild);
		if (sound_list_by_id(&list, id))
			abort();
		check(&list);
	}
	json_decref(root);
	return 0;
}
