#include "control/discord/sound_list.h"

#include <errno.h>

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
	CHECK(find("77", &id, &guild) == 0 && id == 77 && guild == 0);
	CHECK_INT(find("123", &id, &guild), ENOENT);
	CHECK(find("123@456", &id, &guild) == 0 && id == 123 && guild == 456);
	CHECK_INT(find("123@", &id, &guild), ENOENT);
	CHECK_INT(find("123456789012345678901234567890", &id, &guild), ENOENT);
	CHECK_INT(board("5")->n, 0);
	CHECK_INT(board("{}")->n, 0);
}

TEST(sounds_of_one_server_are_replaced)
{
	struct sound_list list = *board(mine);
	json_t *one =
		json_loads("{\"name\":\"new\",\"sound_id\":\"79\",\"guild_id\":\"5\"}", 0, NULL);

	sound_list_set(&list, one);
	CHECK_INT(list.n, 3);
	CHECK_STR(sound_list_by_id(&list, 79)->name, "new");
	sound_list_clear(&list, 5);
	CHECK_INT(list.n, 1);
	CHECK(!sound_list_by_id(&list, 77));
	json_object_set_new(one, "available", json_false());
	sound_list_set(&list, one);
	CHECK_INT(list.n, 1);
	json_object_set_new(one, "available", json_true());
	sound_list_set(&list, one);
	CHECK_INT(list.n, 2);
	json_object_set_new(one, "available", json_false());
	sound_list_set(&list, one);
	CHECK_INT(list.n, 1);
	sound_list_remove(&list, 80);
	CHECK_INT(list.n, 0);
	json_decref(one);
}

TEST(a_list_of_sounds_has_a_limit)
{
	static struct sound_list list;
	json_t *all = json_array();

	for (int i = 0; i < SOUNDS_MAX + 9; i++)
		json_array_append_new(all, json_pack("{s:s,s:i}", "name", "s", "sound_id", i + 1));
	list.n = 0;
	sound_list_add(&list, all);
	CHECK_INT(list.n, SOUNDS_MAX);
	sound_list_add(&list, all);
	CHECK_INT(list.n, SOUNDS_MAX);
	json_decref(all);
}
