/* Messages of JSON-RPC 2.0, as the Model Context Protocol and the Agent Client Protocol use it. The
 * caller owns each message; all functions that return one return NULL without memory. Pure; needs
 * jansson.h. */
#ifndef CONTROL_DIALECT_JSON_RPC_H
#define CONTROL_DIALECT_JSON_RPC_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* params is stolen; NULL leaves it out of a notification. */
json_t *json_rpc_request(uint32_t id, const char *method, json_t *params);
json_t *json_rpc_notification(const char *method, json_t *params);
/* Answers a request of the peer; steals result. NULL says that there is no such method. */
json_t *json_rpc_answer(const json_t *id, json_t *result);
/* "message (code)" of an error object: one plain line of whole characters. */
void json_rpc_error_text(const json_t *error, char *to, size_t size);

#endif
