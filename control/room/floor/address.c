#include "control/room/floor/address.h"

#include <string.h>
#include <strings.h>

#include "control/room/floor/lexicon.def"
#include "control/room/floor/phrases.def"

#define P(word) word,

/* Similar enough to the name: half an edit in a key of five. */
enum { ALIKE = 88, ALIKE_MIN = 4, PRIMARY_MIN = 4, LEAD_IN = 4 };

struct word {
	const char *p;
	size_t n;
	bool possessive; /* "parley's" */
	bool after_stop; /* punctuation stands before it */
	char key[ROOM_KEY_MAX];
};

/* A name in a text. */
struct hit {
	unsigned at, words;
	bool exact; /* else it only sounds similar */
};

static bool is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       (unsigned char)ch >= 0x80;
}

static unsigned split_words(const char *text, struct word *words, unsigned max)
{
	unsigned n = 0;
	bool stop = false;
	const char *p = text;

	while (*p && n < max) {
		struct word *w = &words[n];

		if (!is_letter(*p)) {
			stop = stop || strchr(",;:.!?", *p);
			p++;
			continue;
		}
		*w = (struct word){.p = p, .after_stop = stop};
		stop = false;
		while (is_letter(*p))
			p++;
		w->n = (size_t)(p - w->p);
		if (*p == '\'' && (p[1] == 's' || p[1] == 'S') && !is_letter(p[2])) {
			w->possessive = true;
			p += 2;
		} else {
			while (*p == '\'' || is_letter(*p))
				p++;
		}
		room_sound_key(w->p, w->n, w->key);
		n++;
	}
	return n;
}

static bool is_in_list(const struct word *w, const char *const *list)
{
	for (; *list; list++)
		if ((**list | 0x20) == (*w->p | 0x20) && strlen(*list) == w->n &&
		    strncasecmp(*list, w->p, w->n) == 0)
			return true;
	return false;
}

/* The longest word of the name, unless many people bear it. */
static void find_primary_word(const struct word *w, unsigned n, char key[ROOM_KEY_MAX])
{
	static const char *const common[] = {
		"assistant", "robot",  "agent",	 "helper",  "voice",  "captain", "doctor",
		"professor", "mister", "miss",	 "lady",    "lord",   "king",	 "queen",
		"uncle",     "aunt",   "sister", "brother", "mother", "father",	 NULL};
	const struct word *best = NULL;

	*key = '\0';
	for (unsigned i = 0; i < n; i++)
		if (w[i].n >= PRIMARY_MIN && !is_in_list(&w[i], common) &&
		    (!best || w[i].n > best->n))
			best = &w[i];
	if (best && n > 1)
		memcpy(key, best->key, ROOM_KEY_MAX);
}

static void add_one(struct room_names *names, const char *one)
{
	struct word words[ROOM_NAME_WORDS];
	unsigned n = split_words(one, words, ROOM_NAME_WORDS);
	char joined[ROOM_KEY_MAX] = "";
	size_t j = 0;

	for (unsigned i = 0; i < n; i++) {
		memcpy(names->name[names->n].key[i], words[i].key, ROOM_KEY_MAX);
		for (size_t c = 0; c < words[i].n && j + 1 < sizeof joined; c++)
			joined[j++] = words[i].p[c];
	}
	room_sound_key(joined, j, names->name[names->n].joined);
	find_primary_word(words, n, names->name[names->n].primary);
	names->name[names->n].words = n;
	names->n += n > 0;
}

void room_names_add(struct room_names *names, const char *list)
{
	for (const char *p = list; *p && names->n < ROOM_NAMES; p += *p == ',') {
		char one[ROOM_KEY_MAX * ROOM_NAME_WORDS];
		size_t len = strcspn(p, ",");

		if (len < sizeof one) {
			memcpy(one, p, len);
			one[len] = '\0';
			add_one(names, one);
		}
		p += len;
	}
}

/* The key of word i and the next as one. */
static bool make_pair_key(const struct word *w, unsigned n, unsigned i, char key[ROOM_KEY_MAX])
{
	char both[2 * ROOM_KEY_MAX];

	if (i + 1 >= n || w[i].n + w[i + 1].n >= sizeof both || w[i + 1].after_stop)
		return false;
	memcpy(both, w[i].p, w[i].n);
	memcpy(both + w[i].n, w[i + 1].p, w[i + 1].n);
	room_sound_key(both, w[i].n + w[i + 1].n, key);
	return true;
}

/* The number of words from i on that are this name; 0 if they are not. pair: the key of two of
 * them as one, or NULL. */
