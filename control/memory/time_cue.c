#include "control/memory/time_cue.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "control/memory/terms.h"
#include "control/memory/time_ago.h"
#include "control/memory/time_cues.def"

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS	  INT64_C(3600000)
#define DAY_MS	  INT64_C(86400000)
/* Of a day's clock: until then people call it night. */
#define NIGHT_END (5 * HOUR_MS)

enum cue_kind {
	CUE_DAYS,      /* the day so many days ago */
	CUE_WEEKS,     /* the week so many weeks ago */
	CUE_MONTHS,    /* the month so many months ago */
	CUE_MORNING,   /* hours 5 to 12 of the day so many days ago */
	CUE_NIGHT,     /* hours 17 to 29 of it */
	CUE_UNTIL_NOW, /* from the day so many days ago until now */
};

static const struct {
	const char *phrase;
	enum cue_kind kind;
	int n;
} cues[] = {
#define C(phrase, kind, n) {phrase, CUE_##kind, n},
	TIME_CUES(C)
#undef C
};

/* LAST: the last such day; WEEK: the one of the week before this one; SINCE: from the last one
 * until now; LOOSE: the last one, unless the day belongs to what was talked about ("the meeting on
 * Friday"). */
enum weekday_kind { WEEKDAY_LAST, WEEKDAY_WEEK, WEEKDAY_SINCE, WEEKDAY_LOOSE };

static const struct {
	const char *before, *after, *day[7];
	enum weekday_kind kind;
} weekdays[] = {
#define W(before, after, kind, ...) {before, after, {__VA_ARGS__}, WEEKDAY_##kind},
	TIME_WEEKDAYS(W)
#undef W
};

/* What makes a numeral behind "last week" a count of something ("上周三个人") or part of a word. */
static const char *const counted[] = {
#define N(text) text,
	TIME_COUNTED(N)
#undef N
};

/* What stands before or behind a phrase and makes it a bound: from its beginning until now (SINCE),
 * or what came before its beginning (BEFORE) or before its end (UNTIL). */
enum bound { BOUND_SINCE, BOUND_BEFORE, BOUND_UNTIL };

static const struct {
	const char *before, *after;
	enum bound bound;
	const char *cue;
} bounds[] = {
#define B(before, after, bound, cue) {before, after, BOUND_##bound, cue},
	TIME_BOUNDS(B)
#undef B
};

static const char *const no_cues[] = {
#define X(text) text,
	TIME_NO_CUES(X)
#undef X
};

/* Only with one of them "hier" is French: in German and Dutch it means "here". */
static const char *const french[] = {"qui",  "que",    "quoi",	     "quand",	"comment",
				     "quel", "quelle", "quels",	     "une",	"avons",
				     "elle", "nous",   "\u00e9tait", "o\u00f9", "pourquoi"};

static bool is_letter(char c)
{
	return isalnum((unsigned char)c);
}

static bool holds_character(const char *set, const char *character)
{
	for (; *set; set += 3)
		if (memcmp(set, character, 3) == 0)
			return true;
	return false;
}

/* The phrase at p is a part of a word that is no time. */
static bool is_part_of_word(const char *text, const char *p, const char *phrase)
{
	for (size_t i = 0; i < sizeof no_cues / sizeof no_cues[0]; i++) {
		const char *at = strstr(no_cues[i], phrase);
		size_t before = at ? (size_t)(at - no_cues[i]) : 0;

		if (at && (size_t)(p - text) >= before &&
		    strncmp(p - before, no_cues[i], strlen(no_cues[i])) == 0)
			return true;
	}
	return false;
}

/* "十三日前" is no "三日前", nor "べんきょう" "きょう"; a particle may stand before the latter. */
static bool goes_on_before(const char *text, const char *p, const char *phrase)
{
	static const char numerals[] = "一二三四五六七八九十百千两第";
	static const char particles[] = "はもがにをのとでかねよ";
	const char *end = p, *first = phrase, *before = p - 3;

	if (p - text < 3 || !((unsigned char)*before & 0x80))
		return false;
	if (holds_character(numerals, before))
		return strlen(phrase) >= 3 && holds_character(numerals, phrase);
	return terms_is_hiragana(terms_next(&first, phrase + strlen(phrase))) &&
	       terms_is_hiragana(terms_next(&before, end)) && !holds_character(particles, p - 3);
}

