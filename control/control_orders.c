/* Orders that operators give over HTTP, carried out as the commands of members are. */
#include <errno.h>
#include <stdio.h>

#include "control/control_inside.h"
#include "control/discord/guilds.h"
#include "control/jukebox/jukebox.h"
#include "control/web/web.h"
#include "proto/discord.h"

/* Also to a server in which the bot is in no channel. */
static int move(struct control *c, const struct web_order *o, char *why)
{
	struct words words = {0};
	struct voice_session *vs;
	enum voice_reason reason;

	if (!guilds_known(c->guilds, o->guild))
		return ENOENT;
	vs = control_open_voice_session(c, o->guild);
	if (!vs)
		words_too_many_channels(&words);
	else if ((reason = voice_session_join(vs, o->channel, false, NULL)))
		words_voice(&words, reason, 0);
	snprintf(why, WEB_WHY_SIZE, "%.*s", WEB_WHY_SIZE - 1, words.text);
	return words.n ? EBUSY : 0;
}

/* The operator has the bot's own rights. */
static int order_music(struct voice_session *vs, enum web_order_kind kind)
{
	static const enum music_act acts[] = {[WEB_MUSIC_PAUSE] = MUSIC_ACT_PAUSE,
					      [WEB_MUSIC_RESUME] = MUSIC_ACT_RESUME,
					      [WEB_MUSIC_SKIP] = MUSIC_ACT_SKIP,
					      [WEB_MUSIC_STOP] = MUSIC_ACT_STOP};
	struct jukebox *j = voice_session_jukebox(vs);
	struct jukebox_answer a = {0};
	int err = j ? jukebox_do(j, &(struct jukebox_request){.act = acts[kind]}, &a) : ENOENT;

	return err == EALREADY ? 0 : err == ENOENT ? ESRCH : err ? EBUSY : 0;
}

int control_take_order(const struct web_order *o, char *why, void *arg)
{
	struct control *c = arg;
	struct voice_session *vs = control_find_voice_session(c, o->guild);

	if (o->kind == WEB_MOVE)
		return move(c, o, why);
	if (!vs || !voice_session_channel(vs))
		return ENOENT;
	switch (o->kind) {
	case WEB_SAY:
		return voice_session_muted(vs) ? EPERM : voice_session_say(vs, o->text, o->number);
	case WEB_STOP:
		return voice_session_stop(vs);
	case WEB_MUTE:
	case WEB_UNMUTE:
		return voice_session_mute(vs, o->kind == WEB_MUTE);
	case WEB_MUSIC_PAUSE:
	case WEB_MUSIC_RESUME:
	case WEB_MUSIC_SKIP:
	case WEB_MUSIC_STOP:
		return order_music(vs, o->kind);
	default:
		voice_session_leave(vs);
		return 0;
	}
}

json_t *control_tell_guilds(void *arg)
{
	const struct control *c = arg;

	return guilds_list(c->guilds);
}

json_t *control_tell_channels(uint64_t guild, void *arg)
{
	const struct control *c = arg;

	return guilds_known(c->guilds, guild) ? guilds_channels(c->guilds, guild) : NULL;
}
