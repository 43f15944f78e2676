#include "control/golive/show.h"

#include <string.h>

#include "control/golive/room.h"
#include "control/golive/streams.h"
#include "control/vision/vision.h"
#include "tests/unit/control/media/toy_mediad.h"

static struct {
	struct toy t;
	struct streams *streams;
	struct show *show;
	unsigned leases;
} rig;

static unsigned policy(uint64_t guild, uint64_t channel, void *arg)
{
	(void)guild, (void)channel, (void)arg;
	return MEDIA_E2EE_PREFER;
}

static void tell(uint64_t guild, unsigned reason, void *arg)
{
	(void)guild, (void)reason, (void)arg;
}

static const struct golive_room room = {policy, tell, NULL};

static void on_act(const struct streams_act *act, void *arg)
{
	(void)arg;
	rig.leases += act->type == STREAMS_ACT_LEASE;
	show_take_act(rig.show, act);
}

static void on_film(const struct vision_film_state *state, void *arg)
{
	(void)state, (void)arg;
}

static void hear(const char *name, json_t *d)
{
	streams_event(rig.streams, name, d, env_now(rig.t.env));
	json_decref(d);
}

static void film_is(uint32_t film, enum media_music_phase phase)
{
	toy_send(&rig.t, (struct media_msg){.type = MEDIA_VIDEO_FILM,
					    .video_film = {.call = rig.t.call_id,
							   .film = film,
							   .phase = (uint8_t)phase,
							   .codec = MEDIA_VIDEO_H264}});
	toy_settle(&rig.t);
}

static int start(void)
{
	struct show_conf conf = {.room = &room, .n_folders = 1};
	int err;

	memset(&rig, 0, sizeof rig);
	err = toy_alloc(&rig.t);
	if (!err)
		err = toy_listen(&rig.t);
	if (!err)
		err = toy_start_control(&rig.t, 10);
	if (!err)
		err = streams_alloc(&rig.streams, on_act, NULL);
	conf.env = rig.t.env;
	conf.media = rig.t.media;
	conf.streams = rig.streams;
	return err ? err : show_alloc(&rig.show, &conf);
}

/* A mediad that comes anew asks for a lease at once, and may need longer for the film. A session
 * that began before would not tell its codec. */
TEST(a_stream_gets_another_session_once_its_film_is_open_again)
{
	const struct vision_film film = {.guild = 41, .channel = 51, .url = "file:a.mp4"};

	CHECK_INT(start(), 0);
	CHECK(toy_run_until(&rig.t, MEDIA_HELLO, 1));
	toy_settle(&rig.t);
	streams_online(rig.streams, 700, true, env_now(rig.t.env));
	CHECK(!show_film(rig.show, &film, on_film, NULL));
	CHECK(toy_run_until(&rig.t, MEDIA_VIDEO_PLAY, 1));
	film_is(1, MEDIA_MUSIC_PHASE_READY);
	hear("VOICE_STATE_UPDATE", json_pack("{s:s,s:s,s:s,s:s}", "guild_id", "41", "user_id",
					     "700", "channel_id", "51", "session_id", "x"));
	hear("STREAM_CREATE", json_pack("{s:s,s:s,s:s}", "stream_key", "guild:41:51:700",
					"rtc_server_id", "91", "rtc_channel_id", "90"));
	hear("STREAM_SERVER_UPDATE", json_pack("{s:s,s:s,s:s}", "stream_key", "guild:41:51:700",
					       "token", "y", "endpoint", "host:1"));
	CHECK_INT(rig.leases, 1);
	CHECK(streams_deadline(rig.streams) == UINT64_MAX);
	toy_gone(&rig.t);
	CHECK(toy_back(&rig.t) && toy_run_until(&rig.t, MEDIA_VIDEO_PLAY, 2));
	toy_settle(&rig.t);
	CHECK(streams_deadline(rig.streams) == UINT64_MAX);
	film_is(2, MEDIA_MUSIC_PHASE_OPENING);
	CHECK(streams_deadline(rig.streams) == UINT64_MAX);
	film_is(2, MEDIA_MUSIC_PHASE_READY);
	CHECK(streams_deadline(rig.streams) != UINT64_MAX);
	/* A film that is open waits for nothing. */
	film_is(2, MEDIA_MUSIC_PHASE_PLAYING);
	show_free(rig.show);
	streams_free(rig.streams);
	toy_free(&rig.t);
}

TEST(an_erased_person_asked_for_no_film)
{
	const struct vision_film film = {
		.guild = 41, .channel = 51, .user = 7, .url = "file:a.mp4"};
	struct vision_show shown = {0};

	CHECK_INT(start(), 0);
	CHECK(toy_run_until(&rig.t, MEDIA_HELLO, 1));
	toy_settle(&rig.t);
	streams_online(rig.streams, 700, true, env_now(rig.t.env));
	CHECK(!show_film(rig.show, &film, on_film, NULL));
	show_forget_user(rig.show, 8);
	CHECK(show_now(rig.show, 41, &shown));
	CHECK_INT(shown.user, 7);
	show_forget_user(rig.show, 7);
	CHECK(show_now(rig.show, 41, &shown));
	CHECK_INT(shown.user, 0);
	show_free(rig.show);
	streams_free(rig.streams);
	toy_free(&rig.t);
}
