/* The built-in tools that need nothing but the clock, chance and the list of people. */
#include "control/tools/builtin/builtins.h"

#include "control/engine/core/ask.h"
#include "control/settings/settings.h"
#include "control/tools/registry.h"
#include "ipc/env.h"
#include "tests/test.h"

struct scene {
	struct env *env;
	struct settings *settings;
	struct tools_registry *registry;
	struct builtins *builtins;
	bool tainted;
	unsigned outputs;
	json_t *output;
};

static void take_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	struct scene *s = arg;

	s->outputs += ok && id == 3;
	json_decref(s->output);
	s->output = json_loadb((const char *)text.p, text.n, 0, NULL);
}

static json_t *tell_status(void *arg)
{
	(void)arg;
	return json_pack("{s:[s,s],s:i}", "people", "Alice", "Bob", "minutes", 4);
}

/* With it the host is a voice session. */
static int leave(uint32_t turn, uint64_t user, void *arg)
{
	(void)turn, (void)user, (void)arg;
	return 0;
}

static bool open_scene(struct scene *s)
{
	const struct tool_host host = {
		.outputh = take_output, .statush = tell_status, .leaveh = leave, .arg = s};
	struct tool_host mine = host;

	*s = (struct scene){0};
	if (env_alloc(&s->env, &(struct env_conf){.loop = true}) || settings_alloc(&s->settings))
		return false;
	mine.env = s->env;
	mine.settings = s->settings;
	return !tools_registry_alloc(&s->registry) && !builtins_alloc(&s->builtins, &mine) &&
	       !builtins_add(s->builtins, s->registry);
}

static void close_scene(struct scene *s)
{
	json_decref(s->output);
	tools_registry_free(s->registry);
	builtins_free(s->builtins);
	settings_free(s->settings);
	env_free(s->env);
}

static int call(struct scene *s, const char *name, const char *arguments)
{
	const struct tool *t = tools_registry_find(s->registry, name);
	const struct tool_start start = {
		.id = 3, .tainted = s->tainted, .tool = name, .arguments = arguments};

	return t ? t->shell->start(&start, t->arg) : ENOENT;
}

TEST(dice_have_their_sides)
{
	struct scene s;
	bool seen[7] = {false};

	CHECK(open_scene(&s));
	for (unsigned i = 0; i < 60; i++) {
		const json_t *dice;
		json_int_t sum = 0;

		CHECK_INT(call(&s, "roll", "{\"count\":12}"), 0);
		dice = json_object_get(s.output, "dice");
		CHECK_INT(json_array_size(dice), 12);
		for (size_t k = 0; k < 12; k++) {
			json_int_t v = json_integer_value(json_array_get(dice, k));

			CHECK(v >= 1 && v <= 6);
			seen[v] = true;
			sum += v;
		}
		CHECK_INT(json_integer_value(json_object_get(s.output, "sum")), sum);
	}
	for (unsigned v = 1; v <= 6; v++)
		CHECK(seen[v]);
	CHECK_INT(call(&s, "roll", "{\"count\":1,\"sides\":2.0}"), 0);
	CHECK(json_integer_value(json_object_get(s.output, "sum")) <= 2);
	CHECK_INT(s.outputs, 61);
	close_scene(&s);
}

TEST(the_time_has_a_day_a_date_and_a_zone)
{
	struct scene s;

	CHECK(open_scene(&s));
	CHECK_INT(call(&s, "time", "{}"), 0);
	CHECK_INT(json_string_length(json_object_get(s.output, "date")), 10);
	CHECK_INT(json_string_length(json_object_get(s.output, "time")), 5);
	CHECK_INT(json_string_length(json_object_get(s.output, "zone")), 9);
	CHECK(json_string_value(json_object_get(s.output, "day")));
	close_scene(&s);
}

TEST(the_status_is_the_hosts)
{
	struct scene s;

	CHECK(open_scene(&s));
	CHECK_INT(call(&s, "voice_status", "{}"), 0);
	CHECK_INT(json_array_size(json_object_get(s.output, "people")), 2);
	CHECK_INT(call(&s, "stay_silent", "{}"), 0);
	CHECK_INT(s.outputs, 2);
	close_scene(&s);
}

TEST(no_note_is_kept_after_text_of_strangers)
{
	struct scene s;

	CHECK(open_scene(&s));
	CHECK_INT(call(&s, "note_context", "{\"text\":\"ring\"}"), 0);
	CHECK_STR(json_string_value(json_object_get(s.output, "noted")), "ring");
	CHECK_INT(s.outputs, 1);
	s.tainted = true;
	CHECK_INT(call(&s, "note_context", "{\"text\":\"ring\"}"), 0);
	CHECK_INT(s.outputs, 1);
	close_scene(&s);
}

/* Their schemas are ones that the validator supports, and equal sets have equal hashes. */
TEST(all_rows_of_the_table_are_added)
{
	struct engine_tool list[TOOLS_MAX];
	struct scene a, b;
	uint64_t before;
	size_t n;

	CHECK(open_scene(&a) && open_scene(&b));
	n = tools_registry_list(a.registry, list);
	CHECK(n >= 4);
	CHECK(tools_registry_hash(a.registry) == tools_registry_hash(b.registry));
	before = tools_registry_hash(a.registry);
	tools_registry_remove(b.registry, tools_registry_find(b.registry, "roll")->shell,
			      b.builtins);
	CHECK_INT(tools_registry_list(b.registry, list), 0);
	CHECK(tools_registry_hash(b.registry) != before);
	close_scene(&a);
	close_scene(&b);
}
