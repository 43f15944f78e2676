/* Shared screens between commands, the web server, and the rooms (control/vision/vision.h). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "control/configure/live_settings.h"
#include "control/control_inside.h"
#include "control/discord/guilds.h"
#include "control/engine/roles.h"
#include "control/golive/golive.h"
#include "control/settings/listen.h"
#include "control/settings/settings.h"
#include "control/settings/profile.h"
#include "control/vision/vision.h"
#include "control/web/web.h"
#include "ipc/log.h"
#include "proto/media.h"

enum { LINK_SIZE = 320 };

/* ---- who is where ---- */

/* Whoever refuses to be heard, or is blocked, is nowhere: nobody shows their screen. */
static uint64_t channel_of(uint64_t guild, uint64_t user, void *arg)
{
	struct control *c = arg;
	struct guild_voice v;

	if (!guilds_voice(c->guilds, guild, user, &v) || control_is_refused(c, guild, user))
		return 0;
	return v.channel;
}

static uint64_t bot_channel(uint64_t guild, void *arg)
{
	const struct voice_session *vs = control_find_voice_session(arg, guild);

	return vs ? voice_session_channel(vs) : 0;
}

static const char *name_of(uint64_t guild, uint64_t user, void *arg)
{
	const struct control *c = arg;

	return guilds_member_name(c->guilds, guild, user);
}

static void tell_room(const struct share_owner *owner, bool shown, void *arg)
{
	struct voice_session *vs = control_find_voice_session(arg, owner->guild);

	if (vs)
		voice_session_screen_share(vs, owner->channel, owner->target, shown);
}

static void tell_unseen(const struct share_owner *owner, const char *why, bool told, void *arg)
{
	struct voice_session *vs = control_find_voice_session(arg, owner->guild);

	if (vs)
		voice_session_stream_unseen(vs, owner->channel, owner->target, why, told);
}

static void tell_show(const struct vision_show *what, enum vision_show_over over, void *arg)
{
	struct voice_session *vs = control_find_voice_session(arg, what->guild);

	if (vs)
		voice_session_show(vs, what->channel, what, over);
}

static void tell_change(const struct share_owner *owner, uint32_t share, void *arg)
{
	struct voice_session *vs = control_find_voice_session(arg, owner->guild);

	if (vs)
		voice_session_screen_changed(vs, owner->channel, owner->target, share);
}

/* The bot is in no channel of a server without a session, so nobody shows it a screen there. */
static const struct settings *settings_of(uint64_t guild, void *arg)
{
	struct control *c = arg;

	return control_find_voice_session(c, guild) ? live_settings_of(c->live, guild)
						    : c->settings;
}

static bool sees(uint64_t guild, void *arg)
{
	return roles_see_screens(settings_of(guild, arg));
}

int control_make_vision(struct control *c)
{
	return vision_alloc(&c->vision, &(struct vision_conf){.env = c->env,
							      .bus = c->bus,
							      .settings = c->settings,
							      .settings_of = settings_of,
							      .program = "imaged",
							      .world = {channel_of, bot_channel, c},
							      .nameh = name_of,
							      .seesh = sees,
							      .shownh = tell_room,
							      .unseenh = tell_unseen,
							      .showh = tell_show,
							      .changedh = tell_change,
							      .arg = c});
}

/* Where no session is known, nothing may be in the clear. */
static unsigned stream_e2ee(uint64_t guild, uint64_t channel, void *arg)
{
	const struct voice_session *vs = control_find_voice_session(arg, guild);

	return vs ? voice_session_stream_e2ee(vs, channel) : MEDIA_E2EE_ALWAYS;
}

static void tell_stream(uint64_t guild, unsigned media_reason, void *arg)
{
	struct voice_session *vs = control_find_voice_session(arg, guild);

	if (vs)
		voice_session_tell_stream(vs, media_reason);
}

int control_make_golive(struct control *c)
{
	const struct settings *set = c->settings;
	const struct golive_conf conf = {.env = c->env,
					 .ws = c->ws,
					 .settings = set,
					 .guilds = c->guilds,
					 .media = c->media,
					 .vision = c->vision,
					 .room = {stream_e2ee, tell_stream, c}};

	if (!set->go_live || !*set->go_live_token || settings_gateway(set) == SETTINGS_GATEWAY_NONE)
		return 0;
	/* Before anything connects: it would be a second session of the bot. */
	if (strcmp(set->go_live_token, set->discord_token) == 0) {
		log_warn("golive_refused", "text=\"go_live_token_file holds the bot's own token\" "
					   "hint=\"bots get no streams\"");
		return 0;
	}
	log_warn("golive_on", "text=\"go_live watches streams with the account of a person, which "
			      "Discord's terms forbid to automate\"");
	return golive_alloc(&c->golive, &conf);
}

/* ---- links ---- */

/* The address of the page: a public one with TLS, or that of this machine. False: there is none
 * that a browser would let show a screen. */
static bool write_link(const struct control *c, const char *token, char out[LINK_SIZE], bool *here)
{
	const struct settings *set = c->settings;
	const char *origin = *set->web_share_origin ? set->web_share_origin : set->web_origin;
	struct listen_address at;

	*here = !*origin;
	if (!c->web ||
	    (*here && (listen_parse(&at, set->web_listen) ||
		       (strncmp(at.host, "127.", 4) != 0 && strcmp(at.host, "[::1]") != 0))))
		return false;
	if (*here)
		snprintf(out, LINK_SIZE, "http://%s:%u/share/%s", at.host, web_port(c->web), token);
	else
		snprintf(out, LINK_SIZE, "%s/share/%s", origin, token);
	return true;
}

