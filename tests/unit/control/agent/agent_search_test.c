/* Searches of an agent: one in flight when the agent is freed ends at its server, and its row is
 * settled; a paid one is counted. */
#include "tests/unit/control/agent/agent_scene.h"

#include "control/agent/agent_tools_inside.h"

#include <arpa/inet.h>
#include <sys/socket.h>

static int listener, searching; /* the second: the search's connection, -1 before it */
static unsigned settled;
static uint64_t paid, told; /* by the events of the cost and of the call */

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

static bool searches_for_money(struct scene *s)
{
	return searches(s) && !settings_set(s->settings, "search", "brave") &&
	       !settings_set(s->settings, "search_key", "k");
}

static void note_cost(const struct bus_event *ev, void *arg)
{
	(void)arg;
	if (ev->type == EVENT_TOOL_CALLED) {
		told = ev->tool.nano;
		settled++;
	} else if (strcmp(ev->usage.role, "tool") == 0 && ev->usage.turn == 7 &&
		   strcmp(ev->usage.provider, "web_search") == 0 &&
		   strcmp(ev->usage.model, "brave") == 0 && ev->usage.priced) {
		paid += ev->usage.nano;
	}
}

static bool is_settled(const struct scene *s)
{
	(void)s;
	return settled != 0;
}

TEST(a_paid_search_is_counted_with_its_turn)
{
	static const char response[] = "HTTP/1.1 200 OK\r\nContent-Length: 22\r\nContent-Type: "
				       "application/json\r\n\r\n{\"web\":{\"results\":[]}}";
	static struct scene s;

	settled = 0;
	paid = told = 0;
	CHECK(scene_begin(&s, "on", searches_for_money));
	CHECK_INT(bus_subscribe(s.bus, BUS_MASK(EVENT_TOOL_CALLED) | BUS_MASK(EVENT_ENGINE_USED),
				note_cost, NULL),
		  0);
	call_search(&s);
	CHECK(scene_run(&s, is_asked));
	CHECK_INT(send(searching, response, sizeof response - 1, MSG_NOSIGNAL),
		  (long)sizeof response - 1);
	tmr_start(scene_watch, 0);
	CHECK(scene_run(&s, is_settled));
	CHECK_INT(paid, 5000000);
	CHECK_INT(told, 5000000);
	s.agent = agent_free(s.agent);
	close(searching);
	close(listener);
	scene_end(&s);
}
