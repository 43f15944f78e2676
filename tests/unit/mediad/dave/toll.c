#include "tests/unit/mediad/dave/toll.h"

#include "tests/test.h"

unsigned toll_count(const char *log, const char *word)
{
	unsigned n = 0;

	for (const char *p = log; (p = strstr(p, word)); p++)
		n++;
	return n;
}

void toll_answer(struct script *t, uint16_t *id, uint64_t speaker)
{
	if (!t->job)
		return;
	script_done(t);
	script_mls(t, 30, *id);
	script_done(t);
	script_op(t, 22, (*id)++, 0, 0);
	if (speaker)
		dave_session_proof(t->s, t->now, speaker, t->serial);
}

void toll_epoch(struct script *t, uint16_t *id)
{
	script_epoch(t, *id);
	script_op(t, 22, (*id)++, 0, 0);
}

void toll_join_again(struct script *t, const char *said, unsigned *rejoins)
{
	if (!strstr(said, "rejoin"))
		return;
	++*rejoins;
	CHECK_INT(script_again(t), 0);
	script_settled(t);
}

void toll_take(struct script *t, uint16_t *id, struct toll *n)
{
	const char *said;

	toll_answer(t, id, 0);
	said = script_said(t);
	n->rekeys += toll_count(said, "op31");
	toll_join_again(t, said, &n->rejoins);
}
