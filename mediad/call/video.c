#include "mediad/call/video.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "mediad/call/call_internal.h"
#include "mediad/call/film.h"
#include "proto/base/time.h"

/* A voice server can name as many senders as it likes; a stream has one. */
enum { SENDERS = 16 };
/* Bytes that may wait for control in the lane of video; a frame beyond them is dropped. Captures
 * have room of their own above it. */
enum { QUEUED_MAX = MEDIA_VIDEO_QUEUED, PART_HEAD = 80 };
enum { TELL_MS = 1000 };
/* Between two op 15, which answer op 12 of others: a server ends a connection that sends many ops
 * for good (4021). */
enum { WANTS_MS = 1000 };

#define SAME(NAME) _Static_assert((int)VIDEO_##NAME == (int)MEDIA_VIDEO_##NAME, #NAME)
SAME(NONE);
SAME(AV1);
SAME(H264);
SAME(VP8);
_Static_assert((int)VIDEO_FRAME_MAX == (int)MEDIA_VIDEO_FRAME_MAX, "one limit for a frame");

/* Whom control watches. */
struct watch {
	uint64_t user; /* 0: free */
	uint8_t quality;
	bool every, claimed; /* claimed: by the present control */
	uint32_t frame, gap;
};

/* Who sends. */
struct sender_of_video {
	struct vgw_video v; /* user 0: free */
	enum video_codec codec;
};

/* What we want to see, as op 15 tells it. */
struct wants {
	uint32_t ssrcs[VIDEO_SOURCES];
	uint8_t qualities[VIDEO_SOURCES];
	unsigned n;
};

struct call_video {
	struct call *c;
	struct watch watches[VIDEO_SOURCES];
	struct sender_of_video senders[SENDERS];
	struct {
		struct wants told;
		bool valid; /* told was sent in this session */
		uint64_t at;
		struct tmr *tmr; /* sends what has changed meanwhile */
	} wants;

	bool publishing, claimed;
	enum video_codec codec; /* of ours */
	struct vgw_video ours;	/* size and rate as control says, SSRCs of the session */
	uint8_t wanted;
	uint64_t dropped; /* frames whose parts did not fit together */
	struct {
		uint8_t *bytes; /* NULL: none begun */
		uint32_t frame, rtp;
		size_t n, size;
		bool key;
	} part;
	struct tmr *tell;
	bool telling; /* it runs */
	struct video_sender_state told;
	struct film *film; /* NULL: control sends the frames, if anybody does */
};

static struct watch *find_watch(struct call_video *v, uint64_t user)
{
	for (unsigned i = 0; i < VIDEO_SOURCES; i++)
		if (v->watches[i].user == user)
			return &v->watches[i];
	return NULL;
}

static struct sender_of_video *find_sender(struct call_video *v, uint64_t user)
{
	for (unsigned i = 0; i < SENDERS; i++)
		if (v->senders[i].v.user == user)
			return &v->senders[i];
	return NULL;
}

/* NULL after the call has left. */
static struct loop_stream *loop_of(struct call *c)
{
	return c->stream && !c->leaving ? c->stream->loop : NULL;
}

/* ---- what control is told ---- */

static void send_source(struct call *c, const struct sender_of_video *s)
{
	const struct watch *w = find_watch(c->video, s->v.user);
	struct media_msg msg = {.type = MEDIA_VIDEO_SOURCE};

	msg.video_source.user = s->v.user;
	msg.video_source.on = s->v.ssrc != 0;
	msg.video_source.codec = (uint8_t)s->codec;
	msg.video_source.width = s->v.width;
	msg.video_source.height = s->v.height;
	msg.video_source.fps = s->v.fps;
	msg.video_source.watched = w ? w->quality : 0;
	call_send(c, &msg, 0);
}

static void send_state(struct call *c)
{
	struct call_video *v = c->video;
	struct loop_stream *l = loop_of(c);
	struct media_msg msg = {.type = MEDIA_VIDEO_STATE};

	if (!v->publishing)
		return;
	if (l)
		v->told = video_sender_state(loop_stream_sender(l));
	msg.video_state.codec = (uint8_t)v->codec;
	msg.video_state.sending = l && v->told.sending;
	msg.video_state.wants_key = v->told.wants_key;
	msg.video_state.wanted = v->wanted;
	msg.video_state.frames = v->told.frames;
	msg.video_state.dropped = v->told.dropped + (uint32_t)v->dropped;
	msg.video_state.queued = (uint32_t)v->told.queued;
	msg.video_state.again = v->told.again;
	call_send(c, &msg, 0);
}

