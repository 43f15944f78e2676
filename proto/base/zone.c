#include "proto/base/zone.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "proto/base/cursor.h"

#define DAY_S  INT64_C(86400)
#define HOUR_S 3600
/* Times whose year has four digits. */
#define TIME_MAX INT64_C(253402300799)

enum {
	COUNTS = 6,
	RULE_MAX = 128,
	OFFSET_MAX = 26 * HOUR_S,
	HOURS_MAX = 167, /* of a change, from midnight of its day */
	DIGITS = 3,
	TYPE_SIZE = 6,
};

bool zone_is_name(const char *name)
{
	size_t n = strlen(name);

	if (!n || n > ZONE_NAME_MAX || name[0] == '/' || name[n - 1] == '/' || strstr(name, "//"))
		return false;
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_+-/", *p))
			return false;
	return true;
}

/* ---- the rule behind the list ---- */

/* The day and time of a change: "M3.5.0/2", "J60", "59". */
struct change {
	char kind; /* 'M': month, week, day of the week; 'J': without leap days; 0: with them */
	int month, week, day;
	int at_s;
};

struct rule {
	int standard, summer; /* seconds east of UTC */
	bool has_summer;
	struct change begins, ends;
};

static bool read_number(const char **p, int most, int *out)
{
	int n = 0, digits = 0;

	for (; isdigit((unsigned char)**p) && digits < DIGITS; ++*p, digits++)
		n = 10 * n + (**p - '0');
	*out = n;
	return digits && n <= most;
}

static bool skip(const char **p, char c)
{
	bool is = **p == c;

	*p += is;
	return is;
}

/* "[+-]hh[:mm[:ss]]" */
static bool read_time(const char **p, int hours, int *out)
{
	bool minus = **p == '-';
	int h, m = 0, s = 0;

	*p += **p == '-' || **p == '+';
	if (!read_number(p, hours, &h) || (skip(p, ':') && !read_number(p, 59, &m)) ||
	    (skip(p, ':') && !read_number(p, 59, &s)))
		return false;
	*out = (h * HOUR_S + m * 60 + s) * (minus ? -1 : 1);
	return true;
}

static bool skip_name(const char **p)
{
	const char *from = *p, *end;

	if (**p == '<') {
		end = strchr(*p, '>');
		*p = end ? end + 1 : *p;
		return end != NULL;
	}
	while (isalpha((unsigned char)**p))
		++*p;
	return *p - from >= 3;
}

static bool read_change(const char **p, struct change *out)
{
	*out = (struct change){.at_s = 2 * HOUR_S};
	if (!skip(p, ','))
		return false;
	if (skip(p, 'M')) {
		out->kind = 'M';
		if (!read_number(p, 12, &out->month) || !out->month || !skip(p, '.') ||
		    !read_number(p, 5, &out->week) || !out->week || !skip(p, '.') ||
		    !read_number(p, 6, &out->day))
			return false;
	} else {
		out->kind = skip(p, 'J') ? 'J' : 0;
		if (!read_number(p, 365, &out->day) || (out->kind && !out->day))
			return false;
	}
	return !skip(p, '/') || read_time(p, HOURS_MAX, &out->at_s);
}

/* Offsets have their sign the other way round: "CET-1" is east of UTC. */
static bool read_rule(const char *p, struct rule *out)
{
	*out = (struct rule){0};
	if (!skip_name(&p) || !read_time(&p, 24, &out->standard))
		return false;
	out->standard = -out->standard;
	if (!*p)
		return true;
	out->has_summer = true;
	out->summer = out->standard + HOUR_S;
	if (!skip_name(&p))
		return false;
	if (*p != ',') {
		if (!read_time(&p, 24, &out->summer))
			return false;
		out->summer = -out->summer;
	}
	return read_change(&p, &out->begins) && read_change(&p, &out->ends) && !*p;
}

