/* Plays a scenario of the room in simulated time.
 *
 *   set NAME VALUE              a setting (control/settings/settings.def), before the first timed line
 *   TIME ACTION                 TIME in ms since the call came up; times never go back
 *        expect WHAT [within MS]       something of the trace, from here on (3000 ms when not said)
 *        expect no WHAT [within MS]    nothing of the trace is that
 *
 * Actions:
 *   join NAME            NAME leaves           bot NAME joins
 *   NAME speaks "WORDS" [quietly]              until NAME stops; `/` parts the pieces of long speech
 *   NAME stops
 *   brain says "WORDS" [for MS]                a whole answer, 60 ms a letter when not said how long
 *   brain starts "WORDS" [for MS]              sound and words, more may follow; brain done, brain fails
 *   transcripts take MS | transcripts fail
 *   playback fails | call down | call up | mute | unmute
 *
 * An expectation looks from the time of the action above it, or of the expectation that was met last, and wants a line
 * of the trace that holds its words. The trace says, each with its time:
 *   listen NAME, unlisten NAME, asr NAME started | committed | cancelled | closed, turn NAME admitted RULE,
 *   turn NAME ended REASON, said "WORDS", brain asked "LINE", brain cancelled, brain truncated at MS,
 *   playback opened | started | ending | stopping | drained | stopped, told "TEXT", instructions "TEXT" */
#ifndef TESTS_PLAY_H
#define TESTS_PLAY_H

#include <stdbool.h>
#include <stddef.h>

/* Plays text. True when every expectation was met; else `why` says which line was not, with the trace. */
bool play_text(const char *text, char *why, size_t size);
/* The same with a file. */
bool play_file(const char *path, char *why, size_t size);

#endif
