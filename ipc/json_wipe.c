#include "ipc/json_wipe.h"

#include <jansson.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

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

void json_wipe_on_free(void)
{
	json_set_alloc_funcs(malloc, wipe_and_free);
}