/* Where the phrase stands, as words of its own where it is of letters; NULL: it does not. */
static const char *find_phrase(const char *text, const char *phrase)
{
	size_t n = strlen(phrase);

	for (const char *p = strstr(text, phrase); p; p = strstr(p + 1, phrase))
		if ((p == text || !is_letter(p[-1]) || !is_letter(phrase[0])) &&
		    (!is_letter(p[n]) || !is_letter(phrase[n - 1])) &&
		    !is_part_of_word(text, p, phrase) && !goes_on_before(text, p, phrase))
			return p;
	return NULL;
}

/* ---- the calendar ---- */

static int64_t floor_to(int64_t v, int64_t unit)
{
	return v - ((v % unit) + unit) % unit;
}

/* Days since 1970 of the first day of a month; months count from January 1970. */
static int64_t month_start(int64_t month)
{
	int64_t year = 1970 + floor_to(month, 12) / 12, m = month - floor_to(month, 12) + 1;
	int64_t y = m <= 2 ? year - 1 : year, era = floor_to(y, 400) / 400, yoe = y - era * 400;
	int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5;

	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static int64_t month_of(int64_t day)
{
	int64_t month = day / 31;

	while (month_start(month + 1) <= day)
		month++;
	return month;
}

/* A window in local ms, and the phrase of the text that names it. */
struct span {
	int64_t from, to;
	bool elapsed; /* counted back from now, so the offset of now holds for both ends */
	bool loose;
	const char *at;
	size_t n;
};

static struct span span_of(enum cue_kind kind, int n, int64_t now)
{
	int64_t day = floor_to(now, DAY_MS), from;
	int64_t month = month_of(day / DAY_MS) - n;

	/* "tonight" and "this morning" of somebody who is still up after midnight. */
	if ((kind == CUE_NIGHT || kind == CUE_MORNING) && n == 0 && now - day < NIGHT_END)
		day -= DAY_MS;
	switch (kind) {
	case CUE_DAYS:
		return (struct span){.from = day - n * DAY_MS, .to = day - (n - 1) * DAY_MS};
	case CUE_WEEKS:
		/* 1970 began on a Thursday. */
		from = floor_to(day + 3 * DAY_MS, 7 * DAY_MS) - 3 * DAY_MS - n * 7 * DAY_MS;
		return (struct span){.from = from, .to = from + 7 * DAY_MS};
	case CUE_MONTHS:
		return (struct span){.from = month_start(month) * DAY_MS,
				     .to = month_start(month + 1) * DAY_MS};
	case CUE_MORNING:
		return (struct span){.from = day - n * DAY_MS + NIGHT_END,
				     .to = day - n * DAY_MS + 12 * HOUR_MS};
	case CUE_NIGHT:
		return (struct span){.from = day - n * DAY_MS + 17 * HOUR_MS,
				     .to = day - (n - 1) * DAY_MS + NIGHT_END};
	case CUE_UNTIL_NOW:
		return (struct span){.from = day - n * DAY_MS, .to = now};
	}
	return (struct span){.from = now, .to = now};
}

static bool begins_counted(const char *text)
{
	for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
		if (strncmp(text, counted[i], strlen(counted[i])) == 0)
			return true;
	return false;
}

/* A part of a list that '|' parts, in front of the day or behind it. */
static bool find_joined(const char *text, const char *list, bool in_front, const char *day,
			struct span *out)
{
	char phrase[64];

	while (*list) {
		int n = (int)strcspn(list, "|");
		const char *p;

		if (in_front)
			snprintf(phrase, sizeof phrase, "%.*s%s", n, list, day);
		else
			snprintf(phrase, sizeof phrase, "%s%.*s", day, n, list);
		p = find_phrase(text, phrase);
		out->at = p;
		out->n = strlen(phrase);
		if (p && !begins_counted(p + out->n))
			return true;
		list += n + (list[n] == '|');
	}
	return false;
}

/* WEEKDAY_WEEK: of a week that is named, too, whose name alone is a cue. */
static bool find_weekday(const char *text, int64_t now, enum weekday_kind kind, struct span *out)
{
	int64_t today = floor_to(now, DAY_MS) / DAY_MS, weekday = (today + 3) % 7;

	for (size_t l = 0; l < sizeof weekdays / sizeof weekdays[0]; l++)
		for (int i = 0; i < 7; i++) {
			int64_t ago = (weekday - i + 7) % 7;
			const char *day = weekdays[l].day[i];
			struct span named;

			if (weekdays[l].kind != kind ||
			    (!find_joined(text, weekdays[l].before, true, day, &named) &&
			     !find_joined(text, weekdays[l].after, false, day, &named)))
				continue;
			ago = kind == WEEKDAY_WEEK ? weekday + 7 - i : ago ? ago : 7;
			*out = span_of(kind == WEEKDAY_SINCE ? CUE_UNTIL_NOW : CUE_DAYS, (int)ago,
				       now);
			out->loose = kind == WEEKDAY_LOOSE;
			out->at = named.at;
			out->n = named.n;
			return true;
		}
	return false;
}

/* Half a unit before and after. */
static struct span span_around(int64_t now, const struct time_ago *ago, int64_t unit)
{
	int64_t most = ago->half ? unit / 2 : ago->most * unit;
	int64_t least = ago->half ? unit / 2 : ago->least * unit,
		by = ago->half ? unit / 4 : unit / 2;

	return (struct span){.from = now - most - by, .to = now - least + by, .elapsed = true};
}

/* "two days ago": that day; "three hours ago": half an hour before and after. */
static struct span span_ago(int64_t now, const struct time_ago *ago)
{
	static const int days[] = {[TIME_DAYS] = 1, [TIME_WEEKS] = 7, [TIME_MONTHS] = 30};
	static const enum cue_kind kinds[] = {
		[TIME_DAYS] = CUE_DAYS, [TIME_WEEKS] = CUE_WEEKS, [TIME_MONTHS] = CUE_MONTHS};
	int64_t unit = ago->unit == TIME_MINUTES ? MINUTE_MS : HOUR_MS;
	struct span s;

	if (ago->unit >= TIME_DAYS && (ago->since || ago->half))
		return span_of(CUE_UNTIL_NOW, (ago->half ? 1 : ago->most) * days[ago->unit], now);
	if (ago->unit >= TIME_DAYS) {
		s = span_of(kinds[ago->unit], ago->least, now);
		s.from = span_of(kinds[ago->unit], ago->most, now).from;
		return s;
	}
	s = span_around(now, ago, unit);
	if (ago->since) {
		s.from = now - (ago->half ? unit / 2 : ago->most * unit);
		s.to = now;
	}
	return s;
}

static bool find_ago(const char *text, int64_t now, struct span *out)
{
	struct time_ago ago;

	if (!time_ago_find(text, &ago))
		return false;
	*out = span_ago(now, &ago);
	out->at = ago.at;
	out->n = ago.n;
	return true;
}

static bool has_day(int64_t month, int day)
{
	return month_start(month + 1) - month_start(month) >= day;
}

/* The last such date up to today, in days since 1970; with a year, the date of that year. Months
 * without such a day are passed over. False: the year has no such date. */
static bool last_date(const struct time_date *d, int64_t today, int64_t *day)
{
	const int64_t step = d->month ? 12 : 1;
	int64_t month = month_of(today);

	if (d->year)
		month = (d->year - 1970) * INT64_C(12) + d->month - 1;
	else if (d->month)
		month = floor_to(month, 12) + d->month - 1;
	if (d->year && !has_day(month, d->day))
		return false;
	while (!d->year && (month_start(month) + d->day - 1 > today || !has_day(month, d->day)))
		month -= step;
	*day = month_start(month) + d->day - 1;
	return true;
}

/* It may be the date of what was talked about. */
static bool find_date(const char *text, int64_t now, struct span *out)
{
	struct time_date d;
	int64_t day;

	if (!time_date_find(text, &d) || !last_date(&d, floor_to(now, DAY_MS) / DAY_MS, &day))
		return false;
	*out = (struct span){.from = day * DAY_MS,
			     .to = (day + 1) * DAY_MS,
			     .loose = true,
			     .at = d.at,
			     .n = d.n};
	return true;
}

static bool is_french(const char *text)
{
	for (size_t i = 0; i < sizeof french / sizeof french[0]; i++)
		if (find_phrase(text, french[i]))
			return true;
	return false;
}

/* The longest phrase counts. */
static bool find_cue(const char *text, int64_t now, struct span *out)
{
	size_t longest = 0;

	for (size_t i = 0; i < sizeof cues / sizeof cues[0]; i++) {
		size_t n = strlen(cues[i].phrase);
		const char *at = n > longest ? find_phrase(text, cues[i].phrase) : NULL;

		if (!at || (strcmp(cues[i].phrase, "hier") == 0 && !is_french(text)))
			continue;
		longest = n;
		*out = span_of(cues[i].kind, cues[i].n, now);
		out->at = at;
		out->n = n;
	}
	return longest > 0;
}

/* As a word of its own, unless it is of a script without blanks. */
static bool ends_with(const char *text, const char *end, const char *phrase)
{
	size_t n = strlen(phrase);
	const char *before = end - n - 1;

	return n && (size_t)(end - text) >= n && memcmp(end - n, phrase, n) == 0 &&
	       ((size_t)(end - text) == n || (unsigned char)*phrase >= 0xe0 ||
		(!is_letter(*before) && !((unsigned char)*before & 0x80)));
}

static bool is_bound(const char *text, const struct span *s, size_t i)
{
	const char *after = bounds[i].after, *end = s->at + s->n;

	if (strncmp(s->at, bounds[i].cue, strlen(bounds[i].cue)) != 0)
		return false;
	return ends_with(text, s->at, bounds[i].before) ||
	       (*after && strncmp(end, after, strlen(after)) == 0);
}

/* "since yesterday", "before last week". What came before a time may be far from it. */
static void apply_bound(const char *text, int64_t now, struct span *s)
{
	for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
		if (!is_bound(text, s, i))
			continue;
		if (bounds[i].bound == BOUND_SINCE) {
			s->to = now;
			s->loose = false;
		} else {
			s->to = bounds[i].bound == BOUND_BEFORE ? s->from : s->to;
			s->from = 0;
			s->loose = true;
		}
		return;
	}
}

