#!/bin/sh
# Each machine of the room owns its state: only its own files may touch the members of its struct. Others call its functions. Holds
# the sources of control/room against the table below; a member that is not in the table is shared by all machines. Only the sources
# that are listed at the end may know struct room at all.
#
#   room_state.sh [DIR]      DIR: the sources to check (control/room)
set -eu
cd "$(dirname "$0")/../.."
dir=${1:-control/room}
fail=0
checked=0

# owns MEMBER FILE…: only these files may use a field of room->MEMBER, or assign to it.
owns() {
	member=$1
	shift
	checked=$((checked + 1))
	files=$(printf '/%s\\.c:|' "$@")
	found=$(grep -rnE "room->$member(\.|\[| = )" "$dir" --include='*.c' | grep -vE "${files%|}" || true)
	[ -z "$found" ] || { printf '%s\n' "$found" | sed "s|^|belongs to $1.c: |"; fail=1; }
}

# writes FIELD FILE: only this file may assign to this field of the context, which all machines read.
writes() {
	checked=$((checked + 1))
	found=$(grep -rnE "context(->|\.)$1 = " "$dir" --include='*.c' | grep -v "/$2\.c:" || true)
	[ -z "$found" ] || { printf '%s\n' "$found" | sed "s|^|belongs to $2.c: |"; fail=1; }
}

writes up session
writes muted session
writes over session_demands
writes guest session_demands
writes now room
writes effects room
owns session session
owns recordings transcript
owns last_utterance transcript
owns interim_not_before interim_request
owns interim_unrequested interim_request
owns live turn
owns last_turn turn
owns counts turn
owns classifier classifier
owns history history
owns moments moments
owns floor floor
owns followup followup
owns choice choice
owns music music
owns reply reply
owns not_understood output
owns output output_state
owns level barge_in
owns retry retry_policy response_watchdog
owns speculative speculative
owns thought thought
owns instructions instructions

# The machines that may take struct room, and with it the state of others. All other sources have the narrow context, so that the
# compiler holds them; a file that no longer includes inside.h leaves the list.
whole='admission barge_in captures deferred endpointing interim_request long_capture output people
room session_demands speculative supersede transcript turn turn_queue'
for source in $(find "$dir" -name '*.c' | sort); do
	name=$(basename "$source" .c)
	case " $(echo $whole) " in *" $name "*) listed=yes ;; *) listed=no ;; esac
	if grep -q '"control/room/inside.h"' "$source"; then includes=yes; else includes=no; fi
	[ $listed = $includes ] && continue
	[ $listed = no ] && echo "$source: takes struct room (inside.h) instead of the narrow context"
	[ $listed = yes ] && echo "$source: no longer includes inside.h; take it out of the list"
	fail=1
done

[ $fail = 0 ] && echo "room state: $checked members are touched by their owners only"
exit $fail
