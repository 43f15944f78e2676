/* decoderd's process that forks a decoder process for each track.
 *
 * It has libav loaded and parses nothing but messages. It opens files beneath the configured
 * folders, starts and ends decoder processes, watches their progress, and reports to mediad. */
#ifndef MEDIAD_DECODER_ZYGOTE_H
#define MEDIAD_DECODER_ZYGOTE_H

#include <stdbool.h>
#include <stddef.h>

struct http_guard;

struct zygote_conf {
	int link;    /* SOCK_SEQPACKET to mediad */
	void *rings; /* n_rings rings, shared with mediad */
	size_t n_rings;
	void *videos; /* n_videos rings of video, the same; may be NULL */
	size_t n_videos;
	const int *roots; /* descriptors of folders */
	unsigned n_roots;
	const struct http_guard *guard;
	bool jailed; /* otherwise every track is refused */
};

/* Runs until mediad closes the link: 0, or errno of a failure. Everything is borrowed. */
int zygote_run(const struct zygote_conf *conf);

#endif
