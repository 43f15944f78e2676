#include "control/offline/brain_tools.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "control/offline/words.h"

void brain_say_dice(const unsigned *values, unsigned n, char *buf, size_t size)
{
	unsigned total = 0;
	char said[64];
	size_t k;

	number_say(n, said, sizeof said);
	k = (size_t)snprintf(buf, size, n > 1 ? "%s dice: " : "I rolled ", said);
	for (unsigned i = 0; i < n && k < size; i++) {
		const char *between = !i ? "" : i + 1 < n ? ", " : " and ";

		total += values[i];
		number_say(values[i], said, sizeof said);
		k += (size_t)snprintf(buf + k, size - k, "%s%s", between, said);
	}
	number_say(total, said, sizeof said);
	if (n > 1 && k < size)
		snprintf(buf + k, size - k, ". That makes %s.", said);
	else if (k < size)
		snprintf(buf + k, size - k, ".");
	buf[0] = (char)toupper((unsigned char)buf[0]);
}

/* ---- outputs ---- */

static void say_roll(const json_t *output, char *buf, size_t size)
{
	const json_t *dice = json_object_get(output, "dice");
	unsigned values[BRAIN_DICE], n = 0;

	for (size_t i = 0; i < json_array_size(dice) && n < BRAIN_DICE; i++)
		values[n++] = (unsigned)json_integer_value(json_array_get(dice, i));
	if (n)
		brain_say_dice(values, n, buf, size);
}

/* The newest two. */
static void say_found(const json_t *output, char *buf, size_t size)
{
	size_t i, n = 0;
	const json_t *one;

	json_array_foreach(output, i, one)
	{
		const char *speaker = json_string_value(json_object_get(one, "speaker"));
		const char *said = json_string_value(json_object_get(one, "said"));

		if (speaker && said && n < size && i < 2)
			n += (size_t)snprintf(buf + n, size - n, "%s%s said: %s.", i ? " " : "",
					      speaker, said);
	}
	if (!n)
		snprintf(buf, size, "I have no record of that.");
}

static const struct {
	const char *tool;
	void (*say)(const json_t *output, char *buf, size_t size);
} says[] = {{"roll", say_roll}, {"conversation_search", say_found}};

static void say_error(const json_t *root, char *buf, size_t size)
{
	const char *message =
		json_string_value(json_object_get(json_object_get(root, "error"), "message"));

	snprintf(buf, size, "That did not work. %s", message ? message : "");
}

void brain_say_output(const char *tool, const char *output, char *buf, size_t size)
{
	json_t *root = json_loads(output, 0, NULL);
	const json_t *value = json_object_get(root, "output");

	buf[0] = '\0';
	if (!json_is_true(json_object_get(root, "ok")))
		say_error(root, buf, size);
	for (size_t i = 0; !buf[0] && i < sizeof says / sizeof says[0]; i++)
		if (strcmp(says[i].tool, tool) == 0)
			says[i].say(value, buf, size);
	if (!buf[0])
		snprintf(buf, size, "It is done.");
	json_decref(root);
}
