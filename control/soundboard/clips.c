#include "control/soundboard/clips.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "ipc/child.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/spawn.h"

struct clips {
	struct child *child; /* decoderd */
	clips_h *h;
	void *arg;
	struct clip v[CLIPS_MAX];
	size_t n;
};

static void take_line(const char *line, size_t len, void *arg)
{
	struct clips *c = arg;
	struct clip clip;
	int err = c->n < CLIPS_MAX ? clip_read(&clip, line, len) : ENOSPC;

	if (!err && clips_find(c, clip.name)) {
		clip_clear(&clip);
		err = EEXIST;
	}
	if (!err)
		c->v[c->n++] = clip;
	else
		log_warn("local_sound", "error=%d hint=\"a sound of sound_folder is left out\"",
			 err);
}

static void take_state(bool up, int status, void *arg)
{
	struct clips *c = arg;

	if (up)
		return;
	if (status)
		log_info("local_sounds",
			 "count=%zu status=%d hint=\"decoderd cannot decode the setting "
			 "sound_folder; its log lines say why\"",
			 c->n, status);
	else
		log_info("local_sounds", "count=%zu status=0", c->n);
	if (c->h)
		c->h(c->arg);
}

int clips_alloc(struct clips **out, struct env *env, const char *program, const char *folder,
		clips_h *h, void *arg)
{
	char path[512];
	const char *const argv[] = {path, "--sounds", folder, NULL};
	/* decoderd forks its jailed processes, and all of them can read what it was started with.
	 */
	static const char *const nothing[] = {NULL};
	struct clips *c;
	int err;

	if (!out || !env || !program || !folder)
		return EINVAL;
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->h = h;
	c->arg = arg;
	err = *folder ? spawn_locate(env, program, path, sizeof path) : ENOENT;
	if (err && *folder)
		log_warn("local_sounds",
			 "error=%d program=%s hint=\"it is not installed, so no "
			 "sound of sound_folder is played\"",
			 err, program);
	if (!err)
		err = child_alloc(&c->child, env,
				  &(struct child_conf){.argv = argv,
						       .environment = nothing,
						       .log_errors = true,
						       .once = true,
						       .line_max = CLIP_LINE_MAX,
						       .lineh = take_line,
						       .stateh = take_state,
						       .arg = c});
	if (err == ENOMEM) {
		clips_free(c);
		return err;
	}
	*out = c;
	return 0;
}

struct clips *clips_free(struct clips *c)
{
	if (!c)
		return NULL;
	child_free(c->child);
	for (size_t i = 0; i < c->n; i++)
		clip_clear(&c->v[i]);
	free(c);
	return NULL;
}

const struct clip *clips_find(const struct clips *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcasecmp(c->v[i].name, name) == 0)
			return &c->v[i];
	return NULL;
}

size_t clips_count(const struct clips *c)
{
	return c->n;
}

const struct clip *clips_at(const struct clips *c, size_t i)
{
	return &c->v[i];
}
