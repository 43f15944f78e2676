/* The tool music_search: what it asks of the host, and that it is there only with a library. */
#include "control/settings/settings.h"
#include "control/tools/builtin/builtins.h"
#include "control/tools/registry.h"
#include "ipc/env.h"
#include "tests/test.h"

static char asked[64];

static int ask_music(uint32_t id, const char *query, unsigned most, void *arg)
{
	(void)arg;
	snprintf(asked, sizeof asked, "%u: %s, %u", id, query, most);
	return ENOSPC;
}

TEST(music_search_asks_the_library)
{
	struct tools_registry *registry = NULL;
	struct tool_host host = {.musich = ask_music};
	struct tool_start start = {
		.id = 3, .tool = "music_search", .arguments = "{\"query\":\"queen\"}"};
	struct settings *settings = NULL;
	struct builtins *builtins = NULL;
	const struct tool *t;

	CHECK_INT(settings_alloc(&settings), 0);
	CHECK_INT(env_alloc(&host.env, &(struct env_conf){.loop = true}), 0);
	host.settings = settings;
	CHECK_INT(tools_registry_alloc(&registry), 0);
	CHECK_INT(builtins_alloc(&builtins, &host), 0);
	CHECK_INT(builtins_add(builtins, registry), 0);
	t = tools_registry_find(registry, "music_search");
	CHECK(t);
	CHECK_INT(t->shell->start(&start, t->arg), ENOSPC);
	CHECK_STR(asked, "3: queen, 5");
	start.arguments = "{\"query\":\"toto africa\",\"max_results\":2}";
	CHECK_INT(t->shell->start(&start, t->arg), ENOSPC);
	CHECK_STR(asked, "3: toto africa, 2");
	tools_registry_free(registry);
	builtins_free(builtins);
	/* Without a library no model has it. */
	host.musich = NULL;
	CHECK_INT(tools_registry_alloc(&registry), 0);
	CHECK_INT(builtins_alloc(&builtins, &host), 0);
	CHECK_INT(builtins_add(builtins, registry), 0);
	CHECK(!tools_registry_find(registry, "music_search"));
	tools_registry_free(registry);
	builtins_free(builtins);
	settings_free(settings);
	env_free(host.env);
}
