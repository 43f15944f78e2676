/* An agent that is freed while a tool works: the call ends at its server, and its row is settled.
 */
#include "tests/unit/control/agent/agent_scene.h"

#include <arpa/inet.h>
#include <sys/socket.h>

static int listener, searching; /* the second: the search's connection, -1 before it */
static unsigned settled;

/* A search service that never answers. */
static bool searches(struct scene *s)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof at;
	char base[64];

	searching = -1;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&at, n) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &n))
		return false;
	snprintf(base, sizeof base, "http://127.0.0.1:%u", ntohs(at.sin_port));
	return !settings_set(s->settings, "search_url", base);
}

static bool is_asked(const struct scene *s)
{
	char head[8192];

	(void)s;
	if (searching < 0)
		searching = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	return searching >= 0 && recv(searching, head, sizeof head, 0) > 0;
}

static bool has_hung_up(const struct scene *s)
{
	char byte;

	(void)s;
	return recv(searching, &byte, 1, 0) == 0;
}

static void note_settled(const struct bus_event *ev, void *arg)
{
	(void)arg;
	settled +=
		strcmp(ev->tool.code, "cancelled") == 0 && strcmp(ev->tool.name, "web_search") == 0;
}

static void call_search(struct scene *s)
{
	const struct engine_event call = {.type = ENGINE_TOOL_CALL,
					  .call = "a",
					  .tool = "web_search",
					  .data = slice_str("{\"query\":\"owls\"}")};

	agent_tools_call(s->agent->tools, &(struct roles_event){.turn = 7, .engine = &call});
}

TEST(a_call_in_flight_is_cancelled_and_settled_when_its_room_ends)
{
	static struct scene s;

	CHECK(scene_begin(&s, "on", searches));
	CHECK_INT(bus_subscribe(s.bus, BUS_MASK(EVENT_TOOL_CALLED), note_settled, NULL), 0);
	call_search(&s);
	CHECK(scene_run(&s, is_asked));
	CHECK_INT(settled, 0);
	CHECK(!has_hung_up(&s));
	s.agent = agent_free(s.agent);
	CHECK_INT(settled, 1);
	tmr_start(scene_watch, 0);
	CHECK(scene_run(&s, has_hung_up));
	close(searching);
	close(listener);
	scene_end(&s);
}
