/* Reads the machine's power source from /sys/class/power_supply; the shell for ROOM_POWER. */
#ifndef CONTROL_AGENT_POWER_H
#define CONTROL_AGENT_POWER_H

struct env;

/* "mains", "battery", or "" if the kernel does not say, as on most servers. Static. */
const char *power_now(struct env *env);
/* The same from another folder, read directly. */
const char *power_of(const char *folder);

#endif
