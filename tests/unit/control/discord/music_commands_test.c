/* /music: what its subcommands say, the entries that texts name, and what is suggested. */
#include "control/discord/music_commands.h"

#include <errno.h>

#include "control/library/index.h"
#include "tests/test.h"

static int parse(const char *text, struct music_command *m, json_t **keep)
{
	*keep = json_loads(text, 0, NULL);
	return music_command_parse(*keep, m);
}

#define SUB(name, options)  "[{\"name\":\"" name "\",\"type\":1,\"options\":[" options "]}]"
#define TEXT(name, value)   "{\"name\":\"" name "\",\"type\":3,\"value\":\"" value "\"}"
#define NUMBER(name, value) "{\"name\":\"" name "\",\"type\":4,\"value\":" value "}"

TEST(music_commands_are_parsed)
{
	struct music_command m;
	json_t *d;

	CHECK_INT(parse(SUB("add", TEXT("query", "the sea")), &m, &d), 0);
	CHECK_INT(m.kind, MUSIC_COMMAND_ADD);
	CHECK_INT(m.act, MUSIC_ACT_QUEUE_ADD);
	CHECK_STR(m.query, "the sea");
	json_decref(d);
	CHECK_INT(parse("[{\"name\":\"skip\",\"type\":1}]", &m, &d), 0);
	CHECK_INT(m.act, MUSIC_ACT_SKIP);
	json_decref(d);
	CHECK_INT(parse(SUB("move", TEXT("track", "#17") "," NUMBER("place", "3")), &m, &d), 0);
	CHECK_STR(m.track, "#17");
	CHECK_INT(m.place, 2);
	json_decref(d);
	CHECK_INT(parse(SUB("volume", NUMBER("percent", "35")), &m, &d), 0);
	CHECK_INT(m.volume, 350);
	json_decref(d);
	CHECK_INT(parse(SUB("loop", TEXT("mode", "queue")), &m, &d), 0);
	CHECK_INT(m.loop, MUSIC_LOOP_QUEUE);
	json_decref(d);
	CHECK_INT(parse(SUB("queue", ""), &m, &d), 0);
	CHECK_INT(m.page, 0);
	json_decref(d);
	CHECK_INT(parse(SUB("queue", NUMBER("page", "2")), &m, &d), 0);
	CHECK_INT(m.page, 1);
	json_decref(d);
}

TEST(music_commands_that_are_not_as_registered_are_malformed)
{
	static const char *const wrong[] = {
		"{}",
		"[]",
		"[7]",
		"[{\"name\":\"skip\"}]",
		SUB("dance", ""),
		SUB("add", ""),
		SUB("add", TEXT("query", "")),
		SUB("add", NUMBER("query", "3")),
		SUB("volume", NUMBER("percent", "101")),
		SUB("volume", NUMBER("percent", "-1")),
		SUB("volume", TEXT("percent", "7")),
		SUB("move", TEXT("track", "#1")),
		SUB("move", TEXT("track", "#1") "," NUMBER("place", "0")),
		SUB("loop", TEXT("mode", "sideways")),
		SUB("queue", NUMBER("page", "0")),
	};

	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct music_command m = {.volume = 7};
		json_t *d;

		if (parse(wrong[i], &m, &d) != EBADMSG)
			test_fail(__FILE__, __LINE__, "taken: %s", wrong[i]);
		CHECK_INT(m.volume, 7);
		json_decref(d);
	}
}

static int seek(const char *text, uint64_t *s)
{
	json_t *d = json_pack("[{s:s,s:i,s:[{s:s,s:i,s:s}]}]", "name", "seek", "type", 1, "options",
			      "name", "position", "type", 3, "value", text);
	struct music_command m;
	int err = music_command_parse(d, &m);

	*s = m.position_s;
	json_decref(d);
	return err;
}

TEST(a_position_is_seconds_or_parts_with_colons)
{
	static const char *const wrong[] = {"x",   "1:",    "1:60",    "1:2:3:4", ":30",    "-5",
					    "1.5", "1:003", "9999999", " ",	  "999999", "90 s"};
	uint64_t s;

	CHECK_INT(seek("90", &s), 0);
	CHECK_INT(s, 90);
	CHECK_INT(seek("1:30", &s), 0);
	CHECK_INT(s, 90);
	CHECK_INT(seek(" 1:02:03 ", &s), 0);
	CHECK_INT(s, 3723);
	CHECK_INT(seek("0", &s), 0);
	CHECK_INT(s, 0);
	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		if (seek(wrong[i], &s) != EINVAL)
			test_fail(__FILE__, __LINE__, "taken: %s", wrong[i]);
}

