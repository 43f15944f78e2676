/* The volume of music as people name it, and the gain that it is played with. A percent is a step
 * in dB, as of the sliders of Discord's client: 100 % is full loudness, each tenth below it is 5 dB
 * quieter, and 0 is silence. Pure. */
#ifndef CONTROL_MUSIC_VOLUME_H
#define CONTROL_MUSIC_VOLUME_H

#include <stdbool.h>
#include <stdint.h>

/* Between 100 % and 0 %, where silence follows; what "louder" and "quieter" change. */
enum { MUSIC_VOLUME_RANGE_DB = 50, MUSIC_VOLUME_STEP_DB = 5 };

/* volume: thousandths, MUSIC_VOLUME_FULL at most (queue.h). Gain of samples in millionths; the
 * same in whole thousandths, for a mediad that knows no others: low volumes are up to 1 dB off. */
uint32_t music_volume_fine_gain(unsigned volume);
uint16_t music_volume_gain(unsigned volume);
/* The volume that one step makes of this one, in thousandths. */
unsigned music_volume_step(unsigned volume, bool louder);

#endif
