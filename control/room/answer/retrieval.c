#include "control/room/answer/retrieval.h"

#include <stdlib.h>
#include <string.h>

#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/text.h"
#include "control/room/base/turns.h"
#include "control/room/floor/address.h"
#include "control/room/hearing/eot_prediction.h"
#include "control/room/turn/turn_queue.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

static bool is_ready(const struct room_retrieval *r, const char *words)
{
	return r->ready && *r->words && room_same_words(r->words, words);
}

static void request_slice(struct room_retrieval *r, struct room_context *context, uint64_t user,
			  const char *words)
{
	struct room_effect *e;
	const char *kept = room_text_of(context, words, strlen(words));

	if (!kept)
		return;
	utf8_copy(r->words, sizeof r->words, words);
	r->ready = false;
	r->items = 0;
	r->slice[0] = '\0';
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
	bool runs = *r->words && !r->ready;
	char text[ROOM_TEXT_MAX];

	if (runs || place == ROOM_SPEAKERS)
		return;
	room_eot_prediction_text(context, place, text, sizeof text);
	if (count_words(text) < ROOM_RETRIEVAL_WORDS || is_ready(r, text) ||
	    (room_address(context->names, text) != ROOM_ADDRESS_ADDRESSED &&
	     room_people_present(context) != 1))
		return;
	request_slice(r, context, user, text);
}

/* Ids as "f12 u7": facts and lines of the timeline. */
static void read_items(struct room_retrieval *r, struct slice text)
{
	char ids[ROOM_RETRIEVAL_ITEMS * 12 + 1], *p = ids, *end;
	size_t n = text.n < sizeof ids - 1 ? text.n : sizeof ids - 1;

	memcpy(ids, text.p, n);
	ids[n] = '\0';
	while (r->items < ROOM_RETRIEVAL_ITEMS && (*p == 'f' || *p == 'u')) {
		r->item[r->items].line = *p == 'u';
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
	if (!ev->yes || !end)
		return;
	n = ev->text.n - ids - 1;
	n = n < ROOM_RETRIEVAL_MAX ? n : ROOM_RETRIEVAL_MAX;
	memcpy(r->slice, end + 1, n);
	r->slice[n] = '\0';
	utf8_mend(r->slice);
	read_items(r, (struct slice){ev->text.p, ids});
}

void room_retrieval_on_event(struct room_retrieval *r, struct room_context *context,
			     const struct room_event *ev)
{
	if (ev->type == ROOM_MEMORY)
		r->present = ev->yes;
	else if (ev->type == ROOM_RETRIEVED)
		take_slice(r, ev);
	else if (ev->type == ROOM_PARTIAL && r->present)
		follow_interim(r, context, ev->user);
}

void room_retrieval_tick(struct room_retrieval *r, struct room_context *context)
{
	const struct room_turn *t = r->present ? room_turn_queued(context) : NULL;

	if (t && !room_same_words(r->words, t->transcript))
		request_slice(r, context, t->user, t->transcript);
}

uint64_t room_retrieval_until(const struct room_context *context, const struct room_turn *turn)
{
	const struct room_retrieval *r = context->retrieval;

	if (!r->present || is_ready(r, turn->transcript))
		return 0;
	return turn->queued_at + context->settings->memory_wait_ms * NS_PER_MS;
}

const char *room_retrieval_slice(const struct room_context *context, const struct room_turn *turn)
{
	const struct room_retrieval *r = context->retrieval;

	return r->present && is_ready(r, turn->transcript) ? r->slice : "";
}

void room_retrieval_note(const struct room_context *context, struct room_turn *turn)
{
	const struct room_retrieval *r = context->retrieval;
	uint64_t from = turn->queued_at ? turn->queued_at : context->now;
	bool ready = is_ready(r, turn->transcript);

	if (!r->present || !*turn->transcript)
		return;
	room_turn_decide(turn, ROOM_RULE_MEMORY, ready,
			 (int64_t)((context->now - from) / NS_PER_MS),
			 context->settings->memory_wait_ms);
	for (unsigned i = 0; ready && i < r->items; i++)
		room_turn_decide(turn,
				 r->item[i].line ? ROOM_RULE_MEMORY_LINE : ROOM_RULE_MEMORY_FACT,
				 true, r->item[i].id, 0);
}
