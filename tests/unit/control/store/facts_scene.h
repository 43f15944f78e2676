/* Facts that people tell, through the store. */
#ifndef TESTS_UNIT_CONTROL_STORE_FACTS_SCENE_H
#define TESTS_UNIT_CONTROL_STORE_FACTS_SCENE_H

#include "tests/unit/control/store/store_scene.h"

enum { ANA = 4, BOB = 5, GUILD = 7, OTHER_GUILD = 8 };

/* Of the store, to the last request. */
extern json_t *facts_scene_answer;
void facts_scene_on_answer(int err, const struct store_document *document, void *arg);
/* A request of this person. */
struct store_facts facts_scene_by(uint64_t user);
/* "inserted", "updated", or why it was skipped. */
const char *facts_scene_send(struct store_facts f, const char *request);
const char *facts_scene_write(struct store_facts f, const char *text);
/* The texts, each with its former ones in brackets. */
const char *facts_scene_find(struct store_facts f, const char *request);
const char *facts_scene_list_own(uint64_t user, unsigned most);
/* How many facts were forgotten. */
size_t facts_scene_forget(struct store_facts f, const char *request);
void facts_scene_open(void);
void facts_scene_close(void);
/* Runs the statement in the database of the scene; its first number, if it returns a row. */
int facts_scene_sql(const char *sql);
/* Somebody says it, at store_scene_ms(ms). */
void facts_scene_say_line(uint64_t user, unsigned ms, const char *text);
/* As an extraction writes it. */
const char *facts_scene_write_line(struct store_facts f, const char *text, unsigned line);

#endif
