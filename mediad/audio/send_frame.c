/* The next frame of a sender: mixes the lanes and encodes them. */
#include <string.h>

#include "mediad/audio/send_internal.h"
#include "proto/base/not_cleared.h"
#include "proto/rtp.h"

/* The stereo mode of the encoder outlasts a gap in the music by so many frames. */
enum { MUSIC_MODE_FRAMES = 25 };

/* The sum of the lanes. mono is the speech; where music sounds it is in both channels already. */
struct mix {
	float mono[LANE_FRAME], left[LANE_FRAME], right[LANE_FRAME];
};

bool sender_has_speech(const struct sender *s)
{
	for (unsigned i = 0; i < s->n_lanes; i++)
		if (lane_has_audio(s->lanes[i].lane))
			return true;
	return false;
}

/* Measured on speech in hybrid mode: with an encoder that is reset as the receivers' decoders are,
 * the first frames after a pause come out at 17 dB SNR instead of 5. */
void sender_prepare_silence(struct sender *s)
{
	memcpy(s->frame.opus, OPUS_SILENCE, OPUS_SILENCE_SIZE);
	s->frame.len = OPUS_SILENCE_SIZE;
	s->frame.full = s->frame.silence = true;
	s->frame.dtx = false;
	s->fresh = true;
}

/* ---- the encoder ---- */

static bool uses_stereo(const struct sender *s)
{
	return s->enc != s->mono;
}

/* Chooses the encoder and its mode. A call uses the stereo encoder from the first frame with music
 * on, and returns to the mono one, which costs less, after silence when no music is lent. */
static void select_encoder(struct sender *s)
{
	struct encoder *stereo = s->music ? music_mixer_encoder(s->music) : NULL;
	bool music = s->frame.music, continues = !s->fresh;

	if (!stereo)
		return;
	s->without_music = music ? 0 : s->without_music + 1;
	if (s->fresh)
		s->enc = music || music_mixer_at(s->music, 0) ? stereo : s->mono;
	if (music || s->fresh || s->without_music > MUSIC_MODE_FRAMES)
		encoder_set_music(stereo, music);
	if (music && continues && !uses_stereo(s)) {
		s->enc = stereo;
		encoder_take_over(stereo, s->last);
	}
}

static void duplicate_channel(const int16_t mono[LANE_FRAME], int16_t stereo[2 * LANE_FRAME])
{
	for (int i = 0; i < LANE_FRAME; i++)
		stereo[2 * i] = stereo[2 * i + 1] = mono[i];
}

/* Limits the mix and puts it into the layout of the encoder in use. */
static void limit_mix(struct sender *s, const struct mix *mix, int16_t pcm[2 * LANE_FRAME])
{
	int16_t one[LANE_FRAME] NOT_CLEARED, *mono = uses_stereo(s) ? one : pcm;

	if (s->frame.music) {
		limiter_run_stereo(&s->limiter, mix->left, mix->right, pcm);
		return;
	}
	limiter_run(&s->limiter, mix->mono, mono);
	if (s->music)
		duplicate_channel(mono, s->last);
	if (uses_stereo(s))
		memcpy(pcm, s->last, sizeof s->last);
}

static void encode_mix(struct sender *s, const struct mix *mix)
{
	struct prepared_frame *frame = &s->frame;
	int16_t pcm[2 * LANE_FRAME] NOT_CLEARED;

	select_encoder(s);
	if (s->fresh)
		encoder_reset(s->enc);
	s->fresh = false;
	limit_mix(s, mix, pcm);
	frame->len = encoder_run(s->enc, pcm, frame->opus);
	if (!frame->len) {
		sender_prepare_silence(s);
		return;
	}
	frame->full = true;
	frame->silence = false;
	frame->dtx = frame->len <= ENCODER_DTX_MAX;
}

/* ---- the mix ---- */

/* Mixes the lanes into acc and records their shares. Returns the index after the last sample of any
 * lane. */
static size_t mix_lanes(struct sender *s, float acc[LANE_FRAME], uint64_t now)
{
	struct prepared_frame *frame = &s->frame;
	size_t end = 0;

	for (unsigned i = 0; i < s->n_lanes; i++) {
		size_t n = lane_pull(s->lanes[i].lane, acc, now);

		if (n)
			frame->shares[frame->n_shares++] =
				(struct share){.lane = s->lanes[i].lane, .samples = n};
		if (n > end)
			end = n;
	}
	return end;
}

/* Mixes the music into left and right. */
static size_t mix_music(struct sender *s, struct mix *mix, uint64_t now)
{
	size_t end;

	if (!s->music || !music_mixer_at(s->music, 0))
		return 0;
	memset(mix->left, 0, sizeof mix->left);
	memset(mix->right, 0, sizeof mix->right);
	end = music_mixer_pull(s->music, mix->left, mix->right, sender_has_speech(s), now);
	s->frame.music = end > 0;
	return end;
}

bool sender_mix_frame(struct sender *s, uint64_t now)
{
	struct mix mix NOT_CLEARED;
	size_t music = mix_music(s, &mix, now), speech = 0, end;

	memset(mix.mono, 0, sizeof mix.mono);
	/* Speech that begins over music waits until the music is down. */
	if (!music || s->spoke || !duck_holds_speech(music_mixer_duck(s->music)))
		speech = mix_lanes(s, mix.mono, now);
	for (int i = 0; music && speech && i < LANE_FRAME; i++) {
		mix.left[i] += mix.mono[i];
		mix.right[i] += mix.mono[i];
	}
	s->spoke = speech > 0;
	end = music > speech ? music : speech;
	if (!end)
		return false;
	encode_mix(s, &mix);
	s->flush = end + encoder_lookahead(s->enc) > LANE_FRAME;
	return true;
}

void sender_flush_frame(struct sender *s)
{
	struct mix mix NOT_CLEARED;

	memset(mix.mono, 0, sizeof mix.mono);
	encode_mix(s, &mix);
}
