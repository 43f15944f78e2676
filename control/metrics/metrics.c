#include "control/metrics/metrics.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/events/events.h"
#include "control/events/turn_stages.h"
#include "control/metrics/counters.h"
#include "control/metrics/inside.h"
#include "control/metrics/media_counts.h"

#define LABELS(...)                                                                                \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
const struct metric_family metric_families[METRIC_COUNT] = {
#define M(NAME, name, kind, labels, text) {#name, labels, text, METRIC_KIND_##kind},
	METRICS(M)
#undef M
};

#define B(limit) limit,
static const uint32_t limits_ms[] = {METRIC_BUCKETS_MS(B)},
		      limits_tokens[] = {METRIC_BUCKETS_TOKENS(B)};
#undef B
enum {
	BUCKETS = METRIC_BUCKETS,
	BUCKETS_TOKENS = sizeof limits_tokens / sizeof limits_tokens[0],
	VALUE_MAX = METRIC_VALUE_MAX,
};
static_assert(sizeof limits_ms / sizeof limits_ms[0] == BUCKETS, "one for each limit");
static_assert((int)BUCKETS_TOKENS <= (int)BUCKETS, "a series has room for either");

struct metrics *metrics_free(struct metrics *m)
{
	if (!m)
		return NULL;
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		while (m->first[i]) {
			struct metric_series *s = m->first[i];

			m->first[i] = s->next;
			free(s);
		}
	media_counts_free(m->media);
	free(m);
	return NULL;
}

/* ---- counting ---- */

unsigned metric_buckets(enum metric metric, const uint32_t **limits)
{
	*limits = metric_families[metric].kind == METRIC_KIND_TOKENS ? limits_tokens : limits_ms;
	return metric_families[metric].kind == METRIC_KIND_TOKENS    ? BUCKETS_TOKENS
	       : metric_families[metric].kind == METRIC_KIND_SECONDS ? BUCKETS
								     : 0;
}

/* A value for each label. */
struct values {
	const char *v[METRIC_LABELS_MAX];
};

static bool has_values(const struct metric_series *s, const struct values *values)
{
	for (unsigned i = 0; i < METRIC_LABELS_MAX; i++)
		if (strncmp(s->value[i], values->v[i] ? values->v[i] : "", VALUE_MAX - 1) != 0)
			return false;
	return true;
}

static struct metric_series *find(struct metrics *m, enum metric metric,
				  const struct values *values)
{
	struct metric_series **at = &m->first[metric];
	struct values other = {{NULL}};

	for (; *at; at = &(*at)->next)
		if (has_values(*at, values))
			return *at;
	for (unsigned i = 0; i < METRIC_LABELS_MAX && metric_families[metric].label[i]; i++)
		other.v[i] = "other";
	/* One more than METRIC_VALUES: "other" itself. */
	if (m->n[metric] >= METRIC_VALUES && values->v[0] && strcmp(values->v[0], "other") != 0)
		return find(m, metric, &other);
	*at = calloc(1, sizeof **at);
	if (!*at)
		return NULL;
	m->n[metric]++;
	for (unsigned i = 0; i < METRIC_LABELS_MAX; i++)
		snprintf((*at)->value[i], VALUE_MAX, "%s", values->v[i] ? values->v[i] : "");
	return *at;
}

/* Prometheus' increase() needs a sample from before: what is counted for the first time would
 * otherwise not have happened. */
static void begin(struct metrics *m, enum metric metric, const char *a, const char *b)
{
	find(m, metric, &(struct values){{a, b}});
}

int metrics_alloc(struct metrics **out)
{
	struct metrics *m = calloc(1, sizeof *m);
	int err = m ? media_counts_alloc(&m->media) : ENOMEM;

	if (err) {
		metrics_free(m);
		return err;
	}
#define I(rule) begin(m, METRIC_INTERRUPTION, #rule, NULL);
	METRIC_INTERRUPTIONS(I)
#undef I
#define S(stage) begin(m, METRIC_STAGE, #stage, NULL);
	METRIC_STAGES(S)
#undef S
	*out = m;
	return 0;
}

void metrics_expect_fault(struct metrics *m, const char *fault)
{
	begin(m, METRIC_FAULT, fault, NULL);
}

