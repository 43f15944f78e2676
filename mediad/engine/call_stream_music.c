/* Music of a call stream: its lanes, and the sound that they are fed with. */
#include "ipc/env.h"
#include "mediad/engine/call_stream_internal.h"
#include "proto/base/time.h"

#define PROGRESS (CALL_STREAM_MUSIC_PROGRESS_MS * NS_PER_MS)

static void return_lane(struct call_stream *cs, struct music_lane *lane, enum media_reason why)
{
	struct ev ev = {.type = EV_MUSIC, .stream = cs};

	ev.lane.what = SENDER_STOPPED;
	ev.lane.playback = music_lane_id(lane);
	ev.lane.samples = music_lane_playout(lane)->confirmed;
	ev.lane.at = env_now(cs->env);
	ev.lane.music = lane;
	ev.lane.reason = why;
	call_stream_emit(cs, &ev);
}

void call_stream_return_music(struct call_stream *cs)
{
	struct music_lane *lane;

	while ((lane = sender_take_music(cs->sender)))
		return_lane(cs, lane, MEDIA_REASON_CALL_ENDED);
}

static void add_lane(struct call_stream *cs, const struct cmd *c)
{
	struct music_mixer *m = sender_music(cs->sender);

	if (!m || music_mixer_add(m, c->music.lane, &c->music.joint)) {
		return_lane(cs, c->music.lane, MEDIA_REASON_BAD_REQUEST);
		return;
	}
	if (c->music.paused)
		playout_pause(music_lane_playout(c->music.lane), 0);
}

static void apply_settings(struct call_stream *cs, const struct cmd *c)
{
	struct music_mixer *m = sender_music(cs->sender);

	if (!m)
		return;
	duck_set(music_mixer_duck(m), &c->music.duck);
	encoder_set_music_bitrate(music_mixer_encoder(m), c->music.bitrate);
}

void call_stream_run_music_command(struct call_stream *cs, const struct cmd *c)
{
	switch (c->type) {
	case CMD_MUSIC_LEND:
		/* call_music.c lends it once. */
		if (sender_lend_music(cs->sender, c->music.mixer))
			music_mixer_free(c->music.mixer);
		break;
	case CMD_MUSIC_ADD:
		add_lane(cs, c);
		break;
	case CMD_MUSIC_SET:
		apply_settings(cs, c);
		break;
	default:
		sender_command_music(cs->sender, c->music.id, c->music.what, c->music.target,
				     c->music.fade_ms, env_now(cs->env));
		break;
	}
}

void call_stream_feed_music(struct call_stream *cs, const struct music_feed *f)
{
	struct music_mixer *m = sender_music(cs->sender);
	struct music_lane *lane = m ? music_mixer_lane(m, f->lane) : NULL;
	uint64_t now = env_now(cs->env);

	if (!lane)
		return;
	if (f->broken || (f->n && music_lane_write(lane, f->pcm, f->n, now))) {
		music_lane_break(lane);
		sender_command_music(cs->sender, f->lane, SENDER_STOP, 0, 0, now);
	} else if (f->ended) {
		music_lane_end(lane);
	}
}

/* Two lanes sound while they cross over. */
void call_stream_report_music(struct call_stream *cs, uint64_t now)
{
	struct music_mixer *m = sender_music(cs->sender);
	struct music_lane *lane;
	struct ev ev = {.type = EV_MUSIC_PROGRESS, .stream = cs};

	if (!m || !music_mixer_at(m, 0) || now < cs->music_progress_at)
		return;
	cs->music_progress_at = (now / PROGRESS + 1) * PROGRESS;
	for (unsigned i = 0; (lane = music_mixer_at(m, i)) && i < 2; i++) {
		const struct playout *p = music_lane_playout(lane);

		ev.lane.playback = music_lane_id(lane);
		ev.lane.samples = p->confirmed;
		ev.lane.at = now;
		if (p->sent)
			cs->emit(&ev, true, cs->arg);
	}
}
