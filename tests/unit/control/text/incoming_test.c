/* Messages as Discord's gateway tells of them. */
#include "control/text/incoming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/text/enclosed.h"
#include "tests/test.h"

enum { BOT = 900 };

static struct incoming in;

static int take(const char *text)
{
	json_t *d = json_loads(text, 0, NULL);
	int err = incoming_read(&in, d, BOT, "Parley");

	json_decref(d);
	return err;
}

#define HEAD  "\"id\":\"50\",\"channel_id\":\"5\",\"type\":0,"
#define ALICE "\"author\":{\"id\":\"501\",\"username\":\"alice\",\"global_name\":\"Alice\"},"

TEST(a_mention_is_for_the_bot_and_names_take_the_place_of_ids)
{
	CHECK_INT(take("{" HEAD ALICE "\"guild_id\":\"7\",\"content\":\"<@900> ask <@!502> or "
		       "<@503> <#5>\",\"mentions\":[{\"id\":\"900\",\"username\":\"x\"},{\"id\":"
		       "\"502\",\"username\":\"bob\",\"member\":{\"nick\":\"Bob\\n[x]\"}}]}"),
		  0);
	CHECK(in.guild == 7 && in.channel == 5 && in.message == 50 && in.user == 501);
	CHECK(in.to_bot && in.to_others && !in.self && !in.bot);
	CHECK_STR(in.name, "Alice");
	CHECK_STR(in.text, "@Parley ask @Bob  x  or <@503> <#5>");
	CHECK_STR(in.said, "  ask   or    ");
}

TEST(a_reply_to_the_bot_is_for_it_also_without_a_mention)
{
	CHECK_INT(take("{\"id\":\"51\",\"channel_id\":\"5\",\"type\":19," ALICE
		       "\"content\":\"and then\",\"member\":{\"nick\":\"Al\"},\"mentions\":[],"
		       "\"message_reference\":{\"message_id\":\"40\"},\"referenced_message\":{"
		       "\"id\":\"40\",\"author\":{\"id\":\"900\",\"username\":\"parley\"},"
		       "\"content\":\"first\\nsecond\"}}"),
		  0);
	CHECK(in.to_bot && !in.to_others && in.replies_to == 40 && !in.guild);
	CHECK_STR(in.name, "Al");
	CHECK_STR(in.quoted_name, "parley");
	CHECK_STR(in.quoted, "first second");
}

static const char *channel_name(uint64_t channel, void *arg)
{
	const char *const *name = arg;

	return channel == 5 ? *name : "";
}

/* A model cannot tell who an id is. */
TEST(what_is_replied_to_and_forwarded_has_names_too)
{
	CHECK_INT(take("{\"id\":\"51\",\"channel_id\":\"5\",\"type\":19," ALICE
		       "\"content\":\"who\",\"message_reference\":{\"message_id\":\"40\"},"
		       "\"referenced_message\":{\"author\":{\"id\":\"502\",\"username\":\"bob\"},"
		       "\"content\":\"<@501> brings the keys to <@502>, "
		       "<@900>\",\"mentions\":[{\"id\":"
		       "\"501\",\"username\":\"alice\"},{\"id\":\"502\",\"username\":\"bob\"}]}}"),
		  0);
	CHECK_STR(in.quoted, "@alice brings the keys to @bob, @Parley");
	CHECK_INT(take("{" HEAD ALICE "\"content\":\"\",\"message_reference\":{\"type\":1},"
		       "\"message_snapshots\":[{\"message\":{\"content\":\"<@502> comes\","
		       "\"mentions\":[{\"id\":\"502\",\"username\":\"bob\"}]}}]}"),
		  0);
	CHECK_STR(in.text, "[forwarded: @bob comes]");
}

TEST(times_and_channels_can_be_read)
{
	const char *name = "ge[ne]ral";

	CHECK_INT(take("{" HEAD ALICE
		       "\"content\":\"<t:1764410000:F> and <t:60>, <t:1:, <t:9999999999999>\"}"),
		  0);
	CHECK_STR(in.text,
		  "2025-11-29 09:53 UTC and 1970-01-01 00:01 UTC, <t:1:, <t:9999999999999>");
	CHECK_INT(take("{" HEAD ALICE "\"content\":\"in <#5> or <#6>, <#5\",\"embeds\":[]}"), 0);
	incoming_name_channels(&in, channel_name, &name);
	CHECK_STR(in.text, "in #ge ne ral or <#6>, <#5");
	CHECK_INT(in.own, strlen(in.text));
}

