/* The voice gateway machine: any frames, at any time, in any phase.
 *
 * Input: steps of `u8 choice | u8 n | n bytes`; see step(). One of an odd length is of a stream
 * with video. Whatever comes, the machine must stay within its rules: never two Identifies for one
 * lease, never a state without a way out. */
#include <stdlib.h>
#include <string.h>

#include "mediad/call/gateway.h"
#include "proto/base/cursor.h"
#include "proto/base/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const modes[] = {"aead_aes256_gcm_rtpsize", "aead_xchacha20_poly1305_rtpsize",
				    NULL};

struct state {
	struct vgw *g;
	uint64_t now;
	uint32_t conn;
	unsigned leases, identifies;
	bool wants, connected;
	enum media_phase phase;
	struct vgw_video ours;
};

static void on_action(const struct vgw_action *a, void *arg)
{
	struct state *st = arg;

	switch (a->kind) {
	case VGW_CONNECT:
		if (st->connected || strlen(a->connect.url) < 11)
			abort();
		st->conn = a->connect.conn;
		st->connected = true;
		break;
	case VGW_CLOSE:
		if (!st->connected)
			abort();
		st->connected = false;
		break;
	case VGW_SEND_BINARY:
		if (!st->connected || !a->binary.n || st->phase != MEDIA_PHASE_UP)
			abort();
		break;
	case VGW_DAVE_TEXT: /* answered in the middle of the step, as the session does */
		vgw_dave_text(st->g, 23, a->dave.transition);
		break;
	case VGW_DAVE_BINARY:
		vgw_dave_binary(st->g, 28, a->binary.p, a->binary.n);
		break;
	case VGW_SEND:
		if (!st->connected || !a->send.len)
			abort();
		st->identifies += a->send.len > 8 && memcmp(a->send.text, "{\"op\":0,", 8) == 0;
		break;
	case VGW_VIDEO_SOURCE: /* likewise, as the call does */
		if (!a->video.user || (a->video.ssrc && a->video.ssrc == a->video.rtx_ssrc))
			abort();
		vgw_video_want(st->g, &a->video.ssrc, (const uint8_t *)"d", 1);
		break;
	case VGW_VIDEO_OURS:
		if (!a->video.ssrc)
			abort();
		st->ours = a->video;
		break;
	case VGW_VIDEO_WANTED:
		if (!st->ours.ssrc || a->quality > 100)
			abort();
		vgw_video_tell(st->g, &st->ours);
		break;
	case VGW_STATE:
		st->phase = a->state.phase;
		st->wants = a->state.wants;
		break;
	default:
		break;
	}
}

/* Short inputs become whole messages, so that the fuzzer gets past the JSON. */
static void template(struct state *st, uint8_t which, uint8_t arg)
{
	static const char *const texts[] = {
		"{\"op\":8,\"d\":{\"v\":8,\"heartbeat_interval\":13750}}",
		"{\"op\":2,\"seq\":1,\"d\":{\"ssrc\":12,\"ip\":\"127.0.0.1\",\"port\":5000,"
		"\"modes\":"
		"[\"aead_aes256_gcm_rtpsize\"]}}",
		"{\"op\":4,\"seq\":2,\"d\":{\"mode\":\"aead_aes256_gcm_rtpsize\",\"secret_key\":[0,"
		"1,2,3,"
		"4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31]}}",
		"{\"op\":9,\"d\":null}",
		"{\"op\":11,\"d\":{\"user_ids\":[\"7\",\"8\"]}}",
		"{\"op\":5,\"d\":{\"user_id\":\"7\",\"ssrc\":700}}",
		"{\"op\":13,\"d\":{\"user_id\":\"7\"}}",
		"{\"op\":3,\"d\":null}",
		"{\"op\":21,\"seq\":3,\"d\":{\"transition_id\":1,\"protocol_version\":1}}",
		"{\"op\":22,\"seq\":5,\"d\":{\"transition_id\":1}}",
		"{\"op\":24,\"d\":{\"epoch\":\"1\",\"protocol_version\":1}}",
		"{\"op\":2,\"seq\":1,\"d\":{\"ssrc\":12,\"ip\":\"127.0.0.1\",\"port\":5000,"
		"\"modes\":[\"aead_aes256_gcm_rtpsize\"],\"streams\":[{\"ssrc\":13,\"rtx_ssrc\":14}"
		"]}"
		"}",
		"{\"op\":12,\"d\":{\"user_id\":\"7\",\"audio_ssrc\":700,\"streams\":[{\"ssrc\":701,"
		"\"rtx_ssrc\":702,\"active\":true,\"quality\":100}]}}",
		"{\"op\":15,\"d\":{\"any\":0,\"13\":100}}",
	};
	const char *t = texts[which % (sizeof texts / sizeof texts[0])];

	vgw_ws_text(st->g, st->now, st->conn - (arg & 1), t, strlen(t));
}

