/* Reports the events of one room to the bus: how far each turn got, each transcript, and each sound
 * that never became a turn. Fed by the agent with the room's events and effects; decides nothing.
 */
#ifndef CONTROL_REPORT_TURNS_H
#define CONTROL_REPORT_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct bus;
struct env;
struct room_effect;
struct room_message;
struct room_segment;
struct room_event;
struct room_turn;
struct settings;
struct turns;

enum turns_stage { TURNS_ADMITTED, TURNS_SPEAKING, TURNS_ENDED };

/* All borrowed for as long as it lives. */
struct turns_conf {
	struct env *env;
	struct bus *bus; /* NULL: nobody listens */
	uint64_t guild, channel;
	const struct settings *settings; /* NULL: languages are not known */
	/* True if this person is heard, and whether their words may be kept. NULL: yes. */
	bool (*consentsh)(uint64_t user, void *arg);
	bool (*remembersh)(uint64_t user, void *arg);
	void *arg;
};

/* Publishes the start of the voice session. ENOMEM. Caller owns *out. */
int turns_alloc(struct turns **out, const struct turns_conf *conf);
/* Publishes its end. why: of ROOM_ENDS, or "shutdown". NULL accepted. */
struct turns *turns_free(struct turns *t, const char *why);
/* The start of the voice session, ms since 1970: with the server its id. */
uint64_t turns_session(const struct turns *t);
/* The person's display name; "": not known, as of people who left when later ones needed their
 * place. Borrowed until the next event. */
const char *turns_name(const struct turns *t, uint64_t user);
/* True if everybody who was in the channel during this session may be remembered, bots aside, and
 * was when they spoke, and so was whoever typed there. */
bool turns_all_kept(const struct turns *t);
/* True if these words may be kept: their author may be remembered, and was when they were said or
 * typed. A line of the bot may quote nobody of whom that is not true. */
bool turns_keeps_segment(const struct turns *t, const struct room_segment *s);
bool turns_keeps_line(const struct turns *t, const struct room_message *m);
/* The same of the words that a turn has from people: of a question in writing, of its writer when
 * it was written. */
bool turns_keeps_words(const struct turns *t, const struct room_turn *turn);
/* The consent of this person has changed: tells that a member who is not remembered any more is
 * gone, and that one who is now remembered is there. What they are saying is kept only if they
 * were remembered since it began. */
void turns_consent(struct turns *t, uint64_t user);
/* Somebody who was here and whose consent allows less than at the last look, or of whom a tool told
 * and who is not remembered any more, because the setting for people who have not answered changed;
 * 0: nobody else. Each is told once, the latter if turns_withheld follows. */
uint64_t turns_withdrawn(struct turns *t);
/* The model of this turn (0: of none that is under way) is shown a picture or a line of this
 * person's. */
void turns_shown(struct turns *t, uint32_t turn, uint64_t user);
/* A tool tells a model words or a fact of this person's. Every answer from now on may repeat them:
 * models go on from what was said, and a new voice session from the bot's lines of the history. Of
 * more than TOLD_MAX people no answer is kept. */
void turns_told(struct turns *t, uint64_t user);
/* Somebody withdrew: the next voice session is told none of the bot's lines from before, so later
 * answers repeat nobody of whom tools told until now. */
void turns_withheld(struct turns *t);
/* No turn is under way, and the next model is told lines of the history alone. */
void turns_renewed(struct turns *t);
/* An event, before the room's step. */
void turns_event(struct turns *t, const struct room_event *ev);
/* An effect of that step. */
void turns_effect(struct turns *t, const struct room_effect *e);
/* True if the turn's words may be kept: everybody who spoke in it agrees, and did when they spoke,
 * and it was told nothing of a memory of somebody's own and may quote nobody who does not: by its
 * prompt, by what a voice's conversation or a summary has from before, or by what it was shown.
 * A turn of nobody's counts as one of somebody who has not answered. */
bool turns_may_keep(const struct turns *t, const struct room_turn *turn);
/* A turn got as far as this. */
void turns_tell(struct turns *t, const struct room_turn *turn, enum turns_stage stage);

#endif