static bool is_leap(int year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days since 1970. month: from 0 on; it may lie beyond the year. */
static int64_t first_day(int year, int month)
{
	struct tm t = {.tm_year = year - 1900, .tm_mon = month, .tm_mday = 1};

	return timegm(&t) / DAY_S;
}

/* Seconds since 1970 of the clock on the wall. */
static int64_t change_at(const struct change *c, int year)
{
	int64_t day = first_day(year, 0);

	if (c->kind == 'M') {
		int64_t first = first_day(year, c->month - 1);
		int64_t next = first_day(year, c->month);
		int64_t weekday = ((first + 4) % 7 + 7) % 7; /* 1970 began on a Thursday */

		day = first + (c->day - weekday + 7) % 7 + (c->week - 1) * INT64_C(7);
		day -= day >= next ? 7 : 0;
	} else if (c->kind == 'J') {
		day += c->day - 1 + (is_leap(year) && c->day >= 60);
	} else {
		day += c->day;
	}
	return day * DAY_S + c->at_s;
}

static int32_t apply_rule(const struct rule *r, int64_t at_s)
{
	time_t there = (time_t)(at_s + r->standard);
	struct tm t = {0};
	int64_t begins, ends;
	bool inside;

	if (!r->has_summer)
		return r->standard;
	gmtime_r(&there, &t);
	begins = change_at(&r->begins, t.tm_year + 1900) - r->standard;
	ends = change_at(&r->ends, t.tm_year + 1900) - r->summer;
	inside = begins < ends ? at_s >= begins && at_s < ends : at_s >= begins || at_s < ends;
	return inside ? r->summer : r->standard;
}

/* ---- the file ---- */

/* In the order of the header. */
enum { UT, STANDARD, LEAPS, TIMES, TYPES, CHARS };

struct block {
	uint32_t count[COUNTS];
	unsigned time_size;
	const uint8_t *times, *indexes, *types;
};

static bool read_block(struct rd *r, struct block *b, unsigned time_size)
{
	const uint8_t *magic = rd_bytes(r, 4);

	*b = (struct block){.time_size = time_size};
	rd_bytes(r, 16); /* the version, and nothing */
	for (unsigned i = 0; i < COUNTS; i++) {
		b->count[i] = (uint32_t)rd_be(r, 4);
		if (b->count[i] > ZONE_FILE_MAX)
			return false;
	}
	b->times = rd_bytes(r, (size_t)b->count[TIMES] * time_size);
	b->indexes = rd_bytes(r, b->count[TIMES]);
	b->types = rd_bytes(r, (size_t)b->count[TYPES] * TYPE_SIZE);
	rd_bytes(r, (size_t)b->count[CHARS] + (size_t)b->count[LEAPS] * (time_size + 4) +
			    b->count[STANDARD] + b->count[UT]);
	return r->ok && magic && memcmp(magic, "TZif", 4) == 0 && b->count[TYPES];
}

static int64_t time_of(const struct block *b, uint32_t i)
{
	struct rd r = rd_of(b->times + (size_t)i * b->time_size, b->time_size);
	uint64_t v = rd_be(&r, b->time_size);

	return b->time_size == 4 ? (int32_t)(uint32_t)v : (int64_t)v;
}

static bool offset_of(const struct block *b, uint8_t type, int32_t *out)
{
	struct rd r = rd_of(b->types + (size_t)type * TYPE_SIZE, TYPE_SIZE);

	if (type >= b->count[TYPES])
		return false;
	*out = (int32_t)(uint32_t)rd_be(&r, 4);
	return *out >= -OFFSET_MAX && *out <= OFFSET_MAX;
}

/* The line between two ends of lines that closes the file. False: there is none. */
static bool read_last_line(struct rd *r, char out[RULE_MAX])
{
	size_t n = rd_left(r);
	const uint8_t *p = rd_bytes(r, n);

	if (n < 3 || n - 2 >= RULE_MAX || p[0] != '\n' || p[n - 1] != '\n')
		return false;
	memcpy(out, p + 1, n - 2);
	out[n - 2] = '\0';
	return strlen(out) == n - 2;
}

static bool find_offset(const struct block *b, struct rd *rest, int64_t at_s, int32_t *out)
{
	uint32_t times = b->count[TIMES], i = 0;
	char line[RULE_MAX];
	struct rule rule;

	while (i < times && time_of(b, i) <= at_s)
		i++;
	if (i == times && read_last_line(rest, line)) {
		if (!read_rule(line, &rule))
			return false;
		*out = apply_rule(&rule, at_s);
		return true;
	}
	return offset_of(b, i ? b->indexes[i - 1] : 0, out);
}

bool zone_offset(const uint8_t *file, size_t n, int64_t at_s, int32_t *offset)
{
	struct rd r = rd_of(file, n);
	bool wide = n > 4 && file[4] >= '2';
	struct block b;

	if (n > ZONE_FILE_MAX || at_s < -TIME_MAX || at_s > TIME_MAX || !read_block(&r, &b, 4))
		return false;
	/* The same once more with wide times. */
	if (wide && !read_block(&r, &b, 8))
		return false;
	return find_offset(&b, &r, at_s, offset);
}