/* amount: of ms, tokens, units or billionths; 1 of a COUNT. Values may be NULL. */
static void add_values(struct metrics *m, enum metric metric, const struct values *values,
		       uint64_t amount)
{
	struct metric_series *s = find(m, metric, values);
	const uint32_t *limits;
	unsigned n = metric_buckets(metric, &limits);

	if (!s)
		return;
	s->n++;
	s->sum += amount;
	for (unsigned i = 0; i < n; i++)
		if (amount <= limits[i]) {
			s->bucket[i]++;
			break;
		}
}

static void add(struct metrics *m, enum metric metric, const char *a, const char *b,
		uint64_t amount)
{
	add_values(m, metric, &(struct values){{a, b}}, amount);
}

/* What the chain of decisions tells. */
static void take_decision(struct metrics *m, const char *rule, uint64_t value)
{
	static const char *const interruptions[] = {
#define I(rule) #rule,
		METRIC_INTERRUPTIONS(I)
#undef I
	};

	if (strcmp(rule, "interrupt_classifier") == 0)
		add(m, METRIC_INTERRUPT_CLASSIFIER, NULL, NULL, value);
	for (unsigned i = 0; i < sizeof interruptions / sizeof interruptions[0]; i++)
		if (strcmp(rule, interruptions[i]) == 0)
			add(m, METRIC_INTERRUPTION, rule, NULL, 1);
}

static void take_decisions(struct metrics *m, const char *why)
{
	json_t *list = why ? json_loads(why, 0, NULL) : NULL, *decision;
	size_t i;

	json_array_foreach(list, i, decision)
	{
		const char *rule = json_string_value(json_object_get(decision, "rule"));
		json_int_t value = json_integer_value(json_object_get(decision, "value"));

		if (rule && value >= 0)
			take_decision(m, rule, (uint64_t)value);
	}
	json_decref(list);
}

/* Of answered turns alone: for others the last stage would be a limit, not a time. */
static void take_stages(struct metrics *m, const struct event_turn *t)
{
	json_t *list = t->first_audio_ms < 0
			       ? NULL
			       : turn_stages(t->why, t->first_audio_ms, t->first_audio_ms),
	       *stage;
	size_t i;

	json_array_foreach(list, i, stage)
	{
		int64_t from = json_integer_value(json_object_get(stage, "startMs"));
		int64_t to = json_integer_value(json_object_get(stage, "endMs"));

		add(m, METRIC_STAGE, json_string_value(json_object_get(stage, "name")), NULL,
		    (uint64_t)(to - from));
	}
	json_decref(list);
}

static void take_turn(struct metrics *m, const struct event_turn *t)
{
	if (t->first_audio_ms >= 0)
		add(m, METRIC_FIRST_AUDIO, NULL, NULL, (uint64_t)t->first_audio_ms);
	if (t->lasted_ms >= 0)
		add(m, METRIC_TURN, t->reason, NULL, (uint64_t)t->lasted_ms);
	take_stages(m, t);
	take_decisions(m, t->why);
}

/* The name of a tool that nobody has is the model's invention, and that of a tool of a server
 * (SERVER__TOOL) the server's: only the server's own name is the operator's. */
static void take_tool(struct metrics *m, const struct event_tool *t)
{
	bool unknown = t->code && strcmp(t->code, "unknown_tool") == 0;
	const char *of = t->name ? strstr(t->name, "__") : NULL;
	char server[VALUE_MAX];

	if (unknown || !of) {
		add(m, METRIC_TOOL, unknown ? "unknown" : t->name, t->code, t->lasted_ms);
		return;
	}
	snprintf(server, sizeof server, "%.*s", (int)(of - t->name), t->name);
	add(m, METRIC_MCP, server, t->code, t->lasted_ms);
}

static void take_memory(struct metrics *m, const struct event_memory *e)
{
	const struct {
		const char *result;
		uint64_t n;
	} results[] = {{"inserted", e->inserted},
		       {"updated", e->updated},
		       {"duplicate", e->duplicate},
		       {"refused", e->refused}};

	for (unsigned i = 0; i < sizeof results / sizeof results[0]; i++)
		if (results[i].n)
			add(m, METRIC_MEMORY, results[i].result, e->source, results[i].n);
}

/* The operation of OpenTelemetry's list that a role is. */
static const char *operation(const char *role)
{
	if (strcmp(role, "voice") == 0)
		return "generate_content";
	if (strcmp(role, "embed") == 0)
		return "embeddings";
	return strcmp(role, "text") == 0 || strcmp(role, "classify") == 0 ? "chat" : role;
}

