/* A running decoderd for tests: mediad's end of its socket and its rings, and a folder of files. */
#ifndef TESTS_DECODER_DECK_H
#define TESTS_DECODER_DECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mediad/music/decoder_wire.h"

enum { DECK_SLOTS = 4 };

struct deck {
	char dir[64]; /* the root folder */
	int link;
	pid_t pid;
	uint8_t *rings;
	struct track_ring *ring[DECK_SLOTS];
	uint64_t tracks;	    /* opened so far */
	uint64_t track[DECK_SLOTS]; /* newest of each slot */
	bool jailed;
	bool measure;	     /* the levels of tracks that are started */
	struct web *web;     /* serves the folder */
	char origin[32];     /* "http://127.0.0.1:PORT" */
	const char *headers; /* of tracks that are started; NULL: none */
};

/* A decoded track; titles are those of a station, separated by "|". pcm is the caller's to free. */
struct played {
	struct decoder_opened opened;
	struct decoder_levels levels; /* of the last LEVELS */
	unsigned n_levels;
	bool has_opened, has_ended;
	enum decoder_reason reason;
	int16_t *pcm;
	size_t frames;
	char titles[512];
	bool broken; /* the ring's indices were impossible */
};

/* Starts build/decoderd and waits for READY. False: it cannot. deck_close in any case. */
bool deck_open(struct deck *d);
void deck_close(struct deck *d);
/* Path of a file in the folder. Static buffer. */
const char *deck_path(const struct deck *d, const char *name);
bool deck_send(struct deck *d, const struct decoder_msg *msg);
/* Opens a file of the folder in a slot, or a path of the web server if the name begins with "/". */
bool deck_start(struct deck *d, uint16_t slot, const char *name, uint64_t start);
/* Waits for a message; false after `ms`. */
bool deck_receive(struct deck *d, struct decoder_msg *msg, int ms);
/* Reads the ring of a slot until its track has ended, or until max_frames are read and
 * OPENED has come. */
void deck_play(struct deck *d, uint16_t slot, struct played *out, size_t max_frames);
/* Waits until n titles are told in all: a web server's come on a way of their own, so their sound
 * can be read first. */
void deck_wait_titles(struct deck *d, uint16_t slot, struct played *out, unsigned n);
/* deck_start and deck_play in slot 0. */
void deck_play_file(struct deck *d, const char *name, uint64_t start, struct played *out);

#endif
