#include "mediad/dave/session_internal.h"

#include <stdlib.h>

static void emit_action(struct dave_session *s, const struct dave_action *a)
{
	s->conf.acth(a, s->conf.arg);
}

static void emit_text(struct dave_session *s, uint8_t op, uint16_t transition)
{
	emit_action(s, &(struct dave_action){.kind = DAVE_ACT_TEXT, .text = {op, transition}});
}

static void emit_binary(struct dave_session *s, uint8_t op, const struct dave_bytes *b)
{
	emit_action(s,
		    &(struct dave_action){.kind = DAVE_ACT_BINARY, .binary = {op, {b->p, b->n}}});
}

static void free_bytes(struct dave_bytes *b)
{
	free(b->p);
	*b = (struct dave_bytes){0};
}

void dave_send_text(struct dave_session *s, uint8_t op, uint16_t transition)
{
	if (!s->offline) {
		emit_text(s, op, transition);
		return;
	}
	if (s->n_held_texts == DAVE_HELD_MAX)
		memmove(s->held_texts, s->held_texts + 1,
			--s->n_held_texts * sizeof s->held_texts[0]);
	s->held_texts[s->n_held_texts++] = (struct dave_held_text){op, transition};
}

void dave_send_binary(struct dave_session *s, uint8_t op, struct dave_bytes *payload)
{
	struct dave_bytes *held = op == DAVE_OP_KEY_PACKAGE ? &s->held_package : &s->held_commit;

	if (s->offline) {
		/* Only the last one of each kind counts. */
		free_bytes(held);
		*held = *payload;
		*payload = (struct dave_bytes){0};
		return;
	}
	emit_binary(s, op, payload);
	free_bytes(payload);
}

void dave_send_forget_commit(struct dave_session *s)
{
	free_bytes(&s->held_commit);
}

void dave_send_held(struct dave_session *s)
{
	unsigned n = s->n_held_texts;

	s->offline = false;
	s->n_held_texts = 0;
	for (unsigned i = 0; i < n; i++)
		emit_text(s, s->held_texts[i].op, s->held_texts[i].transition);
	if (s->held_package.n)
		emit_binary(s, DAVE_OP_KEY_PACKAGE, &s->held_package);
	if (s->held_commit.n)
		emit_binary(s, DAVE_OP_COMMIT_WELCOME, &s->held_commit);
	free_bytes(&s->held_package);
	free_bytes(&s->held_commit);
}

void dave_send_epoch(struct dave_session *s, const struct dave_epoch *e)
{
	emit_action(s, &(struct dave_action){.kind = DAVE_ACT_EPOCH, .epoch = e});
}

/* A key that is set again after a later one begins its nonces anew (dave_sealer_set), which would
 * reveal what was encrypted before. The gateway alone orders the transitions. */
void dave_send_sealing(struct dave_session *s, const struct dave_epoch *e)
{
	if (s->sending == e || (e && e->serial < s->sealed))
		return;
	s->sending = e;
	s->sealed = e ? e->serial : s->sealed;
	emit_action(s, &(struct dave_action){.kind = DAVE_ACT_SEND, .epoch = e});
}

void dave_send_clear(struct dave_session *s, bool send, uint64_t receive_until)
{
	if (s->send_clear == send && s->clear_until == receive_until)
		return;
	s->send_clear = send;
	s->clear_until = receive_until;
	emit_action(s,
		    &(struct dave_action){.kind = DAVE_ACT_CLEAR, .clear = {send, receive_until}});
}

void dave_send_code(struct dave_session *s, uint64_t user, const char *code)
{
	emit_action(s, &(struct dave_action){.kind = DAVE_ACT_CODE, .code = {user, code}});
}

static void update_privacy_code(struct dave_session *s, const struct dave_epoch *e)
{
	if (!e || dave_privacy_code(s->status.privacy_code, e->authenticator))
		s->status.privacy_code[0] = '\0';
}

static bool same_status(const struct dave_status *a, const struct dave_status *b)
{
	return a->version == b->version && a->known == b->known && a->ready == b->ready &&
	       a->pending == b->pending && a->epoch == b->epoch &&
	       strcmp(a->privacy_code, b->privacy_code) == 0 && a->members == b->members &&
	       a->heal == b->heal && a->undecryptable == b->undecryptable &&
	       a->recovers == b->recovers && a->resumes == b->resumes && a->rejoins == b->rejoins &&
	       a->invalid == b->invalid && a->executes == b->executes;
}

void dave_send_state(struct dave_session *s)
{
	const struct dave_epoch *e = s->in_group && s->n_epochs ? s->epochs[0].epoch : NULL;
	const struct dave_heal_state *l = s->conf.heal;
	struct dave_status *st = &s->status;

	st->ready = st->known && (st->version == 0 || s->sending);
	st->pending = s->n_pending > 0;
	update_privacy_code(s, e);
	st->epoch = e ? e->number : 0;
	st->members = e ? e->n : 0;
	st->undecryptable = (uint32_t)s->n_undecryptable + dave_speakers_given_up(s);
	st->heal = l->last;
	st->recovers = l->recovers;
	st->resumes = l->resumes;
	st->rejoins = l->rejoins;
	st->invalid = l->invalid;
	st->executes = l->executes;
	if (same_status(st, &s->reported))
		return;
	s->reported = *st;
	emit_action(s, &(struct dave_action){.kind = DAVE_ACT_STATE});
}
