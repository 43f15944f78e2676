/* Prints docs/events.md from control/events/events.def. */
#include "control/events/events.h"

#include <stdio.h>

static const char *const audiences[] = {
	[EVENT_FOR_OPERATOR] = "the operator",
	[EVENT_FOR_PERSON] = "the operator and the person it is about",
	[EVENT_FOR_GUILD] = "the operator and the moderators of its guild",
	[EVENT_FOR_SPEAKER] =
		"the operator, the moderators of its guild, and the person it is about",
};
static const char *const levels[] = {[EVENT_LEVEL_NONE] = "no log line",
				     [EVENT_LEVEL_DEBUG] = "a log line at level debug",
				     [EVENT_LEVEL_INFO] = "a log line at level info",
				     [EVENT_LEVEL_WARN] = "a log line at level warn"};
static const char *const kinds[] = {[EVENT_KIND_ID] = "id",
				    [EVENT_KIND_UINT] = "number",
				    [EVENT_KIND_MAYBE] = "number or null",
				    [EVENT_KIND_FLAG] = "yes or no",
				    [EVENT_KIND_TEXT] = "text",
				    [EVENT_KIND_WORDS] = "words",
				    [EVENT_KIND_NAME] = "name",
				    [EVENT_KIND_JSON] = "JSON",
				    [EVENT_KIND_SAID] = "JSON with words"};

static void print_event(const struct bus_event_info *info)
{
	printf("\n## `%s`, version %u\n\n%s Seen by %s; %s; ", info->name, info->version,
	       info->text, audiences[info->audience], levels[info->level]);
	if (info->keep_days)
		printf("kept for %u days.\n\n", info->keep_days);
	else
		printf("not kept.\n\n");
	printf("| field | type | meaning |\n|---|---|---|\n");
	for (size_t i = 0; i < info->n_fields; i++)
		printf("| `%s` | %s | %s |\n", info->fields[i].name, kinds[info->fields[i].kind],
		       info->fields[i].text);
}

int main(void)
{
	puts("# Events\n\n"
	     "What control tells the log, the turn file, `/status`, the store and the HTTP API. "
	     "This page is "
	     "made from\n"
	     "`control/events/events.def` by `make docs`.\n\n"
	     "As JSON an event is an object with `event` (its name), `version`, `at` (ms since "
	     "1970), `guild` and `user`\n"
	     "(ids as strings, null when there is none), and the fields below. Ids are strings. "
	     "Words are what people\n"
	     "and the bot said: they are empty where words are not wanted, and kept for at most\n"
	     "`store_words_hours` hours. Names and JSON never get into the log.\n\n"
	     "`GET /api/events` of the HTTP API "
	     "([operations.md](operations.md#events-over-http)) sends all of them as\n"
	     "server-sent events.");
	for (unsigned i = 0; i < EVENT_COUNT; i++)
		print_event(bus_event_info((enum event_type)i));
	return 0;
}
