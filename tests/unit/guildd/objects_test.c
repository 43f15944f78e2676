/* The fields that Discord's documentation lists as always present ("Resources", "Gateway Events",
 * "Application"). Libraries read them without asking whether they are there. */
#include "tests/guildd/objects.h"
#include "tests/guildd/world.h"
#include "tests/test.h"

static const char user_fields[] = "id username discriminator global_name avatar";
static const char member_fields[] = "roles joined_at deaf mute flags user nick avatar";
static const char role_fields[] =
	"id name color colors hoist position permissions managed mentionable flags";
static const char channel_fields[] = "id type guild_id name position permission_overwrites nsfw "
				     "parent_id last_message_id";
static const char voice_channel_fields[] = "bitrate user_limit rtc_region rate_limit_per_user";
static const char voice_state_fields[] =
	"guild_id channel_id user_id member session_id deaf mute self_deaf self_mute self_video "
	"suppress request_to_speak_timestamp";
static const char guild_fields[] =
	"id name icon splash discovery_splash owner_id afk_channel_id afk_timeout "
	"verification_level default_message_notifications explicit_content_filter roles emojis "
	"features mfa_level application_id system_channel_id system_channel_flags "
	"rules_channel_id vanity_url_code description banner premium_tier preferred_locale "
	"public_updates_channel_id nsfw_level premium_progress_bar_enabled "
	"safety_alerts_channel_id incidents_data";
static const char guild_create_fields[] =
	"joined_at large unavailable member_count voice_states members channels threads presences "
	"stage_instances guild_scheduled_events soundboard_sounds";
static const char application_fields[] =
	"id name icon description bot_public bot_require_code_grant verify_key team flags owner "
	"bot summary";
static const char message_fields[] =
	"id channel_id author content timestamp edited_timestamp tts mention_everyone mentions "
	"mention_roles attachments embeds pinned type components flags";

/* Steals o. */
static void check_fields(json_t *o, const char *what, const char *fields)
{
	char copy[1024], *save = NULL;

	CHECK(o != NULL);
	snprintf(copy, sizeof copy, "%s", fields);
	for (char *f = strtok_r(copy, " ", &save); f; f = strtok_r(NULL, " ", &save)) {
		if (!json_object_get(o, f))
			printf("%s has no %s\n", what, f);
		CHECK(json_object_get(o, f) != NULL);
	}
	json_decref(o);
}

TEST(guildd_objects_have_what_is_always_present)
{
	struct gd_world *w;
	struct gd_guild *g;
	struct gd_channel *c;
	struct gd_vstate *v;
	struct gd_bot *bot;

	CHECK_INT(gd_world_alloc(&w), 0);
	CHECK_INT(gd_world_defaults(w, false), 0);
	g = gd_guild_find(w, GD_DEFAULT_GUILD);
	c = gd_channel_find(w, GD_DEFAULT_VOICE);
	bot = gd_bot_find(w, GD_DEFAULT_BOT);
	CHECK_INT(gd_vstate_add(&v, g, 501, c->id), 0);
	check_fields(gd_user_json(bot->user), "a user", user_fields);
	check_fields(gd_member_json(gd_member_find(g, 501), true), "a member", member_fields);
	check_fields(gd_role_json(g->roles.v[0]), "a role", role_fields);
	check_fields(gd_channel_json(c), "a channel", channel_fields);
	check_fields(gd_channel_json(c), "a voice channel", voice_channel_fields);
	check_fields(gd_vstate_json(g, v, false, true), "a voice state", voice_state_fields);
	check_fields(gd_guild_json(g, false, 0, false), "a guild", guild_fields);
	check_fields(gd_guild_json(g, true, 900, false), "GUILD_CREATE", guild_create_fields);
	check_fields(gd_application_json(bot, gd_user_person(w)), "an application",
		     application_fields);
	check_fields(gd_message_json(w, &(struct gd_message_in){.id = 1,
								.channel = c->id,
								.author = bot->user,
								.content = "hello"}),
		     "a message", message_fields);
	gd_world_free(w);
}
