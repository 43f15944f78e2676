/* What members see of the music: the message about what plays, in the text chat of the voice
 * channel. */
#include "control/agent/agent.h"
#include "control/discord/music_message.h"
#include "control/discord/now_playing.h"
#include "control/discord/voice.h"
#include "control/jukebox/jukebox.h"
#include "control/voice_session/inside.h"
#include "ipc/log.h"

#include <string.h>

static const char *language(const struct voice_session *c)
{
	return c->agent ? agent_language(c->agent) : "";
}

bool voice_session_music_view(const struct voice_session *c, struct music_view *v)
{
	enum jukebox_phase phase;

	if (!c->jukebox || !c->media || !jukebox_queue(c->jukebox))
		return false;
	phase = jukebox_phase(c->jukebox);
	*v = (struct music_view){.queue = jukebox_queue(c->jukebox),
				 .title = jukebox_title(c->jukebox),
				 .paused = phase == JUKEBOX_PAUSED,
				 .halted = phase == JUKEBOX_HALTED,
				 .waits = phase == JUKEBOX_WAITING,
				 .votes = jukebox_votes(c->jukebox)};
	return true;
}

static void write_text(struct words *words, struct now_playing_text *t, void *arg)
{
	const struct voice_session *c = arg;
	const struct track *present;
	struct music_view v;

	words_speak(words, language(c));
	if (!voice_session_music_view(c, &v))
		return;
	present = music_queue_present(v.queue);
	t->entry = present ? present->id : 0;
	t->starts = music_queue_starts(v.queue);
	t->components = music_message_buttons(&v, language(c));
	music_message_write(words, &v);
}

static void keep_message(uint64_t message, void *arg)
{
	struct voice_session *c = arg;

	c->music_message = message;
	if (c->conf.changedh)
		c->conf.changedh(c->conf.arg);
}

void voice_session_show_music(struct voice_session *c)
{
	uint64_t channel = voice_channel(c->voice);
	struct now_playing_conf conf = {.env = c->conf.env,
					.rest = c->conf.rest,
					.channel = channel,
					.edit_ms = NOW_PLAYING_EDIT_MS,
					.h = write_text,
					.kepth = keep_message,
					.arg = c};
	int err = 0;

	if (c->shown && now_playing_channel(c->shown) != channel)
		voice_session_hide_music(c, false);
	if (c->music_message_in == channel)
		conf.message = c->music_message;
	if (!c->shown) {
		c->music_message = conf.message;
		err = now_playing_alloc(&c->shown, &conf);
	}
	if (err)
		log_warn("music_not_shown", "guild=%llu error=\"%s\"", ID(c->guild), strerror(err));
	c->music_message_in = 0;
	voice_session_look_at_music(c);
}

void voice_session_hide_music(struct voice_session *c, bool leaves)
{
	const struct music_queue *q = c->jukebox ? jukebox_queue(c->jukebox) : NULL;
	bool waits = leaves && q && music_queue_present(q);

	if (!c->shown)
		return;
	c->music_message_in = waits ? now_playing_channel(c->shown) : 0;
	c->shown = now_playing_end(c->shown, language(c), waits);
}

void voice_session_look_at_music(struct voice_session *c)
{
	if (c->shown)
		now_playing_look(c->shown);
}

uint64_t voice_session_music_message(const struct voice_session *c)
{
	return c->music_message;
}

void voice_session_inherit_music(struct voice_session *c, uint64_t channel, uint64_t message)
{
	c->music_message = message;
	c->music_message_in = channel;
}
