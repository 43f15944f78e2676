#!/bin/sh
# A worker for tests: an agent of the Agent Client Protocol, version 1, that shares no code with control.
#
#   worker.sh           what a task holds decides what it does:
#     die               it ends with status 9
#     deaf              it answers nothing any more, not even session/cancel
#     flood             it writes bytes without a newline
#     slow              it tells a plan and works until it is cancelled
#     long              it answers with a long text
#     tell NAME         it answers with the variable of its environment
#     any other         it says which task of its session this was
#   worker.sh broken    it refuses to open a session
#   worker.sh fleeting  it opens a session and ends with status 5
#   worker.sh gone      it ends at once with status 4
[ "${1:-}" != gone ] || exit 4
say() { printf '%s\n' "$1"; }
words() { say "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$1\"}}}}"; }
stop() { say "{\"jsonrpc\":\"2.0\",\"id\":$open,\"result\":{\"stopReason\":\"$1\"}}"; open=; }
open= tasks=0
while read -r line; do
	id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\),.*/\1/p')
	case $line in
	*'"method":"initialize"'*)
		say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":1,\"agentInfo\":{\"name\":\"stand-in\",\"version\":\"1\"}}}" ;;
	*'"method":"session/new"'*)
		if [ "${1:-}" = broken ]; then
			say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32000,\"message\":\"Authentication required\"}}"
		else
			say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"sessionId\":\"s1\"}}"
			[ "${1:-}" != fleeting ] || exit 5
		fi ;;
	*'"method":"session/cancel"'*)
		[ -z "$open" ] || [ "$open" = deaf ] || stop cancelled ;;
	*'"method":"session/prompt"'*)
		open=$id tasks=$((tasks + 1))
		case $line in
		*die*) exit 9 ;;
		*deaf*) open=deaf ;;
		*flood*) head -c 9000000 /dev/zero ;;
		*slow*) say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"plan","entries":[{"content":"Look around","priority":"low","status":"in_progress"},{"content":"Tell","priority":"low","status":"pending"}]}}}' ;;
		*long*)
			i=0
			while [ $i -lt 40 ]; do
				words "Line $i of a long answer, which nobody wants to hear read out word by word, I think.\\n"
				i=$((i + 1))
			done
			stop end_turn ;;
		*tell*)
			words "NAME is ${NAME-unset}, KEY is ${KEY-unset}."
			stop end_turn ;;
		*)
			words "Task $tasks is done."
			stop end_turn ;;
		esac ;;
	esac
done
