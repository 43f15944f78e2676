#include "tests/unit/control/agent/memory_scene.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "control/agent/agent_memory.h"
#include "control/room/inside.h"
#include "control/room/turn/segment.h"
#include "control/store/store.h"

static struct store *store;
static bool written;

char memory_output[1024];

static void on_written(int err, const struct store_document *document, void *arg)
{
	(void)document;
	(void)arg;
	CHECK_INT(err, 0);
	written = true;
}

static bool is_written(const struct scene *s)
{
	(void)s;
	return written;
}

bool write_fact_of(struct scene *s, uint64_t user, uint64_t channel, uint64_t owner,
		   const char *request)
{
	const struct store_facts f = {.guild = media_call_want(s->call)->guild,
				      .channel = channel,
				      .owner = owner,
				      .user = user,
				      .name = user == ALICE ? "Alice" : "Carl",
				      .request = request};

	written = false;
	tmr_start(scene_watch, 0);
	return store_write_facts(store, &f, on_written, s) == 0 && scene_run(s, is_written);
}

bool write_fact_in(struct scene *s, uint64_t channel, uint64_t owner, const char *request)
{
	return write_fact_of(s, ALICE, channel, owner, request);
}

bool write_fact(struct scene *s, uint64_t owner, const char *request)
{
	return write_fact_in(s, 0, owner, request);
}

void run_store_sql(const struct scene *s, const char *statement)
{
	char path[64];
	sqlite3 *sql = NULL;

	snprintf(path, sizeof path, "%s-store/parley.db", s->dir);
	/* The store's own thread may be writing. */
	CHECK(sqlite3_open(path, &sql) == SQLITE_OK &&
	      sqlite3_busy_timeout(sql, 10000) == SQLITE_OK &&
	      sqlite3_exec(sql, statement, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(sql);
}

static bool is_retrieved(const struct scene *s)
{
	return s->agent->room->retrieval.ready;
}

const char *retrieve_for(struct scene *s, uint64_t user, const char *words)
{
	struct room_retrieval *r = &s->agent->room->retrieval;
	const struct room_effect e = {
		.type = ROOM_DO_RETRIEVE, .user = user, .chunk = r->number, .text = words};

	r->ready = false;
	r->items = 0;
	r->slice[0] = '\0';
	agent_perform(s->agent, &e);
	tmr_start(scene_watch, 0);
	return scene_run(s, is_retrieved) ? r->slice : "none came";
}

const char *retrieve(struct scene *s, const char *words)
{
	return retrieve_for(s, ALICE, words);
}

void come(struct scene *s, uint64_t user, const char *name)
{
	agent_member(s->agent, user, name, false, true);
}

void add_line_at(struct scene *s, uint64_t user, const char *name, const char *text,
		 uint64_t minutes_ago)
{
	const struct media_want *where = media_call_want(s->call);
	uint64_t at = env_wall_ms(s->fake.env) - minutes_ago * 60000;

	bus_publish(s->bus, &(struct bus_event){.type = EVENT_UTTERANCE,
						.at_ms = at,
						.guild = where->guild,
						.user = user,
						.utterance = {.session = at,
							      .channel = where->channel,
							      .name = name,
							      .text = text,
							      .consent = true,
							      .started_ms = at}});
}

void add_line(struct scene *s, uint64_t user, const char *name, const char *text,
	      uint64_t hours_ago)
{
	add_line_at(s, user, name, text, 60 * hours_ago);
}

void take_memory_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	(void)id;
	(void)ok;
	(void)arg;
	snprintf(memory_output, sizeof memory_output, "%.*s", (int)text.n, (const char *)text.p);
}

static bool has_output(const struct scene *s)
{
	(void)s;
	return *memory_output;
}

const char *call_memory(struct scene *s, enum tool_memory_op op, bool any, const char *request)
{
	const struct tool_memory q = {
		.op = op, .user = ALICE, .owner = ALICE, .any = any, .request = request, .most = 5};
	struct agent_memory *m = NULL;
	int err = agent_memory_alloc(&m, s->agent, take_memory_output, NULL);

	memory_output[0] = '\0';
	if (!err)
		err = agent_memory_facts(m, 1, &q);
	tmr_start(scene_watch, 0);
	if (!err && !scene_run(s, has_output))
		err = ETIMEDOUT;
	agent_memory_free(m);
	return err ? strerror(err) : memory_output;
}

const char *search_lines_of(struct scene *s, const char *speaker, const char *asked,
			    const char *query)
{
	struct room_turn *turn = &s->agent->room->turns.turn[ROOM_TURNS - 1], before = *turn;
	struct room_turn *active = s->agent->room->turns.active;
	const struct tool_said q = {.speaker = speaker, .query = query, .most = 5};
	struct agent_memory *m = NULL;
	int err = agent_memory_alloc(&m, s->agent, take_memory_output, NULL);

	*turn = (struct room_turn){.phase = ROOM_PHASE_ASKED, .user = BOB};
	room_segment_add(turn, BOB, "Bob", 1, asked);
	s->agent->room->turns.active = turn;
	memory_output[0] = '\0';
	if (!err)
		err = agent_memory_search(m, 1, &q);
	tmr_start(scene_watch, 0);
	if (!err && !scene_run(s, has_output))
		err = ETIMEDOUT;
	agent_memory_free(m);
	*turn = before;
	s->agent->room->turns.active = active;
	return err ? strerror(err) : memory_output;
}

bool open_memory(struct scene *s)
{
	char dir[48];

	if (!scene_begin(s, "off", NULL))
		return false;
	s->words = "parley what time is it";
	if (!scene_run(s, scene_answered))
		return false;
	snprintf(dir, sizeof dir, "%s-store", s->dir);
	if (mkdir(dir, 0700) || store_alloc(&store, s->fake.env, s->bus, s->settings, dir))
		return false;
	s->agent->store = store;
	agent_retrieval_settings(s->agent->retrieval);
	return true;
}

void close_memory(struct scene *s)
{
	char rm[64];

	snprintf(rm, sizeof rm, "rm -rf %s-store", s->dir);
	s->agent = agent_free(s->agent);
	store_free(store);
	CHECK_INT(system(rm), 0);
	scene_end(s);
}
