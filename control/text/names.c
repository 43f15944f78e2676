/* The bot's name in written words (inside.h): spelled as it is, and where
 * control/room/floor/address.h holds it for an address. A name that only sounds alike is no name in
 * writing. */
#include <stdio.h>
#include <string.h>

#include "control/room/floor/phrase.h"
#include "control/settings/settings.h"
#include "control/text/incoming.h"
#include "control/text/inside.h"
#include "proto/base/utf8.h"

enum {
	FOLDED = 2 * INCOMING_TEXT,	 /* a blank for each letter at most */
	FOLDED_NAME = 2 * TEXT_NAME + 8, /* of one name */
	END = 400,			 /* bytes at the end of a text that are judged alone */
	SENTENCE = 800,			 /* most of them, so that they begin with one */
};

static bool is_spaced(enum room_script script)
{
	return script == ROOM_SCRIPT_LATIN || script == ROOM_SCRIPT_DIGIT ||
	       script == ROOM_SCRIPT_CYRILLIC;
}

/* The words of a text in lower case, within `size` bytes, with one blank before, between and after
 * them. Words of Latin letters stand apart from scripts that write none. */
static void fold(char *to, size_t size, const char *text)
{
	enum room_script before = ROOM_SCRIPT_NONE;
	size_t n = 0;

	to[n++] = ' ';
	while (*text && n + 6 < size) {
		uint32_t ch = room_script_next(&text);
		enum room_script script = room_script_of(ch);

		if (script == ROOM_SCRIPT_NONE ||
		    (before != ROOM_SCRIPT_NONE && is_spaced(script) != is_spaced(before)))
			if (to[n - 1] != ' ')
				to[n++] = ' ';
		before = script;
		if (script != ROOM_SCRIPT_NONE &&
		    !room_script_put(to, size - 1, &n, room_script_lower(ch)))
			break;
	}
	if (to[n - 1] != ' ')
		to[n++] = ' ';
	to[n] = '\0';
}

/* True if one of the names of the list, separated by commas, is among the words. */
static bool occurs_in(const char *words, const char *list)
{
	char name[TEXT_NAME], folded[FOLDED_NAME];

	while (*list) {
		size_t n = strcspn(list, ",");

		utf8_copy_bytes(name, sizeof name, list, n);
		fold(folded, sizeof folded, name);
		if (folded[1] && strstr(words, folded))
			return true;
		list += n + (list[n] != '\0');
	}
	return false;
}

static const char *name_now(const struct text_chat *chat)
{
	return *chat->settings->bot_name ? chat->settings->bot_name : chat->name;
}

static struct text_known_names *names_now(struct text_chat *chat)
{
	struct text_known_names *known = &chat->names;
	const char *aliases = chat->settings->aliases;

	if (strcmp(known->bot_name, name_now(chat)) == 0 && strcmp(known->aliases, aliases) == 0 &&
	    strcmp(known->nickname, chat->nickname) == 0 &&
	    strcmp(known->mentioned, chat->name) == 0)
		return known;
	*known = (struct text_known_names){0};
	snprintf(known->bot_name, sizeof known->bot_name, "%s", name_now(chat));
	snprintf(known->aliases, sizeof known->aliases, "%s", aliases);
	snprintf(known->nickname, sizeof known->nickname, "%s", chat->nickname);
	snprintf(known->mentioned, sizeof known->mentioned, "%s", chat->name);
	room_names_add(&known->exact, known->bot_name);
	room_names_add(&known->alias, aliases);
	room_names_add(&known->alias, known->nickname);
	room_names_add(&known->all, known->bot_name);
	room_names_add(&known->all, aliases);
	room_names_add(&known->all, known->nickname);
	room_names_add(&known->all, known->mentioned);
	return known;
}

/* Lists of names are separated by commas, which a nickname may have. */
void text_chat_set_nickname(struct text_chat *chat, const char *name)
{
	utf8_copy(chat->nickname, sizeof chat->nickname, name);
	for (char *p = chat->nickname; *p; p++)
		if (*p == ',')
			*p = ' ';
}

const char *text_names_said(const struct text_event *ev)
{
	return ev->said ? ev->said : ev->text;
}

/* True if a sentence begins at p, which is not the beginning. Scripts without blanks need no
 * beginning to be judged. */
static bool begins_sentence(const char *text, const char *p)
{
	return p[-1] == '\n' || (p - text > 1 && p[-1] == ' ' && strchr(".!?", p[-2]));
}

/* The last sentences of a text, or the end of one that is long: room_address does not look at all
 * words of a long text. NULL: it does. */
static const char *last_sentences(const char *text)
{
	const char *end = text + strlen(text), *last, *p;

	if (end - text <= END)
		return NULL;
	last = end - END;
	for (p = last; p < end; p++)
		if (begins_sentence(text, p))
			return p;
	for (p = last; p > text && p > end - SENTENCE; p--)
		if (begins_sentence(text, p))
			return p;
	p = strchr(last, ' ');
	while (!p && (*last & 0xc0) == 0x80)
		last++;
	return p ? p : last;
}

/* A call stands first or last. */
static bool calls(const struct room_names *names, const char *text)
{
	const char *last = last_sentences(text);

	return room_address(names, text) == ROOM_ADDRESS_ADDRESSED ||
	       (last && room_address(names, last) == ROOM_ADDRESS_ADDRESSED);
}

enum text_signal text_names_signal(struct text_chat *chat, const char *text, bool *occurs)
{
	const struct text_known_names *known = names_now(chat);
	char words[FOLDED];
	bool exact, alias;

	fold(words, sizeof words, text);
	exact = occurs_in(words, known->bot_name);
	alias = occurs_in(words, known->aliases) || occurs_in(words, known->nickname);
	*occurs = exact || alias;
	if (exact && calls(&known->exact, text))
		return TEXT_SIGNAL_NAME_EXACT;
	if (alias && calls(&known->alias, text))
		return TEXT_SIGNAL_NAME_ALIAS;
	return TEXT_SIGNAL_LLM_DECIDES;
}

bool text_chat_has_name(struct text_chat *chat, const char *text)
{
	bool occurs;

	text_names_signal(chat, text, &occurs);
	return occurs;
}

bool text_names_stops(struct text_chat *chat, const char *text)
{
	const struct room_saying saying = {.text = text, .names = &names_now(chat)->all};

	return room_phrase_of(&saying) == ROOM_PHRASE_STOP;
}
