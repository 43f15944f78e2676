#include "tests/unit/mediad/engine/loop_pair.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/tmr.h"
#include "proto/base/time.h"

/* The number of a frame fills it behind the first byte, which tells VP8's key frames. */
static struct slice make_frame(struct loop_pair *p, bool key, uint8_t number)
{
	size_t n = key ? KEY_BYTES : INTER_BYTES;

	memset(p->frame, number, n);
	p->frame[0] = key ? 0x10 : 0x11;
	return (struct slice){p->frame, n};
}

void loop_pair_on_frame(const struct received_frame *f, void *arg)
{
	struct loop_pair *p = arg;
	bool whole = f->bytes.n == (f->key ? KEY_BYTES : INTER_BYTES) &&
		     f->bytes.p[0] == (f->key ? 0x10 : 0x11);

	for (size_t i = 2; whole && i < f->bytes.n; i++)
		whole = f->bytes.p[i] == f->bytes.p[1];
	if (p->n == FRAMES)
		return;
	p->whole[p->n] = whole && f->user == OWNER && f->codec == VIDEO_VP8;
	p->got[p->n++] = *f;
	if (p->n == p->wanted)
		env_stop(p->env);
}

void loop_pair_on_codec(uint64_t user, enum video_codec codec, void *arg)
{
	struct loop_pair *p = arg;

	p->changes++;
	p->codecs += user == OWNER && codec == VIDEO_VP8;
}

void loop_pair_on_state(void *arg)
{
	struct loop_pair *p = arg;

	p->states++;
}

static void on_event(const struct ev *ev, void *owner)
{
	struct side *s = owner;

	s->gone = s->gone || ev->type == EV_STREAM_GONE;
	s->linked += ev->type == EV_LINK_GONE;
	s->keys_gone += ev->type == EV_KEY_GONE;
	if (s->gone)
		env_stop(s->p->env);
}

static void on_deadline(void *arg)
{
	struct loop_pair *p = arg;

	p->timed_out = true;
	env_stop(p->env);
}

/* ---- the network ---- */

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct side *s = arg, *to = s == &s->p->owner ? &s->p->viewer : &s->p->owner;
	uint8_t buf[2048];
	ssize_t n = recv((int)fd, buf, sizeof buf, MSG_DONTWAIT);
	bool video = n > 0 && udp_classify(buf, (size_t)n) == UDP_RTP && (buf[1] & 0x7f) == 105;

	(void)what;
	if (n <= 0)
		return;
	s->p->forth += video;
	s->p->feedback += s == &s->p->viewer && udp_classify(buf, (size_t)n) == UDP_RTCP;
	if (video && s->p->lose && s->p->forth % s->p->lose == 0)
		return;
	if (send(to->far, buf, (size_t)n, MSG_DONTWAIT) != n)
		s->p->timed_out = true;
}

static int open_side(struct loop_pair *p, struct side *s, uint32_t ssrc)
{
	const struct loop_stream_handlers h = {.frameh = loop_pair_on_frame,
					       .codech = loop_pair_on_codec,
					       .stateh = loop_pair_on_state,
					       .video_arg = p};
	struct cmd link = {.type = CMD_LINK};
	int fds[2], err;

	s->p = p;
	s->far = -1;
	err = call_stream_alloc(&s->cs, s, 64000);
	if (err)
		return err;
	err = engine_add_loop_stream(p->engine, s->cs, &h);
	if (err) {
		s->cs = call_stream_free(s->cs);
		return err;
	}
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds))
		return errno;
	link.link.fd = fds[0];
	s->far = fds[1];
	link.link.link = 1;
	link.link.ssrc = ssrc;
	engine_send(p->engine, s->cs, &link);
	s->ev = event_new(env_base(p->env), s->far, EV_READ | EV_PERSIST, on_readable, s);
	return s->ev && !event_add(s->ev, NULL) ? 0 : ENOMEM;
}

int loop_pair_lend_key(struct loop_pair *p, struct side *s, uint8_t first)
{
	const uint8_t key[RTPSIZE_KEY] = {first};
	struct cmd c = {.type = CMD_KEY};
	int err = rtpsize_alloc(&c.key, RTPSIZE_AES256_GCM, key);

	return err ? err : engine_send(p->engine, s->cs, &c);
}

