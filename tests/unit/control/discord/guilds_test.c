#include "control/discord/guilds.h"

#include <stdio.h>
#include <stdlib.h>

#include "proto/discord.h"
#include "tests/test.h"

static const char guild_text[] =
	"{\"id\":\"100\",\"name\":\"Fake\",\"owner_id\":\"1\",\"roles\":["
	"{\"id\":\"100\",\"permissions\":\"3146752\"},"	 /* view, connect, speak */
	"{\"id\":\"201\",\"permissions\":\"16777216\"}," /* move */
	"{\"id\":\"202\",\"permissions\":\"8\"}],"
	"\"channels\":[{\"id\":\"300\",\"type\":0,\"name\":\"text\"},"
	"{\"id\":\"301\",\"type\":2,\"name\":\"Voice\",\"bitrate\":96000,\"user_limit\":1,"
	"\"permission_overwrites\":[]},"
	"{\"id\":\"302\",\"type\":13,\"name\":\"Stage\",\"bitrate\":64000,\"permission_"
	"overwrites\":["
	"{\"id\":\"100\",\"type\":0,\"allow\":\"0\",\"deny\":\"1048576\"},"
	"{\"id\":\"201\",\"type\":0,\"allow\":\"1048576\",\"deny\":\"0\"},"
	"{\"id\":\"900\",\"type\":1,\"allow\":\"0\",\"deny\":\"2097152\"}]}],"
	"\"members\":[{\"user\":{\"id\":\"900\",\"username\":\"parley\",\"bot\":true},\"roles\":[]}"
	","
	"{\"user\":{\"id\":\"501\",\"username\":\"alice\",\"global_name\":\"Alice\"},\"roles\":["
	"\"201\"]}],"
	"\"voice_states\":[{\"user_id\":\"501\",\"channel_id\":\"301\",\"session_id\":\"s\"}]}";

static bool event(struct guilds *g, const char *name, const char *text)
{
	json_t *d = json_loads(text, 0, NULL);
	bool known = guilds_event(g, name, d);

	json_decref(d);
	return known;
}

static struct guilds *made(void)
{
	struct guilds *g = NULL;

	if (guilds_alloc(&g))
		return NULL;
	guilds_set_self(g, 900);
	event(g, "GUILD_CREATE", guild_text);
	return g;
}

TEST_OOM(guilds_allocates)
{
	struct guilds *g = NULL;
	int err = guilds_alloc(&g);

	CHECK_OOM(err, (void)0);
	guilds_free(g);
}

TEST(guilds_knows_the_role_that_discord_made_for_the_bot)
{
	struct guilds *g = made();

	CHECK(!guilds_is_own_role(g, 100, 203));
	event(g, "GUILD_ROLE_CREATE",
	      "{\"guild_id\":\"100\",\"role\":{\"id\":\"204\",\"permissions\":\"0\",\"tags\":"
	      "{\"bot_id\":\"901\"}}}");
	event(g, "GUILD_ROLE_CREATE",
	      "{\"guild_id\":\"100\",\"role\":{\"id\":\"203\",\"permissions\":\"0\",\"tags\":"
	      "{\"bot_id\":\"900\"}}}");
	CHECK(guilds_is_own_role(g, 100, 203));
	CHECK(!guilds_is_own_role(g, 100, 204));
	CHECK(!guilds_is_own_role(g, 100, 100));
	CHECK(!guilds_is_own_role(g, 101, 203));
	/* Its nickname, and its own name without one. */
	CHECK_STR(guilds_member_name(g, 100, 900), "parley");
	event(g, "GUILD_MEMBER_UPDATE",
	      "{\"guild_id\":\"100\",\"nick\":\"Wren\",\"user\":{\"id\":\"900\",\"username\":"
	      "\"parley\",\"bot\":true},\"roles\":[\"203\"]}");
	CHECK_STR(guilds_member_name(g, 100, 900), "Wren");
	guilds_free(g);
}

#define THREAD(id, parent, more)                                                                   \
	"{\"id\":\"" id "\",\"guild_id\":\"100\",\"parent_id\":\"" parent                          \
	"\",\"type\":11,\"name\":\"films\"" more "}"

