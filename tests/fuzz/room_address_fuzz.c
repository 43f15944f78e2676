/* Was the bot spoken to, in any text and by any name? No bound is passed, upper and lower case are
 * one, and a word is as alike to another as the other to it. The first line are the names, the rest
 * is the text. */
#include "control/room/floor/address.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void keys(const char *a, size_t na, const char *b, size_t nb)
{
	char ka[ROOM_KEY_MAX], kb[ROOM_KEY_MAX];
	unsigned alike;

	room_sound_key(a, na, ka);
	room_sound_key(b, nb, kb);
	if (strlen(ka) >= sizeof ka || strlen(kb) >= sizeof kb)
		abort();
	alike = room_sound_alike(ka, kb);
	if (alike > 100 || alike != room_sound_alike(kb, ka))
		abort();
	if (*ka && room_sound_alike(ka, ka) != 100)
		abort();
}

static enum room_address judged(const char *list, const char *text)
{
	static struct room_names names;
	enum room_address a;

	memset(&names, 0, sizeof names);
	room_names_add(&names, list);
	if (names.n > ROOM_NAMES)
		abort();
	a = room_address(&names, text);
	if (a > ROOM_ADDRESS_ADDRESSED || (a != ROOM_ADDRESS_NONE && !names.n))
		abort();
	(void)room_name_cue(&names, text);
	return a;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *list = malloc(size + 1), *text, *end;
	enum room_address a;

	if (!list)
		return 0;
	if (size)
		memcpy(list, data, size);
	list[size] = '\0';
	text = list;
	end = strchr(list, '\n');
	if (end) {
		*end = '\0';
		text = end + 1;
	}
	keys(list, strlen(list), text, strlen(text));
	a = judged(list, text);
	for (char *p = text; *p; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	if (judged(list, text) != a)
		abort();
	free(list);
	return 0;
}
