#include "control/agent/unfinished.h"

#include <string.h>

static json_int_t id_of(const json_t *line)
{
	return json_integer_value(json_object_get(line, "id"));
}

static bool is_bots(const json_t *line)
{
	return json_is_true(json_object_get(line, "bot"));
}

static const json_t *find_last_answer(const json_t *lines)
{
	const json_t *line, *last = NULL;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		if (is_bots(line) && (!last || id_of(line) > id_of(last)))
			last = line;
	}
	return last;
}

/* The person for whom the answer was has said something since. */
static bool was_answered(const json_t *lines, const json_t *answer)
{
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		if (!is_bots(line) && id_of(line) > id_of(answer) &&
		    json_equal(json_object_get(line, "user"), json_object_get(answer, "user")))
			return true;
	}
	return false;
}

static bool ends_with(const char *text, size_t n, const char *mark)
{
	size_t k = strlen(mark);

	return n >= k && memcmp(text + n - k, mark, k) == 0;
}

static bool is_question(const json_t *line)
{
	static const char *const marks[] = {"?", "\uff1f", "\u061f", "?\"", "?)"};
	const char *text = json_string_value(json_object_get(line, "text"));
	size_t n = text ? strlen(text) : 0;

	while (n && text[n - 1] == ' ')
		n--;
	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
		if (ends_with(text, n, marks[i]))
			return true;
	return false;
}

const json_t *unfinished_find(const json_t *lines, bool *cut)
{
	const json_t *last = find_last_answer(lines);

	if (!last || was_answered(lines, last))
		return NULL;
	*cut = json_is_true(json_object_get(last, "cut"));
	return *cut || is_question(last) ? last : NULL;
}
