# Completion of opsctl for bash. opsctl itself says what can stand at the cursor; see opsctl completion --help.

_opsctl() {
	local offer
	COMPREPLY=()
	# $1 is the program as it was typed, $2 what bash takes for the word at the cursor: less than opsctl's word after = or :.
	while IFS= read -r offer; do
		if [[ $offer == :directories ]]; then
			compopt -o filenames 2>/dev/null
			while IFS= read -r offer; do COMPREPLY+=("$offer"); done < <(compgen -d -- "$2")
			return
		fi
		COMPREPLY+=("${offer%%$'\t'*}")
	done < <("${1/#\~/$HOME}" internal complete line "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
}

# nosort keeps the newest week first; bash before 4.4 does not have it.
complete -o nosort -F _opsctl opsctl 2>/dev/null || complete -F _opsctl opsctl
