#include "control/room/hearing/hallucination_filter.h"

#include <string.h>
#include <strings.h>

#include "control/settings/settings.h"

enum { TOKEN_MAX = 64, WORDS_MAX = 256, ROUND_WORDS = 4, SAYABLE_LEAST = 8 };

static bool is_word_byte(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       (unsigned char)ch >= 0x80;
}

bool room_has_words(const char *text)
{
	for (; *text; text++)
		if (is_word_byte(*text))
			return true;
	return false;
}

/* <|anything short with a letter or a digit|> */
static bool is_bar_token(const char *p)
{
	bool words = false;

	for (size_t i = 2; i < TOKEN_MAX && p[i]; i++) {
		if (p[i] == '|' && p[i + 1] == '>')
			return words;
		words = words || is_word_byte(p[i]);
	}
	return false;
}

/* vq_lbr_audio_123 */
static bool is_vq_token(const char *p)
{
	for (size_t i = 3; i < TOKEN_MAX && (is_word_byte(p[i]) || p[i] == '_'); i++)
		if (strncmp(p + i, "_audio_", 7) == 0)
			return true;
	return false;
}

bool room_has_control_tokens(const char *text)
{
	for (const char *p = text; *p; p++)
		switch (*p) {
		case '<':
			if (p[1] == '|' && is_bar_token(p))
				return true;
			break;
		case 'v':
			if (strncmp(p, "vq_", 3) == 0 && is_vq_token(p))
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

uint32_t room_speech_rate(const char *text, uint32_t ms)
{
	uint64_t n = 0;

	for (const char *p = text; *p; p++)
		n += *p != ' ' && ((unsigned char)*p & 0xc0) != 0x80;
	return ms ? (uint32_t)(n * 10000 / ms) : 0;
}

/* The words of a text. */
struct words {
	unsigned n;
	struct word {
		const char *at;
		size_t n;
	} v[WORDS_MAX];
};

static void split_words(struct words *w, const char *text)
{
	w->n = 0;
	while (*text && w->n < WORDS_MAX) {
		size_t n = 0;

		while (is_word_byte(text[n]) || (n && text[n] == '\''))
			n++;
		if (n)
			w->v[w->n++] = (struct word){text, n};
		text += n ? n : 1;
	}
}

static bool same_words(const struct words *w, unsigned a, unsigned b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (w->v[a + i].n != w->v[b + i].n ||
		    strncasecmp(w->v[a + i].at, w->v[b + i].at, w->v[a + i].n) != 0)
			return false;
	return true;
}

unsigned room_repetitions(const char *text)
{
	struct words w;
	unsigned most = 1;

	split_words(&w, text);
	for (unsigned size = 1; size <= ROUND_WORDS; size++)
		for (unsigned from = 0; from + 2 * size <= w.n;) {
			unsigned times = 1;

			while (from + (times + 1) * size <= w.n &&
			       same_words(&w, from, from + times * size, size))
				times++;
			if (times > most && 3 * times * size >= 2 * w.n)
				most = times;
			from += times > 1 ? (times - 1) * size : 1;
		}
	return most;
}

enum room_hallucination room_hallucination_detect(const struct room_utterance_transcript *h,
						  const struct settings *s)
{
	if (!room_has_words(h->text))
		return ROOM_HALLUCINATION_NONE;
	if (h->no_speech && h->no_speech - 1 >= s->asr_no_speech)
		return ROOM_HALLUCINATION_SILENCE;
	if (strlen(h->text) >= SAYABLE_LEAST &&
	    room_speech_rate(h->text, h->voice_ms) > s->asr_most_pace)
		return ROOM_HALLUCINATION_RATE;
	if (!h->named && !h->stop && room_repetitions(h->text) >= ROOM_REPETITIONS_MIN)
		return ROOM_HALLUCINATION_LOOP;
	return ROOM_HALLUCINATION_NONE;
}

enum room_transcript_kind room_transcript_classify(const struct room_transcript_input *f,
						   const struct settings *s)
{
	if (room_has_control_tokens(f->text))
		return ROOM_TRANSCRIPT_KIND_CONTROL;
	if (!room_has_words(f->text))
		return ROOM_TRANSCRIPT_KIND_EMPTY;
	if (!f->doubt || f->named)
		return ROOM_TRANSCRIPT_KIND_WORDS;
	if (f->doubt - 1 > s->asr_unsure)
		return ROOM_TRANSCRIPT_KIND_UNSURE;
	if (f->spoken_ms >= s->asr_sparse_ms &&
	    room_speech_rate(f->text, f->spoken_ms) < s->asr_sparse_pace)
		return ROOM_TRANSCRIPT_KIND_SPARSE;
	return ROOM_TRANSCRIPT_KIND_WORDS;
}