static void on_state(void *arg)
{
	struct call_video *v = arg;

	send_state(v->c);
	film_wake(v->film);
}

static bool has_news(const struct call_video *v, const struct video_sender_state *now)
{
	return now->frames != v->told.frames || now->dropped != v->told.dropped ||
	       now->queued != v->told.queued;
}

/* A frame came. The timer must not begin anew with each: it would fire after the last one. */
static void tell_soon(struct call_video *v)
{
	if (v->telling)
		return;
	v->telling = true;
	tmr_start(v->tell, TELL_MS * NS_PER_MS);
}

static void on_tell(void *arg)
{
	struct call_video *v = arg;
	struct loop_stream *l = loop_of(v->c);
	struct video_sender_state now;

	v->telling = false;
	if (!l || !v->publishing)
		return;
	now = video_sender_state(loop_stream_sender(l));
	if (!has_news(v, &now))
		return; /* the next frame starts the timer again */
	send_state(v->c);
	tell_soon(v);
}

/* ---- frames of others ---- */

static void send_parts(struct call *c, const struct watch *w, const struct received_frame *f)
{
	for (size_t at = 0; at < f->bytes.n; at += MEDIA_VIDEO_PART) {
		struct media_msg msg = {.type = MEDIA_VIDEO_FRAME};
		size_t left = f->bytes.n - at;

		msg.video_frame.user = f->user;
		msg.video_frame.codec = (uint8_t)f->codec;
		msg.video_frame.frame = w->frame;
		msg.video_frame.rtp = f->ts;
		msg.video_frame.at = f->at;
		msg.video_frame.key = f->key;
		msg.video_frame.gap = w->gap;
		msg.video_frame.size = (uint32_t)f->bytes.n;
		msg.video_frame.offset = (uint32_t)at;
		msg.video_frame.data = (struct slice){
			f->bytes.p + at, left < MEDIA_VIDEO_PART ? left : MEDIA_VIDEO_PART};
		call_send(c, &msg, 0);
	}
}

static void on_frame(const struct received_frame *f, void *arg)
{
	struct call_video *v = arg;
	struct watch *w = find_watch(v->c->video, f->user);
	size_t parts = f->bytes.n / MEDIA_VIDEO_PART + 1;

	if (!w)
		return;
	w->frame++;
	if (v->c->conf.queuedh(v->c->conf.arg) + f->bytes.n + parts * PART_HEAD > QUEUED_MAX) {
		w->gap++;
		return;
	}
	send_parts(v->c, w, f);
	w->gap = 0;
}

static void on_codec(uint64_t user, enum video_codec codec, void *arg)
{
	struct call_video *v = arg;
	struct sender_of_video *s = find_sender(v, user);

	if (!s || s->codec == codec)
		return;
	s->codec = codec;
	if (call_may_log(v->c))
		log_info("video_codec", "call=%u user=%llu codec=%s", v->c->id,
			 (unsigned long long)user, media_video_codec_name(codec));
	send_source(v->c, s);
}

/* ---- watching ---- */

static struct wants gather_wants(struct call_video *v)
{
	struct wants out = {0};

	for (unsigned i = 0; i < VIDEO_SOURCES; i++) {
		const struct watch *w = &v->watches[i];
		const struct sender_of_video *s = w->user ? find_sender(v, w->user) : NULL;

		if (!s || !s->v.ssrc)
			continue;
		out.ssrcs[out.n] = s->v.ssrc;
		out.qualities[out.n++] = w->quality;
	}
	return out;
}

static bool same_wants(const struct wants *a, const struct wants *b)
{
	return a->n == b->n && memcmp(a->ssrcs, b->ssrcs, sizeof a->ssrcs) == 0 &&
	       memcmp(a->qualities, b->qualities, sizeof a->qualities) == 0;
}

/* Tells the server what we want to see when it is something else, in its time. */
static void send_wants(struct call_video *v)
{
	const struct wants now = gather_wants(v);
	uint64_t at = env_now(v->c->conf.env), next = v->wants.at + WANTS_MS * NS_PER_MS;

	if (v->wants.valid && same_wants(&now, &v->wants.told))
		return;
	if (v->wants.valid && at < next) {
		tmr_start_at(v->wants.tmr, next);
		return;
	}
	/* Before the session is up it is told by call_video_up. */
	if (vgw_video_want(v->c->gw, now.ssrcs, now.qualities, now.n))
		return;
	v->wants.told = now;
	v->wants.valid = true;
	v->wants.at = at;
}

static void on_wants(void *arg)
{
	struct call_video *v = arg;

	send_wants(v);
	call_finish_step(v->c);
}

