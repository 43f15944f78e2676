/* Reflection: once a day a text model decides about facts that code could not tell apart
 * (control/memory/reflect.h): duplicates are merged, an update ends the older fact, and what
 * contradicts each other is marked.
 *
 *   state     input                                         next
 *   IDLE      a minute passed; the settings want it, the    READING: asks the store for pairs of
 *             day's hour has come, the day is not done,     facts
 *             the budget allows it
 *   READING   none are left                                 IDLE: the store has marked the day as
 *                                                           done
 *   READING   none yet: the store looks at some at a time   READING
 *   READING   pairs of facts of one author                  ASKED: asks the purpose memory
 *   READING   the author's words may not be told now        WRITING: decides nothing
 *   ASKED     decisions                                     WRITING
 *   ASKED     no result                                     IDLE, three times; then WRITING:
 *                                                           decides nothing
 *   ASKED     the model failed, or EXTRACTION_ANSWER_S      IDLE: waits a minute, then two, … then
 *                                                           64
 *   WRITING   they are written                              READING
 *   any       a person is erased                            IDLE: drops the pairs, which are given
 *                                                           again as far as they are left
 *
 * A day begins at memory_reflect_hour of the base settings' time zone. The day that is done and the
 * facts that were looked at are in the database: a restart goes on behind the last decisions, a day
 * that is done is not done again, and after days without the bot one reflection follows. Of a
 * server 20 pairs are asked a day, the others on the next one. The costs are those of extraction
 * (spending.h). Everything runs on env's loop thread. */
#ifndef CONTROL_EXTRACTION_REFLECTION_H
#define CONTROL_EXTRACTION_REFLECTION_H

struct model_conf;
struct reflection;
struct spending;

/* ENOMEM. Both are borrowed. Caller owns *out and frees it before the store. */
int reflection_alloc(struct reflection **out, const struct model_conf *conf,
		     struct spending *spending);
/* NULL accepted. */
struct reflection *reflection_free(struct reflection *r);
/* Looks whether something is due; to be called every minute or so. */
void reflection_check(struct reflection *r);
/* Drops the pairs under way. NULL accepted. */
void reflection_erase(struct reflection *r);

#endif
