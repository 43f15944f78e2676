#include "control/room/hearing/echo_filter.h"

#include <string.h>

#include "control/room/base/text.h"
#include "control/room/base/turn.h"
#include "control/room/floor/address.h"
#include "control/room/floor/phrase.h"
#include "control/room/language/language.h"

enum {
	TOKENS = 96,   /* of each text: the newest of the bot's words, the first of the member's */
	ALIKE = 5,     /* letters of a word that may differ by one */
	WORDS = 4,     /* of an echo, and their letters */
	LETTERS = 12,  /* ... */
	UNSPACED = 6,  /* the same where words have no blanks between them */
	OWN_WORDS = 3, /* of the member, beside an echo */
	PLAIN_OWN = 2, /* ... in which every word is aligned */
};

/* One word; in a script without blanks one character. */
struct token {
	size_t at, n;
	unsigned letters;
	bool unspaced, same;
};

struct tokens {
	const char *text;
	unsigned n;
	struct token v[TOKENS];
};

static bool is_unspaced(enum room_script script)
{
	return script == ROOM_SCRIPT_HAN || script == ROOM_SCRIPT_HIRAGANA ||
	       script == ROOM_SCRIPT_KATAKANA;
}

/* Cuts a text into tokens; of a long one the first or the last ones. */
static void split_tokens(struct tokens *t, const char *text, bool newest)
{
	const char *p = text;
	bool in = false;

	t->text = text;
	t->n = 0;
	while (*p) {
		const char *at = p;
		uint32_t ch = room_script_next(&p);
		enum room_script script = room_script_of(ch);

		if (script == ROOM_SCRIPT_NONE) {
			in = in && (ch == '\'' || ch == 0x2019);
			continue;
		}
		if (!in || is_unspaced(script)) {
			if (t->n == TOKENS && !newest)
				return;
			if (t->n == TOKENS)
				memmove(t->v, t->v + 1, --t->n * sizeof t->v[0]);
			t->v[t->n++] = (struct token){.at = (size_t)(at - text),
						      .unspaced = is_unspaced(script)};
		}
		t->v[t->n - 1].n = (size_t)(p - text) - t->v[t->n - 1].at;
		t->v[t->n - 1].letters++;
		in = !is_unspaced(script);
	}
}

/* The next letter of a word, lower case; 0 at its end. */
static uint32_t next_letter(const char **p, const char *end)
{
	while (*p < end) {
		uint32_t ch = room_script_next(p);

		if (room_script_of(ch) != ROOM_SCRIPT_NONE)
			return room_script_lower(ch);
	}
	return 0;
}

/* True if the words are the same after one edit at this place at most. */
static bool are_alike(const char *a, const char *a_end, const char *b, const char *b_end,
		      unsigned edits)
{
	for (;;) {
		const char *a_at = a, *b_at = b;
		uint32_t x = next_letter(&a, a_end), y = next_letter(&b, b_end);

		if (x == y && !x)
			return true;
		if (x == y)
			continue;
		return edits && ((x && y && are_alike(a, a_end, b, b_end, edits - 1)) ||
				 (x && are_alike(a, a_end, b_at, b_end, edits - 1)) ||
				 (y && are_alike(a_at, a_end, b, b_end, edits - 1)));
	}
}

static bool same_word(const struct tokens *a, unsigned i, const struct tokens *b, unsigned k)
{
	const struct token *x = &a->v[i], *y = &b->v[k];
	unsigned edits = x->letters >= ALIKE && y->letters >= ALIKE;

	return are_alike(a->text + x->at, a->text + x->at + x->n, b->text + y->at,
			 b->text + y->at + y->n, edits);
}

/* Marks the words of the longest common subsequence, by letters. */
static void align_words(struct tokens *said, const struct tokens *played)
{
	uint16_t best[TOKENS + 1][TOKENS + 1];

	for (unsigned k = 0; k <= played->n; k++)
		best[said->n][k] = 0;
	for (unsigned i = said->n; i-- > 0;) {
		best[i][played->n] = 0;
		for (unsigned k = played->n; k-- > 0;) {
			unsigned with = same_word(said, i, played, k)
						? best[i + 1][k + 1] + said->v[i].letters
						: 0;
			unsigned without =
				best[i + 1][k] > best[i][k + 1] ? best[i + 1][k] : best[i][k + 1];

			best[i][k] = (uint16_t)(with > without ? with : without);
		}
	}
	for (unsigned i = 0, k = 0; i < said->n && k < played->n;) {
		if (best[i][k] == best[i + 1][k]) {
			i++;
		} else if (best[i][k] == best[i][k + 1]) {
			k++;
		} else {
			said->v[i++].same = true;
			k++;
		}
	}
}

