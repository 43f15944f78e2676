/* One-shot runs of offlined's parts from the command line: speak, transcribe, answer. Blocking;
 * prints. */
#ifndef OFFLINE_ONCE_H
#define OFFLINE_ONCE_H

/* All borrowed. One of speak (with output), transcribe, general, answer is set. */
struct once_conf {
	const char *speak, *voice, *output; /* a line to a WAV file */
	const char *transcribe;		    /* a WAV file, heard as the server would */
	const char *general;		    /* a WAV file, heard with the general model alone */
	const char *answer, *room;	    /* a line for the brain; names in the room */
	const char *model;		    /* folder of the speech model or NULL */
};

/* The exit status: 0, or 1 after a sentence on stderr. */
int once_run(const struct once_conf *c);

#endif
