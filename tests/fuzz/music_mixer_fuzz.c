/* The queue of music lanes under any order of commands, writes and pulls. A lane never plays more
 * samples than were written, its count of sent samples never exceeds those pulled, and every lane
 * comes back. */
#include <stdlib.h>
#include <string.h>

#include "mediad/audio/music_mixer.h"
#include "mediad/engine/music_feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct music_mixer *mixer;
static unsigned lent, returned;
static bool pulled; /* a frame is neither confirmed nor taken back */
static uint64_t now;

static void check_lanes(void)
{
	struct music_lane *l;

	for (unsigned i = 0; (l = music_mixer_at(mixer, i)); i++) {
		const struct playout *p = music_lane_playout(l);

		if (p->sent > p->confirmed || p->confirmed > p->pulled || p->pulled > p->written ||
		    p->written - p->confirmed > MUSIC_LANE_CAPACITY || p->fade < 0 || p->fade > 1)
			abort();
	}
}

static void take_events(void)
{
	struct music_lane *l;
	enum lane_event what;

	while ((what = music_mixer_next_event(mixer, &l)) != LANE_NONE) {
		if (what != LANE_DRAINED && what != LANE_STOPPED)
			continue;
		music_lane_free(l);
		returned++;
	}
}

static void settle(bool take_back, bool sent)
{
	if (pulled && take_back)
		music_mixer_unpull(mixer);
	else if (pulled)
		music_mixer_confirm(mixer, sent, now);
	pulled = false;
	take_events();
}

static void pull(bool speech)
{
	float left[LANE_FRAME] = {0}, right[LANE_FRAME] = {0};

	settle(false, true);
	now += 20000000;
	if (music_mixer_pull(mixer, left, right, speech, now) > LANE_FRAME)
		abort();
	pulled = true;
}

static void add(uint8_t a, uint8_t b)
{
	struct music_lane_conf conf = {
		.id = b % 8 + 1, .gain = (uint32_t)(a * 16000), .length = (uint64_t)b * 100};
	struct music_joint joint = {
		.crossfade = a % 4 * 700U, .at_once = b & 128, .after = a & 64 ? b / 8 % 8 + 1 : 0};
	struct music_lane *l;

	if (music_lane_alloc(&l, &conf))
		abort();
	if (music_mixer_add(mixer, l, &joint))
		music_lane_free(l);
	else
		lent++;
}

static void control(struct music_lane *l, uint8_t what, uint8_t b)
{
	static const int16_t pcm[2 * MUSIC_LANE_CAPACITY];
	uint32_t id = music_lane_id(l);

	switch (what % 7) {
	case 0:
		music_lane_write(l, pcm, b * 20U % MUSIC_LANE_CAPACITY, now);
		break;
	case 1:
		music_lane_end(l);
		break;
	case 2:
		music_mixer_pause(mixer, id, b);
		break;
	case 3:
		music_mixer_resume(mixer, id, b);
		break;
	case 4:
		playout_stop(music_lane_playout(l), b * 10U);
		break;
	case 5:
		playout_gain(music_lane_playout(l), (uint32_t)(b * 16000), b);
		break;
	default:
		music_mixer_finish_fades(mixer);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct music_feed feed;
	struct music_lane *l;

	music_feed_parse(size ? data[0] : 0, data, size, &feed);
	lent = returned = 0;
	pulled = false;
	now = 1;
	if (music_mixer_alloc(&mixer))
		abort();
	for (size_t i = 0; i + 2 < size && i < 3000; i += 3) {
		l = music_mixer_lane(mixer, data[i + 1] % 8 + 1);
		if (data[i] < 40)
			add(data[i + 1], data[i + 2]);
		else if (data[i] < 120)
			pull(data[i + 1] & 1);
		else if (data[i] < 150)
			settle(data[i + 1] & 1, data[i + 1] & 2);
		else if (l)
			control(l, data[i], data[i + 2]);
		check_lanes();
	}
	settle(false, true);
	while ((l = music_mixer_take(mixer))) {
		music_lane_free(l);
		returned++;
	}
	if (lent != returned)
		abort();
	music_mixer_free(mixer);
	return 0;
}
