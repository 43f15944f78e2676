/* Where a name stands among English words (address.h). */
#include <strings.h>

#include "control/room/floor/address_inside.h"

enum { LEAD_IN = 4 };

static uint32_t english(const struct address_word *w)
{
	char form[ROOM_NAME_FORM];
	size_t n = address_form(w, form);

	return room_language_classes(ROOM_LANGUAGE_EN, form, n);
}

bool address_greets(const struct address_word *w)
{
	static const char *const words[] = {
		"hej",	  "hei",     "hey",   "hi",	 "hallo", "hello",  "hola",   "ola",
		"olá",	  "ciao",    "salut", "bonjour", "ahoj",  "szia",   "tere",   "cześć",
		"привет", "merhaba", "selam", "salam",	 "aloha", "servus", "coucou", NULL};

	return address_in_list(w, words);
}

bool address_calls(const struct address_word *w)
{
	return english(w) & ROOM_WORD_CALL || address_greets(w);
}

bool address_is_called(const struct address_word *w, unsigned i)
{
	const uint32_t leads = ROOM_WORD_CALL | ROOM_WORD_LEAD | ROOM_WORD_ASSENT;

	if (!i)
		return false;
	if (address_calls(&w[i - 1]))
		return true;
	/* "and", "so", "good morning" open a sentence; within a sentence they are conjunctions.
	 * */
	while (i && english(&w[i - 1]) & leads) {
		i--;
		if (i == 0 || w[i].after_stop)
			return true;
	}
	return false;
}

/* "I want", "i meant" ... */
static bool wishes(const struct address_word *w)
{
	static const char *const words[] = {"want", "need",  "wanted", "have", "meant",
					    "mean", "asked", "said",   NULL};

	return address_in_list(w, words);
}

/* True if a question or request begins at word i. */
static bool begins_request(const struct address_word *w, unsigned n, unsigned i)
{
	if (i >= n)
		return false;
	if (english(&w[i]) & (ROOM_WORD_QUESTION | ROOM_WORD_REQUEST))
		return true;
	if (i + 1 >= n)
		return false;
	return (english(&w[i]) & ROOM_WORD_MODAL && english(&w[i + 1]) & ROOM_WORD_SUBJECT) ||
	       (w[i].n == 1 && (*w[i].p == 'i' || *w[i].p == 'I') && wishes(&w[i + 1]));
}

/* "Explains", "helped": an unknown word with the ending of a verb about somebody. */
static bool is_past_or_third(const struct address_word *w)
{
	const uint32_t known = ROOM_WORD_MODAL | ROOM_WORD_QUESTION | ROOM_WORD_REQUEST |
			       ROOM_WORD_LEAD | ROOM_WORD_ASSENT | ROOM_WORD_GLUE |
			       ROOM_WORD_COUNTER | ROOM_WORD_PERSON;
	const char *end = w->p + w->n;

	if (w->n < 4 || english(w) & known)
		return english(w) & ROOM_WORD_THIRD && !(english(w) & known);
	return ((end[-1] | 32) == 's' && (end[-2] | 32) != 's') ||
	       ((end[-2] | 32) == 'e' && (end[-1] | 32) == 'd');
}

/* "parley is broken" is a statement about it; "parley is it raining" is a question to it. */
static bool is_spoken_of(const struct address_word *w, unsigned n, unsigned next)
{
	static const char *const third[] = {
		"is",	 "was",	   "has",   "had",   "does",  "did",	"just",	 "isn",	    "wasn",
		"hasn",	 "doesn",  "didn",  "says",  "said",  "sounds", "seems", "thinks",  "keeps",
		"never", "always", "needs", "wants", "knows", "told",	"gave",	 "crashed", "went",
		"gets",	 "got",	   "makes", "and",   "or",    NULL};
	static const char *const subject[] = {
		"it", "that", "there",	"this",	   "he",       "she",	  "they",     "you",
		"we", "i",    "anyone", "anybody", "somebody", "someone", "everyone", NULL};

	/* "Is it", "had they" asks; "said it", "told you" reports. */
	static const char *const inverts[] = {"is",  "was",  "has",  "had",   "does", "did",
					      "isn", "wasn", "hasn", "doesn", "didn", NULL};
	static const char *const joins[] = {"and", "or", NULL};

	if (next >= n || w[next].after_stop)
		return false;
	/* "Parley never mind" is said to it. */
	if (next + 1 < n && w[next + 1].n == 4 && strncasecmp(w[next + 1].p, "mind", 4) == 0)
		return false;
	if (!address_in_list(&w[next], third))
		return is_past_or_third(&w[next]);
	if (address_in_list(&w[next], joins))
		return !begins_request(w, n, next + 1);
	return next + 1 >= n || !address_in_list(&w[next + 1], subject) ||
	       !address_in_list(&w[next], inverts);
}

static bool is_statement_about(const struct address_word *before)
{
	static const char *const about[] = {
		"ask",	"asked",  "asking",  "asks", "tell",	"told",	   "telling", "tells",
		"show", "showed", "showing", "call", "called",	"calling", "a",	      "an",
		"the",	"my",	  "your",    "his",  "her",	"our",	   "their",   "this",
		"some", "any",	  "every",   "each", "another", "no",	   NULL};

	return address_in_list(before, about);
}

