#include "control/room/answer/playout_position.h"

#include <string.h>

#include "control/room/base/text.h"

enum { NEAR = 64 }; /* bytes within which the next timed word is searched */

static struct room_playout_chunk *find_chunk(struct room_playout *said, uint32_t id)
{
	for (unsigned i = said->chunks; i-- > 0;)
		if (said->chunk[i].id == id)
			return &said->chunk[i];
	return NULL;
}

/* The chunk with this id; a new one begins at the end of the text. */
static struct room_playout_chunk *get_chunk(struct room_playout *said, uint32_t id)
{
	struct room_playout_chunk *c = find_chunk(said, id), *last;

	if (c)
		return c;
	last = said->chunks ? &said->chunk[said->chunks - 1] : NULL;
	if (said->chunks == ROOM_PLAYOUT_CHUNKS)
		return last;
	c = &said->chunk[said->chunks++];
	*c = (struct room_playout_chunk){.id = id, .begin = last ? last->end : 0};
	c->end = c->begin;
	return c;
}

void room_playout_add_text(struct room_playout *said, uint32_t chunk, size_t n)
{
	struct room_playout_chunk *c = get_chunk(said, chunk);

	if (c == &said->chunk[said->chunks - 1] && n > c->end)
		c->end = n;
}

void room_playout_add_audio(struct room_playout *said, uint32_t chunk, uint64_t samples)
{
	struct room_playout_chunk *c = get_chunk(said, chunk);

	if (!c->sounded)
		c->from = said->samples;
	c->sounded = true;
	said->samples += samples;
	/* Late audio of an older chunk plays after the newer audio. */
	if (c->from + c->samples + samples == said->samples)
		c->samples += samples;
}

static bool is_blank(char ch)
{
	return ch == ' ' || ch == '\n';
}

/* The end of `word` as a whole word in text[at..end), near at; 0 if it is not there. */
static size_t find_word(const char *text, size_t at, size_t end, const char *word, size_t len)
{
	for (size_t i = at; i + len <= end && i < at + NEAR; i++) {
		bool begins =
			i == 0 || !room_is_word_byte(text[i - 1]) || !room_is_word_byte(word[0]);
		bool ends = i + len == end || !room_is_word_byte(text[i + len]) ||
			    !room_is_word_byte(word[len - 1]);

		if (begins && ends && memcmp(text + i, word, len) == 0)
			return i + len;
	}
	return 0;
}

void room_playout_add_word(struct room_playout *said, uint32_t chunk, const char *text,
			   const char *word, size_t len, uint64_t samples)
{
	struct room_playout_chunk *c = find_chunk(said, chunk);
	size_t at = said->words ? said->word[said->words - 1].end : 0;

	while (len && is_blank(*word)) {
		word++;
		len--;
	}
	while (len && is_blank(word[len - 1]))
		len--;
	if (!c || !len || said->words == ROOM_PLAYOUT_WORDS)
		return;
	at = find_word(text, at > c->begin ? at : c->begin, c->end, word, len);
	if (!at)
		return;
	said->word[said->words].end = at;
	said->word[said->words].at = samples;
	said->words++;
}

void room_playout_chunk_complete(struct room_playout *said, uint32_t chunk)
{
	struct room_playout_chunk *c = find_chunk(said, chunk);

	if (c)
		c->whole = true;
}

void room_playout_complete(struct room_playout *said)
{
	for (unsigned i = 0; i < said->chunks; i++)
		said->chunk[i].whole = true;
}

/* In scripts without blanks each character ends a word. */
static bool is_wide(unsigned char ch)
{
	return ch >= 0xe3 && ch <= 0xe9;
}

/* The end of the last word in text[begin..at]; `end` is the end of the chunk's words. */
static size_t find_word_end(const char *text, size_t begin, size_t at, size_t end)
{
	size_t n = at;

	while (n > begin) {
		bool over = n == end || is_blank(text[n]) || is_wide((unsigned char)text[n]);

		if (over && !is_blank(text[n - 1]))
			return n;
		n--;
	}
	return begin;
}

/* Uses word times; returns true if this chunk has any. */
static bool count_by_words(const struct room_playout *said, const struct room_playout_chunk *c,
			   uint64_t samples, size_t *heard)
{
	bool any = false;

	for (unsigned i = 0; i < said->words; i++) {
		if (said->word[i].end <= c->begin || said->word[i].end > c->end)
			continue;
		if (c->from + said->word[i].at <= samples)
			*heard = said->word[i].end;
		any = true;
	}
	return any;
}

static size_t measure_cut_chunk(const struct room_playout *said, const struct room_playout_chunk *c,
				const char *text, uint64_t samples, uint32_t rate)
{
	uint64_t sound = c->samples, in = samples - c->from, least;
	size_t heard = c->begin, len = c->end - c->begin;

	if (count_by_words(said, c, samples, &heard))
		return heard;
	least = (uint64_t)len * rate / ROOM_PLAYOUT_PACE;
	if (!c->whole && sound < least)
		sound = least;
	if (!sound)
		return c->begin;
	return find_word_end(text, c->begin, c->begin + (size_t)(len * in / sound), c->end);
}

size_t room_playout_text_played(const struct room_playout *said, const char *text, uint64_t samples,
				uint32_t rate)
{
	size_t heard = 0;

	for (unsigned i = 0; i < said->chunks; i++) {
		const struct room_playout_chunk *c = &said->chunk[i];

		if (!c->sounded || samples <= c->from)
			break;
		if (samples < c->from + c->samples || !c->whole)
			return measure_cut_chunk(
				said, c, text,
				samples < c->from + c->samples ? samples : c->from + c->samples,
				rate);
		heard = c->end;
	}
	return heard;
}
