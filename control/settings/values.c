/* What values a setting takes, in words for its faults (inside.h, settings.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/settings/inside.h"
#include "control/settings/settings.h"

/* a, b or c of a|b|c; in a file of JSON each in quotes. */
static void list_words(char *buf, size_t size, const char *words, bool in_json)
{
	const char *quote = in_json ? "\"" : "";
	size_t n = 0;

	for (const char *p = words; *p && n < size; p += *p == '|') {
		size_t len = strcspn(p, "|");
		const char *before = p == words ? "" : strchr(p, '|') ? ", " : " or ";
		int put = snprintf(buf + n, size - n, "%s%s%.*s%s", before, quote, (int)len, p,
				   quote);

		n += put > 0 ? (size_t)put : 0;
		p += len;
	}
}

void settings_row_say(const struct settings_row *r, bool in_json, char *buf, size_t size)
{
	buf[0] = '\0';
	switch (r->kind) {
	case SETTINGS_NUMBER:
		snprintf(buf, size, "a whole number from %" PRIu32 " to %" PRIu32 "%s%s", r->min,
			 r->max, *r->unit ? " " : "", r->unit);
		break;
	case SETTINGS_SWITCH:
		snprintf(buf, size, "%s", in_json ? "true or false" : "yes or no");
		break;
	case SETTINGS_WORD:
		list_words(buf, size, r->words, in_json);
		break;
	case SETTINGS_TEXT:
		if (settings_role_fault(r, "-")) {
			snprintf(buf, size,
				 "the id of a role of Discord, such as 123456789012345678, or "
				 "empty; in Discord's developer mode a right click on the role "
				 "copies it");
			break;
		}
		/* fall through */
	case SETTINGS_IDS:
	case SETTINGS_SECRET:
		snprintf(buf, size, "a text of at most %zu bytes in UTF-8", r->bytes - 1);
		break;
	}
}

void settings_say_values(const char *name, char *buf, size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; i < settings_n_rows; i++)
		if (strcmp(settings_rows[i].name, name) == 0 ||
		    strcmp(settings_rows[i].env, name) == 0)
			settings_row_say(&settings_rows[i], false, buf, size);
}
