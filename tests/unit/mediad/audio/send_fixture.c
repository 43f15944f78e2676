#include "tests/unit/mediad/audio/send_fixture.h"

#include <math.h>

struct send_rig send_rig;
int16_t send_tone[2 * SECOND];

static void event_h(const struct sender_event *ev, void *arg)
{
	struct send_rig *r = arg;

	r->told_out[r->n_ev] = r->n_out;
	r->ev[r->n_ev++] = *ev;
	if (ev->type == SENDER_DRAINED || ev->type == SENDER_STOPPED) {
		lane_free(ev->lane);
		music_lane_free(ev->music);
	}
	r->n_ops += ev->type == SENDER_SPEAKING;
}

void send_tick_at(uint64_t now)
{
	struct sender_packet p;

	send_rig.now = now;
	if (send_rig.before)
		send_rig.before();
	if (!send_rig.slow_gateway)
		sender_speaking_sent(send_rig.s);
	if (now < sender_next(send_rig.s))
		return;
	if (sender_due(send_rig.s, now, &p)) {
		if (!send_rig.dead_socket && send_rig.n_out < MAX_OUT) {
			struct out *o = &send_rig.out[send_rig.n_out++];

			*o = (struct out){.at = now,
					  .seq = p.seq,
					  .ts = p.ts,
					  .silence = p.silence,
					  .len = p.len};
			memcpy(o->opus, p.opus, p.len);
		}
		sender_done(send_rig.s, !send_rig.dead_socket, now);
	}
	sender_prepare(send_rig.s, now);
}

void send_run_ms(unsigned ms)
{
	for (uint64_t end = send_rig.now + ms * NS_PER_MS; send_rig.now + TICK <= end;)
		send_tick_at(send_rig.now + TICK);
}

void send_setup(bool joined)
{
	memset(&send_rig, 0, sizeof send_rig);
	for (int i = 0; i < 2 * SECOND; i++)
		send_tone[i] = (int16_t)lrint(9000 * sin(2 * M_PI * 300 * i / 48000.0));
	if (sender_alloc(&send_rig.s, 64000, event_h, &send_rig))
		abort();
	sender_set_gate(send_rig.s, true);
	sender_start(send_rig.s, 0, 65533, 0xffffff00);
	send_tick_at(0);
	if (joined) { /* past the silence of joining */
		send_run_ms(200 + SENDER_SPEAKING_HOLD_MS);
		send_rig.n_out = send_rig.n_ev = send_rig.n_ops = 0;
	}
}

struct lane *send_say(uint32_t id, size_t n, bool end)
{
	struct lane *l = NULL;

	if (lane_alloc(&l, id, 1000) || lane_write(l, send_tone, n, send_rig.now) ||
	    sender_add(send_rig.s, l))
		abort();
	if (end)
		lane_end(l);
	return l;
}

const struct sender_event *send_find_event(enum sender_event_type type)
{
	for (int i = 0; i < send_rig.n_ev; i++)
		if (send_rig.ev[i].type == type)
			return &send_rig.ev[i];
	return NULL;
}
