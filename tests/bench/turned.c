#include "tests/bench/turned.h"

#include <stdio.h>
#include <stddef.h>

enum { TEXT = 160 };

/* Values of one kind, the neighbours of which are exchanged. */
static const char *const numbers[] = {"3", "12", "7", "45"};
static const char *const days[] = {"Monday", "Thursday", "Saturday", "Tuesday"};
static const char *const colours[] = {"green", "white", "purple", "orange"};
static const char *const people[] = {"Lena", "Marco", "Tim", "Sofia"};
static const char *const cities[] = {"Oslo", "Madrid", "Prague", "Dublin"};
static const char *const drinks[] = {"coffee", "lemonade", "cocoa", "water"};
static const char *const animals[] = {"hamsters", "parrots", "goats", "snakes"};
enum { VALUES = 4 };

static const struct {
	const char *sentence; /* with two %s */
	const char *const *values;
} places[] = {
	{"we have %s chairs and %s tables", numbers},
	{"I paid %s euros for the book and %s for the pen", numbers},
	{"the score was %s to %s", numbers},
	{"the shift starts at %s and ends at %s", numbers},
	{"the course moved from %s to %s", days},
	{"we cook on %s and clean on %s", days},
	{"the library opens on %s and closes on %s", days},
	{"my door is %s and my wall is %s", colours},
	{"the %s light means stop and the %s light means go", colours},
	{"%s lends money to %s", people},
	{"%s is taller than %s", people},
	{"I invited %s but not %s", people},
	{"the train goes from %s to %s", cities},
	{"I was born in %s and grew up in %s", cities},
	{"I drink %s in the morning and %s at night", drinks},
	{"I like %s and not %s", drinks},
	{"%s frighten me and %s do not", animals},
};

/* A sentence with one %s, and two words that take its place. */
static const struct {
	const char *sentence, *one, *other;
} others[] = {
	/* tense */
	{"I %s a teacher", "am", "was"},
	{"I %s two brothers", "have", "had"},
	{"my neighbour %s a boat", "owns", "owned"},
	{"we %s in a small town", "live", "lived"},
	{"I %s vegetarian", "am", "used to be"},
	{"my uncle %s at the airport", "works", "worked"},
	{"the office %s in the tower", "is", "will be"},
	{"Lena %s the keys", "has", "had"},
	{"I %s to Madrid", "travel", "will travel"},
	{"my cat %s ill", "is", "was"},
	/* comparison */
	{"the new phone is %s than the old one", "better", "worse"},
	{"I sleep %s than six hours", "more", "less"},
	{"my sister is %s than I am", "older", "younger"},
	{"we meet %s lunch", "before", "after"},
	{"the blue room is %s than the red one", "bigger", "smaller"},
	{"I need %s than ten boxes", "more", "fewer"},
	{"the ticket costs %s than 20 euros", "more", "less"},
	{"this route is %s than the other", "longer", "shorter"},
	{"I eat %s eight", "before", "after"},
	{"tea is %s than juice", "cheaper", "dearer"},
};

/* A statement with more to it, and the plain one, which a part of its words says: neither is the
 * other one. */
static const struct {
	const char *more, *plain;
} less[] = {
	{"I hope to become a nurse", "I became a nurse"},
	{"I want to own a boat", "I own a boat"},
	{"I tried to learn Dutch", "I learned Dutch"},
	{"I plan to sell my car", "I sell my car"},
	{"I would like to live in Oslo", "I live in Oslo"},
	{"I dream of having a garden", "I have a garden"},
	{"I nearly missed the ferry", "I missed the ferry"},
	{"I pretend to like jazz", "I like jazz"},
	{"I forgot to feed the cat", "I feed the cat"},
	{"I was asked to join the choir", "I join the choir"},
	{"Lena thinks that I am ill", "I am ill"},
	{"I need a bigger flat", "I have a bigger flat"},
	{"I am afraid of losing my job", "I am losing my job"},
	{"I hardly eat meat", "I eat meat"},
	{"I may move to Prague", "I move to Prague"},
	{"I refuse to work on Saturday", "I work on Saturday"},
};

/* A sentence with one %s, and two words that give it another direction or sign. */
static const struct {
	const char *sentence, *one, *other;
} directions[] = {
	{"the pool is open %s 9", "from", "until"},
	{"I am on holiday %s Monday", "from", "until"},
	{"the letter is %s Marco", "from", "to"},
	{"my train %s Madrid is late", "from", "to"},
	{"I drive %s my brother", "with", "without"},
	{"the shop is %s the bridge", "before", "behind"},
	{"the keys are %s the box", "in", "under"},
	{"I work %s Sofia", "for", "against"},
	{"the parcel came %s Tim", "from", "for"},
	{"we meet %s the station", "at", "behind"},
	{"the cellar has %s degrees", "5", "-5"},
	{"my balance is %s euros", "-45", "45"},
	{"the limit is %s percent", "+12", "-12"},
};

static void add(json_t *list, const char *a, const char *b)
{
	json_array_append_new(list, json_pack("{s:s,s:s}", "a", a, "b", b));
}

json_t *turned_pairs(void)
{
	json_t *list = json_array();
	char a[TEXT], b[TEXT];

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		for (unsigned k = 0; k + 1 < VALUES; k++) {
			const char *one = places[i].values[k], *other = places[i].values[k + 1];

			snprintf(a, sizeof a, places[i].sentence, one, other);
			snprintf(b, sizeof b, places[i].sentence, other, one);
			add(list, a, b);
		}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		snprintf(a, sizeof a, others[i].sentence, others[i].one);
		snprintf(b, sizeof b, others[i].sentence, others[i].other);
		add(list, a, b);
		add(list, b, a);
	}
	for (size_t i = 0; i < sizeof less / sizeof less[0]; i++) {
		add(list, less[i].more, less[i].plain);
		add(list, less[i].plain, less[i].more);
	}
	for (size_t i = 0; i < sizeof directions / sizeof directions[0]; i++) {
		snprintf(a, sizeof a, directions[i].sentence, directions[i].one);
		snprintf(b, sizeof b, directions[i].sentence, directions[i].other);
		add(list, a, b);
		add(list, b, a);
	}
	return list;
}
