/* What pages read of the history: turns with their decisions and times, faults, costs, and the
 * audit, as the answers of the API. The newest first; `next` is the cursor of the page that
 * follows, or null. Ids are texts, times ISO 8601 in UTC, what nobody knows is null.
 *
 *   turns   {"turns": [{"id", "at", "guild", "session", "channel", "turn", "user", "name",
 * "reason", "firstAudioMs", "lastedMs", "heard", "said"}], "next"} turn    the same of one, and
 * "why": [{"rule", "yes", "value", "limit"}], "timeline": [{"kind": "speech", "tool" or "answer",
 * "startMs", "endMs", …}], "costs": [{"provider", "model", "role", "usd", "priced", "estimated"}],
 * "context": {"prompts", "instructions", "messages": [{"role", "speaker", "text"}]}, what the model
 * was told if it was kept, or null.
 * Times of the timeline count from the end of the speech that was answered. errors  {"errors":
 * [{"id", "at", "guild", "kind", "event"}], "next"} costs   {"costs": [{"day", "guild", "channel",
 * "user", "name", "provider", "model", "role", "usd", "priced", "estimated", "turns"}], "usd": of
 * all, "truncated": rows are left out} audit   {"audit": [{"id", "at", "actor", "via", "kind",
 * "target", "result"}], "next"}
 *   calls  {"events": [the seeds' ToolCallEvent, "guild", "sessionId", "turn", "serverName",
 * "state", "argumentsHash", "usd"], "next"}; arguments is null facts  {"facts": [{"id",
 * "namespace", "guild", "private", "saidBy", "name", "type", "tags", "text": null of a person's own
 * memory, "createdAt", "validFrom", "validUntil", "supersededBy"}], "next"} sessions  {"sessions":
 * [{"id", "startedAt", "guild", "channel", "endedAt", "why", "turns", "usd"}], "next"} */
#ifndef CONTROL_STORE_HISTORY_H
#define CONTROL_STORE_HISTORY_H

struct db;
struct job;

/* A job JOB_READ_HISTORY. *out: the answer, which the caller frees. ENOENT: there is no such turn;
 * ETIMEDOUT, ENOMEM, errors of control/store/db.h. */
int history_read(struct db *db, const struct job *j, char **out);

#endif
