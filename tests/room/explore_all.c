/* Everything small: every order of a few ops after each of some beginnings, and every interleaving
 * of what a few people and programs do at the same time. */
#include <stdio.h>
#include <string.h>

#include "tests/room/explore_inside.h"

#define LOUD(user)                                                                                 \
	{                                                                                          \
		.kind = K_LOUD, .who = (user), .ms = EXPLORE_SOUND_MS, .wait = EXPLORE_SOUND_MS    \
	}
#define AUDIO                                                                                      \
	{                                                                                          \
		.kind = K_AUDIO, .ms = EXPLORE_SOUND_MS                                            \
	}
#define TEXT(i)                                                                                    \
	{                                                                                          \
		.kind = K_TEXT, .text = (i)                                                        \
	}
#define VOICE                                                                                      \
	{                                                                                          \
		.kind = K_VOICE, .ms = EXPLORE_SOUND_MS                                            \
	}
#define ONE(k)                                                                                     \
	{                                                                                          \
		.kind = (k)                                                                        \
	}
#define BY(k, user)                                                                                \
	{                                                                                          \
		.kind = (k), .who = (user)                                                         \
	}
#define SAYS(user, i)                                                                              \
	{                                                                                          \
		.kind = K_OWN_WORDS, .who = (user), .text = (i)                                    \
	}
#define YES(k, user)                                                                               \
	{                                                                                          \
		.kind = (k), .who = (user), .pick = 1                                              \
	}
#define TOLD(k, i)                                                                                 \
	{                                                                                          \
		.kind = (k), .text = (i)                                                           \
	}

static void settings(struct explore_policy *p, const char *path)
{
	*p = (struct explore_policy){.n = 2};
	snprintf(p->set[0].name, sizeof p->set[0].name, "guest");
	snprintf(p->set[0].value, sizeof p->set[0].value, "off");
	snprintf(p->set[1].name, sizeof p->set[1].name, "reply_path");
	snprintf(p->set[1].value, sizeof p->set[1].value, "%s", path);
}

/* ---- every order of a few ---- */

enum { LETTERS = 24, FIRST = 12, BEGINNINGS = 8 };

/* A path of answers; a person spoke, was asked for, hears the answer while another speaks; and what
 * may come then. */
static const struct path {
	const char *name;
	struct explore_op first[FIRST], letter[LETTERS];
	unsigned after[BEGINNINGS]; /* so many of the first */
} paths[] = {
	{"native",
	 {YES(K_CALL, 0), BY(K_JOIN, 1), BY(K_JOIN, 2), LOUD(1), LOUD(1), BY(K_END, 1),
	  ONE(K_WORDS), AUDIO, ONE(K_STARTED), LOUD(2)},
	 {ONE(K_TIMER),	    LOUD(1),	      LOUD(2),
	  BY(K_END, 1),	    BY(K_END, 2),     ONE(K_WORDS),
	  TOLD(K_WORDS, 4), ONE(K_NO_WORDS),  AUDIO,
	  ONE(K_DONE),	    ONE(K_FAILED),    ONE(K_STARTED),
	  ONE(K_DRAINED),   ONE(K_STOPPED),   BY(K_LEAVE, 1),
	  ONE(K_CALL),	    TEXT(7),	      BY(K_PARTIAL, 2),
	  YES(K_TOOL, 1),   BY(K_TOOL, 1),    {.kind = K_EOT, .who = 1, .pick = 8},
	  YES(K_MUTE, 0),   TOLD(K_MUSIC, 1), YES(K_CALL, 0)},
	 {2, 5, 7, 8, 9, 10}},
	{"brain",
	 {YES(K_CALL, 0), BY(K_JOIN, 1), BY(K_JOIN, 2), LOUD(1), LOUD(1), BY(K_END, 1),
	  ONE(K_WORDS), TEXT(5), VOICE, ONE(K_STARTED), LOUD(2)},
	 {ONE(K_TIMER),	     LOUD(1),
	  LOUD(2),	     BY(K_END, 1),
	  BY(K_END, 2),	     ONE(K_WORDS),
	  ONE(K_NO_WORDS),   TEXT(0),
	  TEXT(5),	     ONE(K_DONE),
	  ONE(K_FAILED),     VOICE,
	  ONE(K_VOICE_DONE), ONE(K_VOICE_FAILED),
	  ONE(K_SOUNDED),    ONE(K_STARTED),
	  ONE(K_DRAINED),    ONE(K_STOPPED),
	  BY(K_LEAVE, 1),    ONE(K_CALL),
	  BY(K_PARTIAL, 2),  YES(K_TOOL, 1),
	  BY(K_TOOL, 1),     YES(K_MUTE, 0)},
	 {7, 8, 9, 10, 11}},
};

enum { PATHS = sizeof paths / sizeof paths[0] };

static const char *orders_of(struct explore *x, struct explore_run *run, const struct path *p,
			     unsigned depth)
{
	uint64_t words = 1;

	for (unsigned i = 0; i < depth; i++)
		words *= LETTERS;
	settings(&run->policy, p->name);
	for (unsigned b = 0; b < BEGINNINGS && p->after[b]; b++)
		for (uint64_t word = 0; word < words; word++) {
			uint64_t rest = word;

			run->n = p->after[b];
			memcpy(run->op, p->first, run->n * sizeof run->op[0]);
			for (unsigned i = 0; i < depth; i++, rest /= LETTERS)
				run->op[run->n++] = p->letter[rest % LETTERS];
			if (explore_play(x, run, NULL))
				return x->broken;
		}
	return NULL;
}

const char *explore_orders(struct explore *x, struct explore_run *run, unsigned depth)
{
	const char *broken = NULL;

	for (unsigned i = 0; i < PATHS && !broken; i++)
		broken = orders_of(x, run, &paths[i], depth);
	return broken;
}

