#include "control/room/turn/saying.h"

#include "control/room/base/context.h"
#include "control/room/base/turns.h"
#include "control/room/floor/address.h"
#include "control/room/turn/admission.h"
#include "control/room/turn/history.h"
#include "control/settings/settings.h"

/* The bot's running answer, if people have heard any of it, else its last one; "" if it has said
 * nothing. */
static const char *find_last_answer(const struct room_context *context)
{
	const struct room_turn *active = room_turn_on_floor(context);
	const struct room_history *h = context->history;

	if (active && active->first_audio_at && active->answer[0])
		return active->answer;
	for (unsigned i = room_history_count(h); i-- > 0;)
		if (room_history_at(h, i)->bot)
			return room_history_at(h, i)->text;
	return "";
}

/* True if the bot is silent and its last words were a question. */
static bool is_awaiting_answer(const struct room_context *context)
{
	const struct room_turn *active = room_turn_on_floor(context);

	return !(active && active->first_audio_at) && room_bot_asked_question(context);
}

struct room_saying room_saying_of(const struct room_context *context, const char *text,
				  unsigned told)
{
	return (struct room_saying){.text = text,
				    .over = find_last_answer(context),
				    .names = context->names,
				    .told = (enum room_language)told,
				    .asked = is_awaiting_answer(context),
				    .language = room_language_told(context->settings->language)};
}

/* True if the words [i, i + n) can be nobody's name: a display name may be any word, but "stop" and
 * "what is" call nobody. A word such as May is left to the vocative (floor/address.h). */
static bool are_listed(const struct room_words *w, unsigned i, unsigned n)
{
	const uint32_t names = ROOM_WORD_KIN | ROOM_WORD_MODAL | ROOM_WORD_SUBJECT |
			       ROOM_WORD_THIRD | ROOM_WORD_OPEN_END | ROOM_WORD_LINK |
			       ROOM_WORD_LAST;

	if (n <= ROOM_ENTRY_CHARS && w->v[i].classes[n - 1] & ~names)
		return true;
	for (unsigned k = 0; k < n; k++)
		if (n == 1 || !w->v[i + k].classes[0])
			return false;
	return true;
}

/* True if the names occur in the text as words of its language's lists alone. */
static bool are_plain_words(const struct room_names *names, const char *text,
			    enum room_language language)
{
	struct room_words w;
	bool found = false;

	room_words_split(&w, text, language);
	for (unsigned i = 0; i < w.n; i++) {
		unsigned n = room_name_at(names, &w, i);

		if (n && !are_listed(&w, i, n))
			return false;
		found = found || n;
	}
	return found;
}

bool room_saying_to_other(const struct room_context *context, uint64_t user, const char *text,
			  unsigned told, bool interim)
{
	const struct room_people *people = context->people;
	struct room_saying s = room_saying_of(context, text, told);
	enum room_language language = room_phrase_language(&s);
	struct room_saying calls = {.text = text, .over = "", .told = language};

	s.interim = interim;
	for (unsigned i = 0; i < people->places;) {
		struct room_names names = {0};

		for (; i < people->places && names.n < ROOM_NAMES; i++)
			if (people->person[i].used && people->person[i].user != user)
				room_names_add(&names, people->person[i].name);
		calls.names = &names;
		if ((room_address_in(&names, text, language) == ROOM_ADDRESS_ADDRESSED ||
		     room_phrase_calls(&calls)) &&
		    !are_plain_words(&names, text, language))
			return true;
	}
	return room_phrase_to_other(&s);
}

enum room_address room_saying_address(const struct room_context *context, const char *text,
				      unsigned told)
{
	struct room_saying s = room_saying_of(context, text, told);

	/* "Sei still, Parley" and nothing else is meant for nobody but the bot, whatever the
	 * position of the name. */
	if (room_name_occurs(context->names, text) && room_phrase_of(&s) == ROOM_PHRASE_STOP)
		return ROOM_ADDRESS_ADDRESSED;
	return room_address_in(context->names, text, room_phrase_language(&s));
}

bool room_saying_about_bot(const struct room_context *context, const char *text, unsigned told,
			   enum room_address address)
{
	struct room_saying s = room_saying_of(context, text, told);

	if (address != ROOM_ADDRESS_NONE)
		return address == ROOM_ADDRESS_MENTIONED;
	/* "I may be wrong" is not about a bot whose name is May, "parle" is French. */
	return room_phrase_language(&s) == ROOM_LANGUAGE_EN &&
	       room_name_occurs(context->names, text) && !room_name_is_word(context->names);
}
