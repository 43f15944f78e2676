#include "tests/unit/control/store/documents_scene.h"

#include "control/store/db.h"
#include "control/words/words.h"

static struct store_scene *const s = &store_scene;

void store_scene_on_document(int err, const struct store_document *d, void *arg)
{
	(void)arg;
	s->err = err;
	s->got = *d;
	snprintf(s->document, sizeof s->document, "%s", d->document);
	snprintf(s->author, sizeof s->author, "%s", d->author);
	s->answers++;
	env_stop(s->l.env);
}

void store_scene_on_list(int err, const struct store_document *list, size_t n, void *arg)
{
	(void)arg;
	s->err = err;
	s->n = n;
	s->got = n ? list[0] : (struct store_document){0};
	s->answers++;
	env_stop(s->l.env);
}

static void on_synced(int err, void *arg)
{
	(void)arg;
	s->err = err;
	s->answers++;
	env_stop(s->l.env);
}

bool store_scene_sync(void)
{
	return store_sync(s->store, on_synced, NULL) == 0 && loop_run(&s->l);
}

bool store_scene_put(const char *document, bool compare, uint64_t version)
{
	const struct store_put p = {.scope = "global",
				    .document = document,
				    .author = "me",
				    .compare = compare,
				    .version = version};

	return store_settings_put(s->store, &p, store_scene_on_document, NULL) == 0 &&
	       loop_run(&s->l);
}

void store_scene_publish_utterances(unsigned n)
{
	struct bus_event ev = {
		.type = EVENT_UTTERANCE, .at_ms = env_wall_ms(s->l.env), .guild = 1, .user = 501};

	for (unsigned i = 0; i < n; i++) {
		ev.utterance = (struct event_utterance){
			.utterance = i, .text = "hello", .started_ms = ev.at_ms};
		bus_publish(s->bus, &ev);
	}
}
