#include "control/memory/tell.h"

#include <stddef.h>
#include <strings.h>

#include "control/memory/calendar.h"
#include "control/memory/line_people.h"
#include "control/memory/untold.h"
#include "proto/discord.h"

#define MINUTE_MS UINT64_C(60000)

uint64_t tell_user(const json_t *object)
{
	uint64_t user = 0;

	discord_u64(json_string_value(json_object_get(object, "user")), &user);
	return user;
}

bool tell_means_bot(const char *speaker)
{
	static const char *const words[] = {"you", "yourself", "bot", "the bot", "assistant"};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcasecmp(speaker, words[i]) == 0)
			return true;
	return false;
}

static uint64_t ms_of(const json_t *ms)
{
	return (uint64_t)json_integer_value(ms);
}

static json_t *day_json(const struct tell_rules *r, const json_t *ms)
{
	char day[CALENDAR_DATE];

	calendar_date(day, ms_of(ms), calendar_offset(r->zone, ms_of(ms)));
	return json_string(day);
}

static const char *name_author(const struct tell_rules *r, const json_t *object, char to[TELL_NAME])
{
	const char *stored = json_string_value(json_object_get(object, "name"));

	return r->nameh(tell_user(object), stored ? stored : "", to, r->arg);
}

/* ---- facts ---- */

/* The newest time when it was said. */
static const json_t *newest_ms(const json_t *fact)
{
	const json_t *again = json_object_get(fact, "again_ms");

	return again ? again : json_object_get(fact, "at_ms");
}

/* A former value is of the fact's own author, and names none. */
static bool may_tell_beside(const struct tell_rules *r, const json_t *one, bool all)
{
	uint64_t author = tell_user(one);

	return (all || r->hereh(one, r->arg)) && (!author || r->recallh(author, r->arg));
}

const json_t *tell_first(const struct tell_rules *r, const json_t *list, bool all)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (may_tell_beside(r, one, all))
			return one;
	}
	return NULL;
}

/* until: the values that the fact took the place of, which have it. */
static json_t *list_beside(const struct tell_rules *r, const json_t *list, bool all, bool until)
{
	json_t *told = json_array();
	size_t i, most = until ? TOLD_FORMER : TOLD_CONFLICTS;
	const json_t *one;

	json_array_foreach(list, i, one)
	{
		json_t *out;

		if (json_array_size(told) == most || !may_tell_beside(r, one, all))
			continue;
		if (tell_user(one))
			r->noteh(tell_user(one), r->arg);
		out = json_pack("{s:O,s:o}", "text", json_object_get(one, "text"), "from",
				day_json(r, json_object_get(one, "from_ms")));
		if (until)
			json_object_set_new(out, "until",
					    day_json(r, json_object_get(one, "until_ms")));
		if (json_is_true(json_object_get(one, "unsure")))
			json_object_set_new(out, "unsure", json_true());
		json_array_append_new(told, out);
	}
	return told;
}

/* The people known now whom the fact surely names, by their present names: the text may have
 * others. */
static json_t *list_people(const struct tell_rules *r, const json_t *fact)
{
	json_t *list = json_array(), *people = json_object_get(fact, "people"), *bound;
	char to[TELL_NAME];
	const char *id, *name;
	uint64_t user;

	json_object_foreach(people, id, bound)
	{
		name = json_is_true(bound) && discord_u64(id, &user)
			       ? r->nameh(user, NULL, to, r->arg)
			       : NULL;
		if (name)
			json_array_append_new(list, json_string(name));
	}
	return list;
}

/* An empty list says nothing. Steals it. */
static void set_list(json_t *out, const char *key, json_t *list)
{
	if (json_array_size(list))
		json_object_set(out, key, list);
	json_decref(list);
}

json_t *tell_fact(const struct tell_rules *r, const json_t *fact, bool all)
{
	uint64_t user = tell_user(fact);
	char name[TELL_NAME];
	json_t *out;

	if (!r->recallh(user, r->arg))
		return NULL;
	r->noteh(user, r->arg);
	/* days_ago: models count days badly. */
	out = json_pack(
		"{s:O,s:O,s:s,s:b,s:O,s:I,s:{s:o,s:O,s:O}}", "id", json_object_get(fact, "id"),
		"text", json_object_get(fact, "text"), "said_by", name_author(r, fact, name),
		"by_asker", user == r->asker, "score", json_object_get(fact, "score"), "days_ago",
		(json_int_t)calendar_days_ago(r->zone, r->now_ms, ms_of(newest_ms(fact))),
		"metadata", "createdAt", day_json(r, json_object_get(fact, "at_ms")), "tags",
		json_object_get(fact, "tags"), "type", json_object_get(fact, "type"));
	if (!out)
		return NULL;
	if (json_object_get(fact, "again_ms"))
		json_object_set_new(json_object_get(out, "metadata"), "saidAgain",
				    day_json(r, newest_ms(fact)));
	set_list(out, "former", list_beside(r, json_object_get(fact, "former"), all, true));
	set_list(out, "about", list_people(r, fact));
	if (json_is_true(json_object_get(fact, "unsure")))
		json_object_set_new(out, "unsure", json_true());
	set_list(out, "contradicted_by",
		 list_beside(r, json_object_get(fact, "conflicts"), all, false));
	return out;
}

/* ---- lines ---- */

static bool note_one(uint64_t of, void *arg)
{
	const struct tell_rules *r = arg;

	r->noteh(of, r->arg);
	return true;
}

/* The speaker of the line, and of the bot's own line whom it answers and quotes. */
static void note_line(const struct tell_rules *r, const json_t *line)
{
	r->noteh(tell_user(line), r->arg);
	line_people_all(line, note_one, (void *)(uintptr_t)r);
}

/* NULL: it may not be told. */
static json_t *tell_line(const struct tell_rules *r, const json_t *line)
{
	const char *text = json_string_value(json_object_get(line, "text"));
	bool bot = json_is_true(json_object_get(line, "bot"));
	uint64_t at = ms_of(json_object_get(line, "at_ms"));
	char name[TELL_NAME], clock[CALENDAR_MINUTE];

	if (!text || !r->lineh(line, r->arg))
		return NULL;
	note_line(r, line);
	calendar_minute(clock, at, calendar_offset(r->zone, at));
	return json_pack("{s:O,s:s,s:O*,s:s,s:s,s:I}", "id", json_object_get(line, "id"), "speaker",
			 bot ? "you" : name_author(r, line, name), "speaker_id",
			 bot ? NULL : json_object_get(line, "user"), "said", text, "at", clock,
			 "minutes_ago",
			 (json_int_t)(r->now_ms > at ? (r->now_ms - at) / MINUTE_MS : 0));
}

static json_t *list_near(const struct tell_rules *r, const json_t *line)
{
	json_t *near = json_array(), *told;
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(line, "near"), i, one)
	{
		told = tell_line(r, one);
		if (told)
			json_array_append_new(near, told);
	}
	return near;
}

json_t *tell_lines(const struct tell_rules *r, const json_t *lines)
{
	static const char *const flags[] = {"unsure", "other_time"};
	json_t *told = json_array();
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		json_t *out = tell_line(r, line);

		if (!out)
			continue;
		set_list(out, "near", list_near(r, line));
		for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++)
			if (json_is_true(json_object_get(line, flags[f])))
				json_object_set_new(out, flags[f], json_true());
		json_array_append_new(told, out);
	}
	return told;
}