static void take_tokens(struct metrics *m, const struct event_usage *u)
{
	uint64_t in = u->text_in + u->text_cached + u->audio_in + u->audio_cached + u->image_in,
		 out = u->text_out + u->audio_out;
	struct values values = {
		{operation(u->role ? u->role : ""), u->provider, u->model, "input"}};

	if (in)
		add_values(m, METRIC_TOKENS, &values, in);
	values.v[3] = "output";
	if (out)
		add_values(m, METRIC_TOKENS, &values, out);
}

static void take_usage(struct metrics *m, const struct event_usage *u)
{
	const struct {
		const char *unit;
		uint64_t n;
	} units[] = {
		{"text_in", u->text_in},     {"text_cached", u->text_cached},
		{"text_out", u->text_out},   {"audio_in", u->audio_in},
		{"image_in", u->image_in},   {"audio_cached", u->audio_cached},
		{"audio_out", u->audio_out}, {"characters", u->characters},
		{"seconds", u->seconds},     {"requests", u->requests},
	};

	for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++)
		if (units[i].n)
			add(m, METRIC_UNITS, u->provider, units[i].unit, units[i].n);
	add(m, METRIC_COST, u->provider, u->role, u->nano);
	take_tokens(m, u);
}

static void take_asr(struct metrics *m, const struct event_asr *e)
{
	if (*e->why)
		add(m, METRIC_ASR_CLOSED, e->why, NULL, 1);
	else
		add(m, METRIC_ASR_OPENED, NULL, NULL, 1);
}

void metrics_take_event(struct metrics *m, const struct bus_event *ev)
{
	if (ev->type == EVENT_TURN)
		take_turn(m, &ev->turn);
	else if (ev->type == EVENT_UTTERANCE && ev->at_ms >= ev->utterance.ended_ms)
		add(m, METRIC_TRANSCRIPT, NULL, NULL, ev->at_ms - ev->utterance.ended_ms);
	else if (ev->type == EVENT_TOOL_CALLED)
		take_tool(m, &ev->tool);
	else if (ev->type == EVENT_MEMORY_WRITTEN)
		take_memory(m, &ev->memory);
	else if (ev->type == EVENT_SPEECH_DROPPED)
		add(m, METRIC_DROPPED, ev->speech.reason, NULL, 1);
	else if (ev->type == EVENT_ASR_SESSION)
		take_asr(m, &ev->asr);
	else if (ev->type == EVENT_FAULT)
		add(m, METRIC_FAULT, ev->fault.fault, NULL, !ev->fault.ended);
	else if (ev->type == EVENT_ENGINE_UP)
		begin(m, METRIC_ENGINE_DOWN, ev->engine.role, ev->engine.provider);
	else if (ev->type == EVENT_ENGINE_DOWN)
		add(m, METRIC_ENGINE_DOWN, ev->engine.role, ev->engine.provider, 1);
	else if (ev->type == EVENT_ENGINE_USED)
		take_usage(m, &ev->usage);
}

void metrics_take_media(struct metrics *m, uint64_t guild, const struct media_msg *msg)
{
	static const enum metric families_of[] = {
#define X(member, NAME) METRIC_##NAME,
		METRIC_MEDIA(X, X)
#undef X
	};
	struct media_delta delta;

	if (!media_counts_take(m->media, guild, msg, &delta))
		return;
	for (unsigned i = delta.from; i < delta.to; i++)
		add(m, families_of[i], NULL, NULL, delta.v[i]);
}

/* ---- writing ---- */

struct page {
	char *text;
	size_t n, size;
	bool failed;
};

__attribute__((format(printf, 2, 3))) static void print(struct page *p, const char *format, ...)
{
	va_list list;
	int n;

	/* A line is shorter than this. */
	if (!p->failed && p->size - p->n < 512) {
		char *more = realloc(p->text, p->size * 2 + 4096);

		p->failed = !more;
		if (more) {
			p->text = more;
			p->size = p->size * 2 + 4096;
		}
	}
	if (p->failed)
		return;
	va_start(list, format);
	n = vsnprintf(p->text + p->n, p->size - p->n, format, list);
	va_end(list);
	if (n > 0 && (size_t)n < p->size - p->n)
		p->n += (size_t)n;
}

/* OpenTelemetry's names are its own. */
static const char *prefix(const char *name)
{
	return strncmp(name, "gen_ai_", 7) == 0 ? "" : "parley_";
}

static void print_head(struct page *p, const char *name, const char *type, const char *text)
{
	print(p, "# HELP %s%s %s\n# TYPE %s%s %s\n", prefix(name), name, text, prefix(name), name,
	      type);
}

