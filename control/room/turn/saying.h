/* An utterance with what its words can mean in this room: what the bot says or said last, its
 * names, the language of the settings. For control/room only. */
#ifndef CONTROL_ROOM_TURN_SAYING_H
#define CONTROL_ROOM_TURN_SAYING_H

#include "control/room/floor/address.h"
#include "control/room/floor/phrase.h"

struct room_context;

/* Borrows the text and the bot's words; valid until either changes. told: the language of the words
 * as the provider told it (enum room_language), 0: it is guessed. */
struct room_saying room_saying_of(const struct room_context *context, const char *text,
				  unsigned told);

/* True if this user's words address another person, by the name of a member or a term of address.
 * Names of members that are words of the lists ("stop", "what is") address nobody. interim: more
 * words may follow. */
bool room_saying_to_other(const struct room_context *context, uint64_t user, const char *text,
			  unsigned told, bool interim);

/* How the words address or mention the bot. Nothing but its name and a stop request addresses it in
 * any position. */
enum room_address room_saying_address(const struct room_context *context, const char *text,
				      unsigned told);
/* True if words that are judged so speak of the bot: "I asked Parley" too, which for admission
 * is no mention. */
bool room_saying_about_bot(const struct room_context *context, const char *text, unsigned told,
			   enum room_address address);

#endif