TEST(guilds_knows_the_channels_of_threads)
{
	struct guilds *g = made(), *next;
	const char *name;
	uint64_t of[2];

	CHECK(g);
	CHECK_INT(guilds_thread(g, 100, 600, &name), 0);
	CHECK_STR(name, "");
	CHECK(event(g, "THREAD_CREATE", THREAD("600", "300", "")));
	CHECK_INT(guilds_thread(g, 100, 600, &name), 300);
	CHECK_STR(name, "films");
	/* A restart knows it; a document without threads is one of an older version. */
	CHECK_INT(guilds_alloc(&next), 0);
	{
		json_t *all = json_pack("{s:O}", "100", guilds_snapshot(g, 100));

		CHECK_INT(guilds_restore(next, all), 0);
		json_decref(all);
	}
	CHECK_INT(guilds_thread(next, 100, 600, &name), 300);
	guilds_free(next);
	/* Discord names an archived one again before somebody writes in it. */
	CHECK(event(g, "THREAD_UPDATE",
		    THREAD("600", "300", ",\"thread_metadata\":{\"archived\":true}")));
	CHECK_INT(guilds_thread(g, 100, 600, &name), 300);
	CHECK_STR(name, "");
	CHECK(event(g, "THREAD_LIST_SYNC",
		    "{\"guild_id\":\"100\",\"threads\":[" THREAD("600", "300", "") "," THREAD(
			    "601", "301", "") ",7,{}]}"));
	CHECK_INT(guilds_thread(g, 100, 601, &name), 301);
	CHECK_INT(guilds_threads(g, 100, 300, of, 2), 1);
	CHECK(of[0] == 600);
	CHECK_INT(guilds_threads(g, 100, 300, of, 0), 0);
	CHECK_INT(guilds_threads(g, 100, 302, of, 2), 0);
	CHECK_INT(guilds_threads(g, 101, 300, of, 2), 0);
	CHECK(event(g, "THREAD_DELETE", THREAD("601", "301", "")));
	CHECK_INT(guilds_thread(g, 100, 601, &name), 0);
	/* They go with their channel. */
	CHECK(event(g, "CHANNEL_DELETE", "{\"id\":\"300\",\"guild_id\":\"100\",\"type\":0}"));
	CHECK_INT(guilds_thread(g, 100, 600, &name), 0);
	CHECK(!event(g, "THREAD_MEMBERS_UPDATE", "{\"id\":\"600\",\"guild_id\":\"100\"}"));
	/* Those that were active when the server came. */
	CHECK(event(g, "GUILD_CREATE",
		    "{\"id\":\"100\",\"threads\":[" THREAD("602", "300", "") "]}"));
	CHECK_INT(guilds_thread(g, 100, 602, &name), 300);
	guilds_free(g);
}

/* A control begins anew, long after the one before it: a thread is archived by then. */
TEST(threads_of_a_session_before_are_remembered)
{
	struct guilds *g = NULL, *next = NULL;
	json_t *all = json_object();
	const char *name;
	uint64_t of[3];

	CHECK_INT(guilds_alloc(&g), 0);
	CHECK_INT(guilds_alloc(&next), 0);
	CHECK(event(g, "GUILD_CREATE",
		    "{\"id\":\"100\",\"name\":\"Fake\",\"owner_id\":\"501\",\"roles\":[{\"id\":"
		    "\"100\",\"permissions\":\"8\"}],\"threads\":[" THREAD(
			    "600", "300", "") "," THREAD("601", "300", "") "]}"));
	CHECK(event(g, "THREAD_UPDATE",
		    THREAD("601", "300", ",\"thread_metadata\":{\"archived\":true}")));
	json_object_set(all, "100", (json_t *)(uintptr_t)guilds_snapshot(g, 100));
	json_object_set_new(all, "x", json_object());
	guilds_remember(next, all);
	guilds_remember(next, NULL);
	/* Nothing else is known. */
	CHECK(!guilds_known(next, 100));
	CHECK_STR(guilds_name(next, 100), "Fake");
	CHECK_INT(guilds_thread(next, 100, 600, &name), 300);
	CHECK(!guilds_everybody_may_follow(next, 100, 300));
	json_decref(all);
	all = json_loads("[{\"id\":\"100\"}]", 0, NULL);
	guilds_begin(next, all);
	CHECK(event(next, "GUILD_CREATE",
		    "{\"id\":\"100\",\"threads\":[" THREAD("602", "300", "") "]}"));
	CHECK(guilds_known(next, 100));
	CHECK_INT(guilds_thread(next, 100, 600, &name), 300);
	CHECK_INT(guilds_thread(next, 100, 601, &name), 300);
	CHECK_INT(guilds_thread(next, 100, 602, &name), 300);
	CHECK_INT(guilds_archived(next, 100, of, 3), 2);
	CHECK(of[0] == 600 && of[1] == 601);
	CHECK_INT(guilds_archived(next, 100, of, 1), 1);
	CHECK(of[0] == 600);
	CHECK_INT(guilds_archived(next, 101, of, 3), 0);
	json_decref(all);
	guilds_free(next);
	guilds_free(g);
}

