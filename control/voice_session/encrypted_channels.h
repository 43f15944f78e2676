/* The channels in which a call has been end-to-end encrypted. A later call there must be encrypted
 * from its start, until an operator sets e2ee to prefer. So Discord gains nothing by ending an
 * encrypted call and offering another one, or by calling the channel a stage. A value without I/O,
 * kept in the state file. */
#ifndef CONTROL_VOICE_SESSION_ENCRYPTED_CHANNELS_H
#define CONTROL_VOICE_SESSION_ENCRYPTED_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

enum { ENCRYPTED_CHANNELS_MAX = 1024 };

struct encrypted_channels {
	uint64_t channels[ENCRYPTED_CHANNELS_MAX];
	unsigned n; /* when it is full, further channels are not added */
};

/* Returns whether it is new. */
bool encrypted_channels_add(struct encrypted_channels *e, uint64_t channel);
bool encrypted_channels_has(const struct encrypted_channels *e, uint64_t channel);
/* Must a call in this channel be encrypted from its start? A full list says so of every channel,
 * and then no channel counts as a stage. */
bool encrypted_channels_require(const struct encrypted_channels *e, uint64_t channel);
/* Returns whether it was there. */
bool encrypted_channels_remove(struct encrypted_channels *e, uint64_t channel);

#endif
