/* Searches that the provider of the answers makes by itself: the session counts as having read
 * strangers' text, the room waits for each search, and each is a row with its cost. */
#include "control/agent/agent_tools_inside.h"
#include "tests/unit/control/agent/agent_scene.h"

static struct event_tool row;
static char code[24];
static unsigned rows, starts;

static int start(const struct tool_start *call, void *arg)
{
	(void)call;
	(void)arg;
	starts++;
	return 0;
}

static bool searches_by_itself(struct scene *s)
{
	s->deaf = 1;
	return !settings_set(s->settings, "search", "provider") &&
	       !settings_set(s->settings, "search_url", "http://127.0.0.1:1") &&
	       !settings_set(s->settings, "tools_allowed", "send") &&
	       !settings_set(s->settings, "prices",
			     "[{\"model\":\"mine\",\"kind\":\"requests\",\"usd\":10000}]");
}

static bool is_asked(const struct scene *s)
{
	const struct room_turn *turn = room_active(s->agent->room);

	return turn && turn->phase == ROOM_PHASE_ASKED;
}

static void note_row(const struct bus_event *ev, void *arg)
{
	(void)arg;
	rows++;
	row = ev->tool;
	snprintf(code, sizeof code, "%s %s", ev->tool.name, ev->tool.code);
}

/* Alice's turn waits for its answer. */
static bool open_scene(struct scene *s, bool (*prepare)(struct scene *s))
{
	static const struct tool_shell shell = {.start = start};
	static const struct tool_row sends = {.name = "send",
					      .description = "Sends.",
					      .schema = "{\"type\":\"object\"}",
					      .effect = TOOL_EFFECT_OUTSIDE,
					      .timeout_ms = 5000,
					      .max_output = 100};

	starts = rows = 0;
	if (!scene_begin(s, "off", prepare))
		return false;
	s->words = "parley search for owls";
	return !bus_subscribe(s->bus, BUS_MASK(EVENT_TOOL_CALLED), note_row, NULL) &&
	       !tools_registry_add(s->agent->tools->registry, &sends, &shell, NULL) &&
	       scene_run(s, is_asked);
}

static const struct room_turn *turn_of(const struct scene *s)
{
	return room_active(s->agent->room);
}

static void tell(struct scene *s, const struct engine_event *ev)
{
	static const struct provider_record provider = {.name = "mine"};

	agent_tools_search(
		s->agent->tools,
		&(struct roles_event){.turn = turn_of(s)->id, .provider = &provider, .engine = ev});
}

static void call_send(struct scene *s)
{
	const struct engine_event call = {
		.type = ENGINE_TOOL_CALL, .call = "a", .tool = "send", .data = slice_str("{}")};

	agent_tools_call(s->agent->tools,
			 &(struct roles_event){.turn = turn_of(s)->id, .engine = &call});
}

TEST(a_session_whose_provider_searches_has_read_text_of_strangers_from_its_start)
{
	static struct scene s;

	CHECK(open_scene(&s, searches_by_itself));
	CHECK(tools_run_tainted(s.agent->tools->run));
	CHECK(!tools_registry_find(s.agent->tools->registry, "web_search"));
	call_send(&s);
	CHECK_INT(starts, 0);
	CHECK_STR(code, "send needs_yes");
	scene_end(&s);
}

TEST(a_search_of_the_provider_is_a_row_with_its_cost)
{
	const struct engine_event search = {.type = ENGINE_SEARCHED, .data = slice_str("owls")};
	static struct scene s;

	CHECK(open_scene(&s, searches_by_itself));
	tell(&s, &(struct engine_event){.type = ENGINE_SEARCH_BEGAN});
	CHECK(turn_of(&s)->sinks & ROOM_SINK_TOOLS);
	CHECK_INT(rows, 0);
	tell(&s, &search);
	CHECK(!(turn_of(&s)->sinks & ROOM_SINK_TOOLS));
	CHECK_INT(rows, 1);
	CHECK_STR(code, "web_search ok");
	CHECK(row.tainted);
	CHECK_INT(row.nano, 10000000);
	call_send(&s);
	CHECK_INT(starts, 0);
	CHECK_STR(code, "send denied");
	scene_end(&s);
}

TEST(a_search_of_the_provider_that_failed_is_a_row_too)
{
	static struct scene s;

	CHECK(open_scene(&s, searches_by_itself));
	tell(&s, &(struct engine_event){.type = ENGINE_SEARCHED, .failed = true});
	CHECK_STR(code, "web_search failed");
	scene_end(&s);
}

TEST(pages_that_an_answer_cites_are_links_once_it_was_heard)
{
	static const char *const urls[] = {"https://owl.example/a", "https://owl.example/a",
					   "javascript:hoot()", "https://owl.example/b"};
	static struct room_turn record;
	static struct scene s;

	CHECK(open_scene(&s, searches_by_itself));
	for (unsigned i = 0; i < sizeof urls / sizeof urls[0]; i++)
		tell(&s, &(struct engine_event){.type = ENGINE_SOURCE,
						.data = slice_str(urls[i]),
						.title = "Owls"});
	CHECK_STR(s.told, "");
	record = (struct room_turn){
		.id = turn_of(&s)->id, .reason = ROOM_REASON_ANSWERED, .samples_played = 1};
	agent_tools_effect(s.agent->tools,
			   &(struct room_effect){.type = ROOM_DO_RECORD, .record = &record});
	CHECK(strstr(s.told, "https://owl.example/a"));
	CHECK(strstr(s.told, "https://owl.example/b"));
	CHECK(!strstr(strstr(s.told, "owl.example/a") + 1, "owl.example/a"));
	CHECK(!strstr(s.told, "javascript"));
	scene_end(&s);
}

static bool searches_for_moderators(struct scene *s)
{
	return searches_by_itself(s) &&
	       !settings_set(s->settings, "tools_moderators", "web_search");
}

/* The provider does not know who asks. */
TEST(a_search_that_is_for_some_people_is_not_offered)
{
	static struct scene s;

	CHECK(open_scene(&s, searches_for_moderators));
	CHECK(!tool_policy_is_free(s.settings, "web_search"));
	settings_set(s.settings, "tools_moderators", "");
	CHECK(tool_policy_is_free(s.settings, "web_search"));
	settings_set(s.settings, "tools_roles", "web_search:7");
	CHECK(!tool_policy_is_free(s.settings, "web_search"));
	settings_set(s.settings, "tools_roles", "");
	settings_set(s.settings, "tools_off", "web_search");
	CHECK(!tool_policy_is_free(s.settings, "web_search"));
	scene_end(&s);
}