/* After these the name at the end of a sentence is no address: "talk to parley", "i like
 * parley", "who made parley". */
static bool leads_sentence(const struct address_word *before)
{
	static const char *const words[] = {
		"to",	  "with",    "about",	"of",	      "for",	   "from",	"by",
		"like",	  "likes",   "love",	"loves",      "hate",	   "use",	"using",
		"used",	  "is",	     "was",	"than",	      "named",	   "mute",	"kick",
		"invite", "meet",    "met",	"said",	      "says",	   "and",	"or",
		"in",	  "on",	     "without", "at",	      "as",	   "have",	"had",
		"want",	  "need",    "got",	"hear",	      "heard",	   "made",	"makes",
		"built",  "created", "wrote",	"programmed", "invented",  "try",	"tried",
		"trying", "test",    "tested",	"testing",    "installed", "restarted", "fixed",
		"broke",  NULL};

	return address_in_list(before, words);
}

/* Such a word that ends what is said to it: "nice try parley", "is it fixed parley", "what have you
 * built parley". */
static bool ends_sentence(const struct address_word *w, unsigned i)
{
	static const char *const nouns[] = {"try", "test", NULL};
	static const char *const describes[] = {"a",	"the",	"my",	"this",	   "that",  "nice",
						"good", "next", "last", "another", "first", NULL};
	static const char *const states[] = {"fixed",  "broke", "restarted", "installed",
					     "tested", "tried", NULL};
	static const char *const is[] = {"is", "are", "was", "were", NULL};
	static const char *const asks[] = {"what", "how", "why", "when", "where", NULL};
	static const char *const have[] = {"have", NULL}, *const you[] = {"you", NULL};

	if (i >= 2 && address_in_list(&w[i - 1], nouns) && address_in_list(&w[i - 2], describes))
		return true;
	if (i >= 3 && address_in_list(&w[0], is) && address_in_list(&w[i - 1], states))
		return true;
	return i >= 4 && address_in_list(&w[0], asks) && address_in_list(&w[1], have) &&
	       address_in_list(&w[2], you);
}

/* A short lead-in with a verb continues after the name: "i showed her parley what a hit". */
static bool tells_about(const struct address_word *w, unsigned n)
{
	static const char *const subject[] = {"i",    "he",	 "she",	      "they",	   "it",
					      "that", "nobody",	 "everybody", "people",	   "if",
					      "when", "because", "maybe",     "sometimes", "does",
					      "is",   "why",	 NULL};

	for (unsigned i = 0; i < n; i++)
		if (address_in_list(&w[i], subject))
			return true;
	return false;
}

/* "Did parley answer you" asks somebody else. */
static bool asks_about(const struct address_word *before)
{
	static const char *const words[] = {"did", "has", "had", "didn", "hasn", "hadn", NULL};

	return address_in_list(before, words);
}

enum room_address address_english(const struct address_word *w, unsigned n,
				  const struct address_hit *h)
{
	unsigned i = h->at, next = i + h->words;
	bool call = address_is_called(w, i), last = next == n;
	bool paused = i > 0 && w[i].after_stop;
	const struct address_word *before = i > 0 && !paused ? &w[i - 1] : NULL;

	/* A name that is a word, such as Will or May, calls only as a vocative. */
	if (h->words == 1 && english(&w[i]) && !(call && address_calls(&w[i - 1])) &&
	    !((i == 0 || paused) && (last || w[next].after_stop)))
		return ROOM_ADDRESS_NONE;
	if (before && is_statement_about(before) && !call)
		return ROOM_ADDRESS_NONE;
	if (w[next - 1].possessive && !last && !call)
		return ROOM_ADDRESS_NONE;
	if (call)
		return is_spoken_of(w, n, next) && !address_calls(&w[i - 1])
			       ? ROOM_ADDRESS_MENTIONED
			       : ROOM_ADDRESS_ADDRESSED;
	if ((i == 0 || paused) && !is_spoken_of(w, n, next))
		return ROOM_ADDRESS_ADDRESSED;
	if (last && !(before && leads_sentence(before) && !ends_sentence(w, i)))
		return ROOM_ADDRESS_ADDRESSED;
	if (before && i <= LEAD_IN && !leads_sentence(before) && !asks_about(before) &&
	    !tells_about(w, i) && begins_request(w, n, next))
		return ROOM_ADDRESS_ADDRESSED;
	return ROOM_ADDRESS_MENTIONED;
}

enum room_address address_english_similar(const struct address_word *w, unsigned n,
					  const struct address_hit *h)
{
	unsigned i = h->at, next = i + h->words;
	bool call = i > 0 && address_calls(&w[i - 1]);

	if (w[next - 1].possessive)
		return ROOM_ADDRESS_NONE;
	if (call && !is_spoken_of(w, n, next))
		return ROOM_ADDRESS_ADDRESSED;
	if ((i == 0 || address_is_called(w, i)) && begins_request(w, n, next))
		return ROOM_ADDRESS_ADDRESSED;
	if (i > 1 && next == n && w[i].after_stop && begins_request(w, n, 0))
		return ROOM_ADDRESS_ADDRESSED;
	return ROOM_ADDRESS_NONE;
}
