#!/bin/sh
# Each machine of the room owns its state: only its own files may touch the members of its struct. Others call its functions. Holds
# the sources of control/room against the table below; a member that is not in the table is shared by all machines.
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
owns refresh prompt
owns instructions prompt

[ $fail = 0 ] && echo "room state: $checked members are touched by their owners only"
exit $fail
