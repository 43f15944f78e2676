/* Files that are attached to messages, and the host that serves them (Discord documentation,
 * "Attachment Object"). The host needs no token; an address that ends in another name is unknown.
 */
#ifndef TESTS_GUILDD_FILES_H
#define TESTS_GUILDD_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/guildd/vec.h"

struct gd_file {
	uint64_t channel, id;
	char *name, *type;
	uint8_t *data;
	size_t n;
};

/* [{"filename", "data": base64, "content_type"?, "size"?}] of a request, kept: the attachment
 * objects of the message. base: the origin of the host. size: what Discord tells, if it is not the
 * file's own. Caller owns it. */
json_t *gd_files_keep(struct gd_vec *files, uint64_t (*id)(void *arg), void *arg, uint64_t channel,
		      const char *base, const json_t *given);
/* NULL: there is no such file. */
const struct gd_file *gd_files_find(const struct gd_vec *files, uint64_t channel, uint64_t id,
				    const char *name);
void gd_files_clear(struct gd_vec *files);
/* The bytes in base64. Caller owns it. */
json_t *gd_files_data(const void *p, size_t n);

#endif
