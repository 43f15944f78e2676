/* Two streams with video on the loop thread, and a network between them that can lose packets. */
#ifndef TESTS_UNIT_MEDIAD_ENGINE_LOOP_PAIR_H
#define TESTS_UNIT_MEDIAD_ENGINE_LOOP_PAIR_H

#include "mediad/engine/loop_stream.h"
#include "ipc/env.h"
#include "mediad/engine/engine.h"
#include "tests/test.h"

enum {
	OWNER = 5,
	OWNER_SSRC = 100,
	VIDEO_SSRC = 101,
	RTX_SSRC = 102,
	VIEWER_SSRC = 200,
	KEY_BYTES = 40000,
	INTER_BYTES = 4000,
	BITRATE = 20000000,
	FRAMES = 32,
	DEADLINE_MS = 20000,
};

struct loop_pair;

/* One of the two: its call stream, and the end of its socket that the network has. */
struct side {
	struct loop_pair *p;
	struct call_stream *cs;
	int far;
	struct event *ev;
	bool gone;
	unsigned linked, keys_gone;
};

struct loop_pair {
	struct env *env;
	struct engine *engine;
	struct tmr *deadline;
	struct side owner, viewer;
	struct slot *slot; /* of the owner, at the viewer */
	unsigned lose;	   /* every so many-th datagram of the owner's video; 0: none */
	unsigned forth, feedback;
	unsigned states, codecs, changes;
	uint8_t frame[KEY_BYTES];
	size_t got_n;
	struct received_frame got[FRAMES];
	bool whole[FRAMES];
	unsigned n, wanted;
	bool timed_out;
};

/* What the owner has sent meanwhile. */
struct sent {
	unsigned packets, again;
	uint16_t newest; /* number of the newest packet */
};

void loop_pair_on_frame(const struct received_frame *f, void *arg);
void loop_pair_on_codec(uint64_t user, enum video_codec codec, void *arg);
void loop_pair_on_state(void *arg);
/* The key of the transport; its first byte. */
int loop_pair_lend_key(struct loop_pair *p, struct side *s, uint8_t first);
/* The viewer has the owner's key in a slot, as the DAVE session lends it. */
int loop_pair_lend_dave(struct loop_pair *p, struct side *s, struct slot *slot);
/* The viewer has no key of the owner's yet. */
int loop_pair_start_early(struct loop_pair *p, bool consent);
int loop_pair_start(struct loop_pair *p, bool consent);
void loop_pair_end(struct loop_pair *p);
struct video_sender *loop_pair_sender(struct loop_pair *p);
struct video_receiver *loop_pair_receiver(struct loop_pair *p);
/* The owner sends, and the viewer watches: every frame, or key frames alone. */
int loop_pair_begin(struct loop_pair *p, bool every);
/* A frame that the number fills. False: it was dropped. */
bool loop_pair_put(struct loop_pair *p, bool key, uint8_t number);
/* Lets the sender work for so many ms of made-up time and counts what it sends. The time then. */
uint64_t loop_pair_pass_ms(struct loop_pair *p, uint64_t now, unsigned ms, struct sent *s);

#endif