/* ---- every interleaving of a few ---- */

enum { ACTORS = 4, PART = 6 };

/* Each of the actors does its own in its own order; kind 0 with nothing else is the timer. */
static const struct scene {
	const char *name, *path;
	unsigned firsts; /* of the path's first ops */
	struct {
		unsigned n;
		struct explore_op op[PART];
	} actor[ACTORS];
} scenes[] = {
	{"two ask at once",
	 "native",
	 3,
	 {{4, {LOUD(1), LOUD(1), BY(K_END, 1), SAYS(1, 0)}},
	  {4, {LOUD(2), LOUD(2), BY(K_END, 2), SAYS(2, 0)}},
	  {2, {ONE(K_TIMER), ONE(K_TIMER)}}}},
	{"one answer, and another voice",
	 "native",
	 7,
	 {{3, {TEXT(0), AUDIO, ONE(K_DONE)}},
	  {2, {ONE(K_STARTED), ONE(K_DRAINED)}},
	  {4, {LOUD(2), LOUD(2), BY(K_END, 2), SAYS(2, 3)}},
	  {1, {ONE(K_TIMER)}}}},
	{"the bot's words come back through a microphone",
	 "native",
	 7,
	 {{4, {TEXT(1), AUDIO, AUDIO, ONE(K_STARTED)}},
	  {4, {LOUD(2), LOUD(2), BY(K_END, 2), SAYS(2, SAID_ECHO)}},
	  {1, {ONE(K_TIMER)}}}},
	{"cut, and the call is lost and comes back",
	 "native",
	 9,
	 {{4, {LOUD(1), LOUD(1), LOUD(1), LOUD(1)}},
	  {2, {AUDIO, ONE(K_DONE)}},
	  {2, {ONE(K_CALL), YES(K_CALL, 0)}},
	  {1, {ONE(K_STOPPED)}}}},
	{"who asked goes on, and leaves",
	 "native",
	 6,
	 {{4, {ONE(K_WORDS), LOUD(1), LOUD(1), BY(K_LEAVE, 1)}},
	  {3, {AUDIO, ONE(K_STARTED), ONE(K_STOPPED)}},
	  {1, {ONE(K_DONE)}},
	  {1, {ONE(K_TIMER)}}}},
	{"a tool works while another asks",
	 "native",
	 7,
	 {{2, {YES(K_TOOL, 1), BY(K_TOOL, 1)}},
	  {4, {LOUD(2), LOUD(2), BY(K_END, 2), SAYS(2, 0)}},
	  {2, {ONE(K_DONE), AUDIO}},
	  {1, {ONE(K_TIMER)}}}},
	{"a speculative answer",
	 "native",
	 5,
	 {{4, {{.kind = K_EOT, .who = 1, .pick = 8}, LOUD(1), BY(K_END, 1), SAYS(1, 0)}},
	  {2, {AUDIO, ONE(K_DONE)}},
	  {2, {ONE(K_STARTED), ONE(K_DRAINED)}},
	  {1, {ONE(K_TIMER)}}}},
	{"music begins while somebody asks",
	 "native",
	 4,
	 {{3, {TOLD(K_MUSIC, 0), {.kind = K_MUSIC, .text = 1, .pick = 1}, TOLD(K_MUSIC, 3)}},
	  {3, {LOUD(1), BY(K_END, 1), SAYS(1, 0)}},
	  {3, {AUDIO, ONE(K_STARTED), ONE(K_STOPPED)}}}},
	{"an answer that is read out, and a voice",
	 "brain",
	 7,
	 {{2, {TEXT(5), ONE(K_DONE)}},
	  {3, {VOICE, ONE(K_VOICE_DONE), ONE(K_SOUNDED)}},
	  {2, {ONE(K_STARTED), ONE(K_DRAINED)}},
	  {2, {LOUD(1), LOUD(1)}}}},
	{"an answer that is read out is cut",
	 "brain",
	 10,
	 {{4, {LOUD(1), LOUD(1), LOUD(1), LOUD(1)}},
	  {2, {VOICE, ONE(K_VOICE_DONE)}},
	  {2, {TEXT(1), ONE(K_DONE)}},
	  {1, {ONE(K_STOPPED)}}}},
};

enum { SCENES = sizeof scenes / sizeof scenes[0] };

static const struct path *path_of(const char *name)
{
	for (unsigned i = 0; i < PATHS; i++)
		if (strcmp(paths[i].name, name) == 0)
			return &paths[i];
	return NULL;
}

/* The next op is one of an actor that has some left; when none has, it is played. */
static const char *interleave(struct explore *x, struct explore_run *run, const struct scene *s,
			      unsigned done[ACTORS], uint64_t *played)
{
	const char *broken = NULL;
	bool left = false;

	for (unsigned a = 0; a < ACTORS && !broken; a++) {
		if (done[a] == s->actor[a].n)
			continue;
		left = true;
		run->op[run->n++] = s->actor[a].op[done[a]++];
		broken = interleave(x, run, s, done, played);
		done[a]--;
		run->n -= broken == NULL;
	}
	if (left)
		return broken;
	++*played;
	return explore_play(x, run, NULL);
}

const char *explore_interleavings(struct explore *x, struct explore_run *run, uint64_t *played)
{
	const char *broken = NULL;

	for (unsigned i = 0; i < SCENES && !broken; i++) {
		const struct path *p = path_of(scenes[i].path);
		unsigned done[ACTORS] = {0};

		settings(&run->policy, p->name);
		run->n = scenes[i].firsts;
		memcpy(run->op, p->first, run->n * sizeof run->op[0]);
		broken = interleave(x, run, &scenes[i], done, played);
	}
	return broken;
}
