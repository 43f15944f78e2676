#include "tests/unit/control/jukebox/jukebox_scene.h"

struct scene scene;

static void fill_person(struct music_person *to, uint64_t user, void *arg)
{
	(void)arg;
	to->dj_role = user == DJ;
}

static size_t list_listeners(uint64_t *to, size_t max, void *arg)
{
	(void)max, (void)arg;
	for (size_t i = 0; i < scene.n_listeners; i++)
		to[i] = ALICE + i;
	return scene.n_listeners;
}

static void on_change(struct jukebox *j, void *arg)
{
	(void)j, (void)arg;
	scene.changes++;
}

static void on_failure(struct jukebox *j, const struct track *t, const char *reason,
		       enum jukebox_failure failure, void *arg)
{
	(void)j, (void)arg;
	scene.failures++;
	scene.failure = failure;
	scene.halted = failure == JUKEBOX_STOPPED;
	snprintf(scene.failed, sizeof scene.failed, "%s", t->title);
	snprintf(scene.reason, sizeof scene.reason, "%s", reason);
}

static void on_unsought(const struct track *t, const char *reason, void *arg)
{
	(void)arg;
	scene.unsought++;
	snprintf(scene.failed, sizeof scene.failed, "%s", t->title);
	snprintf(scene.reason, sizeof scene.reason, "%s", reason);
}

void scene_on_call(struct media_call *call, const struct media_msg *msg, void *arg)
{
	(void)arg;
	toy_on_call(call, msg, &scene.toy);
	jukebox_media(scene.jukebox, msg);
}

int scene_make(const json_t *kept)
{
	struct jukebox_conf conf = {.env = scene.toy.env,
				    .guild = GUILD,
				    .personh = fill_person,
				    .listenersh = list_listeners,
				    .unsoughth = on_unsought};
	int err = scene.settings ? 0 : settings_alloc(&scene.settings);

	if (!err)
		err = queue_shelf_alloc(&scene.shelf, kept);
	conf.settings = scene.settings;
	conf.shelf = scene.shelf;
	conf.sources = scene.sources;
	if (!err)
		err = jukebox_alloc(&scene.jukebox, &conf);
	if (!err)
		err = jukebox_subscribe(scene.jukebox, on_change, on_failure, &scene);
	return err;
}

bool jukebox_scene_begin(const json_t *kept)
{
	memset(&scene, 0, sizeof scene);
	scene.n_listeners = 4;
	if (!toy_up_with_call(&scene.toy) || scene_make(kept) ||
	    jukebox_enter(scene.jukebox, scene.toy.call, CHANNEL))
		return false;
	media_call_set_handler(scene.toy.call, scene_on_call, NULL);
	toy_state(&scene.toy, scene.toy.call_id, 0, 100, MEDIA_PHASE_UP, false);
	toy_settle(&scene.toy);
	return true;
}

void scene_finish(void)
{
	scene.jukebox = jukebox_free(scene.jukebox);
	queue_shelf_free(scene.shelf);
	settings_free(scene.settings);
	toy_free(&scene.toy);
}

int scene_request(struct jukebox_request r)
{
	int err = jukebox_do(scene.jukebox, &r, &scene.a);

	toy_settle(&scene.toy);
	return err;
}

int scene_add(const char *letters, uint64_t user)
{
	int err = 0;

	for (; *letters && !err; letters++) {
		struct track t = local_track((char[]){*letters, '\0'}, 0);

		err = scene_request((struct jukebox_request){.act = MUSIC_ACT_QUEUE_ADD,
							     .user = user,
							     .tracks = &t,
							     .n = 1,
							     .place = MUSIC_QUEUE_END});
	}
	return err;
}

int scene_act(enum music_act what, uint64_t user)
{
	return scene_request((struct jukebox_request){.act = what, .user = user});
}

void scene_tell(uint32_t music, enum media_music_phase phase, uint64_t position, const char *text)
{
	toy_send(&scene.toy,
		 (struct media_msg){.type = MEDIA_MUSIC_STATE,
				    .music_state = {.call = scene.toy.call_id,
						    .music = music,
						    .phase = (uint8_t)phase,
						    .position = position,
						    .failure = slice_str(*text ? "not_found" : ""),
						    .text = slice_str(text)}});
	toy_settle(&scene.toy);
}

void scene_tell_failed(uint32_t music, const char *failure, const char *text)
{
	toy_send(&scene.toy, (struct media_msg){.type = MEDIA_MUSIC_STATE,
						.music_state = {.call = scene.toy.call_id,
								.music = music,
								.phase = MEDIA_MUSIC_PHASE_FAILED,
								.failure = slice_str(failure),
								.text = slice_str(text)}});
	toy_settle(&scene.toy);
}

const char *scene_queue(void)
{
	return spell_queue(jukebox_queue(scene.jukebox));
}
