#include "control/turns.h"

#include <sys/stat.h>

#include "control/room/turn/turn.h"
#include "tests/unit/ipc/loop.h"

static const struct room_turn turn = {
	.id = 3,
	.reason = ROOM_REASON_ANSWERED,
	.user = 501,
	.name = "alice",
	.transcript = "what \"time\" is it",
	.answer = "ten past four",
	.end_of_speech_at = 2000000000,
	.first_audio_at = 3550000000,
	.decisions = 1,
	.decision = {{ROOM_RULE_DIRECT_ADDRESS, true, 1, 1}},
};

static char text[8192];

static const char *contents(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	return text;
}

TEST(a_turn_is_told_with_its_reason_and_why)
{
	const struct turns_at at = {.wall_ms = 7, .guild = 1, .channel = 2};
	json_t *j = turns_json(&turn, TURNS_ENDED, &at), *why;

	CHECK(j);
	CHECK_STR(json_string_value(json_object_get(j, "stage")), "ended");
	CHECK_STR(json_string_value(json_object_get(j, "channel")), "2");
	CHECK_STR(json_string_value(json_object_get(j, "reason")), "answered");
	CHECK_STR(json_string_value(json_object_get(j, "heard")), "what \"time\" is it");
	CHECK_INT(json_integer_value(json_object_get(j, "first_audio_ms")), 1550);
	why = json_array_get(json_object_get(j, "why"), 0);
	CHECK_STR(json_string_value(json_object_get(why, "rule")), "direct_address");
	CHECK(json_is_true(json_object_get(why, "yes")));
	json_decref(j);
}

TEST(turns_are_lines_of_a_file_that_only_its_owner_reads)
{
	char dir[32], path[64], old[80];
	struct loop l;
	struct stat st;

	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/turns", dir);
	snprintf(old, sizeof old, "%s.old", path);
	CHECK_INT(loop_open(&l, NULL), 0);
	turns_write(l.env, "", &turn, TURNS_ENDED, 1, 2);
	turns_write(l.env, path, &turn, TURNS_ADMITTED, 1, 2);
	turns_write(l.env, path, &turn, TURNS_ENDED, 1, 2);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK(strstr(contents(path), "\"stage\":\"admitted\""));
	CHECK(strstr(text, "}\n{"));
	CHECK(strstr(text, "\"stage\":\"ended\"") && text[strlen(text) - 1] == '\n');
	/* One that has grown is put aside. */
	CHECK_INT(truncate(path, 4 << 20), 0);
	turns_write(l.env, path, &turn, TURNS_SPEAKING, 1, 2);
	CHECK(strncmp(contents(path), "{\"at\":", 6) == 0);
	CHECK(stat(old, &st) == 0 && st.st_size == 4 << 20);
	/* Somebody else's link is not written through. */
	unlink(path);
	CHECK_INT(symlink(old, path), 0);
	turns_write(l.env, path, &turn, TURNS_ENDED, 1, 2);
	CHECK(stat(old, &st) == 0 && st.st_size == 4 << 20);
	loop_close(&l);
	folder_remove(dir);
}
