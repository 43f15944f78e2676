#include "control/voice_session/encrypted_channels.h"

bool encrypted_channels_remove(struct encrypted_channels *e, uint64_t channel)
{
	for (unsigned i = 0; i < e->n; i++)
		if (e->channels[i] == channel) {
			e->channels[i] = e->channels[--e->n];
			return true;
		}
	return false;
}

bool encrypted_channels_add(struct encrypted_channels *e, uint64_t channel)
{
	if (e->n == ENCRYPTED_CHANNELS_MAX || encrypted_channels_has(e, channel))
		return false;
	e->channels[e->n++] = channel;
	return true;
}

bool encrypted_channels_has(const struct encrypted_channels *e, uint64_t channel)
{
	for (unsigned i = 0; i < e->n; i++)
		if (e->channels[i] == channel)
			return true;
	return false;
}

bool encrypted_channels_require(const struct encrypted_channels *e, uint64_t channel)
{
	return e->n == ENCRYPTED_CHANNELS_MAX || encrypted_channels_has(e, channel);
}
