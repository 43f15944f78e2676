#include "tests/standins/link_inside.h"
#include "tests/standins/record.h"

#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"

static void entry_free(struct si_entry *e)
{
	free(e->data);
	free(e);
}

void si_plans_free(struct si_link *l)
{
	while (l->plans) {
		struct si_entry *e = l->plans;

		l->plans = e->next;
		entry_free(e);
	}
}

/* Sends a body in chunks of at most l->split bytes. */
static void chunk_send(struct si_link *l, const uint8_t *data, size_t n)
{
	size_t most = l->split ? l->split : n;

	while (n && !l->dead) {
		size_t m = n < most ? n : most;
		char head[24];
		int k = snprintf(head, sizeof head, "%zx\r\n", m);

		si_link_write(l, head, (size_t)k);
		si_link_write(l, data, m);
		si_link_write(l, "\r\n", 2);
		data += m;
		n -= m;
	}
}

static void stream_end(struct si_link *l)
{
	si_link_write(l, "0\r\n\r\n", 5);
	l->state = SI_HEAD;
	if (l->ops) {
		l->ops->free(l->session);
		l->ops = NULL;
	}
	if (l->head.close)
		si_link_end(l);
	else
		si_link_read(l);
}

static void entry_send(struct si_link *l, const struct si_entry *e)
{
	const struct si_plan *p = &e->plan;
	struct si_acts acts;

	if (p->piece)
		si_link_fire(l, SI_AUDIO, &acts);
	if (l->dead || l->frozen)
		return;
	switch (p->out) {
	case SI_OUT_TEXT:
	case SI_OUT_BINARY:
		si_record_message(l->st->record, l->number, "out", p->out == SI_OUT_TEXT,
				  (const char *)e->data, p->n);
		si_socket_send(l, p->out == SI_OUT_TEXT ? SI_TEXT : SI_BINARY, e->data, p->n);
		break;
	case SI_OUT_CHUNK:
		si_record_message(l->st->record, l->number, "out", true, (const char *)e->data,
				  p->n);
		chunk_send(l, e->data, p->n);
		break;
	case SI_OUT_END:
		stream_end(l);
		break;
	case SI_OUT_CLOSE:
		si_socket_close(l, p->code, (const char *)e->data, p->n);
		break;
	case SI_OUT_CALL:
		p->h(p->arg);
		break;
	}
}

/* Sends what is due. A handler may plan more, which is sent here too. */
void si_plans_flush(struct si_link *l)
{
	if (l->flushing)
		return;
	l->flushing = true;
	while (!l->dead && l->plans && l->plans->due <= si_now()) {
		struct si_entry *e = l->plans;

		l->plans = e->next;
		entry_send(l, e);
		entry_free(e);
	}
	l->flushing = false;
	if (!l->dead && l->plans) {
		uint64_t now = si_now(), wait = l->plans->due > now ? l->plans->due - now : 0;
		struct timeval tv = {.tv_sec = (time_t)(wait / NS_PER_S),
				     .tv_usec = (suseconds_t)(wait % NS_PER_S / NS_PER_US) + 1};

		event_add(l->timer, &tv);
	}
}

void si_plan(struct si_link *l, const struct si_plan *plan)
{
	struct si_entry **at = &l->plans, *e;

	if (l->dead || l->frozen)
		return;
	e = si_alloc(sizeof *e);
	e->plan = *plan;
	e->due = si_now() + plan->after_ms * NS_PER_MS;
	if (plan->n)
		e->data = memcpy(si_alloc(plan->n), plan->data, plan->n);
	while (*at && (*at)->due <= e->due)
		at = &(*at)->next;
	e->next = *at;
	*at = e;
	si_plans_flush(l);
}

void si_plan_json(struct si_link *l, const struct si_plan *plan, json_t *root)
{
	struct si_plan p = *plan;
	char *text;

	if (l->extra && json_is_object(root)) {
		json_object_set_new(root, "x_unknown", json_pack("{s:[i]}", "deep", 1));
		json_object_set_new(root, "obfuscation", json_string("aBcD"));
	}
	text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	if (!text)
		abort(); /* an event of ours that is no JSON is a fault of this program */
	p.data = text;
	p.n = strlen(text);
	si_plan(l, &p);
	free(text);
}

size_t si_plan_drop(struct si_link *l, uint32_t tag, size_t keep)
{
	struct si_entry **at = &l->plans;
	size_t dropped = 0;

	while (*at) {
		struct si_entry *e = *at;
		bool kept = e->plan.tag != tag || (e->plan.piece && keep && keep--);

		if (kept) {
			at = &e->next;
			continue;
		}
		dropped += e->plan.piece;
		*at = e->next;
		entry_free(e);
	}
	return dropped;
}
