#include "control/agent/recall.h"

#include <string.h>

#include "control/memory/line_people.h"
#include "proto/discord.h"

#define HOUR_MS UINT64_C(3600000)

uint64_t recall_oldest_ms(uint32_t hours, uint64_t now_ms)
{
	uint64_t keep = hours * HOUR_MS;

	if (!hours)
		return UINT64_MAX;
	return now_ms > keep ? now_ms - keep : 0;
}

static bool is_line(const json_t *line)
{
	const char *name = json_string_value(json_object_get(line, "name"));

	return json_is_string(json_object_get(line, "text")) && (!name || !strchr(name, '\n')) &&
	       json_integer_value(json_object_get(line, "at_ms")) >= 0;
}

static bool is_recent(const json_t *line, const struct recall_rules *rules)
{
	return (uint64_t)json_integer_value(json_object_get(line, "at_ms")) >= rules->oldest_ms;
}

static bool allows_speaker(const json_t *line, const struct recall_rules *rules)
{
	uint64_t user;

	return discord_u64(json_string_value(json_object_get(line, "user")), &user) &&
	       rules->allowsh(user, rules->arg);
}

bool recall_allows_askers(const json_t *line, const struct recall_rules *rules)
{
	return line_people_all(line, rules->allowsh, rules->arg);
}

json_t *recall_select(const json_t *words, const struct recall_rules *rules)
{
	json_t *out = json_array(), *line;
	bool whole = true; /* no speaker of this turn was left out */
	size_t i;

	json_array_foreach(words, i, line)
	{
		bool bot = json_is_true(json_object_get(line, "bot"));
		bool allowed = bot ? whole : allows_speaker(line, rules);

		/* The bot's line is the last one of its turn. */
		whole = bot || (whole && allowed);
		if (allowed && is_line(line) && is_recent(line, rules))
			json_array_append(out, line);
	}
	return out;
}
