/* The conversation: its items, in order. */
#include "control/offline/session_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 16 << 10 };

static void item_clear(struct item *it)
{
	json_decref(it->json);
	free(it->text);
	free(it->speaker);
	*it = (struct item){.json = NULL};
}

void items_free(struct session *s)
{
	while (s->n_items)
		item_clear(&s->items[--s->n_items]);
}

static void item_remove(struct session *s, struct item *it)
{
	size_t at = (size_t)(it - s->items);

	item_clear(it);
	memmove(it, it + 1, (s->n_items - at - 1) * sizeof *it);
	s->n_items--;
}

struct item *items_find(struct session *s, const char *id)
{
	for (unsigned i = 0; id && i < s->n_items; i++)
		if (strcmp(s->items[i].id, id) == 0)
			return &s->items[i];
	return NULL;
}

struct item *items_of_utterance(struct session *s, uint32_t utterance)
{
	for (unsigned i = 0; i < s->n_items; i++)
		if (s->items[i].utterance == utterance)
			return &s->items[i];
	return NULL;
}

struct item *items_last_of(struct session *s, const char *role)
{
	for (unsigned i = s->n_items; i-- > 0;)
		if (strcmp(s->items[i].role, role) == 0)
			return &s->items[i];
	return NULL;
}

json_t *items_previous(const struct session *s, const struct item *it)
{
	return it == s->items ? json_null() : json_string(it[-1].id);
}

int item_set_text(struct item *it, const char *text)
{
	char *copy = strndup(text, MAX_TEXT);

	if (!copy)
		return ENOMEM;
	free(it->text);
	it->text = copy;
	return 0;
}

char *item_text_of(const json_t *item, bool *audio)
{
	const json_t *content = json_object_get(item, "content"), *part;
	char *text = calloc(1, MAX_TEXT);
	size_t i, k = 0;

	*audio = false;
	if (!text)
		return NULL;
	json_array_foreach(content, i, part)
	{
		const char *type = json_string_value(json_object_get(part, "type"));
		const char *words = json_string_value(json_object_get(part, "text"));

		if (!words)
			words = json_string_value(json_object_get(part, "transcript"));
		if (type && strcmp(type, "input_audio") == 0)
			*audio = true;
		if (words && k < MAX_TEXT)
			k += (size_t)snprintf(text + k, MAX_TEXT - k, "%s%s", k ? "\n" : "", words);
	}
	return text;
}

/* Puts an item at a place, pushing the oldest out when there is no room. */
static struct item *insert(struct session *s, unsigned at)
{
	if (s->n_items == MAX_ITEMS) {
		item_remove(s, &s->items[0]);
		at = at ? at - 1 : 0;
	}
	memmove(&s->items[at + 1], &s->items[at], (s->n_items - at) * sizeof s->items[0]);
	s->n_items++;
	s->items[at] = (struct item){.json = NULL};
	return &s->items[at];
}

static struct item *place(struct session *s, unsigned at, const char *id, json_t *json)
{
	const char *role = json_string_value(json_object_get(json, "role"));
	struct item *it;

	if (!json || json_object_set_new(json, "id", json_string(id)) ||
	    json_object_set_new(json, "object", json_string("realtime.item"))) {
		json_decref(json);
		s->err = ENOMEM;
		return NULL;
	}
	it = insert(s, at);
	it->json = json;
	snprintf(it->id, sizeof it->id, "%s", id);
	snprintf(it->role, sizeof it->role, "%s", role ? role : "");
	session_emit(s, "conversation.item.added",
		     json_pack("{s:o,s:O}", "previous_item_id", items_previous(s, it), "item",
			       it->json));
	return it;
}

struct item *items_append(struct session *s, const char *id, json_t *json)
{
	return place(s, s->n_items, id, json);
}

void items_done(struct session *s, struct item *it)
{
	session_emit(s, "conversation.item.done",
		     json_pack("{s:o,s:O}", "previous_item_id", items_previous(s, it), "item",
			       it->json));
}

static const char *const part_types[][3] = {
	{"system", "input_text", NULL},
	{"user", "input_text", "input_audio"},
	{"assistant", "output_text", NULL},
};

static bool part_ok(const char *role, const char *type)
{
	if (!type)
		return false;
	if (strcmp(role, "user") == 0 && strcmp(type, "input_image") == 0)
		return true;
	for (unsigned i = 0; i < 3; i++)
		if (strcmp(part_types[i][0], role) == 0)
			return strcmp(part_types[i][1], type) == 0 ||
			       (part_types[i][2] && strcmp(part_types[i][2], type) == 0);
	return false;
}