/* `name="value",`, with what the format escapes. */
static void print_label(struct page *p, const char *name, const char *value)
{
	if (!*name)
		return;
	print(p, "%s=\"", name);
	for (; *value; value++)
		if (*value == '\n')
			print(p, "\\n");
		else
			print(p, "%s%c", *value == '"' || *value == '\\' ? "\\" : "", *value);
	print(p, "\",");
}

/* `name{labels} `, with le for a bucket. */
static void print_name(struct page *p, const struct metric_family *f, const struct metric_series *s,
		       const char *suffix, const char *le)
{
	print(p, "%s%s%s", prefix(f->name), f->name, suffix);
	if (!f->label[0] && !*le) {
		print(p, " ");
		return;
	}
	print(p, "{");
	for (unsigned i = 0; i < METRIC_LABELS_MAX && f->label[i]; i++)
		print_label(p, f->label[i], s->value[i]);
	print_label(p, *le ? "le" : "", le);
	p->n -= !p->failed; /* the last comma */
	print(p, "} ");
}

static void print_thousandths(struct page *p, uint64_t n)
{
	print(p, "%" PRIu64 ".%03" PRIu64 "\n", n / 1000, n % 1000);
}

static void print_dollars(struct page *p, uint64_t nano)
{
	print(p, "%" PRIu64 ".%09" PRIu64 "\n", nano / 1000000000, nano % 1000000000);
}

static void print_histogram(struct page *p, enum metric metric, const struct metric_series *s)
{
	const struct metric_family *f = &metric_families[metric];
	const uint32_t *limits;
	unsigned n = metric_buckets(metric, &limits);
	uint64_t below = 0;
	char le[24];

	for (unsigned i = 0; i < n; i++) {
		below += s->bucket[i];
		snprintf(le, sizeof le, "%.10g",
			 f->kind == METRIC_KIND_SECONDS ? limits[i] / 1000.0 : (double)limits[i]);
		print_name(p, f, s, "_bucket", le);
		print(p, "%" PRIu64 "\n", below);
	}
	print_name(p, f, s, "_bucket", "+Inf");
	print(p, "%" PRIu64 "\n", s->n);
	print_name(p, f, s, "_sum", "");
	if (f->kind == METRIC_KIND_SECONDS)
		print_thousandths(p, s->sum);
	else
		print(p, "%" PRIu64 "\n", s->sum);
	print_name(p, f, s, "_count", "");
	print(p, "%" PRIu64 "\n", s->n);
}

static void print_family(struct page *p, const struct metrics *m, enum metric metric)
{
	const struct metric_family *f = &metric_families[metric];

	bool histogram = f->kind == METRIC_KIND_SECONDS || f->kind == METRIC_KIND_TOKENS;

	print_head(p, f->name, histogram ? "histogram" : "counter", f->text);
	for (const struct metric_series *s = m->first[metric]; s; s = s->next) {
		if (histogram) {
			print_histogram(p, metric, s);
			continue;
		}
		print_name(p, f, s, "", "");
		if (f->kind == METRIC_KIND_DOLLARS)
			print_dollars(p, s->sum);
		else if (f->kind == METRIC_KIND_MILLIS)
			print_thousandths(p, s->sum);
		else
			print(p, "%" PRIu64 "\n", s->sum);
	}
}

static void print_now(struct page *p, const struct metrics_now *now)
{
#define G(name, value, text)                                                                       \
	print_head(p, #name, "gauge", text);                                                       \
	print(p, "parley_" #name " %" PRIu64 "\n", (uint64_t)(value));
#define D(name, value, text)                                                                       \
	print_head(p, #name, "gauge", text);                                                       \
	print(p, "parley_" #name " ");                                                             \
	print_dollars(p, value);
	METRIC_GAUGES(G, D)
#undef G
#undef D
}

char *metrics_write(const struct metrics *m, const struct counters *c,
		    const struct metrics_now *now)
{
	struct page p = {0};

	print_now(&p, now);
	for (unsigned i = 0; i < COUNTER_COUNT; i++) {
		char name[64];

		snprintf(name, sizeof name, "%s_total", counter_name(i));
		print_head(&p, name, "counter", counter_text(i));
		print(&p, "parley_%s %" PRIu64 "\n", name, c->v[i]);
	}
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		print_family(&p, m, i);
	if (p.failed) {
		free(p.text);
		return NULL;
	}
	return p.text;
}
