/* Tools that need nothing but the clock, chance and the list of people (builtins.h). */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "control/settings/settings.h"
#include "control/tools/builtin/inside.h"
#include "ipc/env.h"
#include "proto/base/time.h"

enum { SIDES = 6 };

static json_int_t number_of(const json_t *arguments, const char *key, json_int_t otherwise)
{
	const json_t *v = json_object_get(arguments, key);

	return json_is_number(v) ? (json_int_t)json_number_value(v) : otherwise;
}

int builtin_roll(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	json_int_t count = number_of(arguments, "count", 1),
		   sides = number_of(arguments, "sides", SIDES), sum = 0;
	json_t *dice = json_array();

	for (json_int_t i = 0; dice && i < count; i++) {
		uint64_t random;
		json_int_t value;

		env_random(b->host.env, &random, sizeof random);
		value = 1 + (json_int_t)(random % (uint64_t)sides);
		sum += value;
		json_array_append_new(dice, json_integer(value));
	}
	return builtin_give(b, call->id,
			    json_pack("{s:o,s:I,s:I}", "dice", dice, "sides", sides, "sum", sum));
}

static time_t local_now(struct builtins *b, struct tm *out)
{
	int64_t offset = env_utc_offset(b->host.env, b->host.settings->time_zone);
	time_t now = (time_t)(env_wall_ms(b->host.env) / MS_PER_S + (uint64_t)offset);

	gmtime_r(&now, out);
	return (time_t)offset;
}

int builtin_time(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
					   "Thursday", "Friday", "Saturday"};
	struct tm t;
	time_t offset = local_now(b, &t);
	int minutes = (int)(offset / 60);

	(void)arguments;
	return builtin_give(
		b, call->id,
		json_pack("{s:s,s:o,s:o,s:o}", "day", days[t.tm_wday], "date",
			  json_sprintf("%04d-%02d-%02d", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday),
			  "time", json_sprintf("%02d:%02d", t.tm_hour, t.tm_min), "zone",
			  json_sprintf("UTC%c%02d:%02d", minutes < 0 ? '-' : '+', abs(minutes) / 60,
				       abs(minutes) % 60)));
}

int builtin_stay_silent(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	(void)arguments;
	return builtin_give(b, call->id, json_pack("{s:b}", "silent", 1));
}

int builtin_voice_status(struct builtins *b, const struct tool_start *call, const json_t *arguments)
{
	(void)arguments;
	return builtin_give(b, call->id, b->host.statush(b->host.arg));
}