static bool item_ok(struct session *s, const json_t *item)
{
	const char *type = json_string_value(json_object_get(item, "type"));
	const char *role = json_string_value(json_object_get(item, "role"));
	const char *id = json_string_value(json_object_get(item, "id"));
	const json_t *content = json_object_get(item, "content"), *part;
	size_t i;

	if (!json_is_object(item) || !type) {
		session_error(s, "missing_required_parameter", "item.type",
			      "The item has no type.");
		return false;
	}
	if (id && (!*id || strlen(id) >= ID_SIZE || items_find(s, id))) {
		session_error(s, "invalid_value", "item.id",
			      "The item's id is in use, empty or too long.");
		return false;
	}
	if (strcmp(type, "message") != 0)
		return true;
	if (!role || !json_is_array(content)) {
		session_error(s, "missing_required_parameter", role ? "item.content" : "item.role",
			      "A message has a role and a content.");
		return false;
	}
	json_array_foreach(content, i, part)
	{
		const char *t = json_string_value(json_object_get(part, "type"));

		if (part_ok(role, t))
			continue;
		session_error(s, "invalid_value", "item.content[].type",
			      "A %.20s message has no parts of type '%.40s'.", role, t ? t : "");
		return false;
	}
	return true;
}

/* Audio bytes are not sent back. */
static void strip_audio(json_t *item)
{
	json_t *part;
	size_t i;

	json_array_foreach(json_object_get(item, "content"), i, part)
		json_object_del(part, "audio");
}

static bool find_place(struct session *s, const char *previous, unsigned *at)
{
	const struct item *it;

	*at = s->n_items;
	if (!previous)
		return true;
	*at = 0;
	if (strcmp(previous, "root") == 0)
		return true;
	it = items_find(s, previous);
	if (!it) {
		session_error(s, "item_not_found", "previous_item_id", "There is no item '%.64s'.",
			      previous);
		return false;
	}
	*at = (unsigned)(it - s->items) + 1;
	return true;
}

void items_create(struct session *s, json_t *event)
{
	json_t *item = json_object_get(event, "item"), *copy;
	const char *given = json_string_value(json_object_get(item, "id"));
	char id[ID_SIZE];
	struct item *it;
	bool audio;
	unsigned at;

	if (!item_ok(s, item) ||
	    !find_place(s, json_string_value(json_object_get(event, "previous_item_id")), &at))
		return;
	if (given)
		snprintf(id, sizeof id, "%s", given);
	else
		session_id(s, "item", id);
	copy = json_deep_copy(item);
	strip_audio(copy);
	if (copy && !json_object_get(copy, "status") &&
	    json_object_set_new(copy, "status", json_string("completed"))) {
		json_decref(copy);
		copy = NULL;
	}
	it = place(s, at, id, copy);
	if (!it)
		return;
	it->text = item_text_of(item, &audio);
	if (!it->text)
		s->err = ENOMEM;
	else if (strcmp(it->role, "system") == 0)
		session_notes(s, it->text);
	items_done(s, it);
}

static struct item *named(struct session *s, json_t *event)
{
	const char *id = json_string_value(json_object_get(event, "item_id"));
	struct item *it = items_find(s, id);

	if (!id)
		session_error(s, "missing_required_parameter", "item_id",
			      "The event has no item_id.");
	else if (!it)
		session_error(s, "item_not_found", "item_id", "There is no item '%.64s'.", id);
	return it;
}

void items_delete(struct session *s, json_t *event)
{
	struct item *it = named(s, event);
	char id[ID_SIZE];

	if (!it)
		return;
	memcpy(id, it->id, sizeof id);
	item_remove(s, it);
	session_emit(s, "conversation.item.deleted", json_pack("{s:s}", "item_id", id));
}

void items_retrieve(struct session *s, json_t *event)
{
	struct item *it = named(s, event);

	if (it)
		session_emit(s, "conversation.item.retrieved",
			     json_pack("{s:O}", "item", it->json));
}

void items_truncate(struct session *s, json_t *event)
{
	struct item *it = named(s, event);
	json_t *end = json_object_get(event, "audio_end_ms");
	json_int_t ms = json_integer_value(end),
		   index = json_integer_value(json_object_get(event, "content_index"));
	json_t *part;

	if (!it)
		return;
	if (!it->audio || strcmp(it->role, "assistant") != 0) {
		session_error(s, "invalid_value", "item_id",
			      "Only the assistant's audio can be truncated.");
		return;
	}
	if (!json_is_integer(end) || ms < 0 || ms > it->audio_ms || index != 0) {
		session_error(s, "invalid_value", index ? "content_index" : "audio_end_ms",
			      "The item holds %u ms of audio in content 0.", it->audio_ms);
		return;
	}
	/* Words that were not played are removed. */
	part = json_array_get(json_object_get(it->json, "content"), 0);
	if ((part && json_object_set_new(part, "transcript", json_string(""))) ||
	    item_set_text(it, "")) {
		s->err = ENOMEM;
		return;
	}
	it->audio_ms = (unsigned)ms;
	session_emit(s, "conversation.item.truncated",
		     json_pack("{s:s,s:i,s:I}", "item_id", it->id, "content_index", 0,
			       "audio_end_ms", ms));
}
