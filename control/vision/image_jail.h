/* Pictures of strangers, decoded in a jail: imaged, a program of its own, has a process for each
 * that can open no file, connect to nothing and start nothing (control/vision/imaged).
 *
 * A hostile picture ends with a reason and disturbs no other one. Headers are checked here, before
 * anything is sent. Everything runs on env's thread; results are inputs of the env. */
#ifndef CONTROL_VISION_IMAGE_JAIL_H
#define CONTROL_VISION_IMAGE_JAIL_H

#include <stddef.h>
#include <stdint.h>

#include "control/vision/core/image_wire.h"

struct env;
struct image_jail;

enum { IMAGE_JAIL_WAITING = 8 };

/* The end of one request: a result, whose pictures are borrowed until return and wiped afterwards,
 * or the reason why there is none. */
typedef void(image_jail_h)(const struct image_result *result, void *arg);

/* program: the name or path of imaged. Without it no picture is decoded. ENOMEM. Caller owns *out,
 * and frees it before env. */
int image_jail_alloc(struct image_jail **out, struct env *env, const char *program);
/* No handler is called any more. */
struct image_jail *image_jail_free(struct image_jail *j);
/* Decodes one picture; h is called once, after this has returned 0. bytes: copied. Otherwise *why,
 * which may be NULL, says why not: NOT_A_PICTURE, DAMAGED, TOO_LARGE, UNSUPPORTED with EBADMSG by
 * its header; NO_PROCESS with ENOTCONN (it does not run); BUSY with EBUSY (IMAGE_JAIL_WAITING wait,
 * or 8 MiB of them); NO_MEMORY with ENOMEM. */
int image_jail_decode(struct image_jail *j, const uint8_t *bytes, size_t n,
		      const struct image_limits *limits, image_jail_h *h, void *arg,
		      enum image_reason *why);
/* The requests with this argument get no result. */
void image_jail_cancel(struct image_jail *j, const void *arg);

#endif
