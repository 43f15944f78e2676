/* Threads of text channels and posts of forums ("Threads" of Discord's documentation): channels
 * with a parent, whose permissions hold. */
#ifndef GUILDD_THREADS_H
#define GUILDD_THREADS_H

#include "tests/guildd/guildd.h"
#include "tests/guildd/world.h"

struct gd_thread_in {
	const struct gd_user *owner;
	const char *name;
	uint64_t message;    /* from which it is started, which gives it its id; 0: from none */
	bool private;	     /* only its members see it */
	const char *content; /* of a forum: the post */
};

/* Tells those who see the parent. EINVAL: nothing can start there. EEXIST: the message has one.
 * ENOENT: there is no such message. ENOMEM. */
int gd_thread_start(struct guildd *g, struct gd_channel **out, struct gd_channel *parent,
		    const struct gd_thread_in *in);
void gd_thread_archive(struct guildd *g, struct gd_channel *t, bool archived, bool locked);
void gd_thread_delete(struct guildd *g, struct gd_channel *t);
/* ENOMEM. */
int gd_thread_join(struct guildd *g, struct gd_channel *t, const struct gd_user *user);
void gd_thread_leave(struct guildd *g, struct gd_channel *t, const struct gd_user *user);
/* Who has joined, as Discord's thread members; caller owns it. */
json_t *gd_thread_members_json(const struct gd_channel *t);

#endif
