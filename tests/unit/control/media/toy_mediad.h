/* A toy mediad at the other end of a Unix socket, and the control side under test, in one loop. The
 * toy keeps what it gets and sends what a test tells it to. toy_free releases everything. */
#ifndef TESTS_UNIT_CONTROL_MEDIA_TOY_MEDIAD_H
#define TESTS_UNIT_CONTROL_MEDIA_TOY_MEDIAD_H

#include "control/media/media.h"

#include "ipc/env.h"
#include "ipc/peer.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/test.h"

enum { TOY_SEEN = 256 };

struct toy;
/* Takes the messages of a test's own model of a mediad. After HELLO it reports what it holds. */
typedef void(toy_model_h)(struct toy *t, const struct media_msg *msg);

/* A mediad that writes down what it gets and says what the test tells it to. */
struct toy {
	toy_model_h *modelh; /* NULL: the toy's own answers */
	struct env *env;
	struct tmr *deadline;
	char dir[40], path[60];
	struct peer_server *server;
	struct peer *peer;
	struct media *media;
	struct media_call *call;
	struct media_playback *pb;

	unsigned hellos;
	struct media_hello hello;
	struct media_call_set set; /* the newest CALL_SET */
	struct media_call_open open;
	uint64_t channel;	 /* of the call's session */
	unsigned seen[TOY_SEEN]; /* types, in order */
	unsigned n_seen;
	unsigned count[1024]; /* by type */
	uint32_t call_id, gen, listen_id, playback;
	uint64_t say_samples;
	uint64_t music_start; /* of the newest MUSIC_PLAY */
	uint16_t music_gain;  /* of the newest MUSIC_PLAY or MUSIC_GAIN */
	uint32_t music_fine_gain;
	uint16_t music_duck;	   /* depth */
	uint16_t music_duck_ms[3]; /* attack, hold and release */
	char music_path[64], music_headers[128];
	bool music_paused;
	uint16_t music_crossfade_ms; /* of the newest MUSIC_NEXT */
	uint8_t music_next;	     /* its kind */
	uint32_t music_after;
	char token[64];
	bool after_failure; /* of the newest CALL_CREDENTIALS */
	bool answers_pings;

	/* what a restarted mediad holds */
	bool holds_call, leaves_call, lacks_real_time, encrypts;
	bool still_reports; /* SYNCED is left to the test */
	unsigned strays;
	bool ended; /* its playback has got SAY_END */

	unsigned inherited, inherited_ends, wants, states, heard, ups, downs, secures, codes,
		faults;
	uint32_t music;		    /* the newest of MUSIC_STATE */
	unsigned speaking, members; /* messages */
	char code[48];
	enum media_playback_event ev;
	unsigned events, reason;
	uint64_t samples;
	unsigned stop_type; /* the loop ends at the n-th message of this type */
	unsigned stop_count;
	bool stop_event, timed_out;
};

/* What control wants in these tests: one call. */
extern const struct media_want toy_want;

void toy_send(struct toy *t, struct media_msg msg);
/* The call that it holds is end-to-end encrypted. */
void toy_encrypt(struct toy *t);
void toy_fault(struct toy *t, enum media_fault_code code);
/* Tells whether it plays music, and the n folders of its files; at most MEDIA_FOLDERS. */
void toy_decoders(struct toy *t, bool running, const struct media_folder *folders, unsigned n);
/* It plays music, without folders, and reads these addresses. */
void toy_addresses(struct toy *t, const char *list);
void toy_state(struct toy *t, uint32_t call, uint32_t gen, uint64_t guild, enum media_phase phase,
	       bool wants);
void toy_on_call(struct media_call *call, const struct media_msg *msg, void *arg);
/* Runs until the toy got `count` messages of `type` in all; 0: until a playback event. */
bool toy_run_until(struct toy *t, unsigned type, unsigned count);
void toy_run_ms(struct toy *t, unsigned ms);
/* Lets what is under way arrive: both ends are local, so a few ms of loop are plenty. */
void toy_settle(struct toy *t);
/* Lets all commands arrive that the two ends have sent, and the answers to them. */
bool toy_exchange(struct toy *t);
/* The mediad listens again, and control has come back and has its report. */
bool toy_back(struct toy *t);
/* Allocates the loop and an empty folder for the socket. */
int toy_alloc(struct toy *t);
int toy_listen(struct toy *t);
/* The toy vanishes, as a killed mediad does. */
void toy_gone(struct toy *t);
int toy_start_control(struct toy *t, uint64_t epoch);
void toy_free(struct toy *t);
/* All of the above, until mediad has the call. */
bool toy_up_with_call(struct toy *t);

#endif
