#include "control/offline/brain_tools.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "control/offline/facts.h"
#include "control/offline/words.h"

#define NOT_SURE "I am not sure that this is it. "

void brain_say_dice(const unsigned *values, unsigned n, char *buf, size_t size)
{
	unsigned total = 0;
	char said[64];
	size_t k;

	number_say(n, said, sizeof said);
	k = (size_t)snprintf(buf, size, n > 1 ? "%s dice: " : "I rolled ", said);
	for (unsigned i = 0; i < n && k < size; i++) {
		const char *between = !i ? "" : i + 1 < n ? ", " : " and ";

		total += values[i];
		number_say(values[i], said, sizeof said);
		k += (size_t)snprintf(buf + k, size - k, "%s%s", between, said);
	}
	number_say(total, said, sizeof said);
	if (n > 1 && k < size)
		snprintf(buf + k, size - k, ". That makes %s.", said);
	else if (k < size)
		snprintf(buf + k, size - k, ".");
	buf[0] = (char)toupper((unsigned char)buf[0]);
}

/* ---- outputs ---- */

static void say_roll(const json_t *output, char *buf, size_t size)
{
	const json_t *dice = json_object_get(output, "dice");
	unsigned values[BRAIN_DICE], n = 0;

	for (size_t i = 0; i < json_array_size(dice) && n < BRAIN_DICE; i++)
		values[n++] = (unsigned)json_integer_value(json_array_get(dice, i));
	if (n)
		brain_say_dice(values, n, buf, size);
}

enum { MINUTES_A_DAY = 1440 };

/* "Yesterday ", or nothing for today. */
static void say_when(json_int_t days, char *buf, size_t size)
{
	char count[32];

	buf[0] = '\0';
	if (days == 1)
		snprintf(buf, size, "Yesterday ");
	if (days > 1) {
		number_say((int)(days < 9999 ? days : 9999), count, sizeof count);
		count[0] = (char)toupper((unsigned char)count[0]);
		snprintf(buf, size, "%s days ago ", count);
	}
}

/* The newest two. */
static void say_found(const json_t *output, char *buf, size_t size)
{
	const json_t *first = json_array_get(output, 0);
	const char *head = json_is_true(json_object_get(first, "other_time"))
				   ? "I have no record of that time. "
			   : json_is_true(json_object_get(first, "unsure")) ? NOT_SURE
									    : "";
	size_t i, n = 0;
	const json_t *one;
	char when[64];

	json_array_foreach(output, i, one)
	{
		const char *speaker = json_string_value(json_object_get(one, "speaker"));
		const char *said = json_string_value(json_object_get(one, "said"));
		const json_t *minutes = json_object_get(one, "minutes_ago");

		/* Results call the bot so. */
		if (speaker && strcmp(speaker, "you") == 0)
			speaker = "I";
		say_when(json_integer_value(minutes) / MINUTES_A_DAY, when, sizeof when);
		if (speaker && said && n < size && i < 2)
			n += (size_t)snprintf(buf + n, size - n, "%s%s%s said: %s.", i ? " " : head,
					      when, speaker, said);
	}
	if (!n)
		snprintf(buf, size, "I have no record of that.");
}

/* ---- memory ---- */

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static bool say_refusal(const json_t *output, char *buf, size_t size)
{
	const char *error = text_at(output, "error");

	if (strcmp(error, "not_consented") == 0)
		snprintf(buf, size,
			 "I may not remember what you say. The command consent changes that.");
	else if (*error)
		snprintf(buf, size, "I cannot do that with my memory.");
	return *error;
}

static void say_skipped(const json_t *skipped, char *buf, size_t size)
{
	static const struct {
		const char *reason, *text;
	} says[] = {{"duplicate", "I know that already."},
		    {"sensitive_content", "I do not keep secrets."},
		    {"write_rate_limited", "That is too much to remember at once."}};
	const char *reason = text_at(json_array_get(skipped, 0), "reason");

	snprintf(buf, size, "I cannot remember that.");
	for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
		if (strcmp(says[i].reason, reason) == 0)
			snprintf(buf, size, "%s", says[i].text);
}

static void say_written(const json_t *output, char *buf, size_t size)
{
	const json_t *written = json_array_get(json_object_get(output, "written"), 0);
	char turned[2 * FACT_SIZE];

	if (say_refusal(output, buf, size))
		return;
	if (!written) {
		say_skipped(json_object_get(output, "skipped"), buf, size);
		return;
	}
	fact_turn_round(text_at(written, "text"), turned, sizeof turned);
	snprintf(buf, size, "I will remember that %s.", turned);
}

