#include "control/text/missed.h"

#include <string.h>

#include "control/text/incoming.h"
#include "control/text/taken.h"
#include "control/text/text_chat.h"
#include "proto/discord.h"

/* Discord's ids hold the milliseconds since then above the lower 22 bits. */
#define EPOCH_MS UINT64_C(1420070400000)

uint64_t missed_id_of(uint64_t ms)
{
	return ms > EPOCH_MS ? (ms - EPOCH_MS) << 22 : 0;
}

uint64_t missed_ms_of(uint64_t id)
{
	return (id >> 22) + EPOCH_MS;
}

static uint64_t id_at(const json_t *object, const char *key)
{
	uint64_t id = 0;

	discord_snowflake(json_string_value(json_object_get(object, key)), &id);
	return id;
}

/* The bot's own, of which Discord says "me". */
static void read_reactions(struct missed_page *out, uint64_t message, const json_t *list)
{
	const json_t *r;
	size_t i;

	json_array_foreach(list, i, r)
	{
		const char *name =
			json_string_value(json_object_get(json_object_get(r, "emoji"), "name"));

		if (!name || !json_is_true(json_object_get(r, "me")) ||
		    out->n_put == MISSED_REACTIONS)
			continue;
		out->put[out->n_put++] = taken_reaction_mark(message, name);
	}
}

void missed_read(struct missed_page *out, const json_t *list, uint64_t self)
{
	const json_t *m;
	size_t i;

	*out = (struct missed_page){0};
	json_array_foreach(list, i, m)
	{
		const char *words = json_string_value(json_object_get(m, "content"));
		uint64_t id = id_at(m, "id");

		if (out->messages == MISSED_MOST)
			break;
		out->messages++;
		if (id && (!out->oldest || id < out->oldest))
			out->oldest = id;
		read_reactions(out, id, json_object_get(m, "reactions"));
		if (!id || id_at(json_object_get(m, "author"), "id") != self)
			continue;
		out->own[out->n].works =
			words && strncmp(words, TEXT_WORKING_MARK, strlen(TEXT_WORKING_MARK)) == 0;
		out->own[out->n].message = id;
		out->own[out->n].replies_to =
			id_at(json_object_get(m, "message_reference"), "message_id");
		out->own[out->n++].mark = words ? taken_mark(words) : 0;
	}
}

/* A message of the bot with the same words may answer another one: one that it replies to, and that
 * did not share this answer. */
static bool is_answer(const struct missed_page *page, size_t i, struct taken_table *taken,
		      const struct taken *row, uint64_t message)
{
	uint64_t to = page->own[i].replies_to;
	const struct taken *other;

	if (page->own[i].works || page->own[i].message < message)
		return false;
	if (to == message)
		return true;
	if (!row || !taken_answer_mark(row) || page->own[i].mark != row->mark)
		return false;
	other = to ? taken_find(taken, to) : NULL;
	return !to || (other && taken_answer_mark(other) == row->mark);
}

/* Of a burst one message has the reaction; the rows of all have its mark. */
static bool has_reaction(const struct missed_page *page, const struct taken *row)
{
	for (size_t i = 0; row && taken_answer_mark(row) && i < page->n_put; i++)
		if (page->put[i] == row->mark)
			return true;
	return false;
}

enum missed_what missed_judge(const struct missed_page *page, struct taken_table *taken,
			      const struct incoming *message, uint64_t since, bool *reply)
{
	const struct taken *row = taken_find(taken, message->message);
	bool answered = false;

	*reply = false;
	if (message->self || message->bot || (row && (row->state == TAKEN_ENDED || !row->before)))
		return MISSED_DONE;
	for (size_t i = 0; i < page->n && !answered; i++) {
		answered = is_answer(page, i, taken, row, message->message);
		*reply = answered && page->own[i].replies_to != 0;
	}
	if (!answered && has_reaction(page, row))
		return MISSED_REACTED;
	/* The limits hold for those that are missed, however often a control begins. */
	if (row)
		return answered			  ? MISSED_ANSWERED
		       : row->state == TAKEN_LATE ? MISSED_LATE
						  : MISSED_OWED;
	return answered || message->message < since ||
			       taken_may_have_dropped(taken, message->message, message->user,
						      message->guild)
		       ? MISSED_DONE
		       : MISSED_LATE;
}
