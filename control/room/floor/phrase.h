/* Classifies words that are said over the bot's speech, in every language of room/language: a stop
 * request, a takeover, a backchannel, words. The first row that fits decides.
 *
 *   row   words                                                             class
 *   1     none, or only punctuation                                         NOTHING
 *   2     STOP entries, with what may stand around them and the bot's      STOP
 *         name; no question, and no answer to the bot's (stop_words.h);
 *         of another language if the one told has none of the words
 *   3     a TAKEOVER entry in any position                                  TAKEOVER
 *   4     only FILLER entries, nonverbal sounds and fragments of words      BACKCHANNEL
 *   5     only ASSENT, FILLER and GLUE entries, with an ASSENT              BACKCHANNEL
 *   6     ASSENT first or last, and nothing beside it that objects, asks,   BACKCHANNEL
 *         requests or is news (backchannel.c)
 *   7     nothing but words of the bot's own sentence and GLUE, the same    BACKCHANNEL
 *   8     a question mark, a COUNTER entry, the beginning of a question     WORDS
 *         or request
 *   9     at most 4 words and 20 letters (10 where words have no blanks)    FEW
 *   10    anything else                                                     WORDS
 *
 * A backchannel has to be recognised as one: shortness alone makes none. FEW words do not tell what
 * they are ("of all things", "the small one"): while they are spoken the voice decides, and when
 * they are over the words of the person whom the bot answers count. In a language without lists
 * every utterance is FEW, so that voice alone decides. */
#ifndef CONTROL_ROOM_FLOOR_PHRASE_H
#define CONTROL_ROOM_FLOOR_PHRASE_H

#include <stdbool.h>

#include "control/room/language/language.h"

struct room_names;

enum room_phrase {
	ROOM_PHRASE_NOTHING,
	ROOM_PHRASE_BACKCHANNEL,
	ROOM_PHRASE_FEW,
	ROOM_PHRASE_WORDS,
	ROOM_PHRASE_TAKEOVER,
	ROOM_PHRASE_STOP,
};

/* An utterance and what its words can mean. Texts are borrowed. */
struct room_saying {
	const char *text;
	const char *over;		/* what the bot says or said last; "" or NULL: nothing */
	const struct room_names *names; /* of the bot; may be NULL */
	enum room_language told;	/* by the provider; UNKNOWN: guessed */
	enum room_language language;	/* of the settings; UNKNOWN: none; helps the guess */
	bool interim;			/* more words may follow */
	bool asked;			/* the bot is silent and its last sentence was a question */
};

enum room_phrase room_phrase_of(const struct room_saying *s);
/* True if a few words, a STOP entry first or last among them, want some work stopped ("stop the
 * search", "brich die Suche bitte ab, stopp"). This is weak evidence: it needs such work. */
bool room_phrase_stops_work(const struct room_saying *s);
/* True if an entry of a list, or a question mark, makes these WORDS: an objection, a question, a
 * request. */
bool room_phrase_is_listed(const struct room_saying *s);
/* True if FEW words are so slight that they can be a sound or a misrecognised backchannel: a short
 * word that is in no list, the same word again, function words alone. They become a turn, but do
 * not cut the bot off by being over. */
bool room_phrase_is_slight(const struct room_saying *s);
/* True if the words are a fragment that carries no request (admission `focus`): neither a question,
 * nor a call alone ("hey"), nor 3 words with 6 letters, nor 2 with 10, nor 4 characters of a script
 * without blanks. */
bool room_phrase_is_fragment(const struct room_saying *s);
/* True if the text is only nonverbal sounds, hesitation and humming. */
bool room_phrase_is_nonverbal(const struct room_saying *s);
/* True if the text is nothing but sounds and backchannels: an answer only after a question. */
bool room_phrase_idle(const struct room_saying *s);
/* The same, and every BACKCHANNEL: over an answer it is not taken up later. */
bool room_phrase_passing(const struct room_saying *s);
/* True if the last sentence of the bot's text asks something (utterance.c). */
bool room_phrase_asks(const char *text);
/* The language that the utterance is judged in (utterance.c). */
enum room_language room_phrase_language(const struct room_saying *s);
/* True if one of the names is a clause of its own, with nothing but words that lead to it before
 * it: "hang on Sarah, ..." (vocative.c). */
bool room_phrase_calls(const struct room_saying *s);
/* True if the words turn to somebody else by a term of address ("get down from there, mum") or by a
 * common given name with words for its bearer ("Tom, you're on mute") (vocative.c). The names of
 * members are judged by turn/saying.h. */
bool room_phrase_to_other(const struct room_saying *s);

#endif
