#!/bin/sh
# Each machine of the room owns its state. The types hold most of it: only room.c sees struct room, and the context has pointers to
# states that most machines cannot complete. What is left for this check: nobody but room.c includes inside.h; a machine that includes
# the header of another one, for its functions, does not reach into its state; and the facts in the context have one writer each.
#
#   room_state.sh [DIR]      DIR: the sources to check (control/room)
set -eu
cd "$(dirname "$0")/../.."
dir=${1:-control/room}
fail=0
checked=0

# blame OWNER…: the lines on the standard input that are not in an owner's source.
blame() {
	files=$(printf '/%s\\.c:|' "$@")
	found=$(grep -vE "${files%|}" || true)
	[ -z "$found" ] || { printf '%s\n' "$found" | sed "s|^|belongs to $1.c: |"; fail=1; }
}

# owns MEMBER FILE…: only these sources may touch a field of context->MEMBER, or take a pointer through which they could.
owns() {
	member=$1
	shift
	checked=$((checked + 1))
	grep -rnE "context->$member->|\*context->$member\b|^	struct room_[a-z_]* \*[a-z_]* = (l->)?context->$member\b" "$dir" --include='*.c' >"$hits" || true
	blame "$@" <"$hits"
}

# writes FIELD FILE: only this source may assign to this field of the context, which all machines read.
writes() {
	checked=$((checked + 1))
	grep -rnE "context(->|\.)$1 = " "$dir" --include='*.c' >"$hits" || true
	blame "$2" <"$hits"
}

hits=$(mktemp)
trap 'rm -f "$hits"' EXIT
writes up session
writes muted session
writes over session_demands
writes guest session_demands
writes now room
writes effects room
writes asr_shared room
writes asr_files room
owns names session_demands
owns turns turns
owns history history
owns moments moments
owns inherited_voice inherited_voice
owns compaction compaction
owns retrieval retrieval
owns classifier classifier
owns captures captures
owns transcripts transcript
owns eot_prediction eot_prediction
owns floor floor
owns followup followup
owns choice choice
owns music music
owns barge_in barge_in
owns overlap_questions overlap_question
owns speculative speculative
owns reply reply
owns retry retry_policy response_watchdog
owns output output
owns played_words played_words
owns instructions instructions
owns soundboard soundboard
owns tool_results tool_results
owns thought thought
owns remark remark
owns session session

# Every state that the context leads to has an owner in the list above; people are const there.
for member in $(sed -n 's/^	struct room_[a-z_]* \*\([a-z_]*\);.*/\1/p' control/room/base/context.h); do
	[ "$member" = effects ] || grep -qE "^owns $member " "$0" || { echo "context->$member has no owner in $0"; fail=1; }
done
grep -rlF '"control/room/inside.h"' "$dir" --include='*.[ch]' >"$hits" || true
blame room <<EOF
$(sed 's/$/:/' "$hits")
EOF

[ $fail = 0 ] && echo "room state: $checked members are touched by their owners only"
exit $fail
