/* A film: the video of a source that a stream of ours shows.
 *
 * A decoder process reads it, or encodes it again (mediad/decoder/film.c); frames come from its
 * ring and go to the stream's sender when they are due. The film's clock
 * (mediad/video/film_clock.h) stands while the stream cannot send, and otherwise follows the sound
 * of the film, if it has some. A film lasts as long as the longer one of both: the last picture
 * stands while its sound goes on. Everything runs on env's loop thread. */
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
/* The audio thread has sent the sound of the film, if `music` is that, up to this 48 kHz frame of
 * its source at `at` (ns of env's clock). Moves the film's clock there if they are apart. */
void film_sound_played(struct film *f, uint32_t music, uint64_t sample, uint64_t at);
/* The stream can send from now on, or no longer. */
void film_wake(struct film *f);
void film_send_state(const struct film *f);

#endif
