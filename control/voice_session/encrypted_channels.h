/* The channels in which a call has been end-to-end encrypted. A later call there must be encrypted
 * from its start, until an operator sets e2ee to prefer and a call is held there, or has the server
 * forgotten. So Discord gains nothing by ending an encrypted call and offering another one, or by
 * calling the channel a stage. A value without I/O, kept in the state file.
 *
 * Members can make channels and have calls in them, so each server has a share of the list. When a
 * server exceeds its share, all of its channels count as encrypted before, and those of other
 * servers are what they were. */
#ifndef CONTROL_VOICE_SESSION_ENCRYPTED_CHANNELS_H
#define CONTROL_VOICE_SESSION_ENCRYPTED_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ENCRYPTED_CHANNELS_MAX = 2048,
	ENCRYPTED_CHANNELS_GUILD = 64, /* of one server; the next one stands for all of it */
};

struct encrypted_channel {
	uint64_t guild;	  /* 0: not known, in a state file of an earlier version */
	uint64_t channel; /* 0: all channels of the guild */
};

struct encrypted_channels {
	struct encrypted_channel v[ENCRYPTED_CHANNELS_MAX];
	unsigned n;
};

/* Returns whether the list has changed. *strict becomes the guild all of whose channels count from
 * now on, because it exceeded its share, or because the list is full and it had most of it; 0:
 * none.
 */
bool encrypted_channels_add(struct encrypted_channels *e, uint64_t guild, uint64_t channel,
			    uint64_t *strict);
/* If the server has all of its share, drops those of its channels of which h says that they are not
 * there; if the list has place for no two more, those of all servers. Returns whether there were
 * any. */
typedef bool(encrypted_channel_there_h)(uint64_t guild, uint64_t channel, void *arg);
bool encrypted_channels_drop_gone(struct encrypted_channels *e, uint64_t guild,
				  encrypted_channel_there_h *h, void *arg);
/* True if this very channel is in the list. */
bool encrypted_channels_has(const struct encrypted_channels *e, uint64_t guild, uint64_t channel);
/* Must a call in this channel be encrypted from its start? Then it does not count as a stage. When
 * the list is full of servers with one entry each, that holds for all servers without one. */
bool encrypted_channels_require(const struct encrypted_channels *e, uint64_t guild,
				uint64_t channel);
/* Removes the channel, and not the entry for all channels of the guild. Returns whether it was
 * there. */
bool encrypted_channels_remove(struct encrypted_channels *e, uint64_t guild, uint64_t channel);
/* Removes all entries of the guild. Returns how many there were. */
unsigned encrypted_channels_forget(struct encrypted_channels *e, uint64_t guild);

#endif
