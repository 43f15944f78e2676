#include "tests/unit/mediad/call/gateway_bench.h"

static void note(struct vgw_bench *b, const char *word)
{
	size_t n = strlen(b->log);

	snprintf(b->log + n, sizeof b->log - n, "%s ", word);
}

static void on_action(const struct vgw_action *a, void *arg)
{
	struct vgw_bench *b = arg;

	switch (a->kind) {
	case VGW_CONNECT:
		b->conn = a->connect.conn;
		b->connects++;
		snprintf(b->url, sizeof b->url, "%s", a->connect.url);
		note(b, "connect");
		break;
	case VGW_SEND:
		snprintf(b->last, sizeof b->last, "%.*s", (int)a->send.len, a->send.text);
		b->identifies += strstr(b->last, "{\"op\":0,") != NULL;
		b->resumes += strstr(b->last, "{\"op\":7,") != NULL;
		b->beats += strstr(b->last, "{\"op\":3,") != NULL;
		note(b, "send");
		break;
	case VGW_CLOSE:
		b->closes++;
		b->close_code = a->close_code;
		note(b, "close");
		break;
	case VGW_DISCOVER:
		note(b, "discover");
		break;
	case VGW_KEY:
		b->keys++;
		note(b, "key");
		break;
	case VGW_DROP_MEDIA:
		b->drops++;
		note(b, "drop");
		break;
	case VGW_STATE:
		b->phase = a->state.phase;
		b->reason = a->state.reason;
		b->code = a->state.code;
		b->wants = a->state.wants;
		note(b, media_phase_name(b->phase));
		break;
	case VGW_SSRC:
		b->ssrcs++;
		b->ssrc = a->ssrc.ssrc;
		break;
	case VGW_MEMBER:
		b->members++;
		break;
	case VGW_VIDEO_OURS:
	case VGW_VIDEO_SOURCE:
		b->video = a->video;
		note(b, a->kind == VGW_VIDEO_OURS ? "ours" : "source");
		break;
	case VGW_VIDEO_WANTED:
		b->quality = a->quality;
		note(b, "wanted");
		break;
	case VGW_RTT:
		b->rtt = a->rtt_ns;
		break;
	case VGW_GAP:
		note(b, "gap");
		break;
	case VGW_SEND_BINARY:
		snprintf(b->last, sizeof b->last, "%u:%.*s", a->binary.p[0], (int)a->binary.n - 1,
			 (const char *)a->binary.p + 1);
		note(b, "binary");
		break;
	case VGW_DAVE_BINARY:
		snprintf(b->dave, sizeof b->dave, "%u:%.*s", a->binary.op, (int)a->binary.n,
			 (const char *)a->binary.p);
		note(b, "in");
		break;
	case VGW_DAVE_START:
		snprintf(b->dave, sizeof b->dave, "version %u", a->dave.version);
		note(b, "start");
		break;
	case VGW_DAVE_TEXT:
		snprintf(b->dave, sizeof b->dave, "%u:%u,%u,%" PRIu64, a->dave.op,
			 a->dave.transition, a->dave.version, a->dave.epoch);
		note(b, "in");
		break;
	}
}

int vgw_bench_start(struct vgw_bench *b)
{
	struct vgw_conf conf = {
		.guild = 41, .user = 99, .modes = modes, .acth = on_action, .arg = b};

	memset(b, 0, sizeof *b);
	b->now = 1000 * NS_PER_S;
	return vgw_alloc(&b->g, &conf);
}

void vgw_bench_end(struct vgw_bench *b)
{
	b->g = vgw_free(b->g);
}

void vgw_bench_text(struct vgw_bench *b, const char *json)
{
	vgw_ws_text(b->g, b->now, b->conn, json, strlen(json));
}

const char *vgw_bench_session(unsigned n)
{
	static char name[16];

	snprintf(name, sizeof name, "s%u", n);
	return name;
}

void vgw_bench_lease(struct vgw_bench *b, const char *session)
{
	struct vgw_lease l = {session, "tok", "voice.example:2087", 7};

	vgw_credentials(b->g, b->now, &l);
}

void vgw_bench_run_until(struct vgw_bench *b, uint64_t until)
{
	for (unsigned guard = 0; vgw_deadline(b->g) <= until && guard < 10000; guard++) {
		b->now = vgw_deadline(b->g) > b->now ? vgw_deadline(b->g) : b->now;
		vgw_timer(b->g, b->now);
	}
	b->now = until;
}

void vgw_bench_change_key(struct vgw_bench *b)
{
	vgw_bench_text(b, "{\"op\":4,\"d\":{\"mode\":\"aead_aes256_gcm_rtpsize\",\"secret_key\":"
			  "[9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9]}}");
}

void vgw_bench_describe(struct vgw_bench *b, const char *mode, unsigned dave)
{
	char json[600];
	int n = snprintf(json, sizeof json,
			 "{\"op\":4,\"seq\":2,\"d\":{\"mode\":\"%s\",\"dave_protocol_version\":%u,"
			 "\"secret_key\":[0",
			 mode, dave);

	for (int i = 1; i < 32; i++)
		n += snprintf(json + n, sizeof json - (size_t)n, ",%d", i * 8);
	snprintf(json + n, sizeof json - (size_t)n, "]}}");
	vgw_bench_text(b, json);
}

void vgw_bench_join(struct vgw_bench *b, const char *session)
{
	vgw_bench_lease(b, session);
	vgw_ws_open(b->g, b->now, b->conn);
	vgw_bench_text(b, hello);
	vgw_bench_text(b, ready);
	vgw_discovered(b->g, b->now, "203.0.113.9", 40000);
	vgw_bench_describe(b, modes[0], 0);
}

void vgw_bench_binary(struct vgw_bench *b, uint16_t seq, uint8_t op, const char *payload)
{
	uint8_t msg[64] = {(uint8_t)(seq >> 8), (uint8_t)seq, op};
	size_t n = strlen(payload);

	memcpy(msg + 3, payload, n);
	vgw_ws_binary(b->g, b->now, b->conn, msg, n + 3);
}
