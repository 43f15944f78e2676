/* A database in which two people spoke. */
#ifndef TESTS_UNIT_CONTROL_STORE_PERSON_SCENE_H
#define TESTS_UNIT_CONTROL_STORE_PERSON_SCENE_H

#include "control/store/db.h"
#include "control/store/erase.h"
#include "tests/unit/ipc/loop.h"

#define ANA UINT64_C(501234567890123456)
#define BOB UINT64_C(502234567890123456)

#define WORDS_OF_ANA "the quarterly frobozz numbers are in"

/* Of the scene that is open. */
extern char person_dir[32];
extern struct db *person_db;

void person_says(uint64_t user, const char *text);
/* A folder with a database in which both spoke. */
void person_open(void);
/* Over the connection of the scene. False: refused. */
bool person_sql(const char *sql);
/* A file with this text. */
void person_write(const char *path, const char *text);
/* turns, journals: folders, may be NULL. *receipt: the caller frees it. Positive errno. */
int person_erase_ana(const char *turns, const char *journals, char **receipt);
/* The statement with the user as its first value. */
struct sqlite3_stmt *person_use(enum db_statement statement, uint64_t user);

#endif
