/* The journal file: every input of every thread, in one order (law 2).
 *
 * Each thread writes records into its own single-producer byte ring; one writer thread copies the
 * rings to the file, so an audio thread does no disk I/O. A ring that overflows ends the journal
 * with a record that says so: a journal is complete or says where it stopped. The file is a secret
 * (mode 0600, its first line says so).
 *
 * JOURNAL_FIRST_LINE, then the meta text (one line, JSON), then
 * records `u32 length | u64 order | u64 now | u8 thread | u8 what | u32 source | u8 kind | bytes`,
 * big-endian. */
#ifndef IPC_JOURNAL_H
#define IPC_JOURNAL_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>

struct journal;
struct env;

#define JOURNAL_FIRST_LINE "PARLEY-JOURNAL 2 secret: holds call keys and voices"
/* A journal of shapes holds the times and structure of inputs, without keys, sound and words: each
 * input is `u32 length | text of env_source_shape`, random bytes are `u32 length`. It can be read
 * but not replayed. */
#define JOURNAL_FIRST_LINE_SHAPES                                                                  \
	"PARLEY-JOURNAL 2 shapes: without keys and voices, yet who, where and when"

enum journal_what {
	JOURNAL_INPUT = 1, /* env_deliver */
	/* Records of the other kinds have neither a time nor a source. */
	JOURNAL_RANDOM = 2, /* env_random, env_wall_ms: bytes */
	JOURNAL_ANSWER = 3, /* env_answer: i64 */
	JOURNAL_BROKEN = 4, /* a ring overflowed or the disk is full */
	JOURNAL_DIGEST = 5, /* at the end of a thread: env_digest, 64 hex digits */
	JOURNAL_SHAPE = 6,  /* before it: env_shape */
};

/* Sets a function that the writer thread of every journal calls first, for programs that drop
 * privileges per thread. NULL: none. Call it before journal_create. */
void journal_on_writer(void (*h)(void));
/* Creates path 0600 (EEXIST is truncated). threads: how many rings. meta: one line of JSON for the
 * replayer. */
int journal_create(struct journal **out, const char *path, unsigned threads, const char *meta);
/* The same for a journal of shapes. */
int journal_create_shapes(struct journal **out, const char *path, unsigned threads,
			  const char *meta);
bool journal_of_shapes(const struct journal *j);
/* The meta line. Borrowed. */
const char *journal_meta_line(const struct journal *j);
/* Flushes, stops the writer and closes. */
struct journal *journal_free(struct journal *j);
/* True once a record was lost. */
bool journal_broken(const struct journal *j);
/* Marks the journal as incomplete, because a record could not be made; later records are not
 * written. */
void journal_lose(struct journal *j);

/* One record; data is borrowed. now in ns. Only inputs have a time, a source and a kind. */
struct journal_record {
	enum journal_what what;
	uint64_t now;
	uint32_t source;
	uint8_t kind;
	const void *data;
	size_t len;
};
/* Producer side of thread `thread`; called by env only. */
void journal_write(struct journal *j, uint8_t thread, const struct journal_record *record);

/* Reading. EBADMSG when the file is damaged, ENOTSUP for a journal of shapes. A truncated record,
 * and all records after a lost one, are left out. meta is NUL-terminated and owned by the reader.
 */
struct journal_reader;
int journal_open(struct journal_reader **out, const char *path);
const char *journal_meta(const struct journal_reader *r);
struct journal_reader *journal_close(struct journal_reader *r);

/* Call it right after env_alloc with conf.replaying: the env's questions to the system are then
 * answered from the record. ENOMEM, EINVAL. The reader must outlive the env's use. */
int journal_attach(struct journal_reader *r, struct env *env, unsigned thread);
/* Feeds every recorded input to the attached envs (index = thread number) in order, on the calling
 * thread. 0 at the end; EPROTO when the run diverged from the record (it asked for a missing
 * answer, or left some unused), with the order number in *at; EBADMSG when the recording did not
 * end in order. The digests of the recording's outputs are in recorded[thread]. */
int journal_replay(struct journal_reader *r, struct env **envs, unsigned n, uint64_t *at,
		   char (*recorded)[65]);
/* The recorded shape of a thread; "" when the recording is incomplete. */
void journal_recorded_shape(const struct journal_reader *r, unsigned thread, char hex[65]);

/* Prints a journal of either kind on f, one line per record: order, seconds, thread, type, source,
 * kind, bytes; then the text of a shape. Contents of a full journal are not printed. Errors: see
 * journal_open. */
int journal_print(const char *path, FILE *f);

#endif
