#include "tests/unit/mediad/mediad_scene.h"

#include <unistd.h>

#include "ipc/tmr.h"

/* of the next scene */
const char *mediad_scene_decoderd;
const char *const *mediad_scene_roots;
unsigned mediad_scene_n_roots;
const char *mediad_scene_addresses;

int mediad_scene_on_frame(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	struct control *c = arg;
	struct media_msg msg;
	int err = media_unpack(&msg, MEDIA_SIDE_MEDIAD, body, len);

	(void)p;
	if (err)
		return err;
	/* Texts point into the frame. */
	for (size_t i = 0; msg.type == MEDIA_DECODERS && i < MEDIA_FOLDERS; i++)
		if ((i + 1) * MEDIA_FOLDER_BYTES <= msg.decoders.folders.n)
			c->folders[i] =
				media_folder_get(msg.decoders.folders.p + i * MEDIA_FOLDER_BYTES);
	if (msg.type == MEDIA_DECODERS)
		snprintf(c->addresses, sizeof c->addresses, "%.*s", (int)msg.decoders.addresses.n,
			 (const char *)msg.decoders.addresses.p);
	if (msg.type == MEDIA_FAULT)
		msg.fault.text = slice_str("");
	if (msg.type == MEDIA_CALL_STATE)
		msg.call_state.mode = slice_str("");
	if (c->n < SEEN)
		c->seen[c->n++] = msg;
	if (c->s->waits == c && c->s->type == msg.type)
		env_stop(c->s->env);
	return 0;
}

void mediad_scene_on_lost(struct peer *p, int err, void *arg)
{
	struct control *c = arg;

	(void)p, (void)err;
	c->lost = true;
	if (c->s->waits == c && !c->s->type)
		env_stop(c->s->env);
}

static void on_deadline(void *arg)
{
	struct scene *s = arg;

	s->timed_out = true;
	env_stop(s->env);
}

static void on_stopped(void *arg)
{
	struct scene *s = arg;

	s->stopped = true;
	env_stop(s->env);
}

int mediad_scene_start(struct scene *s)
{
	struct env_conf ec = {.loop = true};
	struct mediad_conf mc = {.peer_uid = (uid_t)-1,
				 .threads = 1,
				 .orphan_s = 1,
				 .stoppedh = on_stopped,
				 .arg = s};
	int err;

	memset(s, 0, sizeof *s);
	s->a.s = s->b.s = s;
	snprintf(s->dir, sizeof s->dir, "/tmp/parley-mediad-XXXXXX");
	if (!mkdtemp(s->dir))
		return errno;
	snprintf(s->path, sizeof s->path, "%s/m.sock", s->dir);
	mc.decoderd = mediad_scene_decoderd;
	mc.music_roots = mediad_scene_roots;
	mc.n_music_roots = mediad_scene_n_roots;
	mc.music_addresses = mediad_scene_addresses;
	mc.listen = s->path;
	err = env_alloc(&s->env, &ec);
	mc.env = s->env;
	if (!err)
		err = tmr_alloc(&s->deadline, s->env, on_deadline, s);
	if (!err)
		err = mediad_alloc(&s->m, &mc);
	return err;
}

void mediad_scene_end(struct scene *s)
{
	s->a.peer = peer_free(s->a.peer);
	s->b.peer = peer_free(s->b.peer);
	s->m = mediad_free(s->m);
	s->deadline = tmr_free(s->deadline);
	s->env = env_free(s->env);
	rmdir(s->dir);
}

void mediad_scene_say(struct control *c, const struct media_msg *msg)
{
	uint8_t buf[MEDIA_MAX_FRAME];
	size_t len;

	if (!media_pack(msg, MEDIA_MINOR, buf, sizeof buf, &len))
		peer_send(c->peer, msg->type == MEDIA_SAY ? PEER_AUDIO : PEER_COMMAND, buf, len);
}

int mediad_scene_hello(struct control *c, unsigned major, uint64_t user, uint64_t epoch,
		       uint64_t instance)
{
	struct peer_conf conf = {
		.msgh = mediad_scene_on_frame, .losth = mediad_scene_on_lost, .arg = c};
	struct media_msg msg = {.type = MEDIA_HELLO};
	int err;

	c->peer = peer_free(c->peer);
	c->n = 0;
	c->lost = false;
	err = peer_connect(&c->peer, c->s->env, c->s->path, &conf);
	msg.hello.major = (uint16_t)major;
	msg.hello.minor = MEDIA_MINOR;
	msg.hello.user = user;
	msg.hello.epoch = epoch;
	msg.hello.instance = instance;
	msg.hello.build = slice_str("test");
	if (!err)
		mediad_scene_say(c, &msg);
	return err;
}

const struct media_msg *mediad_scene_await(struct control *c, unsigned type)
{
	struct scene *s = c->s;

	if (!type && c->lost)
		return NULL;
	s->waits = c;
	s->type = type;
	s->timed_out = false;
	tmr_start(s->deadline, DEADLINE_MS * NS_PER_MS);
	env_run(s->env);
	tmr_stop(s->deadline);
	return s->timed_out || !type ? NULL : &c->seen[c->n - 1];
}

unsigned mediad_scene_count(const struct control *c, unsigned type)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->n; i++)
		n += c->seen[i].type == type;
	return n;
}

void mediad_scene_open_call(struct control *c, uint32_t call, uint64_t guild)
{
	struct media_msg msg = {.type = MEDIA_CALL_OPEN};

	msg.call_open.call = call;
	msg.call_open.guild = guild;
	msg.call_open.channel = 5;
	msg.call_open.user = 99;
	msg.call_open.bitrate = 64000;
	msg.call_open.consent = true;
	mediad_scene_say(c, &msg);
}

int mediad_scene_with_call(struct scene *s)
{
	int err = mediad_scene_start(s);

	if (!err)
		err = mediad_scene_hello(&s->a, MEDIA_MAJOR, 99, 1, 7);
	if (!err && !mediad_scene_await(&s->a, MEDIA_SYNCED))
		err = ETIMEDOUT;
	if (err)
		return err;
	mediad_scene_open_call(&s->a, 1, 41);
	return mediad_scene_await(&s->a, MEDIA_CALL_STATE) ? 0 : ETIMEDOUT;
}