/* The settings of a channel hold in its archived threads, too, which no list tells. */
TEST(guilds_knows_the_channels_of_archived_threads)
{
	struct guilds *g = made();
	const char *name;
	uint64_t of[4];

	CHECK(g);
	CHECK(event(g, "THREAD_CREATE", THREAD("600", "300", "")));
	CHECK(event(g, "THREAD_CREATE", THREAD("601", "300", "")));
	CHECK(event(g, "THREAD_UPDATE",
		    THREAD("601", "300", ",\"thread_metadata\":{\"archived\":true}")));
	CHECK_INT(guilds_threads(g, 100, 300, of, 4), 2);
	CHECK_INT(guilds_threads(g, 100, 300, of, 1), 1);
	/* 600 was archived while the bot was away. */
	CHECK(event(g, "GUILD_CREATE",
		    "{\"id\":\"100\",\"threads\":[" THREAD("602", "300", "") "]}"));
	CHECK_INT(guilds_thread(g, 100, 600, &name), 300);
	CHECK_INT(guilds_thread(g, 100, 601, &name), 300);
	CHECK_INT(guilds_thread(g, 100, 602, &name), 300);
	CHECK_STR(name, "films");
	CHECK(guilds_has_channel(g, 100, 600) && guilds_has_channel(g, 100, 602));
	CHECK(!guilds_has_channel(g, 100, 603) && !guilds_has_channel(g, 101, 600));
	CHECK_INT(guilds_of_channel(g, 600), 100);
	CHECK_INT(guilds_of_channel(g, 603), 0);
	/* Somebody writes there again. */
	CHECK(event(g, "THREAD_UPDATE", THREAD("600", "300", "")));
	CHECK_INT(guilds_thread(g, 100, 600, &name), 300);
	CHECK_STR(name, "films");
	CHECK(event(g, "THREAD_DELETE", THREAD("601", "300", "")));
	CHECK(!guilds_has_channel(g, 100, 601));
	/* They go with their channel. */
	CHECK(event(g, "THREAD_UPDATE",
		    THREAD("600", "300", ",\"thread_metadata\":{\"archived\":true}")));
	CHECK(event(g, "CHANNEL_DELETE", "{\"id\":\"300\",\"guild_id\":\"100\",\"type\":0}"));
	CHECK_INT(guilds_thread(g, 100, 600, &name), 0);
	guilds_free(g);
}

TEST(guilds_forgets_the_threads_that_were_archived_first)
{
	struct guilds *g = made();
	const char *name;
	unsigned known = 0;

	CHECK(g);
	for (unsigned i = 0; i < 1000; i++) {
		char thread[256];

		snprintf(thread, sizeof thread, THREAD("%u", "300", "%s"), 5000 + i,
			 ",\"thread_metadata\":{\"archived\":true}");
		CHECK(event(g, "THREAD_UPDATE", thread));
	}
	for (unsigned i = 0; i < 1000; i++)
		known += guilds_thread(g, 100, 5000 + i, &name) != 0;
	CHECK_INT(known, 256);
	CHECK_INT(guilds_thread(g, 100, 5999, &name), 300);
	CHECK_INT(guilds_thread(g, 100, 5743, &name), 0);
	guilds_free(g);
}

TEST(guilds_keeps_archived_threads_when_a_session_begins)
{
	struct guilds *g = made();
	json_t *all = json_pack("{s:s,s:[]}", "id", "100", "threads"), *list;
	const char *name;
	char *text;

	CHECK(g && all);
	list = json_object_get(all, "threads");
	for (unsigned i = 0; i < 256; i++) {
		char thread[256];

		snprintf(thread, sizeof thread, THREAD("%u", "300", "%s"), 5000 + i,
			 ",\"thread_metadata\":{\"archived\":true}");
		CHECK(event(g, "THREAD_UPDATE", thread));
		snprintf(thread, sizeof thread, THREAD("%u", "300", ""), 6000 + i);
		CHECK(event(g, "THREAD_CREATE", thread));
		json_array_append_new(list, json_loads(thread, 0, NULL));
	}
	text = json_dumps(all, JSON_COMPACT);
	CHECK(text && event(g, "GUILD_CREATE", text));
	CHECK_INT(guilds_thread(g, 100, 5000, &name), 300);
	CHECK_INT(guilds_thread(g, 100, 5255, &name), 300);
	CHECK_INT(guilds_thread(g, 100, 6000, &name), 300);
	free(text);
	json_decref(all);
	guilds_free(g);
}

