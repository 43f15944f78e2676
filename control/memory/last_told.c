#include "control/memory/last_told.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "proto/base/time.h"

void last_told_clear(struct last_told *t, uint64_t user)
{
	for (size_t i = 0; i < LAST_TOLD_PEOPLE; i++)
		if (t->of[i].user == user)
			t->of[i] = (struct last_told_fact){0};
}

static struct last_told_fact *find_oldest(struct last_told *t)
{
	struct last_told_fact *oldest = &t->of[0];

	for (size_t i = 1; i < LAST_TOLD_PEOPLE; i++)
		if (t->of[i].at < oldest->at)
			oldest = &t->of[i];
	return oldest;
}

void last_told_note(struct last_told *t, uint64_t user, const json_t *matches, uint64_t now)
{
	const json_t *id = json_object_get(json_array_get(matches, 0), "id");

	last_told_clear(t, user);
	if (user && json_array_size(matches) == 1 && json_integer_value(id) > 0)
		*find_oldest(t) = (struct last_told_fact){
			.user = user, .fact = (uint64_t)json_integer_value(id), .at = now};
}

static uint64_t find_fact(const struct last_told *t, uint64_t user, uint64_t now)
{
	for (size_t i = 0; i < LAST_TOLD_PEOPLE; i++)
		if (t->of[i].user == user && now < t->of[i].at + LAST_TOLD_S * NS_PER_S)
			return t->of[i].fact;
	return 0;
}

char *last_told_request(const struct last_told *t, uint64_t user, const char *request, uint64_t now)
{
	uint64_t fact = find_fact(t, user, now);
	json_t *root = json_loads(request, 0, NULL);
	bool wanted =
		fact && json_is_true(json_object_get(root, "last")) && !json_object_get(root, "id");
	char *text;

	if (wanted && !json_object_set_new(root, "id", json_integer((json_int_t)fact)))
		json_object_del(root, "last");
	text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}
