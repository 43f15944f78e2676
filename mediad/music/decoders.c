#include "mediad/music/decoders.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/spawn.h"
#include "mediad/music/track_ring.h"
#include "mediad/music/video_ring.h"
#include "proto/http/stream_headers.h"
#include "proto/media.h"

enum { IN_MESSAGE = 1, IN_LOST = 2, IN_ANALYSIS = 3 };
enum { MESSAGES_PER_TURN = 32, ARGS = 5 + 2 * DECODER_ROOTS + 1, PATH_SIZE = 512 };

static const size_t sound_size = (size_t)DECODER_SLOTS * TRACK_RING_MEMORY,
		    memory_size = (size_t)DECODER_SLOTS * TRACK_RING_MEMORY +
				  (size_t)DECODER_VIDEOS * VIDEO_RING_MEMORY;

/* Free when neither a decoder process nor a reader uses it. */
struct slot {
	uint64_t track; /* 0: none */
	bool decoding;	/* decoderd has not said that it ended */
	bool held;	/* not closed yet */
	bool ended;	/* the handler knows */
	bool close_due; /* CLOSE could not be sent */
	uint64_t asked; /* frame whose analysis is wanted, plus one; 0: none */
	uint64_t guild; /* whose music it shows; 0: none */
	decoder_event_h *h;
	void *arg;
	struct track_ring *ring; /* NULL: it is one of video */
	struct video_ring *video;
};

struct decoders {
	struct env *env;
	void (*losth)(void *arg);
	void *arg;
	uint32_t source;
	int link; /* -1: none, and on replay */
	struct event *ev;
	struct event *asked;	     /* an analysis of some slot is wanted */
	uint8_t *memory;	     /* NULL on replay */
	uint64_t tracks;	     /* newest track */
	enum decoder_reason refusal; /* of every track; UNKNOWN: none */
	bool ready;
	bool log_told; /* decoderd logs as log says, and not as it was started */
	struct decoder_msg log;
	struct slot slots[DECODER_ALL_SLOTS];
};

/* ---- messages to decoderd ---- */

