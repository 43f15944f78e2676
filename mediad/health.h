/* The health check: asks a running mediad, over its own socket, whether its loop answers. */
#ifndef MEDIAD_HEALTH_H
#define MEDIAD_HEALTH_H

/* Sends PING to the mediad that listens at path and waits up to 3 s for PONG. Returns 0, ETIMEDOUT,
 * EBADMSG, or the errno of the socket (ENOENT, ECONNREFUSED: nothing listens). */
int health_ask(const char *path);
/* The same, with a line on stdout. Returns an exit status. */
int health_print(const char *path);

#endif