static bool find_span(const char *text, int64_t now, struct span *out)
{
	bool found = find_ago(text, now, out) || find_weekday(text, now, WEEKDAY_WEEK, out) ||
		     find_cue(text, now, out) || find_weekday(text, now, WEEKDAY_SINCE, out) ||
		     find_weekday(text, now, WEEKDAY_LAST, out) || find_date(text, now, out) ||
		     find_weekday(text, now, WEEKDAY_LOOSE, out);

	if (found)
		apply_bound(text, now, out);
	return found;
}

/* Cut after a whole character. */
static void copy_lower(char to[TIME_CUE_TEXT], const char *from)
{
	const char *p = from, *end = from + strlen(from), *at;
	size_t n = 0;
	uint32_t c;

	while ((at = p, c = terms_next(&p, end)) && n + (size_t)(p - at) < TIME_CUE_TEXT) {
		uint32_t lower = terms_lower(c);

		if (terms_is_apostrophe(c)) {
			to[n++] = '\'';
		} else if (p - at == 2 && lower >= 0x80 && lower < 0x800) {
			to[n++] = (char)(0xc0 | lower >> 6);
			to[n++] = (char)(0x80 | (lower & 0x3f));
		} else if (p - at == 1 && c < 0x80) {
			to[n++] = (char)lower;
		} else {
			memcpy(to + n, at, (size_t)(p - at));
			n += (size_t)(p - at);
		}
	}
	to[n] = '\0';
}