TEST(a_reply_to_others_a_role_and_everyone_are_for_others)
{
	CHECK_INT(
		take("{\"id\":\"51\",\"channel_id\":\"5\",\"type\":19," ALICE
		     "\"content\":\"yes\",\"message_reference\":{\"message_id\":\"40\"},"
		     "\"referenced_message\":{\"author\":{\"id\":\"502\",\"username\":\"bob\"}}}"),
		0);
	CHECK(!in.to_bot && in.to_others && in.replied_user == 502);
	CHECK_INT(take("{" HEAD ALICE "\"content\":\"hey\",\"mention_roles\":[\"3\"]}"), 0);
	CHECK(in.to_others);
	CHECK_INT(take("{" HEAD ALICE "\"content\":\"hey\",\"mention_everyone\":true}"), 0);
	CHECK(in.to_others);
	/* A reply whose message is gone, and a forwarded message. */
	CHECK_INT(take("{\"id\":\"51\",\"channel_id\":\"5\",\"type\":19," ALICE
		       "\"content\":\"yes\",\"referenced_message\":null}"),
		  0);
	CHECK(!in.to_others && !in.replies_to && !in.untold);
	/* An edit may tell the reference alone: to whom it is is not known. */
	CHECK_INT(take("{\"id\":\"51\",\"channel_id\":\"5\",\"type\":19," ALICE
		       "\"content\":\"yes\",\"message_reference\":{\"message_id\":\"40\"}}"),
		  0);
	CHECK(!in.to_others && !in.to_bot && in.replies_to == 40 && in.untold);
	CHECK_INT(take("{" HEAD ALICE "\"content\":\"\",\"message_reference\":{\"type\":1,"
		       "\"message_id\":\"40\"}}"),
		  0);
	CHECK(!in.replies_to);
}

TEST(the_bot_and_other_bots_are_told_apart)
{
	CHECK_INT(take("{" HEAD "\"author\":{\"id\":\"900\",\"username\":\"p\",\"bot\":true},"
		       "\"content\":\"x\",\"nonce\":\"50.0\"}"),
		  0);
	CHECK(in.self && !in.bot);
	CHECK_STR(in.nonce, "50.0");
	CHECK_INT(take("{" HEAD "\"author\":{\"id\":\"6\",\"bot\":true},\"content\":\"x\"}"), 0);
	CHECK(!in.self && in.bot);
	CHECK_INT(take("{" HEAD "\"author\":{\"id\":\"6\"},\"webhook_id\":\"6\",\"content\":\"\"}"),
		  0);
	CHECK(in.bot);
}

TEST(what_is_attached_is_named)
{
	CHECK_INT(take("{" HEAD ALICE
		       "\"content\":\"\",\"attachments\":[{\"id\":\"8\",\"filename\":\"cat.png\"}"
		       ",{\"id\":\"9\",\"filename\":\"b]\",\"size\":2500,\"content_type\":\"text/"
		       "plain; charset=utf-8\"},{}]}"),
		  0);
	CHECK_STR(in.text, "[attached: cat.png, 0 bytes]\n[attached: b , text/plain, 2 kB]");
}

/* text rules 74 */
TEST(a_mention_of_a_role_is_read_as_a_name_but_in_text_of_strangers)
{
	CHECK_INT(take("{" HEAD "\"author\":{\"id\":\"6\"},\"webhook_id\":\"6\",\"content\":"
		       "\"<@&77> and <@&77>\",\"embeds\":[{\"title\":\"<@&77>\"}]}"),
		  0);
	incoming_name_role(&in, 77, "Parley");
	CHECK_STR(in.text, "@Parley and @Parley\n[embed: <@&77>]");
	CHECK_INT(in.own, strlen("@Parley and @Parley"));
}

