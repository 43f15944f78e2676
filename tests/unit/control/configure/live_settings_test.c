/* The effective settings while the stored document cannot be read. */
#include "control/configure/live_settings.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/settings.h"
#include "control/voice_session/policy.h"
#include "tests/test.h"

enum { GUILD = 7, CHANNEL = 300 };

static unsigned changes;

static int on_save(const struct live_settings_version *version, void *arg)
{
	(void)version;
	(void)arg;
	return 0;
}

static void on_changed(void *arg)
{
	(void)arg;
	changes++;
}

static void on_done(const struct live_settings_done *done, void *arg)
{
	(void)arg;
	CHECK_INT(done->result, DOCUMENT_SAVED);
}

static void save_anew(struct live_settings *l)
{
	json_t *intent = json_pack("{s:s}", "blocked_channels", "12");
	const struct document_change change = {
		.version = document_version(live_settings_document(l)),
		.updated_at = document_version(live_settings_document(l)) ? NULL : "",
		.author = "me",
		.now = "2026-11-23T00:00:00Z"};

	CHECK_INT(live_settings_put(l, intent, &change, NULL, NULL, on_done, NULL), DOCUMENT_SAVED);
	live_settings_saved(l, 0, "", NULL);
	json_decref(intent);
}

/* It may block the channel, or a person in it. */
static void check_unread(const char *kept)
{
	json_t *document = json_loads(kept, 0, NULL);
	const struct settings *own;
	struct settings *s = NULL;
	struct live_settings_conf conf = {
		.kept = document, .saveh = on_save, .changedh = on_changed};
	struct live_settings *l = NULL;

	changes = 0;
	CHECK(document && settings_alloc(&s) == 0);
	conf.settings = s;
	CHECK_INT(live_settings_alloc(&l, &conf), 0);
	own = live_settings_of(l, GUILD);
	CHECK(!policy_allows_channel(s, CHANNEL));
	CHECK(!policy_allows_channel(own, CHANNEL));
	live_settings_apply(l); /* as after SIGHUP */
	CHECK(!policy_allows_channel(s, CHANNEL));
	save_anew(l);
	CHECK_INT(changes, 1);
	CHECK(policy_allows_channel(s, CHANNEL));
	CHECK(policy_allows_channel(own, CHANNEL));
	CHECK(!policy_allows_channel(own, 12));
	live_settings_free(l);
	settings_free(s);
	json_decref(document);
}

TEST(no_channel_is_allowed_while_the_stored_document_cannot_be_read)
{
	check_unread("{\"versions\":[],\"unread\":true}");
	check_unread("{\"versions\":[{\"version\":3,\"updatedAt\":\"\",\"author\":\"\","
		     "\"intent\":{}}],\"unread\":true}");
	check_unread("{\"versions\":[{\"version\":\"three\"}]}");
}

/* Earlier versions took a name for an id: nobody knows whom the list was meant to keep out. */
TEST(no_channel_is_allowed_while_a_stored_list_of_ids_holds_something_else)
{
	check_unread("{\"versions\":[{\"version\":3,\"updatedAt\":\"\",\"author\":\"\","
		     "\"intent\":{\"blocked_users\":\"501, alice\"}}]}");
}

TEST(a_servers_list_of_ids_that_cannot_be_read_stops_the_bot_there_alone)
{
	json_t *kept =
		json_loads("{\"versions\":[{\"version\":3,\"updatedAt\":\"\",\"author\":\"\","
			   "\"intent\":{\"guilds\":{\"7\":{\"text_blocked_channels\":"
			   "\"general\"}}}}]}",
			   0, NULL);
	struct live_settings_conf conf = {.kept = kept, .saveh = on_save, .changedh = on_changed};
	struct live_settings *l = NULL;
	struct settings *s = NULL;

	CHECK(kept && settings_alloc(&s) == 0);
	conf.settings = s;
	CHECK_INT(live_settings_alloc(&l, &conf), 0);
	CHECK(live_settings_of(l, GUILD)->unread);
	CHECK(!live_settings_of(l, GUILD + 1)->unread && !s->unread);
	save_anew(l);
	CHECK(!live_settings_of(l, GUILD)->unread);
	live_settings_free(l);
	settings_free(s);
	json_decref(kept);
}

static uint32_t sent;
static struct {
	char name[64];
	enum settings_when when;
} told[4];
static unsigned n_told;

static uint32_t on_sent(void *arg)
{
	(void)arg;
	return sent;
}

static void on_told(const char *name, enum settings_when when, const char *author, void *arg)
{
	(void)author;
	(void)arg;
	CHECK(n_told < 4);
	snprintf(told[n_told].name, sizeof told[0].name, "%s", name);
	told[n_told++].when = when;
}

/* What the outcome of saving this intent says of the key; "": nothing. */
static char outcome[32];

static void on_outcomes(const struct live_settings_done *done, void *arg)
{
	const json_t *o;
	size_t i;

	*outcome = '\0';
	CHECK_INT(done->result, DOCUMENT_SAVED);
	json_array_foreach(done->outcomes, i, o)
	{
		if (strcmp(json_string_value(json_object_get(o, "key")), arg) == 0)
			snprintf(outcome, sizeof outcome, "%s",
				 json_string_value(json_object_get(o, "outcome")));
	}
}

