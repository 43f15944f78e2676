#include "control/settings/ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/utf8.h"
#include "proto/discord.h"

enum { DIGITS = 20, SHOWN = 40 };

static const char separators[] = " ,;\t\r\n";

bool settings_ids_have(const char *list, uint64_t id)
{
	while (*list) {
		char *end;
		uint64_t v = strtoull(list, &end, 10);

		if (end != list && v == id)
			return true;
		list = end + (*end != '\0');
	}
	return false;
}

bool settings_ids_name(const char *list, uint64_t channel, uint64_t parent, uint64_t category)
{
	return settings_ids_have(list, channel) || (parent && settings_ids_have(list, parent)) ||
	       (category && settings_ids_have(list, category));
}

bool settings_ids_empty(const char *list)
{
	return !list[strspn(list, separators)];
}

/* An id, or one as Discord writes it in a message: "<#7>", "<@7>", "<@!7>". */
static bool is_id(const char *entry, size_t n)
{
	char digits[DIGITS + 1];
	uint64_t id;

	if (n > 2 && entry[0] == '<' && entry[n - 1] == '>') {
		size_t before = entry[1] == '#' ? 2 : entry[1] == '@' ? 2 + (entry[2] == '!') : 0;

		if (!before || before + 1 >= n)
			return false;
		entry += before;
		n -= before + 1;
	}
	if (n > DIGITS)
		return false;
	snprintf(digits, sizeof digits, "%.*s", (int)n, entry);
	return discord_snowflake(digits, &id);
}

const char *settings_ids_fault(const char *list)
{
	for (list += strspn(list, separators); *list; list += strspn(list, separators)) {
		size_t n = strcspn(list, separators);

		if (!is_id(list, n))
			return list;
		list += n;
	}
	return NULL;
}

void settings_ids_say(const char *list, char *buf, size_t size)
{
	const char *entry = settings_ids_fault(list);
	size_t n = entry ? strcspn(entry, separators) : 0;

	snprintf(buf, size,
		 "must be ids of Discord, such as 123456789012345678, separated by commas, not "
		 "\"%.*s\"; in Discord's developer mode a right click copies an id",
		 (int)(n > SHOWN ? utf8_whole(entry, SHOWN) : n), entry ? entry : "");
}

uint64_t settings_role_id(const char *text)
{
	size_t n = strlen(text);
	char digits[DIGITS + 1];
	uint64_t id = 0;

	if (n > 4 && strncmp(text, "<@&", 3) == 0 && text[n - 1] == '>') {
		text += 3;
		n -= 4;
	}
	if (n > DIGITS)
		return 0;
	snprintf(digits, sizeof digits, "%.*s", (int)n, text);
	return discord_snowflake(digits, &id) ? id : 0;
}

bool settings_ids_each(const char **list, uint64_t *id)
{
	const char *digits = *list + strcspn(*list, "0123456789");
	char *end;

	if (!*digits)
		return false;
	*id = strtoull(digits, &end, 10);
	*list = end;
	return true;
}
