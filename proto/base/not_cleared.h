/* For large local buffers of the audio path that are written before they are read. The build clears
 * every other local variable (-ftrivial-auto-var-init=zero): for each frame these would be 30 kB,
 * more than the first-level cache keeps beside the decoder's state. */
#ifndef PROTO_BASE_NOT_CLEARED_H
#define PROTO_BASE_NOT_CLEARED_H

#if defined(__has_attribute) && __has_attribute(uninitialized)
#define NOT_CLEARED __attribute__((uninitialized))
#else
#define NOT_CLEARED
#endif

#endif
