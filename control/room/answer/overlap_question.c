#include "control/room/answer/overlap_question.h"

#include <stdio.h>

#include "control/prompts/prompts.def"
#include "control/room/base/context.h"
#include "control/room/base/turns.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { PROMPT_MAX = 8192, PEOPLE_MAX = 2048 };

bool room_overlap_question_possible(const struct room_context *context, unsigned place,
				    uint32_t utterance)
{
	const struct room_overlap_questions *q = context->overlap_questions;

	return context->settings->classify_interruptions && utterance > q->of[place].utterance &&
	       !room_breaker_open(&q->breaker, context->now) &&
	       context->texts.n + PROMPT_MAX <= ROOM_TEXTS_MANY;
}

/* Always terminated. */
static void write_prompt(const struct room_context *context, unsigned place,
			 const struct room_turn *answer, const char *words, char *buf)
{
	const struct settings *s = context->settings;
	const char *own = s->classify_interruption_prompt;
	char people[PEOPLE_MAX];

	room_classifier_people(context, people, sizeof people);
	snprintf(buf, PROMPT_MAX, PROMPT_INTERRUPT_DECISION, context->name,
		 room_people_present(context), people, *answer->name ? answer->name : "everybody",
		 room_classifier_cut(answer->answer, s->classify_chars),
		 context->people->person[place].name, room_classifier_cut(words, s->classify_chars),
		 *own ? own : PROMPT_INTERRUPT_QUESTION);
	utf8_mend(buf);
}

void room_overlap_question_ask(struct room_context *context, unsigned place,
			       struct room_turn *answer, uint32_t utterance, const char *words)
{
	struct room_overlap_question *q = &context->overlap_questions->of[place];
	const struct settings *s = context->settings;
	char *prompt = room_text(context, PROMPT_MAX, ROOM_TEXTS_MANY);
	struct room_effect *e;

	if (!prompt)
		return;
	write_prompt(context, place, answer, words, prompt);
	*q = (struct room_overlap_question){
		.number = room_classifier_number(context),
		.utterance = utterance,
		.turn = answer->id,
		.verdict = ROOM_OVERLAP_ASKED,
		.asked_at = context->now,
		.deadline = context->now + s->classify_interruption_ms * NS_PER_MS,
	};
	e = room_emit(context, ROOM_DO_CLASSIFY_OVERLAP);
	e->user = context->people->person[place].user;
	e->utterance = utterance;
	e->turn = answer->id;
	e->chunk = q->number;
	e->text = room_text_keep(context, prompt);
	e->ms = s->classify_interruption_ms;
}

enum room_overlap_verdict room_overlap_question_verdict(const struct room_context *context,
							unsigned place, uint32_t utterance)
{
	const struct room_overlap_question *q = &context->overlap_questions->of[place];

	return utterance && q->utterance == utterance ? q->verdict : ROOM_OVERLAP_NONE;
}

/* The words of a turn are those of its last segment: the utterance that was asked about last. */
static unsigned find_question(const struct room_context *context, const struct room_turn *turn)
{
	const struct room_segment *last =
		turn->segments ? &turn->segment[turn->segments - 1] : NULL;
	unsigned place = last ? room_place(context, last->user) : ROOM_SPEAKERS;

	if (place < ROOM_SPEAKERS && turn->user == last->user &&
	    context->overlap_questions->of[place].utterance == last->utterance)
		return place;
	return ROOM_SPEAKERS;
}

enum room_overlap_verdict room_overlap_verdict(const struct room_context *context,
					       const struct room_turn *turn)
{
	unsigned place = find_question(context, turn);

	return place < ROOM_SPEAKERS ? context->overlap_questions->of[place].verdict
				     : ROOM_OVERLAP_NONE;
}

void room_overlap_await(struct room_context *context, struct room_turn *turn)
{
	const struct room_overlap_question *q =
		&context->overlap_questions->of[find_question(context, turn)];

	turn->phase = ROOM_PHASE_CLASSIFYING;
	turn->question = q->number;
	turn->overlap_judged = true;
	turn->deadline = q->deadline;
}

unsigned room_overlap_question_place(const struct room_context *context, uint32_t number)
{
	const struct room_overlap_question *q = context->overlap_questions->of;

	for (unsigned i = 0; i < context->people->places; i++)
		if (q[i].verdict == ROOM_OVERLAP_ASKED && q[i].number == number)
			return i;
	return ROOM_SPEAKERS;
}

struct room_overlap_question room_overlap_question_close(struct room_context *context,
							 unsigned place, int answer)
{
	struct room_overlap_question *q = &context->overlap_questions->of[place];
	struct room_turn *over = room_turn_by_id(context, q->turn);
	int64_t took = (int64_t)((context->now - q->asked_at) / NS_PER_MS);

	q->verdict = answer > 0	   ? ROOM_OVERLAP_INTERRUPT
		     : answer == 0 ? ROOM_OVERLAP_IGNORE
				   : ROOM_OVERLAP_NONE;
	room_breaker_record(&context->overlap_questions->breaker, context->settings, answer < 0,
			    context->now);
	if (over && over->phase != ROOM_PHASE_ENDED)
		room_turn_decide(over,
				 answer < 0 ? ROOM_RULE_INTERRUPT_UNDECIDED
					    : ROOM_RULE_INTERRUPT_CLASSIFIER,
				 answer != 0, took, context->settings->classify_interruption_ms);
	return *q;
}

unsigned room_overlap_question_late(const struct room_context *context)
{
	const struct room_overlap_question *q = context->overlap_questions->of;

	for (unsigned i = 0; i < context->people->places; i++)
		if (q[i].verdict == ROOM_OVERLAP_ASKED && context->now >= q[i].deadline)
			return i;
	return ROOM_SPEAKERS;
}

uint64_t room_overlap_question_deadline(const struct room_context *context)
{
	const struct room_overlap_question *q = context->overlap_questions->of;
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < context->people->places; i++)
		if (q[i].verdict == ROOM_OVERLAP_ASKED && q[i].deadline < first)
			first = q[i].deadline;
	return first;
}

void room_overlap_question_forget(struct room_context *context, unsigned place)
{
	context->overlap_questions->of[place] = (struct room_overlap_question){0};
}
