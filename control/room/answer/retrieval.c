#include "control/room/answer/retrieval.h"

#include <stdlib.h>
#include <string.h>

#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/text.h"
#include "control/room/base/turns.h"
#include "control/room/floor/address.h"
#include "control/room/hearing/eot_prediction.h"
#include "control/room/turn/history.h"
#include "control/room/turn/turn_queue.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

/* A number for the people who are in the channel now (FNV-1a over their ids). */
static uint64_t hash_audience(const struct room_context *context)
{
	const struct room_people *people = context->people;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (unsigned i = 0; i < people->places; i++)
		if (people->person[i].used && !people->person[i].is_bot)
			hash = (hash ^ people->person[i].user) * UINT64_C(0x100000001b3);
	return hash;
}

/* The newest request is for this person's words, before the people who listen now. */
static bool is_asked(const struct room_retrieval *r, const struct room_context *context,
		     uint64_t user, const char *words)
{
	return *r->words && r->user == user && r->audience == hash_audience(context) &&
	       room_same_words(r->words, words);
}

static bool is_ready(const struct room_retrieval *r, const struct room_context *context,
		     uint64_t user, const char *words)
{
	return r->ready && is_asked(r, context, user, words);
}

static void clear_slice(struct room_retrieval *r)
{
	if (*r->words)
		*r = (struct room_retrieval){.present = r->present,
					     .number = r->number,
					     .searched = r->searched,
					     .private_to = r->private_to};
}

/* An answer to the newest request would be ignored from now on. */
static void drop_request(struct room_retrieval *r)
{
	if (*r->words)
		r->number++;
	clear_slice(r);
}

static void request_slice(struct room_retrieval *r, struct room_context *context, uint64_t user,
			  const char *words)
{
	struct room_effect *e;
	const char *kept = room_text_of(context, words, strlen(words));

	if (!kept)
		return;
	clear_slice(r);
	utf8_copy(r->words, sizeof r->words, words);
	r->user = user;
	r->audience = hash_audience(context);
	e = room_emit(context, ROOM_DO_RETRIEVE);
	e->user = user;
	e->chunk = ++r->number;
	e->text = kept;
}

static unsigned count_words(const char *text)
{
	unsigned n = 0;

	while (*(text += strspn(text, " ")) && n < ROOM_RETRIEVAL_WORDS) {
		text += strcspn(text, " ");
		n++;
	}
	return n;
}

/* One request at a time: the final transcript alone replaces one that runs. */
static void follow_interim(struct room_retrieval *r, struct room_context *context, uint64_t user)
{
	unsigned place = room_place(context, user);
	bool runs = *r->words && !r->ready && r->audience == hash_audience(context);
	char text[ROOM_TEXT_MAX];

	if (runs || place == ROOM_SPEAKERS)
		return;
	room_eot_prediction_text(context, place, text, sizeof text);
	if (count_words(text) < ROOM_RETRIEVAL_WORDS || is_ready(r, context, user, text) ||
	    (room_address(context->names, text) != ROOM_ADDRESS_ADDRESSED &&
	     room_people_present(context) != 1))
		return;
	request_slice(r, context, user, text);
}

static enum room_rule rule_of(char kind)
{
	return kind == 'u'   ? ROOM_RULE_MEMORY_LINE
	       : kind == 's' ? ROOM_RULE_MEMORY_SUMMARY
			     : ROOM_RULE_MEMORY_FACT;
}

/* Ids as "f12 p3 u7 s40": facts of the server, private facts, lines of the timeline, and the last
 * lines that summaries cover. */
static void read_items(struct room_retrieval *r, struct slice text)
{
	char ids[ROOM_RETRIEVAL_ITEMS * 12 + 1], *p = ids, *end;
	size_t n = text.n < sizeof ids - 1 ? text.n : sizeof ids - 1;

	memcpy(ids, text.p, n);
	ids[n] = '\0';
	while (r->items < ROOM_RETRIEVAL_ITEMS && *p && strchr("fpus", *p)) {
		r->item[r->items].rule = rule_of(*p);
		r->item[r->items].private = *p == 'p';
		r->item[r->items].id = (uint32_t)strtoul(p + 1, &end, 10);
		r->items += end > p + 1;
		p = end + (*end == ' ');
	}
}