/* A fact, when it was told, and the newest one that it took the place of. */
static void say_fact(const json_t *match, char *buf, size_t size)
{
	const json_t *former = json_array_get(json_object_get(match, "former"), 0);
	bool own = json_is_true(json_object_get(match, "by_asker"));
	struct fact f = {0};
	char said[2 * FACT_SIZE + 64], before[2 * FACT_SIZE], when[64];

	snprintf(f.text, sizeof f.text, "%s", text_at(match, "text"));
	snprintf(f.speaker, sizeof f.speaker, "%s", own ? "" : text_at(match, "said_by"));
	fact_say(&f, "", said, sizeof said);
	say_when(json_integer_value(json_object_get(match, "days_ago")), when, sizeof when);
	if (*when && own)
		said[0] = (char)tolower((unsigned char)said[0]);
	if (own)
		fact_turn_round(text_at(former, "text"), before, sizeof before);
	else
		snprintf(before, sizeof before, "%s", text_at(former, "text"));
	/* That it is the same thing is a guess of the search: prompts leave it out, too. */
	if (json_is_true(json_object_get(former, "unsure")))
		before[0] = '\0';
	snprintf(buf, size, "%s%s%s%s%s", when, said, *before ? " Before that I was told: " : "",
		 before, *before ? "." : "");
}

/* The search found the facts by their meaning alone, which finds a bike for a car. */
static bool is_far(const char *query, const json_t *output)
{
	const json_t *one;
	bool some = false;
	size_t i;

	json_array_foreach(json_object_get(output, "matches"), i, one)
	{
		if (json_is_true(json_object_get(one, "unsure")))
			continue;
		some = true;
		if (facts_share(query, text_at(one, "text")) ||
		    facts_share(query, text_at(one, "said_by")))
			return false;
	}
	return some && *query;
}

/* Puts a doubt before what is said of them. */
static void doubt_matches(const char *arguments, const json_t *output, char *buf, size_t size)
{
	json_t *request = json_loads(arguments, 0, NULL);
	size_t n = strlen(buf), k = strlen(NOT_SURE);

	if (is_far(text_at(request, "query"), output) && k + n < size) {
		memmove(buf + k, buf, n + 1);
		memcpy(buf, NOT_SURE, k);
	}
	json_decref(request);
}

static void say_matches(const json_t *output, char *buf, size_t size)
{
	const json_t *one;
	char said[4 * FACT_SIZE + 192];
	size_t i, n = 0;

	if (say_refusal(output, buf, size))
		return;
	json_array_foreach(json_object_get(output, "matches"), i, one)
	{
		/* About something else, perhaps; prompts leave it out, too. */
		if (json_is_true(json_object_get(one, "unsure")))
			continue;
		say_fact(one, said, sizeof said);
		if (n < size)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? " " : "", said);
	}
	/* What people told it in private is not looked for there, and may be something. */
	if (!n && json_is_true(json_object_get(output, "open")))
		snprintf(buf, size,
			 "I know nothing about that which I may say here. The command forget shows "
			 "what you told me.");
	else if (!n)
		snprintf(buf, size, "Nobody has told me anything about that.");
}

/* The words of a fact to the person who told it; "": they may not be said here. */
static void turn_fact(const json_t *list, size_t i, char turned[2 * FACT_SIZE])
{
	char text[FACT_SIZE];

	snprintf(text, sizeof text, "%s", text_at(json_array_get(list, i), "text"));
	fact_turn_round(text, turned, 2 * FACT_SIZE);
}

/* Nothing was forgotten: the words hold too little of each of these. */
static void say_candidates(const json_t *near, char *buf, size_t size)
{
	char one[2 * FACT_SIZE], other[2 * FACT_SIZE];

	turn_fact(near, 0, one);
	turn_fact(near, 1, other);
	if (!*one)
		snprintf(buf, size, "I know several things like that. Which one do you mean?");
	else if (!*other)
		snprintf(buf, size, "I know that %s. If you mean that, say it in these words.",
			 one);
	else
		snprintf(buf, size, "I know that %s, and that %s. Which one do you mean?", one,
			 other);
}

/* Of several the best goes, and the person is to know which, and that others stay. */
static void say_forgotten(const json_t *output, char *buf, size_t size)
{
	const json_t *gone = json_object_get(output, "forgotten");
	const json_t *near = json_object_get(output, "candidates");
	size_t n = json_array_size(gone), others = json_array_size(near);
	char turned[2 * FACT_SIZE];

	if (say_refusal(output, buf, size))
		return;
	turn_fact(gone, 0, turned);
	if (n && others && *turned)
		snprintf(buf, size,
			 "I have forgotten that %s. I still know something else like that.",
			 turned);
	else if (n && others)
		snprintf(buf, size,
			 "I have forgotten one of the things like that which you told me.");
	else if (others)
		say_candidates(near, buf, size);
	else
		snprintf(buf, size, "%s",
			 n ? "I have forgotten it." : "You have not told me anything like that.");
}

/* ---- music ---- */

static void say_title(const json_t *track, char *buf, size_t size)
{
	const char *artist = text_at(track, "artist");

	snprintf(buf, size, "%s%s%s", text_at(track, "title"), *artist ? " by " : "", artist);
}

static bool is_titled_alike(const json_t *options, const json_t *one)
{
	size_t i;
	const json_t *other;

	json_array_foreach(options, i, other)
	{
		if (other != one && strcmp(text_at(other, "title"), text_at(one, "title")) == 0 &&
		    strcmp(text_at(other, "artist"), text_at(one, "artist")) == 0)
			return true;
	}
	return false;
}

