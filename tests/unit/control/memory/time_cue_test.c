#include "control/memory/time_cue.h"

#include <time.h>

#include "tests/test.h"

/* Monday, 23 November 2026, 14:00 UTC. */
#define NOW UINT64_C(1795442400000)

static int64_t fixed(uint64_t at_ms, void *arg)
{
	const int32_t *offset_s = arg;

	(void)at_ms;
	return *offset_s;
}

/* Berlin in 2026: summer time from 29 March to 25 October, 1:00 UTC. */
static int64_t berlin(uint64_t at_ms, void *arg)
{
	(void)arg;
	return at_ms >= UINT64_C(1774746000000) && at_ms < UINT64_C(1792890000000) ? 7200 : 3600;
}

/* As the clocks of the zone show it. */
static const char *window_at(const char *question, uint64_t now_ms, const struct calendar_zone *z)
{
	static char out[64];
	struct time_window w;
	struct tm tm;
	size_t n = 0;

	if (!time_cue_find(question, now_ms, z, &w))
		return "none";
	for (unsigned i = 0; i < 2; i++) {
		uint64_t at = i ? w.until_ms : w.since_ms;
		time_t t = (time_t)(at / 1000) + calendar_offset(z, at);

		gmtime_r(&t, &tm);
		n += strftime(out + n, sizeof out - n, i ? " %m-%dT%H:%M" : "%m-%dT%H:%M", &tm);
	}
	return out;
}

/* "11-22T00:00 11-23T00:00" in the zone. */
static const char *window(const char *question, int32_t offset_s)
{
	const struct calendar_zone zone = {fixed, &offset_s};

	return window_at(question, NOW, &zone);
}

TEST(days_begin_at_midnight_after_a_change_of_the_clocks)
{
	static const struct calendar_zone zone = {berlin, NULL};
	/* Monday 26 October, 12:00, and Monday 30 March, 12:00 in Berlin. */
	const uint64_t autumn = UINT64_C(1793012400000), spring = UINT64_C(1774864800000);
	struct time_window w;

	CHECK_STR(window_at("yesterday", autumn, &zone), "10-25T00:00 10-26T00:00");
	CHECK_STR(window_at("last week", autumn, &zone), "10-19T00:00 10-26T00:00");
	CHECK_STR(window_at("this morning", autumn, &zone), "10-26T05:00 10-26T12:00");
	CHECK_STR(window_at("what was said 6 months ago", autumn, &zone),
		  "04-01T00:00 05-01T00:00");
	CHECK_STR(window_at("8 months ago", autumn, &zone), "02-01T00:00 03-01T00:00");
	CHECK_STR(window_at("the day before yesterday", spring, &zone), "03-28T00:00 03-29T00:00");
	CHECK_STR(window_at("yesterday", spring, &zone), "03-29T00:00 03-30T00:00");
	CHECK_STR(window_at("last month", spring, &zone), "02-01T00:00 03-01T00:00");
	/* The day that lost an hour, and the one that has one more. */
	CHECK(time_cue_find("yesterday", spring, &zone, &w));
	CHECK_INT(w.until_ms - w.since_ms, 23 * 3600000);
	CHECK(time_cue_find("yesterday", autumn, &zone, &w));
	CHECK_INT(w.until_ms - w.since_ms, 25 * 3600000);
	/* So many hours are as long as ever. */
	CHECK(time_cue_find("40 hours ago", autumn, &zone, &w));
	CHECK_INT(w.since_ms, autumn - 40 * UINT64_C(3600000) - 1800000);
}

TEST(days_begin_at_midnight_of_the_zone)
{
	CHECK_STR(window("what did Ana say yesterday", 0), "11-22T00:00 11-23T00:00");
	CHECK_STR(window("What happened TODAY?", 36000), "11-24T00:00 11-25T00:00");
	CHECK_STR(window("the day before yesterday, please", -3600), "11-21T00:00 11-22T00:00");
	CHECK_STR(window("who came last night", 0), "11-22T17:00 11-23T05:00");
	CHECK_STR(window("this morning", 0), "11-23T05:00 11-23T12:00");
}

