#include "control/memory/time_cue.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/terms.h"
#include "control/memory/time_cues.def"

#define HOUR_MS INT64_C(3600000)
#define DAY_MS	INT64_C(86400000)
/* Of a day's clock: until then people call it night. */
#define NIGHT_END (5 * HOUR_MS)

enum { TEXT_SIZE = 512 };

enum cue_kind {
	CUE_DAYS,    /* the day so many days ago */
	CUE_WEEKS,   /* the week so many weeks ago */
	CUE_MONTHS,  /* the month so many months ago */
	CUE_MORNING, /* hours 5 to 12 of the day so many days ago */
	CUE_NIGHT,   /* hours 17 to 29 of it */
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

/* LAST: the last such day; WEEK: the one of the week before this one; LOOSE: the last one, unless
 * the day belongs to what was talked about ("the meeting on Friday"). */
enum weekday_kind { WEEKDAY_LAST, WEEKDAY_WEEK, WEEKDAY_LOOSE };

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

static const char *const no_cues[] = {
#define X(text) text,
	TIME_NO_CUES(X)
#undef X
};

/* Only with one of them "hier" is French: in German and Dutch it means "here". */
static const char *const french[] = {"qui",  "que",    "quoi",	     "quand",	"comment",
				     "quel", "quelle", "quels",	     "une",	"avons",
				     "elle", "nous",   "\u00e9tait", "o\u00f9", "pourquoi"};
static const char *const numbers[] = {"one",   "two",	"three", "four", "five",   "six",
				      "seven", "eight", "nine",	 "ten",	 "eleven", "twelve"};

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

/* A window in local ms. */
struct span {
	int64_t from, to;
	bool elapsed; /* counted back from now, so the offset of now holds for both ends */
	bool loose;
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
static bool find_joined(const char *text, const char *list, bool in_front, const char *day)
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
		if (p && !begins_counted(p + strlen(phrase)))
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

			if (weekdays[l].kind != kind ||
			    (!find_joined(text, weekdays[l].before, true, day) &&
			     !find_joined(text, weekdays[l].after, false, day)))
				continue;
			ago = kind == WEEKDAY_WEEK ? weekday + 7 - i : ago ? ago : 7;
			*out = span_of(CUE_DAYS, (int)ago, now);
			out->loose = kind == WEEKDAY_LOOSE;
			return true;
		}
	return false;
}

/* The number that ends before `end`: "3", "two", "a", "a few"; 0: none. */
static int number_before(const char *text, const char *end)
{
	const char *p = end, *from;
	size_t n;

	while (p > text && p[-1] == ' ')
		p--;
	for (from = p; from > text && from[-1] != ' ';)
		from--;
	n = (size_t)(p - from);
	for (int i = 0; i < 12; i++)
		if (strlen(numbers[i]) == n && strncmp(from, numbers[i], n) == 0)
			return i + 1;
	if ((n == 1 && *from == 'a') || (n == 2 && strncmp(from, "an", 2) == 0))
		return 1;
	return n && n < 5 && isdigit((unsigned char)*from) ? atoi(from) : 0;
}

static struct span span_ago(int64_t now, int64_t ago, int64_t unit)
{
	return (struct span){
		.from = now - ago - unit / 2, .to = now - ago + unit / 2, .elapsed = true};
}

/* "two days ago": that day; "three hours ago": half an hour before and after. */
static bool find_ago(const char *text, int64_t now, struct span *out)
{
	static const struct {
		const char *unit;
		int64_t ms;
	} units[] = {{"minute", 60000},
		     {"hour", HOUR_MS},
		     {"day", DAY_MS},
		     {"week", 7 * DAY_MS},
		     {"month", 30 * DAY_MS}};

	if (find_phrase(text, "half an hour ago")) {
		*out = span_ago(now, HOUR_MS / 2, HOUR_MS / 2);
		return true;
	}
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		size_t n = strlen(units[i].unit);

		for (const char *p = strstr(text, units[i].unit); p;
		     p = strstr(p + n, units[i].unit)) {
			int many = number_before(text, p);

			if (!many || strncmp(p + n + (p[n] == 's'), " ago", 4) != 0)
				continue;
			if (units[i].ms < DAY_MS)
				*out = span_ago(now, many * units[i].ms, units[i].ms);
			else
				*out = span_of(units[i].ms == DAY_MS ? CUE_DAYS
					       : i == 3		     ? CUE_WEEKS
								     : CUE_MONTHS,
					       many, now);
			return true;
		}
	}
	return false;
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

		if (n <= longest || !find_phrase(text, cues[i].phrase) ||
		    (strcmp(cues[i].phrase, "hier") == 0 && !is_french(text)))
			continue;
		longest = n;
		*out = span_of(cues[i].kind, cues[i].n, now);
	}
	return longest > 0;
}

/* Cut after a whole character. */
static void copy_lower(char to[TEXT_SIZE], const char *from)
{
	const char *p = from, *end = from + strlen(from), *at;
	size_t n = 0;
	uint32_t c;

	while ((at = p, c = terms_next(&p, end)) && n + (size_t)(p - at) < TEXT_SIZE) {
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
	char text[TEXT_SIZE];
	int64_t offset, now;
	struct span s;

	if (now_ms > (uint64_t)INT64_MAX / 4)
		return false;
	offset = calendar_offset(zone, now_ms) * 1000;
	now = (int64_t)now_ms + offset;
	copy_lower(text, question);
	if (!find_ago(text, now, &s) && !find_weekday(text, now, WEEKDAY_WEEK, &s) &&
	    !find_cue(text, now, &s) && !find_weekday(text, now, WEEKDAY_LAST, &s) &&
	    !find_weekday(text, now, WEEKDAY_LOOSE, &s))
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
