#include "control/room/hearing/hallucination_filter.h"

#include <string.h>
#include <strings.h>

#include "control/settings/settings.h"

enum { TOKEN_MAX = 64, WORDS_MAX = 256, ROUND_WORDS = 4, SAYABLE_LEAST = 8 };

static bool word_byte(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       (unsigned char)ch >= 0x80;
}

bool room_hallucination_words(const char *text)
{
	for (; *text; text++)
		if (word_byte(*text))
			return true;
	return false;
}

/* <|anything short|> */
static bool bar_token(const char *p)
{
	for (size_t i = 2; i < TOKEN_MAX && p[i]; i++)
		if (p[i] == '|' && p[i + 1] == '>')
			return true;
	return false;
}

/* vq_lbr_audio_123 */
static bool vq_token(const char *p)
{
	for (size_t i = 3; i < TOKEN_MAX && (word_byte(p[i]) || p[i] == '_'); i++)
		if (strncmp(p + i, "_audio_", 7) == 0)
			return true;
	return false;
}

bool room_hallucination_control(const char *text)
{
	for (const char *p = text; *p; p++)
		switch (*p) {
		case '<':
			if (p[1] == '|' && bar_token(p))
				return true;
			break;
		case 'v':
			if (strncmp(p, "vq_", 3) == 0 && vq_token(p))
				return true;
			break;
		case 'a':
			if (strncmp(p, "audio_future", 12) == 0 && p[12] >= '0' && p[12] <= '9')
				return true;
			break;
		case 'e':
			if (strncmp(p, "end_of_task", 11) == 0)
				return true;
			break;
		default:
			break;
		}
	return false;
}

uint32_t room_hallucination_pace(const char *text, uint32_t ms)
{
	uint64_t n = 0;

	for (const char *p = text; *p; p++)
		n += *p != ' ' && ((unsigned char)*p & 0xc0) != 0x80;
	return ms ? (uint32_t)(n * 10000 / ms) : 0;
}

/* The words of a text: letters and digits of each, where it begins. */
struct words {
	unsigned n;
	struct word {
		const char *at;
		size_t n;
	} v[WORDS_MAX];
};

static void split(struct words *w, const char *text)
{
	w->n = 0;
	while (*text && w->n < WORDS_MAX) {
		size_t n = 0;

		while (word_byte(text[n]) || (n && text[n] == '\''))
			n++;
		if (n)
			w->v[w->n++] = (struct word){text, n};
		text += n ? n : 1;
	}
}

static bool same(const struct words *w, unsigned a, unsigned b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (w->v[a + i].n != w->v[b + i].n ||
		    strncasecmp(w->v[a + i].at, w->v[b + i].at, w->v[a + i].n) != 0)
			return false;
	return true;
}

unsigned room_hallucination_rounds(const char *text)
{
	struct words w;
	unsigned most = 1;

	split(&w, text);
	for (unsigned size = 1; size <= ROUND_WORDS; size++)
		for (unsigned from = 0; from + 2 * size <= w.n;) {
			unsigned times = 1;

			while (from + (times + 1) * size <= w.n &&
			       same(&w, from, from + times * size, size))
				times++;
			if (times > most && 3 * times * size >= 2 * w.n)
				most = times;
			from += times > 1 ? (times - 1) * size : 1;
		}
	return most;
}

enum room_imagined room_hallucination_imagined(const struct room_heard *h, const struct settings *s)
{
	if (!room_hallucination_words(h->text))
		return ROOM_IMAGINED_NOT;
	if (h->no_speech && h->no_speech - 1 >= s->asr_no_speech)
		return ROOM_IMAGINED_IN_SILENCE;
	if (strlen(h->text) >= SAYABLE_LEAST &&
	    room_hallucination_pace(h->text, h->voice_ms) > s->asr_most_pace)
		return ROOM_IMAGINED_TOO_MUCH;
	if (!h->named && room_hallucination_rounds(h->text) >= ROOM_HALLUCINATION_ROUNDS)
		return ROOM_IMAGINED_LOOP;
	return ROOM_IMAGINED_NOT;
}

enum room_guard room_guard(const struct room_hallucination_facts *f, const struct settings *s)
{
	if (room_hallucination_control(f->text))
		return ROOM_HALLUCINATION_CONTROL;
	if (!room_hallucination_words(f->text))
		return ROOM_HALLUCINATION_EMPTY;
	if (!f->doubt || f->named)
		return ROOM_HALLUCINATION_WORDS;
	if (f->doubt - 1 > s->asr_unsure)
		return ROOM_HALLUCINATION_UNSURE;
	if (f->spoken_ms >= s->asr_sparse_ms &&
	    room_hallucination_pace(f->text, f->spoken_ms) < s->asr_sparse_pace)
		return ROOM_HALLUCINATION_SPARSE;
	return ROOM_HALLUCINATION_WORDS;
}