TEST(weeks_months_and_weekdays_are_whole)
{
	CHECK_STR(window("what was decided last week", 0), "11-16T00:00 11-23T00:00");
	CHECK_STR(window("this month", 0), "11-01T00:00 12-01T00:00");
	CHECK_STR(window("last month", 0), "10-01T00:00 11-01T00:00");
	CHECK_STR(window("about the release on Tuesday", 0), "11-17T00:00 11-18T00:00");
	CHECK_STR(window("last monday", 0), "11-16T00:00 11-17T00:00");
}

TEST(so_long_ago_is_counted)
{
	CHECK_STR(window("two days ago", 0), "11-21T00:00 11-22T00:00");
	CHECK_STR(window("what did he say 3 hours ago", 0), "11-23T10:30 11-23T11:30");
	CHECK_STR(window("a week ago", 0), "11-16T00:00 11-23T00:00");
}

TEST(other_languages_name_days_too)
{
	CHECK_STR(window("was hat Ana gestern gesagt", 0), "11-22T00:00 11-23T00:00");
	CHECK_STR(window("昨日の会議", 0), "11-22T00:00 11-23T00:00");
	CHECK_STR(window("어제 뭐라고 했어", 0), "11-22T00:00 11-23T00:00");
	CHECK_STR(window("昨天他说了什么", 0), "11-22T00:00 11-23T00:00");
}

TEST(each_language_of_the_room_names_times)
{
	static const char *const yesterday[] = {"was war GESTERN",    "qui \u00e9tait l\u00e0 hier",
						"qu\u00e9 dijo ayer", "chi c'era ieri",
						"quem veio ontem",    "wie kwam gisteren",
						"kto był wczoraj",    "Кто был Вчера",
						"きのうの話",	      "어제 뭐라고",
						"昨天谁来了"};
	static const char *const monday[] = {"letzten Montag",
					     "lundi dernier",
					     "el lunes pasado",
					     "luned\u00ec scorso",
					     "segunda-feira passada",
					     "vorige maandag",
					     "w zeszły poniedziałek",
					     "в прошлый понедельник",
					     "先週の月曜",
					     "지난주 월요일",
					     "上周一"};

	for (size_t i = 0; i < sizeof yesterday / sizeof yesterday[0]; i++)
		CHECK_STR(window(yesterday[i], 0), "11-22T00:00 11-23T00:00");
	for (size_t i = 0; i < sizeof monday / sizeof monday[0]; i++)
		CHECK_STR(window(monday[i], 0), "11-16T00:00 11-17T00:00");
	CHECK_STR(window("上周日", 0), "11-22T00:00 11-23T00:00");
	CHECK_STR(window("先週の土曜", 0), "11-21T00:00 11-22T00:00");
	CHECK_STR(window("две недели назад", 0), "11-09T00:00 11-16T00:00");
	/* Within a longer phrase a shorter one does not count. */
	CHECK_STR(window("wat was gisteravond", 0), "11-22T17:00 11-23T05:00");
	CHECK_STR(window("позавчера", 0), "11-21T00:00 11-22T00:00");
	CHECK_STR(window("what was said yesterday of the trip on tuesday", 0),
		  "11-22T00:00 11-23T00:00");
	/* "Here", and a plan. */
	CHECK_STR(window("wer war hier", 0), "none");
	CHECK_STR(window("wie is hier", 0), "none");
	CHECK_STR(window("was machen wir am Montag", 0), "none");
}

