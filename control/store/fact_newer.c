#include "control/store/fact_newer.h"

#include <errno.h>
#include <string.h>

#include "control/memory/compare.h"
#include "control/memory/rank.h"
#include "control/memory/slice.h"
#include "control/memory/vectors.h"
#include "control/memory/whose.h"
#include "control/store/db.h"
#include "control/store/embedding.h"

enum {
	NEWER = 8,  /* of the best facts, a newer one comes first */
	SHARED = 2, /* content words */
};

/* Cosine from which two facts are about the same whatever their words, as of lines (said.c), and
 * the one that two which share words must have. */
#define ALIKE	     0.6
#define ALIKE_SHARED 0.4

/* The best facts before they are moved. */
struct best {
	const struct fact_found *found;
	struct rank_line rank[NEWER];
	struct vector v[NEWER];
	bool has_vector[NEWER];
	size_t n;
};

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static bool is_near(const struct fact_text *older, const struct fact_text *newer)
{
	double cosine = older->meaning && newer->meaning
				? vector_cosine(older->meaning, newer->meaning)
				: ALIKE_SHARED;
	unsigned shared;

	if (cosine >= ALIKE || cosine < ALIKE_SHARED)
		return cosine >= ALIKE;
	slice_count_words(older->text, newer->text, &shared);
	return shared >= SHARED;
}

bool fact_newer_alike(const struct fact_text *older, const struct fact_text *newer,
		      const char *author)
{
	return is_near(older, newer) && !whose_differ(older->text, newer->text, author);
}

static size_t place_of(const struct best *b, unsigned index)
{
	size_t i = 0;

	while (i + 1 < b->n && b->rank[i].index != index)
		i++;
	return i;
}

static bool is_of_time(const struct fact_found *f, const struct rank_line *r)
{
	return r->at_ms >= f->since_ms && r->at_ms < f->until_ms;
}

static struct fact_text text_of(const struct best *b, unsigned index)
{
	size_t i = place_of(b, index);

	return (struct fact_text){text_at(b->found->facts[index], "text"),
				  b->has_vector[i] ? &b->v[i] : NULL};
}

/* What people say in one conversation about one subject are details of it, which stand beside each
 * other. */
static bool tells_later(const struct best *b, unsigned older, unsigned newer)
{
	const struct rank_line *was = &b->rank[place_of(b, older)],
			       *is = &b->rank[place_of(b, newer)];
	struct fact_text before = text_of(b, older), after = text_of(b, newer);

	if (is->at_ms <= was->at_ms + RANK_APART_MS ||
	    (is_of_time(b->found, was) && !is_of_time(b->found, is)))
		return false;
	return is_near(&before, &after);
}

static const char *author_of(const struct best *b, unsigned index)
{
	return text_at(b->found->facts[index], "name");
}

/* Of one author. Of two people only if the question names neither: then the newer one may tell who
 * took the place of whom, and both are told. */
static bool is_about_asked(const struct best *b, unsigned older, unsigned newer)
{
	const char *was = text_at(b->found->facts[older], "text"), *author = author_of(b, newer);

	return !whose_differ(was, text_at(b->found->facts[newer], "text"), author) ||
	       !whose_is_asked(b->found->question, was, author);
}

static bool is_by_same(const json_t *a, const json_t *b)
{
	return strcmp(text_at(a, "user"), text_at(b, "user")) == 0;
}

/* What people say of themselves contradicts only what they said of themselves, also in their other
 * memory. Who takes over what somebody else told says so ("Mira has no time, so I cut the
 * trailer"). */
static bool succeeds(unsigned older, unsigned newer, void *arg)
{
	const struct best *best = arg;
	const json_t *a = best->found->facts[older], *b = best->found->facts[newer];
	bool same_author = is_by_same(a, b);

	if (fact_compare(text_at(a, "text"), text_at(b, "text"), same_author, NULL) == FACT_UPDATE)
		return true;
	if (!tells_later(best, older, newer))
		return false;
	if (same_author)
		return is_about_asked(best, older, newer);
	return whose_takes_over(text_at(b, "text"), text_at(a, "text"), text_at(a, "name"));
}

static uint64_t ms_at(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

void fact_newer_note(json_t *newer, uint64_t until_ms, const json_t *older)
{
	const json_t *noted = json_array_get(json_object_get(newer, "former"), 0);
	uint64_t from_ms = ms_at(older, "at_ms"), at_ms = ms_at(newer, "at_ms");
	json_t *former;

	if (!is_by_same(older, newer) || ms_at(noted, "from_ms") > from_ms ||
	    !json_equal(json_object_get(older, "private"), json_object_get(newer, "private")))
		return;
	/* It was said again since: its first time lies before the other one's. */
	if (at_ms > from_ms)
		until_ms = at_ms;
	former = json_pack("[{s:O,s:I,s:I,s:b,s:O*}]", "text", json_object_get(older, "text"),
			   "from_ms", (json_int_t)from_ms, "until_ms", (json_int_t)until_ms,
			   "unsure", true, "channels", json_object_get(older, "channels"));
	json_object_set_new(newer, "former", former);
}

/* Whatever the order: a newer one that ranked before its older one was not moved. */
static void note_former(const struct best *best)
{
	for (size_t i = 0; i < best->n; i++) {
		for (size_t k = 0; k < best->n; k++) {
			unsigned newer = best->rank[i].index, older = best->rank[k].index;

			if (i != k && tells_later(best, older, newer) &&
			    !whose_differ(text_of(best, older).text, text_of(best, newer).text,
					  author_of(best, newer)))
				fact_newer_note(best->found->facts[newer], best->rank[i].at_ms,
						best->found->facts[older]);
		}
	}
}

/* Two values of the same answer a question equally well, and their likenesses to it differ by
 * chance. */
int fact_newer_first(struct db *db, const struct fact_found *found)
{
	struct best best = {.found = found, .n = found->n < NEWER ? found->n : NEWER};
	int err = 0;

	for (size_t i = 0; i < best.n && !err; i++) {
		best.rank[i] = found->rank[i];
		err = embedding_get(db, EMBEDDING_FACTS, found->guild, found->rank[i].id,
				    &best.v[i]);
		best.has_vector[i] = !err;
		/* In doubt, as without an encoder, words alone decide. */
		err = err == ENOENT || err == ETIMEDOUT ? 0 : err;
	}
	rank_newer_first(found->rank, best.n, 0, succeeds, &best);
	note_former(&best);
	return err;
}