static unsigned match_name(const struct room_names *names, unsigned which, const struct word *w,
			   unsigned n, unsigned i, const char *pair)
{
	unsigned words = names->name[which].words, k = 0;

	while (k < words && i + k < n && strcmp(names->name[which].key[k], w[i + k].key) == 0)
		k++;
	if (k == words)
		return words;
	if (strcmp(names->name[which].joined, w[i].key) == 0 ||
	    (*names->name[which].primary && strcmp(names->name[which].primary, w[i].key) == 0))
		return 1;
	return pair && strcmp(names->name[which].joined, pair) == 0 ? 2 : 0;
}

static bool is_similar(const struct room_names *names, unsigned which, const char *key)
{
	const char *name = names->name[which].joined;

	return strlen(name) >= ALIKE_MIN && room_sound_alike(name, key) >= ALIKE;
}

/* ---- where it stands ---- */

static const char *const callers[] = {LEXICON_CALLS(P) NULL};

static bool is_addressed(const struct word *w, unsigned i)
{
	static const char *const leads[] = {LEXICON_CALLS(P) LEXICON_LEADS(P) ROOM_BACKCHANNELS(P)
						    NULL};

	if (!i)
		return false;
	if (is_in_list(&w[i - 1], callers))
		return true;
	/* "and", "so", "good morning" open a sentence; within a sentence they are conjunctions.
	 * */
	while (i && is_in_list(&w[i - 1], leads)) {
		i--;
		if (i == 0 || w[i].after_stop)
			return true;
	}
	return false;
}

/* Whether a question or request begins at word i. */
static bool begins_request(const struct word *w, unsigned n, unsigned i)
{
	static const char *const alone[] = {LEXICON_QUESTIONS(P) LEXICON_REQUESTS(P) NULL};
	static const char *const modal[] = {LEXICON_MODALS(P) NULL};
	static const char *const subject[] = {LEXICON_SUBJECTS(P) NULL};
	static const char *const wish[] = {LEXICON_WISHES(P) NULL};

	if (i >= n)
		return false;
	if (is_in_list(&w[i], alone))
		return true;
	if (i + 1 >= n)
		return false;
	return (is_in_list(&w[i], modal) && is_in_list(&w[i + 1], subject)) ||
	       (w[i].n == 1 && (*w[i].p == 'i' || *w[i].p == 'I') && is_in_list(&w[i + 1], wish));
}

/* "parley is broken" is a statement about it; "parley is it raining" is a question to it. */
static bool is_spoken_of(const struct word *w, unsigned n, unsigned next)
{
	static const char *const third[] = {
		"is",	 "was",	   "has",   "had",   "does",  "did",	"just",	 "isn",	    "wasn",
		"hasn",	 "doesn",  "didn",  "says",  "said",  "sounds", "seems", "thinks",  "keeps",
		"never", "always", "needs", "wants", "knows", "told",	"gave",	 "crashed", "went",
		"gets",	 "got",	   "makes", "and",   "or",    NULL};
	static const char *const subject[] = {
		"it", "that", "there",	"this",	   "he",       "she",	  "they",     "you",
		"we", "i",    "anyone", "anybody", "somebody", "someone", "everyone", NULL};

	static const char *const joins[] = {"and", "or", NULL};

	if (next >= n || w[next].after_stop || !is_in_list(&w[next], third))
		return false;
	if (is_in_list(&w[next], joins))
		return !begins_request(w, n, next + 1);
	return next + 1 >= n || !is_in_list(&w[next + 1], subject);
}

static bool is_statement_about(const struct word *before)
{
	static const char *const about[] = {
		"ask",	"asked",  "asking",  "asks", "tell",	"told",	   "telling", "tells",
		"show", "showed", "showing", "call", "called",	"calling", "a",	      "an",
		"the",	"my",	  "your",    "his",  "her",	"our",	   "their",   "this",
		"some", "any",	  "every",   "each", "another", "no",	   NULL};

	return is_in_list(before, about);
}

/* After these the name at the end of a sentence is no address: "talk to parley", "i like
 * parley". */
static bool leads_sentence(const struct word *before)
{
	static const char *const words[] = {
		"to",	 "with",  "about", "of",     "for",	"from", "by",	"like", "likes",
		"love",	 "loves", "hate",  "use",    "using",	"used", "is",	"was",	"than",
		"named", "mute",  "kick",  "invite", "meet",	"met",	"said", "says", "and",
		"or",	 "in",	  "on",	   "than",   "without", "at",	"as",	"have", "had",
		"want",	 "need",  "got",   "hear",   "heard",	NULL};

	return is_in_list(before, words);
}

