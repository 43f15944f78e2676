/* G.711 mu-law (ITU-T G.711): 16 bits of a sample become 8. Pure. */
#ifndef CONTROL_AGENT_ULAW_H
#define CONTROL_AGENT_ULAW_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/cursor.h"

/* pcm: s16le. out: room for pcm.n / 2 bytes. Returns how many it wrote. */
size_t ulaw_encode(struct slice pcm, uint8_t *out);

#endif
