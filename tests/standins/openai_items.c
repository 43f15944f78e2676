#include "tests/standins/mind.h"
#include "tests/standins/openai.h"
#include "tests/standins/picture.h"
#include "tests/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_MAX_ = 32, TEXT_SIZE = 16384 };

static const char *member(const json_t *o, const char *name)
{
	const char *text = json_string_value(json_object_get(o, name));

	return text ? text : "";
}

struct rt_item *rt_item_find(struct rt *rt, const char *id)
{
	for (struct rt_item *it = rt->items; it; it = it->next)
		if (strcmp(it->id, id) == 0)
			return it;
	return NULL;
}

static void item_free(struct rt_item *it)
{
	json_decref(it->json);
	free(it);
}

void rt_items_free(struct rt *rt)
{
	while (rt->items) {
		struct rt_item *it = rt->items;

		rt->items = it->next;
		item_free(it);
	}
}

/* after: the id of the item before it, "root" for none, "" for the last. */
static struct rt_item *item_put(struct rt *rt, const char *id, json_t *json, bool tell,
				const char *after)
{
	struct rt_item *it = si_alloc(sizeof *it), **at = &rt->items;
	const char *before = NULL;

	while (*at && strcmp(after, "root") != 0 && (!before || strcmp(before, after) != 0)) {
		before = (*at)->id;
		at = &(*at)->next;
	}
	snprintf(it->id, sizeof it->id, "%s", id);
	it->json = json;
	it->next = *at;
	*at = it;
	json_object_set_new(json, "id", json_string(id));
	json_object_set_new(json, "object", json_string("realtime.item"));
	if (!json_object_get(json, "status"))
		json_object_set_new(json, "status", json_string("completed"));
	if (!tell)
		return it;
	rt_emit(rt, "conversation.item.added",
		json_pack("{s:s?, s:O}", "previous_item_id", before, "item", json));
	rt_emit(rt, "conversation.item.done",
		json_pack("{s:s?, s:O}", "previous_item_id", before, "item", json));
	return it;
}

struct rt_item *rt_item_add(struct rt *rt, const char *id, json_t *json, bool tell)
{
	return item_put(rt, id, json, tell, "");
}

/* ---- what may be in an item ---- */

static bool content_check(struct rt *rt, const json_t *item, const char *param)
{
	const char *role = member(item, "role");
	bool user = strcmp(role, "user") == 0, assistant = strcmp(role, "assistant") == 0;
	const json_t *content = json_object_get(item, "content");
	char what[SI_PICTURE_MAX];

	for (size_t i = 0; i < json_array_size(content); i++) {
		const json_t *part = json_array_get(content, i);
		const char *type = member(part, "type");
		bool image = strcmp(type, "input_image") == 0;
		bool text = strcmp(type, "input_text") == 0;
		bool fits = assistant ? strcmp(type, "output_text") == 0 ||
						strcmp(type, "output_audio") == 0 ||
						(rt->dialect != RT_GA && strcmp(type, "text") == 0)
				      : text || (user && strcmp(type, "input_audio") == 0) ||
						(user && image && rt->dialect != RT_XAI);

		if (!fits) {
			rt_error(rt, "invalid_value", param,
				 "Invalid value: '%s'. A message of this role takes no such "
				 "content.",
				 type);
			return false;
		}
		if (strcmp(type, "output_audio") == 0 && json_object_get(part, "audio")) {
			rt_error(rt, "invalid_value", param,
				 "Assistant audio cannot be created by a client.");
			return false;
		}
		if (image && !si_picture_url(member(part, "image_url"), what)) {
			rt_error(rt, "invalid_value", param,
				 "Images are data URIs of pictures that can be decoded.");
			return false;
		}
	}
	return true;
}

static bool call_known(struct rt *rt, const char *call)
{
	for (struct rt_item *it = rt->items; it; it = it->next)
		if (strcmp(member(it->json, "type"), "function_call") == 0 &&
		    strcmp(member(it->json, "call_id"), call) == 0)
			return true;
	return false;
}

static bool call_answered(struct rt *rt, const char *call)
{
	for (struct rt_item *it = rt->items; it; it = it->next)
		if (strcmp(member(it->json, "type"), "function_call_output") == 0 &&
		    strcmp(member(it->json, "call_id"), call) == 0)
			return true;
	return false;
}

bool rt_item_check(struct rt *rt, const json_t *item, const char *param)
{
	const char *type = member(item, "type"), *role = member(item, "role");

	if (strlen(member(item, "id")) > ID_MAX_) {
		rt_error(rt, "string_above_max_length", "item.id",
			 "Invalid 'item.id': string too long. Expected a string with maximum "
			 "length 32.");
		return false;
	}
	if (strcmp(type, "message") == 0 && strcmp(role, "user") != 0 &&
	    strcmp(role, "assistant") != 0 && strcmp(role, "system") != 0) {
		rt_error(rt, role[0] ? "invalid_value" : "missing_required_parameter", "item.role",
			 "A message has the role user, assistant or system.");
		return false;
	}
	if (strcmp(type, "message") == 0 && !json_is_array(json_object_get(item, "content"))) {
		rt_error(rt, "missing_required_parameter", "item.content",
			 "Missing required parameter: 'item.content'.");
		return false;
	}
	if (strcmp(type, "function_call_output") == 0 &&
	    (!json_object_get(item, "call_id") || !json_object_get(item, "output"))) {
		rt_error(rt, "missing_required_parameter", "item.call_id",
			 "An output has a call_id and an output.");
		return false;
	}
	return content_check(rt, item, param);
}

/* ---- words ---- */

