#include "control/replay.h"

#include <jansson.h>
#include <unistd.h>

#include "control/control.h"
#include "control/settings/settings.h"
#include "control/state.h"
#include "ipc/env.h"
#include "ipc/journal.h"
#include "tests/test.h"

static const char token[] = "MTIz.bot.token", key[] = "sk-provider-key", query[] = "key=hunter22";

static struct settings *secretive(void)
{
	struct settings *s = NULL;
	char url[100];

	snprintf(url, sizeof url, "ws://me:sesame@127.0.0.1:9/v1?%s", query);
	if (settings_alloc(&s) || settings_set(s, "discord_token", token) ||
	    settings_set(s, "openai_api_key", key) || settings_set(s, "brain_url", url) ||
	    settings_set(s, "aliases", "my MTIz.bot.token in the wrong place") ||
	    settings_set(s, "guest", "off") || settings_set(s, "hold_ms", "17"))
		return settings_free(s);
	return s;
}

TEST(the_first_lines_of_a_journal_say_how_control_was_started_without_its_credentials)
{
	const char *socks[] = {"/run/a.sock", "/run/b.sock", NULL};
	struct state_kept kept = {.session = json_pack("{s:s}", "bot_name", "Parley")};
	struct control_conf conf = {
		.socks = socks, .guild = 41, .channel = 42, .state_dir = "/var/x", .kept = &kept};
	struct settings *s = secretive();
	char *meta = NULL;
	json_t *j;

	CHECK(s);
	CHECK_INT(control_meta(&meta, s, &conf, false), 0);
	CHECK(!strchr(meta, '\n'));
	CHECK(!strstr(meta, token) && !strstr(meta, key) && !strstr(meta, query) &&
	      !strstr(meta, "sesame"));
	j = json_loads(meta, 0, NULL);
	CHECK(j);
	CHECK_STR(
		json_string_value(json_object_get(json_object_get(j, "settings"), "discord_token")),
		"**************");
	CHECK_STR(json_string_value(json_object_get(json_object_get(j, "settings"), "hold_ms")),
		  "17");
	CHECK_STR(json_string_value(json_object_get(json_object_get(j, "settings"), "guest")),
		  "off");
	CHECK_STR(json_string_value(json_object_get(json_object_get(j, "settings"), "brain_url")),
		  "ws://*********@127.0.0.1:9/v1?************");
	CHECK_STR(json_string_value(json_object_get(j, "guild")), "41");
	CHECK_INT(json_array_size(json_object_get(j, "socks")), 2);
	CHECK_STR(json_string_value(json_object_get(json_object_get(j, "session"), "bot_name")),
		  "Parley");
	json_decref(j);
	free(meta);
	CHECK_INT(control_meta(&meta, s, &conf, true), 0);
	CHECK(!strstr(meta, "Parley") && !strstr(meta, "settings") && strstr(meta, "control"));
	free(meta);
	state_kept_clear(&kept);
	settings_free(s);
}

/* A journal with this meta line and no record but the end. */
static int replay_of(const char *path, const char *meta)
{
	struct env_conf conf = {.loop = true};
	struct journal *j;
	struct env *env;
	int err = journal_create(&j, path, 1, meta);

	if (err)
		return err;
	conf.journal = j;
	err = env_alloc(&env, &conf);
	env_free(env);
	journal_free(j);
	return err ? err : control_replay(path, NULL, false);
}

TEST(what_is_no_journal_of_control_is_not_replayed)
{
	static const char *const bad[] = {
		"{}",
		"nonsense",
		"{\"program\":\"mediad\"}",
		"{\"program\":\"control\"}",
		"{\"program\":\"control\",\"guild\":\"1\",\"channel\":\"2\"}",
		"{\"program\":\"control\",\"guild\":\"x\",\"channel\":\"2\",\"socks\":[\"/x\"]}",
		"{\"program\":\"control\",\"guild\":\"1\",\"channel\":\"2\",\"socks\":[7]}",
		"{\"program\":\"control\",\"guild\":\"1\",\"channel\":\"2\",\"socks\":[\"/"
		"x\"],\"settings\":{\"no\":\"x\"}}",
		"{\"program\":\"control\",\"guild\":\"1\",\"channel\":\"2\",\"socks\":[\"/"
		"x\"],\"settings\":{\"hold_ms\":7}}",
	};
	char path[] = "/tmp/parley-replay-XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	CHECK_INT(control_replay("/nowhere/at/all", NULL, false), ENOENT);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_INT(replay_of(path, bad[i]), EBADMSG);
	unlink(path);
}
