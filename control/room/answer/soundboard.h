/* The sounds that an answer can play: those of which a text model is told, so that it can name one
 * (`[[SOUNDBOARD: name]]`, directive.h). Names with marks of a directive, a list or a label in them
 * are left out. For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_SOUNDBOARD_H
#define CONTROL_ROOM_ANSWER_SOUNDBOARD_H

struct room_context;
struct room_event;

enum { ROOM_SOUNDBOARD_SOUNDS = 40, ROOM_SOUNDBOARD_MAX = 800 /* bytes of the list */ };

struct room_soundboard {
	char names[ROOM_SOUNDBOARD_MAX]; /* "airhorn, quack"; "" for none */
};

/* SOUNDS. */
void room_soundboard_on_event(struct room_soundboard *soundboard,
			      const struct room_context *context, const struct room_event *ev);
/* As the prompt lists them. Borrowed. */
const char *room_soundboard_names(const struct room_soundboard *soundboard);

#endif