/* Watches the user's present SSRCs, or nothing. */
static void apply_watch(struct call *c, uint64_t user)
{
	const struct watch *w = find_watch(c->video, user);
	const struct sender_of_video *s = find_sender(c->video, user);
	struct loop_stream *l = loop_of(c);
	int err = 0;

	if (!l)
		return;
	if (w && s && s->v.ssrc)
		err = video_receiver_watch(loop_stream_receiver(l), user, s->v.ssrc, s->v.rtx_ssrc,
					   w->every);
	else
		video_receiver_unwatch(loop_stream_receiver(l), user);
	if (err && call_may_log(c))
		log_warn("video_refused", "call=%u user=%llu error=\"%s\"", c->id,
			 (unsigned long long)user, strerror(err));
	loop_stream_wake(l);
	send_wants(c->video);
}

static void watch_user(struct call *c, const struct media_video_watch *m)
{
	struct call_video *v = c->video;
	struct watch *w = find_watch(v, m->user);
	const struct sender_of_video *s;

	if (!m->user)
		return;
	if (!w && m->quality)
		w = find_watch(v, 0);
	if (!w) {
		if (m->quality)
			log_warn("video_refused", "call=%u user=%llu error=\"too many\"", c->id,
				 (unsigned long long)m->user);
		return;
	}
	if (m->quality) {
		w->user = m->user;
		w->quality = m->quality < 100 ? m->quality : 100;
		w->every = m->every;
		w->claimed = true;
	} else {
		*w = (struct watch){0};
	}
	apply_watch(c, m->user);
	s = find_sender(v, m->user);
	if (s)
		send_source(c, s);
}

static bool same_video(const struct vgw_video *a, const struct vgw_video *b)
{
	return a->user == b->user && a->ssrc == b->ssrc && a->rtx_ssrc == b->rtx_ssrc &&
	       a->width == b->width && a->height == b->height && a->fps == b->fps;
}

/* NULL: no place is left. */
static struct sender_of_video *add_sender(struct call *c, uint64_t user)
{
	struct call_video *v = c->video;
	struct sender_of_video *s = find_sender(v, 0);

	if (s || !find_watch(v, user))
		return s;
	/* Whom control watches takes the place of one whom nobody does. */
	for (unsigned i = 0; i < SENDERS && !s; i++)
		if (!find_watch(v, v->senders[i].v.user))
			s = &v->senders[i];
	if (!s)
		return NULL;
	s->v = (struct vgw_video){.user = s->v.user};
	send_source(c, s);
	*s = (struct sender_of_video){0};
	return s;
}

static void on_source(struct call *c, const struct vgw_video *now)
{
	struct call_video *v = c->video;
	struct sender_of_video *s = v && now->user ? find_sender(v, now->user) : NULL;
	const struct person *p;
	bool same;

	if (!v || !now->user || (!s && !now->ssrc))
		return;
	if (!s)
		s = add_sender(c, now->user);
	if (!s)
		return;
	same = same_video(&s->v, now);
	s->v = *now;
	if (!now->ssrc)
		s->codec = VIDEO_NONE;
	/* Keys and consent belong to the slot of a person; one who sends no sound has none yet. */
	p = hear_find(c, now->user);
	if (now->ssrc && (!p || !p->slot))
		hear_ssrc(c, now->user, now->ssrc);
	apply_watch(c, now->user);
	if (!same)
		send_source(c, s);
	if (!now->ssrc)
		*s = (struct sender_of_video){0};
}

void call_video_left(struct call *c, uint64_t user)
{
	struct vgw_video none = {.user = user};

	on_source(c, &none);
}

/* ---- ours ---- */

/* Begins to send in this session, once both are known: what, and by which SSRCs. */
static void start_sending(struct call *c)
{
	struct call_video *v = c->video;
	struct loop_stream *l = loop_of(c);
	int err;

	if (!v->publishing || !v->ours.ssrc || !l)
		return;
	video_sender_set_bitrate(loop_stream_sender(l), v->ours.bitrate);
	err = video_sender_start(loop_stream_sender(l), v->codec, v->ours.ssrc, v->ours.rtx_ssrc);
	if (err)
		log_warn("video_not_sent", "call=%u error=\"%s\"", c->id, strerror(err));
	loop_stream_wake(l);
}

static void tell_ours(struct call *c)
{
	static const struct vgw_video none;

	vgw_video_tell(c->gw, c->video->publishing ? &c->video->ours : &none);
}

