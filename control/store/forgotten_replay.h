/* After a restore: takes away again what the file `forgotten` (forgotten.h) says was taken away.
 * Before the loop runs. */
#ifndef CONTROL_STORE_FORGOTTEN_REPLAY_H
#define CONTROL_STORE_FORGOTTEN_REPLAY_H

struct forgotten_replayed {
	unsigned facts, servers, lines, messages; /* that were there again */
};

/* Reads what the database of dir has not seen of the file. 0 also without a file or a database.
 * ENOKEY: the key of the pseudonyms is gone. Errors of control/store/db.h: what people have
 * forgotten may be there again. */
int forgotten_replay(const char *dir, struct forgotten_replayed *out);

#endif
