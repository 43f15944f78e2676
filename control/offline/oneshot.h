/* One-shot runs of offlined's parts from the command line: speak, transcribe, answer. Blocking;
 * prints. */
#ifndef OFFLINE_ONCE_H
#define OFFLINE_ONCE_H

/* All borrowed. One of speak (with output), transcribe, general, answer is set. */
struct oneshot_conf {
	const char *speak, *voice, *output; /* a line to a WAV file */
	const char *transcribe;		    /* a WAV file, recognised as the server would */
	const char *general;	   /* a WAV file, recognised with the general model alone */
	const char *answer, *room; /* a line for the brain; names in the room */
	const char *model;	   /* folder of the speech model or NULL */
};

/* Returns the exit status: 0, or 1 after a message on stderr. */
int oneshot_run(const struct oneshot_conf *c);

#endif
