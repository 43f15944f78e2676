#include "control/words/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "control/words/translations.def"
#include "control/words/translations_commands.def"
#include "control/words/translations_faults.def"
#include "control/words/translations_jukebox.def"
#include "control/words/translations_music.def"
#include "control/words/translations_privacy.def"
#include "control/words/translations_screens.def"
#include "control/words/translations_reasons.def"
#include "control/words/translations_status.def"
#include "control/words/translations_surface.def"
#include "control/words/translations_text.def"
#include "proto/base/utf8.h"
#include "proto/media.h"

enum { NAME_MAX_ = 96, TEXT_MAX = 400 };

/* Puts a backslash before characters that Discord would read as markup or a mention. */
static const char *name_of(char *buf, size_t size, const char *name)
{
	static const char marks[] = "\\*_~`|<>[]()#@:-+.";
	char plain[NAME_MAX_];
	size_t n = 0;

	utf8_copy(plain, sizeof plain, name);
	utf8_plain(plain);
	for (const char *p = plain; *p && n + 2 < size; p++) {
		if (strchr(marks, *p))
			buf[n++] = '\\';
		buf[n++] = *p;
	}
	buf[n] = '\0';
	return buf;
}

static const char *text_of(char *buf, size_t size, const char *text)
{
	utf8_copy(buf, size, text);
	utf8_plain(buf);
	return buf;
}

#define CODE(code) #code,
static const char *const codes[] = {WORDS_LANGUAGES(CODE)};
#undef CODE
#define CODE(code) LANGUAGE_##code,
enum { WORDS_LANGUAGES(CODE) LANGUAGES };
#undef CODE

#define ROW(...) {__VA_ARGS__},
/* Long sentences are several literals. */
/* NOLINTBEGIN(bugprone-suspicious-missing-comma) */
static const char *const sentences[][LANGUAGES] = {
	WORDS_TRANSLATIONS(ROW) WORDS_TRANSLATIONS_COMMANDS(ROW) WORDS_TRANSLATIONS_FAULTS(ROW)
		WORDS_TRANSLATIONS_STATUS(ROW) WORDS_TRANSLATIONS_PRIVACY(ROW)
			WORDS_TRANSLATIONS_SCREENS(ROW) WORDS_TRANSLATIONS_MUSIC(ROW)
				WORDS_TRANSLATIONS_JUKEBOX(ROW) WORDS_TRANSLATIONS_SURFACE(ROW)
					WORDS_TRANSLATIONS_REASONS(ROW)
						WORDS_TRANSLATIONS_TEXT(ROW)};
/* NOLINTEND(bugprone-suspicious-missing-comma) */
#undef ROW

void words_speak(struct words *w, const char *code)
{
	w->language = 0;
	for (unsigned i = 0; i < LANGUAGES; i++)
		if (strncmp(code, codes[i], 2) == 0 && (!code[2] || code[2] == '-'))
			w->language = i;
}

/* Which form of a noun stands beside n: 0 beside one. Languages without a plural have no groups. */
static unsigned form_beside(unsigned language, unsigned long long n)
{
	bool few = n % 10 >= 2 && n % 10 <= 4 && n / 10 % 10 != 1;

	switch (language) {
	case LANGUAGE_fr:
	case LANGUAGE_pt:
		return n > 1;
	case LANGUAGE_pl:
		return n == 1 ? 0 : few ? 1 : 2;
	case LANGUAGE_ru:
		return n % 10 == 1 && n / 10 % 10 != 1 ? 0 : few ? 1 : 2;
	default:
		return n != 1;
	}
}

/* Copies a text without its groups "{one|more}": of each, the form that stands beside the number
 * before it. ap holds what the conversions of the text take. Whatever has groups in English is
 * translated (words_test.c), so the text is of this language. */
static void choose_forms(char *buf, size_t size, unsigned language, const char *text, va_list ap)
{
	unsigned long long number = 0;
	char *end = buf + size - 1;

	while (*text && buf < end) {
		const char *close = *text == '{' ? strchr(text, '}') : NULL;

		if (strncmp(text, "%s", 2) == 0)
			(void)va_arg(ap, const char *);
		else if (strncmp(text, "%u", 2) == 0)
			number = va_arg(ap, unsigned);
		else if (strncmp(text, "%llu", 4) == 0)
			number = va_arg(ap, unsigned long long);
		if (!close) {
			*buf++ = *text++;
			continue;
		}
		for (unsigned form = form_beside(language, number); form; form--)
			text += strcspn(text + 1, "|}") + 1;
		for (text++; *text != '|' && *text != '}' && buf < end; text++)
			*buf++ = *text;
		text = close + 1;
	}
	*buf = '\0';
}

static const char *translate(const struct words *w, const char *text)
	__attribute__((format_arg(2)));
static const char *translate(const struct words *w, const char *text)
{
	for (size_t i = 0; w->language && i < sizeof sentences / sizeof sentences[0]; i++)
		if (strcmp(sentences[i][0], text) == 0)
			return sentences[i][w->language];
	return text;
}

/* The space left after n bytes, including the separating blank. */
static bool apart(const struct words *w)
{
	return w->n && !strchr(" \n", w->text[w->n - 1]);
}