TEST(a_time_is_written_as_it_is_read)
{
	char text[MUSIC_TIME_MAX];

	music_time_write(text, 0);
	CHECK_STR(text, "0:00");
	music_time_write(text, 200);
	CHECK_STR(text, "3:20");
	music_time_write(text, 3723);
	CHECK_STR(text, "1:02:03");
	music_time_write(text, TRACK_DURATION_MAX_S);
	CHECK_STR(text, "168:00:00");
}

static struct music_queue *queue(const char *const *titles, unsigned n)
{
	struct music_queue *q = NULL;
	size_t first;

	if (music_queue_alloc(&q, 100, 301))
		return NULL;
	for (unsigned i = 0; i < n; i++) {
		struct track t = {.source = TRACK_LOCAL, .reference = "x"};

		snprintf(t.title, sizeof t.title, "%s", titles[i]);
		if (music_queue_add(q, &t, 1, MUSIC_QUEUE_END, &first))
			return music_queue_free(q);
	}
	return q;
}

static const char *const titles[] = {"The Sea", "Mountains", "Night Train", "99 Clouds"};

static const char *address(const char *query)
{
	static char text[100];
	struct slice s;

	if (!music_command_address(query, &s))
		return "words";
	snprintf(text, sizeof text, "%.*s", (int)s.n, (const char *)s.p);
	return text;
}

TEST(an_address_is_known_however_it_was_typed)
{
	CHECK_STR(address("http://a.example/x"), "http://a.example/x");
	CHECK_STR(address("Https://a.example/X"), "Https://a.example/X");
	CHECK_STR(address("HTTP://a.example"), "HTTP://a.example");
	CHECK_STR(address("<http://a.example/x>"), "http://a.example/x");
	CHECK_STR(address("<http://a.example/x"), "words");
	CHECK_STR(address("<the waves>"), "words");
	CHECK_STR(address("https"), "words");
	CHECK_STR(address("<>"), "words");
	CHECK_STR(address(""), "words");
}

TEST(a_text_names_an_entry_by_id_place_or_title)
{
	struct music_queue *q = queue(titles, 4);
	uint32_t first;

	CHECK(q);
	first = music_queue_at(q, 0)->id;
	CHECK_INT(music_command_find(q, "#2"), 2);
	CHECK_INT(music_command_find(q, "1"), first);
	CHECK_INT(music_command_find(q, "night train"), music_queue_at(q, 2)->id);
	CHECK_INT(music_command_find(q, "the see"), first);
	CHECK_INT(music_command_find(q, "99 clouds"), music_queue_at(q, 3)->id);
	CHECK_INT(music_command_find(q, "#9"), 0);
	CHECK_INT(music_command_find(q, "#99999999999999999999"), 0);
	CHECK_INT(music_command_find(q, "7"), 0);
	CHECK_INT(music_command_find(q, "something else"), 0);
	music_queue_free(q);
}

/* Places move; entries do not. */
TEST(a_suggested_entry_is_the_same_after_the_queue_has_moved)
{
	struct music_queue *q = queue(titles, 4);
	json_t *list;
	const char *value;
	uint32_t train;

	CHECK(q);
	train = music_queue_at(q, 2)->id;
	list = music_suggest_entries(q, "train");
	CHECK_INT(json_array_size(list), 1);
	value = json_string_value(json_object_get(json_array_get(list, 0), "value"));
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 0), "name")),
		  "3. Night Train");
	music_queue_advance(q, MUSIC_ENDED);
	CHECK_INT(music_command_find(q, value), train);
	json_decref(list);
	list = music_suggest_entries(q, "");
	CHECK_INT(json_array_size(list), 3);
	json_decref(list);
	list = music_suggest_entries(q, "2");
	CHECK_INT(json_array_size(list), 1);
	json_decref(list);
	music_queue_free(q);
}