/* Tuesday, 24 November 2026, 00:30 UTC, and in New York and Tokyo with it. */
TEST(after_midnight_tonight_is_the_evening_that_began_before)
{
	static const char *const tonight[] = {"what did Ana say tonight",
					      "was war heute Abend",
					      "ce soir",
					      "今晩",
					      "今晚",
					      "this evening"};
	static const int32_t offsets[] = {0, -18000, 32400};
	const uint64_t half_past = UINT64_C(1795480200000);

	for (size_t z = 0; z < sizeof offsets / sizeof offsets[0]; z++) {
		int32_t offset_s = offsets[z];
		const struct calendar_zone zone = {fixed, &offset_s};
		uint64_t at = half_past - (uint64_t)(int64_t)offset_s * 1000;

		for (size_t i = 0; i < sizeof tonight / sizeof tonight[0]; i++)
			CHECK_STR(window_at(tonight[i], at, &zone), "11-23T17:00 11-24T05:00");
		CHECK_STR(window_at("this morning", at, &zone), "11-23T05:00 11-23T12:00");
		CHECK_STR(window_at("last night", at, &zone), "11-23T17:00 11-24T05:00");
		/* At five a day has begun. */
		CHECK_STR(window_at("tonight", at + UINT64_C(16200000), &zone),
			  "11-24T17:00 11-25T05:00");
		CHECK_STR(window_at("this morning", at + UINT64_C(16200000), &zone),
			  "11-24T05:00 11-24T12:00");
	}
}

TEST(a_weekday_may_be_the_subjects)
{
	struct time_window w;

	CHECK_STR(window("what did we plan for this Friday", 0), "none");
	CHECK(time_cue_find("about the meeting on Friday", NOW, NULL, &w) && w.loose);
	CHECK_STR(window("about the meeting on Friday", 0), "11-20T00:00 11-21T00:00");
	CHECK(time_cue_find("what did she say last Friday", NOW, NULL, &w) && !w.loose);
	CHECK(time_cue_find("yesterday of the trip on friday", NOW, NULL, &w) && !w.loose);
}

TEST(half_an_hour_is_no_hour)
{
	CHECK_STR(window("what did he say half an hour ago", 0), "11-23T13:15 11-23T13:45");
	CHECK_STR(window("an hour ago", 0), "11-23T12:30 11-23T13:30");
	/* Not the first one of its kind. */
	CHECK_STR(window("about the day trip two days ago", 0), "11-21T00:00 11-22T00:00");
	CHECK_STR(window("her birthday, a holiday, 3 days ago", 0), "11-20T00:00 11-21T00:00");
}

TEST(a_numeral_that_counts_is_no_weekday)
{
	CHECK_STR(window("上周一共开了几次会", 0), "11-16T00:00 11-23T00:00");
	CHECK_STR(window("上周三个人", 0), "11-16T00:00 11-23T00:00");
	CHECK_STR(window("上周五六个人来了", 0), "11-16T00:00 11-23T00:00");
	CHECK_STR(window("上周三我们说了什么", 0), "11-18T00:00 11-19T00:00");
	CHECK_STR(window("上星期五的会议", 0), "11-20T00:00 11-21T00:00");
}

TEST(a_phrase_within_another_word_is_no_time)
{
	static const char *const none[] = {
		"目前天气怎么样",     "我们以前天天喝什么",   "日本周边有什么",
		"十三天前他说了什么", "十三日前に何と言った", "べんきょうの話",
		"とうきょうの話",     "きょうだいの話",	      "그제서야 왔다고 누가 했어"};

	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		if (strcmp(window(none[i], 0), "none") != 0)
			test_fail(__FILE__, __LINE__, "\"%s\" is %s", none[i], window(none[i], 0));
	CHECK_STR(window("前天我们喝了什么", 0), "11-21T00:00 11-22T00:00");
	CHECK_STR(window("三日前に何と言った", 0), "11-20T00:00 11-21T00:00");
	CHECK_STR(window("三天前他说了什么", 0), "11-20T00:00 11-21T00:00");
	CHECK_STR(window("私はきょう何を言った", 0), "11-23T00:00 11-24T00:00");
	CHECK_STR(window("그제 뭐라고 했어", 0), "11-21T00:00 11-22T00:00");
	CHECK_STR(window("本周有什么", 0), "11-23T00:00 11-30T00:00");
}

TEST(apostrophes_of_phones_count)
{
	CHECK_STR(window("qu\u2019a-t-elle dit aujourd\u2019hui", 0), "11-23T00:00 11-24T00:00");
}

