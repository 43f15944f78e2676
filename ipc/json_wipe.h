/* Wipes what jansson frees, because parsed messages hold keys and tokens, and ends the process when
 * jansson finds no memory. Process-wide; called once, before the first message. */
#ifndef IPC_JSON_WIPE_H
#define IPC_JSON_WIPE_H

void json_wipe_on_free(void);
/* Overwrites a block of malloc's memory, all of it. NULL accepted. */
void json_wipe_block(void *block);

#endif