/* Such as "Moon River by Ana", and with its album where another one is called that, too. */
static void say_option(const json_t *options, const json_t *one, char *buf, size_t size)
{
	const char *album = is_titled_alike(options, one) ? text_at(one, "album") : "";
	size_t n;

	say_title(one, buf, size);
	n = strlen(buf);
	if (*album)
		snprintf(buf + n, size - n, " from the album %s", album);
}

/* With their numbers, by which people choose. */
static void say_options(const json_t *options, char *buf, size_t size)
{
	size_t i, n = (size_t)snprintf(buf, size, "Which one:");
	char number[32], title[300];
	const json_t *one;

	json_array_foreach(options, i, one)
	{
		number_say((int)i + 1, number, sizeof number);
		say_option(options, one, title, sizeof title);
		if (n < size)
			n += (size_t)snprintf(buf + n, size - n, "%s %s, %s", i ? ", or" : "",
					      number, title);
	}
	if (n < size)
		snprintf(buf + n, size - n, "?");
}

/* The music itself answers a request to play it. */
static void say_played(const json_t *output, char *buf, size_t size)
{
	const char *status = text_at(output, "status");

	if (strcmp(status, "needs_disambiguation") == 0)
		say_options(json_object_get(output, "options"), buf, size);
	else if (strcmp(status, "not_found") == 0)
		snprintf(buf, size, "I have no such music.");
	else
		snprintf(buf, size, "Here it is.");
}

static void say_queued(const json_t *output, char *buf, size_t size)
{
	const char *first = json_string_value(json_array_get(json_object_get(output, "added"), 0));

	if (first)
		snprintf(buf, size, "I have queued %s.", first);
	else
		say_played(output, buf, size);
}

static void say_playing(const json_t *output, char *buf, size_t size)
{
	const json_t *track = json_object_get(output, "track");
	char title[200];

	say_title(track, title, sizeof title);
	if (track)
		snprintf(buf, size, "This is %s.", title);
	else
		snprintf(buf, size, "Nothing plays at the moment.");
}

/* A command may have changed something else than the volume: the state tells it all the same. */
static void say_changed(const json_t *output, char *buf, size_t size)
{
	const json_t *percent = json_object_get(output, "volume_percent");
	char volume[32], full[32];

	number_say((double)json_integer_value(percent), volume, sizeof volume);
	number_say(100, full, sizeof full);
	if (percent)
		snprintf(buf, size, "The volume is %s of %s.", volume, full);
}

static const struct {
	const char *tool;
	void (*say)(const json_t *output, char *buf, size_t size); /* NULL: that it is done */
	bool plain; /* the reason of a failure is said alone */
} says[] = {{"roll", say_roll, false},
	    {"conversation_search", say_found, false},
	    {"memory_write", say_written, false},
	    {"memory_search", say_matches, false},
	    {"memory_forget", say_forgotten, false},
	    {"music_play", say_played, true},
	    {"music_queue_add", say_queued, true},
	    {"music_now_playing", say_playing, true},
	    {"music_change", say_changed, true},
	    {"music_pause", NULL, true},
	    {"music_resume", NULL, true},
	    {"music_skip", NULL, true},
	    {"media_stop", NULL, true}};

static bool wants_yes(const json_t *root)
{
	return strcmp(text_at(json_object_get(root, "error"), "code"), "needs_yes") == 0;
}

/* Messages for models begin small and have no full stop. */
static void say_sentence(const char *before, const char *text, char *buf, size_t size)
{
	size_t n = strlen(text);

	snprintf(buf, size, "%s%c%s%s", before, toupper((unsigned char)*text), text + 1,
		 strchr(".!?", text[n - 1]) ? "" : ".");
}

/* A tool that was not run, or not to its end, explains nothing. */
static void say_error(const json_t *root, bool plain, char *buf, size_t size)
{
	const json_t *error = json_object_get(root, "error");
	const char *message = text_at(error, "message");
	bool own = plain && strcmp(text_at(error, "code"), "failed") == 0;

	if (wants_yes(root))
		snprintf(buf, size, "%s", text_at(error, "question"));
	else if (*message)
		say_sentence(own ? "" : "That did not work. ", message, buf, size);
	else
		snprintf(buf, size, "That did not work.");
}

bool brain_asks(const char *output)
{
	json_t *root = json_loads(output, 0, NULL);
	bool asks = wants_yes(root);

	json_decref(root);
	return asks;
}

void brain_say_output(const char *tool, const char *arguments, const char *output, char *buf,
		      size_t size)
{
	json_t *root = json_loads(output, 0, NULL);
	const json_t *value = json_object_get(root, "output");
	const size_t n = sizeof says / sizeof says[0];
	size_t i = 0;

	buf[0] = '\0';
	while (i < n && strcmp(says[i].tool, tool) != 0)
		i++;
	if (!json_is_true(json_object_get(root, "ok")))
		say_error(root, i < n && says[i].plain, buf, size);
	else if (i < n && says[i].say)
		says[i].say(value, buf, size);
	if (strcmp(tool, "memory_search") == 0)
		doubt_matches(arguments, value, buf, size);
	if (!buf[0])
		snprintf(buf, size, "It is done.");
	json_decref(root);
}
