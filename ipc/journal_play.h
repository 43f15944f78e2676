/* Recording and replaying as both programs do it: options, digests, and the verdict. */
#ifndef IPC_JOURNAL_PLAY_H
#define IPC_JOURNAL_PLAY_H

#include <stdbool.h>
#include <stddef.h>

struct env;
struct journal;
struct journal_reader;

enum { JOURNAL_PLAY_THREADS = 64, JOURNAL_EXIT_SOUND = 3 };

/* Prints `shape HEX` and `digest HEX` on stdout, computed over the digests of n threads in their
 * order. */
void journal_print_sums(struct env *const *envs, unsigned n);
/* Replays the record through the attached envs, prints the digests, and reports differences on
 * stderr. 0: equal; EILSEQ: equal except for codec output (another CPU or build of the codec);
 * EPROTO: other outputs, or the run diverged; EBADMSG: the recording is incomplete. */
int journal_play(struct journal_reader *r, struct env **envs, unsigned n);
/* The exit status for an error of journal_play or journal_open; explains problems of the file on
 * stderr. */
int journal_exit(const char *path, int err);
/* For --journal-print: an exit status. */
int journal_print_file(const char *path);

#endif
