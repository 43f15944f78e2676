/* A scripted brain on loopback for the benches: the OpenAI Realtime dialect, as far as control
 * speaks it. Every commit has its words at once, every question an answer of so many seconds, at
 * once or as fast as it is spoken. It notes what it read and sent when, of which of its
 * connections.
 */
#ifndef TESTS_BENCH_BRAIN_H
#define TESTS_BENCH_BRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct brain;
struct env;

struct brain_asked {
	unsigned conn;
	uint32_t turn;
	/* CLOCK_MONOTONIC in ns: response.create was read, the first sound was sent,
	 * response.cancel was read, the connection was dropped (0: never). */
	uint64_t at, sound, cancelled, dropped;
	/* An item with an image was read, since the question before; 0: none. */
	uint64_t image;
	/* The last input_audio_buffer.commit of a transcription session before it was read. */
	uint64_t committed;
	/* Of this connection so far: conversation items, and questions before this one. */
	unsigned items, before;
};

/* words: the transcript of each utterance; " number N" is added, N
 * counts from 1. paced: the answer
 * is sent as fast as it is spoken, 200 ms at a time. */
void brain_alloc(struct brain **out, struct env *env, const char *words, unsigned answer_ms,
		 bool paced);
/* A transcription session of the dialect elevenlabs, at brain_port: the words without a number;
 * from now on also as one interim transcript, after 400 ms of sound. At first it sends none. */
void brain_sends_interims(struct brain *b, bool yes);
/* From now on it drops the connection of each question after so many ms, in place of an answer. */
void brain_drops(struct brain *b, unsigned ms);
struct brain *brain_free(struct brain *b);
/* ws://127.0.0.1:PORT/v1/realtime */
const char *brain_url(const struct brain *b);
unsigned brain_port(const struct brain *b);
/* When it read the commit that got the words with this number, ns; 0: there is none. */
uint64_t brain_committed(const struct brain *b, unsigned number);
/* All questions so far, in order. Borrowed until the loop runs. */
const struct brain_asked *brain_asked(const struct brain *b, size_t *n);

#endif
