#include "tests/chaos/script.h"
#include "tests/random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct verb {
	const char *name;
	bool who;
	unsigned args, weight, settle, identifies;
	const char *what;
};

static const struct verb verbs[] = {
#define X(NAME, name, who, n, weight, settle, identifies, what)                                    \
	{name, who, n, weight, settle, identifies, what},
	CHAOS_VERBS(X)
#undef X
};
static const char *const people[] = {"bot", "alice", "bob", "all"};

enum { SETTLE_BASE_MS = 8000, SETTLE_MOST_MS = 60000, IDENTIFY_BASE = 3 };

const char *chaos_verb_name(enum chaos_verb v)
{
	return verbs[v].name;
}

const char *chaos_verb_what(enum chaos_verb v)
{
	return verbs[v].what;
}

const char *chaos_who_name(enum chaos_who w)
{
	return people[w];
}

/* ---- drawing ---- */

static enum chaos_verb draw_verb(uint64_t *rng)
{
	unsigned sum = 0, at;

	for (unsigned v = 0; v < CHAOS_VERBS_N; v++)
		sum += verbs[v].weight;
	at = random_between(rng, 0, sum - 1);
	for (unsigned v = 0; v < CHAOS_VERBS_N; v++) {
		if (at < verbs[v].weight)
			return (enum chaos_verb)v;
		at -= verbs[v].weight;
	}
	return CHAOS_CALM;
}

static unsigned draw_code(uint64_t *rng)
{
	static const unsigned codes[] = {1000, 1001, 1006, 1011, 4000, 4001, 4002, 4003,
					 4004, 4005, 4006, 4009, 4011, 4012, 4013, 4014,
					 4015, 4016, 4017, 4020, 4021, 4022, 4999};

	return codes[random_between(rng, 0, sizeof codes / sizeof codes[0] - 1)];
}

enum { CORRUPTIBLE = 3, OF_DAVE = 7, ALL_OPS = 10 };

static unsigned draw_op(uint64_t *rng, unsigned of)
{
	static const unsigned ops[ALL_OPS] = {27, 29, 30, 25, 22, 21, 24, 11, 13, 5};

	return ops[random_between(rng, 0, of - 1)];
}

static void draw_args(struct chaos_step *s, uint64_t *rng)
{
	switch (s->verb) {
	case CHAOS_NET:
		s->arg[0] = random_between(rng, 0, 3) ? random_between(rng, 0, 300) : 0;
		s->arg[1] = random_between(rng, 0, 2) ? 0 : random_between(rng, 0, 200);
		s->arg[2] = random_between(rng, 0, 150);
		s->arg[3] = random_between(rng, 0, 200);
		s->arg[4] = random_between(rng, 0, 80);
		s->arg[5] = random_between(rng, 0, 100);
		break;
	case CHAOS_CLOSE:
		s->arg[0] = draw_code(rng);
		break;
	case CHAOS_STORM:
		s->arg[0] = random_between(rng, 2, 4);
		s->arg[1] = random_between(rng, 40, 400);
		break;
	case CHAOS_WALL:
		/* Less than the certificates of guildd allow: a day back, two weeks ahead. */
		s->arg[0] = random_between(rng, 0, 1) ? random_between(rng, 1, 80000)
						      : 2 * random_between(rng, 40000, 500000);
		break;
	/* Who comes, goes and speaks is told in order by a server whose clients live: a speaker
	 * that was never announced, or whose leaving is told after the return, is unheard until the
	 * next op 5. */
	case CHAOS_DELAY:
		s->arg[0] = draw_op(rng, OF_DAVE);
		s->arg[1] = random_between(rng, 20, 900);
		break;
	case CHAOS_HOLD:
		s->arg[0] = draw_op(rng, ALL_OPS);
		s->arg[1] = random_between(rng, 20, 900);
		break;
	case CHAOS_LOSE:
		s->arg[0] = draw_op(rng, ALL_OPS);
		break;
	case CHAOS_SKIP:
		s->arg[0] = draw_op(rng, OF_DAVE);
		break;
	/* Whoever makes the group with another external sender than the rest was given makes one
	 * that none of them may join; only the server could end that. */
	case CHAOS_CORRUPT:
		s->arg[0] = draw_op(rng, CORRUPTIBLE);
		break;
	case CHAOS_FREEZE_MEDIAD:
	case CHAOS_FREEZE_CONTROL:
	case CHAOS_FREEZE_SERVER:
		s->arg[0] = random_between(rng, 0, 3) ? random_between(rng, 20, 900)
						      : random_between(rng, 900, 3500);
		break;
	case CHAOS_LEAVE:
	case CHAOS_NO_SERVER:
	case CHAOS_SILENT:
	case CHAOS_NO_UDP:
		s->arg[0] = random_between(rng, 50, 1200);
		break;
	default:
		break;
	}
}

