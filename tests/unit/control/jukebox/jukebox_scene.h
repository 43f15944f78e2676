/* A jukebox between people and a toy mediad. jukebox_scene_begin lets the bot into the channel;
 * scene_finish releases everything. */
#ifndef TESTS_UNIT_CONTROL_JUKEBOX_JUKEBOX_SCENE_H
#define TESTS_UNIT_CONTROL_JUKEBOX_JUKEBOX_SCENE_H

#include <stdlib.h>

#include "control/jukebox/jukebox.h"
#include "control/jukebox/queue_shelf.h"
#include "control/music_sources/music_sources.h"
#include "control/settings/settings.h"
#include "tests/unit/control/media/toy_mediad.h"
#include "tests/unit/control/music/tracks.h"

enum { DJ = 9 };

extern struct scene {
	struct toy toy;
	struct settings *settings;
	struct queue_shelf *shelf;
	struct music_sources *sources; /* NULL: pages have no streams */
	struct jukebox *jukebox;
	struct jukebox_answer a;
	unsigned changes, failures, unsought;
	enum jukebox_failure failure; /* the newest */
	bool halted;
	char failed[TRACK_TITLE_MAX], reason[200];
	size_t n_listeners;
} scene;

/* Handler of the call: the toy's, then the jukebox's. */
void scene_on_call(struct media_call *call, const struct media_msg *msg, void *arg);
int scene_make(const json_t *kept);
/* The bot is in the channel, and mediad has its call. */
bool jukebox_scene_begin(const json_t *kept);
void scene_finish(void);
/* Waits until mediad has what was ordered. */
int scene_request(struct jukebox_request r);
int scene_add(const char *letters, uint64_t user);
int scene_act(enum music_act what, uint64_t user);
void scene_tell(uint32_t music, enum media_music_phase phase, uint64_t position, const char *text);
void scene_tell_failed(uint32_t music, const char *failure, const char *text);
const char *scene_queue(void);

#endif