static void save(struct live_settings *l, const char *text, char *key)
{
	json_t *intent = json_loads(text, 0, NULL);
	const struct document_change change = {
		.version = document_version(live_settings_document(l)),
		.updated_at = document_version(live_settings_document(l)) ? NULL : "",
		.author = "me",
		.now = "2026-11-23T00:00:00Z"};

	n_told = 0;
	CHECK_INT(live_settings_put(l, intent, &change, NULL, NULL, on_outcomes, key),
		  DOCUMENT_SAVED);
	live_settings_saved(l, 0, "", NULL);
	json_decref(intent);
}

static struct live_settings *with_sent(struct settings **s, uint32_t chat)
{
	struct live_settings_conf conf = {
		.saveh = on_save, .changedh = on_changed, .toldh = on_told, .senth = on_sent};
	struct live_settings *l = NULL;

	sent = chat;
	if (settings_alloc(s))
		return NULL;
	(*s)->text_chat = chat;
	conf.settings = *s;
	return live_settings_alloc(&l, &conf) ? NULL : l;
}

TEST(text_chat_waits_for_a_restart_while_discord_sends_no_messages)
{
	struct settings *s;
	struct live_settings *l = with_sent(&s, SETTINGS_TEXT_OFF);
	const struct settings *own;

	CHECK(l);
	own = live_settings_of(l, GUILD);
	save(l, "{\"text_chat\":\"mentions\"}", "text_chat");
	CHECK_STR(outcome, "after_restart");
	CHECK(n_told == 1 && told[0].when == SETTINGS_START);
	CHECK_INT(s->text_chat, SETTINGS_TEXT_OFF);
	CHECK_INT(own->text_chat, SETTINGS_TEXT_OFF);
	CHECK_INT(live_settings_wanted(l)->text_chat, SETTINGS_TEXT_MENTIONS);
	/* A server's own cannot be had sooner. */
	save(l, "{\"text_chat\":\"all\",\"guilds\":{\"7\":{\"text_chat\":\"mentions\"}}}",
	     "guilds/7/text_chat");
	CHECK_STR(outcome, "after_restart");
	CHECK_INT(own->text_chat, SETTINGS_TEXT_OFF);
	CHECK_INT(live_settings_when(l, GUILD, "text_chat"), SETTINGS_START);
	save(l, "{}", "text_chat");
	CHECK_STR(outcome, "applied");
	CHECK_INT(live_settings_when(l, GUILD, "text_chat"), SETTINGS_NOW);
	live_settings_free(l);
	settings_free(s);
}

TEST(text_chat_all_without_the_texts_waits_and_serves_as_mentions_meanwhile)
{
	struct settings *s;
	struct live_settings *l = with_sent(&s, SETTINGS_TEXT_MENTIONS);

	CHECK(l);
	save(l, "{\"text_chat\":\"off\"}", "text_chat");
	CHECK_STR(outcome, "applied");
	CHECK_INT(s->text_chat, SETTINGS_TEXT_OFF);
	save(l, "{\"text_chat\":\"all\"}", "text_chat");
	CHECK_STR(outcome, "after_restart");
	CHECK_INT(s->text_chat, SETTINGS_TEXT_ALL);
	save(l, "{\"text_chat\":\"mentions\"}", "text_chat");
	CHECK_STR(outcome, "applied");
	live_settings_free(l);
	settings_free(s);
}

static unsigned long resident(void)
{
	unsigned long pages = 0, all;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%lu %lu", &all, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * 4096;
}

/* docs/text.md tells the figure. */
TEST(live_settings_of_many_servers_take_little_memory)
{
	struct live_settings_conf conf = {.saveh = on_save, .changedh = on_changed};
	const struct settings *first, *last;
	struct live_settings *l = NULL;
	struct settings *s = NULL;
	unsigned long before, after;

	CHECK(settings_alloc(&s) == 0);
	conf.settings = s;
	CHECK_INT(live_settings_alloc(&l, &conf), 0);
	first = live_settings_of(l, 1);
	before = resident();
	for (uint64_t i = 2; i < LIVE_SETTINGS_GUILDS; i++)
		live_settings_of(l, i);
	last = live_settings_of(l, LIVE_SETTINGS_GUILDS);
	CHECK(first != s && last != s && first != last);
	after = resident();
	/* The kernel may take pages back meanwhile. */
	after = after > before ? (after - before) / (LIVE_SETTINGS_GUILDS - 1) : 0;
	printf("# %lu bytes for a server's settings\n", after);
	CHECK(after < 120000);
	/* A change reaches all of them. */
	CHECK(!live_settings_base(l, "text_chat", "all"));
	live_settings_apply(l);
	CHECK_INT(first->text_chat, SETTINGS_TEXT_ALL);
	CHECK_INT(last->text_chat, SETTINGS_TEXT_ALL);
	live_settings_free(l);
	settings_free(s);
}