TEST(guilds_knows_the_categories_of_channels)
{
	struct guilds *g = made(), *next;
	json_t *all;

	CHECK_INT(guilds_category(g, 100, 300), 0);
	CHECK(event(g, "CHANNEL_CREATE",
		    "{\"id\":\"400\",\"guild_id\":\"100\",\"type\":4,\"name\":\"Plans\"}"));
	CHECK(event(g, "CHANNEL_UPDATE",
		    "{\"id\":\"300\",\"guild_id\":\"100\",\"type\":0,\"parent_id\":\"400\"}"));
	CHECK(event(g, "CHANNEL_UPDATE",
		    "{\"id\":\"301\",\"guild_id\":\"100\",\"type\":2,\"parent_id\":\"400\"}"));
	CHECK(event(g, "THREAD_CREATE", THREAD("600", "300", "")));
	CHECK_INT(guilds_category(g, 100, 300), 400);
	CHECK_INT(guilds_category(g, 100, 301), 400);
	CHECK_INT(guilds_category(g, 100, 600), 400);
	CHECK_INT(guilds_category(g, 100, 302), 0);
	CHECK_INT(guilds_category(g, 101, 300), 0);
	CHECK_STR(guilds_channel_name(g, 100, 400), "Plans");
	/* The next control takes them over; what an older one kept tells of none. */
	CHECK_INT(guilds_alloc(&next), 0);
	all = json_pack("{s:o}", "100", json_deep_copy(guilds_snapshot(g, 100)));
	CHECK_INT(guilds_restore(next, all), 0);
	CHECK_INT(guilds_category(next, 100, 300), 400);
	json_object_del(json_object_get(all, "100"), "categories");
	CHECK_INT(guilds_restore(next, all), EINVAL);
	json_decref(all);
	guilds_free(next);
	CHECK(event(g, "CHANNEL_UPDATE",
		    "{\"id\":\"300\",\"guild_id\":\"100\",\"type\":0,\"parent_id\":null}"));
	CHECK_INT(guilds_category(g, 100, 300), 0);
	CHECK(event(g, "CHANNEL_DELETE", "{\"id\":\"301\",\"guild_id\":\"100\",\"type\":2}"));
	CHECK_INT(guilds_category(g, 100, 301), 0);
	guilds_free(g);
}

TEST(guilds_knows_channels_members_and_voice)
{
	struct guilds *g = made();
	struct guild_channel ch;
	struct guild_voice v;

	CHECK(g && guilds_known(g, 100));
	CHECK_STR(guilds_name(g, 100), "Fake");
	CHECK(guilds_channel(g, 100, 301, &ch));
	CHECK_INT(ch.bitrate, 96000);
	CHECK_INT(ch.user_limit, 1);
	CHECK(!guilds_channel(g, 100, 300, &ch)); /* text */
	CHECK(guilds_voice(g, 100, 501, &v) && v.channel == 301);
	CHECK_INT(guilds_occupants(g, 100, 301), 1);
	CHECK_STR(guilds_member_name(g, 100, 501), "Alice");
	CHECK_STR(guilds_member_name(g, 100, 999), "someone");
	guilds_free(g);
}

static void note_call(uint64_t guild, uint64_t channel, void *arg)
{
	*(uint64_t *)arg += channel + 1000000 * guild;
}

TEST(guilds_follows_voice_states)
{
	struct guilds *g = made();
	struct guild_voice v;
	uint64_t called = 0;

	CHECK(event(g, "VOICE_STATE_UPDATE",
		    "{\"guild_id\":\"100\",\"user_id\":\"900\",\"channel_id\":\"302\",\"suppress\":"
		    "true,"
		    "\"mute\":false,\"member\":{\"nick\":\"P\",\"user\":{\"id\":\"900\"},\"roles\":"
		    "[]}}"));
	CHECK(guilds_voice(g, 100, 900, &v) && v.suppress && !v.mute && v.channel == 302);
	CHECK_INT(guilds_occupants(g, 100, 302), 0); /* the bot itself does not count */
	guilds_each_call(g, note_call, &called);
	CHECK(called == 302 + 1000000 * 100);
	CHECK_STR(guilds_member_name(g, 100, 900), "P");
	event(g, "VOICE_STATE_UPDATE",
	      "{\"guild_id\":\"100\",\"user_id\":\"501\",\"channel_id\":null}");
	CHECK(!guilds_voice(g, 100, 501, &v));
	guilds_free(g);
}

