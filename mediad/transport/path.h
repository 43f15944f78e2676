/* True if datagrams still travel between us and the voice server.
 *
 * Proof are the answers to what we send: echoes of keepalives, and receiver reports about our
 * stream. Some servers never send one or either, so its absence counts only after one was seen.
 * Echoes come at all times; reports only while we send, so theirs counts only after we have sent
 * audio for as long. Neither replaces the other: echoes go to whatever address we send from, but
 * audio is taken from, and reports go to, the address that the server knows. Sends that fail count
 * in any case. Audio of others is no proof, because the way out may be blocked alone.
 *
 * A silent path is examined by another IP discovery, which servers need not answer. Without an
 * answer the path is back if it was proved meanwhile and something reached us at the address that
 * the server knows.
 *
 * While we are silent no report is missed, so the address of a call that only listens may be
 * another one without a sign: echoes come to the new address, and the voices of others go to the
 * old one. So when nothing but echoes came for PATH_DOUBT_MS, and when the owner has a reason of
 * its own, discovery is repeated although the path seems well. A missing answer then proves
 * nothing.
 *
 * An answer that names another address may be forged. A server that has answered a repeated
 * discovery with the known address would deny a forged one, so there its silence is proof enough.
 * It is needed: a way out of its own may have moved us alone, and what others say still comes to
 * the old address. Elsewhere we have not moved if something reached us meanwhile and what was
 * missed, if anything was, came again.
 *
 * Plain memory of its owner, all zero at first. Times in ns. */
#ifndef MEDIAD_TRANSPORT_PATH_H
#define MEDIAD_TRANSPORT_PATH_H

#include <stdbool.h>
#include <stdint.h>

enum { PATH_SILENT_MS = 15000, PATH_DOUBT_MS = 60000 };

/* Why a session is of no use any more. */
enum path_loss {
	PATH_SILENT, /* nothing comes back */
	PATH_MOVED,  /* our address is another one now */
	PATH_SPENT,  /* the transport key has no nonce left */
};

struct path {
	bool echoed, reported;		 /* an echo, a report was ever seen */
	bool asking;			 /* discovery was started again, to be sure */
	bool doubting;			 /* that, although the path seemed well */
	bool answers;			 /* discovery again was answered with the known address */
	bool proved, reached;		 /* since then; reached: by something of the session */
	unsigned spoken_ms;		 /* audio that we sent since reported_at */
	uint64_t echoed_at, reported_at; /* newest */
	uint64_t quiet_since;		 /* nothing reached us, and the address was not asked for */
	uint64_t failing_since;		 /* no send has succeeded since; 0: the newest one did */
};

/* The session begins; all else is zero. */
void path_start(struct path *p, uint64_t now);
/* An echo, and a report about our stream. */
void path_echo(struct path *p, uint64_t now);
void path_report(struct path *p, uint64_t now);
/* A packet that was authentic and new came to our address. */
void path_reach(struct path *p, uint64_t now);
void path_sent(struct path *p, uint64_t now, bool ok);
/* So much audio was sent. */
void path_spoke(struct path *p, unsigned ms);
/* True if the path must be examined. */
bool path_is_silent(const struct path *p, uint64_t now);
/* True if the address must be asked for although the path seems well, provided that somebody is
 * there whose packets could reach us. */
bool path_is_doubtful(const struct path *p, uint64_t now);
/* The examination begins: of a silent path, or of one that seems well. */
void path_ask(struct path *p);
void path_doubt(struct path *p, uint64_t now);
/* It was answered with the address that the server knows. */
void path_found(struct path *p, uint64_t now);
/* It was answered with another address, and with the known one by nobody. Returns true if that is
 * to be believed. */
bool path_is_moved(struct path *p, uint64_t now);
/* It ended without an answer. Returns true if the path works all the same. */
bool path_is_back(struct path *p, uint64_t now);

#endif
