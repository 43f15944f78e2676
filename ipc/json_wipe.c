#include "ipc/json_wipe.h"

#include <jansson.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/log.h"

void json_wipe_block(void *block)
{
	if (block)
		explicit_bzero(block, malloc_usable_size(block));
}

static void wipe_and_free(void *block)
{
	json_wipe_block(block);
	free(block);
}

/* The lexer of jansson 2.14 does not look whether its buffer grew: a text of the right length then
 * makes it write past its blocks. */
static void *take_or_end(size_t n)
{
	void *block = malloc(n);

	if (!block) {
		log_fatal("json_out_of_memory", "bytes=%zu", n);
		abort();
	}
	return block;
}

void json_wipe_on_free(void)
{
	json_set_alloc_funcs(take_or_end, wipe_and_free);
}
