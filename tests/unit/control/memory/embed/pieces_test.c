#include "control/memory/embed/pieces.h"

#include <string.h>

#include "tests/test.h"

/* "ab" is better than "a" and "b" apart. */
static const double score[] = {-1, -1.5, -2, -3, -2};
static const uint32_t offset[] = {0, 1, 3, 4, 5, 8}, id[] = {6, 7, 8, 9, 10};
static const struct pieces pieces = {5, score, offset, id, (const uint8_t *)"aabbc\xe2\x96\x81"};
static struct pieces_lattice lattice;

static size_t split(const char *text, uint32_t ids[PIECES_MAX])
{
	return pieces_split(&pieces, &lattice, text, strlen(text), ids);
}

TEST(the_likeliest_pieces_win)
{
	uint32_t ids[PIECES_MAX];

	CHECK_INT(split("ab c", ids), 4);
	CHECK_INT(ids[0], 10);
	CHECK_INT(ids[1], 7);
	CHECK_INT(ids[2], 10);
	CHECK_INT(ids[3], 9);
}

TEST(unknown_characters_in_a_row_are_one_piece)
{
	uint32_t ids[PIECES_MAX];

	CHECK_INT(split("a\xe6\x9d\xb1\xe4\xba\xac"
			"b",
			ids),
		  4);
	CHECK_INT(ids[2], PIECE_UNKNOWN);
	CHECK_INT(ids[3], 8);
	CHECK_INT(split("", ids), 0);
}

TEST(a_text_gives_no_more_pieces_than_the_encoder_reads)
{
	uint32_t ids[PIECES_MAX];
	char text[4096];

	memset(text, 'c', sizeof text);
	text[sizeof text - 1] = '\0';
	CHECK_INT(split(text, ids), PIECES_MAX);
}

TEST(pieces_that_point_outside_are_not_sound)
{
	const uint32_t wrong[] = {0, 1, 3, 9, 5, 8};
	struct pieces p = pieces;

	CHECK(pieces_are_sound(&p, 8, 11));
	CHECK(!pieces_are_sound(&p, 8, 10));
	CHECK(!pieces_are_sound(&p, 7, 11));
	p.offset = wrong;
	CHECK(!pieces_are_sound(&p, 8, 11));
}
