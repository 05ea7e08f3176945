#compdef opsctl
# Completion of opsctl for zsh. opsctl itself says what can stand at the cursor; see opsctl completion --help.

_opsctl() {
  local offer
  local -a lines offers
  lines=("${(@f)$("${(Q)words[1]/#\~/$HOME}" internal complete words "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  if [[ ${lines[1]} == :directories ]]; then
    compset -P '--*='
    _directories
    return
  fi
  for offer in $lines; do
    # A colon ends the word for _describe, and a tab ends it for opsctl.
    offers+=("${${offer%%$'\t'*}//:/\\:}:${offer#*$'\t'}")
  done
  _describe -V 'opsctl' offers
}

# Found by its name in fpath, the file is the function itself.
if [[ ${funcstack[1]} == _opsctl ]]; then
  _opsctl "$@"
else
  compdef _opsctl opsctl
fi