TEST(guilds_permissions_follow_the_documented_order)
{
	struct guilds *g = made();
	uint64_t p, connect = DISCORD_PERMISSION(DISCORD_BIT_CONNECT),
		    speak = DISCORD_PERMISSION(DISCORD_BIT_SPEAK),
		    move = DISCORD_PERMISSION(DISCORD_BIT_MOVE_MEMBERS);

	CHECK(guilds_permissions(g, 100, 301, 900, &p));
	CHECK((p & connect) && (p & speak) && !(p & move));
	/* everyone's overwrite takes connect, the member's own takes speak */
	CHECK(guilds_permissions(g, 100, 302, 900, &p));
	CHECK(!(p & connect) && !(p & speak));
	/* a role gives connect back */
	CHECK(guilds_permissions(g, 100, 302, 501, &p));
	CHECK((p & connect) && (p & speak) && (p & move));
	CHECK(guilds_may_move_to(g, 100, 302, 501));
	CHECK(!guilds_may_move_to(g, 100, 302, 900));
	CHECK(!guilds_may_move_to(g, 100, 302, 77));
	/* an administrator may all */
	event(g, "GUILD_MEMBER_UPDATE",
	      "{\"guild_id\":\"100\",\"user\":{\"id\":\"900\"},\"roles\":[\"202\"]}");
	CHECK(guilds_permissions(g, 100, 302, 900, &p) && p == UINT64_MAX);
	/* nothing is known of a stranger */
	CHECK(!guilds_permissions(g, 100, 302, 77, &p));
	guilds_free(g);
}

TEST(guilds_know_channels_that_everybody_may_enter)
{
	struct guilds *g = made();

	CHECK(guilds_everybody_may_enter(g, 100, 301));
	CHECK(!guilds_everybody_may_enter(g, 100, 302)); /* everyone's overwrite takes connect */
	CHECK(!guilds_everybody_may_enter(g, 100, 399));
	CHECK(!guilds_everybody_may_enter(g, 101, 301));
	/* one role is kept out, of which nobody here is known to be */
	event(g, "CHANNEL_UPDATE",
	      "{\"id\":\"301\",\"guild_id\":\"100\",\"type\":2,\"name\":\"V\",\"permission_"
	      "overwrites\":"
	      "[{\"id\":\"202\",\"type\":0,\"allow\":\"0\",\"deny\":\"1024\"}]}");
	CHECK(!guilds_everybody_may_enter(g, 100, 301));
	guilds_free(g);
}

TEST(guilds_know_who_holds_a_role)
{
	struct guilds *g = made();

	CHECK(guilds_has_role(g, 100, 501, 201));
	CHECK(!guilds_has_role(g, 100, 501, 202));
	CHECK(!guilds_has_role(g, 100, 900, 201));
	CHECK(guilds_has_role(g, 100, 900, 100)); /* everybody's */
	CHECK(!guilds_has_role(g, 100, 77, 100)); /* a stranger */
	guilds_free(g);
}

TEST(guilds_without_view_nothing_is_allowed)
{
	struct guilds *g = made();
	uint64_t p;

	event(g, "CHANNEL_UPDATE",
	      "{\"id\":\"301\",\"guild_id\":\"100\",\"type\":2,\"name\":\"V\",\"permission_"
	      "overwrites\":"
	      "[{\"id\":\"900\",\"type\":1,\"allow\":\"0\",\"deny\":\"1024\"}]}");
	CHECK(guilds_permissions(g, 100, 301, 900, &p));
	CHECK(p == 0);
	guilds_free(g);
}

TEST(guilds_snapshot_comes_back)
{
	struct guilds *g = made(), *h = NULL;
	struct guild_voice v;
	char *text = json_dumps(guilds_snapshot(g, 100), 0);
	json_t *j = json_pack("{s:o}", "100", json_loads(text, 0, NULL));
	uint64_t p;

	CHECK(!strstr(text, "session"));
	CHECK(!guilds_snapshot(g, 999));
	CHECK_INT(guilds_alloc(&h), 0);
	CHECK_INT(guilds_restore(h, j), 0);
	CHECK(guilds_voice(h, 100, 501, &v) && v.channel == 301);
	CHECK(guilds_permissions(h, 100, 301, 900, &p));
	json_decref(j);
	j = json_loads("{\"100\":{\"roles\":7}}", 0, NULL);
	CHECK_INT(guilds_restore(h, j), EINVAL);
	CHECK(guilds_known(h, 100));
	json_decref(j);
	free(text);
	guilds_free(h);
	guilds_free(g);
}

TEST(guilds_forgets_what_is_gone)
{
	struct guilds *g = made();
	struct guild_channel ch;

	CHECK(event(g, "CHANNEL_DELETE", "{\"id\":\"301\",\"guild_id\":\"100\",\"type\":2}"));
	CHECK(!guilds_channel(g, 100, 301, &ch));
	CHECK(event(g, "GUILD_DELETE", "{\"id\":\"100\"}"));
	CHECK(!guilds_known(g, 100));
	CHECK(!event(g, "VOICE_STATE_UPDATE", "{\"guild_id\":\"100\",\"user_id\":\"5\"}"));
	guilds_free(g);
}

