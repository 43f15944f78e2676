/* mediad and two controls, over the socket and without a voice server. */
#ifndef TESTS_UNIT_MEDIAD_MEDIAD_SCENE_H
#define TESTS_UNIT_MEDIAD_MEDIAD_SCENE_H

#include "mediad/mediad.h"
#include "ipc/env.h"
#include "ipc/peer.h"
#include "proto/base/address_list.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "proto/media_folder.h"
#include "tests/test.h"

enum { SEEN = 64, DEADLINE_MS = 60000 };

struct scene;

/* A control: what it got, and what ends the loop. */
struct control {
	struct scene *s;
	struct peer *peer;
	struct media_msg seen[SEEN];
	unsigned n;
	bool lost;
	struct media_folder folders[MEDIA_FOLDERS]; /* of the newest DECODERS */
	char addresses[ADDRESS_LIST_BYTES];	    /* the same */
};

struct scene {
	struct env *env;
	struct mediad *m;
	struct tmr *deadline;
	char dir[64], path[96];
	struct control a, b;
	struct control *waits; /* whose message ends the loop */
	unsigned type;	       /* 0: that it is lost */
	bool timed_out, stopped;
};

/* What mediad gets as the next scene starts. */
extern const char *mediad_scene_decoderd;
extern const char *const *mediad_scene_roots;
extern unsigned mediad_scene_n_roots;
extern const char *mediad_scene_addresses;

int mediad_scene_on_frame(struct peer *p, const uint8_t *body, size_t len, void *arg);
void mediad_scene_on_lost(struct peer *p, int err, void *arg);
/* Positive errno; mediad_scene_end() even then. */
int mediad_scene_start(struct scene *s);
void mediad_scene_end(struct scene *s);
void mediad_scene_say(struct control *c, const struct media_msg *msg);
/* Connects and says HELLO. */
int mediad_scene_hello(struct control *c, unsigned major, uint64_t user, uint64_t epoch,
		       uint64_t instance);
/* Runs until c got one more message of this type (0: until it is lost). The message, or NULL. */
const struct media_msg *mediad_scene_await(struct control *c, unsigned type);
/* How many messages of this type it got. */
unsigned mediad_scene_count(const struct control *c, unsigned type);
void mediad_scene_open_call(struct control *c, uint32_t call, uint64_t guild);
/* A scene with one control that has one call. */
int mediad_scene_with_call(struct scene *s);

#endif