/* A short lead-in with a verb continues after the name: "i showed her parley what a hit". */
static bool tells_about(const struct word *w, unsigned n)
{
	static const char *const subject[] = {"i",    "he",	 "she",	      "they",	   "it",
					      "that", "nobody",	 "everybody", "people",	   "if",
					      "when", "because", "maybe",     "sometimes", "does",
					      "is",   "why",	 NULL};

	for (unsigned i = 0; i < n; i++)
		if (is_in_list(&w[i], subject))
			return true;
	return false;
}

static enum room_address judge_exact(const struct word *w, unsigned n, const struct hit *h)
{
	unsigned i = h->at, next = i + h->words;
	bool call = is_addressed(w, i), last = next == n;
	bool paused = i > 0 && w[i].after_stop;
	const struct word *before = i > 0 && !paused ? &w[i - 1] : NULL;

	if (before && is_statement_about(before) && !call)
		return ROOM_ADDRESS_NONE;
	if (w[next - 1].possessive && !last && !call)
		return ROOM_ADDRESS_NONE;
	if (call)
		return is_spoken_of(w, n, next) && !is_in_list(&w[i - 1], callers)
			       ? ROOM_ADDRESS_MENTIONED
			       : ROOM_ADDRESS_ADDRESSED;
	if ((i == 0 || paused) && !is_spoken_of(w, n, next))
		return ROOM_ADDRESS_ADDRESSED;
	if (last && !(before && leads_sentence(before)))
		return ROOM_ADDRESS_ADDRESSED;
	if (before && i <= LEAD_IN && !leads_sentence(before) && !tells_about(w, i) &&
	    begins_request(w, n, next))
		return ROOM_ADDRESS_ADDRESSED;
	return ROOM_ADDRESS_MENTIONED;
}

static enum room_address judge_similar_word(const struct word *w, unsigned n, const struct hit *h)
{
	unsigned i = h->at, next = i + h->words;
	bool call = i > 0 && is_in_list(&w[i - 1], callers);

	if (w[next - 1].possessive)
		return ROOM_ADDRESS_NONE;
	if (call && !is_spoken_of(w, n, next))
		return ROOM_ADDRESS_ADDRESSED;
	if ((i == 0 || is_addressed(w, i)) && begins_request(w, n, next))
		return ROOM_ADDRESS_ADDRESSED;
	if (i > 1 && next == n && w[i].after_stop && begins_request(w, n, 0))
		return ROOM_ADDRESS_ADDRESSED;
	return ROOM_ADDRESS_NONE;
}

/* Whether a similar word could be an address in this position at all; saves the comparison. */
static bool can_be_addressed(const struct word *w, unsigned n, unsigned i)
{
	return i == 0 || is_addressed(w, i) || (i + 1 == n && w[i].after_stop);
}

static bool find_hit(const struct room_names *names, const struct word *w, unsigned n, unsigned i,
		     struct hit *h)
{
	char key[ROOM_KEY_MAX];
	const char *pair = make_pair_key(w, n, i, key) ? key : NULL;
	bool near = false, can_call = can_be_addressed(w, n, i);

	for (unsigned k = 0; k < names->n; k++) {
		unsigned len = match_name(names, k, w, n, i, pair);

		if (len) {
			*h = (struct hit){i, len, true};
			return true;
		}
		if (!near && can_call && is_similar(names, k, w[i].key)) {
			*h = (struct hit){i, 1, false};
			near = true;
		}
	}
	return near;
}

enum room_address room_address(const struct room_names *names, const char *text)
{
	struct word words[ROOM_WORDS];
	unsigned n = split_words(text, words, ROOM_WORDS);
	enum room_address best = ROOM_ADDRESS_NONE;

	for (unsigned i = 0; i < n; i++) {
		enum room_address a;
		struct hit h;

		if (!find_hit(names, words, n, i, &h))
			continue;
		a = h.exact ? judge_exact(words, n, &h) : judge_similar_word(words, n, &h);
		if (a > best)
			best = a;
	}
	return best;
}

bool room_name_cue(const struct room_names *names, const char *text)
{
	struct word words[ROOM_WORDS];
	unsigned n = split_words(text, words, ROOM_WORDS);
	struct hit h;

	for (unsigned i = 0; i < n; i++)
		if (find_hit(names, words, n, i, &h) &&
		    (h.exact || i == 0 || is_in_list(&words[i - 1], callers)))
			return true;
	return false;
}
