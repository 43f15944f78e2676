#!/bin/sh
# An agent that reports a cost of 0.4 dollars when it is cancelled.
say() { printf '%s\n' "$1"; }
while read -r line; do
	id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\),.*/\1/p')
	case $line in
	*'"method":"initialize"'*) say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":1}}" ;;
	*'"method":"session/new"'*) say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"sessionId\":\"s1\"}}" ;;
	*'"method":"session/cancel"'*) say "{\"jsonrpc\":\"2.0\",\"id\":$open,\"result\":{\"stopReason\":\"cancelled\"}}" ;;
	*'"method":"session/prompt"'*)
		open=$id
		say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":0.4,"currency":"USD"}}}}'
		say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"plan","entries":[{"content":"Look","priority":"low","status":"in_progress"}]}}}' ;;
	esac
done
