/* The judges of phrases, over any words in any language: no bound is passed, slight words are FEW,
 * idle words are backchannels. The first byte chooses the language and the flags; the line behind
 * it is the utterance, the rest is what the bot said. */
#include "control/room/floor/phrase.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/room/floor/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const struct room_saying *s)
{
	enum room_phrase phrase = room_phrase_of(s);

	if (phrase > ROOM_PHRASE_STOP || room_phrase_language(s) >= ROOM_LANGUAGE_COUNT)
		abort();
	if (room_phrase_is_slight(s) && phrase != ROOM_PHRASE_FEW)
		abort();
	if (room_phrase_passing(s) != (phrase == ROOM_PHRASE_BACKCHANNEL))
		abort();
	if (room_phrase_idle(s) && phrase != ROOM_PHRASE_BACKCHANNEL)
		abort();
	(void)room_phrase_stops_work(s);
	(void)room_phrase_is_listed(s);
	(void)room_phrase_is_fragment(s);
	(void)room_phrase_is_nonverbal(s);
	(void)room_phrase_to_other(s);
	(void)room_phrase_asks(s->over);
	(void)room_address_in(s->names, s->text, room_phrase_language(s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct room_names names = {0};
	struct room_saying s = {.over = "", .names = &names};
	char *text, *end;

	if (!size)
		return 0;
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	end = strchr(text, '\n');
	if (end) {
		*end = '\0';
		s.over = end + 1;
	}
	s.text = text;
	s.told = (enum room_language)((data[0] & 0x3f) % (ROOM_LANGUAGE_UNLISTED + 1));
	s.interim = data[0] & 0x40;
	s.asked = data[0] & 0x80;
	room_names_add(&names, "Parley");
	judge(&s);
	free(text);
	return 0;
}
