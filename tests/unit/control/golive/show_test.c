#include "control/golive/show.h"

#include <string.h>

#include "control/golive/room.h"
#include "control/golive/streams.h"
#include "control/settings/settings.h"
#include "control/vision/vision.h"
#include "tests/unit/control/media/toy_mediad.h"

static struct {
	struct toy t;
	struct settings *settings;
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
	err = settings_alloc(&rig.settings);
	conf.settings = rig.settings;
	if (!err)
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

static void stop(void)
{
	show_free(rig.show);
	streams_free(rig.streams);
	toy_free(&rig.t);
	settings_free(rig.settings);
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
	stop();
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
	stop();
}

static void group_has(uint8_t version, unsigned members)
{
	toy_send(&rig.t, (struct media_msg){.type = MEDIA_CALL_SECURE,
					    .call_secure = {.call = rig.t.call_id,
							    .gen = rig.t.gen,
							    .known = true,
							    .version = version,
							    .members = (uint16_t)members}});
	toy_settle(&rig.t);
}

static struct vision_show shown(void)
{
	struct vision_show what = {.title = "nothing"};

	show_now(rig.show, 41, &what);
	return what;
}

/* What the dashboard tells of a video: its name and viewers, and, once it is over, why. */
TEST(a_video_that_is_over_is_told_with_its_reason)
{
	const struct vision_film film = {.guild = 41,
					 .channel = 51,
					 .user = 7,
					 .url = "https://example.org/a/b%20c.mp4?key=hush"};
	struct vision_show none;

	CHECK_INT(start(), 0);
	CHECK(toy_run_until(&rig.t, MEDIA_HELLO, 1));
	toy_settle(&rig.t);
	streams_online(rig.streams, 700, true, env_now(rig.t.env));
	CHECK(!show_now(rig.show, 41, &none));
	CHECK(!show_film(rig.show, &film, on_film, NULL));
	CHECK(toy_run_until(&rig.t, MEDIA_VIDEO_PLAY, 1));
	CHECK_STR(shown().title, "b%20c.mp4");
	CHECK(shown().asked_ms > 0 && !shown().why);
	CHECK_INT(shown().viewers, -1);
	group_has(1, 1); /* the account */
	CHECK_INT(shown().viewers, 0);
	group_has(1, 3);
	CHECK_INT(shown().viewers, 2);
	group_has(0, 3);
	CHECK_INT(shown().viewers, -1);
	group_has(1, 2);
	CHECK_INT(shown().viewers, 1);
	toy_send(&rig.t, (struct media_msg){.type = MEDIA_VIDEO_FILM,
					    .video_film = {.call = rig.t.call_id,
							   .film = 1,
							   .phase = MEDIA_MUSIC_PHASE_FAILED,
							   .text = slice_str("no film")}});
	toy_settle(&rig.t);
	/* At once, not what was shown before it. */
	CHECK_STR(shown().why, "no film");
	CHECK_STR(shown().title, "b%20c.mp4");
	CHECK(shown().over_ms >= shown().asked_ms);
	show_tick(rig.show);
	CHECK(!show_runs(rig.show));
	CHECK_STR(shown().why, "no film");
	CHECK_STR(shown().title, "b%20c.mp4");
	CHECK(shown().over_ms >= shown().asked_ms && shown().user == 7);
	CHECK(!show_now(rig.show, 42, &none));
	show_forget_user(rig.show, 7);
	CHECK_INT(shown().user, 0);
	/* Another one takes its place. */
	CHECK(!show_film(rig.show, &film, on_film, NULL));
	CHECK(!shown().why);
	stop();
}

static const char *title_of(const char *url)
{
	const struct vision_film film = {.guild = 41, .channel = 51, .user = 7, .url = url};

	if (show_film(rig.show, &film, on_film, NULL))
		return "refused";
	show_end(rig.show, 41);
	show_tick(rig.show);
	return shown().title;
}

/* Viewers of the dashboard read it, and the model says it. */
TEST(a_film_without_a_title_is_named_by_no_secret_of_its_address)
{
	CHECK_INT(start(), 0);
	CHECK(toy_run_until(&rig.t, MEDIA_HELLO, 1));
	toy_settle(&rig.t);
	streams_online(rig.streams, 700, true, env_now(rig.t.env));
	CHECK_STR(title_of("https://cdn.example/v/Film%20one.MP4#t=3"), "Film%20one.MP4");
	CHECK_STR(title_of("https://cdn.example/v/film.mkv;jsessionid=hush"), "film.mkv");
	CHECK_STR(title_of("https://cdn.example/v/film.webm%3Ftoken=hush.mp4"), "film.webm");
	CHECK_STR(title_of("https://cdn.example/v/film.mov%3ftoken=hush/b"), "film.mov");
	CHECK_STR(title_of("https://cdn.example/v/3f9a77c1"), "cdn.example");
	CHECK_STR(title_of("https://cdn.example/v/film.mp4;hush/3f9a77c1.hush"), "film.mp4");
	CHECK_STR(title_of("https://cdn.example/v;hush/film.mp4"), "cdn.example");
	CHECK_STR(title_of("https://cdn.example/v/.mp4"), "cdn.example");
	CHECK_STR(title_of("https://cdn.mp4"), "cdn.mp4");
	CHECK_STR(title_of("https://cdn.example/v/?film=hush.mp4"), "cdn.example");
	CHECK_STR(title_of("https://cdn.example/o/hush%2Ffilm.mp4?alt=media"), "cdn.example");
	CHECK_STR(title_of("https://cdn.example/o/hush%2ffilm.mp4"), "cdn.example");
	CHECK_STR(title_of("https://cdn.example/o/hush%5cfilm.mp4"), "cdn.example");
	CHECK_STR(title_of("https://cdn.example/o/hush%252Ffilm.mp4"), "cdn.example");
	CHECK_STR(title_of("https://cdn.example/o/hush\\film.mp4"), "cdn.example");
	CHECK_STR(title_of("https://cdn.example/o/a%2.mp4"), "cdn.example");
	CHECK_STR(title_of("https://cdn.example/v/Caf%C3%A9%20one.mp4"), "Caf%C3%A9%20one.mp4");
	CHECK_STR(title_of("file:a/3f9a77c1"), "3f9a77c1");
	stop();
}

static const char *refusal_of(const char *url)
{
	const struct vision_film film = {.guild = 41, .channel = 51, .user = 7, .url = url};
	const char *why = show_film(rig.show, &film, on_film, NULL);

	return why ? why : "none";
}

/* As music is: by the list of control, and by that with which the mediad was started. */
TEST(a_film_that_mediad_may_not_read_is_refused_at_once)
{
	static const char started[] = "the media daemon was started without this address. Whoever "
				      "runs the bot can change that";

	CHECK_INT(start(), 0);
	CHECK(toy_run_until(&rig.t, MEDIA_HELLO, 1));
	toy_settle(&rig.t);
	streams_online(rig.streams, 700, true, env_now(rig.t.env));
	CHECK(strstr(refusal_of("http://10.0.0.5:8000/a.mp4"), "not read") != NULL);
	CHECK_INT(settings_set(rig.settings, "web_read_allowed", "10.0.0.5:8000"), 0);
	toy_addresses(&rig.t, "");
	CHECK_STR(refusal_of("http://10.0.0.5:8000/a.mp4"), started);
	CHECK_STR(refusal_of("file:a.mp4"), "the media daemon was started without the folder of "
					    "such files. Whoever runs the bot can change that");
	CHECK(!show_runs(rig.show));
	CHECK_INT(rig.t.count[MEDIA_VIDEO_PLAY], 0);
	toy_addresses(&rig.t, "10.0.0.5:8000");
	CHECK_STR(refusal_of("http://10.0.0.5:8000/a.mp4"), "none");
	CHECK(toy_run_until(&rig.t, MEDIA_VIDEO_PLAY, 1));
	stop();
}

TEST(without_decoders_no_film_is_shown)
{
	CHECK_INT(start(), 0);
	CHECK(toy_run_until(&rig.t, MEDIA_HELLO, 1));
	toy_settle(&rig.t);
	streams_online(rig.streams, 700, true, env_now(rig.t.env));
	toy_send(&rig.t, (struct media_msg){.type = MEDIA_DECODERS});
	toy_settle(&rig.t);
	CHECK_STR(refusal_of("https://example.org/a.mp4"),
		  "the program that decodes it does not run. "
		  "Whoever runs the bot can change that");
	stop();
}
