/* The hash of the tables that are keyed by SSRC. A voice server chooses the SSRCs, so the hash has
 * a key of its own in each process: nobody outside can make entries collide. The order within a
 * table decides nothing, so a replay has another key. */
#ifndef MEDIAD_ENGINE_SSRC_HASH_H
#define MEDIAD_ENGINE_SSRC_HASH_H

#include <stdint.h>

/* Draws the key, once for the process. On the loop thread, before the first use of ssrc_hash. */
void ssrc_hash_draw(void);
/* Any bits of the result serve. */
uint32_t ssrc_hash(uint32_t ssrc);

#endif