static void insert_step(struct chaos_script *s, const struct chaos_step *step)
{
	unsigned i = s->n++;

	for (; i > 0 && s->step[i - 1].at > step->at; i--)
		s->step[i] = s->step[i - 1];
	s->step[i] = *step;
}

/* One or two faults of decoders, in the time of the others or a little later. They have numbers of
 * their own, so that the rest of a script is as without music. */
static void draw_decoder_faults(struct chaos_script *s)
{
	uint64_t rng = s->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	unsigned n = random_between(&rng, 1, 2);

	for (unsigned i = 0; i < n; i++) {
		struct chaos_step step = {
			.at = random_between(&rng, 0, 2500),
			.verb = random_between(&rng, 0, 2) ? CHAOS_KILL_DECODER
							   : CHAOS_KILL_DECODERS,
			.who = (enum chaos_who)random_between(&rng, CHAOS_BOT, CHAOS_BOB)};

		insert_step(s, &step);
	}
}

void chaos_generate(struct chaos_script *s, uint64_t seed)
{
	uint64_t rng = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
	unsigned at = 0;

	*s = (struct chaos_script){.seed = seed};
	s->real = random_between(&rng, 0, 5) == 0;
	s->journal_kb = random_between(&rng, 0, 9) == 0 ? random_between(&rng, 8, 400) : 0;
	/* Decoders share a file with mediad, which counts as a file on a full disk. */
	s->music = seed % 3 == 0 && !s->journal_kb;
	s->n = random_between(&rng, 1, 6);
	for (unsigned i = 0; i < s->n; i++) {
		struct chaos_step *p = &s->step[i];

		at += random_between(&rng, 0, 2) ? random_between(&rng, 0, 500)
						 : random_between(&rng, 0, 20);
		p->at = at;
		p->verb = draw_verb(&rng);
		/* Half of what goes wrong befalls the bot. */
		p->who = random_between(&rng, 0, 1)
				 ? CHAOS_BOT
				 : (enum chaos_who)random_between(&rng, CHAOS_ALICE, CHAOS_BOB);
		if (!verbs[p->verb].who)
			p->who = CHAOS_ALL;
		draw_args(p, &rng);
	}
	if (s->music)
		draw_decoder_faults(s);
}

/* ---- text ---- */

size_t chaos_print(const struct chaos_script *s, char *buf, size_t size)
{
	size_t n = 0;
#define PUT(...) n += n < size ? (size_t)snprintf(buf + n, size - n, __VA_ARGS__) : 0

	PUT("seed %llu\ncontrol %s\n", (unsigned long long)s->seed, s->real ? "real" : "lean");
	if (s->journal_kb)
		PUT("journal %u\n", s->journal_kb);
	if (s->music)
		PUT("music on\n");
	for (unsigned i = 0; i < s->n; i++) {
		const struct chaos_step *p = &s->step[i];
		const struct verb *v = &verbs[p->verb];

		PUT("%u %s", p->at, v->name);
		if (v->who)
			PUT(" %s", people[p->who]);
		for (unsigned a = 0; a < v->args; a++)
			PUT(" %u", p->arg[a]);
		PUT("\n");
	}
#undef PUT
	return n < size ? n : size - 1;
}

static bool number(const char *word, uint64_t *out)
{
	char *end;

	if (!word || *word < '0' || *word > '9')
		return false;
	errno = 0;
	*out = strtoull(word, &end, 10);
	return !*end && !errno;
}