static void closed(struct state *st, uint16_t code)
{
	if (st->connected) {
		st->connected = false;
		vgw_ws_closed(st->g, st->now, st->conn, code, MEDIA_REASON_NONE);
	} else {
		vgw_ws_closed(st->g, st->now, st->conn - 1, code, MEDIA_REASON_NONE);
	}
}

static void lease(struct state *st, uint8_t which, const char *endpoint)
{
	char session[2] = {(char)('a' + which % 20), '\0'};
	struct vgw_lease l = {session, "t", endpoint, which};

	st->leases++;
	vgw_credentials(st->g, st->now, &l);
}

static void step(struct state *st, uint8_t choice, const uint8_t *p, size_t n)
{
	uint8_t a = n ? p[0] : 0, b = n > 1 ? p[1] : 0;
	char text[256];

	switch (choice % 14) {
	case 0:
		memcpy(text, p, n);
		text[n] = '\0';
		lease(st, a, memchr(p, '\0', n) ? "" : text);
		break;
	case 1:
		lease(st, a, "localhost:443");
		break;
	case 2:
		vgw_ws_open(st->g, st->now, st->conn - (a & 1));
		break;
	case 3:
		vgw_ws_text(st->g, st->now, st->conn, (const char *)p, n);
		break;
	case 4:
		template(st, a, b);
		break;
	case 5:
		vgw_ws_binary(st->g, st->now, st->conn, p, n);
		break;
	case 6:
		closed(st, (uint16_t)(a & 1 ? 4000 + b % 32 : 1000 + b % 16));
		break;
	case 7:
		vgw_discovered(st->g, st->now, "203.0.113.9", 4000);
		break;
	case 8:
		vgw_speaking(st->g, st->now, a & 1);
		break;
	case 9:
		st->now += (uint64_t)a * 100 * NS_PER_MS;
		vgw_timer(st->g, st->now);
		break;
	case 10:
		if (vgw_deadline(st->g) != UINT64_MAX && vgw_deadline(st->g) > st->now)
			st->now = vgw_deadline(st->g);
		vgw_timer(st->g, st->now);
		break;
	case 11:
		vgw_udp_failed(st->g, st->now);
		break;
	case 12:
		vgw_resume_now(st->g, st->now, MEDIA_REASON_NOT_DECRYPTED);
		break;
	default:
		vgw_rejoin(st->g, st->now, MEDIA_REASON_NOT_DECRYPTED);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct state st = {.now = 1000000 * NS_PER_MS, .phase = MEDIA_PHASE_WAITING};
	struct vgw_conf conf = {.guild = 41,
				.user = 99,
				.modes = modes,
				.stream = size & 1,
				.acth = on_action,
				.arg = &st};
	struct rd r = rd_of(data, size);

	if (size > 65536 || vgw_alloc(&st.g, &conf))
		return 0;
	while (rd_left(&r) >= 2) {
		uint8_t choice = (uint8_t)rd_be(&r, 1);
		size_t n = (size_t)rd_be(&r, 1);
		const uint8_t *p = rd_bytes(&r, n < rd_left(&r) ? n : rd_left(&r));
		size_t got = p ? (size_t)(data + r.pos - p) : 0;

		step(&st, choice, got ? p : (const uint8_t *)"", got);
		if (st.identifies > st.leases || st.phase != vgw_phase(st.g))
			abort();
	}
	/* No state without a way out: a timer runs, or somebody was told and it is their turn. */
	if (vgw_deadline(st.g) == UINT64_MAX && !st.wants && st.phase != MEDIA_PHASE_WAITING &&
	    st.phase != MEDIA_PHASE_FAILED && st.phase != MEDIA_PHASE_UP)
		abort();
	vgw_free(st.g);
	return 0;
}
