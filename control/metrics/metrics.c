#include "control/metrics/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/metrics/counters.h"

enum kind { SECONDS, COUNT, UNITS, DOLLARS };
enum metric {
#define M(NAME, name, kind, a, b, text) METRIC_##NAME,
	METRICS(M)
#undef M
		METRIC_COUNT
};

static const struct family {
	const char *name, *label[2], *text;
	enum kind kind;
} families[] = {
#define M(NAME, name, kind, a, b, text) {#name, {a, b}, text, kind},
	METRICS(M)
#undef M
};

static const uint32_t limits[] = {
#define B(ms) ms,
	METRIC_BUCKETS_MS(B)
#undef B
};
enum { BUCKETS = sizeof limits / sizeof limits[0], VALUE_MAX = 64 };

struct series {
	struct series *next;
	char value[2][VALUE_MAX];
	uint64_t n, sum;	  /* of events; of ms, units or billionths */
	uint64_t bucket[BUCKETS]; /* not cumulative */
};

struct metrics {
	struct series *first[METRIC_COUNT];
	unsigned n[METRIC_COUNT];
};

int metrics_alloc(struct metrics **out)
{
	*out = calloc(1, sizeof **out);
	return *out ? 0 : ENOMEM;
}

struct metrics *metrics_free(struct metrics *m)
{
	if (!m)
		return NULL;
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		while (m->first[i]) {
			struct series *s = m->first[i];

			m->first[i] = s->next;
			free(s);
		}
	free(m);
	return NULL;
}

/* ---- counting ---- */

static struct series *find(struct metrics *m, enum metric metric, const char *a, const char *b)
{
	struct series **at = &m->first[metric];

	for (; *at; at = &(*at)->next)
		if (strcmp((*at)->value[0], a) == 0 && strcmp((*at)->value[1], b) == 0)
			return *at;
	/* One more than METRIC_VALUES: "other" itself. */
	if (m->n[metric] >= METRIC_VALUES && strcmp(a, "other") != 0)
		return find(m, metric, "other", families[metric].label[1][0] ? "other" : "");
	*at = calloc(1, sizeof **at);
	if (!*at)
		return NULL;
	m->n[metric]++;
	memcpy((*at)->value[0], a, strlen(a));
	memcpy((*at)->value[1], b, strlen(b));
	return *at;
}

/* amount: of ms, units or billionths; 1 of a COUNT. a and b may be NULL. */
static void add(struct metrics *m, enum metric metric, const char *a, const char *b,
		uint64_t amount)
{
	char value[2][VALUE_MAX];
	struct series *s;

	snprintf(value[0], sizeof value[0], "%s", a ? a : "");
	snprintf(value[1], sizeof value[1], "%s", b ? b : "");
	s = find(m, metric, value[0], value[1]);
	if (!s)
		return;
	s->n++;
	s->sum += amount;
	for (unsigned i = 0; families[metric].kind == SECONDS && i < BUCKETS; i++)
		if (amount <= limits[i]) {
			s->bucket[i]++;
			break;
		}
}

static void take_turn(struct metrics *m, const struct event_turn *t)
{
	if (t->first_audio_ms >= 0)
		add(m, METRIC_FIRST_AUDIO, NULL, NULL, (uint64_t)t->first_audio_ms);
	if (t->lasted_ms >= 0)
		add(m, METRIC_TURN, t->reason, NULL, (uint64_t)t->lasted_ms);
}

/* The name of a tool that nobody has is the model's invention. */
static void take_tool(struct metrics *m, const struct event_tool *t)
{
	bool unknown = t->code && strcmp(t->code, "unknown_tool") == 0;

	add(m, METRIC_TOOL, unknown ? "unknown" : t->name, t->code, t->lasted_ms);
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
	add(m, METRIC_COST, u->provider, NULL, u->nano);
}

void metrics_take_event(struct metrics *m, const struct bus_event *ev)
{
	if (ev->type == EVENT_TURN)
		take_turn(m, &ev->turn);
	else if (ev->type == EVENT_UTTERANCE && ev->at_ms >= ev->utterance.ended_ms)
		add(m, METRIC_TRANSCRIPT, NULL, NULL, ev->at_ms - ev->utterance.ended_ms);
	else if (ev->type == EVENT_TOOL_CALLED)
		take_tool(m, &ev->tool);
	else if (ev->type == EVENT_SPEECH_DROPPED)
		add(m, METRIC_DROPPED, ev->speech.reason, NULL, 1);
	else if (ev->type == EVENT_FAULT)
		add(m, METRIC_FAULT, ev->fault.fault, NULL, 1);
	else if (ev->type == EVENT_ENGINE_DOWN)
		add(m, METRIC_ENGINE_DOWN, ev->engine.role, ev->engine.provider, 1);
	else if (ev->type == EVENT_ENGINE_USED)
		take_usage(m, &ev->usage);
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

static void print_head(struct page *p, const char *name, const char *type, const char *text)
{
	print(p, "# HELP parley_%s %s\n# TYPE parley_%s %s\n", name, text, name, type);
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
static void print_name(struct page *p, const struct family *f, const struct series *s,
		       const char *suffix, const char *le)
{
	print(p, "parley_%s%s", f->name, suffix);
	if (!*f->label[0] && !*le) {
		print(p, " ");
		return;
	}
	print(p, "{");
	for (unsigned i = 0; i < 2; i++)
		print_label(p, f->label[i], s->value[i]);
	print_label(p, *le ? "le" : "", le);
	p->n -= !p->failed; /* the last comma */
	print(p, "} ");
}

static void print_histogram(struct page *p, const struct family *f, const struct series *s)
{
	uint64_t below = 0;
	char le[24];

	for (unsigned i = 0; i < BUCKETS; i++) {
		below += s->bucket[i];
		snprintf(le, sizeof le, "%g", limits[i] / 1000.0);
		print_name(p, f, s, "_bucket", le);
		print(p, "%" PRIu64 "\n", below);
	}
	print_name(p, f, s, "_bucket", "+Inf");
	print(p, "%" PRIu64 "\n", s->n);
	print_name(p, f, s, "_sum", "");
	print(p, "%" PRIu64 ".%03" PRIu64 "\n", s->sum / 1000, s->sum % 1000);
	print_name(p, f, s, "_count", "");
	print(p, "%" PRIu64 "\n", s->n);
}

static void print_family(struct page *p, const struct metrics *m, enum metric metric)
{
	const struct family *f = &families[metric];

	print_head(p, f->name, f->kind == SECONDS ? "histogram" : "counter", f->text);
	for (const struct series *s = m->first[metric]; s; s = s->next) {
		if (f->kind == SECONDS) {
			print_histogram(p, f, s);
			continue;
		}
		print_name(p, f, s, "", "");
		if (f->kind == DOLLARS)
			print(p, "%" PRIu64 ".%09" PRIu64 "\n", s->sum / 1000000000,
			      s->sum % 1000000000);
		else
			print(p, "%" PRIu64 "\n", s->sum);
	}
}

static void print_now(struct page *p, const struct metrics_now *now)
{
#define G(name, value, text)                                                                       \
	print_head(p, #name, "gauge", text);                                                       \
	print(p, "parley_" #name " %" PRIu64 "\n", (uint64_t)(value));
	METRIC_GAUGES(G)
#undef G
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