static bool has_guild_as_before_an_outage(const struct guilds *g)
{
	struct guild_channel ch;
	struct guild_voice v;

	return !guilds_known(g, 100) && guilds_channel(g, 100, 301, &ch) &&
	       guilds_voice(g, 100, 501, &v) && v.channel == 301;
}

TEST(guilds_keeps_the_last_state_of_a_guild_in_an_outage)
{
	struct guilds *g = made(), *h = NULL;
	json_t *j;

	CHECK(event(g, "GUILD_DELETE", "{\"id\":\"100\",\"unavailable\":true}"));
	CHECK(has_guild_as_before_an_outage(g));
	/* The next control takes it over as it is. */
	j = json_pack("{s:O}", "100", guilds_snapshot(g, 100));
	CHECK_INT(guilds_alloc(&h), 0);
	CHECK_INT(guilds_restore(h, j), 0);
	CHECK(has_guild_as_before_an_outage(h));
	CHECK(event(g, "GUILD_CREATE", guild_text));
	CHECK(guilds_known(g, 100));
	json_decref(j);
	guilds_free(h);
	guilds_free(g);
}

TEST(guilds_keeps_those_that_a_new_session_lists)
{
	struct guilds *g = made();
	json_t *listed = json_loads("[{\"id\":\"99\"},{},7,{\"id\":\"100\"}]", 0, NULL);
	struct guild_channel ch;

	guilds_begin(g, listed);
	CHECK(has_guild_as_before_an_outage(g));
	CHECK(event(g, "GUILD_CREATE", guild_text));
	CHECK(guilds_known(g, 100));
	guilds_begin(g, NULL);
	CHECK(!guilds_known(g, 100) && !guilds_channel(g, 100, 301, &ch));
	json_decref(listed);
	guilds_free(g);
}

TEST(guilds_survives_malformed_events)
{
	static const char *const names[] = {"GUILD_CREATE",	   "GUILD_UPDATE",
					    "GUILD_DELETE",	   "VOICE_STATE_UPDATE",
					    "CHANNEL_CREATE",	   "CHANNEL_DELETE",
					    "GUILD_ROLE_UPDATE",   "GUILD_ROLE_DELETE",
					    "GUILD_MEMBER_UPDATE", "GUILD_MEMBER_REMOVE"};
	static const char *const bad[] = {
		"{}",
		"[]",
		"{\"id\":5}",
		"{\"guild_id\":\"100\"}",
		"{\"guild_id\":\"100\",\"id\":\"x\"}",
		"{\"id\":\"100\",\"roles\":{},\"channels\":[5],\"members\":[[]],\"voice_states\":["
		"null]}",
		"{\"guild_id\":\"100\",\"user\":[],\"role\":7,\"user_id\":{},\"member\":{}}",
		"{\"guild_id\":\"100\",\"id\":\"301\",\"type\":2,\"permission_overwrites\":[{"
		"\"id\":\"1\"},3]}"};
	struct guilds *g = made();
	uint64_t p;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
			event(g, names[i], bad[k]);
	guilds_permissions(g, 100, 301, 900, &p);
	guilds_free(g);
}

TEST(guilds_forgets_who_left_voice_but_not_itself)
{
	struct guilds *g = made();

	CHECK(event(g, "VOICE_STATE_UPDATE",
		    "{\"guild_id\":\"100\",\"user_id\":\"501\",\"channel_id\":null}"));
	CHECK_STR(guilds_member_name(g, 100, 501), "someone");
	CHECK(event(g, "VOICE_STATE_UPDATE",
		    "{\"guild_id\":\"100\",\"user_id\":\"900\",\"channel_id\":null}"));
	CHECK_STR(guilds_member_name(g, 100, 900), "parley");
	guilds_free(g);
}