static int send_live(const struct decoders *d, const uint8_t *buf, size_t n)
{
	if (d->link < 0)
		return ENOTCONN;
	return send(d->link, buf, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n ? 0 : errno;
}

static int send_message(struct decoders *d, const struct decoder_msg *msg)
{
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;
	int err = decoder_wire_encode(msg, buf, &n);

	if (err)
		return err;
	env_output(d->env, ENV_OUT_PIPE, d->source, buf, n);
	return (int)env_answer(d->env, env_replaying(d->env) ? 0 : send_live(d, buf, n));
}

void decoders_set_log(struct decoders *d, unsigned level, bool json)
{
	if (!d)
		return;
	d->log_told = true;
	d->log = (struct decoder_msg){.type = DECODER_LOG,
				      .log = {.level = (uint8_t)level, .json = json}};
	/* Otherwise it is told once it is ready. */
	if (d->ready)
		send_message(d, &d->log);
}

/* ---- slots ---- */

static struct slot *find_slot(struct decoders *d, uint64_t track)
{
	for (unsigned i = 0; i < DECODER_ALL_SLOTS; i++)
		if (track && d->slots[i].track == track)
			return &d->slots[i];
	return NULL;
}

static uint16_t index_of(const struct decoders *d, const struct slot *s)
{
	return (uint16_t)(s - d->slots);
}

static size_t size_of(unsigned slot)
{
	return slot < DECODER_SLOTS ? TRACK_RING_MEMORY : VIDEO_RING_MEMORY;
}

/* The memory of a ring; NULL on replay. */
static uint8_t *memory_of(const struct decoders *d, unsigned slot)
{
	if (!d->memory)
		return NULL;
	return slot < DECODER_SLOTS ? d->memory + (size_t)slot * TRACK_RING_MEMORY
				    : d->memory + sound_size +
					      (size_t)(slot - DECODER_SLOTS) * VIDEO_RING_MEMORY;
}

/* Gives the memory of the ring back to the system once nobody uses it. */
static void release_slot(struct decoders *d, struct slot *s)
{
	unsigned at = index_of(d, s);

	if (s->decoding || s->held)
		return;
	if (d->memory)
		madvise(memory_of(d, at), size_of(at), MADV_REMOVE);
	*s = (struct slot){.ring = s->ring, .video = s->video};
}

static void report_ended(struct decoders *d, struct slot *s, enum decoder_reason reason)
{
	const struct decoder_msg msg = {
		.type = DECODER_ENDED, .slot = index_of(d, s), .track = s->track, .reason = reason};

	if (!s->held || s->ended)
		return;
	s->ended = true;
	if (reason != DECODER_REASON_END && s->ring)
		track_ring_cut(s->ring);
	else if (reason != DECODER_REASON_END)
		video_ring_cut(s->video);
	s->h(&msg, s->arg);
}

static void request_close(struct decoders *d, struct slot *s)
{
	const struct decoder_msg msg = {
		.type = DECODER_CLOSE, .slot = index_of(d, s), .track = s->track};
	int err = send_message(d, &msg);

	/* The slot stays out of use meanwhile, since its process may still write. */
	if (err && !s->close_due)
		log_warn("decoder_close", "error=\"%s\"", strerror(err));
	s->close_due = err;
}

/* Sends each CLOSE that decoderd's socket had no room for. */
static void repeat_closes(struct decoders *d)
{
	for (unsigned i = 0; i < DECODER_ALL_SLOTS; i++)
		if (d->slots[i].close_due)
			request_close(d, &d->slots[i]);
}

/* ---- messages of decoderd ---- */

/* The process that forks the decoders was started, perhaps again: older tracks are lost, but an
 * OPEN that was under way may still be carried out, so their slots wait for the answer of CLOSE. */
static void on_ready(struct decoders *d, bool jailed)
{
	const uint64_t last = d->tracks; /* a handler may open the next ones */

	d->refusal = jailed ? DECODER_REASON_UNKNOWN : DECODER_REASON_NO_JAIL;
	if (!d->ready)
		log_info("decoders", "ready=1 jailed=%d", jailed);
	for (unsigned i = 0; d->ready && i < DECODER_ALL_SLOTS; i++) {
		if (!d->slots[i].decoding || d->slots[i].track > last)
			continue;
		request_close(d, &d->slots[i]);
		report_ended(d, &d->slots[i], DECODER_REASON_LOST);
	}
	d->ready = true;
	/* It logs as it was started. */
	if (d->log_told)
		send_message(d, &d->log);
}

static void on_track_message(struct decoders *d, const struct decoder_msg *msg)
{
	struct slot *s = &d->slots[msg->slot];

	if (s->track != msg->track || !s->decoding)
		return;
	if (msg->type == DECODER_ENDED) {
		s->decoding = s->close_due = false;
		report_ended(d, s, msg->reason);
		/* The handler may have closed it. */
		if (s->track == msg->track)
			release_slot(d, s);
	} else if (s->held && !s->ended) {
		s->h(msg, s->arg);
	}
}

/* ---- analyses ---- */

/* What a decoder process has put into shared memory, as an input: a replay has no such memory. */
struct analysis_input {
	uint64_t track, at;
	struct analysis a;
};

static void on_analysis(struct decoders *d, const uint8_t *data, size_t len)
{
	struct decoder_msg msg = {.type = DECODER_ANALYSIS};
	struct analysis_input in;
	struct slot *s;

	if (len != sizeof in)
		return;
	memcpy(&in, data, sizeof in);
	s = find_slot(d, in.track);
	if (!s || !s->held)
		return;
	msg.slot = index_of(d, s);
	msg.track = in.track;
	msg.analysis.at = in.at;
	msg.analysis.a = in.a;
	s->h(&msg, s->arg);
}

/* Outside of the step that asked. */
static void deliver_analyses(evutil_socket_t fd, short what, void *arg)
{
	struct decoders *d = arg;

	(void)fd, (void)what;
	for (unsigned i = 0; i < DECODER_SLOTS; i++) {
		struct slot *s = &d->slots[i];
		struct analysis_input in = {.track = s->track, .at = s->asked - 1};
		bool asked = s->held && s->asked;

		s->asked = 0;
		if (asked && track_ring_analysis(s->ring, in.at, &in.a))
			env_deliver(d->env, d->source, IN_ANALYSIS, (uint8_t *)&in, sizeof in);
	}
}

void decoders_follow(struct decoders *d, uint64_t track, uint64_t guild)
{
	struct slot *s = d ? find_slot(d, track) : NULL;

	if (s && s->held && s->video)
		s->guild = guild;
}

void decoders_show(struct decoders *d, uint64_t guild, const struct analysis *a)
{
	for (unsigned i = DECODER_SLOTS; d && i < DECODER_ALL_SLOTS; i++)
		if (d->slots[i].held && d->slots[i].guild == guild)
			video_ring_feed(d->slots[i].video, a);
}

void decoders_watch(struct decoders *d, uint64_t track, bool on)
{
	struct slot *s = d ? find_slot(d, track) : NULL;

	if (s && s->held && s->ring)
		track_ring_watch(s->ring, on);
}

void decoders_ask_analysis(struct decoders *d, uint64_t track, uint64_t at)
{
	struct slot *s = d ? find_slot(d, track) : NULL;

	if (!s || !s->held || !s->ring || !d->asked)
		return;
	s->asked = at + 1;
	event_active(d->asked, 0, 0);
}

static void on_lost(struct decoders *d)
{
	log_warn("decoders", "lost=1 hint=\"no music is played until mediad is restarted\"");
	d->ready = false;
	d->refusal = DECODER_REASON_NO_DECODER;
	if (d->ev)
		event_del(d->ev);
	for (unsigned i = 0; i < DECODER_ALL_SLOTS; i++) {
		struct slot *s = &d->slots[i];
		uint64_t track = s->track;

		if (!s->decoding)
			continue;
		s->decoding = s->close_due = false;
		report_ended(d, s, DECODER_REASON_NO_DECODER);
		if (s->track == track)
			release_slot(d, s);
	}
	if (d->losth)
		d->losth(d->arg);
}

static void on_input(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct decoders *d = arg;
	struct decoder_msg msg;

	if (kind == IN_LOST)
		on_lost(d);
	else if (kind == IN_ANALYSIS)
		on_analysis(d, data, len);
	else if (decoder_wire_decode(&msg, data, len))
		log_warn("decoder_message", "error=malformed");
	else if (msg.type == DECODER_READY)
		on_ready(d, msg.jailed);
	else if (msg.type == DECODER_OPENED || msg.type == DECODER_TITLE ||
		 msg.type == DECODER_LEVELS || msg.type == DECODER_ENDED)
		on_track_message(d, &msg);
	if (kind == IN_MESSAGE)
		repeat_closes(d);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct decoders *d = arg;
	uint8_t buf[DECODER_MSG_MAX];
	ssize_t n = 1;

	(void)what;
	for (int i = 0; i < MESSAGES_PER_TURN && n > 0; i++) {
		n = recv(fd, buf, sizeof buf, MSG_DONTWAIT);
		if (n > 0)
			env_deliver(d->env, d->source, IN_MESSAGE, buf, (size_t)n);
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		env_deliver(d->env, d->source, IN_LOST, NULL, 0);
}

/* ---- making and freeing ---- */

/* Makes the memory of all rings, whose size nobody can change. */
static int map_memory(struct decoders *d, int *fd)
{
	void *p;

	*fd = memfd_create("rings", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0 || ftruncate(*fd, (off_t)memory_size) ||
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return errno;
	p = mmap(NULL, memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (p == MAP_FAILED)
		return errno;
	d->memory = p;
	return 0;
}

static int run_program(const struct decoders_conf *conf, int link, int memory)
{
	static const char *const no_environment[] = {NULL};
	const char *argv[ARGS];
	char path[PATH_SIZE];
	struct spawn_conf spawn = {
		.argv = argv, .environment = no_environment, .pass = {link, memory}, .n_pass = 2};
	struct spawned proc;
	unsigned n = 0;
	int err = spawn_find(conf->program, path, sizeof path);

	argv[n++] = path;
	argv[n++] = "--log";
	argv[n++] = conf->log_level;
	if (conf->addresses) {
		argv[n++] = "--address";
		argv[n++] = conf->addresses;
	}
	for (unsigned i = 0; i < conf->n_roots; i++) {
		argv[n++] = "--root";
		argv[n++] = conf->roots[i];
	}
	argv[n] = NULL;
	if (!err)
		err = spawn_program(&proc, &spawn);
	/* Its end shows at the socket. */
	if (!err)
		spawn_close(&proc);
	return err;
}

/* Returns errno of the first thing that this system refuses. */
static int connect_program(struct decoders *d, const struct decoders_conf *conf)
{
	int fds[2] = {-1, -1}, memory = -1;
	int err = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) ? errno : 0;

	if (!err)
		err = map_memory(d, &memory);
	if (!err)
		err = run_program(conf, fds[1], memory);
	d->link = fds[0];
	if (fds[1] >= 0)
		close(fds[1]);
	if (memory >= 0)
		close(memory);
	return err;
}

/* A system that lets no decoders run takes away the music and nothing else. */
static int start_program(struct decoders *d, const struct decoders_conf *conf)
{
	int err = connect_program(d, conf);

	if (err) {
		log_warn("decoders", "program=\"%s\" error=\"%s\" hint=\"no music is played\"",
			 conf->program, strerror(err));
		d->refusal = DECODER_REASON_NO_DECODER;
		return 0;
	}
	d->ev = event_new(env_base(d->env), d->link, EV_READ | EV_PERSIST, on_readable, d);
	d->asked = event_new(env_base(d->env), -1, 0, deliver_analyses, d);
	return d->ev && d->asked && !event_add(d->ev, NULL) ? 0 : ENOMEM;
}

static int make_rings(struct decoders *d)
{
	int err = 0;

	for (unsigned i = 0; i < DECODER_SLOTS && !err; i++)
		err = track_ring_alloc(&d->slots[i].ring, memory_of(d, i));
	for (unsigned i = DECODER_SLOTS; i < DECODER_ALL_SLOTS && !err; i++)
		err = video_ring_alloc(&d->slots[i].video, memory_of(d, i));
	return err;
}

int decoders_alloc(struct decoders **out, const struct decoders_conf *conf)
{
	enum log_level level;
	struct decoders *d;
	int err;

	if (!out || !conf->env || conf->n_roots > DECODER_ROOTS)
		return EINVAL;
	d = calloc(1, sizeof *d);
	if (!d)
		return ENOMEM;
	d->env = conf->env;
	d->losth = conf->losth;
	d->log_told = conf->log_json;
	d->log = (struct decoder_msg){.type = DECODER_LOG, .log = {LOG_INFO_, true}};
	if (log_level_parse(conf->log_level ? conf->log_level : "", &level))
		d->log.log.level = (uint8_t)level;
	d->arg = conf->arg;
	d->link = -1;
	err = env_source_add(d->env, &d->source, on_input, d);
	if (!err && !env_replaying(d->env))
		err = start_program(d, conf);
	if (!err)
		err = make_rings(d);
	if (err) {
		decoders_free(d);
		return err;
	}
	d->refusal = (enum decoder_reason)env_answer(d->env, d->refusal);
	*out = d;
	return 0;
}

bool decoders_are_running(const struct decoders *d)
{
	return d && d->refusal == DECODER_REASON_UNKNOWN;
}

struct decoders *decoders_free(struct decoders *d)
{
	if (!d)
		return NULL;
	env_source_del(d->env, d->source);
	if (d->ev)
		event_free(d->ev);
	if (d->asked)
		event_free(d->asked);
	if (d->link >= 0)
		close(d->link);
	for (unsigned i = 0; i < DECODER_ALL_SLOTS; i++) {
		track_ring_free(d->slots[i].ring);
		video_ring_free(d->slots[i].video);
	}
	if (d->memory)
		munmap(d->memory, memory_size);
	free(d);
	return NULL;
}

/* ---- tracks ---- */

/* The first free one of [from, to). NULL: no more than so many are free. */
static struct slot *find_free(struct decoders *d, unsigned from, unsigned to, unsigned kept)
{
	struct slot *found = NULL;
	unsigned n = 0;

	for (unsigned i = to; i > from; i--)
		if (!d->slots[i - 1].track) {
			found = &d->slots[i - 1];
			n++;
		}
	return n > kept ? found : NULL;
}

static void prepare_ring(struct slot *s)
{
	if (s->video) {
		video_ring_reset(s->video);
		return;
	}
	track_ring_reset(s->ring);
	track_ring_populate(s->ring);
}

/* The rest of msg is given. */
static enum decoder_reason open_slot(struct decoders *d, struct slot *s, struct decoder_msg *msg,
				     decoder_event_h *h, void *arg)
{
	if (!s)
		return DECODER_REASON_NO_PROCESS;
	prepare_ring(s);
	msg->type = DECODER_OPEN;
	msg->slot = index_of(d, s);
	msg->track = d->tracks + 1;
	if (send_message(d, msg))
		return DECODER_REASON_NO_PROCESS;
	d->tracks++;
	*s = (struct slot){.track = msg->track,
			   .decoding = true,
			   .held = true,
			   .h = h,
			   .arg = arg,
			   .ring = s->ring,
			   .video = s->video};
	return DECODER_REASON_UNKNOWN;
}

enum decoder_reason decoders_open(struct decoders *d, const struct decoder_source *source,
				  uint64_t start, unsigned wants, decoder_event_h *h, void *arg,
				  uint64_t *track)
{
	struct decoder_msg msg = {0};
	unsigned kept = wants & DECODER_IS_AHEAD ? DECODER_KEPT : 0;
	bool video = wants & DECODER_VIDEO;
	enum decoder_reason reason;

	if (!d)
		return DECODER_REASON_NO_DECODER;
	if (d->refusal)
		return d->refusal;
	repeat_closes(d);
	msg.open.source = *source;
	msg.open.start = start;
	msg.open.measure = wants & DECODER_MEASURES;
	reason = open_slot(d,
			   video ? find_free(d, DECODER_SLOTS, DECODER_ALL_SLOTS, 0)
				 : find_free(d, 0, DECODER_SLOTS, kept),
			   &msg, h, arg);
	if (!reason)
		*track = msg.track;
	return reason;
}

struct track_ring *decoders_ring(struct decoders *d, uint64_t track)
{
	struct slot *s = d ? find_slot(d, track) : NULL;

	return s && s->held ? s->ring : NULL;
}

struct video_ring *decoders_video(struct decoders *d, uint64_t track)
{
	struct slot *s = d ? find_slot(d, track) : NULL;

	return s && s->held ? s->video : NULL;
}

void decoders_close(struct decoders *d, uint64_t track)
{
	struct slot *s = d ? find_slot(d, track) : NULL;

	if (!s || !s->held)
		return;
	s->held = false;
	if (s->decoding)
		request_close(d, s);
	release_slot(d, s);
}

static bool copy_text(char *out, size_t size, struct slice text)
{
	if (text.n >= size || (text.n && memchr(text.p, '\0', text.n)))
		return false;
	if (text.n)
		memcpy(out, text.p, text.n);
	out[text.n] = '\0';
	return true;
}

bool decoder_source_set(struct decoder_source *out, uint8_t kind, uint8_t root, struct slice path,
			struct slice headers)
{
	out->visualizer = 0;
	if ((kind != MEDIA_MUSIC_FILE && kind != MEDIA_MUSIC_HTTP) || !path.n ||
	    !stream_headers_valid(headers))
		return false;
	out->kind = kind == MEDIA_MUSIC_FILE ? DECODER_FILE : DECODER_HTTP;
	out->root = root;
	return copy_text(out->path, sizeof out->path, path) &&
	       copy_text(out->headers, sizeof out->headers, headers);
}
