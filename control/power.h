/* Where this machine has its power from, by what the kernel tells in /sys/class/power_supply: a shell for ROOM_POWER. */
#ifndef CONTROL_POWER_H
#define CONTROL_POWER_H

struct env;

/* "mains", "battery", or "" when nobody knows, as on most servers. Static. */
const char *power_now(struct env *env);
/* The same of another folder, asked directly. */
const char *power_of(const char *folder);

#endif