static void put(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct words *w, const char *fmt, ...)
{
	size_t at = w->n + apart(w), left = sizeof w->text - at;
	const char *text = translate(w, fmt);
	char chosen[WORDS_MAX + 1];
	va_list ap;
	int n;

	if (w->full || left < 2) {
		w->full = true;
		return;
	}
	va_start(ap, fmt);
	choose_forms(chosen, sizeof chosen, w->language, text, ap);
	va_end(ap);
	va_start(ap, fmt);
	n = vsnprintf(w->text + at, left, chosen, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= left) {
		w->full = true;
		w->text[w->n] = '\0';
		return;
	}
	if (at > w->n)
		w->text[w->n] = ' ';
	w->n = at + (size_t)n;
}

#define PASS_S(s) translate(w, s)
#define PASS_N(s) name_of((char[2 *NAME_MAX_]){0}, (size_t)2 * NAME_MAX_, s)
#define PASS_T(s) text_of((char[TEXT_MAX]){0}, TEXT_MAX, s)
#define PASS_U(u) u
#define PASS_I(i) i

#define W0(name, text)                                                                             \
	void words_##name(struct words *w)                                                         \
	{                                                                                          \
		put(w, text);                                                                      \
	}
#define W1(name, A, a, text)                                                                       \
	void words_##name(struct words *w, words_##A a)                                            \
	{                                                                                          \
		put(w, text, PASS_##A(a));                                                         \
	}
#define W2(name, A, a, B, b, text)                                                                 \
	void words_##name(struct words *w, words_##A a, words_##B b)                               \
	{                                                                                          \
		put(w, text, PASS_##A(a), PASS_##B(b));                                            \
	}
#define W3(name, A, a, B, b, C, c, text)                                                           \
	void words_##name(struct words *w, words_##A a, words_##B b, words_##C c)                  \
	{                                                                                          \
		put(w, text, PASS_##A(a), PASS_##B(b), PASS_##C(c));                               \
	}
WORDS(W0, W1, W2, W3)

static void glue(struct words *w, const char *text)
{
	size_t n = strlen(text);

	if (w->full || w->n + n >= sizeof w->text) {
		w->full = true;
		return;
	}
	memcpy(w->text + w->n, text, n + 1);
	w->n += n;
}

void words_line(struct words *w)
{
	if (w->n)
		glue(w, "\n");
}

void words_comma(struct words *w)
{
	if (w->n)
		glue(w, ", ");
}

/* ---- sentences about a state ---- */

static const char *const reasons[] = {
#define X(NAME, text) text,
	VOICE_REASONS(X)
#undef X
};

static const char *media_words(unsigned reason)
{
	switch (reason) {
#define X(NAME, text)                                                                              \
	case MEDIA_REASON_##NAME:                                                                  \
		return text;
		WORDS_MEDIA(X)
#undef X
	default:
		return NULL;
	}
}

void words_voice(struct words *w, enum voice_reason reason, unsigned media_reason)
{
	bool more = reason == VOICE_REASON_REFUSED || reason == VOICE_REASON_MEDIA;
	const char *text = more ? media_words(media_reason) : NULL;

	if (!text && (unsigned)reason < sizeof reasons / sizeof reasons[0])
		text = reasons[reason];
	if (text && *text)
		put(w, "%s", translate(w, text));
}

static const struct {
	const char *name, *begins, *over;
} faults[] = {
#define X(NAME, name, wait, again, begins, over) {name, begins, over},
	WORDS_FAULTS(X)
#undef X
};

void words_fault(struct words *w, enum fault fault, bool over)
{
	const char *text = over ? faults[fault].over : faults[fault].begins;

	if (*text)
		put(w, "%s", translate(w, text));
}

const char *words_fault_name(enum fault fault)
{
	return faults[fault].name;
}

void words_end(struct words *w, const char *name)
{
#define X(end, text)                                                                               \
	if (strcmp(name, #end) == 0)                                                               \
		put(w, text);
	WORDS_ENDS(X)
#undef X
}

#define LIST(NAME, text) text,
#define OF(list, i)	 ((size_t)(i) < sizeof(list) / sizeof(list)[0] ? (list)[i] : "?")

const char *words_unheard(enum unheard why)
{
	static const char *const texts[] = {"", WORDS_UNHEARD(LIST)};

	return OF(texts, why);
}

const char *words_voice_state(enum voice_state state)
{
	static const char *const texts[] = {VOICE_STATES(LIST)};

	return OF(texts, state);
}

const char *words_link(enum words_link link)
{
	static const char *const texts[] = {WORDS_LINKS(LIST)};

	return OF(texts, link);
}

const char *words_phase(unsigned phase)
{
	static const char *const texts[] = {
#define X(NAME, text) [MEDIA_PHASE_##NAME] = text,
		WORDS_PHASES(X)
#undef X
	};

	return OF(texts, phase);
}

const char *words_heal(unsigned heal)
{
	static const char *const texts[] = {
#define X(NAME, text) [MEDIA_HEAL_##NAME] = text,
		WORDS_HEALS(X)
#undef X
	};

	return OF(texts, heal);
}

void words_clock(struct words *w, uint64_t wall_ms)
{
	time_t t = (time_t)(wall_ms / 1000);
	char text[40];
	struct tm tm;

	strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", gmtime_r(&t, &tm));
	words_clock_wrong(w, text);
}
