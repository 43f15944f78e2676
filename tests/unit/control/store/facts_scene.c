#include "tests/unit/control/store/facts_scene.h"

#include <sqlite3.h>

static struct store_scene *const s = &store_scene;

json_t *facts_scene_answer;

void facts_scene_on_answer(int err, const struct store_document *document, void *arg)
{
	(void)arg;
	s->err = err;
	json_decref(facts_scene_answer);
	facts_scene_answer = json_loads(document->document, 0, NULL);
	env_stop(s->l.env);
}

struct store_facts facts_scene_by(uint64_t user)
{
	return (struct store_facts){.guild = GUILD,
				    .user = user,
				    .name = user == ANA ? "Ana" : "Bob",
				    .since_ms = 1,
				    .most = 5};
}

const char *facts_scene_send(struct store_facts f, const char *request)
{
	const char *status;

	f.request = request;
	if (store_write_facts(s->store, &f, facts_scene_on_answer, NULL) || !loop_run(&s->l) ||
	    s->err)
		return "not asked";
	status = json_string_value(json_object_get(
		json_array_get(json_object_get(facts_scene_answer, "written"), 0), "status"));
	return status ? status
		      : json_string_value(json_object_get(
				json_array_get(json_object_get(facts_scene_answer, "skipped"), 0),
				"reason"));
}

const char *facts_scene_write(struct store_facts f, const char *text)
{
	char request[256];

	snprintf(request, sizeof request, "[{\"text\":\"%s\",\"tags\":[\"t\"]}]", text);
	return facts_scene_send(f, request);
}

/* The texts of the answer, each with its former ones. */
static const char *tell_found(void)
{
	static char found[512];
	json_t *fact, *former;
	size_t i, k, n = 0;

	found[0] = '\0';
	json_array_foreach(facts_scene_answer, i, fact)
	{
		n += (size_t)snprintf(found + n, sizeof found - n, "%s%s", i ? "; " : "",
				      json_string_value(json_object_get(fact, "text")));
		json_array_foreach(json_object_get(fact, "former"), k, former)
		{
			n += (size_t)snprintf(found + n, sizeof found - n, " (%s)",
					      json_string_value(json_object_get(former, "text")));
		}
	}
	return found;
}

const char *facts_scene_find(struct store_facts f, const char *request)
{
	f.request = request;
	if (store_find_facts(s->store, &f, facts_scene_on_answer, NULL) || !loop_run(&s->l) ||
	    s->err)
		return "not asked";
	return tell_found();
}

const char *facts_scene_list_own(uint64_t user, unsigned most)
{
	if (store_list_own_facts(s->store, user, most, facts_scene_on_answer, NULL) ||
	    !loop_run(&s->l) || s->err)
		return "not asked";
	return tell_found();
}

size_t facts_scene_forget(struct store_facts f, const char *request)
{
	f.request = request;
	if (store_forget_facts(s->store, &f, facts_scene_on_answer, NULL) || !loop_run(&s->l) ||
	    s->err)
		return 99;
	return json_array_size(json_object_get(facts_scene_answer, "forgotten"));
}

void facts_scene_open(void)
{
	store_scene_begin();
	store_scene_open(NULL);
}

void facts_scene_close(void)
{
	json_decref(facts_scene_answer);
	facts_scene_answer = NULL;
	store_scene_close();
	store_scene_end();
}

int facts_scene_sql(const char *sql)
{
	sqlite3_stmt *row = NULL;
	sqlite3 *db = NULL;
	int n = -1;

	if (sqlite3_open(s->path, &db) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK &&
	    sqlite3_step(row) == SQLITE_ROW)
		n = sqlite3_column_int(row, 0);
	sqlite3_finalize(row);
	sqlite3_close(db);
	return n;
}

void facts_scene_say_line(uint64_t user, unsigned ms, const char *text)
{
	uint64_t at_ms = store_scene_ms(ms);
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = at_ms, .guild = GUILD, .user = user};

	ev.utterance = (struct event_utterance){.session = 1000,
						.channel = 300,
						.name = "Ana",
						.text = text,
						.started_ms = at_ms,
						.consent = true};
	bus_publish(s->bus, &ev);
}

const char *facts_scene_write_line(struct store_facts f, const char *text, unsigned line)
{
	char request[256];

	snprintf(request, sizeof request, "[{\"text\":\"%s\",\"tags\":[],\"evidence\":[%u]}]", text,
		 line);
	return facts_scene_send(f, request);
}
