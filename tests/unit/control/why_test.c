/* `control --why`: what a scene decided, written as control writes it, and told to a person. One
 * changed setting changes the rule that is named. */
#include "control/why.h"

#include "tests/test.h"
#include "tests/unit/ipc/loop.h"

#include "control/room/room.h"
#include "control/settings/settings.h"
#include "control/events/events.h"
#include "control/report/turns.h"
#include "proto/base/time.h"
#include "tests/room/stage.h"

static char file[64];
static struct turns *turns;
static json_t *last; /* line of the turn that ended last */

static void stepped(const struct room_event *ev, uint64_t now, const struct room_effects *fx,
		    void *arg)
{
	(void)ev, (void)now, (void)arg;
	for (size_t i = 0; i < fx->n; i++)
		turns_effect(turns, &fx->v[i]);
}

static void keep(const struct bus_event *ev, void *arg)
{
	(void)arg;
	json_decref(last);
	last = bus_event_json(ev, true);
}

/* A person of two says "charlie what time is it". The text of --why. */
static char *scene(const char *aliases)
{
	struct settings *s = NULL;
	struct stage *stage = NULL;
	struct stage_conf conf = {.name = "Parley", .steppedh = stepped};
	struct turns_conf tc = {.guild = 1};
	char *text = NULL;
	struct bus *bus = NULL;
	struct loop l;

	if (loop_open(&l, NULL) || bus_alloc(&bus) ||
	    bus_subscribe(bus, BUS_MASK(EVENT_TURN), keep, NULL))
		return NULL;
	tc.env = l.env;
	tc.bus = bus;
	if (turns_alloc(&turns, &tc))
		return NULL;
	if (settings_alloc(&s) || settings_set(s, "guest", "off") ||
	    (*aliases && settings_set(s, "aliases", aliases)))
		return NULL;
	conf.settings = s;
	if (stage_alloc(&stage, &conf))
		return NULL;
	stage_join(stage, "bob", false);
	stage_brain_answers(stage, "ten past four", 1000, 400);
	stage_says(stage, stage_join(stage, "alice", false), "charlie what time is it", 1500,
		   STAGE_LOUD);
	stage_run(stage, STAGE_START + 20000 * NS_PER_MS);
	stage_free(stage);
	settings_free(s);
	turns = turns_free(turns, "shutdown");
	bus_free(bus);
	loop_close(&l);
	if (!last || why_text(&text, last))
		text = NULL;
	json_decref(last);
	last = NULL;
	return text;
}

TEST(one_changed_setting_changes_the_named_rule)
{
	char *before = scene(""), *after = scene("charlie");

	CHECK(before && after);
	CHECK(strstr(before, "of alice: not_addressed"));
	CHECK(strstr(before, "direct_address         no"));
	CHECK(strstr(after, "of alice: answered"));
	CHECK(strstr(after, "direct_address         yes"));
	free(before);
	free(after);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f)
		abort();
	fputs(text, f);
	fclose(f);
}

#define LINE(turn, stage, name)                                                                    \
	"{\"turn\":" #turn ",\"stage\":\"" stage "\",\"name\":\"" name                             \
	"\",\"reason\":\"answered\",\"text\":\"t\",\"first_audio_ms\":7,\"why\":[]}\n"

TEST(the_last_line_of_a_turn_is_found_also_in_the_older_file)
{
	char dir[32], old[80], *text = NULL;
	json_t *j = NULL;

	CHECK(folder_make(dir));
	snprintf(file, sizeof file, "%s/turns", dir);
	snprintf(old, sizeof old, "%s.old", file);
	CHECK_INT(why_find(&j, file, 1), ENOENT);
	put(file, LINE(2, "admitted", "bob") "no json\n" LINE(2, "ended", "bob")
			  LINE(3, "admitted", "carol"));
	put(old, LINE(1, "ended", "alice") LINE(2, "ended", "older"));
	CHECK_INT(why_find(&j, file, 2), 0);
	CHECK_INT(why_text(&text, j), 0);
	json_decref(j);
	CHECK(strstr(text, "turn 2 of bob: answered (t)"));
	CHECK(strstr(text, "first sound 7 ms"));
	free(text);
	CHECK_INT(why_find(&j, file, 1), 0);
	CHECK_STR(json_string_value(json_object_get(j, "name")), "alice");
	json_decref(j);
	CHECK_INT(why_find(&j, file, 0), 0);
	CHECK_INT(why_text(&text, j), 0);
	json_decref(j);
	CHECK(strstr(text, "turn 3 of carol: admitted, and not over"));
	free(text);
	CHECK_INT(why_find(&j, file, 4), ENOENT);
	unlink(old);
	unlink(file);
	rmdir(dir);
}

TEST(what_is_no_line_of_a_turn_is_refused)
{
	json_t *j = json_pack("{s:s}", "turn", "three");
	char *text = NULL;

	CHECK_INT(why_text(&text, j), EBADMSG);
	json_decref(j);
	CHECK_INT(why_text(&text, NULL), EBADMSG);
}
