/* Analyses of the music for the visualizer: asked for as the music is played, so that they are
 * those of the sound that is heard, also behind a pause, a seek and in a crossfade. */
#include "mediad/call/call_internal.h"

/* Bytes that wait for control: beyond them nobody looks at what would be sent now. */
enum { QUEUED_MAX = 16 << 10 };

void music_watch_track(struct call *c, const struct music_track *t)
{
	if (c->watched)
		decoders_watch(c->conf.decoders, t->decoded, true);
}

void call_music_watch(struct call *c, bool on)
{
	if (c->watched == on)
		return;
	c->watched = on;
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i])
			decoders_watch(c->conf.decoders, c->tracks[i]->decoded, on);
}

/* Of two tracks that cross over, the one that comes is shown. */
static bool falls_away(const struct call *c, const struct music_track *t)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (c->tracks[i] && c->tracks[i]->lane > t->lane && c->tracks[i]->played)
			return true;
	return false;
}

void music_ask_analysis(struct call *c, struct music_track *t)
{
	const uint64_t at = t->played / ANALYSIS_STEP * ANALYSIS_STEP;

	if (!c->watched || t->analysed == at + 1 || falls_away(c, t))
		return;
	t->analysed = at + 1;
	decoders_ask_analysis(c->conf.decoders, t->decoded, at);
}

static struct slice bytes_of(const void *p, size_t n)
{
	return (struct slice){.p = p, .n = n};
}

void music_send_analysis(struct call *c, const struct music_track *t, const struct decoder_msg *msg)
{
	const struct analysis *a = &msg->analysis.a;
	struct media_msg out = {.type = MEDIA_MUSIC_ANALYSIS};

	if (c->watched)
		decoders_show(c->conf.decoders, c->guild, a);
	if (!c->watched || c->conf.queuedh(c->conf.arg) > QUEUED_MAX)
		return;
	out.music_analysis.music = t->music;
	out.music_analysis.position = t->start + msg->analysis.at;
	out.music_analysis.bands = bytes_of(a->bands, sizeof a->bands);
	out.music_analysis.wave = bytes_of(a->wave, sizeof a->wave);
	out.music_analysis.scope = bytes_of(a->scope, sizeof a->scope);
	call_send(c, &out, 0);
}
