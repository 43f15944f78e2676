/* The health check: asks a running mediad, over its own socket, whether its loop answers. */
#ifndef MEDIAD_HEALTH_H
#define MEDIAD_HEALTH_H

/* Sends PING to the mediad that listens at path and waits up to 3 s for PONG. 0, ETIMEDOUT,
 * EBADMSG, or the errno of the socket (ENOENT, ECONNREFUSED: nobody listens). */
int health_ask(const char *path);
/* The same, told in a line on stdout. Exit status. */
int health_print(const char *path);

#endif
