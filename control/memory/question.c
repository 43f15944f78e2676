#include "control/memory/question.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "control/memory/name.h"

enum { WORD_SIZE = 64, NAME_BYTES = 128 };

static bool is_part(char c)
{
	return isalnum((unsigned char)c) || ((unsigned char)c & 0x80) || c == '_' || c == '-';
}

static bool is_name(const char *question, const char *from, size_t n, question_name_h *h, void *arg)
{
	char word[WORD_SIZE];
	size_t k = 0;

	while (k < n && is_part(from[k]))
		k++;
	if (!k || k >= sizeof word || name_read(question, from, k) != NAME_SURE)
		return false;
	memcpy(word, from, k);
	word[k] = '\0';
	return h(word, arg);
}

size_t question_strip(char out[QUESTION_SIZE], const char *question, question_name_h *h, void *arg)
{
	const char *p = question;
	size_t n = 0, names = 0;

	out[0] = '\0';
	while (*(p += strspn(p, " "))) {
		size_t len = strcspn(p, " ");

		bool name = is_name(question, p, len, h, arg);

		names += name;
		if (!name && n + len + 2 <= QUESTION_SIZE)
			n += (size_t)snprintf(out + n, QUESTION_SIZE - n, "%s%.*s", n ? " " : "",
					      (int)len, p);
		p += len;
	}
	if (!n)
		snprintf(out, QUESTION_SIZE, "%s", question);
	return names;
}

static bool ends_word(char c)
{
	return !isalnum((unsigned char)c) && !((unsigned char)c & 0x80);
}

void question_each_name(const char *question, question_span_h *h, void *arg)
{
	for (const char *p = question; *p; p++) {
		size_t words = 0;

		if (*p == ' ' || (p > question && !ends_word(p[-1])))
			continue;
		for (size_t n = 1; n <= NAME_BYTES && p[n - 1] && words < QUESTION_NAME_WORDS;
		     n++) {
			if (p[n - 1] == ' ' || !ends_word(p[n]))
				continue;
			words++;
			if (name_read(question, p, n) != NAME_NONE && !h(p, n, arg))
				return;
		}
	}
}
