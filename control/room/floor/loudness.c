#include "control/room/floor/loudness.h"

#include <string.h>

#include "control/room/floor/loudness.def"

static const struct {
	enum room_language language;
	const char *louder, *quieter;
} lists[] = {
#define L(LANGUAGE, louder, quieter) {ROOM_LANGUAGE_##LANGUAGE, louder, quieter},
	ROOM_LOUDNESS(L)
#undef L
};

/* The number of words from word i on that the n bytes of the request are; 0: others. */
static unsigned match_request(const struct room_words *w, unsigned i, const char *request, size_t n)
{
	unsigned first = i;

	while (n) {
		const struct room_word *v = &w->v[i];

		if (i >= w->n || v->n > n || memcmp(w->text + v->at, request, v->n) != 0)
			return 0;
		request += v->n;
		n -= v->n;
		if (n && !w->unspaced && *request != ' ')
			return 0;
		if (n && *request == ' ') {
			request++;
			n--;
		}
		i++;
	}
	return i - first;
}

static unsigned match_list(const struct room_words *w, unsigned i, const char *list)
{
	unsigned most = 0;

	while (*list) {
		size_t n = strcspn(list, ";");
		unsigned words = match_request(w, i, list, n);

		most = words > most ? words : most;
		list += n;
		list += strspn(list, "; ");
	}
	return most;
}

unsigned room_loudness_match(const struct room_words *w, unsigned i, bool *louder)
{
	unsigned up = 0, down = 0;

	for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
		if (lists[k].language == w->language) {
			up = match_list(w, i, lists[k].louder);
			down = match_list(w, i, lists[k].quieter);
		}
	*louder = up > down;
	return up > down ? up : down;
}
