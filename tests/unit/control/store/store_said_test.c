/* Searching what was said (store_find_said). */
#include "tests/unit/control/store/store_scene.h"

static struct store_scene *const s = &store_scene;

static char found[256];

static void on_found(int err, const struct store_document *list, size_t n, void *arg)
{
	(void)arg;
	s->err = err;
	found[0] = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(found + strlen(found), sizeof found - strlen(found), "%s/%llu@%llu:%s ",
			 list[i].author, (unsigned long long)list[i].version,
			 (unsigned long long)list[i].updated_ms, list[i].document);
	env_stop(s->l.env);
}

static const char *find_said(struct store_said what)
{
	what.guild = 7;
	what.channel = 300;
	if (store_find_said(s->store, &what, on_found, NULL) || !loop_run(&s->l))
		return "not asked";
	return found;
}

static void start_session(uint64_t session, uint64_t channel)
{
	bus_publish(s->bus,
		    &(struct bus_event){
			    .type = EVENT_SESSION_STARTED,
			    .at_ms = session,
			    .guild = 7,
			    .session = {.session = session, .channel = channel, .why = ""}});
}

static void say(uint64_t session, uint64_t user, const char *name, const char *text, uint64_t at_ms)
{
	bus_publish(s->bus, &(struct bus_event){.type = EVENT_UTTERANCE,
						.at_ms = at_ms,
						.guild = 7,
						.user = user,
						.utterance = {.session = session,
							      .name = name,
							      .text = text,
							      .started_ms = at_ms}});
}

TEST(what_was_said_is_found_by_speaker_words_and_age)
{
	store_scene_begin();
	store_scene_open(NULL);
	start_session(900, 300);
	say(900, 4, "Ana", "the bridge opens at nine", 1000);
	say(900, 5, "Bob", "what about the Bridge", 1001);
	say(900, 4, "Ana", "bring a lamp", 1002);
	CHECK_STR(find_said((struct store_said){.name = "ana", .words = "", .most = 5}),
		  "Ana/4@1002:bring a lamp Ana/4@1000:the bridge opens at nine ");
	CHECK_STR(find_said((struct store_said){.name = "", .words = "bridge", .most = 1}),
		  "Bob/5@1001:what about the Bridge ");
	CHECK_STR(find_said((struct store_said){
			  .name = "ana", .words = "bridge", .since_ms = 1001, .most = 5}),
		  "");
	CHECK_STR(find_said((struct store_said){
			  .name = "ana", .words = "", .since_ms = UINT64_MAX, .most = 5}),
		  "");
	store_scene_close();
	store_scene_end();
}

/* Whoever asks in this channel may not be allowed to see the other one. */
TEST(what_was_said_in_another_channel_is_not_found)
{
	store_scene_begin();
	store_scene_open(NULL);
	start_session(900, 300);
	say(900, 4, "Ana", "here", 1000);
	start_session(2000, 301);
	say(2000, 4, "Ana", "elsewhere", 2001);
	say(3000, 4, "Ana", "nobody knows where", 3001);
	CHECK_STR(find_said((struct store_said){.name = "", .words = "", .most = 5}),
		  "Ana/4@1000:here ");
	store_scene_close();
	store_scene_end();
}
