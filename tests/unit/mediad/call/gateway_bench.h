/* A bench for the voice gateway machine: a script is the server, and time is simulated. */
#ifndef TESTS_UNIT_MEDIAD_CALL_GATEWAY_BENCH_H
#define TESTS_UNIT_MEDIAD_CALL_GATEWAY_BENCH_H

#include "mediad/call/gateway.h"

#include <inttypes.h>

#include "proto/base/time.h"
#include "mediad/call/gateway_internal.h"
#include "tests/test.h"

static const char *const modes[] = {"aead_aes256_gcm_rtpsize", "aead_xchacha20_poly1305_rtpsize",
				    NULL};

/* What the machine did, as one line of words. */
struct vgw_bench {
	struct vgw *g;
	uint64_t now;
	uint32_t conn;
	char log[8192];
	char last[2048]; /* last text sent */
	char url[400];
	char dave[64]; /* last of end-to-end encryption that came */
	enum media_phase phase;
	enum media_reason reason;
	uint16_t code;
	bool wants;
	unsigned connects, closes, keys, drops, identifies, resumes, members, ssrcs, beats;
	uint32_t ssrc; /* the last that was named */
	uint16_t close_code;
	uint64_t rtt;
	struct vgw_video video;
	unsigned quality;
};

static const char hello[] = "{\"op\":8,\"d\":{\"v\":8,\"heartbeat_interval\":13750}}";
static const char ready[] =
	"{\"op\":2,\"seq\":1,\"d\":{\"ssrc\":12,\"ip\":\"66.22.196.1\",\"port\":5000,\"modes\":"
	"[\"aead_xchacha20_poly1305_rtpsize\",\"aead_aes256_gcm_rtpsize\",\"xsalsa20_poly1305\"]}}";

int vgw_bench_start(struct vgw_bench *b);
void vgw_bench_end(struct vgw_bench *b);
void vgw_bench_text(struct vgw_bench *b, const char *json);
/* The name of the n-th session, valid until the next call. */
const char *vgw_bench_session(unsigned n);
void vgw_bench_lease(struct vgw_bench *b, const char *session);
/* Runs timers until `until`, however many there are. */
void vgw_bench_run_until(struct vgw_bench *b, uint64_t until);
/* Op 4 with another key. */
void vgw_bench_change_key(struct vgw_bench *b);
void vgw_bench_describe(struct vgw_bench *b, const char *mode, unsigned dave);
void vgw_bench_join(struct vgw_bench *b, const char *session);
void vgw_bench_binary(struct vgw_bench *b, uint16_t seq, uint8_t op, const char *payload);

#endif
