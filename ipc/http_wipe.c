#include "ipc/http.h"

#include <curl/curl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/json_wipe.h"

static void wipe_and_free(void *block)
{
	json_wipe_block(block);
	free(block);
}

/* The C library's would leave the old bytes where they were. */
static void *grow(void *block, size_t n)
{
	size_t had = block ? malloc_usable_size(block) : 0;
	void *grown;

	if (block && n <= had)
		return block;
	grown = malloc(n);
	if (grown && block) {
		memcpy(grown, block, had);
		wipe_and_free(block);
	}
	return grown;
}

bool http_wipe_on_free(void)
{
	return curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, wipe_and_free, grow, strdup,
				    calloc) == CURLE_OK;
}