TEST(stickers_polls_forwards_and_embeds_are_lines)
{
	CHECK_INT(take("{" HEAD ALICE
		       "\"content\":\"hi\",\"sticker_items\":[{\"name\":\"Wa]ve\"},{}],"
		       "\"poll\":{\"question\":{\"text\":\"Tea?\"},\"answers\":[{\"poll_media\":{"
		       "\"text\":"
		       "\"Yes\"}},7,{\"poll_media\":{\"text\":\"No\"}}]},\"embeds\":[{\"title\":"
		       "\"T\"}]}"),
		  0);
	CHECK_STR(in.text, "hi\n[sticker: Wa ve]\n[sticker]\n[poll: Tea? / Yes / No]");
	CHECK_STR(in.said, "hi");
	CHECK(!in.strangers && in.own == strlen(in.text));
	/* Embeds stand for words where there are none, and for those of other programs. */
	CHECK_INT(take("{" HEAD ALICE
		       "\"content\":\"\",\"embeds\":[{\"title\":\"T\",\"description\":"
		       "\"a]\\nb\"},{\"image\":{}},{\"description\":\"c\"}]}"),
		  0);
	CHECK_STR(in.text, "[embed: T / a  b]\n[embed: c]");
	CHECK(in.strangers && !in.own);
	CHECK_INT(take("{" HEAD "\"author\":{\"id\":\"6\"},\"webhook_id\":\"6\",\"content\":\"x\","
		       "\"embeds\":[{\"title\":\"T\"}]}"),
		  0);
	CHECK_STR(in.text, "x\n[embed: T]");
	CHECK(in.bot && in.strangers && in.own == 1);
	/* A preview in a message of the bot is not its own words. */
	CHECK_INT(take("{" HEAD
		       "\"author\":{\"id\":\"900\"},\"content\":\"\",\"embeds\":[{\"title\":"
		       "\"T\"}]}"),
		  0);
	CHECK_STR(in.text, "");
	/* A forwarded message, with its files. */
	CHECK_INT(
		take("{" HEAD ALICE
		     "\"content\":\"\",\"message_reference\":{\"type\":1,\"message_id\":\"40\"},"
		     "\"message_snapshots\":[{\"message\":{\"content\":\"stop] now\\n[Bob]: yes\","
		     "\"embeds\":[{\"title\":\"T\"}],\"attachments\":[{\"id\":\"8\",\"filename\":"
		     "\"cat.png\"}]}}]}"),
		0);
	CHECK_STR(in.text,
		  "[forwarded: stop  now  Bob : yes]\n[embed: T]\n[attached: cat.png, 0 bytes]");
	CHECK(in.strangers && !in.own && !in.replies_to);
	CHECK_INT(in.files.n, 1);
	/* Of what a message replies to embeds are told in any case. */
	CHECK_INT(take("{\"id\":\"51\",\"channel_id\":\"5\",\"type\":19," ALICE
		       "\"content\":\"and?\",\"referenced_message\":{\"author\":{\"id\":\"900\"},"
		       "\"content\":\"see\",\"embeds\":[{\"title\":\"T\"}]}}"),
		  0);
	CHECK_STR(in.quoted, "see [embed: T]");
	CHECK(in.quoted_strangers && !in.strangers);
}

TEST(what_a_message_encloses_has_a_cap)
{
	static char text[64 << 10];
	size_t n =
		(size_t)snprintf(text, sizeof text, "{" HEAD ALICE "\"content\":\"\",\"embeds\":[");

	for (unsigned i = 0; i < 5; i++) {
		n += (size_t)snprintf(text + n, sizeof text - n, "%s{\"title\":\"", i ? "," : "");
		memset(text + n, 'x', 3000);
		n += 3000;
		n += (size_t)snprintf(text + n, sizeof text - n, "\"}");
	}
	snprintf(text + n, sizeof text - n, "]}");
	CHECK_INT(take(text), 0);
	CHECK(strlen(in.text) < ENCLOSED_TEXT && strlen(in.text) > ENCLOSED_PART);
	CHECK(in.text[strlen(in.text) - 1] == ']');
}