/* Refusals of vision_offer, or NO_ADDRESS. */
static enum share_refusal offer_link(struct control *c, const struct share_owner *owner,
				     char link[LINK_SIZE], bool *here)
{
	char token[SHARE_SECRET_SIZE];
	enum share_refusal refusal = SHARE_NO_ADDRESS;

	/* Before a share is made for which there is no page. */
	if (write_link(c, "", link, here))
		refusal = vision_offer(c->vision, owner, token);
	if (!refusal)
		write_link(c, token, link, here);
	sodium_memzero(token, sizeof token);
	return refusal;
}

/* served: there is a web server. */
static void tell_refusal(enum share_refusal refusal, bool served, struct words *words)
{
	if (refusal == SHARE_OFF)
		words_share_off(words);
	else if (refusal == SHARE_NO_ADDRESS && served)
		words_share_no_address(words);
	else if (refusal == SHARE_NO_ADDRESS)
		words_share_no_server(words);
	else if (refusal == SHARE_FULL)
		words_share_full(words);
	else
		words_share_not_with_me(words);
}

/* The answer is for the member alone, and the only place with the link. */
void control_answer_share(struct control *c, struct command *cmd)
{
	struct share_owner owner = {.guild = cmd->guild,
				    .channel = bot_channel(cmd->guild, c),
				    .requester = cmd->user,
				    .target = cmd->user};
	enum share_refusal refusal = SHARE_AWAY;
	char link[LINK_SIZE];
	struct words words = {0};
	bool here;

	words_speak(&words, cmd->locale);
	if (owner.channel)
		refusal = offer_link(c, &owner, link, &here);
	if (refusal == SHARE_AWAY && control_is_refused(c, cmd->guild, cmd->user)) {
		words_ask_not_read(&words);
	} else if (refusal) {
		tell_refusal(refusal, c->web != NULL, &words);
	} else {
		words_share_link(&words, vision_settings(c->vision, cmd->guild)->share_minutes,
				 link);
		if (here)
			words_share_here_only(&words);
		if (!sees(cmd->guild, c))
			words_share_blind(&words);
	}
	command_reply(cmd, &words);
	sodium_memzero(link, sizeof link);
	sodium_memzero(&words, sizeof words);
}

/* ---- the web server ---- */

static enum share_refusal offer_by_operator(struct control *c, const struct web_share *what,
					    struct web_share_answer *a)
{
	const struct share_owner owner = {.guild = what->guild,
					  .channel = what->channel,
					  .requester = what->requester,
					  .target = what->target};
	char link[LINK_SIZE];
	bool here;
	enum share_refusal refusal = bot_channel(what->guild, c) == what->channel
					     ? offer_link(c, &owner, link, &here)
					     : SHARE_NOT_HERE;

	if (!refusal)
		a->body = json_pack("{s:s,s:i}", "url", link, "expiresInMinutes",
				    (int)vision_settings(c->vision, what->guild)->share_minutes);
	sodium_memzero(link, sizeof link);
	return refusal;
}

static enum share_refusal take_picture(struct control *c, const struct web_share *what,
				       uint32_t *share)
{
	enum share_refusal refusal;
	enum image_kind kind;
	bool known = image_kind_of(what->type, strlen(what->type), &kind);

	if (what->kind != WEB_SHARE_FRAME)
		return vision_ingest(c->vision, what->guild, what->target, known, what->picture,
				     share);
	refusal = vision_frame(c->vision, what->token, what->browser, known, what->picture, share);
	if (!refusal)
		vision_screen_side(c->vision, *share, what->screen);
	return refusal;
}

static enum share_refusal carry_out(struct control *c, const struct web_share *what,
				    struct web_share_answer *a)
{
	enum share_refusal refusal = SHARE_GRANTED;
	uint32_t share = 0;

	if (what->kind == WEB_SHARE_OFFER)
		return offer_by_operator(c, what, a);
	if (what->kind == WEB_SHARE_OPEN)
		refusal = vision_open(c->vision, what->token, what->browser, a->key, &share);
	else if (what->kind == WEB_SHARE_EXPECT)
		refusal = vision_expect(c->vision, what->token, what->browser, what->bytes);
	else if (what->kind == WEB_SHARE_STATE)
		refusal = vision_touch(c->vision, what->token, what->browser,
				       what->paused  ? VISION_PAGE_PAUSED
				       : what->stale ? VISION_PAGE_STALE
						     : VISION_PAGE_SAME,
				       &share);
	else if (what->kind == WEB_SHARE_STOP)
		refusal = vision_stop(c->vision, what->token, what->browser);
	else
		refusal = take_picture(c, what, &share);
	a->body = vision_state(c->vision, share);
	return refusal;
}

void control_take_share(const struct web_share *what, struct web_share_answer *a, void *arg)
{
	enum share_refusal refusal = carry_out(arg, what, a);

	a->status = share_refusal_status(refusal);
	a->code = share_refusal_code(refusal);
	a->text = share_refusal_text(refusal);
	if (refusal) {
		json_decref(a->body);
		a->body = NULL;
	}
}

uint32_t control_match_share(const char *key, void *arg)
{
	const struct control *c = arg;

	return vision_match_key(c->vision, key);
}

bool control_knows_program(const char *token, void *arg)
{
	const struct control *c = arg;
	const char *own = c->settings->share_ingest_token;
	size_t n = strlen(own);

	return n && strlen(token) == n && sodium_memcmp(token, own, n) == 0;
}