static void take_slice(struct room_retrieval *r, const struct room_event *ev)
{
	const uint8_t *end = ev->text.n ? memchr(ev->text.p, '\n', ev->text.n) : NULL;
	size_t ids = end ? (size_t)(end - ev->text.p) : ev->text.n, n;

	if (r->ready || ev->chunk != r->number)
		return;
	r->ready = true;
	r->failed = !ev->yes;
	if (!ev->yes || !end)
		return;
	n = ev->text.n - ids - 1;
	n = n < ROOM_RETRIEVAL_MAX ? n : ROOM_RETRIEVAL_MAX;
	memcpy(r->slice, end + 1, n);
	r->slice[n] = '\0';
	utf8_mend(r->slice);
	read_items(r, (struct slice){ev->text.p, ids});
}

static void tell_privately(struct room_retrieval *r, struct room_turn *t)
{
	t->told_private = true;
	r->private_to = t->user;
}

void room_retrieval_on_event(struct room_retrieval *r, struct room_context *context,
			     const struct room_event *ev)
{
	struct room_turn *t = NULL;

	if (ev->type == ROOM_PRIVATE_TOLD)
		t = room_turn_by_id(context, ev->turn);
	if (t)
		tell_privately(r, t);
	if (ev->type == ROOM_MEMBER && !room_is_alone(context, r->private_to))
		r->private_to = 0;
	if (ev->type == ROOM_MEMORY)
		r->present = ev->yes;
	else if (ev->type == ROOM_SETTINGS || ev->type == ROOM_WITHDRAWN ||
		 (ev->type == ROOM_EDITED && room_history_edited(context->history)))
		drop_request(r);
	else if (ev->type == ROOM_RETRIEVED)
		take_slice(r, ev);
	else if (ev->type == ROOM_PARTIAL && r->present)
		follow_interim(r, context, ev->user);
}

void room_retrieval_tick(struct room_retrieval *r, struct room_context *context)
{
	const struct room_turn *t = r->turn ? room_turn_by_id(context, r->turn) : NULL;

	if (r->turn && (!t || t->phase == ROOM_PHASE_ENDED))
		drop_request(r);
	t = r->present ? room_turn_queued(context) : NULL;
	if (!t)
		return;
	if (!is_asked(r, context, t->user, t->transcript))
		request_slice(r, context, t->user, t->transcript);
	r->searched = t->id;
}

uint64_t room_retrieval_until(const struct room_context *context, const struct room_turn *turn)
{
	const struct room_retrieval *r = context->retrieval;

	if (!r->present || is_ready(r, context, turn->user, turn->transcript))
		return 0;
	return turn->queued_at + context->settings->memory_wait_ms * NS_PER_MS;
}

const char *room_retrieval_slice(const struct room_context *context, const struct room_turn *turn)
{
	const struct room_retrieval *r = context->retrieval;

	return r->present && is_ready(r, context, turn->user, turn->transcript) ? r->slice : "";
}

void room_retrieval_note(const struct room_context *context, struct room_turn *turn)
{
	struct room_retrieval *r = context->retrieval;
	uint64_t from = turn->queued_at ? turn->queued_at : context->now;
	bool ready = is_ready(r, context, turn->user, turn->transcript);
	unsigned recalled = room_history_count_recalled(context->history);

	turn->told_private = turn->told_private || r->private_to;
	if (recalled)
		room_turn_decide(turn, ROOM_RULE_MEMORY_RECALLED, true, recalled, 0);
	/* Nothing is searched for prompts of ours, nor for an answer that is begun without a wait.
	 */
	if (!r->present || !*turn->transcript ||
	    (r->searched != turn->id && !is_asked(r, context, turn->user, turn->transcript)))
		return;
	room_turn_decide(turn, ROOM_RULE_MEMORY, ready && !r->failed,
			 (int64_t)((context->now - from) / NS_PER_MS),
			 context->settings->memory_wait_ms);
	if (ready)
		r->turn = turn->id;
	for (unsigned i = 0; ready && i < r->items; i++) {
		room_turn_decide(turn, r->item[i].rule, true, r->item[i].id, 0);
		if (r->item[i].private)
			tell_privately(r, turn);
	}
}
