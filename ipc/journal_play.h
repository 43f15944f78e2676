/* What the programs have in common when they record and replay: options, sums, and the verdict. */
#ifndef IPC_JOURNAL_PLAY_H
#define IPC_JOURNAL_PLAY_H

#include <stdbool.h>
#include <stddef.h>

struct env;
struct journal;
struct journal_reader;

enum { JOURNAL_PLAY_THREADS = 64, JOURNAL_EXIT_SOUND = 3 };

/* Prints `shape HEX` and `digest HEX` on stdout: over the sums of n threads, in their order. */
void journal_print_sums(struct env *const *envs, unsigned n);
/* Runs the record through the attached envs, prints the sums and says on stderr what is not as recorded. 0: all the
 * same; EILSEQ: all but the sound that a codec made (another CPU, or another build of the codec); EPROTO: it sent
 * something else or diverged; EBADMSG: the recording has no end. */
int journal_play(struct journal_reader *r, struct env **envs, unsigned n);
/* The exit status for what journal_play gave or stopped before it; says on stderr what is wrong with the file. */
int journal_exit(const char *path, int err);
/* For --journal-print: an exit status. */
int journal_print_file(const char *path);

#endif
