/* The agent asks the store for what fits a question, and tells the room. */
#include "control/agent/retrieval.h"

#include <sys/stat.h>

#include "control/room/inside.h"
#include "control/store/store.h"
#include "tests/unit/control/agent/agent_scene.h"

static struct store *store;
static bool written;

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

static bool write_fact(struct scene *s, uint64_t owner, const char *request)
{
	const struct store_facts f = {.guild = media_call_want(s->call)->guild,
				      .owner = owner,
				      .user = ALICE,
				      .name = "Alice",
				      .request = request};

	written = false;
	tmr_start(scene_watch, 0);
	return store_write_facts(store, &f, on_written, s) == 0 && scene_run(s, is_written);
}

static bool is_retrieved(const struct scene *s)
{
	return s->agent->room->retrieval.ready;
}

static const char *retrieve(struct scene *s, const char *words)
{
	struct room_retrieval *r = &s->agent->room->retrieval;
	const struct room_effect e = {
		.type = ROOM_DO_RETRIEVE, .user = ALICE, .chunk = r->number, .text = words};

	r->ready = false;
	r->items = 0;
	r->slice[0] = '\0';
	agent_perform(s->agent, &e);
	tmr_start(scene_watch, 0);
	return scene_run(s, is_retrieved) ? r->slice : "none came";
}

static void come(struct scene *s, uint64_t user, const char *name)
{
	agent_member(s->agent, user, name, false, true);
}

TEST(facts_that_fit_a_question_reach_the_room)
{
	static struct scene s;
	char dir[48], rm[64];

	scene_mute = true;
	CHECK(scene_begin(&s, "off", NULL));
	snprintf(dir, sizeof dir, "%s-store", s.dir);
	CHECK_INT(mkdir(dir, 0700), 0);
	CHECK_INT(store_alloc(&store, s.fake.env, s.bus, s.settings, dir), 0);
	s.agent->store = store;
	agent_retrieval_settings(s.agent->retrieval);
	CHECK(s.agent->room->retrieval.present);
	come(&s, ALICE, "Alice");
	CHECK(write_fact(&s, 0, "[{\"text\":\"the meeting is on sunday\",\"type\":\"plan\"}]"));
	CHECK(write_fact(&s, ALICE, "[{\"text\":\"my locker is at the meeting room\"}]"));
	/* Of her own memory she is told while nobody else listens. */
	CHECK(strstr(retrieve(&s, "parley where is the meeting"), "\"the meeting is on sunday\""));
	CHECK_INT(s.agent->room->retrieval.items, 2);
	come(&s, ALICE + 1, "Bob");
	CHECK(!strstr(retrieve(&s, "parley where is the meeting"), "locker"));
	CHECK_INT(s.agent->room->retrieval.items, 1);
	CHECK(!s.agent->room->retrieval.item[0].line);
	/* Nothing fits: not even the newest facts. */
	CHECK_STR(retrieve(&s, "parley what is it"), "");
	CHECK_STR(retrieve(&s, "parley is there cake"), "");
	/* She does not agree any more. */
	media_call_consent(s.call, ALICE, false);
	CHECK_STR(retrieve(&s, "parley where is the meeting"), "");
	s.settings->store_words_hours = 0;
	agent_retrieval_settings(s.agent->retrieval);
	CHECK(!s.agent->room->retrieval.present);
	s.agent = agent_free(s.agent);
	store_free(store);
	snprintf(rm, sizeof rm, "rm -rf %s", dir);
	CHECK_INT(system(rm), 0);
	scene_end(&s);
}