/* Somebody of whom no event told comes with their roles. */
TEST(guilds_permissions_of_a_stranger)
{
	struct guilds *g = made();
	json_t *plain = json_loads("{\"user\":{\"id\":\"77\"},\"roles\":[]}", 0, NULL);
	json_t *mover =
		json_loads("{\"user\":{\"id\":\"77\"},\"roles\":[\"201\",7,\"x\"]}", 0, NULL);
	uint64_t bits = 0;

	CHECK(!guilds_permissions(g, 100, 301, 77, &bits));
	CHECK(guilds_permissions_as(g, 100, 301, 77, plain, &bits));
	CHECK(bits & DISCORD_PERMISSION(DISCORD_BIT_VIEW_CHANNEL));
	CHECK(guilds_permissions_as(g, 100, 302, 77, plain, &bits));
	CHECK(!(bits & DISCORD_PERMISSION(DISCORD_BIT_CONNECT)));
	CHECK(guilds_permissions_as(g, 100, 302, 77, mover, &bits));
	CHECK(bits & DISCORD_PERMISSION(DISCORD_BIT_CONNECT));
	CHECK(event(g, "CHANNEL_UPDATE",
		    "{\"guild_id\":\"100\",\"id\":\"301\",\"type\":2,\"name\":\"Voice\","
		    "\"permission_overwrites\":[{\"id\":\"100\",\"type\":0,\"allow\":\"0\","
		    "\"deny\":\"1024\"}]}"));
	CHECK(guilds_permissions_as(g, 100, 301, 77, plain, &bits));
	CHECK_INT(bits, 0);
	/* Text channels and other servers' are none of ours. */
	CHECK(!guilds_permissions_as(g, 100, 300, 77, plain, &bits));
	CHECK(!guilds_permissions_as(g, 101, 301, 77, plain, &bits));
	CHECK(!guilds_permissions_as(g, 100, 301, 77, NULL, &bits));
	json_decref(plain);
	json_decref(mover);
	guilds_free(g);
}

static bool may_react(const struct guilds *g, uint64_t guild, uint64_t channel)
{
	return guilds_may(g, guild, channel,
			  DISCORD_PERMISSION(DISCORD_BIT_ADD_REACTIONS) |
				  DISCORD_PERMISSION(DISCORD_BIT_READ_MESSAGE_HISTORY));
}

/* Of text channels the overwrites are known; a thread has those of its channel, and a right of its
 * own. */
TEST(guilds_knows_where_the_bot_may_write)
{
#define CHANNEL(over)                                                                              \
	"{\"id\":\"300\",\"guild_id\":\"100\",\"type\":0,\"name\":\"text\",\"permission_"          \
	"overwrites\":[" over "]}"
	struct guilds *g = made();

	CHECK(g);
	/* Unknown servers refuse nothing; of this one everybody may see, connect and speak alone.
	 */
	CHECK(guilds_may_write(g, 77, 300));
	CHECK(!guilds_may_write(g, 100, 300));
	CHECK(event(g, "GUILD_ROLE_UPDATE",
		    "{\"guild_id\":\"100\",\"role\":{\"id\":\"100\",\"permissions\":"
		    "\"274877910016\"}}"));
	CHECK(guilds_may_write(g, 100, 300));
	CHECK(event(g, "THREAD_CREATE", THREAD("600", "300", "")));
	CHECK(guilds_may_write(g, 100, 600));
	/* No message in the channel, then none in its threads. */
	CHECK(event(g, "CHANNEL_UPDATE",
		    CHANNEL("{\"id\":\"900\",\"type\":1,\"allow\":\"0\",\"deny\":\"2048\"}")));
	CHECK(!guilds_may_write(g, 100, 300));
	CHECK(guilds_may_write(g, 100, 600));
	CHECK(event(
		g, "CHANNEL_UPDATE",
		CHANNEL("{\"id\":\"100\",\"type\":0,\"allow\":\"0\",\"deny\":\"274877906944\"}")));
	CHECK(guilds_may_write(g, 100, 300));
	CHECK(!guilds_may_write(g, 100, 600));
	CHECK(event(g, "CHANNEL_UPDATE", CHANNEL("")));
	CHECK(guilds_may_write(g, 100, 600));
	/* Who may not see it may not write. */
	CHECK(event(g, "CHANNEL_UPDATE",
		    CHANNEL("{\"id\":\"100\",\"type\":0,\"allow\":\"0\",\"deny\":\"1024\"}")));
	CHECK(!guilds_may_write(g, 100, 300));
	CHECK(!may_react(g, 100, 300));
	guilds_free(g);
}

/* Add Reactions, and with it Read Message History; in a thread nothing else. */
TEST(guilds_knows_where_the_bot_may_react)
{
	struct guilds *g = made();

	CHECK(g);
	CHECK(may_react(g, 77, 300));
	CHECK(!may_react(g, 100, 300));
	CHECK(event(g, "GUILD_ROLE_UPDATE",
		    "{\"guild_id\":\"100\",\"role\":{\"id\":\"100\",\"permissions\":\"66624\"}}"));
	CHECK(may_react(g, 100, 300));
	CHECK(event(g, "THREAD_CREATE", THREAD("600", "300", "")));
	CHECK(may_react(g, 100, 600));
	CHECK(event(g, "CHANNEL_UPDATE",
		    CHANNEL("{\"id\":\"900\",\"type\":1,\"allow\":\"0\",\"deny\":\"65536\"}")));
	CHECK(!may_react(g, 100, 300));
	CHECK(!may_react(g, 100, 600));
	CHECK(event(g, "CHANNEL_UPDATE",
		    CHANNEL("{\"id\":\"900\",\"type\":1,\"allow\":\"0\",\"deny\":\"64\"}")));
	CHECK(!may_react(g, 100, 300));
	guilds_free(g);
}

