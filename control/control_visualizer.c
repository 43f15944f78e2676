/* The music of a call on its way to the dashboard's visualizer. */
#include "control/control_inside.h"
#include "control/web/web.h"
#include "proto/media.h"

void control_take_analysis(uint64_t guild, const struct media_music_analysis *m, void *arg)
{
	const struct control *c = arg;

	if (c->web)
		web_show_music(c->web, guild,
			       &(struct web_music){.music = m->music,
						   .position = m->position,
						   .bands = m->bands,
						   .wave = m->wave,
						   .scope = m->scope});
}

bool control_watch_music(uint64_t guild, bool on, void *arg)
{
	struct voice_session *vs = control_find_voice_session(arg, guild);

	if (vs)
		voice_session_watch_music(vs, on);
	return vs && voice_session_channel(vs);
}
