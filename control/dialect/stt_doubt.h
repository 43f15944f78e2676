/* A recogniser's doubt of its words, from the log-probabilities of its tokens or words. Pure;
 * needs jansson.h. */
#ifndef CONTROL_DIALECT_STT_DOUBT_H
#define CONTROL_DIALECT_STT_DOUBT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct stt_doubt {
	double sum;
	size_t n;
};
void stt_doubt_add(struct stt_doubt *d, const json_t *logprob);
/* Minus the mean in thousandths, plus one; 0 without any. */
uint32_t stt_doubt_of(const struct stt_doubt *d);

#endif
