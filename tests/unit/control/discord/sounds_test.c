#include "control/discord/sounds.h"

#include "../fake_http.h"
#include "control/discord/rest.h"
#include "tests/test.h"

static const struct sound_list *board(const char *json)
{
	static struct sound_list list;
	json_t *root = json_loads(json, 0, NULL);

	list.n = 0;
	sound_list_add(&list, root);
	json_decref(root);
	return &list;
}

static const char mine[] =
	"{\"items\":[{\"name\":\"Drum roll\",\"sound_id\":\"77\",\"guild_id\":\"5\"},"
	"{\"name\":\"Air horn\",\"sound_id\":\"78\",\"available\":false},"
	"{\"name\":\"drum\",\"sound_id\":\"79\"},{\"name\":\"horn of doom\","
	"\"sound_id\":80},{\"name\":\"x\"},{\"sound_id\":\"9\"},7]}";

static int find(const char *ref, uint64_t *id, uint64_t *guild)
{
	*id = *guild = 0;
	return sound_list_find(board(mine), ref, id, guild);
}

TEST(sounds_are_found_by_id_and_name)
{
	uint64_t id, guild;

	CHECK_INT(board(mine)->n, 3);
	CHECK(find("DRUM ROLL", &id, &guild) == 0 && id == 77 && guild == 0);
	CHECK(find("drum", &id, &guild) == 0 && id == 79);
	CHECK(find("doom", &id, &guild) == 0 && id == 80);
	CHECK_INT(find("dru", &id, &guild), EEXIST);
	CHECK_INT(find("air horn", &id, &guild), ENOENT);
	CHECK_INT(find("", &id, &guild), ENOENT);
	CHECK(find("123", &id, &guild) == 0 && id == 123 && guild == 0);
	CHECK(find("123@456", &id, &guild) == 0 && id == 123 && guild == 456);
	CHECK_INT(find("123@", &id, &guild), ENOENT);
	CHECK_INT(find("123456789012345678901234567890", &id, &guild), ENOENT);
	CHECK_INT(board("5")->n, 0);
	CHECK_INT(board("{}")->n, 0);
}

static struct seen {
	struct fake_http fake;
	struct rest *rest;
	struct sounds *sounds;
	char events[128], asked[512];
	unsigned ends, want;
	bool want_list;
	int status; /* of playing */
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
		fake_http_answer(req, fx.status, "application/json", "{}",
				 fx.status == 204 ? 0 : 2);
	else if (strstr(f->path, "default"))
		fake_http_answer(req, 200, "application/json", common, sizeof common - 1);
	else
		fake_http_answer(req, 200, "application/json", mine, sizeof mine - 1);
}

static bool begin(int status)
{
	memset(&fx, 0, sizeof fx);
	fx.status = status;
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
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
	CHECK(strstr(fx.events, "quack") || strstr(fx.events, "Drum roll"));
	CHECK_INT(atoi(fx.events), 4 /* of both lists */);
	end();
}

TEST(a_sound_is_played_by_its_name)
{
	CHECK(begin(204));
	CHECK_INT(sounds_play(fx.sounds, 9, "quack", 1), 0);
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
	CHECK_INT(sounds_play(fx.sounds, 9, "80@6", 2), 0);
	env_run(fx.fake.env);
	CHECK_STR(fx.asked, "/v1/channels/9/send-soundboard-sound "
			    "{\"sound_id\":\"80\",\"source_guild_id\":\"6\"}\n");
	CHECK_STR(fx.events, "1:0 2:0 ");
	CHECK_INT(sounds_play(fx.sounds, 9, "nothing", 3), ENOENT);
	end();
}

TEST(sounds_that_cannot_be_played_are_told)
{
	CHECK(begin(403));
	fx.want = 2;
	CHECK_INT(sounds_play(fx.sounds, 9, "nothing", 1), 0);
	CHECK_INT(sounds_play(fx.sounds, 9, "drum", 2), 0);
	env_run(fx.fake.env);
	CHECK(strstr(fx.events, "1:2 ") && strstr(fx.events, "2:13 "));
	end();
	/* Nobody waits any more. */
	CHECK(begin(204));
	for (unsigned i = 0; i < SOUNDS_WAITING; i++)
		CHECK_INT(sounds_play(fx.sounds, 9, "drum", i), 0);
	CHECK_INT(sounds_play(fx.sounds, 9, "drum", 99), ENOBUFS);
	fx.sounds = sounds_free(fx.sounds);
	end();
	CHECK_STR(fx.events, "");
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
		err = sounds_play(s, 9, "drum", 1);
	sounds_free(s);
	rest_free(rest);
	http_free(http);
	env_free(env);
	CHECK_OOM(err, (void)0);
}