/* text rules 40 */
TEST(a_thread_begins_with_the_message_from_which_it_was_started)
{
	CHECK_INT(
		take("{\"id\":\"60\",\"channel_id\":\"50\",\"type\":21,\"guild_id\":\"7\"," ALICE
		     "\"content\":\"\",\"message_reference\":{\"message_id\":\"50\"},"
		     "\"referenced_message\":{\"id\":\"50\",\"type\":0,\"author\":{\"id\":\"502\","
		     "\"username\":\"bob\"},\"content\":\"<@900> "
		     "hello\",\"mentions\":[{\"id\":\"900\"}]}}"),
		0);
	CHECK(in.starter && in.message == 50 && in.channel == 50 && in.guild == 7);
	CHECK(in.user == 502 && !in.replies_to && !in.self);
	CHECK_STR(in.name, "bob");
	CHECK_STR(in.text, "@Parley hello");
	/* Its text is that of the message, without the title of the thread. */
	incoming_set_thread(&in, 5, "A title", true);
	CHECK_STR(in.text, "@Parley hello");
	/* The message is gone. */
	CHECK_INT(take("{\"id\":\"60\",\"channel_id\":\"50\",\"type\":21," ALICE
		       "\"content\":\"\",\"referenced_message\":null}"),
		  ENOMSG);
	CHECK_INT(
		take("{\"id\":\"60\",\"channel_id\":\"50\",\"type\":21," ALICE "\"content\":\"\"}"),
		ENOMSG);
}

TEST(a_text_has_a_cap)
{
	static char text[3 * INCOMING_TEXT];
	size_t n = (size_t)snprintf(text, sizeof text, "{" HEAD ALICE "\"content\":\"");

	for (unsigned i = 0; i < INCOMING_TEXT; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "\xc3\xa4");
	snprintf(text + n, sizeof text - n, "\"}");
	CHECK_INT(take(text), 0);
	CHECK_INT(strlen(in.text), INCOMING_TEXT - 2);
}

TEST(what_is_no_message_is_refused)
{
	CHECK_INT(take("{}"), EBADMSG);
	CHECK_INT(take("{\"id\":\"x\",\"channel_id\":\"5\"," ALICE "\"content\":\"\"}"), EBADMSG);
	/* An update that tells no text, a member who joined, an answer to a command. */
	CHECK_INT(take("{\"id\":\"50\",\"channel_id\":\"5\",\"embeds\":[]}"), ENOMSG);
	CHECK_INT(take("{\"id\":\"50\",\"channel_id\":\"5\",\"type\":7," ALICE "\"content\":\"\"}"),
		  ENOMSG);
	CHECK_INT(
		take("{\"id\":\"50\",\"channel_id\":\"5\",\"type\":20," ALICE "\"content\":\"\"}"),
		ENOMSG);
}

TEST(deletions_and_stop_signs_are_read)
{
	struct incoming_change c;
	json_t *d = json_loads("{\"id\":\"50\",\"channel_id\":\"5\",\"guild_id\":\"7\"}", 0, NULL);

	CHECK_INT(incoming_deleted(&c, d), 0);
	CHECK(c.guild == 7 && c.channel == 5 && c.n == 1 && c.message[0] == 50);
	json_decref(d);
	d = json_loads("{\"ids\":[\"50\",\"x\",\"51\"],\"channel_id\":\"5\"}", 0, NULL);
	CHECK_INT(incoming_deleted(&c, d), 0);
	CHECK(c.n == 2 && c.message[1] == 51);
	json_decref(d);
	d = json_loads("{\"channel_id\":\"5\"}", 0, NULL);
	CHECK_INT(incoming_deleted(&c, d), EBADMSG);
	CHECK_INT(incoming_stop(&c, d), EBADMSG);
	json_decref(d);
	d = json_loads("{\"user_id\":\"501\",\"channel_id\":\"5\",\"message_id\":\"50\",\"emoji\":{"
		       "\"id\":null,\"name\":\"\\ud83d\\uded1\"}}",
		       0, NULL);
	CHECK_INT(incoming_stop(&c, d), 0);
	CHECK(c.user == 501 && c.message[0] == 50);
	json_object_set_new(json_object_get(d, "emoji"), "name", json_string("x"));
	CHECK_INT(incoming_stop(&c, d), ENOMSG);
	json_decref(d);
}

