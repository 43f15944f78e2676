/* The sound of films that tests make: a tone at the first frame of each round, then silence. PCM
 * that is not encoded, which a MOV takes. */
#ifndef TESTS_FILM_FILE_FILM_SOUND_H
#define TESTS_FILM_FILE_FILM_SOUND_H

#include <libavformat/avformat.h>

enum { FILM_SOUND_RATE = 48000 };

/* Adds its stream. NULL without memory. */
AVStream *film_sound_add(AVFormatContext *fmt);
/* Fills the empty packet with the sound of one frame of the film: FILM_SOUND_RATE / fps samples.
 * place: of the frame in its round; number: in the film. ENOMEM. */
int film_sound_fill(const AVStream *sound, AVPacket *packet, unsigned fps, size_t place,
		    int64_t number);

#endif