TEST(numbers_are_read_as_people_say_them)
{
	CHECK_STR(window("twenty five minutes ago", 0), "11-23T13:34 11-23T13:35");
	CHECK_STR(window("twenty-two days ago", 0), "11-01T00:00 11-02T00:00");
	CHECK_STR(window("twenty minutes ago", 0), "11-23T13:39 11-23T13:40");
	CHECK_STR(window("fifteen minutes ago", 0), "11-23T13:44 11-23T13:45");
	CHECK_STR(window("what did Ana say two and a half hours ago", 0),
		  "11-23T10:30 11-23T12:30");
	CHECK_STR(window("an hour and a half ago", 0), "11-23T11:30 11-23T13:30");
	CHECK_STR(window("a couple of days ago", 0), "11-20T00:00 11-23T00:00");
	CHECK_STR(window("a few weeks ago", 0), "10-19T00:00 11-16T00:00");
	CHECK_STR(window("a hundred and five days ago", 0), "none");
	CHECK_STR(window("what did Ana say day before yesterday", 0), "11-21T00:00 11-22T00:00");
}

TEST(times_until_now_end_now)
{
	CHECK_STR(window("what has Ana said since yesterday", 0), "11-22T00:00 11-23T14:00");
	CHECK_STR(window("was hat Ana seit gestern gesagt", 0), "11-22T00:00 11-23T14:00");
	CHECK_STR(window("depuis hier, qui est venu", 0), "11-22T00:00 11-23T14:00");
	CHECK_STR(window("昨日から何を", 0), "11-22T00:00 11-23T14:00");
	CHECK_STR(window("从昨天到现在说了什么", 0), "11-22T00:00 11-23T14:00");
	CHECK_STR(window("since last week", 0), "11-16T00:00 11-23T14:00");
	CHECK_STR(window("what happened since friday", 0), "11-20T00:00 11-23T14:00");
	CHECK_STR(window("seit Freitag", 0), "11-20T00:00 11-23T14:00");
	CHECK_STR(window("since two days ago", 0), "11-21T00:00 11-23T14:00");
	CHECK_STR(window("what did Ana say in the last week", 0), "11-16T00:00 11-23T14:00");
	CHECK_STR(window("over the past month", 0), "10-24T00:00 11-23T14:00");
	CHECK_STR(window("within the last three days", 0), "11-20T00:00 11-23T14:00");
	CHECK_STR(window("the past hour", 0), "11-23T13:00 11-23T14:00");
	CHECK_STR(window("in the last 24 hours", 0), "11-22T14:00 11-23T14:00");
	CHECK_STR(window("ces derniers jours", 0), "11-18T00:00 11-23T14:00");
	/* The week before this one. */
	CHECK_STR(window("last week", 0), "11-16T00:00 11-23T00:00");
	CHECK_STR(window("what was it the last week", 0), "11-16T00:00 11-23T00:00");
}

TEST(words_of_another_language_are_no_bounds)
{
	struct time_window w;

	CHECK(time_cue_find("what did we do yesterday", NOW, NULL, &w) && !w.loose);
	CHECK_STR(window("what did we do yesterday", 0), "11-22T00:00 11-23T00:00");
	CHECK_STR(window("what did you do last week", 0), "11-16T00:00 11-23T00:00");
	CHECK_STR(window("a reunião do mês passado", 0), "10-01T00:00 11-01T00:00");
	CHECK_STR(window("a reunião da semana passada", 0), "11-16T00:00 11-23T00:00");
	CHECK_STR(window("antes de ontem", 0), "11-21T00:00 11-22T00:00");
	CHECK_STR(window("какой был вопрос вчера", 0), "11-22T00:00 11-23T00:00");
	CHECK_STR(window("что было надо вчера", 0), "11-22T00:00 11-23T00:00");
	CHECK_STR(window("что было до вчера", 0), "01-01T00:00 11-23T00:00");
	CHECK_STR(window("co mówił do wczoraj", 0), "01-01T00:00 11-23T00:00");
	CHECK_STR(window("cosa ha detto da ieri", 0), "11-22T00:00 11-23T14:00");
}

TEST(the_last_one_of_something_is_no_time)
{
	CHECK_STR(window("when is the last day of school", 0), "none");
	CHECK_STR(window("what is the last day to hand it in", 0), "none");
	CHECK_STR(window("who cancelled at the last minute", 0), "none");
	CHECK_STR(window("what did we leave for the last hour of the meeting", 0), "none");
	CHECK_STR(window("in the last hour", 0), "11-23T13:00 11-23T14:00");
	CHECK_STR(window("within the last day", 0), "11-22T00:00 11-23T14:00");
}