static void publish(struct call *c, const struct media_video_publish *m)
{
	struct call_video *v = c->video;
	bool begun = v->publishing && v->codec == (enum video_codec)m->codec;
	struct loop_stream *l = loop_of(c);

	if (m->codec == VIDEO_NONE || m->codec > VIDEO_VP8) {
		log_warn("video_not_sent", "call=%u codec=%u error=unknown", c->id, m->codec);
		return;
	}
	v->publishing = v->claimed = true;
	v->codec = (enum video_codec)m->codec;
	v->ours.width = m->width;
	v->ours.height = m->height;
	v->ours.fps = m->fps;
	v->ours.bitrate = m->bitrate;
	vgw_video_codec(c->gw, video_codec_wire(v->codec));
	if (begun && l)
		video_sender_set_bitrate(loop_stream_sender(l), m->bitrate);
	else
		start_sending(c);
	tell_ours(c);
	send_state(c);
}

static void forget_part(struct call_video *v)
{
	if (v->part.bytes)
		explicit_bzero(v->part.bytes, v->part.n);
	free(v->part.bytes);
	memset(&v->part, 0, sizeof v->part);
}

static void stop(struct call *c)
{
	struct call_video *v = c->video;
	struct loop_stream *l = loop_of(c);

	film_stop(v->film);
	v->film = film_free(v->film);
	if (!v->publishing)
		return;
	forget_part(v);
	if (l)
		video_sender_stop(loop_stream_sender(l));
	send_state(c);
	v->publishing = false;
	vgw_video_codec(c->gw, NULL);
	tell_ours(c);
}

void call_video_show(struct call *c, const struct decoder_video *video)
{
	publish(c, &(struct media_video_publish){.codec = video->codec,
						 .width = video->width,
						 .height = video->height,
						 .fps = video->fps,
						 .bitrate = video->bitrate});
}

bool call_video_sends(const struct call *c)
{
	const struct loop_stream *l = c->stream && !c->leaving ? c->stream->loop : NULL;

	return l &&
	       video_sender_state(loop_stream_sender((struct loop_stream *)(uintptr_t)l)).sending;
}

void call_video_put(struct call *c, struct slice frame, uint32_t ts, bool key)
{
	struct call_video *v = c->video;
	struct loop_stream *l = loop_of(c);

	if (!l || !v->publishing)
		return;
	video_sender_put(loop_stream_sender(l), frame, ts, key);
	loop_stream_wake(l);
	tell_soon(v);
}

size_t call_video_queued(const struct call *c)
{
	struct loop_stream *l = c->stream && !c->leaving ? c->stream->loop : NULL;

	return l ? video_sender_state(loop_stream_sender(l)).queued : 0;
}

void call_video_sound_played(struct call *c, uint32_t music, uint64_t sample, uint64_t at)
{
	if (c->video)
		film_sound_played(c->video->film, music, sample, at);
}

void call_video_film_over(struct call *c)
{
	c->video->film = NULL;
}

static void play(struct call *c, const struct media_video_play *m)
{
	struct call_video *v = c->video;

	film_stop(v->film);
	v->film = film_free(v->film);
	v->claimed = true;
	/* It tells control itself when it cannot be opened. */
	film_alloc(&v->film, c, m);
}

/* Returns false when the part does not continue its frame. */
static bool take_part(struct call_video *v, const struct media_video_data *m)
{
	if (!m->offset) {
		forget_part(v);
		if (!m->size || m->size > MEDIA_VIDEO_FRAME_MAX)
			return false;
		v->part.bytes = malloc(m->size);
		v->part.frame = m->frame;
		v->part.rtp = m->rtp;
		v->part.key = m->key;
		v->part.size = m->size;
	}
	if (!v->part.bytes || m->frame != v->part.frame || m->offset != v->part.n || !m->data.n ||
	    m->data.n > v->part.size - v->part.n)
		return false;
	memcpy(v->part.bytes + v->part.n, m->data.p, m->data.n);
	v->part.n += m->data.n;
	return true;
}

static void take_data(struct call *c, const struct media_video_data *m)
{
	struct call_video *v = c->video;
	struct loop_stream *l = loop_of(c);

	if (!v->publishing || v->film)
		return;
	if (!take_part(v, m)) {
		v->dropped++;
		forget_part(v);
		return;
	}
	if (v->part.n < v->part.size)
		return;
	if (l) {
		video_sender_put(loop_stream_sender(l), (struct slice){v->part.bytes, v->part.n},
				 v->part.rtp, v->part.key);
		loop_stream_wake(l);
	}
	forget_part(v);
	tell_soon(v);
}

static void on_ours(struct call *c, const struct vgw_video *now)
{
	struct call_video *v = c->video;

	v->ours.ssrc = now->ssrc;
	v->ours.rtx_ssrc = now->rtx_ssrc == now->ssrc ? 0 : now->rtx_ssrc;
	start_sending(c);
}