static int parse_step(struct chaos_script *s, uint64_t at, char **save)
{
	struct chaos_step *p = &s->step[s->n];
	const char *word = strtok_r(NULL, " \t", save);
	unsigned v = 0, who = CHAOS_ALL;
	uint64_t x;

	if (s->n == CHAOS_STEPS)
		return ENOSPC;
	while (word && v < CHAOS_VERBS_N && strcmp(verbs[v].name, word) != 0)
		v++;
	if (!word || v == CHAOS_VERBS_N || at > 60000 || (s->n && at < s->step[s->n - 1].at))
		return EINVAL;
	if (verbs[v].who) {
		word = strtok_r(NULL, " \t", save);
		for (who = 0; word && who < CHAOS_PEOPLE && strcmp(people[who], word) != 0;)
			who++;
		if (!word || who == CHAOS_PEOPLE)
			return EINVAL;
	}
	*p = (struct chaos_step){
		.at = (unsigned)at, .verb = (enum chaos_verb)v, .who = (enum chaos_who)who};
	for (unsigned a = 0; a < verbs[v].args; a++) {
		if (!number(strtok_r(NULL, " \t", save), &x) || x > UINT32_MAX)
			return EINVAL;
		p->arg[a] = (unsigned)x;
	}
	s->n++;
	return strtok_r(NULL, " \t", save) ? EINVAL : 0;
}

static int parse_line(struct chaos_script *s, char *line)
{
	char *save = NULL, *word;
	uint64_t x;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, " \t", &save);
	if (!word)
		return 0;
	if (number(word, &x))
		return parse_step(s, x, &save);
	const char *value = strtok_r(NULL, " \t", &save);

	if (!value || strtok_r(NULL, " \t", &save))
		return EINVAL;
	if (strcmp(word, "seed") == 0 && number(value, &x))
		s->seed = x;
	else if (strcmp(word, "journal") == 0 && number(value, &x) && x < 1 << 20)
		s->journal_kb = (unsigned)x;
	else if (strcmp(word, "control") == 0 &&
		 (strcmp(value, "real") == 0 || strcmp(value, "lean") == 0))
		s->real = value[0] == 'r';
	else if (strcmp(word, "music") == 0 && strcmp(value, "on") == 0)
		s->music = true;
	else
		return EINVAL;
	return 0;
}

int chaos_parse(struct chaos_script *s, const char *text, unsigned *line)
{
	struct chaos_script made = {0};
	char *copy = strdup(text), *save = NULL;
	int err = copy ? 0 : ENOMEM;

	*line = 0;
	for (char *at = copy; at && !err; at = save) {
		save = strchr(at, '\n');
		if (save)
			*save++ = '\0';
		++*line;
		err = parse_line(&made, at);
	}
	if (!err)
		*s = made;
	free(copy);
	return err;
}

/* ---- what follows ---- */

static unsigned lasts(const struct chaos_step *p)
{
	switch (p->verb) {
	case CHAOS_STORM:
		return 2 * p->arg[0] * p->arg[1];
	case CHAOS_SILENT:
	case CHAOS_NO_UDP:
	case CHAOS_NO_SERVER:
	case CHAOS_LEAVE:
	case CHAOS_FREEZE_MEDIAD:
	case CHAOS_FREEZE_CONTROL:
	case CHAOS_FREEZE_SERVER:
		return p->arg[0];
	default:
		return 0;
	}
}

unsigned chaos_length_ms(const struct chaos_script *s)
{
	unsigned most = 0;

	for (unsigned i = 0; i < s->n; i++)
		if (s->step[i].at + lasts(&s->step[i]) > most)
			most = s->step[i].at + lasts(&s->step[i]);
	return most;
}

unsigned chaos_settle_ms(const struct chaos_script *s)
{
	/* A report of music comes once a second. */
	unsigned ms = SETTLE_BASE_MS + (s->music ? 2500 : 0);

	for (unsigned i = 0; i < s->n; i++)
		ms += verbs[s->step[i].verb].settle;
	return ms < SETTLE_MOST_MS ? ms : SETTLE_MOST_MS;
}

unsigned chaos_identifies(const struct chaos_script *s, enum chaos_who who)
{
	unsigned n = IDENTIFY_BASE;

	/* What goes wrong with the group of all may have to be healed by any of them. */
	for (unsigned i = 0; i < s->n; i++) {
		const struct chaos_step *p = &s->step[i];

		n += p->who == who || p->who == CHAOS_ALL ? verbs[p->verb].identifies : 1;
	}
	return n;
}