TEST(suggestions_name_the_album_where_it_tells_them_apart)
{
	struct library_hit hits[3] = {0};
	json_t *list;

	for (unsigned i = 0; i < 3; i++)
		snprintf(hits[i].track.title, sizeof hits[i].track.title, i < 2 ? "One" : "Two");
	snprintf(hits[0].track.album, sizeof hits[0].track.album, "Achtung Baby");
	snprintf(hits[1].track.album, sizeof hits[1].track.album, "Live");
	snprintf(hits[2].track.album, sizeof hits[2].track.album, "Live");
	list = music_suggest_hits(hits, 3);
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 0), "value")),
		  "One [Achtung Baby]");
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 1), "name")),
		  "One [Live]");
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 2), "value")), "Two");
	json_decref(list);
}

TEST(suggestions_keep_discords_limits)
{
	static struct library_hit hits[30];
	struct music_queue *q = queue(titles, 0);
	struct track t = {.source = TRACK_LOCAL, .reference = "x"};
	json_t *list, *x;
	size_t i, first;

	CHECK(q);
	for (i = 0; i < 30; i++) {
		for (size_t k = 0; k + 4 < sizeof t.title; k += 3)
			memcpy(t.title + k, "音", 4);
		hits[i].track = t;
		CHECK_INT(music_queue_add(q, &t, 1, MUSIC_QUEUE_END, &first), 0);
	}
	for (unsigned k = 0; k < 2; k++) {
		list = k ? music_suggest_entries(q, "") : music_suggest_hits(hits, 30);
		CHECK_INT(json_array_size(list), 25);
		json_array_foreach(list, i, x)
		{
			CHECK(json_string_length(json_object_get(x, "name")) <= 100);
			CHECK(json_string_length(json_object_get(x, "value")) <= 100);
			CHECK(json_string_length(json_object_get(x, "value")) > 0);
		}
		json_decref(list);
	}
	music_queue_free(q);
}

/* Of one locale; of the English text where it has none. */
static size_t count_characters(const json_t *options, const char *locale)
{
	json_t *o;
	size_t i, n = 0;

	json_array_foreach(options, i, o)
	{
		const json_t *local =
			json_object_get(json_object_get(o, "description_localizations"), locale);

		n += json_string_length(json_object_get(o, "name")) +
		     json_string_length(local ? local : json_object_get(o, "description")) +
		     json_string_length(json_object_get(o, "value"));
		n += count_characters(json_object_get(o, "options"), locale) +
		     count_characters(json_object_get(o, "choices"), locale);
	}
	return n;
}

static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void check_localizations(const json_t *o)
{
	const json_t *all = json_object_get(o, "description_localizations");
	const char *locale;
	json_t *text;

	CHECK_INT(json_object_size(all), 13);
	json_object_foreach((json_t *)(uintptr_t)all, locale, text)
	{
		CHECK(strlen(locale) == 2 || strlen(locale) == 5 || strcmp(locale, "es-419") == 0);
		CHECK(characters(json_string_value(text)) <= 100);
	}
}

TEST(music_commands_are_within_the_documented_limits)
{
	static const char *const locales[] = {"en", "de", "ru", "ja"};
	json_t *list = music_command_options(), *o;
	size_t i;

	CHECK(json_array_size(list) <= 25);
	for (i = 0; i < sizeof locales / sizeof locales[0]; i++)
		CHECK(count_characters(list, locales[i]) < 8000);
	json_array_foreach(list, i, o)
	{
		CHECK_INT(json_integer_value(json_object_get(o, "type")), 1);
		CHECK(json_string_length(json_object_get(o, "description")) >= 1);
		CHECK(json_string_length(json_object_get(o, "description")) <= 100);
		check_localizations(o);
	}
	json_decref(list);
}

/* jansson's own memory never fails in this test; what is missing is left out. */
TEST_OOM(suggestions_survive_a_lack_of_memory)
{
	struct music_queue *q = NULL;
	struct track t = {.source = TRACK_LOCAL, .reference = "x", .title = "The Sea"};
	size_t first;
	int err = music_queue_alloc(&q, 1, 2);

	if (!err)
		err = music_queue_add(q, &t, 1, MUSIC_QUEUE_END, &first);
	if (!err) {
		CHECK_INT(music_command_find(q, "the sea"), music_queue_at(q, 0)->id);
		json_decref(music_suggest_entries(q, ""));
		json_decref(music_command_options());
	}
	music_queue_free(q);
	CHECK_OOM(err, (void)0);
}
