#include <string.h>

#include "control/vision/inside.h"
#include "ipc/env.h"
#include "proto/base/utf8.h"
#include "tests/test.h"

enum { GUILD = 1, CHANNEL = 2, ALICE = 5 };

static const char *name;

static const char *name_of(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild;
	(void)user;
	(void)arg;
	return name;
}

/* Of letters of three bytes, where the limit is inside one, and with what breaks lines. */
TEST(a_long_name_of_who_shows_a_screen_stays_whole_characters)
{
	static uint8_t jpeg[1] = {0xff};
	static struct vision v;
	struct vision_picture picture;
	char long_name[3 * 32 + 1] = "", notes[VISION_NOTES_MAX];
	struct env *env;

	for (unsigned i = 0; i < 32; i++)
		strcat(long_name, "\xe7\x94\xbb");
	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true}), 0);
	v = (struct vision){.conf = {.env = env, .nameh = name_of}};
	v.shares.v[0] = (struct share){
		.id = 3,
		.watched = true,
		.state = SHARE_SHOWING,
		.owner = {.guild = GUILD, .channel = CHANNEL, .requester = ALICE, .target = ALICE}};
	v.views[0] = (struct view){.share = 3,
				   .number = 1,
				   .confirmed = env_now(env),
				   .newest = {.p = jpeg, .n = 1, .at = env_now(env)}};
	notes_changed(&v.views[0].notes, 100, 1, env_now(env));
	name = long_name;
	CHECK(vision_notes(&v, GUILD, CHANNEL, notes) > 0);
	CHECK(utf8_valid(notes));
	CHECK(strstr(notes, "\xe7\x94\xbb, the newest first:\n") != NULL);
	for (unsigned i = 0; i < 2; i++) {
		v.shares.v[0].state = i ? SHARE_PAUSED : SHARE_SHOWING;
		CHECK_INT(vision_latest(&v, GUILD, CHANNEL, &picture, 1), 1);
		CHECK(utf8_valid(picture.about));
	}
	name = "Al\nice";
	vision_notes(&v, GUILD, CHANNEL, notes);
	CHECK(strncmp(notes, "The screen of Al ice, the newest", 32) == 0);
	env_free(env);
}

TEST(the_dashboard_has_the_notes_that_models_are_told)
{
	static struct vision v;
	struct env *env;
	const json_t *share, *notes, *note;
	json_t *room, *list;

	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true}), 0);
	v = (struct vision){.conf = {.env = env, .nameh = name_of}};
	name = "Alice";
	v.shares.v[0] = (struct share){
		.id = 3,
		.watched = true,
		.state = SHARE_SHOWING,
		.owner = {.guild = GUILD, .channel = CHANNEL, .requester = ALICE, .target = ALICE}};
	v.views[0].share = 3;
	notes_changed(&v.views[0].notes, 100, 1, env_now(env));
	CHECK(notes_tell(&v.views[0].notes, 1, "a letter"));
	notes_changed(&v.views[0].notes, 25, 2, env_now(env));
	room = vision_room(&v, GUILD, CHANNEL);
	share = json_array_get(room, 0);
	CHECK_STR(json_string_value(json_object_get(share, "name")), "Alice");
	CHECK(json_is_null(json_object_get(share, "ageMs")));
	notes = json_object_get(share, "notes");
	CHECK_INT(json_array_size(notes), 2);
	note = json_array_get(notes, 0);
	CHECK_INT(json_integer_value(json_object_get(note, "changed")), 25);
	CHECK(json_is_null(json_object_get(note, "text")));
	CHECK(json_is_integer(json_object_get(note, "agoMs")));
	note = json_array_get(notes, 1);
	CHECK_STR(json_string_value(json_object_get(note, "text")), "a letter");
	json_decref(room);
	/* The tool that lists shares tells none. */
	list = vision_list(&v, GUILD, CHANNEL);
	CHECK(!json_object_get(json_array_get(list, 0), "notes"));
	json_decref(list);
	env_free(env);
}