static void on_wanted(struct call *c, unsigned quality)
{
	struct call_video *v = c->video;

	if (v->wanted == quality)
		return;
	v->wanted = (uint8_t)quality;
	send_state(c);
}

void call_video_perform_action(struct call *c, const struct vgw_action *act)
{
	if (!c->video)
		return;
	if (act->kind == VGW_VIDEO_OURS)
		on_ours(c, &act->video);
	else if (act->kind == VGW_VIDEO_SOURCE)
		on_source(c, &act->video);
	else
		on_wanted(c, act->quality);
}

/* ---- the session ---- */

void call_video_up(struct call *c)
{
	if (!c->video)
		return;
	tell_ours(c);
	c->video->wants.valid = false;
	send_wants(c->video);
	c->video->wants.at = 0; /* who sends is told next, and then not a second later */
}

void call_video_end_session(struct call *c)
{
	struct call_video *v = c->video;

	if (!v)
		return;
	v->ours.ssrc = v->ours.rtx_ssrc = 0;
	v->wanted = 0;
	for (unsigned i = 0; i < SENDERS; i++)
		if (v->senders[i].v.user)
			call_video_left(c, v->senders[i].v.user);
	v->wants.valid = false;
	tmr_stop(v->wants.tmr);
	send_state(c);
}

void call_video_send_all(struct call *c)
{
	struct call_video *v = c->video;

	if (!v)
		return;
	for (unsigned i = 0; i < SENDERS; i++)
		if (v->senders[i].v.user)
			send_source(c, &v->senders[i]);
	send_state(c);
	film_send_state(v->film);
}

void call_video_unclaim_all(struct call *c)
{
	struct call_video *v = c->video;

	if (!v)
		return;
	v->claimed = false;
	forget_part(v);
	for (unsigned i = 0; i < VIDEO_SOURCES; i++)
		v->watches[i].claimed = false;
}

void call_video_stop_unclaimed(struct call *c)
{
	struct call_video *v = c->video;

	if (!v)
		return;
	if (!v->claimed)
		stop(c);
	for (unsigned i = 0; i < VIDEO_SOURCES; i++)
		if (v->watches[i].user && !v->watches[i].claimed)
			watch_user(c, &(struct media_video_watch){.user = v->watches[i].user});
}

/* ---- commands, alloc ---- */

void call_video_command(struct call *c, const struct media_msg *msg)
{
	struct loop_stream *l = loop_of(c);

	if (!c->video)
		return; /* the call is no stream */
	switch (msg->type) {
	case MEDIA_VIDEO_WATCH:
		watch_user(c, &msg->video_watch);
		break;
	case MEDIA_VIDEO_KEY:
		if (l)
			video_receiver_request_key(loop_stream_receiver(l), msg->video_key.user);
		break;
	case MEDIA_VIDEO_PUBLISH:
		publish(c, &msg->video_publish);
		break;
	case MEDIA_VIDEO_DATA:
		take_data(c, &msg->video_data);
		break;
	case MEDIA_VIDEO_STOP:
		stop(c);
		break;
	case MEDIA_VIDEO_PLAY:
		play(c, &msg->video_play);
		break;
	case MEDIA_VIDEO_SERVER:
		if (msg->video_server.guild) {
			c->guild = msg->video_server.guild;
			vgw_set_guild(c->gw, c->guild);
		}
		break;
	case MEDIA_VIDEO_PAUSE:
		film_pause(c->video->film, &msg->video_pause);
		break;
	default:
		break;
	}
	call_finish_step(c);
}

int call_video_alloc(struct call_video **out, struct call *c)
{
	struct call_video *v = calloc(1, sizeof *v);
	int err;

	if (!v)
		return ENOMEM;
	v->c = c;
	err = tmr_alloc(&v->tell, c->conf.env, on_tell, v);
	if (!err)
		err = tmr_alloc(&v->wants.tmr, c->conf.env, on_wants, v);
	if (err)
		call_video_free(v);
	else
		*out = v;
	return err;
}

struct call_video *call_video_free(struct call_video *v)
{
	if (!v)
		return NULL;
	forget_part(v);
	film_free(v->film);
	tmr_free(v->tell);
	tmr_free(v->wants.tmr);
	free(v);
	return NULL;
}

struct loop_stream_handlers call_video_handlers(struct call_video *v)
{
	return (struct loop_stream_handlers){
		.frameh = on_frame, .codech = on_codec, .stateh = on_state, .video_arg = v};
}
