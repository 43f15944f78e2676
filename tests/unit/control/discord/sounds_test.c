#include "control/discord/sounds.h"

#include "../fake_http.h"
#include "control/discord/rest.h"
#include "tests/test.h"

static const char mine[] =
	"{\"items\":[{\"name\":\"Drum roll\",\"sound_id\":\"77\",\"guild_id\":\"5\"},"
	"{\"name\":\"drum\",\"sound_id\":\"79\",\"guild_id\":\"5\"},"
	"{\"name\":\"horn of doom\",\"sound_id\":\"80\",\"guild_id\":\"5\"}]}";

static struct seen {
	struct fake_http fake;
	struct rest *rest;
	struct sounds *sounds;
	char events[128], asked[512];
	unsigned ends, want;
	bool want_list;
	bool no_list;
	int status; /* of playing */
	const char *refusal;
} fx;

static void on_played(uint64_t ticket, int err, void *arg)
{
	size_t at = strlen(fx.events);

	(void)arg;
	snprintf(fx.events + at, sizeof fx.events - at, "%u:%d ", (unsigned)ticket, err);
	if (++fx.ends == fx.want)
		env_stop(fx.fake.env);
}

static void on_listed(const struct sound_list *list, void *arg)
{
	(void)arg;
	if (!fx.want_list)
		return;
	snprintf(fx.events, sizeof fx.events, "%u %s", list->n, list->v[0].name);
	env_stop(fx.fake.env);
}

static void discord(struct fake_http *f, struct evhttp_request *req)
{
	static const char common[] = "[{\"name\":\"quack\",\"sound_id\":\"1\"}]";
	size_t at = strlen(fx.asked);

	snprintf(fx.asked + at, sizeof fx.asked - at, "%s %s\n", f->path, (char *)f->body);
	if (strstr(f->path, "send-soundboard-sound"))
		fake_http_answer(req, fx.status, "application/json", fx.refusal,
				 fx.status == 204 ? 0 : strlen(fx.refusal));
	else if (fx.no_list)
		fake_http_answer(req, 403, "application/json", "{}", 2);
	else if (strstr(f->path, "default"))
		fake_http_answer(req, 200, "application/json", common, sizeof common - 1);
	else
		fake_http_answer(req, 200, "application/json", mine, sizeof mine - 1);
}

static bool begin(int status)
{
	memset(&fx, 0, sizeof fx);
	fx.status = status;
	fx.refusal = "{}";
	fx.want = 1;
	return fake_http_begin(&fx.fake, discord, NULL) &&
	       !rest_alloc(&fx.rest, fx.fake.env, fx.fake.http, fx.fake.base, "token") &&
	       !sounds_alloc(&fx.sounds, fx.fake.env, fx.rest, 5, on_played, on_listed, NULL);
}

static void end(void)
{
	sounds_free(fx.sounds);
	rest_free(fx.rest);
	fake_http_end(&fx.fake);
}

TEST(sounds_are_listed_for_their_owner)
{
	CHECK(begin(204));
	fx.want_list = true;
	CHECK_INT(sounds_list(fx.sounds), 0);
	CHECK_INT(sounds_list(fx.sounds), 0); /* is under way */
	CHECK(!sounds_now(fx.sounds));
	env_run(fx.fake.env);
	CHECK_INT(sounds_now(fx.sounds)->n, 4);
	CHECK(!fx.fake.timed_out);
	CHECK(strstr(fx.events, "quack") || strstr(fx.events, "Drum roll"));
	CHECK_INT(atoi(fx.events), 4 /* of both lists */);
	end();
}

TEST(a_sound_is_played_by_its_name)
{
	CHECK(begin(204));
	CHECK_INT(sounds_play(fx.sounds, 9, "quack", false, 1), 0);
	CHECK_STR(fx.events, "");
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK_STR(fx.events, "1:0 ");
	CHECK(strstr(fx.asked, "/v1/guilds/5/soundboard-sounds"));
	CHECK(strstr(fx.asked, "/v1/channels/9/send-soundboard-sound {\"sound_id\":\"1\"}"));
	CHECK_STR(sounds_name(fx.sounds, 77), "Drum roll");
	CHECK(!sounds_name(fx.sounds, 5));
	/* The list is known now. */
	fx.ends = 0;
	fx.asked[0] = '\0';
	CHECK_INT(sounds_play(fx.sounds, 9, "80@6", true, 2), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.asked, "/v1/channels/9/send-soundboard-sound "
			    "{\"sound_id\":\"80\",\"source_guild_id\":\"6\"}\n");
	CHECK_STR(fx.events, "1:0 2:0 ");
	CHECK_INT(sounds_play(fx.sounds, 9, "nothing", false, 3), ENOENT);
	/* Those of other servers only where they are allowed; the own one needs no name. */
	CHECK_INT(sounds_play(fx.sounds, 9, "80@6", false, 4), ENOENT);
	CHECK_INT(sounds_play(fx.sounds, 9, "81@5", true, 5), ENOENT);
	CHECK_INT(sounds_play(fx.sounds, 9, "drum r", false, 6), 0);
	CHECK_INT(sounds_play(fx.sounds, 9, "r", false, 7), EEXIST);
	fx.ends = 0;
	fx.asked[0] = '\0';
	env_run(fx.fake.env);
	CHECK_STR(fx.asked, "/v1/channels/9/send-soundboard-sound {\"sound_id\":\"77\"}\n");
	end();
}

