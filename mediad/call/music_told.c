/* What control hears of music: its states, tags and titles. */
#include <string.h>

#include "mediad/call/call_internal.h"

/* A continuation that does not sound yet is at the place of the one before it, whose last samples
 * still play, or wait in a pause. */
uint64_t music_position(const struct music_track *t)
{
	while (t->continues && t->replaces && !t->played)
		t = t->replaces;
	return t->start + t->played;
}

void music_send_state(struct call *c, const struct music_track *t)
{
	struct media_msg msg = {.type = MEDIA_MUSIC_STATE};
	struct media_music_state *m = &msg.music_state;
	enum decoder_reason why = t->phase == MEDIA_MUSIC_PHASE_FAILED ? t->failure : t->unsought;

	m->music = t->music;
	m->phase = (uint8_t)t->phase;
	m->reason = (uint16_t)t->why;
	m->position = music_position(t);
	m->duration = t->opened.duration;
	m->seekable = t->opened.seekable;
	m->failure = m->text = slice_str("");
	if (why != DECODER_REASON_UNKNOWN) {
		m->failure = slice_str(decoder_reason_name(why));
		m->text = slice_str(decoder_reason_text(why));
	}
	if (t->music)
		call_send(c, &msg, 0);
}

void music_send_tags(struct call *c, const struct music_track *t)
{
	struct media_msg msg = {.type = MEDIA_MUSIC_TAGS};

	msg.music_tags.music = t->music;
	msg.music_tags.title = slice_str(t->opened.title);
	msg.music_tags.artist = slice_str(t->opened.artist);
	msg.music_tags.album = slice_str(t->opened.album);
	if (t->music && (*t->opened.title || *t->opened.artist || *t->opened.album))
		call_send(c, &msg, 0);
}

void music_take_title(struct call *c, struct music_track *t, const char *title)
{
	struct media_msg msg = {.type = MEDIA_MUSIC_TITLE};

	memcpy(t->opened.title, title, sizeof t->opened.title);
	/* That of a station names the artist, too. */
	if (!t->opened.duration)
		*t->opened.artist = *t->opened.album = '\0';
	msg.music_title.music = t->music;
	msg.music_title.title = slice_str(t->opened.title);
	if (t->music)
		call_send(c, &msg, 0);
}

void music_send_all(struct call *c)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++) {
		if (!c->tracks[i] || c->tracks[i]->why != MEDIA_REASON_NONE)
			continue;
		music_send_state(c, c->tracks[i]);
		music_send_tags(c, c->tracks[i]);
	}
	music_send_past_ends(c);
}
