/* The agent between a toy mediad and a fake provider, all on one loop. */
#ifndef TESTS_UNIT_CONTROL_AGENT_AGENT_SCENE_H
#define TESTS_UNIT_CONTROL_AGENT_AGENT_SCENE_H

#include "control/agent/agent.h"
#include "control/agent/inside.h"
#include "control/dialect/base64.h"

#include <event2/buffer.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/base/time.h"
#include "tests/unit/control/engine/fake_realtime.h"
#include "control/events/events.h"
#include "control/ledger/ledger.h"
#include "control/media/media.h"
#include "control/room/room.h"
#include "control/settings/settings.h"
#include "control/report/status.h"
#include "tests/unit/control/fake_http.h"
#include "ipc/http.h"
#include "ipc/peer.h"
#include "ipc/tmr.h"
#include "proto/media.h"
#include "tests/test.h"

enum { ALICE = 5, FRAME = 480, ANSWER = 24000 };

struct scene {
	struct fake fake;
	char dir[32], path[48];
	struct peer_server *server;
	struct peer *peer;
	struct media *media;
	struct media_call *call;
	struct settings *settings;
	struct http *http;
	struct agent *agent;
	struct bus *bus;
	struct ledger *ledger;
	struct status_tally tally;

	const char *words; /* what the provider hears */
	bool barge_in;
	const char *fails; /* code with which every answer fails */
	unsigned deaf;	   /* asks that get no answer */
	unsigned breaks;   /* answers that fail behind their first word */
	unsigned long_s;   /* of an answer that comes much faster than it plays */
	bool goes_on;	   /* the end of Alice's voice is not told yet */
	bool drops;	   /* the connection, when the answer has begun to play */
	bool inherits;	   /* mediad plays an answer of the control before */
	unsigned voice;	   /* the connection that answered */
	bool keyless;	   /* mediad has no key to send an answer with */
	bool text_only;	   /* the voice session produces text only */
	uint32_t call_id, gen, listen, playback;
	uint64_t said, stopped_fade;
	unsigned rate;
	bool started, drained, stopped;
	unsigned softer, paused; /* times that it was told so */
	char asked[512], told[512], truncate[256], instructions[4096];
	size_t voice_heard, voice_heard_wrong; /* samples that the voice session got; not Alice's */
	struct faults faults;
	bool refuses;	      /* settings of its session */
	char refusal[200];    /* the event about it */
	char soundboard[200]; /* the tool's description */
};

/* /status said once that the provider does not answer. */
extern bool scene_not_answering;
/* Looks every 10 ms whether the scene is over. */
extern struct tmr *scene_watch;

/* The text model and speech API of scene_serve_writer, which the test frees. Mute: it refuses to
 * speak. */
extern struct evhttp *scene_writer;
extern bool scene_mute;

void scene_from_mediad(struct scene *s, struct media_msg msg);
/* Alice's voice for so long, in packets that arrived every `every` ns from `now` on; told all at
 * once. */
void scene_alice(struct scene *s, uint32_t capture, unsigned ms, uint64_t now, uint64_t every);
/* prepare: what else is set before there is an agent; NULL: nothing. */
bool scene_begin(struct scene *s, const char *guest, bool (*prepare)(struct scene *s));
/* Runs the loop until over() says so. False: that took too long. */
bool scene_run(struct scene *s, bool (*over)(const struct scene *s));
void scene_end(struct scene *s);
void scene_status_of(const struct scene *s, struct status *out);
bool scene_answered(const struct scene *s);
/* A speculative answer hears what was said so far. */
bool scene_waits_for_the_end(struct scene *s);
bool scene_serve_writer(struct scene *s, char *base, size_t size);
bool scene_written(struct scene *s);
bool scene_stopped(const struct scene *s);
bool scene_turned(const struct scene *s);

#endif
