/* Logarithms in whole numbers, the same on every machine. For control/room only. */
#ifndef CONTROL_ROOM_BASE_SCALE_H
#define CONTROL_ROOM_BASE_SCALE_H

#include <stdint.h>

/* log2 in thousandths; value >= 1. Exact to 2 thousandths. */
int room_log2(int64_t value);
/* 2 to the power of so many thousandths, at most 2^40; 0 below 1. */
uint64_t room_exp2(int thousandths);

#endif