void rt_item_learn(struct si_mind *m, const char *id, const json_t *item)
{
	const json_t *content = json_object_get(item, "content");
	const char *type = member(item, "type");
	char text[TEXT_SIZE] = "", what[SI_PICTURE_MAX];
	size_t at = 0;

	if (strcmp(type, "function_call_output") == 0) {
		si_mind_add(m, "tool", id, member(item, "output"));
		return;
	}
	if (strcmp(type, "message") != 0)
		return;
	for (size_t i = 0; i < json_array_size(content); i++) {
		const json_t *part = json_array_get(content, i);
		const char *words = member(part, "text");

		if (si_picture_url(member(part, "image_url"), what)) {
			si_mind_see(m, id, what);
			continue;
		}
		if (!words[0])
			words = member(part, "transcript");
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? "\n" : "", words);
		if (at >= sizeof text)
			break;
	}
	/* A picture alone asks nothing. */
	if (text[0] || !json_object_get(json_array_get(content, 0), "image_url"))
		si_mind_add(m, member(item, "role"), id, text);
}

/* ---- the client's events ---- */

static bool place_check(struct rt *rt, const json_t *event, const char *id)
{
	const char *before = member(event, "previous_item_id");

	if (id[0] && rt_item_find(rt, id)) {
		rt_error(rt, "item_create_invalid_item_id", "item.id",
			 "Error adding item: an item with the id '%s' exists.", id);
		return false;
	}
	if (before[0] && strcmp(before, "root") != 0 && !rt_item_find(rt, before)) {
		rt_error(rt, "item_create_invalid_previous_item_id", "previous_item_id",
			 "Error adding item: the previous item with id '%s' does not exist.",
			 before);
		return false;
	}
	return true;
}

static bool output_check(struct rt *rt, const json_t *item)
{
	const char *call = member(item, "call_id");

	if (strcmp(member(item, "type"), "function_call_output") != 0)
		return true;
	if (!call_known(rt, call)) {
		rt_error(rt, "invalid_tool_call_id", "item.call_id",
			 "Tool call ID '%s' not found in conversation.", call);
		return false;
	}
	if (call_answered(rt, call)) {
		rt_error(rt, "invalid_tool_call_id", "item.call_id",
			 "The tool call '%s' has an output already.", call);
		return false;
	}
	return true;
}

void rt_item_create(struct rt *rt, json_t *event)
{
	json_t *item = json_object_get(event, "item"), *copy;
	const char *given = member(item, "id");
	bool force = strcmp(member(item, "type"), "force_message") == 0;
	struct si_acts acts;
	char id[RT_ID];

	si_link_fire(rt->link, SI_ITEM, &acts);
	if (acts.error) {
		rt_error_act(rt, acts.error);
		return;
	}
	if (force && rt->dialect == RT_XAI) {
		rt_response_force(
			rt, member(json_array_get(json_object_get(item, "content"), 0), "text"));
		return;
	}
	if (force) {
		rt_error(rt, "invalid_value", "item.type", "Invalid value: 'force_message'.");
		return;
	}
	if (!rt_item_check(rt, item, "item.content[0].type") || !place_check(rt, event, given) ||
	    !output_check(rt, item))
		return;
	if (given[0])
		snprintf(id, sizeof id, "%s", given);
	else
		rt_id(rt, "item", id);
	rt_item_learn(rt->mind, id, item);
	si_mind_move(rt->mind, id, member(event, "previous_item_id"));
	copy = json_deep_copy(item);
	item_put(rt, id, copy, true, member(event, "previous_item_id"));
}

static struct rt_item *item_known(struct rt *rt, const json_t *event)
{
	const char *id = member(event, "item_id");
	struct rt_item *it = rt_item_find(rt, id);

	if (!it)
		rt_error(rt, "item_not_found", "item_id",
			 "The item with id '%s' does not exist in the conversation.", id);
	return it;
}

void rt_item_delete(struct rt *rt, const json_t *event)
{
	struct rt_item *it = item_known(rt, event);

	if (!it)
		return;
	for (struct rt_item **at = &rt->items; *at; at = &(*at)->next)
		if (*at == it) {
			*at = it->next;
			break;
		}
	si_mind_remove(rt->mind, it->id);
	rt_emit(rt, "conversation.item.deleted", json_pack("{s:s}", "item_id", it->id));
	item_free(it);
}

void rt_item_retrieve(struct rt *rt, const json_t *event)
{
	struct rt_item *it = item_known(rt, event);

	if (it)
		rt_emit(rt, "conversation.item.retrieved", json_pack("{s:O}", "item", it->json));
}

void rt_item_truncate(struct rt *rt, const json_t *event)
{
	struct rt_item *it = item_known(rt, event);
	json_int_t end = json_integer_value(json_object_get(event, "audio_end_ms"));
	json_t *part;

	if (!it)
		return;
	if (!it->spoken) {
		rt_error(rt, "invalid_value", "item_id",
			 "Only model output audio messages can be truncated.");
		return;
	}
	if (end > it->audio_ms) {
		rt_error(rt, "invalid_value", "audio_end_ms",
			 "Audio content of %ums is already shorter than %lldms", it->audio_ms,
			 (long long)end);
		return;
	}
	it->audio_ms = (unsigned)end;
	part = json_array_get(json_object_get(it->json, "content"), 0);
	json_object_set_new(part, "transcript", json_string(""));
	si_mind_remove(rt->mind, it->id);
	rt_emit(rt, "conversation.item.truncated",
		json_pack("{s:s, s:i, s:I}", "item_id", it->id, "content_index", 0, "audio_end_ms",
			  end));
}
