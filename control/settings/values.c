/* What values a setting takes, in words for its faults (inside.h, settings.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/settings/ids.h"
#include "control/settings/inside.h"
#include "control/settings/settings.h"
#include "proto/base/address_list.h"
#include "proto/base/utf8.h"

enum { SHOWN = 40 }; /* bytes of a wrong entry */

#define A_ROLE "the id of a role of Discord, such as 123456789012345678, or empty"
#define SOME_ADDRESSES                                                                             \
	"IP addresses with ports, such as 10.0.0.5:80 or [fd00::1]:8080, separated by commas"

enum text_kind { TEXT_ANY, TEXT_ROLE, TEXT_ADDRESSES };

static enum text_kind kind_of(const struct settings_row *r)
{
	if (r->kind == SETTINGS_TEXT && strcmp(r->name, "music_dj_role") == 0)
		return TEXT_ROLE;
	return r->kind == SETTINGS_TEXT && strcmp(r->name, "web_read_allowed") == 0 ? TEXT_ADDRESSES
										    : TEXT_ANY;
}

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
		if (kind_of(r) != TEXT_ANY) {
			snprintf(buf, size, "%s",
				 kind_of(r) == TEXT_ROLE ? A_ROLE : SOME_ADDRESSES);
			break;
		}
		/* fall through */
	case SETTINGS_IDS:
	case SETTINGS_SECRET:
		snprintf(buf, size, "a text of at most %zu bytes in UTF-8", r->bytes - 1);
		break;
	}
}

/* Bytes of a wrong text of n bytes that are shown. */
static int shown(const char *text, size_t n)
{
	return (int)(n > SHOWN ? utf8_whole(text, SHOWN) : n);
}

static bool is_role(const char *text)
{
	return !*text || settings_role_id(text);
}

static void say_addresses(const char *list, char *buf, size_t size)
{
	struct address_entry e;
	const char *entry;
	size_t n;

	entry = address_list_fault(list, &n);
	if (entry && address_entry_read(&e, entry, n))
		snprintf(buf, size, "must be at most %d addresses", ADDRESS_LIST_ENTRIES);
	else if (entry)
		snprintf(buf, size,
			 "must be " SOME_ADDRESSES
			 ", not \"%.*s\"; a host is listed by its IP address",
			 shown(entry, n), entry);
}

bool settings_text_fault(const struct settings_row *r, const char *text, char *buf, size_t size)
{
	enum text_kind kind = kind_of(r);
	size_t n;

	if (r->kind == SETTINGS_IDS) {
		if (!settings_ids_fault(text))
			return false;
		if (buf)
			settings_ids_say(text, buf, size);
		return true;
	}
	if (kind == TEXT_ANY || (kind == TEXT_ROLE && is_role(text)) ||
	    (kind == TEXT_ADDRESSES && !address_list_fault(text, &n)))
		return false;
	if (buf && kind == TEXT_ROLE)
		snprintf(buf, size,
			 "must be " A_ROLE
			 ", not \"%.*s\"; in Discord's developer mode a right click on the role "
			 "copies it",
			 shown(text, strlen(text)), text);
	else if (buf)
		say_addresses(text, buf, size);
	return true;
}

static const struct settings_row *row_named(const char *name)
{
	for (size_t i = 0; i < settings_n_rows; i++)
		if (strcmp(settings_rows[i].name, name) == 0 ||
		    strcmp(settings_rows[i].env, name) == 0)
			return &settings_rows[i];
	return NULL;
}

bool settings_say_fault(const char *name, const char *text, char *buf, size_t size)
{
	const struct settings_row *r = row_named(name);

	return r && settings_text_fault(r, text, buf, size);
}

void settings_say_values(const char *name, char *buf, size_t size)
{
	const struct settings_row *r = row_named(name);

	buf[0] = '\0';
	if (r)
		settings_row_say(r, false, buf, size);
}
