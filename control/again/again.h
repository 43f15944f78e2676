/* `control --again`: asks the room again, with other settings, how it would have taken a turn. A
 * process of its own, with the least priority and limits of the kernel on its time and memory, so
 * that it disturbs no room that is live; control starts it for the dashboard (control_again.c).
 *
 * A line of JSON on stdin: {"file": a room's journal, "turn": its number, "settings": {NAME:
 * value}}. A line on stdout:
 *
 *   {"was": {reason, text, decisions}, "is": the same or null, "rules": [{rule, was, is}] that hold
 *    otherwise, "turns": until then, "changed", "gone", "new": how many of them,
 *    "clamped": {NAME: true} whose value was out of range, "approximate": the journal is of another
 *    version}
 *   {"error": code, "setting": NAME}: no_journal, no_turn, unknown_setting, bad_value, too_large
 *
 * No words of people are in it. */
#ifndef CONTROL_AGAIN_AGAIN_H
#define CONTROL_AGAIN_AGAIN_H

enum {
	AGAIN_CPU_S = 10,
	AGAIN_MEMORY_MB = 256,
	AGAIN_SETTINGS_MAX = 16,
	AGAIN_LINE_MAX = 64 << 10
};

/* Returns the exit status. */
int again_main(void);

#endif