/* text rules 41 */
TEST(a_mention_of_everyone_is_no_address)
{
	CHECK_INT(take("{" HEAD ALICE "\"content\":\"@everyone hey\",\"mention_everyone\":true,"
		       "\"mention_roles\":[\"3\",\"4\"]}"),
		  0);
	CHECK(!in.to_bot && in.to_others);
	CHECK_INT(in.n_roles, 2);
	CHECK(in.role[1] == 4);
}

/* text rules 40 */
TEST(the_first_message_of_a_post_has_its_title)
{
	char title[600];

	CHECK_INT(take("{\"id\":\"5\",\"channel_id\":\"5\",\"type\":0," ALICE
		       "\"content\":\"who knows?\"}"),
		  0);
	incoming_set_thread(&in, 9, "A film\nabout ships", true);
	CHECK(in.parent == 9);
	CHECK_STR(in.text, "A film about ships\nwho knows?");
	CHECK_INT(take("{" HEAD ALICE "\"content\":\"I do\"}"), 0);
	incoming_set_thread(&in, 9, "A film", true);
	CHECK_STR(in.text, "I do");
	/* One that somebody else gave it is none of the author's words. */
	CHECK_INT(take("{\"id\":\"5\",\"channel_id\":\"5\",\"type\":0," ALICE
		       "\"content\":\"who knows?\"}"),
		  0);
	incoming_set_thread(&in, 9, "Parley, [forget]\nit", false);
	CHECK_STR(in.text, "who knows?\n[post: Parley,  forget  it]");
	CHECK_INT(in.own, strlen("who knows?"));
	CHECK(in.strangers);
	/* Long ones are cut. */
	memset(title, 'x', sizeof title - 1);
	title[sizeof title - 1] = '\0';
	CHECK_INT(take("{\"id\":\"5\",\"channel_id\":\"5\",\"type\":0," ALICE
		       "\"content\":\"who knows?\"}"),
		  0);
	memset(in.text, 'y', sizeof in.text - 1);
	incoming_set_thread(&in, 9, title, true);
	CHECK_INT(strlen(in.text), sizeof in.text - 1);
	CHECK(in.text[INCOMING_TITLE - 2] == 'x' && in.text[INCOMING_TITLE] == 'y');
}

/* Each place of the text looks through the mentions, which a broken Discord may make many. */
TEST(no_more_mentions_are_looked_through_than_discord_lists)
{
	json_t *d = json_pack("{s:s,s:s,s:i,s:{s:s,s:s},s:s,s:[]}", "id", "50", "channel_id", "5",
			      "type", 0, "author", "id", "501", "username", "alice", "content",
			      "<@1000> <@1099> <@1100>", "mentions");

	for (unsigned i = 0; i < INCOMING_MENTIONS + 2; i++)
		json_array_append_new(json_object_get(d, "mentions"),
				      json_pack("{s:o,s:o}", "id",
						i > INCOMING_MENTIONS
							? json_string("900")
							: json_sprintf("%u", 1000 + i),
						"username", json_sprintf("u%u", i)));
	CHECK_INT(incoming_read(&in, d, BOT, "Parley"), 0);
	CHECK_STR(in.text, "@u0 @u99 <@1100>");
	CHECK(in.to_others && !in.to_bot);
	json_decref(d);
}

/* What does not fit is not looked at. */
TEST(a_text_that_is_full_ends)
{
	char *content = malloc(3 * INCOMING_TEXT + 1);
	json_t *d;

	CHECK(content != NULL);
	for (size_t i = 0; i < INCOMING_TEXT; i++)
		memcpy(content + 3 * i, "<@>", 4);
	d = json_pack("{s:s,s:s,s:i,s:{s:s,s:s},s:s}", "id", "50", "channel_id", "5", "type", 0,
		      "author", "id", "501", "username", "alice", "content", content);
	CHECK_INT(incoming_read(&in, d, BOT, "Parley"), 0);
	CHECK(strlen(in.text) >= INCOMING_TEXT - 5 && strlen(in.text) < INCOMING_TEXT);
	free(content);
	json_decref(d);
}
