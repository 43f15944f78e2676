/* What is reported of one voice session, on a loop of its own. */
#ifndef TESTS_UNIT_CONTROL_REPORT_TURNS_SCENE_H
#define TESTS_UNIT_CONTROL_REPORT_TURNS_SCENE_H

#include "control/report/turns.h"

#include <jansson.h>

#include "control/room/room.h"
#include "tests/unit/ipc/loop.h"

struct bus;

struct scene {
	struct loop l;
	struct bus *bus;
	struct settings *settings;
	struct turns *turns;
	json_t *told[16]; /* the first events since the last turns_scene_forget, with words */
	unsigned n_told;
	uint64_t refuses; /* this user's words may not be told */
	uint64_t forgets; /* nor may this one's be kept */
};

/* Turn 3: alice, user 501, asks and is answered. */
extern const struct room_turn turns_scene_turn;

/* Its first event is the start of the voice session. 0 or the error of what failed. */
int turns_scene_open(struct scene *s);
/* The same with settings. */
int turns_scene_open_with(struct scene *s, const char *reply_path, const char *compact_context);
void turns_scene_close(struct scene *s);
/* Somebody comes to the channel, or is called something else now. */
void turns_scene_come(struct scene *s, uint64_t user, const char *name);
void turns_scene_leave(struct scene *s, uint64_t user);
void turns_scene_forget(struct scene *s);
/* This text of the i-th event; NULL: it has none. */
const char *turns_scene_told(const struct scene *s, unsigned i, const char *key);
/* Ends the turn, whose event is the only one then. True if it says that its words may be kept. */
bool turns_scene_keeps(struct scene *s, const struct room_turn *t);

#endif