#define TIMEOUT(roles, until)                                                                      \
	"{\"guild_id\":\"100\",\"user\":{\"id\":\"900\",\"username\":\"parley\"},\"roles\":"       \
	"[" roles "]" until "}"

/* Discord: who is timed out sees and reads; administrators, and the owner, go on. */
TEST(guilds_knows_a_timeout_of_the_bot)
{
	const uint64_t eight = 1893484800000; /* 2030-01-01T08:00:00Z */
	struct guilds *g = made();

	CHECK(g);
	CHECK(!guilds_timed_out(g, 100, eight));
	CHECK(!guilds_timed_out(g, 77, eight));
	CHECK(event(g, "GUILD_MEMBER_UPDATE",
		    TIMEOUT("", ",\"communication_disabled_until\":"
				"\"2030-01-01T08:00:00.000000+00:00\"")));
	CHECK(guilds_timed_out(g, 100, eight - 1));
	CHECK(!guilds_timed_out(g, 100, eight + 1000));
	/* What does not tell of it does not end it. */
	CHECK(event(g, "GUILD_MEMBER_UPDATE", TIMEOUT("", "")));
	CHECK(guilds_timed_out(g, 100, eight - 1));
	CHECK(event(g, "GUILD_MEMBER_UPDATE", TIMEOUT("\"202\"", "")));
	CHECK(!guilds_timed_out(g, 100, eight - 1));
	CHECK(event(g, "GUILD_MEMBER_UPDATE", TIMEOUT("", "")));
	CHECK(guilds_timed_out(g, 100, eight - 1));
	CHECK(event(g, "GUILD_MEMBER_UPDATE",
		    TIMEOUT("", ",\"communication_disabled_until\":null")));
	CHECK(!guilds_timed_out(g, 100, eight - 1));
	CHECK(event(g, "GUILD_MEMBER_UPDATE",
		    TIMEOUT("", ",\"communication_disabled_until\":\"soon\"")));
	CHECK(!guilds_timed_out(g, 100, eight - 1));
	guilds_free(g);
}

#define TEXT(id, over)                                                                             \
	"{\"id\":\"" id "\",\"guild_id\":\"100\",\"type\":0,\"name\":\"t\",\"permission_"          \
	"overwrites\":[" over "]}"

TEST(guilds_know_channels_that_everybody_may_follow)
{
	struct guilds *g = made();

	/* To see, read, and enter. */
	event(g, "GUILD_ROLE_UPDATE",
	      "{\"guild_id\":\"100\",\"role\":{\"id\":\"100\",\"permissions\":\"1115136\"}}");
	CHECK(guilds_everybody_may_follow(g, 100, 301));
	CHECK(!guilds_everybody_may_follow(g, 100, 302));
	/* Of a channel that is gone, or not known yet, nobody knows who could see it. */
	CHECK(!guilds_everybody_may_follow(g, 100, 401));
	event(g, "CHANNEL_CREATE", TEXT("401", ""));
	CHECK(guilds_everybody_may_follow(g, 100, 401));
	event(g, "THREAD_CREATE", THREAD("411", "401", ""));
	CHECK(guilds_everybody_may_follow(g, 100, 411));
	event(g, "THREAD_CREATE",
	      "{\"id\":\"412\",\"guild_id\":\"100\",\"parent_id\":\"401\",\"type\":12,\"name\":"
	      "\"t\"}");
	CHECK(!guilds_everybody_may_follow(g, 100, 412));
	event(g, "CHANNEL_UPDATE",
	      TEXT("401", "{\"id\":\"100\",\"type\":0,\"allow\":\"0\",\"deny\":\"1024\"}"));
	CHECK(!guilds_everybody_may_follow(g, 100, 401));
	CHECK(!guilds_everybody_may_follow(g, 100, 411));
	event(g, "CHANNEL_UPDATE",
	      TEXT("401", "{\"id\":\"202\",\"type\":0,\"allow\":\"0\",\"deny\":\"1024\"}"));
	CHECK(!guilds_everybody_may_follow(g, 100, 401));
	event(g, "CHANNEL_UPDATE", TEXT("401", ""));
	CHECK(guilds_everybody_may_follow(g, 100, 401));
	event(g, "CHANNEL_DELETE", TEXT("401", ""));
	CHECK(!guilds_everybody_may_follow(g, 100, 401));
	guilds_free(g);
}
