#include "control/memory/embed/pieces.h"

#include <string.h>

#include "control/memory/terms.h"

#define BLANK	   "\xe2\x96\x81" /* U+2581, which stands for a blank */
#define BLANK_SIZE 3

bool pieces_are_sound(const struct pieces *p, size_t text_bytes, uint32_t id_end)
{
	if (!p->n || p->offset[0] != 0 || p->offset[p->n] != text_bytes)
		return false;
	for (size_t i = 0; i < p->n; i++)
		if (p->offset[i] >= p->offset[i + 1] || p->id[i] >= id_end ||
		    p->score[i] != p->score[i])
			return false;
	return true;
}

/* ---- normalising ---- */

struct symbols {
	struct pieces_lattice *l;
	size_t bytes, n;
};

static void add_symbol(struct symbols *s, const char *text, size_t n)
{
	if (s->n == PIECES_SYMBOLS)
		return;
	s->l->at[s->n++] = (uint32_t)s->bytes;
	memcpy(s->l->text + s->bytes, text, n);
	s->bytes += n;
	s->l->at[s->n] = (uint32_t)s->bytes;
}

static bool is_blank(uint32_t c)
{
	return c == ' ' || c == 0xa0 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f ||
	       c == 0x205f || c == 0x3000;
}

static size_t read_symbols(struct pieces_lattice *l, const char *text, size_t n)
{
	const char *p = text, *end = text + n, *from;
	struct symbols s = {.l = l};
	uint32_t c;

	add_symbol(&s, BLANK, BLANK_SIZE);
	while (from = p, (c = terms_next(&p, end)) != 0) {
		char ascii = (char)(c - 0xff01 + '!');

		if (is_blank(c))
			add_symbol(&s, BLANK, BLANK_SIZE);
		else if (c == 0x2026)
			for (int i = 0; i < 3; i++)
				add_symbol(&s, ".", 1);
		else if (c >= 0xff01 && c <= 0xff5e)
			add_symbol(&s, &ascii, 1);
		else
			add_symbol(&s, from, (size_t)(p - from));
	}
	return s.n;
}

/* ---- the lattice ---- */

/* Pieces that share their first `depth` bytes with the text: [low, high). */
struct range {
	size_t low, high;
};

static int byte_at(const struct pieces *p, size_t i, size_t depth)
{
	uint32_t at = p->offset[i] + (uint32_t)depth;

	return at < p->offset[i + 1] ? p->text[at] : -1;
}

static size_t find_bound(const struct pieces *p, struct range r, size_t depth, int byte)
{
	while (r.low < r.high) {
		size_t mid = r.low + (r.high - r.low) / 2;

		if (byte_at(p, mid, depth) < byte)
			r.low = mid + 1;
		else
			r.high = mid;
	}
	return r.low;
}

static struct range narrow(const struct pieces *p, struct range r, size_t depth, uint8_t byte)
{
	size_t low = find_bound(p, r, depth, byte);

	return (struct range){low, find_bound(p, (struct range){low, r.high}, depth, byte + 1)};
}

/* Paths arrive at a symbol in the order of their starts; the later one wins a tie, and a sum of
 * exactly 0 counts as unset. */
static void offer(struct pieces_lattice *l, size_t from, size_t to, double score, uint32_t id)
{
	double sum = l->best[from] + score;

	if (l->best[to] != 0 && sum < l->best[to])
		return;
	l->best[to] = sum;
	l->word[to] = id;
	l->from[to] = (uint32_t)from;
}

static void offer_from(const struct pieces *p, struct pieces_lattice *l, size_t n, size_t i)
{
	struct range r = {0, p->n};
	bool any = false;

	for (size_t k = i; k < n && r.low < r.high; k++) {
		for (uint32_t b = l->at[k]; b < l->at[k + 1] && r.low < r.high; b++)
			r = narrow(p, r, b - l->at[i], (uint8_t)l->text[b]);
		if (r.low == r.high || byte_at(p, r.low, l->at[k + 1] - l->at[i]) >= 0)
			continue;
		offer(l, i, k + 1, p->score[r.low], p->id[r.low]);
		any = true;
	}
	if (!any)
		offer(l, i, i + 1, 0, PIECE_UNKNOWN);
}

size_t pieces_split(const struct pieces *p, struct pieces_lattice *l, const char *text, size_t n,
		    uint32_t ids[PIECES_MAX])
{
	size_t symbols = read_symbols(l, text, n), words = 0, out = 0;

	if (!n)
		return 0;
	memset(l->best, 0, sizeof l->best);
	for (size_t i = 0; i < symbols; i++)
		offer_from(p, l, symbols, i);
	/* The best path backwards; starts of it are marked by their own words. */
	for (size_t at = symbols; at > 0; at = l->from[at])
		l->at[words++] = l->word[at];
	while (words-- > 0 && out < PIECES_MAX)
		if (l->at[words] != PIECE_UNKNOWN || !out || ids[out - 1] != PIECE_UNKNOWN)
			ids[out++] = l->at[words];
	return out;
}