int loop_pair_lend_dave(struct loop_pair *p, struct side *s, struct slot *slot)
{
	static const uint8_t base[DAVE_SECRET] = {7};
	struct cmd c = {.type = slot ? CMD_DAVE_OPEN : CMD_DAVE_SEND};
	int err = dave_key_alloc(&c.dave.key, base, 1, 0);

	c.dave.slot = slot;
	return err ? err : engine_send(p->engine, s->cs, &c);
}

static int add_slot(struct loop_pair *p, bool consent)
{
	struct cmd c = {.type = CMD_SLOT_ADD};
	int err = slot_alloc(&p->slot, p->viewer.cs, OWNER, consent, 1);

	c.slot.slot = p->slot;
	return err ? err : engine_send(p->engine, p->viewer.cs, &c);
}

int loop_pair_start_early(struct loop_pair *p, bool consent)
{
	struct env_conf ec = {.loop = true};
	struct engine_conf gc = {.threads = 1, .evh = on_event};
	int err;

	memset(p, 0, sizeof *p);
	p->owner.far = p->viewer.far = -1;
	err = env_alloc(&p->env, &ec);
	gc.env = p->env;
	if (!err)
		err = engine_alloc(&p->engine, &gc);
	if (!err)
		err = tmr_alloc(&p->deadline, p->env, on_deadline, p);
	if (!err)
		err = open_side(p, &p->owner, OWNER_SSRC);
	if (!err)
		err = open_side(p, &p->viewer, VIEWER_SSRC);
	if (!err)
		err = loop_pair_lend_key(p, &p->owner, 1);
	if (!err)
		err = loop_pair_lend_key(p, &p->viewer, 1);
	if (!err)
		err = add_slot(p, consent);
	return err ? err : loop_pair_lend_dave(p, &p->owner, NULL);
}

int loop_pair_start(struct loop_pair *p, bool consent)
{
	int err = loop_pair_start_early(p, consent);

	return err ? err : loop_pair_lend_dave(p, &p->viewer, p->slot);
}

void loop_pair_end(struct loop_pair *p)
{
	struct side *both[] = {&p->owner, &p->viewer};

	for (unsigned i = 0; i < 2; i++) {
		if (both[i]->ev)
			event_free(both[i]->ev);
		if (both[i]->far >= 0)
			close(both[i]->far);
	}
	engine_free(p->engine);
	tmr_free(p->deadline);
	env_free(p->env);
}

struct video_sender *loop_pair_sender(struct loop_pair *p)
{
	return loop_stream_sender(p->owner.cs->loop);
}

struct video_receiver *loop_pair_receiver(struct loop_pair *p)
{
	return loop_stream_receiver(p->viewer.cs->loop);
}

int loop_pair_begin(struct loop_pair *p, bool every)
{
	int err;

	video_sender_set_bitrate(loop_pair_sender(p), BITRATE);
	err = video_sender_start(loop_pair_sender(p), VIDEO_VP8, VIDEO_SSRC, RTX_SSRC);
	if (!err)
		err = video_receiver_watch(loop_pair_receiver(p), OWNER, VIDEO_SSRC, RTX_SSRC,
					   every);
	loop_stream_wake(p->owner.cs->loop);
	loop_stream_wake(p->viewer.cs->loop);
	return err;
}

bool loop_pair_put(struct loop_pair *p, bool key, uint8_t number)
{
	bool took = video_sender_put(loop_pair_sender(p), make_frame(p, key, number),
				     number * 3000u, key);

	loop_stream_wake(p->owner.cs->loop);
	return took;
}

static void look_at_sent(struct loop_pair *p, struct sent *s)
{
	uint8_t buf[2048];

	while (recv(p->owner.far, buf, sizeof buf, MSG_DONTWAIT) > 4) {
		bool media = (buf[1] & 0x7f) == 105;

		s->packets += media;
		s->again += (buf[1] & 0x7f) == 106;
		if (media)
			s->newest = (uint16_t)(buf[2] << 8 | buf[3]);
	}
}

uint64_t loop_pair_pass_ms(struct loop_pair *p, uint64_t now, unsigned ms, struct sent *s)
{
	for (unsigned i = 0; i < 4 * ms; i++) {
		now += NS_PER_MS / 4;
		video_sender_tick(loop_pair_sender(p), now);
		look_at_sent(p, s);
	}
	return now;
}
