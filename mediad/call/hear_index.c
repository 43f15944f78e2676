/* Finds persons by SSRC and by claim, and those with a slot. Op 5 comes as often as the voice
 * server likes, and a call may name thousands. */
#include "mediad/call/call_internal.h"
#include "mediad/engine/ssrc_hash.h"

static struct ssrc_bucket *find_bucket(struct ssrc_bucket *table, uint32_t ssrc)
{
	return &table[ssrc_hash(ssrc) % CALL_SSRC_BUCKETS];
}

static void unlink_ssrc(struct ssrc_bucket *b, struct ssrc_link *l)
{
	*(l->prev ? &l->prev->next : &b->first) = l->next;
	*(l->next ? &l->next->prev : &b->last) = l->prev;
}

static void append_ssrc(struct ssrc_bucket *b, struct ssrc_link *l)
{
	l->prev = b->last;
	l->next = NULL;
	*(b->last ? &b->last->next : &b->first) = l;
	b->last = l;
}

/* Moves a link of p to the list of another SSRC; 0: to none. */
static void move_link(struct ssrc_bucket *table, struct ssrc_link *l, struct person *p,
		      uint32_t ssrc)
{
	if (l->ssrc)
		unlink_ssrc(find_bucket(table, l->ssrc), l);
	l->person = p;
	l->ssrc = ssrc;
	if (ssrc)
		append_ssrc(find_bucket(table, ssrc), l);
}

static struct person *find_oldest(struct ssrc_bucket *table, uint32_t ssrc)
{
	struct ssrc_link *l = ssrc ? find_bucket(table, ssrc)->first : NULL;

	while (l && l->ssrc != ssrc)
		l = l->next;
	return l ? l->person : NULL;
}

void hear_set_ssrc(struct call *c, struct person *p, uint32_t ssrc)
{
	move_link(c->owners, &p->owned, p, ssrc);
	p->ssrc = ssrc;
}

void hear_set_claim(struct call *c, struct person *p, uint32_t ssrc)
{
	move_link(c->claimants, &p->claimed, p, ssrc);
	p->claim = ssrc;
}

struct person *hear_find_owner(struct call *c, uint32_t ssrc)
{
	return find_oldest(c->owners, ssrc);
}

struct person *hear_find_claimant(struct call *c, uint32_t ssrc)
{
	return find_oldest(c->claimants, ssrc);
}

void hear_set_slot(struct call *c, struct person *p, struct slot *s)
{
	if (s && !p->slot) {
		p->lent_at = c->n_lent;
		c->with_slot[c->n_lent++] = p;
	} else if (!s && p->slot) {
		c->with_slot[p->lent_at] = c->with_slot[--c->n_lent];
		c->with_slot[p->lent_at]->lent_at = p->lent_at;
	}
	p->slot = s;
}
