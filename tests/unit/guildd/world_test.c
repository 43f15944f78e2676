#include "tests/guildd/objects.h"
#include "tests/guildd/world.h"
#include "tests/test.h"

TEST_OOM(guildd_world_survives_no_memory)
{
	struct gd_world *w = NULL;
	int err = gd_world_alloc(&w);

	CHECK_OOM(err, (void)0);
	err = gd_world_defaults(w, false);
	if (!err)
		CHECK(gd_bot_by_token(w, GD_DEFAULT_TOKEN) != NULL);
	gd_world_free(w);
	CHECK(!err || (err == ENOMEM && test_oom_hit()));
}

TEST(guildd_world_begins_as_its_users_expect)
{
	struct gd_world *w;
	struct gd_guild *g;

	CHECK_INT(gd_world_alloc(&w), 0);
	CHECK_INT(gd_world_defaults(w, false), 0);
	g = gd_guild_find(w, GD_DEFAULT_GUILD);
	CHECK(g && g->members.n == 3 && g->channels.n == 2);
	CHECK(gd_user_find(w, 501) && gd_user_find(w, 502) && gd_bot_find(w, 900));
	CHECK(gd_channel_is_voice(gd_channel_find(w, GD_DEFAULT_VOICE)));
	CHECK(!gd_channel_is_voice(gd_channel_find(w, GD_DEFAULT_TEXT)));
	CHECK(gd_permissions(g, 900, gd_channel_find(w, GD_DEFAULT_VOICE)) & GD_PERM_CONNECT);
	CHECK(gd_permissions(g, 12345, NULL) == 0);
	CHECK_INT(gd_user_add(w, NULL, 501, "again"), EEXIST);
	CHECK_INT(gd_bot_add(w, NULL, 0, "x", GD_DEFAULT_TOKEN, 0), EEXIST);
	gd_world_free(w);
}

TEST(guildd_overwrite_is_set_replaced_and_taken_away)
{
	struct gd_world *w;
	struct gd_channel *c;

	CHECK_INT(gd_world_alloc(&w), 0);
	CHECK_INT(gd_world_defaults(w, false), 0);
	c = gd_channel_find(w, GD_DEFAULT_VOICE);
	CHECK_INT(gd_overwrite_set(c, &(struct gd_overwrite){.id = 900,
							     .member = true,
							     .deny = GD_PERM_CONNECT}),
		  0);
	CHECK(!(gd_permissions(gd_guild_find(w, c->guild), 900, c) & GD_PERM_CONNECT));
	CHECK_INT(gd_overwrite_set(
			  c,
			  &(struct gd_overwrite){.id = 900, .member = true, .deny = GD_PERM_SPEAK}),
		  0);
	CHECK_INT(c->n_over, 1);
	CHECK(gd_permissions(gd_guild_find(w, c->guild), 900, c) & GD_PERM_CONNECT);
	CHECK_INT(gd_overwrite_set(c, &(struct gd_overwrite){.id = 900, .member = true}), 0);
	CHECK_INT(c->n_over, 0);
	gd_world_free(w);
}

TEST(guildd_ids_are_strings_of_digits)
{
	json_t *s = json_string("41771983423143937"), *n = json_integer(5);

	CHECK(gd_id(s) == GD_DEFAULT_GUILD);
	CHECK(gd_id(n) == 0);
	CHECK(gd_id(NULL) == 0);
	CHECK(gd_id_text("") == 0);
	CHECK(gd_id_text("12a") == 0);
	CHECK(gd_id_text("-1") == 0);
	CHECK(gd_id_text("99999999999999999999") == 0);
	json_decref(s);
	json_decref(n);
}

TEST(guildd_messages_name_whom_they_mention_and_can_be_blanked)
{
	struct gd_world *w;
	struct gd_message_in in = {.id = 1,
				   .channel = GD_DEFAULT_TEXT,
				   .guild = GD_DEFAULT_GUILD,
				   .now_ms = 1700000000123,
				   .content = "<@900> <@!502> <@900> <@7777> <@x> hello"};
	json_t *m, *blank;

	CHECK_INT(gd_world_alloc(&w), 0);
	CHECK_INT(gd_world_defaults(w, false), 0);
	in.author = gd_user_find(w, 501);
	m = gd_message_json(w, &in);
	CHECK_INT(json_array_size(json_object_get(m, "mentions")), 2);
	CHECK(gd_message_mentions(m, 900) && gd_message_mentions(m, 502) &&
	      !gd_message_mentions(m, 501));
	CHECK_STR(json_string_value(json_object_get(m, "timestamp")),
		  "2023-11-14T22:13:20.123000+00:00");
	blank = gd_message_blank(m);
	CHECK_STR(json_string_value(json_object_get(blank, "content")), "");
	CHECK_STR(json_string_value(json_object_get(m, "content")), in.content);
	json_decref(blank);
	json_decref(m);
	gd_world_free(w);
}

TEST(guildd_keeps_the_last_messages)
{
	struct gd_world *w;
	struct gd_channel *c;

	CHECK_INT(gd_world_alloc(&w), 0);
	CHECK_INT(gd_world_defaults(w, false), 0);
	c = gd_channel_find(w, GD_DEFAULT_TEXT);
	for (unsigned i = 1; i <= GD_MAX_MESSAGES + 5; i++) {
		json_t *m = json_pack("{s:o}", "id", gd_id_json(i));

		CHECK_INT(gd_message_keep(c, m), 0);
		json_decref(m);
	}
	CHECK_INT(c->messages.n, GD_MAX_MESSAGES);
	CHECK(!gd_message_find(c, 5, NULL) && gd_message_find(c, 6, NULL));
	gd_world_free(w);
}
