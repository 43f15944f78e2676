/* ICY: titles between the sound of a radio stream. */
#include "proto/http/icy.h"

#include "tests/test.h"

/* One block of 16 bytes per 16 letters of text; returns the length. */
static size_t write_text(uint8_t *to, const char *text)
{
	size_t n = strlen(text), blocks = (n + ICY_BLOCK - 1) / ICY_BLOCK;

	to[0] = (uint8_t)blocks;
	memset(to + 1, 0, blocks * ICY_BLOCK);
	memcpy(to + 1, text, n);
	return 1 + blocks * ICY_BLOCK;
}

static size_t make_stream(uint8_t *to)
{
	size_t n = 0;

	memcpy(to, "SOUND1", 6);
	n += 6;
	n += write_text(to + n, "StreamTitle='It's Queen';StreamUrl='http://x';");
	memcpy(to + n, "SOUND2", 6);
	n += 6;
	n += write_text(to + n, "");
	memcpy(to + n, "SOUND3", 6);
	n += 6;
	n += write_text(to + n, "StreamTitle='caf\xe9'");
	memcpy(to + n, "SO", 2);
	return n + 2;
}

TEST(titles_are_taken_out_wherever_the_stream_is_cut)
{
	uint8_t stream[256], sound[256];
	size_t n = make_stream(stream);
	struct icy i;

	for (size_t part = 1; part <= n; part++) {
		size_t used = 0, places[2] = {0};

		icy_init(&i, 6);
		for (size_t at = 0; at < n; at += part) {
			uint8_t piece[256];
			size_t len = n - at < part ? n - at : part;
			unsigned titles = i.titles;

			memcpy(piece, stream + at, len);
			len = icy_feed(&i, piece, len);
			for (; titles < i.titles; titles++)
				places[titles] = used + i.title_at;
			memcpy(sound + used, piece, len);
			used += len;
		}
		CHECK_MEM(sound, used, "SOUND1SOUND2SOUND3SO", 20);
		CHECK_STR(i.title, "café");
		CHECK_INT(i.titles, 2);
		/* Of two in one part the place of the latter is told. */
		CHECK_INT(places[0], places[0] == 18 && part > 6 ? 18 : 6);
		CHECK_INT(places[1], 18);
	}
}

static const char *read_title(struct icy *i, const char *text)
{
	uint8_t stream[ICY_TEXT_MAX + 2] = {'x'};

	icy_init(i, 1);
	icy_feed(i, stream, 1 + write_text(stream + 1, text));
	return i->title;
}

TEST(a_title_ends_at_its_quote)
{
	struct icy i;
	char long_text[ICY_TEXT_MAX + 1];

	CHECK_STR(read_title(&i, "StreamTitle='It's Queen';StreamUrl='x';"), "It's Queen");
	CHECK_STR(read_title(&i, "StreamUrl='x';StreamTitle='y';"), "y");
	CHECK_STR(read_title(&i, "StreamTitle='two\nlines';"), "two lines");
	CHECK_STR(read_title(&i, "StreamTitle='open"), "open");
	CHECK_STR(read_title(&i, "StreamTitle='"), "");
	CHECK_STR(read_title(&i, "nothing"), "");
	CHECK_INT(i.titles, 0);
	memset(long_text, 'a', sizeof long_text - 1);
	long_text[sizeof long_text - 1] = '\0';
	memcpy(long_text, "StreamTitle='", 13);
	CHECK_INT(strlen(read_title(&i, long_text)), ICY_TITLE_MAX - 1);
}

TEST(a_stream_without_titles_passes_unchanged)
{
	uint8_t data[] = "\x01sound";
	struct icy i;

	icy_init(&i, 0);
	CHECK_INT(icy_feed(&i, data, 6), 6);
	CHECK_MEM(data, 6, "\x01sound", 6);
}
