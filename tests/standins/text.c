#include "tests/standins/text.h"

#include "tests/standins/record.h"
#include "tests/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN = 4, PREFIX_MAX = 1 << 16 };

static void text_free(void *arg)
{
	struct si_text *t = arg;

	/* For tests: the client left before the end. */
	if (!t->done)
		si_record_note(si_link_standin(t->link)->record, si_link_number(t->link), "aborted",
			       t->id);
	si_mind_free(t->mind);
	si_answer_clear(&t->answer);
	json_decref(t->root);
	free(t);
}

static const struct si_session_ops text_ops = {.free = text_free};

/* The tokens of the body that are the same as in the body before. */
static size_t cached_count(const char *body, size_t n)
{
	static char before[PREFIX_MAX];
	static size_t n_before;
	size_t same = 0;

	while (same < n && same < n_before && body[same] == before[same])
		same++;
	n_before = n < PREFIX_MAX ? n : PREFIX_MAX;
	memcpy(before, body, n_before);
	return same / TOKEN;
}

struct si_text *si_text_open(struct si_link *l, const struct si_text_wire *wire,
			     const struct si_shape *shape)
{
	size_t n;
	const char *body = si_link_body(l, &n);
	json_t *root = json_loadb(body, n, 0, NULL);
	const char *model = json_string_value(json_object_get(root, "model"));
	struct si_fault f;
	char why[256];
	struct si_text *t;

	if (!json_is_object(root) || !si_shape_check(shape, root, &f)) {
		if (!json_is_object(root))
			snprintf(why, sizeof why, "The body is no JSON object.");
		else
			snprintf(why, sizeof why, "The field %s is unknown, missing or wrong.",
				 f.path);
		json_decref(root);
		wire->refuse(l, 400, "invalid_request_error", why);
		return NULL;
	}
	t = si_alloc(sizeof *t);
	t->wire = wire;
	t->link = l;
	t->root = root;
	t->mind = si_mind_new();
	t->stream = json_is_true(json_object_get(root, "stream"));
	t->cached = cached_count(body, n);
	t->in = n / TOKEN + 1;
	snprintf(t->model, sizeof t->model, "%s", model ? model : "");
	si_link_take(l, &text_ops, t);
	return t;
}

/* Cuts the answer at the limit of its length. */
static void answer_limit(struct si_text *t)
{
	char *p = t->answer.text;
	size_t words = 0;

	for (; *p; p += si_text_piece(p), words++)
		if (t->max && words == t->max) {
			*p = '\0';
			t->cut = true;
			break;
		}
	t->out = words + (t->answer.call ? strlen(t->answer.arguments) / TOKEN + 4 : 0);
}

static void answer_choose(struct si_text *t)
{
	const struct si_act *say = t->acts.say, *call = t->acts.call;

	si_mind_answer(t->mind, si_link_standin(t->link)->script, NULL, &t->answer);
	if (say || call) {
		si_answer_clear(&t->answer);
		t->answer.text = say ? si_copy(say->text, strlen(say->text)) : si_copy("", 0);
	}
	if (call) {
		t->answer.call = si_copy(call->word, strlen(call->word));
		t->answer.arguments =
			call->text[0] ? si_copy(call->text, strlen(call->text)) : si_copy("{}", 2);
	}
	answer_limit(t);
}

static int status_of(const char *code)
{
	static const struct {
		const char *part;
		int status;
	} known[] = {
		{"rate_limit", 429}, {"quota", 429},	  {"billing", 402},   {"api_key", 401},
		{"auth", 401},	     {"permission", 403}, {"not_found", 404}, {"overloaded", 529},
		{"server", 500},     {"api_error", 500},
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strstr(code, known[i].part))
			return known[i].status;
	return 400;
}

static void refuse_end(struct si_text *t, int status, const char *code, const char *text)
{
	t->done = true;
	t->wire->refuse(t->link, status, code, text);
}

static void answer_begin(void *arg)
{
	struct si_text *t = arg;

	if (t->stream) {
		si_stream(t->link, 200, "text/event-stream");
		if (si_link_extra(t->link))
			si_text_line(t, ": a comment\r\n\r\n");
	} else {
		t->done = true;
	}
	t->wire->emit(t);
}

void si_text_start(struct si_text *t)
{
	static uint32_t n;

	n++;
	snprintf(t->id, sizeof t->id, "%u", n);
	snprintf(t->call, sizeof t->call, "call_%u", n);
	si_link_fire(t->link, SI_RESPONSE, &t->acts);
	if (t->acts.silent)
		return;
	if (t->acts.status) {
		refuse_end(t, (int)t->acts.status->number, "refused", t->acts.status->text);
		return;
	}
	if (t->acts.error) {
		refuse_end(t, status_of(t->acts.error->word), t->acts.error->word,
			   t->acts.error->text);
		return;
	}
	answer_choose(t);
	si_plan(t->link, &(struct si_plan){.out = SI_OUT_CALL,
					   .after_ms = t->acts.delay_ms,
					   .h = answer_begin,
					   .arg = t});
}

/* ---- the stream ---- */

static void chunk_plan(struct si_text *t, bool piece, const char *text, size_t n)
{
	si_plan(t->link, &(struct si_plan){.out = SI_OUT_CHUNK,
					   .after_ms = t->pieces * t->acts.gap_ms,
					   .piece = piece,
					   .data = text,
					   .n = n});
	t->pieces += piece;
}

void si_text_line(struct si_text *t, const char *line)
{
	chunk_plan(t, false, line, strlen(line));
}

void si_text_event(struct si_text *t, bool piece, const char *name, json_t *data)
{
	const char *end = si_link_extra(t->link) ? "\r\n" : "\n";
	char *json, *text;
	size_t size;
	int n;

	if (si_link_extra(t->link) && json_is_object(data))
		json_object_set_new(data, "x_unknown", json_true());
	json = json_dumps(data, JSON_COMPACT);
	json_decref(data);
	if (!json)
		abort(); /* an event of ours that is no JSON is a fault of this program */
	size = strlen(json) + 128;
	text = si_alloc(size);
	n = snprintf(text, size, "%s%s%sdata: %s%s%s", name ? "event: " : "", name ? name : "",
		     name ? end : "", json, end, end);
	chunk_plan(t, piece, text, (size_t)n);
	free(text);
	free(json);
}

static void on_end(void *arg)
{
	struct si_text *t = arg;

	t->done = true;
}

void si_text_end(struct si_text *t)
{
	struct si_plan p = {
		.out = SI_OUT_CALL, .after_ms = t->pieces * t->acts.gap_ms, .h = on_end, .arg = t};
	struct si_link *l = t->link;

	si_plan(l, &p);
	p.out = SI_OUT_END;
	si_plan(l, &p);
}

size_t si_text_piece(const char *at)
{
	return *at ? strcspn(at + 1, " ") + 1 : 0;
}