/* Words [from, to) of the transcript. */
struct stretch {
	unsigned from, to;
};

static struct stretch find_stretch(const struct tokens *said, bool known)
{
	struct stretch best = {0}, s = {0};
	int most = 0, score = 0;

	for (unsigned i = 0; i < said->n; i++) {
		int letters = (int)said->v[i].letters * 2;

		score += said->v[i].same ? letters : known ? -letters : -letters * 3 / 2;
		if (score <= 0) {
			score = 0;
			s.from = i + 1;
		} else if (score > most) {
			most = score;
			best = (struct stretch){s.from, i + 1};
		}
	}
	return best;
}

static bool is_echo(const struct tokens *said, struct stretch s, bool known)
{
	unsigned words = 0, letters = 0, unspaced = 0;

	for (unsigned i = s.from; i < s.to; i++) {
		words += said->v[i].same;
		unspaced += said->v[i].same && said->v[i].unspaced;
		letters += said->v[i].same ? said->v[i].letters : 0;
	}
	if (known)
		return words > 0;
	return unspaced >= UNSPACED || (words - unspaced >= WORDS && letters >= LETTERS);
}

static bool is_plain(const struct tokens *said, struct stretch s)
{
	for (unsigned i = s.from; i < s.to; i++)
		if (!said->v[i].same)
			return false;
	return true;
}

/* True if the member said these words beside an echo; copies them. */
static bool take_own(const struct tokens *said, unsigned from, unsigned to, unsigned least,
		     const struct room_names *names, char *own)
{
	struct room_saying saying = {.text = own, .over = "", .names = names};
	size_t begin, end;
	enum room_phrase phrase;

	*own = '\0';
	if (from == to)
		return false;
	begin = from ? said->v[from].at : 0;
	end = to < said->n ? said->v[to].at : strlen(said->text);
	while (end > begin && said->text[end - 1] == ' ')
		end--;
	room_append(own, ROOM_CAPTURE_CHUNK_TEXT, said->text + begin, end - begin);
	phrase = room_phrase_of(&saying);
	return (to - from >= least && !room_phrase_is_slight(&saying)) ||
	       phrase >= ROOM_PHRASE_TAKEOVER || room_phrase_is_listed(&saying) ||
	       room_address(names, own) != ROOM_ADDRESS_NONE;
}

/* Removes one stretch. */
static enum room_echo remove_stretch(char *text, const struct tokens *played,
				     const struct room_echo_input *in)
{
	char before[ROOM_CAPTURE_CHUNK_TEXT], after[ROOM_CAPTURE_CHUNK_TEXT];
	struct tokens said;
	struct stretch s;
	unsigned least;
	bool some, more;

	split_tokens(&said, text, false);
	align_words(&said, played);
	s = find_stretch(&said, in->known);
	if (!is_echo(&said, s, in->known))
		return ROOM_ECHO_NONE;
	least = is_plain(&said, s) ? PLAIN_OWN : OWN_WORDS;
	some = take_own(&said, 0, s.from, least, in->names, before);
	more = take_own(&said, s.to, said.n, least, in->names, after);
	/* A few words within a sentence are the member's, and so is the voice that goes on. */
	if (some || more ? in->known : in->outlasts)
		return ROOM_ECHO_NONE;
	*text = '\0';
	if (some)
		room_append(text, ROOM_CAPTURE_CHUNK_TEXT, before, strlen(before));
	if (more)
		room_append(text, ROOM_CAPTURE_CHUNK_TEXT, after, strlen(after));
	return some || more ? ROOM_ECHO_PART : ROOM_ECHO_ALL;
}

/* True if the words are the member's, whatever the bot says: it has to stop at once, and the bot's
 * statement came back as a question. */
static bool is_own(const char *text, const struct room_echo_input *in)
{
	struct room_saying saying = {.text = text, .over = "", .names = in->names};
	size_t n = strlen(text);

	if (!in->known && room_phrase_of(&saying) == ROOM_PHRASE_STOP)
		return true;
	return in->own && n && text[n - 1] == '?' && !strchr(in->played, '?');
}

enum room_echo room_echo_remove(char *text, const struct room_echo_input *in)
{
	enum room_echo echo = ROOM_ECHO_NONE, next;
	struct tokens played;

	if (is_own(text, in))
		return ROOM_ECHO_NONE;
	split_tokens(&played, in->played, true);
	do {
		next = remove_stretch(text, &played, in);
		echo = next == ROOM_ECHO_NONE ? echo : next;
	} while (next == ROOM_ECHO_PART);
	return echo;
}
