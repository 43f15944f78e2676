/* What is shown of a call's arguments beside its output: equal arguments of one session look equal,
 * and nobody who lacks the session's key can try arguments out, however short they are. Pure. */
#ifndef CONTROL_TOOLS_ARGUMENTS_MAC_H
#define CONTROL_TOOLS_ARGUMENTS_MAC_H

#include <stdint.h>

enum { ARGUMENTS_KEY = 16, ARGUMENTS_MAC = 17 };

/* SipHash-2-4 of the arguments' hash, as hexadecimal digits. */
void arguments_mac(const uint8_t key[ARGUMENTS_KEY], uint64_t hash, char out[ARGUMENTS_MAC]);

#endif
