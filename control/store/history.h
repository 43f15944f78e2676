/* What the dashboard's pages read from the store, as JSON documents of the API. The newest rows
 * come first; "next" is the cursor of the following page, or null. Ids are strings, times are ISO
 * 8601 in UTC, and unknown values are null.
 *
 *   turns     {"turns": [TURN], "next"}
 *             TURN: "id", "at", "guild", "session", "channel", "turn", "user", "name", "reason",
 *             "firstAudioMs", "lastedMs", "heard", "said"
 *   turn      a TURN with
 *             "why": [{"rule", "yes", "value", "limit"}],
 *             "timeline": [{"kind": "speech", "tool" or "answer", "startMs", "endMs", …}], in ms
 *             from the end of the speech that was answered,
 *             "costs": [{"provider", "model", "role", "usd", "priced", "estimated"}],
 *             "context": {"prompts", "instructions", "messages": [{"role", "speaker", "text"}]}, or
 *             null when the model's context was not kept
 *   errors    {"errors": [{"id", "at", "guild", "kind", "event"}], "next"}
 *   costs     {"costs": [{"day", "guild", "channel", "user", "name", "provider", "model", "role",
 *             "usd", "priced", "estimated", "turns"}], "usd": the sum of all,
 *             "truncated": whether rows are left out}
 *   audit     {"audit": [{"id", "at", "actor", "via", "kind", "target", "result"}], "next"}
 *   calls     {"events": [the seeds' ToolCallEvent with "guild", "sessionId", "turn", "serverName",
 *             "state", "argumentsHash", "usd"], "next"}; "arguments" is null
 *   facts     {"facts": [{"id", "namespace", "guild", "private", "saidBy", "name", "type", "tags",
 *             "text", "createdAt", "validFrom", "validUntil", "supersededBy"}], "next"}; a private
 *             fact has "text" null and no "tags"
 *   actions   {"actions": [{"id", "createdAt", "guildId", "channelId", "messageId", "userId",
 *             "kind", "content", "metadata", "usdCost"}], "next"}: turns, calls of tools, voice
 *             sessions, commands and faults by time; id is their order
 *   writes    {"writes": [{"id", "at", "guild", "source", "inserted", "updated", "duplicate",
 *             "refused"}], "next"}
 *   subjects  {"subjects": [{"id", "guild", "private", "subject", "name", "facts", "validFacts",
 *             "lastWrittenAt"}], "next"}
 *   reflections {"reflections": [{"id", "guild", "sessionId", "channel", "text"}], "next"}:
 * summaries of conversations sessions  {"sessions": [{"id", "startedAt", "guild", "channel",
 * "endedAt", "why", "turns", "usd"}], "next"} */
#ifndef CONTROL_STORE_HISTORY_H
#define CONTROL_STORE_HISTORY_H

struct db;
struct job;

/* A job JOB_READ_HISTORY. *out: the answer, which the caller frees. ENOENT: there is no such turn;
 * ETIMEDOUT, ENOMEM, errors of control/store/db.h. */
int history_read(struct db *db, const struct job *j, char **out);

#endif
