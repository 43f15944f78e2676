/* Describes a fault of the database in a sentence for whoever runs the bot. */
#ifndef CONTROL_STORE_FAULTS_H
#define CONTROL_STORE_FAULTS_H

struct words;

/* err: of control/store/db.h. Appends. */
void store_fault_words(struct words *w, const char *dir, int err);

#endif
