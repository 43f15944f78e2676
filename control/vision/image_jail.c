#include "control/vision/image_jail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/child.h"
#include "ipc/env.h"
#include "ipc/json_wipe.h"
#include "ipc/log.h"
#include "ipc/spawn.h"

enum { PATH_SIZE = 512 };

struct waiting {
	uint32_t id; /* 0: free */
	image_jail_h *h;
	void *arg;
};

struct image_jail {
	struct env *env;
	struct child *child; /* imaged; NULL: there is none */
	uint32_t last_id;
	struct waiting v[IMAGE_JAIL_WAITING];
};

static struct waiting *find_waiting(struct image_jail *j, uint32_t id)
{
	for (unsigned i = 0; i < IMAGE_JAIL_WAITING; i++)
		if (j->v[i].id == id)
			return &j->v[i];
	return NULL;
}

/* The place is free before the handler runs, which may ask again. */
static void end_waiting(struct waiting *w, const struct image_result *r)
{
	struct waiting was = *w;

	*w = (struct waiting){0};
	if (was.h)
		was.h(r, was.arg);
}

static void take_line(const char *line, size_t n, void *arg)
{
	struct image_jail *j = arg;
	struct image_result r;
	struct waiting *w;
	void *memory = NULL;
	int err = image_result_read(&r, &memory, line, n);

	w = err ? NULL : find_waiting(j, r.id);
	if (w && w->id)
		end_waiting(w, &r);
	else
		log_warn("image_result", "error=\"%s\" hint=\"a line of imaged was dropped\"",
			 strerror(err ? err : ESRCH));
	json_wipe_block(memory);
	free(memory);
}

static void take_state(bool up, int status, void *arg)
{
	struct image_jail *j = arg;

	(void)status;
	if (up)
		return;
	for (unsigned i = 0; i < IMAGE_JAIL_WAITING; i++)
		if (j->v[i].id)
			end_waiting(&j->v[i], &(struct image_result){.id = j->v[i].id,
								     .reason = IMAGE_CRASHED});
}

int image_jail_alloc(struct image_jail **out, struct env *env, const char *program)
{
	static const char *const nothing[] = {NULL};
	char path[PATH_SIZE];
	const char *const argv[] = {path, NULL};
	struct image_jail *j;
	int err;

	if (!out || !env || !program)
		return EINVAL;
	j = calloc(1, sizeof *j);
	if (!j)
		return ENOMEM;
	j->env = env;
	err = spawn_locate(env, program, path, sizeof path);
	if (err)
		log_warn("images",
			 "error=%d program=%s hint=\"it is not installed, so no picture is looked "
			 "at\"",
			 err, program);
	else
		err = child_alloc(
			&j->child, env,
			&(struct child_conf){.argv = argv,
					     .environment = nothing,
					     .input = true,
					     .log_errors = true,
					     .line_max = IMAGE_RESULT_MAX,
					     .input_max = IMAGE_BYTES_MAX + IMAGE_REQUEST_MAX,
					     .lineh = take_line,
					     .stateh = take_state,
					     .arg = j});
	if (err == ENOMEM) {
		image_jail_free(j);
		return err;
	}
	*out = j;
	return 0;
}

struct image_jail *image_jail_free(struct image_jail *j)
{
	if (!j)
		return NULL;
	child_free(j->child);
	free(j);
	return NULL;
}

/* Line and bytes go together, both or neither. */
static int send_request(struct image_jail *j, const uint8_t *bytes, const struct image_request *q)
{
	char line[IMAGE_REQUEST_MAX];
	size_t n = image_request_write(q, line);
	uint8_t *whole = malloc(n + q->bytes);
	int err;

	if (!whole)
		return ENOMEM;
	memcpy(whole, line, n);
	memcpy(whole + n, bytes, q->bytes);
	err = child_write(j->child, whole, n + q->bytes);
	json_wipe_block(whole);
	free(whole);
	return err == ENOBUFS ? EBUSY : err;
}

static enum image_reason explain_error(int err)
{
	return err == ENOMEM ? IMAGE_NO_MEMORY : err == EBUSY ? IMAGE_BUSY : IMAGE_NO_PROCESS;
}

int image_jail_decode(struct image_jail *j, const uint8_t *bytes, size_t n,
		      const struct image_limits *limits, image_jail_h *h, void *arg,
		      enum image_reason *why)
{
	struct image_header header;
	enum image_reason reason = frame_header_read(&header, limits->codec, bytes, n);
	struct waiting *w = find_waiting(j, 0);
	uint32_t id = j->last_id + 1 ? j->last_id + 1 : 1;
	int err = reason != IMAGE_OK ? EBADMSG : !j->child ? ENOTCONN : !w ? EBUSY : 0;

	if (!err)
		err = send_request(j, bytes, &(struct image_request){id, n, *limits});
	if (err) {
		if (why)
			*why = reason != IMAGE_OK ? reason : explain_error(err);
		return err;
	}
	j->last_id = id;
	*w = (struct waiting){id, h, arg};
	return 0;
}

void image_jail_cancel(struct image_jail *j, const void *arg)
{
	for (unsigned i = 0; i < IMAGE_JAIL_WAITING; i++)
		if (j->v[i].id && j->v[i].arg == arg)
			j->v[i].h = NULL;
}