TEST(what_came_before_a_time_may_be_older)
{
	struct time_window w;

	CHECK(time_cue_find("what did we say before yesterday", NOW, NULL, &w));
	CHECK(w.loose && !w.since_ms);
	CHECK_STR(window("before yesterday", 0), "01-01T00:00 11-22T00:00");
	CHECK_STR(window("until yesterday", 0), "01-01T00:00 11-23T00:00");
	CHECK_STR(window("bis gestern", 0), "01-01T00:00 11-23T00:00");
	/* Another word that ends so. */
	CHECK_STR(window("otrzymano tbis gestern", 0), "11-22T00:00 11-23T00:00");
}

TEST(dates_are_the_last_ones)
{
	struct time_window w;

	CHECK(time_cue_find("what did we decide on the 5th?", NOW, NULL, &w) && w.loose);
	CHECK_STR(window("what did we decide on the 5th?", 0), "11-05T00:00 11-06T00:00");
	CHECK_STR(window("on the 30th", 0), "10-30T00:00 10-31T00:00");
	CHECK_STR(window("on the 23rd", 0), "11-23T00:00 11-24T00:00");
	CHECK_STR(window("on November 5th", 0), "11-05T00:00 11-06T00:00");
	CHECK_STR(window("on the 5th of December", 0), "12-05T00:00 12-06T00:00");
	CHECK_STR(window("on 2026-11-05", 0), "11-05T00:00 11-06T00:00");
	CHECK_STR(window("may 2, 2026", 0), "05-02T00:00 05-03T00:00");
	CHECK(time_cue_find("on the 5th of december", NOW, NULL, &w));
	CHECK_INT(w.since_ms, INT64_C(1764892800000)); /* of 2025 */
	CHECK_STR(window("on the 31st", 0), "10-31T00:00 11-01T00:00");
	CHECK(time_cue_find("on february 29", NOW, NULL, &w));
	CHECK_INT(w.since_ms, INT64_C(1709164800000)); /* of 2024 */
	CHECK_STR(window("on february 29, 2024", 0), "02-29T00:00 03-01T00:00");
	CHECK_STR(window("on february 29, 2026", 0), "none");
	CHECK_STR(window("I forgot. What was on the 5th?", 0), "11-05T00:00 11-06T00:00");
	CHECK_STR(window("the 2nd time we met", 0), "none");
	CHECK_STR(window("february 30", 0), "none");
	CHECK_STR(window("on the 5", 0), "none");
}

TEST(the_words_of_a_time_can_be_left_out)
{
	char out[TIME_CUE_TEXT];

	time_cue_strip(out, "What did Ana say 2 days ago about the dog");
	CHECK_STR(out, "what did ana say            about the dog");
	time_cue_strip(out, "on the 5th?");
	CHECK_STR(out, "on the    ?");
	time_cue_strip(out, "which one for 4 years?");
	CHECK_STR(out, "which one for 4 years?");
}

TEST(what_is_no_time_gives_no_window)
{
	CHECK_STR(window("what did Ana say about Friday's release", 0), "none");
	CHECK_STR(window("days of the week", 0), "none");
	CHECK_STR(window("some day ago", 0), "none");
	CHECK_STR(window("", 0), "none");
}

TEST(a_request_for_facts_gets_the_time_that_the_question_surely_names)
{
	json_t *request = json_object();

	time_cue_note(request, "what was it called", NOW, NULL);
	time_cue_note(request, "the meeting on tuesday", NOW, NULL);
	CHECK_INT(json_object_size(request), 0);
	time_cue_note(request, "what did we call it yesterday", NOW, NULL);
	CHECK_INT(json_integer_value(json_object_get(request, "since_ms")),
		  (int64_t)NOW - 38 * INT64_C(3600000));
	CHECK_INT(json_integer_value(json_object_get(request, "until_ms")),
		  (int64_t)NOW - 14 * INT64_C(3600000));
	json_decref(request);
}
