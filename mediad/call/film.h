/* A film: the video of a source that a stream of ours shows, frame by frame as it is stored.
 *
 * A decoder process takes the source apart (mediad/decoder/film.c); frames come from its ring and
 * go to the stream's sender when they are due. The film's clock begins when the stream can send,
 * and stands while it cannot. Everything runs on env's loop thread. */
#ifndef MEDIAD_CALL_FILM_H
#define MEDIAD_CALL_FILM_H

#include "proto/media.h"

struct call;
struct film;

/* Opens the source. Failures are told to control by VIDEO_FILM, now or later; *out is NULL then.
 * The film tells its end itself, and frees itself at that (call_video_film_over). c outlives it. */
void film_alloc(struct film **out, struct call *c, const struct media_video_play *m);
/* Tells nothing. NULL accepted, as by all others. */
struct film *film_free(struct film *f);
/* Tells control that the film was stopped. */
void film_stop(struct film *f);
void film_pause(struct film *f, const struct media_video_pause *m);
/* Its sound, if `music` is that, had played to this sample (of 48000 a second) of the source at
 * `at` of env's clock: the picture goes with it, also where the audio thread lost time. */
void film_heard(struct film *f, uint32_t music, uint64_t sample, uint64_t at);
/* The stream can send from now on, or no longer. */
void film_wake(struct film *f);
void film_send_state(const struct film *f);

#endif
