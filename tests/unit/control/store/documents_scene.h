/* Documents and events that tests give to the store. */
#ifndef TESTS_UNIT_CONTROL_STORE_DOCUMENTS_SCENE_H
#define TESTS_UNIT_CONTROL_STORE_DOCUMENTS_SCENE_H

#include "tests/unit/control/store/store_scene.h"

/* These end the loop and keep what they got in store_scene. */
void store_scene_on_document(int err, const struct store_document *d, void *arg);
void store_scene_on_list(int err, const struct store_document *list, size_t n, void *arg);
/* Until the store has done what came before. False: it failed. */
bool store_scene_sync(void);
bool store_scene_put(const char *document, bool compare, uint64_t version);
void store_scene_publish_utterances(unsigned n);

#endif
