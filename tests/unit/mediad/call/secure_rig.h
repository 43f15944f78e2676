/* A call without servers and threads, in simulated time: the gateway's messages go in as text and
 * bytes, jobs of the key worker run when the test allows it, with results set by the test. */
#ifndef TESTS_UNIT_MEDIAD_CALL_SECURE_RIG_H
#define TESTS_UNIT_MEDIAD_CALL_SECURE_RIG_H

#include "mediad/call/call_internal.h"

#include "ipc/env.h"
#include "ipc/env_replay.h"
#include "ipc/journal.h"
#include "ipc/ws.h"
#include "mediad/key_worker.h"
#include "proto/base/time.h"
#include "tests/test.h"

enum { SELF = 99, ANNA = 7, BEN = 8, STRANGER = 3, SEEN = 256 };

struct rig {
	struct env *env;
	struct ws_ctx *ws;
	struct engine *engine;
	struct worker *worker;
	uint32_t probe; /* a source of ours; the worker's is the next */
	struct call *c;
	uint32_t flows;
	uint64_t sessions, now, serial;
	bool gone;
	bool fine;   /* the next answer of the system is 0, not 1 */
	uint8_t key; /* first byte of the transport key; each session has another */

	struct media_call_secure secure; /* newest */
	char privacy_code[31];
	unsigned told, codes, late;
	char code[46];
	struct media_call_state state;
	size_t queued; /* bytes that wait for control */
	/* Of video, the newest. */
	struct media_video_source source;
	struct media_video_state video;
	struct media_video_film film;
	char film_failure[33];
	struct media_video_frame frame;
	unsigned sources, states, parts;
	size_t part_bytes;
	struct media_call_stats call_stats; /* newest */
	struct media_user_stats user_stats; /* newest */
	enum dave_job_type job;		    /* newest that came back */
	enum dave_verdict verdict;	    /* of what comes back */
	bool poor;			    /* there is no memory while it is taken in */
	bool without_anna;		    /* the next epochs */
};
extern struct rig rig;

void rig_wait_ms(unsigned ms);
int rig_start(bool stage);
/* The call is a stream (Go Live). */
int rig_start_stream(void);
/* The same in real time: its timers fire, and no step of the test is taken. */
int rig_start_live_stream(void);
void rig_finish(void);
/* The audio thread takes its commands, and the loop thread what came of them: one a step. */
void rig_audio(void);
/* The loop thread sends the commands that found no room in the ring. */
void rig_retry(void);
/* The oldest job comes back. */
void rig_work(void);
void rig_text(const char *json);
void rig_binary(uint8_t op, const char *payload, size_t n);
/* As far as it goes before op 4. */
void rig_greeted(const char *session);
/* Op 4. */
void rig_described(unsigned version);
void rig_join(const char *session, unsigned version);
void rig_speaks(uint64_t user, unsigned ssrc);
/* In a group with ANNA, whose slot is there, and BEN, who did not speak yet. */
void rig_settled(void);

#endif