TEST(sounds_that_cannot_be_played_are_told)
{
	CHECK(begin(403));
	fx.want = 2;
	CHECK_INT(sounds_play(fx.sounds, 9, "nothing", false, 1), 0);
	CHECK_INT(sounds_play(fx.sounds, 9, "drum", false, 2), 0);
	env_run(fx.fake.env);
	CHECK(strstr(fx.events, "1:2 ") && strstr(fx.events, "2:13 "));
	end();
	/* Nobody waits any more. */
	CHECK(begin(204));
	for (unsigned i = 0; i < SOUNDS_WAITING; i++)
		CHECK_INT(sounds_play(fx.sounds, 9, "drum", false, i + 1), 0);
	CHECK_INT(sounds_play(fx.sounds, 9, "drum", false, 99), ENOBUFS);
	fx.sounds = sounds_free(fx.sounds);
	end();
	CHECK_STR(fx.events, "");
}

TEST(discord_says_that_the_bot_is_muted)
{
	CHECK(begin(400));
	fx.refusal = "{\"code\":50167,\"message\":\"You are muted\"}";
	CHECK_INT(sounds_play(fx.sounds, 9, "drum", false, 1), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "1:1 "); /* EPERM */
	end();
}

/* An answer that was cut plays nothing after the cut, whatever its sounds wait for. */
TEST(a_sound_that_is_cancelled_is_not_sent)
{
	CHECK(begin(204));
	CHECK_INT(sounds_play(fx.sounds, 9, "drum", false, 1), 0); /* waits for the list */
	CHECK_INT(sounds_play(fx.sounds, 9, "quack", false, 2), 0);
	CHECK(sounds_cancel(fx.sounds, 1));
	CHECK(!sounds_cancel(fx.sounds, 1));
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "2:0 ");
	CHECK(!strstr(fx.asked, "\"79\""));
	CHECK(!sounds_cancel(fx.sounds, 2));
	/* Now it waits to be sent. */
	fx.asked[0] = '\0';
	fx.want = 2;
	CHECK_INT(sounds_play(fx.sounds, 9, "drum", false, 3), 0);
	CHECK(sounds_cancel(fx.sounds, 3));
	CHECK_INT(sounds_play(fx.sounds, 9, "quack", false, 4), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "2:0 4:0 ");
	CHECK(!strstr(fx.asked, "\"79\""));
	end();
}

static void tell(const char *name, const char *json)
{
	json_t *d = json_loads(json, 0, NULL);

	fx.events[0] = '\0';
	sounds_event(fx.sounds, name, d);
	json_decref(d);
}

TEST(events_keep_the_list_up_to_date)
{
	CHECK(begin(204));
	fx.want_list = true;
	CHECK_INT(sounds_list(fx.sounds), 0);
	env_run(fx.fake.env);
	tell("GUILD_SOUNDBOARD_SOUND_CREATE",
	     "{\"name\":\"tada\",\"sound_id\":\"90\",\"guild_id\":\"5\"}");
	CHECK_INT(atoi(fx.events), 5);
	CHECK_STR(sounds_name(fx.sounds, 90), "tada");
	tell("GUILD_SOUNDBOARD_SOUND_UPDATE",
	     "{\"name\":\"Ta-da\",\"sound_id\":\"90\",\"guild_id\":\"5\"}");
	CHECK_INT(atoi(fx.events), 5);
	CHECK_STR(sounds_name(fx.sounds, 90), "Ta-da");
	tell("GUILD_SOUNDBOARD_SOUND_DELETE", "{\"sound_id\":\"90\",\"guild_id\":\"5\"}");
	CHECK_INT(atoi(fx.events), 4);
	CHECK(!sounds_name(fx.sounds, 90));
	tell("GUILD_SOUNDBOARD_SOUNDS_UPDATE",
	     "{\"guild_id\":\"5\",\"soundboard_sounds\":[{\"name\":\"only\",\"sound_id\":\"91\","
	     "\"guild_id\":\"5\"}]}");
	CHECK_INT(atoi(fx.events), 2); /* and a default one */
	CHECK_STR(sounds_name(fx.sounds, 1), "quack");
	tell("GUILD_EMOJIS_UPDATE", "{\"guild_id\":\"5\"}");
	CHECK_STR(fx.events, "");
	end();
}

/* The list may be older than an event that overtakes it. */
TEST(a_list_is_requested_again_after_a_change_on_its_way)
{
	CHECK(begin(204));
	fx.want_list = true;
	CHECK_INT(sounds_list(fx.sounds), 0);
	tell("GUILD_SOUNDBOARD_SOUND_DELETE", "{\"sound_id\":\"79\",\"guild_id\":\"5\"}");
	CHECK_STR(fx.events, "");
	env_run(fx.fake.env);
	CHECK_STR(strstr(strstr(fx.asked, "default") + 1, "default"), "default-sounds \n");
	end();
}

/* A list that Discord does not give is not requested with every sound. */
TEST(a_missing_list_is_not_requested_for_each_sound)
{
	CHECK(begin(204));
	fx.no_list = true;
	CHECK_INT(sounds_play(fx.sounds, 9, "drum", false, 1), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.events, "1:2 ");
	CHECK_INT(sounds_play(fx.sounds, 9, "drum", false, 2), ENOENT);
	end();
}

TEST_OOM(sounds_without_memory)
{
	struct env *env = NULL;
	struct http *http = NULL;
	struct rest *rest = NULL;
	struct sounds *s = NULL;
	int err = env_alloc(&env, &(struct env_conf){.loop = true});

	if (!err)
		err = http_alloc(&http, env, NULL, "x");
	if (!err)
		err = rest_alloc(&rest, env, http, "http://127.0.0.1:9", "t");
	if (!err)
		err = sounds_alloc(&s, env, rest, 5, on_played, on_listed, NULL);
	if (!err)
		err = sounds_play(s, 9, "drum", false, 1);
	sounds_free(s);
	rest_free(rest);
	http_free(http);
	env_free(env);
	CHECK_OOM(err, (void)0);
}