static uint64_t time_of(int64_t at_ms)
{
	return at_ms > 0 ? (uint64_t)at_ms : 0;
}

bool time_cue_find(const char *question, uint64_t now_ms, const struct calendar_zone *zone,
		   struct time_window *out)
{
	char text[TIME_CUE_TEXT];
	int64_t offset, now;
	struct span s;

	if (now_ms > (uint64_t)INT64_MAX / 4)
		return false;
	offset = calendar_offset(zone, now_ms) * 1000;
	now = (int64_t)now_ms + offset;
	copy_lower(text, question);
	if (!find_span(text, now, &s))
		return false;
	if (s.elapsed)
		*out = (struct time_window){time_of(s.from - offset), time_of(s.to - offset),
					    s.loose};
	else
		*out = (struct time_window){time_of(calendar_time(zone, s.from)),
					    time_of(calendar_time(zone, s.to)), s.loose};
	return true;
}

void time_cue_note(json_t *request, const char *question, uint64_t now_ms,
		   const struct calendar_zone *zone)
{
	struct time_window w;

	if (!time_cue_find(question, now_ms, zone, &w) || w.loose)
		return;
	json_object_set_new(request, "since_ms", json_integer((json_int_t)w.since_ms));
	json_object_set_new(request, "until_ms", json_integer((json_int_t)w.until_ms));
}

void time_cue_strip(char out[TIME_CUE_TEXT], const char *question)
{
	/* Where a phrase stands depends on no time. */
	const int64_t now = 40 * 365 * DAY_MS;
	struct span s;

	copy_lower(out, question);
	if (find_span(out, now, &s))
		memset(out + (s.at - out), ' ', s.n);
}
