#include "tests/vectors/runner.h"

#include <stdarg.h>
#include <stdlib.h>

#include "mediad/mls/mls.h"

enum { ALL = -1 };

typedef bool simple_fn(const json_t *c);
typedef void tally_fn(const json_t *c, struct vec_tally *t);

/* Either function; must: the cases that may not be skipped. */
static const struct kind {
	const char *name;
	simple_fn *simple;
	tally_fn *tally;
	bool any_suite;
	int must[8];
	unsigned n_must;
} kinds[] = {
	{"deserialization", .simple = vec_deserialization, .must = {ALL}, .n_must = 1},
	{"crypto-basics", .simple = vec_crypto_basics, .must = {ALL}, .n_must = 1},
	{"key-schedule", .simple = vec_key_schedule, .must = {ALL}, .n_must = 1},
	{"transcript-hashes", .simple = vec_transcript_hashes, .must = {ALL}, .n_must = 1},
	{"secret-tree", .simple = vec_secret_tree, .must = {ALL}, .n_must = 1},
	{"welcome", .simple = vec_welcome, .must = {ALL}, .n_must = 1},
	{"tree-math", .simple = vec_tree_math, .must = {ALL}, .n_must = 1},
	/* keys are opaque there */
	{"tree-operations", .simple = vec_tree_operations, .any_suite = true, .must = {ALL},
	 .n_must = 1},
	{"tree-validation", .simple = vec_tree_validation, .must = {ALL}, .n_must = 1},
	{"treekem", .simple = vec_treekem, .must = {ALL}, .n_must = 1},
	{"messages", .tally = vec_messages, .must = {ALL}, .n_must = 1},
	{"message-protection", .tally = vec_message_protection, .must = {ALL}, .n_must = 1},
	{"passive-client-welcome", .tally = vec_passive_client, .must = {0, 1, 4, 5}, .n_must = 4},
	{"passive-client-handling-commit", .tally = vec_passive_client,
	 .must = {0, 1, 4, 6, 7, 8, 11}, .n_must = 7},
	{"psk_secret", .simple = vec_psk_secret},
};

/* ---- what a case says ---- */

static void note(struct vec_tally *t, bool failure, const char *fmt, va_list ap)
{
	struct vec_note n = {.failure = failure, .first = t->index, .times = 1};

	vsnprintf(n.why, sizeof n.why, fmt, ap);
	for (unsigned i = 0; i < t->n_notes; i++)
		if (t->notes[i].failure == failure && strcmp(t->notes[i].why, n.why) == 0) {
			t->notes[i].times++;
			return;
		}
	if (t->n_notes < VEC_NOTES)
		t->notes[t->n_notes++] = n;
}

void vec_pass(struct vec_tally *t)
{
	t->passed++;
}

void vec_fail(struct vec_tally *t, const char *fmt, ...)
{
	va_list ap;

	t->failed++;
	va_start(ap, fmt);
	note(t, true, fmt, ap);
	va_end(ap);
}

void vec_skip(struct vec_tally *t, const char *fmt, ...)
{
	va_list ap;

	t->skipped++;
	t->missing += t->must;
	va_start(ap, fmt);
	note(t, false, fmt, ap);
	va_end(ap);
}

void vec_leave_out(struct vec_tally *t, const char *fmt, ...)
{
	va_list ap;

	t->skipped++;
	va_start(ap, fmt);
	note(t, false, fmt, ap);
	va_end(ap);
}

/* ---- files ---- */

static const struct kind *kind_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = strcspn(name, ".");

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strlen(kinds[i].name) == n && strncmp(name, kinds[i].name, n) == 0)
			return &kinds[i];
	return NULL;
}

static bool must_pass(const struct kind *k, size_t index)
{
	for (unsigned i = 0; i < k->n_must; i++)
		if (k->must[i] == ALL || (k->must[i] >= 0 && (size_t)k->must[i] == index))
			return true;
	return false;
}

static void run_case(struct vec_tally *t, const struct kind *k, const json_t *c)
{
	unsigned before = t->passed + t->failed + t->skipped;
	json_int_t suite = json_integer_value(json_object_get(c, "cipher_suite"));

	t->must = must_pass(k, t->index);
	if (suite && suite != MLS_SUITE && !k->any_suite)
		vec_leave_out(t, "cipher suite %d", (int)suite);
	else if (k->tally)
		k->tally(c, t);
	else if (k->simple(c))
		vec_pass(t);
	else
		vec_fail(t, "what does not hold stands above");
	if (t->passed + t->failed + t->skipped == before)
		vec_fail(t, "the case holds nothing to look at");
	vec_end();
}

const char *vec_run(struct vec_tally *t, const char *path)
{
	static char wrong[VEC_WHY];
	const struct kind *k = kind_of(path);
	json_error_t where;
	json_t *all, *c;

	*t = (struct vec_tally){0};
	if (!k)
		return "its name is not that of a known kind of vectors";
	all = json_load_file(path, 0, &where);
	if (!all) {
		if (where.line < 1)
			snprintf(wrong, sizeof wrong, "%s", where.text);
		else
			snprintf(wrong, sizeof wrong, "line %d: %s", where.line, where.text);
		return wrong;
	}
	if (!json_array_size(all)) {
		json_decref(all);
		return "not a list of cases";
	}
	json_array_foreach(all, t->index, c) run_case(t, k, c);
	json_decref(all);
	return NULL;
}

void vec_print(const struct vec_tally *t, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	printf("%s: %u passed, %u failed, %u skipped\n", name, t->passed, t->failed, t->skipped);
	for (unsigned i = 0; i < t->n_notes; i++) {
		const struct vec_note *n = &t->notes[i];

		printf("  %s: %s (case %zu", n->failure ? "failed" : "skipped", n->why, n->first);
		if (n->times > 1)
			printf(" and %u more", n->times - 1);
		printf(")\n");
	}
	if (t->missing)
		printf("  %u of the skipped must pass\n", t->missing);
}
